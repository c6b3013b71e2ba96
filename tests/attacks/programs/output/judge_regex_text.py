# /// attack
# category = "output"
# kind = "function"
# success = "hang"
# expected = ["invalid_output", "wrong_answer", "runtime_error", "time_limit_exceeded"]
# test = "membership"
# summary = "Returns text on which a judge's normalising patterns could backtrack."
# ///

def solve(*_):
    return "[" * 20_000 + " " * 200_000 + "a" * 200_000 + "!" + "\\" * 50_000
