# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Attaches as a debugger to any process of its user, and offers itself to be traced."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
TRACEME, SEIZE, DETACH = 0, 0x4206, 17
zero = ctypes.c_void_p(0)
own = os.getpid()
for pid in range(max(2, own - 50), own + 50):
    if pid != own and libc.ptrace(SEIZE, pid, zero, zero) == 0:
        print("PWNED", flush=True)
        libc.ptrace(DETACH, pid, zero, zero)
if libc.ptrace(TRACEME, 0, zero, zero) == 0:
    print("PWNED", flush=True)
print("done", ctypes.get_errno())
