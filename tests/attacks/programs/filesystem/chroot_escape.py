# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Changes its root folder, the first half of the classic way out of a jail."
# ///

import os

for path in (".", "/", "/proc"):
    try:
        os.chroot(path)
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
