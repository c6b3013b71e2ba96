# /// attack
# category = "output"
# kind = "function"
# success = "hang"
# expected = ["invalid_output", "wrong_answer", "runtime_error", "time_limit_exceeded", "memory_limit_exceeded"]
# test = "elements"
# summary = "Returns a lazy range of a trillion numbers for the judge to spell out."
# ///

def solve(*_):
    return range(10**12)
