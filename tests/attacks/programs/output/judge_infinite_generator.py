# /// attack
# category = "output"
# kind = "function"
# success = "hang"
# expected = ["invalid_output", "wrong_answer", "runtime_error", "time_limit_exceeded", "memory_limit_exceeded"]
# test = "membership"
# summary = "Returns a generator that never ends and never stops when it is closed."
# ///

def solve(*_):
    while True:
        try:
            yield 1
        except BaseException:
            continue
