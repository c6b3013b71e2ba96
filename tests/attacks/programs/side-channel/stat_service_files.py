# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Learns size, time and existence of the service's files without opening them."
# ///

import os

for path in ("{SECRET_FILE}", "{OUTSIDE_DIR}", "{OUTSIDE_DIR}/watched.txt"):
    try:
        print(os.stat(path))
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
