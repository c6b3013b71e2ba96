# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["memory_limit_exceeded", "runtime_error", "wrong_answer", "time_limit_exceeded"]
# summary = "Takes a gigabyte and a half in small pieces."
# ///

pieces = []
for _ in range(3 << 13):
    pieces.append(bytes(65_536 - 33) + b"x")
assert len(pieces) == 3 << 13
print("PWNED")
