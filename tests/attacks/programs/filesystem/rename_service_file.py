# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "file:{OUTSIDE_DIR}/pwn_renamed*"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Renames a file of the service."
# ///

import os

for call in (os.rename, os.replace):
    try:
        call("{OUTSIDE_DIR}/watched.txt", "{OUTSIDE_DIR}/pwn_renamed.txt")
    except OSError as error:
        print("blocked", error)
