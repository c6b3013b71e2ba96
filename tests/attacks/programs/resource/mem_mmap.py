# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["memory_limit_exceeded", "runtime_error", "wrong_answer", "sandbox_violation"]
# summary = "Takes a gigabyte and a half by anonymous and shared mappings."
# ///

import mmap

maps = []
for number in range(24):
    flags = mmap.MAP_ANONYMOUS | (mmap.MAP_SHARED if number % 2 else mmap.MAP_PRIVATE)
    part = mmap.mmap(-1, 64 << 20, flags=flags)
    part[::4096] = b"1" * (len(part) // 4096)
    maps.append(part)
print("PWNED")
