# /// attack
# category = "process"
# kind = "stdio"
# success = "service_dead"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Kills the service through a process descriptor."
# ///

import os
import signal

try:
    handle = os.pidfd_open(int("{PARENT_PID}"))
    signal.pidfd_send_signal(handle, signal.SIGKILL)
except OSError as error:
    print("blocked", error)
