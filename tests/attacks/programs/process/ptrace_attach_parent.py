# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Attaches to its parent and to the service as a debugger."
# ///

import ctypes
import os
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
SEIZE, DETACH, INTERRUPT = 0x4206, 17, 0x4207
zero = ctypes.c_void_p(0)
for pid in {int("{PARENT_PID}"), os.getppid()}:
    if libc.ptrace(SEIZE, pid, zero, zero) == 0:
        print("PWNED", flush=True)
        libc.ptrace(INTERRUPT, pid, zero, zero)
        time.sleep(0.1)
        libc.ptrace(DETACH, pid, zero, zero)
    else:
        print("blocked", ctypes.get_errno())
