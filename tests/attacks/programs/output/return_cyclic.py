# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["invalid_output", "runtime_error", "wrong_answer", "memory_limit_exceeded", "time_limit_exceeded"]
# summary = "Returns a list and a dictionary that contain themselves."
# ///

def solve(*_):
    value = []
    table = {"self": value}
    value.append(table)
    table["again"] = table
    value.extend([value, value])
    return value
