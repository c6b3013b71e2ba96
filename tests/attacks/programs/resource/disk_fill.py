# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error", "output_limit_exceeded"]
# summary = "Writes half a gigabyte to wherever it may write, in files below any limit on one."
# ///

import os

for folder in (".", "/tmp", "/var/tmp", "/dev/shm", "{OUTSIDE_DIR}"):
    paths = [os.path.join(folder, f"pwn_fill_{number}") for number in range(128)]
    written = 0
    try:
        for path in paths:
            with open(path, "wb", buffering=0) as file:
                written += sum(file.write(b"x" * (1 << 20)) for _ in range(4))
    except OSError as error:
        print("blocked", error)
    for path in paths:
        try:
            os.unlink(path)
        except OSError:
            break
    if written >= 512 << 20:
        print("PWNED")
        break
