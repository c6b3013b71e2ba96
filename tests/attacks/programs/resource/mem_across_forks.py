# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "runtime_error", "memory_limit_exceeded", "sandbox_violation"]
# summary = "Takes a gigabyte and a half in six processes, each below the limit of one."
# ///

import os
import time

pids = []
try:
    for _ in range(6):
        pid = os.fork()
        if pid == 0:
            block = bytearray(256 << 20)
            for offset in range(0, len(block), 4096):
                block[offset] = 1
            time.sleep(2)
            os._exit(0)
        pids.append(pid)
except OSError as error:
    print("blocked", error)
statuses = [os.waitpid(pid, 0)[1] for pid in pids]
if len(statuses) == 6 and not any(statuses):
    print("PWNED")
