# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Installs a filter with a listener of its own, to answer system calls itself."
# ///

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
SET_MODE_FILTER, NEW_LISTENER, RET_ALLOW = 1, 1 << 3, 0x7FFF0000
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, RET_ALLOW), 8)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)), 16)
result = libc.syscall(
    ctypes.c_long(number), ctypes.c_long(SET_MODE_FILTER), ctypes.c_long(NEW_LISTENER), program
)
print("PWNED" if result >= 0 else f"blocked {ctypes.get_errno()}")
