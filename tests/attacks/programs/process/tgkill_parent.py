# /// attack
# category = "process"
# kind = "stdio"
# success = "service_dead"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Kills the service with the calls that signal one thread."
# ///

import ctypes
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
tgkill, tkill = {"x86_64": (234, 200), "aarch64": (131, 130)}[os.uname().machine]
pid = int("{PARENT_PID}")
for call in ((tgkill, pid, pid, signal.SIGKILL), (tkill, pid, signal.SIGKILL)):
    if libc.syscall(*(ctypes.c_long(value) for value in call)) != 0:
        print("blocked", ctypes.get_errno())
