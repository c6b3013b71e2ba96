# /// attack
# category = "output"
# kind = "function"
# success = "outsize"
# expected = ["invalid_output", "memory_limit_exceeded", "output_limit_exceeded", "time_limit_exceeded", "runtime_error", "wrong_answer"]
# summary = "Returns a string of four hundred megabytes."
# ///

def solve(*_):
    return "\U0001f600" * (100 << 20)
