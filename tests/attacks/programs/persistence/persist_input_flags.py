# /// attack
# category = "persistence"
# kind = "function"
# success = "benign_sees"
# expected = ["wrong_answer"]
# summary = "Sets flags on its standard input, of which a function has none, and looks whether a later run finds them."
# ///

import fcntl
import os



def solve(values):
    try:
        flags = fcntl.fcntl(0, fcntl.F_GETFL)
        if flags & (os.O_APPEND | os.O_NONBLOCK):
            print("PERSISTED", flush=True)
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_APPEND | os.O_NONBLOCK)
    except OSError as error:
        print("blocked", error)
    return values
