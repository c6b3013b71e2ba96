# /// attack
# category = "output"
# kind = "function"
# success = "hang"
# expected = ["invalid_output", "wrong_answer", "runtime_error", "time_limit_exceeded", "memory_limit_exceeded"]
# summary = "Returns an integer of ten million digits, which is slow to write as decimals."
# ///

def solve(*_):
    return (1 << 33_000_000) - 1
