# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["invalid_output", "runtime_error", "wrong_answer", "memory_limit_exceeded", "time_limit_exceeded"]
# summary = "Returns lists nested a hundred thousand deep, which break recursive encoders and comparisons."
# ///

def solve(*_):
    value = []
    for _ in range(100_000):
        value = [value]
    return value
