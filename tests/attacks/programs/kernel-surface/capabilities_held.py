# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Looks whether any capability is left to it, and asks for all of them."
# ///

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
capget, capset = {"x86_64": (125, 126), "aarch64": (90, 91)}[os.uname().machine]
VERSION_3 = 0x20080522
header = ctypes.create_string_buffer(struct.pack("Ii", VERSION_3, 0), 8)
data = ctypes.create_string_buffer(24)
if libc.syscall(ctypes.c_long(capget), header, data) == 0:
    if any(struct.unpack("6I", data.raw)):
        print("PWNED")
else:
    print("blocked", ctypes.get_errno())
everything = ctypes.create_string_buffer(struct.pack("6I", *(0xFFFFFFFF,) * 6), 24)
if libc.syscall(ctypes.c_long(capset), header, everything) == 0:
    print("PWNED")
else:
    print("blocked", ctypes.get_errno())
PR_CAPBSET_READ = 23
for capability in range(41):
    if libc.prctl(PR_CAPBSET_READ, ctypes.c_ulong(capability), 0, 0, 0) == 1:
        print("still in the bounding set:", capability)
