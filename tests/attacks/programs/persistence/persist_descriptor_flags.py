# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_sees"
# expected = ["wrong_answer"]
# summary = "Sets flags on its descriptors and looks whether a later run finds them."
# ///

import fcntl
import os

for descriptor in range(64):
    try:
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        if flags & os.O_APPEND:
            print("PERSISTED")
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_APPEND)
    except OSError as error:
        last = error
