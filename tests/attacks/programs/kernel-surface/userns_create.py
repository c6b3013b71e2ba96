# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Creates a user namespace, which opens much of the kernel to its owner."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER = 0x10000000
if libc.unshare(CLONE_NEWUSER) == 0:
    print("PWNED")
else:
    print("blocked", ctypes.get_errno())
