# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "modechanged"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Changes mode and owner of a file of the service, which Landlock does not cover."
# ///

import os
import posix

path = "{OUTSIDE_DIR}/watched.txt"
attempts = [
    lambda: os.chmod(path, 0o777),
    lambda: posix.chmod(path, 0o777),
    lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o777),
    lambda: os.chown(path, os.getuid(), os.getgid()),
    lambda: os.lchown(path, os.getuid(), -1),
    lambda: os.chown(path, 65534, 65534),
]
for attempt in attempts:
    try:
        attempt()
    except (OSError, NotImplementedError) as error:
        print("blocked", error)
