# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error", "output_limit_exceeded"]
# summary = "Makes a file of a terabyte that takes no room until somebody copies it."
# ///

import os

for folder in (".", "/tmp", "/dev/shm", "{OUTSIDE_DIR}"):
    path = os.path.join(folder, "pwn_sparse")
    try:
        with open(path, "wb") as file:
            os.ftruncate(file.fileno(), 1 << 40)
        os.unlink(path)
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
        break
