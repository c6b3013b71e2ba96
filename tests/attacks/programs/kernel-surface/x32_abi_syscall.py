# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Calls the kernel by x32 numbers, which slip past a filter that compares plain ones."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
X32 = 0x40000000
if os.uname().machine == "x86_64":
    if libc.syscall(ctypes.c_long(X32 | 39)) == os.getpid():
        print("PWNED")
    if libc.syscall(ctypes.c_long(X32 | 41), *(ctypes.c_long(n) for n in (2, 1, 0))) >= 0:
        print("PWNED")
print("blocked", ctypes.get_errno())
