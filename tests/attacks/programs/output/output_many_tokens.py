# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["output_limit_exceeded", "wrong_answer"]
# summary = "Prints millions of short tokens, which take far more room once they are split."
# ///

import os

block = b"1 " * 32_768
for _ in range(64):
    os.write(1, block)
