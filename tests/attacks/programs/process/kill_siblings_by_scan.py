# /// attack
# category = "process"
# kind = "stdio"
# success = "victim_dead"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Finds the other children of its parent in /proc and kills them."
# ///

import os
import signal

try:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
except OSError as error:
    print("blocked", error)
    pids = []
for pid in pids:
    try:
        with open(f"/proc/{pid}/stat") as file:
            parent = int(file.read().rsplit(")", 1)[1].split()[1])
        if parent == os.getppid() and pid not in (os.getpid(), int("{PARENT_PID}")):
            os.kill(pid, signal.SIGKILL)
    except OSError as error:
        print("blocked", error)
