# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_tainted"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Leaves modules with the names of standard ones where a later program may import them."
# ///

import os

for folder in (".", ".."):
    for name in ("json", "random", "heapq", "collections", "numpy"):
        path = os.path.join(folder, name + ".py")
        try:
            if not os.path.exists(path):
                with open(path, "x") as file:
                    file.write("raise SystemExit('tainted')\n")
        except OSError as error:
            print("blocked", type(error).__name__)
