# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Writes into the folders that every user may write to, and reads it back."
# ///

import os

for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/var/lock", "/dev/mqueue"):
    path = os.path.join(folder, f"pwn_write_{os.getpid()}")
    try:
        with open(path, "w") as file:
            file.write("x")
        os.unlink(path)
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
