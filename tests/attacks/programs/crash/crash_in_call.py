# /// attack
# category = "crash"
# kind = "function"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "sandbox_violation", "invalid_output"]
# summary = "Dies of a signal in the middle of a call from the judge."
# ///

import ctypes


def solve(*_):
    ctypes.memset(1, 0, 1)
