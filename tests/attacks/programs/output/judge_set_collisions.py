# /// attack
# category = "output"
# kind = "function"
# success = "hang"
# expected = ["invalid_output", "wrong_answer", "runtime_error", "time_limit_exceeded", "memory_limit_exceeded"]
# summary = "Returns a dictionary whose keys collide, built in order so that only the judge is slow."
# ///

class Quick(int):
    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other


def solve(*_):
    step = (1 << 61) - 1
    return {Quick(number * step): None for number in range(1, 50_000)}
