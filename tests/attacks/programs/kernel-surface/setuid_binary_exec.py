# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Runs the system's setuid programs, which would give it root's rights."
# ///

import os
import subprocess

for program in ("/usr/bin/su", "/bin/mount", "/usr/bin/passwd", "/usr/bin/sudo", "/bin/ping"):
    try:
        if os.stat(program).st_mode & 0o4000:
            subprocess.run([program, "--help"], capture_output=True, timeout=5)
            print("PWNED")
    except (OSError, subprocess.SubprocessError) as error:
        print("blocked", error)
