# /// attack
# category = "resource"
# kind = "stdio"
# success = "zombies"
# expected = ["wrong_answer", "runtime_error", "sandbox_violation"]
# summary = "Leaves dead children that nobody waits for."
# ///

import os
import time

for _ in range(20):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
time.sleep(0.5)
