# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_tainted"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Plants start-up hooks in the folders Python reads before any program."
# ///

import os
import site

folder = site.getusersitepackages()
for name in ("sitecustomize.py", "usercustomize.py", "pwn_hook.pth"):
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "x") as file:
            file.write("import sys; sys.stdout.write('tainted')\n")
    except OSError as error:
        print("blocked", type(error).__name__)
