# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["memory_limit_exceeded", "runtime_error", "wrong_answer"]
# summary = "Takes a gigabyte and a half in one piece and touches every page."
# ///

size = 3 << 29
block = bytearray(size)
for offset in range(0, size, 4096):
    block[offset] = 1
print("PWNED")
