"""Whose a name is that test code uses: the program's or the judge's, by the text alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.verifier_service.test_code import Grader, asserts
from verifier_service.code.assertions import AssertionCode
from verifier_service.code.reference_tests import Asserts, read_tests
from verifier_service.reason import EngineReason
from verifier_service.verifier import Unverifiable


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    found = Grader()
    yield found
    found.close()


UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        "


@pytest.mark.parametrize(
    ("code", "names"),
    [
        # Used beside the program, and not imported.
        ("assert math.isclose(f(3), 0.73)", {"math"}),
        ("assert isclose(f(3), 0.73)", {"isclose"}),
        ("assert np.allclose(f(3), [1]) and numpy.any(f(2))", {"np", "numpy"}),
        ("assert Counter(f('ab')) == Counter('ba')", {"Counter"}),
        ("a = f('ab')\nassert Counter(a) == Counter('ba')", {"Counter"}),
        ("expected = deque([1])\nassert f(1) == expected", {"deque"}),
        ("assert f(1) == datetime.datetime(2020, 1, 1)", {"datetime"}),
        ("assert f(1) == datetime(2020, 1, 1) < datetime.now()", {"datetime"}),
        ("now = datetime.now()\nassert now.hour\nassert f(1) == now", {"datetime"}),
        ("assert ET.fromstring(f(1)).tag == 'a'", {"ET"}),
        ("from solution import *\nassert math.isclose(f(3), 0.73)", {"math"}),
        ("import solution\nassert Counter(solution.f(1)) == Counter('a')", {"Counter"}),
        ("def check(candidate):\n    assert Counter(candidate(1)) == Counter('a')", {"Counter"}),
        ("def run(x):\n    return f(x)\nassert isclose(run(3), 0.73)", {"isclose"}),
        ("def a():\n    import math\ndef test_b():\n    assert math.isclose(f(3), 1)", {"math"}),
        ("class T(unittest.TestCase):\n    def test(self): assert f(1)", {"unittest"}),
        (f"{UNITTEST}self.assertTrue(isclose(f(3), 0.73))", {"isclose"}),
        (f"{UNITTEST}self.x = f(3)\n        assert isclose(self.x, 0.73)", {"isclose"}),
        # Defined by the code, or by Python.
        ("import math\nassert math.isclose(f(3), 0.73)", set()),
        ("from collections import Counter\nassert Counter(f(1)) == Counter('a')", set()),
        ("assert sorted(f(3)) == sorted([1])", set()),
        ("assert [product for product in f(1)] and (lambda deque: deque)(f(1))", set()),
        ("def isclose(a, b): return a == b\nassert isclose(f(3), 1)", set()),
        ("def test_a():\n    product = f(1)\n    assert product.name == 'x'", set()),
        # Tested, so the program's.
        ("assert gcd(12, 18) == 6", set()),
        ("assert math.isclose(stdev([1, 2]), 0.7071)", {"math"}),
        ("assert isclose(stdev([1, 2]), 0.7071)", {"isclose"}),
        ("assert gcd(12, 18) == 6\nassert f(3) == 6", set()),
        ("x = [1, 2]\nassert mean(x) == 1.5\nassert f(x) == 6", set()),
        ("x = mean([1, 2])\nassert x == 1.5\nassert f(x) == 6", set()),
        ("for a, b, c in [(4, 6, 2)]:\n    assert gcd(a, b) == c\nassert f(1)", set()),
        ("assert all(gcd(a, b) == c for a, b, c in [(4, 6, 2)])\nassert f(1)", set()),
        ("def check(a, b):\n    assert gcd(a, 2) == b\ncheck(4, 2)", set()),
        ("def near(a, b): return abs(a - b) < 1\nassert near(mean([1]), 1)\nassert f(1)", set()),
        (f"{UNITTEST}self.assertEqual(gcd(12, 18), 6)\n        self.assertTrue(f(3))", set()),
        (f"{UNITTEST}self.assertRaises(ValueError, factorial, -1)\n        assert f(3)", set()),
        (
            f"{UNITTEST}with self.assertRaises(ValueError):\n            x = factorial(-1)\n"
            "        assert f(3)",
            set(),
        ),
        # No usual use of the name.
        ("queue.push(f(1))\nassert queue.size() == 1", set()),
        ("assert f(np) == 1", set()),
    ],
)
def test_a_name_that_nothing_defines_is_the_judges_where_it_is_used_as_usual(
    code: str, names: set[str]
) -> None:
    source = AssertionCode(code, entry_point="f")
    assert source.judges_names.keys() == names
    assert not names & set(source.free_names())


@pytest.mark.parametrize("name", ["gcd", "gcd()", "Solution().gcd"])
def test_the_entry_point_is_always_the_programs(name: str) -> None:
    code = "def check(candidate):\n    assert gcd(candidate(4, 6), 2) == 2"
    assert AssertionCode(code, entry_point="f").judges_names.keys() == {"gcd"}
    assert AssertionCode(code, entry_point=name).judges_names == {}


def test_nested_branches_and_long_sums_are_read_without_recursion() -> None:
    branches = "if f(1): pass\n" + "elif f(2): pass\n" * 300
    code = f"{branches}assert isclose(f(3), {' + '.join(['1'] * 900)})"
    assert AssertionCode(code).judges_names.keys() == {"isclose"}


FORGED = """
class math:
    isclose = staticmethod(lambda *a, **k: True)
class np:
    allclose = staticmethod(lambda *a, **k: True)
