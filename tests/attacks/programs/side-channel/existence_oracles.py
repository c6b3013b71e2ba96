# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Learns whether a secret file exists from calls other than stat."
# ///

import os

secret = "{SECRET_FILE}"
missing = secret + ".missing"
calls = [
    lambda path: os.access(path, os.F_OK),
    lambda path: os.readlink(path),
    lambda path: os.listxattr(path),
    lambda path: os.statvfs(path),
    lambda path: os.open(path, os.O_PATH),
    lambda path: os.link(path, path),
    lambda path: os.chdir(path),
    lambda path: os.rmdir(path + "/x"),
]


def outcome(call, path):
    try:
        return call(path) is not False
    except OSError as error:
        return error.errno


for call in calls:
    if outcome(call, secret) != outcome(call, missing):
        print("PWNED")
print("done")
