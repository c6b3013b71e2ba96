"""Values that cross from the program to the judge: the judge asks once and believes no object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.verifier_service.test_code import ALL, Grader, asserts
from verifier_service.code import value_codec
from verifier_service.code.assertions import AssertionCode


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    found = Grader()
    yield found
    found.close()


def returns(value: Any) -> dict[str, Any]:
    return {"type": "function", "entry_point": "f", "cases": [{"args": [1], "returns": value}]}


# Dictionaries

KEY_OF_TWO_FACES = """
class Key:
    asked = 0
    def __str__(self):
        self.asked += 1
        return "right" if self.asked == 1 else "also right"
def f(x): return {Key(): 7}
"""


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(x): return {'right': 7}", "passed"),
        ("class Key(str): pass\ndef f(x): return {Key('right'): 7}", "passed"),
        (KEY_OF_TWO_FACES, "wrong_answer"),
        (KEY_OF_TWO_FACES.replace("{Key(): 7}", "{Key(): 7, 'right': 7}"), "wrong_answer"),
        (KEY_OF_TWO_FACES.replace("{Key(): 7}", "{(Key(),): 7}"), "wrong_answer"),
        ("def f(x): return {'right': 7, 'left': 7}", "wrong_answer"),
        ("def f(x): return [('right', 7)]", "wrong_answer"),
    ],
)
def test_the_keys_of_a_dictionary_are_text_of_the_judge(
    grader: Grader, source: str, reason: str
) -> None:
    assert grader(source, returns({"right": 7})).reason == reason


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(x): return {1: 'a', (1, 2.5): 'b', None: 'c'}", "passed"),
        ("def f(x): return {1: 'a', '1': 'a', (1, 2.5): 'b', None: 'c'}", "wrong_answer"),
    ],
)
def test_two_keys_never_become_one_text(grader: Grader, source: str, reason: str) -> None:
    expected = {"1": "a", "(1, 2.5)": "b", "None": "c"}
    assert grader(source, returns(expected)).reason == reason


NODES = """
class Node:
    def __init__(self, n): self.n = n
one, two = Node(1), Node(2)
def same(x): return [one, one]
def both(x): return [one, two]
def links(x): return {one: [two], two: []}
"""


def test_objects_are_distinct_if_the_program_has_two(grader: Grader) -> None:
    """Two handles of one object are equal, so a set of them has one element."""
    assert grader(NODES, asserts("assert len(set(both(1))) == 2")).reason == "passed"
    assert grader(NODES, asserts("assert len(set(same(1))) == 2")).reason == "wrong_answer"


def test_objects_may_be_keys_of_a_dictionary_that_test_code_reads(grader: Grader) -> None:
    code = (
        "found = links(1)\nassert isinstance(found, dict) and len(found) == 2\n"
        "assert {k.n: [v.n for v in vs] for k, vs in found.items()} == {1: [2], 2: []}"
    )
    assert grader(NODES, asserts(code)).reason == "passed"


def refuse(data: Any) -> Any:
    raise value_codec.Malformed(str(data))


@pytest.mark.parametrize(
    "data",
    [
        ["set", 1, 1],
        ["set", 1, ["float", "0x1p0"]],
        ["frozenset", "a", "a"],
        ["dict", ["a", 1], ["a", 2]],
        ["dict", ["a", 1], ["b", 1], [True, 1], [1, 2]],
        ["dict", "ab"],
        ["dict", ["a", 1, 2]],
        ["Counter", ["a", 1], ["a", 1]],
        ["OrderedDict", ["a", 1], ["a", 1]],
        ["deque", 1, "a", "b"],
        ["Fraction", "1e1000000000"],
        ["Fraction", "1/0"],
        ["Fraction", "1"],
    ],
)
def test_items_that_would_vanish_or_are_no_items_are_malformed(data: Any) -> None:
    with pytest.raises(value_codec.Malformed):
        value_codec.decode(data, refuse)


# Exceptions

TRUE_EXCEPTION = "class is_prime(Exception):\n    def __bool__(self): return True"


@pytest.mark.parametrize(
    "code",
    [
        "assert is_prime(7)",
        "check = is_prime\nassert check(7)",
        "assert all(map(is_prime, [7, 11]))",
        "def check(candidate):\n    assert candidate(7)\ncheck(is_prime)",
        "from solution import is_prime\nassert is_prime(7)",
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test(self): self.assertTrue(is_prime(7))",
    ],
)
def test_an_exception_class_is_not_true_where_a_function_is_asked_for(
    grader: Grader, code: str
) -> None:
    found = grader(TRUE_EXCEPTION, asserts(code))
    assert (found.reason, found.passed) == ("invalid_output", 0)
    assert "the truth of an object of the program is not asked for" in found.shown
    assert grader("def is_prime(n): return n > 1", asserts(code)).reason == "passed"


ERRORS = """
class Full(Exception):
    def __init__(self, size):
        super().__init__(f"full at {size}")
        self.size = size
class Gone(LookupError): pass
def f(x):
    if x == 1: raise Full(3)
    if x == 2: raise Gone("no", x)
    return x
