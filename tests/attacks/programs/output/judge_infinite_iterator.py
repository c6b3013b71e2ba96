# /// attack
# category = "output"
# kind = "function"
# success = "hang"
# expected = ["invalid_output", "wrong_answer", "runtime_error", "time_limit_exceeded", "memory_limit_exceeded"]
# test = "elements"
# summary = "Returns iterators without end for the judge to walk through."
# ///

import itertools


def solve(*_):
    return itertools.chain.from_iterable(itertools.repeat([1]))
