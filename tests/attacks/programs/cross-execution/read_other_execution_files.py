# /// attack
# category = "cross-execution"
# kind = "stdio"
# success = "canary:VICTIM"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reads the scratch files of a program that runs at the same time."
# ///

import os

mark = b"{VICTIM_MARK}"
roots = ["..", "../..", "/tmp", "/var/tmp", "/dev/shm", "/run", "/proc/self/cwd/.."]
seen = 0
for root in roots:
    for folder, _, names in os.walk(root):
        for name in names:
            seen += 1
            if seen > 20_000:
                raise SystemExit
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read(1 << 16)
            except OSError:
                continue
            if mark in content:
                print(content.split(mark)[1:])
