# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens a userfaultfd, with which kernel races are won."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
number = {"x86_64": 323, "aarch64": 282}[os.uname().machine]
for flags in (0, 1, os.O_CLOEXEC | os.O_NONBLOCK):
    result = libc.syscall(ctypes.c_long(number), ctypes.c_long(flags))
    print("PWNED" if result >= 0 else f"blocked {ctypes.get_errno()}")
try:
    os.open("/dev/userfaultfd", os.O_RDWR)
    print("PWNED")
except OSError as error:
    print("blocked", error)
