# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Runs a shell through os.system, popen and subprocess."
# ///

import os
import subprocess

print("status", os.system("echo PWNED"))
attempts = [
    lambda: os.popen("echo PWNED").read(),
    lambda: subprocess.check_output("echo PWNED", shell=True, text=True),
    lambda: subprocess.getoutput("echo PWNED"),
]
for attempt in attempts:
    try:
        print(attempt())
    except (OSError, subprocess.SubprocessError) as error:
        print("blocked", error)
