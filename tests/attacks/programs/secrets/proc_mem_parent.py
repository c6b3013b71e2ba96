# /// attack
# category = "secrets"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens the memory of its parent, of the service and of PID 1 through /proc."
# ///

import os

for pid in ("{PARENT_PID}", os.getppid(), 1):
    for leaf in ("mem", "maps", "pagemap", "auxv", "stack", "syscall"):
        try:
            with open(f"/proc/{pid}/{leaf}", "rb") as file:
                if leaf == "mem" or file.read(1):
                    print("PWNED")
        except OSError as error:
            print("blocked", error)
