# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "wrong_answer"]
# summary = "Exits with the code that shells and containers use for a kill from outside."
# ///

import os
import sys

print("Killed", file=sys.stderr, flush=True)
print("Cannot allocate memory: sandbox setup failed", file=sys.stderr, flush=True)
os._exit(137)
