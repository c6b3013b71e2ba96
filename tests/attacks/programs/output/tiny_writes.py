# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["output_limit_exceeded", "time_limit_exceeded", "wrong_answer"]
# summary = "Prints one byte at a time, each with a call of its own."
# ///

import os

for _ in range(500_000):
    os.write(1, b".")
