# /// attack
# category = "output"
# kind = "stdio"
# success = "outsize"
# expected = ["output_limit_exceeded", "time_limit_exceeded"]
# summary = "Prints without end."
# ///

import os

line = b"x" * 65_535 + b"\n"
for _ in range(1 << 14):
    os.write(1, line)
