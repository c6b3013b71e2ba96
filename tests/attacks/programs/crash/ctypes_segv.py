# /// attack
# category = "crash"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "sandbox_violation"]
# summary = "Reads address zero."
# ///

import ctypes

ctypes.string_at(0)
