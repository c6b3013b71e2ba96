# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Lists other processes and reads their statistics, which show what they do and when."
# ///

import os

try:
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
except OSError as error:
    print("blocked", error)
    pids = ["1", "{PARENT_PID}", str(os.getppid())]
for pid in pids:
    if int(pid) == os.getpid():
        continue
    for leaf in ("stat", "status", "statm", "comm", "cmdline", "io", "sched", "cgroup"):
        try:
            with open(f"/proc/{pid}/{leaf}", "rb") as file:
                file.read()
        except OSError:
            continue
        print("PWNED")
