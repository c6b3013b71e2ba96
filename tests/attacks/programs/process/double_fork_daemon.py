# /// attack
# category = "process"
# kind = "stdio"
# success = "proc_alive"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Leaves a detached grandchild behind that sleeps for half a minute."
# ///

import os
import signal
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for descriptor in range(3):
            os.close(descriptor)
        time.sleep(30)
    os._exit(0)
os.wait()
