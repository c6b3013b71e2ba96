# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "modechanged"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Shortens and overwrites a file of the service by path and by descriptor."
# ///

import os

path = "{OUTSIDE_DIR}/watched.txt"
attempts = [
    lambda: os.truncate(path, 1),
    lambda: os.open(path, os.O_WRONLY | os.O_TRUNC),
    lambda: os.open(path, os.O_RDONLY | os.O_TRUNC),
    lambda: os.write(os.open(path, os.O_WRONLY | os.O_APPEND), b"x"),
    lambda: os.posix_fallocate(os.open(path, os.O_RDWR), 0, 8192),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
