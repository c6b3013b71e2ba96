# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "file:/tmp/pwn_write*"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Writes into the folders that every user may write to."
# ///

import os

for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/var/lock"):
    try:
        with open(os.path.join(folder, f"pwn_write_{os.getpid()}"), "w") as file:
            file.write("x")
    except OSError as error:
        print("blocked", error)
