# /// attack
# category = "output"
# kind = "function"
# success = "hang"
# expected = ["invalid_output", "wrong_answer", "runtime_error", "time_limit_exceeded", "memory_limit_exceeded"]
# summary = "Returns a large set of numbers with one hash, which makes each look-up a long search."
# ///

def solve(*_):
    step = (1 << 61) - 1
    return [number * step for number in range(1, 50_000)]
