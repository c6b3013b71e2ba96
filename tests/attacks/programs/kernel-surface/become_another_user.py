# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Takes another user's or group's identity, root first."
# ///

import os

before = (os.getresuid(), os.getresgid(), os.getgroups())
attempts = [
    lambda: os.setgroups([0]),
    lambda: os.setresgid(0, 0, 0),
    lambda: os.setgid(65534),
    lambda: os.setresuid(0, 0, 0),
    lambda: os.setuid(0),
    lambda: os.setuid(65534),
    lambda: os.seteuid(60001),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
try:
    after = (os.getresuid(), os.getresgid(), os.getgroups())
except OSError:
    after = before
print("PWNED" if after != before else "unchanged")
