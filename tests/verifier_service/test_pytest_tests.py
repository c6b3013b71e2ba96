"""Test code for pytest: parametrize, raises, approx, plain classes, fixtures of the text."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.verifier_service.test_score import verdicts
from verifier_service.code.pytest_text import MAX_ROWS, UnsupportedPytest, in_unittest

TESTS = '''
"""Tests of a safe division."""
import math
import pytest
from pytest import approx
from solution import divide, Stack


@pytest.fixture
def stack():
    return Stack()


@pytest.mark.parametrize(
    "a, b, expected", [(6, 3, 2), (1, 4, 0.25), pytest.param(-9, 3, -3, id="negative")]
)
def test_quotients(a, b, expected):
    assert divide(a, b) == expected


@pytest.mark.parametrize("a", [1, 2])
@pytest.mark.parametrize("b", [4, 8])
def test_products(a, b):
    assert divide(a, b) * b == a


def test_third():
    assert divide(1, 3) == pytest.approx(0.333333, abs=1e-5)
    assert [divide(2, 3), 1] == approx([0.6666666667, 1.0])
    assert divide(1, 3) != approx(0.34)


def test_by_zero():
    with pytest.raises(ZeroDivisionError) as raised:
        divide(1, 0)
    assert "zero" in str(raised.value)


@pytest.mark.slow
def test_of_texts():
    with pytest.raises((TypeError, ValueError), match="number"):
        divide("1", 2)


@pytest.mark.skip(reason="not yet")
def test_later():
    assert False


class TestStack:
    def setup_method(self, method):
        self.given = Stack()
        self.given.push(1)

    def test_pop(self):
        assert self.given.pop() == 1

    @pytest.mark.parametrize("values", [[1], [1, 2], []])
    def test_length(self, stack, values):
        for value in values:
            stack.push(value)
        assert stack.size() == len(values)


if __name__ == "__main__":
    pytest.main([__file__])
'''
RIGHT = """
def divide(a, b):
    if isinstance(a, str) or isinstance(b, str):
        raise TypeError("not a number")
    return a / b

class Stack:
    def __init__(self):
        self.values = []
    def push(self, value):
        self.values.append(value)
    def pop(self):
        return self.values.pop()
    def size(self):
        return len(self.values)
"""
TOTAL = 3 + 4 + 1 + 1 + 1 + 1 + 3
PROGRAMS = {
    "right": (RIGHT, TOTAL),
    "integer division": (RIGHT.replace("a / b", "a // b"), TOTAL - 1 - 4 - 1),
    "another error": (RIGHT.replace("TypeError", "KeyError"), TOTAL - 1),
    "another message": (RIGHT.replace("not a number", "why"), TOTAL - 1),
    "no error": (RIGHT.replace("return a / b", "return a / b if b else 0"), TOTAL - 1),
    "error without its words": (
        RIGHT.replace("return", "if not b: raise ZeroDivisionError('none')\n    return", 1),
        TOTAL - 1,
    ),
    "a stack that is full": (RIGHT.replace("append(value)", "append(value); 1/0"), TOTAL - 4),
    "shared stack": (RIGHT.replace("self.values = []", "self.values = SHARED")
        .replace("class Stack", "SHARED = []\nclass Stack"), None),
    "nan": (RIGHT.replace("return a / b", "return float('nan') if b else 1 / 0"), None),
    "equal to everything": (
        RIGHT + "class Any:\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "    def __sub__(self, other): return 0\ndef divide(a, b): return Any()", None),
    "ends": (RIGHT.replace("return a / b", "import os; os._exit(0)"), None),
    "skips": (RIGHT.replace("return a / b", "import unittest; raise unittest.SkipTest"), None),
    "replaces pytest": ("import sys\nsys.modules['pytest'] = None\nsys.modules['unittest'] = None\n"
        + RIGHT.replace("a / b", "0"), None),
    "nothing": ("", 0),
}  # fmt: skip


def judged(http: httpx.Client, code: str, *programs: str, **options: Any) -> list[dict[str, Any]]:
    completions = [f"```python\n{program}\n```" for program in programs]
    verifier = {"type": "code", "scoring": "fraction", "cpu_seconds": 10.0, **options}
    return verdicts(http, verifier, *completions, tests={"type": "asserts", "code": code})


def test_tests_of_pytest_are_counted_and_judged(http: httpx.Client) -> None:
    found = judged(http, TESTS, *(program for program, _ in PROGRAMS.values()))
    for (name, (_, passed)), verdict in zip(PROGRAMS.items(), found, strict=True):
        assert verdict["outcome"] == "scored", (name, verdict)
        assert verdict["details"]["total"] == TOTAL
        if passed is None:
            assert verdict["details"]["passed"] < TOTAL, (name, verdict)
        else:
            assert verdict["details"]["passed"] == passed, (name, verdict)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def test_a(tmp_path): assert f(tmp_path)", "test_a uses the fixture tmp_path"),
        ("def test_a(capsys):\n    with capsys.disabled(): f()", "it uses disabled of capsys"),
        ("@pytest.mark.xfail\ndef test_a(): assert f(1)", "pytest.mark.xfail, which is not"),
        ("@pytest.mark.parametrize('a', ROWS)\ndef test_a(a): assert f(a)", "do not stand in the"),
        ("@pytest.mark.parametrize('a,b', [1])\ndef test_a(a, b): assert f(a)", "not a value for"),
        ("def test_a(): assert f(1) < pytest.approx(2)", "by another way than == or !="),
        ("def test_a():\n    with pytest.warns(UserWarning): f(1)", "it uses pytest.warns"),
        ("@pytest.fixture\ndef x():\n    yield 1\ndef test_a(x): assert f(x)", "fixture x yields"),
        (
            "def test_a():\n    with pytest.raises(KeyError) as e: f(1)\n    e.match('k')",
            "it uses match of pytest.raises",
        ),
        ("class TestA:\n    @pytest.fixture\n    def x(self): return 1\n"
         "    def test_a(self, x): assert f(x)", "it defines a fixture in a class"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_named_from_the_text_alone(
    http: httpx.Client, code: str, said: str
) -> None:
    for verdict in judged(http, f"import pytest\n{code}", "def f(x): return x", "import os"):
        assert (verdict["outcome"], verdict["reason"]) == ("unverifiable", "unsupported_test")
        assert said in verdict["details"]["message"]


def test_a_table_has_a_bound() -> None:
    rows = "@pytest.mark.parametrize('x{0}', {1})\n"
    marks = "".join(rows.format(number, list(range(50))) for number in range(2))
    with pytest.raises(UnsupportedPytest, match=f"more than {MAX_ROWS} rows"):
        in_unittest(f"import pytest\n{marks}def test_a(x0, x1): assert f(x0, x1)")


@pytest.mark.parametrize(
    "code",
    [
        "assert f(1) == 2",
        "class TestIt:\n    def test(self): assert f(1) == 2\nTestIt().test()",
        "import unittest\nclass TestIt(unittest.TestCase):\n    def test_a(self): pass",
        "text = 'pytest'\nassert f(text)",
    ],
)
def test_other_tests_stay_as_they_are(code: str) -> None:
    assert in_unittest(code) == code


def test_a_plain_class_needs_no_import(http: httpx.Client) -> None:
    methods = [f"    def test_{n}(self): assert f({n}) == {n}" for n in (1, 2)]
    code = "\n".join(["class TestF:", *methods])
    right, wrong = judged(http, code, "def f(x): return x", "def f(x): return 1")
    assert (right["score"], wrong["score"]) == (1.0, 0.5)


PRINTS = """
import pytest

