# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "runtime_error"]
# summary = "Opens thousands of descriptors."
# ///

import os

opened = 0
try:
    while opened < 4096:
        os.dup(0)
        opened += 1
except OSError as error:
    print("blocked", error)
if opened >= 1000:
    print("PWNED")