class unittest:
    class TestCase: pass
def Counter(x): return []
isclose = approx = math.isclose
def mean(x): return 0.73
def f(x): return {}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "right"),
    [
        ("assert math.isclose(f(3), 0.73)", "0.73"),
        ("assert isclose(f(3), 0.73, abs_tol=1e-3)", "0.7301"),
        ("assert np.allclose(f(3), [0.73, 1])", "[0.73, 1.0]"),
        ("assert Counter(f(3)) == Counter('ab')", "['b', 'a']"),
        ("assert mean(f(3)) == 0.73", "[0.5, 0.96]"),
        ("class T(unittest.TestCase):\n    def test(self): self.assertEqual(f(3), 1)", "1"),
    ],
)
def test_a_program_gains_nothing_by_defining_what_the_tests_compare_with(
    grader: Grader, code: str, right: str
) -> None:
    found = grader(FORGED.format("2"), asserts(code))
    assert (found.reason, found.passed) == ("wrong_answer", 0)
    found = grader(FORGED.format(right), asserts(code))
    assert (found.reason, found.passed) == ("passed", 1)
    found = grader(f"def f(x): return {right}", asserts(code))
    assert (found.reason, found.passed) == ("passed", 1)


@pytest.mark.parametrize(
    "code",
    [
        "assert gcd(12, 18) == 6",
        "assert gcd(12, 18) == 6\nassert f(3) == 3",
        "assert gcd(12, 18) == 6\nassert math.gcd(gcd(4, 6), 6) == 2",
        "def check(candidate):\n    assert candidate(12, 18) == 6\ncheck(gcd)",
        f"{UNITTEST}self.assertEqual(gcd(12, 18), 6)",
        "def verify(a, b, c):\n    assert gcd(a, b) == c\nverify(12, 18, 6)",
    ],
)
def test_a_function_with_a_usual_name_is_tested_if_it_is_the_subject(
    grader: Grader, code: str
) -> None:
    f = "def f(x): return x\n"
    right = f"{f}def gcd(a, b):\n    return gcd(b, a % b) if b else a"
    assert grader(right, asserts(code)).reason == "passed"
    assert grader(f"{f}def gcd(a, b): return 1", asserts(code)).reason == "wrong_answer"
    assert grader(f, asserts(code)).reason == "runtime_error"


# Modules

NOT_THERE = "which is not there"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("from Levenshtein import ratio\nassert f(1)", f"it imports Levenshtein, {NOT_THERE}"),
        ("import pandas as pd\nassert f(1)", f"it imports pandas, {NOT_THERE}"),
        ("def test():\n    import some_package.part\n    assert f(1)", "it imports some_package"),
        ("import importlib\nimportlib.import_module('torch')\nassert f(1)", "it imports torch"),
        ("__import__('torch').zeros(f(1))", "it imports torch"),
        ("from two_sum import f\nassert f(1)", f"it imports two_sum, {NOT_THERE}"),
        ("from .solution import f\nassert f(1)", "it imports relative to a package"),
        ("from . import solution\nassert f(1)", "it imports relative to a package"),
        ("assert f(3) == approx(0.73)", f"it uses approx of pytest, {NOT_THERE}"),
        ("assert pd.isna(f(3))", f"it uses pd of pandas, {NOT_THERE}"),
        ("from solution import f\nassert f(1)", ""),
        ("import your_module as m\nassert m.f(1)", ""),
        ("from main.part import f\nassert f(1)", ""),
        ("import numpy.linalg, sympy, mpmath, json\nassert f(1)", ""),
    ],
)
def test_a_module_that_tests_do_not_find_is_seen_in_the_text(code: str, why: str) -> None:
    found = AssertionCode(code).cannot_be_run_apart()
    assert found.startswith(why) if why else found == ""


def test_the_reference_may_name_the_module_of_the_program(grader: Grader) -> None:
    tests = {"type": "asserts", "code": "from Levenshtein import ratio\nassert ratio(1) == 2"}
    source = "def ratio(x): return {}"
    unknown = grader(source.format("2"), tests)
    assert unknown.reason == "unsupported_test"
    assert "it imports Levenshtein, which is not there" in unknown.shown
    for known in ({"module": "Levenshtein"}, {"entry_point": "Levenshtein"}):
        assert grader(source.format("2"), tests | known).reason == "passed"
        assert grader(source.format("3"), tests | known).reason == "wrong_answer"


def test_a_module_of_python_is_not_the_program(grader: Grader) -> None:
    tests = {
        "type": "asserts",
        "code": "from queue import Queue\nassert Queue().qsize() == queue(1) - 1",
        "entry_point": "queue",
    }
    source = "def queue(x): return {}\nclass Queue:\n    def qsize(self): return 9"
    assert grader(source.format("1"), tests).reason == "passed"
    assert grader(source.format("10"), tests).reason == "wrong_answer"


@pytest.mark.parametrize("module", ["queue", "numpy.linalg", "two sum", "a..b", "", "x" * 201])
def test_a_module_that_cannot_be_the_program_is_a_bad_reference(module: str) -> None:
    tests = {"type": "asserts", "code": "assert f(1)", "module": module}
    with pytest.raises(Unverifiable, match="module") as caught:
        read_tests({"tests": tests})
    assert caught.value.reason is EngineReason.BAD_REFERENCE
    assert isinstance(read_tests({"tests": tests | {"module": "a.two_sum"}}), Asserts)
