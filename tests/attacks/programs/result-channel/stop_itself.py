# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded", "sandbox_violation", "wrong_answer"]
# summary = "Stops itself, so that it neither ends nor uses processor time."
# ///

import os
import signal

for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN):
    try:
        os.kill(os.getpid(), number)
        signal.raise_signal(number)
    except OSError as error:
        print("blocked", error)
