# /// attack
# category = "output"
# kind = "stdio"
# success = "outsize"
# expected = ["output_limit_exceeded", "time_limit_exceeded"]
# summary = "Floods both outputs in turn, so that a reader who drains one of them blocks."
# ///

import os

line = b"b" * 65_535 + b"\n"
for _ in range(1 << 13):
    os.write(2, line)
    os.write(1, line)
