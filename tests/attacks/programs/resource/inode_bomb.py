# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "output_limit_exceeded", "time_limit_exceeded"]
# summary = "Makes twenty thousand empty files."
# ///

import os
import tempfile

for folder in (".", "/tmp", "/dev/shm", "{OUTSIDE_DIR}"):
    try:
        inside = tempfile.mkdtemp(prefix="pwn_inodes_", dir=folder)
        for number in range(20_000):
            os.close(os.open(f"{inside}/{number}", os.O_CREAT | os.O_WRONLY))
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
        break