"""


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    f(1)\n    assert False\nexcept Full as full:\n    assert full.args",
        "try:\n    f(2)\n    assert False\nexcept (Full, Gone):\n    assert f(3) == 3",
        "for kind, x in [(Full, 1), (Gone, 2)]:\n    try: f(x)\n    except kind: continue\n"
        "    assert False",
        "import unittest, solution\nclass T(unittest.TestCase):\n    def test(self):\n"
        "        errors = Full, solution.Gone\n"
        "        with self.assertRaises(errors): f(2)\n"
        "        with self.assertRaises(solution.Full): f(1)",
        "error = Full(9)\nassert (str(error), error.size) == ('full at 9', 9)",
        "assert issubclass(Gone, LookupError) and isinstance(Gone('x'), LookupError)",
        "def g(): raise Gone('mine')\ntry: g()\nexcept LookupError as error:\n"
        "    assert error.args == ('mine',) and f(3) == 3",
    ],
)
def test_exceptions_of_the_program_are_caught_and_made(grader: Grader, code: str) -> None:
    found = grader(ERRORS, asserts(code))
    assert (found.reason, found.expected) == ("passed", "")


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("try: f()\nexcept A: pass\nexcept (B, m.C): pass\nexcept: pass", {"A", "B", "C"}),
        ("raise A\nraise B(1) from m.C(f(2))", {"A", "B", "C"}),
        ("with pytest.raises(A, match=B): f(C)", {"A"}),
        ("with self.assertRaisesRegex(m.A, B): f(C)", {"A"}),
        ("self.assertRaises(A, f, B)", {"A"}),
        ("isinstance(a, A), issubclass(b, (B, C)), self.assertIsInstance(c, D)", set("ABCD")),
        (
            "isinstance(A(1), LookupError), issubclass(B, (C, Exception))",
            {"A", "B", "C"} | {"LookupError", "Exception"},
        ),
        ("assert A(B), isinstance(C(7), bool)", {"bool"}),
    ],
)
def test_exceptions_are_seen_in_the_text(code: str, names: set[str]) -> None:
    assert AssertionCode(code).exception_names() == names


# Verdicts that a program must not choose

MODULE_RAISES = """
import sys, types
class Module(types.ModuleType):
    def __getattribute__(self, name): raise {error}("no")
def add(a, b): return a + b
sys.modules["solution"].__class__ = Module
"""
CHECK = "def check(candidate):\n    assert candidate(1, 2) == 3"


@pytest.mark.parametrize("error", ["ValueError", "SyntaxError", "KeyError", "MemoryError"])
@pytest.mark.parametrize(
    "tests", [asserts(CHECK, "add"), asserts("assert add(1, 2) == 3"), returns(1)]
)
def test_a_program_whose_names_raise_is_wrong_and_not_its_tests(
    grader: Grader, error: str, tests: dict[str, Any]
) -> None:
    found = grader(MODULE_RAISES.format(error=error), tests)
    reason = "invalid_output" if error == "MemoryError" else "runtime_error"
    assert (found.reason, found.passed, found.shown) == (reason, 0, error)


NO_TEXT = """
class Silent:
    def __repr__(self): raise ValueError("no text")
def f(x):
    if x == 1: raise {kind}({argument})
    return x
"""


@pytest.mark.parametrize("argument", ["Silent()", "10**5000"])
@pytest.mark.parametrize("kind", ["KeyError", "AssertionError"])
def test_an_error_without_text_is_one_failed_test(grader: Grader, kind: str, argument: str) -> None:
    source = NO_TEXT.format(kind=kind, argument=argument)
    cases = [{"args": [n], "returns": n} for n in (0, 1, 2)]
    for tests in (
        asserts("assert f(0) == 0\nassert f(1) == 1\nassert f(2) == 2"),
        {"type": "function", "entry_point": "f", "cases": cases},
        asserts(
            "import unittest\nclass T(unittest.TestCase):\n"
            + "".join(f"    def test_{n}(self): self.assertEqual(f({n}), {n})\n" for n in range(3))
        ),
    ):
        found = grader(source, tests, ALL)
        assert (found.passed, found.total, found.first_failed) == (2, 3, 1)
        assert found.reason in ("runtime_error", "wrong_answer")


def test_code_that_python_cannot_compile_is_the_tests_fault(grader: Grader) -> None:
    """The parser alone accepts it."""
    found = grader("def f(x): return 1", asserts("assert f(1) == 1\nreturn 5"))
    assert (found.reason, found.passed) == ("bad_reference", 0)
    assert "'return' outside function" in found.shown


# Modules that are not installed


@pytest.mark.parametrize(
    ("program", "tests"),
    [
        ("import no_such_module", asserts("assert f(1) == 1")),
        ("def f(x):\n    from no.such import x", asserts("assert f(1) == 1")),
        (
            "def f(x):\n    import no_such_module",
            {"type": "function", "entry_point": "f", "cases": [{"args": [1], "returns": 1}]},
        ),
        ("import no_such_module", {"type": "stdio", "cases": [{"stdin": "", "stdout": "1"}]}),
    ],
)
def test_a_program_that_imports_what_is_not_there_has_a_reason_of_its_own(
    grader: Grader, program: str, tests: dict[str, Any]
) -> None:
    found = grader(program, tests)
    assert (found.reason, found.num_passed, found.total) == ("module_not_found", 0, 1)
