# /// attack
# category = "output"
# kind = "stdio"
# success = "outsize"
# expected = ["output_limit_exceeded", "time_limit_exceeded"]
# summary = "Fills its error output, which many executors keep whole."
# ///

import os

line = b"e" * 65_535 + b"\n"
for _ in range(1 << 14):
    os.write(2, line)