def test_words(capsys):
    hello("you")
    hello("me")
    assert capsys.readouterr().out == "hello you\\nhello me\\n"
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")

@pytest.mark.parametrize("name", ["a", "b"])
def test_each(capfd, name):
    out, err = capfd.readouterr()
    assert hello(name) is None
    captured = capfd.readouterr()
    assert captured.out.strip().endswith(name)
    assert captured.err == ""
"""
PRINTING = {
    "right": ("def hello(name): print('hello', name)", 1.0),
    "wrong": ("def hello(name): print('goodbye', name)", 2 / 3),
    "returns it": ("def hello(name): return f'hello {name}'", 0.0),
    "on the other stream": (
        "import sys\ndef hello(name): print('hello', name, file=sys.stderr)", 0.0),
    "prints and returns": ("def hello(name):\n    print('hello', name)\n    return 1", 1 / 3),
    "raises": ("def hello(name): raise ValueError(name)", 0.0),
    "another capture": (
        "def __capture__(): return ('hello you\\nhello me\\n', '')\ndef hello(name): pass", 0.0),
    "no capture": ("del __capture__\ndef hello(name): print('hello', name)", 0.0),
    "closes the stream": (
        "import sys\ndef hello(name):\n    print('hello', name)\n    sys.stdout.close()", 0.0),
    "ends": ("import os\ndef hello(name): os._exit(0)", 0.0),
}  # fmt: skip


def test_the_output_of_a_program_can_be_compared(http: httpx.Client) -> None:
    found = judged(http, PRINTS, *(program for program, _ in PRINTING.values()))
    scores = {name: one["score"] for name, one in zip(PRINTING, found, strict=True)}
    assert scores == {name: score for name, (_, score) in PRINTING.items()}, found


def test_capsys_needs_no_import(http: httpx.Client) -> None:
    code = "def test_a(capsys):\n    f()\n    assert capsys.readouterr().out == '1\\n'"
    right, wrong = judged(http, code, "def f(): print(1)", "def f(): print(2)")
    assert (right["score"], wrong["score"]) == (1.0, 0.0)


NEAR = [
    ("0.1 + 0.2", "0.3", True),
    ("0.3001", "0.3", False),
    ("{'a': 1.0000001}", "{'a': 1}", True),
    ("{'a': 1, 'b': 2}", "{'a': 1}", False),
    ("(1, 2)", "[1, 2]", True),
    ("[1]", "[1, 2]", False),
    ("1 + 1e-7j", "1", True),
    ("float('inf')", "float('inf')", True),
    ("1e308", "float('inf')", False),
    ("float('nan')", "1", False),
    ("'a'", "1", False),
    ("None", "None", True),
    ("Fraction(1, 3)", "1 / 3", True),
    ("Decimal('0.5')", "Decimal('0.5000001')", True),
    ("np.array([0.1, 0.2]) * 3", "[0.3, 0.6]", True),
    ("[0.3, 0.6]", "np.array([0.1, 0.2]) * 3", True),
    ("np.float32(0.5)", "0.5", True),
]


@pytest.mark.slow
def test_nearness_is_pytests(http: httpx.Client) -> None:
    imports = "from fractions import Fraction\nfrom decimal import Decimal\nimport numpy as np\n"
    for found, expected, near in NEAR:
        code = f"import pytest\n{imports}assert f() == pytest.approx({expected})"
        (verdict,) = judged(http, code, f"{imports}def f(): return {found}")
        assert verdict["outcome"] == "scored", (found, verdict)
        assert verdict["score"] == float(near), (found, expected, verdict)
