# /// attack
# category = "process"
# kind = "stdio"
# success = "service_dead"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Kills its parent and the service."
# ///

import os
import posix
import signal

for pid in (int("{PARENT_PID}"), os.getppid()):
    if pid <= 1:
        continue
    for kill in (os.kill, posix.kill):
        try:
            kill(pid, signal.SIGKILL)
        except OSError as error:
            print("blocked", error)
