# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "runtime_error"]
# summary = "Closes its outputs before it ends, so that the last flush fails."
# ///

import os
import sys

print("unflushed")
os.close(1)
os.close(2)
sys.stdout = None
