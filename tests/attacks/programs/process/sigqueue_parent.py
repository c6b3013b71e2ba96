# /// attack
# category = "process"
# kind = "stdio"
# success = "service_dead"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Kills the service with a queued signal, of a process and of a thread."
# ///

import ctypes
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
queue, thread_queue = {"x86_64": (129, 297), "aarch64": (138, 240)}[os.uname().machine]
pid = int("{PARENT_PID}")
SI_QUEUE = -1
information = (ctypes.c_int * 32)(signal.SIGKILL, 0, SI_QUEUE)
address = ctypes.addressof(information)
for call in (
    (queue, pid, signal.SIGKILL, address),
    (thread_queue, pid, pid, signal.SIGKILL, address),
):
    if libc.syscall(*(ctypes.c_long(value) for value in call)) != 0:
        print("blocked", ctypes.get_errno())
