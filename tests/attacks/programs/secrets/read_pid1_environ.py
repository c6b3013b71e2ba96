# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:ENV"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reads the environment of PID 1, of its parent and of the service."
# ///

import os

for pid in ("1", "{PARENT_PID}", str(os.getppid())):
    for path in (f"/proc/{pid}/environ", f"/proc/{pid}/task/{pid}/environ"):
        try:
            with open(path, "rb") as file:
                print(file.read())
        except OSError as error:
            print("blocked", error)
