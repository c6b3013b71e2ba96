# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["wrong_answer", "invalid_output", "runtime_error"]
# summary = "Returns dictionaries whose keys collide once they are written as text."
# ///

def solve(*_):
    nan = float("nan")
    return {1: "a", "1": "b", None: "d", "null": "e", (1, 2): "f", nan: "g", b"1": "h"}
