# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:FILE"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens a secret file with openat2, whose arguments a system call filter cannot see."
# ///

import ctypes
import os


class OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
how = OpenHow(os.O_RDONLY, 0, 0)
descriptor = libc.syscall(
    ctypes.c_long(437), ctypes.c_long(-100), b"{SECRET_FILE}", ctypes.byref(how), ctypes.c_long(24)
)
if descriptor >= 0:
    print(os.read(descriptor, 4096))
else:
    print("blocked", ctypes.get_errno())
