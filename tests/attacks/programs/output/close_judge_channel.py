# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["invalid_output", "runtime_error", "wrong_answer"]
# summary = "Closes every descriptor in the middle of a call and goes on living."
# ///

import os
import time


def solve(*_):
    os.closerange(0, 4096)
    time.sleep(0.5)
    return None
