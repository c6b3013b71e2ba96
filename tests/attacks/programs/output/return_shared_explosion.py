# /// attack
# category = "output"
# kind = "function"
# success = "outsize"
# expected = ["invalid_output", "memory_limit_exceeded", "output_limit_exceeded", "time_limit_exceeded", "runtime_error", "wrong_answer"]
# summary = "Returns a small object that grows to a billion items when it is written out."
# ///

def solve(*_):
    value = ["x"]
    for _ in range(30):
        value = [value, value]
    return value
