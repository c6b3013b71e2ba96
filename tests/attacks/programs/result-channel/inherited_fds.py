# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Looks for open descriptors beside the three standard ones."
# ///

import os
import stat

for descriptor in range(3, 4096):
    try:
        status = os.fstat(descriptor)
    except OSError:
        continue
    print(descriptor, stat.filemode(status.st_mode))
    print("PWNED")
