# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["runtime_error", "invalid_output", "wrong_answer"]
# summary = "Raises an exception whose arguments, name and notes are hostile."
# ///

class Hostile(Exception):
    @property
    def args(self):
        raise SystemExit(0)

    def __reduce__(self):
        raise SystemExit(0)

    def __str__(self):
        return "x" * (64 << 20)


Hostile.__name__ = "\ud800" * 1000
Hostile.__qualname__ = "a\0b"
Hostile.__module__ = "builtins"


def solve(*_):
    error = Hostile()
    error.__notes__ = ["n" * 1000] * 1000
    raise error
