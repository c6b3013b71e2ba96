# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:ENV"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Prints every view Python has of its own environment."
# ///

import os

print(dict(os.environ))
print(dict(os.environb))
try:
    import posix

    print(posix.environ)
    with open("/proc/self/environ", "rb") as file:
        print(file.read())
except OSError as error:
    print("blocked", error)
