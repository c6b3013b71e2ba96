# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens a performance counter on itself, a frequent source of kernel holes."
# ///

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
SOFTWARE, DUMMY, EXCLUDE_KERNEL = 1, 9, 1 << 5
attribute = struct.pack("IIQQQQQ", SOFTWARE, 112, DUMMY, 0, 0, 0, EXCLUDE_KERNEL).ljust(112, b"\0")
arguments = (0, -1, -1, 0)
descriptor = libc.syscall(
    ctypes.c_long(number), attribute, *(ctypes.c_long(value) for value in arguments)
)
print("PWNED" if descriptor >= 0 else f"blocked {ctypes.get_errno()}")
