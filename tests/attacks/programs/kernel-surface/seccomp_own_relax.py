# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Looks whether it runs without a system call filter or may still gain privileges."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS = 21, 39
zero = ctypes.c_ulong(0)
if libc.prctl(PR_GET_SECCOMP, zero, zero, zero, zero) == 0:
    print("PWNED")
if libc.prctl(PR_GET_NO_NEW_PRIVS, zero, zero, zero, zero) == 0:
    print("PWNED")
print("blocked", ctypes.get_errno())
