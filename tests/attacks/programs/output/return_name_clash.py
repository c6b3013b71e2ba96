# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["wrong_answer", "invalid_output", "runtime_error"]
# summary = "Returns plain data that looks like the judge's own encoding of types and errors."
# ///

def solve(*_):
    return {
        "__type__": "exception",
        "type": "ok",
        "t": "proxy",
        "$ref": 0,
        "py/object": "builtins.object",
        "error": "sandbox_error",
        "value": {"__class__": "bool", "value": True},
    }
