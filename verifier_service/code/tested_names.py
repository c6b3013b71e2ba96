"""Names by which tests call the program, read from the tests alone.

They tell a completion's program from a block behind it that shows how the program is used.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verifier_service.code.reference_tests import Asserts, Interactive, Stdio, Tests

# A name that code calls, or asks for an attribute: `f(`, `Stack(`, `solution.`.
_USE = re.compile(r"\b([^\W\d]\w*)[ \t]*[(.]")
# A name that a line defines or assigns: `def f`, `async def f`, `class A`, `f = `.
_DEFINITION = re.compile(
    r"^(?:[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|[ \t]*(\w+)[ \t]*=(?!=))", re.MULTILINE
)


def defines_tested(program: str, tests: Tests) -> bool:
    """Whether a program defines a name that the tests call. Tests of whole programs call none.

    >>> tests = Asserts(type="asserts", code="x = f(1)\\nassert x.y == g(2)")
    >>> defines_tested("def f(n): ...", tests), defines_tested("x = f(1)", tests)
    (True, False)
    """
    return not _tested_names(tests).isdisjoint(_defined_names(program))


def _tested_names(tests: Tests) -> frozenset[str]:
    if isinstance(tests, Stdio | Interactive):
        return frozenset()
    if tests.entry_point:
        return frozenset({tests.entry_point.rpartition(".")[2]})
    return _names_called(tests.code) if isinstance(tests, Asserts) else frozenset()


@lru_cache(maxsize=16)
def _names_called(code: str) -> frozenset[str]:
    """Names that test code calls and does not define."""
    return frozenset(_USE.findall(code)) - _defined_names(code)


def _defined_names(code: str) -> frozenset[str]:
    """Names of the functions, classes, methods and variables that lines of code define."""
    return frozenset(first or second for first, second in _DEFINITION.findall(code))
