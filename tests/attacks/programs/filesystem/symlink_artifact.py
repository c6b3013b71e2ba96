# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "canary:FILE"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Leaves links to a secret under the names that executors collect as results."
# ///

import os

for name in ("result.txt", "output.txt", "stdout.txt", "answer.txt", "core", "out", "a.out"):
    try:
        os.symlink("{SECRET_FILE}", name)
    except OSError as error:
        print("blocked", error)
