# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_sees"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Leaves a message for later executions in every folder that could outlive it."
# ///

import os
import tempfile

folders = [".", "..", "/tmp", "/var/tmp", "/dev/shm", "/run/lock", os.path.expanduser("~")]
try:
    folders.append(tempfile.gettempdir())
except OSError as error:
    print("blocked", error)
# By their real names, or it finds what it has just written itself.
for folder in sorted({os.path.realpath(folder) for folder in folders}):
    path = os.path.join(folder, ".pwn_covert")
    try:
        with open(path) as file:
            print(file.read())
        os.unlink(path)
    except OSError:
        try:
            with open(path, "w") as file:
                file.write("PERSISTED")
        except OSError as error:
            print("blocked", error)
