# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:EXPECT"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Searches temporary folders and the folders of other processes for the expected answers."
# ///

import os

roots = [".", "/tmp", "/var/tmp", "/dev/shm", "/run", "{OUTSIDE_DIR}"]
roots += [f"/proc/{pid}/cwd" for pid in ("{PARENT_PID}", os.getppid(), 1)]
seen = 0
for root in roots:
    for folder, _, names in os.walk(root):
        for name in names:
            seen += 1
            if seen > 20_000:
                raise SystemExit
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    head = file.read(1 << 16)
            except OSError:
                continue
            if b"CANARY-EXPECT" in head:
                print(head)
