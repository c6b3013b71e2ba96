# /// attack
# category = "process"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded", "sandbox_violation", "runtime_error", "wrong_answer"]
# summary = "Ends the main thread alone, by system call, so that another thread spins on without it."
# ///

import ctypes
import os
import threading


def spin():
    while True:
        pass


exit_thread = {"x86_64": 60, "aarch64": 93}[os.uname().machine]
threading.Thread(target=spin).start()
ctypes.CDLL(None).syscall(ctypes.c_long(exit_thread), ctypes.c_long(0))
