# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "modechanged"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Changes the times of a file of the service."
# ///

import os

path = "{OUTSIDE_DIR}/watched.txt"
attempts = [
    lambda: os.utime(path, (1, 1)),
    lambda: os.utime(path, ns=(1, 1), follow_symlinks=False),
    lambda: os.utime(os.open(path, os.O_RDONLY), (1, 1)),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
