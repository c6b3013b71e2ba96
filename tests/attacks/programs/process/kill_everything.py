# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Asks, with signal 0, whether one call could kill every process of its user."
# ///

import os

for target in (-1, -os.getpgid(0), 0):
    try:
        os.kill(target, 0)
    except OSError as error:
        print("blocked", error)
    else:
        if target == -1:
            print("PWNED")
try:
    os.killpg(os.getpgid(int("{PARENT_PID}")), 0)
except OSError as error:
    print("blocked", error)
else:
    print("PWNED")
