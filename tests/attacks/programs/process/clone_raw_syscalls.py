# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Makes a child by calling fork, clone and clone3 directly."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
SIGCHLD = 17
machine = os.uname().machine
clone = {"x86_64": 56, "aarch64": 220}[machine]
arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, SIGCHLD)
calls = [
    (clone, SIGCHLD, 0, 0, 0, 0),
    (clone, SIGCHLD | 0x00008000, 0, 0, 0, 0),
    (435, ctypes.addressof(arguments), 88),
]
if machine == "x86_64":
    calls.append((57,))
for call in calls:
    pid = libc.syscall(*(ctypes.c_long(value) for value in call))
    if pid == 0:
        os._exit(0)
    if pid > 0:
        print("PWNED", flush=True)
    else:
        print("blocked", ctypes.get_errno())
