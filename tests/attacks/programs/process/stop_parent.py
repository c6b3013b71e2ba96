# /// attack
# category = "process"
# kind = "stdio"
# success = "service_dead"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Stops the service instead of killing it, so that nobody sees it die."
# ///

import os
import signal

for number in (signal.SIGSTOP, signal.SIGTSTP):
    try:
        os.kill(int("{PARENT_PID}"), number)
    except OSError as error:
        print("blocked", error)
