# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Changes segment tables, opens hardware ports, compares kernel pointers, reads memory policy."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
own = os.getpid()
calls = {"memfd_secret": (447, 0)}
if os.uname().machine == "x86_64":
    calls |= {
        "modify_ldt": (154, 0, 0, 0),
        "iopl": (172, 3),
        "ioperm": (173, 0, 1, 1),
        "kcmp": (312, own, own, 0, 0, 0),
        "migrate_pages": (256, own, 0, 0, 0),
        "get_mempolicy": (239, 0, 0, 0, 0, 0),
        "uselib": (134, 0),
        "vmsplice": (278, 1, 0, 0, 0),
    }
for name, call in calls.items():
    if libc.syscall(*(ctypes.c_long(value) for value in call)) >= 0:
        print("reached", name)
        print("PWNED")
    else:
        print("blocked", name, ctypes.get_errno())
