# /// attack
# category = "ipc"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Locks a file of the standard library that every execution can read: a signal between them."
# ///

import fcntl
import os

F_SETLEASE = 1024
try:
    descriptor = os.open(os.__file__, os.O_RDONLY)
except OSError as error:
    print("blocked", error)
    raise SystemExit from None
attempts = [
    lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB),
    lambda: fcntl.fcntl(descriptor, F_SETLEASE, fcntl.F_RDLCK),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
