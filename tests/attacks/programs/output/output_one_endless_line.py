# /// attack
# category = "output"
# kind = "stdio"
# success = "outsize"
# expected = ["output_limit_exceeded", "time_limit_exceeded", "wrong_answer"]
# summary = "Prints one line of white space so long that stripping and splitting it is the attack."
# ///

import os

for _ in range(1 << 12):
    os.write(1, b" " * 65_536)
