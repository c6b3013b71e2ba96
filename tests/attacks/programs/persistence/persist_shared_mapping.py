# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_sees"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Writes into memory it shares with the fork server, where the next execution finds it."
# ///

import ctypes
import gc
import mmap

message = b"PERSISTED-HERE"
mappings = [item for item in gc.get_objects() if isinstance(item, mmap.mmap)]
for mapping in mappings:
    if mapping.find(message) >= 0:
        print("PERSISTED")
    mapping[: len(message)] = message
try:
    with open("/proc/self/maps") as file:
        lines = [line.split() for line in file]
except OSError as error:
    print("blocked", error)
    lines = []
for line in lines:
    start, end = (int(part, 16) for part in line[0].split("-"))
    if line[1] == "rw-s":
        if message in ctypes.string_at(start, end - start):
            print("PERSISTED")
        ctypes.memmove(start, message, len(message))
