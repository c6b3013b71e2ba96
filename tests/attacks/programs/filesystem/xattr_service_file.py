# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "modechanged"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Hangs an extended attribute on a file of the service."
# ///

import os

path = "{OUTSIDE_DIR}/watched.txt"
for name in ("user.pwn", "trusted.pwn", "security.pwn"):
    for follow in (True, False):
        try:
            os.setxattr(path, name, b"x", follow_symlinks=follow)
        except OSError as error:
            print("blocked", error)
