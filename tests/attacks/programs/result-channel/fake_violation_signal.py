# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "sandbox_violation"]
# summary = "Kills itself with the signals that the executor gives a meaning: bad system call, CPU time."
# ///

import ctypes
import os
import signal

for number in (signal.SIGSYS, signal.SIGXCPU, signal.SIGALRM, signal.SIGTERM):
    try:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    except OSError as error:
        print("blocked", error)
ctypes.CDLL(None).abort()
