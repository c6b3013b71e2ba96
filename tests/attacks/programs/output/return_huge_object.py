# /// attack
# category = "output"
# kind = "function"
# success = "outsize"
# expected = ["invalid_output", "memory_limit_exceeded", "output_limit_exceeded", "time_limit_exceeded", "runtime_error", "wrong_answer"]
# summary = "Returns a list of fifty million numbers."
# ///

def solve(*_):
    return list(range(1000)) * 50_000
