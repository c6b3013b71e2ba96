# /// attack
# category = "process"
# kind = "stdio"
# success = "proc_alive"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Exits at once while a child that keeps no descriptor stays behind."
# ///

import os
import time

if os.fork() == 0:
    os.closerange(0, 256)
    os.chdir("/")
    time.sleep(30)
    os._exit(0)
print("done")
