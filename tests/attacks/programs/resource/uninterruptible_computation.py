# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded", "memory_limit_exceeded"]
# summary = "Computes one huge power in C, where Python sees no signal."
# ///

print(len(str(7 ** (10**9))))
