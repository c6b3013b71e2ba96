# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Takes off the signal that ends it when its parent dies."
# ///

import ctypes

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)
zero = ctypes.c_ulong(0)
if libc.prctl(PR_SET_PDEATHSIG, zero, zero, zero, zero) == 0:
    print("PWNED")
else:
    print("blocked", ctypes.get_errno())
