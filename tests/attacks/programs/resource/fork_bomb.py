# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "runtime_error", "sandbox_violation"]
# summary = "Starts children until hundreds of processes wait."
# ///

import os
import time

started = time.monotonic()
children = 0
try:
    while children < 300 and time.monotonic() - started < 3:
        if os.fork() == 0:
            time.sleep(1)
            os._exit(0)
        children += 1
except OSError as error:
    print("blocked", error)
if children >= 16:
    print("PWNED", flush=True)
