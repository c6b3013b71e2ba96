"""Tests fail a result that has too few elements for anything to be compared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.verifier_service.test_counting import Judge, asserts

PROGRAMS = {
    "list": "def f(n): return {values}",
    "array": "import numpy\ndef f(n): return numpy.array({values}, dtype=float)",
    "iterator": "def f(n): return iter({values})",
    "object": (
        "class A:\n"
        "    def __init__(self, values): self.values = values\n"
        "    def __len__(self): return len(self.values)\n"
        "    def __getitem__(self, index): return self.values[index]\n"
        "def f(n): return A({values})"
    ),
}
"""Programs whose results are lists, and what else has elements."""

HELPER_OF_EVALPLUS = (
    "import numpy as np\n"
    "def assertion(out, exp, atol):\n"
    "    exact_match = out == exp\n"
    "    if not np.all(exact_match) and atol != 0:\n"
    "        assert np.allclose(out, exp, rtol=1e-07, atol=atol)\n"
    "    else:\n"
    "        assert np.all(exact_match)\n"
    "assertion(f(3), [5.0], 1e-6)"
)
CASE = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        "


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    found = Judge()
    yield found
    found.close()


@pytest.mark.parametrize(
    "code",
    [
        "assert np.allclose(f(3), 5.0)",
        "assert np.allclose(5.0, f(3))",
        "assert np.allclose(b=f(3), a=[5.0])",
        "import numpy\nassert numpy.allclose(f(3), numpy.float64(5.0))",
        "assert np.allclose(np.array(f(3)), np.array([5.0, 5.0]).reshape(2, 1))",
        "assert np.isclose(f(3), 5.0).all()",
        "assert np.array_equiv(f(3), 5.0)",
        "np.testing.assert_allclose(f(3), 5.0)",
        "np.testing.assert_allclose(actual=f(3), desired=5.0)",
        "from numpy.testing import assert_almost_equal as same\nsame(f(3), [5.0])",
        "np.testing.assert_array_almost_equal(f(3), 5.0)",
        "np.testing.assert_array_equal(f(3), 5)",
        "np.testing.assert_equal(np.array(f(3)), 5)",
        "assert np.all(np.abs(np.array(f(3)) - 5) < 1e-6)",
        "assert np.all(np.abs(f(3) - np.array([5.0])) < 1e-6)",
        "assert np.linalg.norm(np.array(f(3)) - 5) < 1e-6",
        "assert np.all(np.equal(f(3), 5))",
        "assert np.all(np.abs(np.subtract(f(3), 5)) < 1e-6)",
        "assert (f(3) == np.array([5.0])).all()",
        "assert not (np.array(f(3)) != 5).any()",
        HELPER_OF_EVALPLUS,
        "import numpy as np\ndef test_a():\n    assert np.allclose(f(3), 5.0)",
        "import pytest\nimport numpy as np\ndef test_a():\n    assert np.allclose(f(3), 5.0)",
        f"import numpy as np\n{CASE}self.assertTrue(np.allclose(f(3), 5.0))",
        "def check(candidate):\n    assert np.allclose(candidate(3), 5.0)\ncheck(f)",
    ],
)
@pytest.mark.parametrize("kind", ["list", "array"])
def test_an_empty_result_is_close_to_no_value(judge: Judge, code: str, kind: str) -> None:
    program = PROGRAMS[kind]
    assert judge(program.format(values=[]), asserts(code)).reason == "wrong_answer"
    assert judge(program.format(values=[5.0]), asserts(code)).reason == "passed"


@pytest.mark.parametrize(
    "code",
    [
        "assert np.allclose(f(0), [])",
        "assert np.isclose(f(0), np.array([])).all()",
        "np.testing.assert_allclose(f(0), [])",
        "np.testing.assert_equal(f(0), [])",
        "assert np.array_equal(np.array(f(0)) - np.array([]), [])",
        "assert np.all(np.array(f(0)) > 0)",
        "assert np.subtract.outer(np.array(f(0)), [1, 2]).shape == (0, 2)",
        "assert len(f(0)) == len(np.zeros(3)) - 3",
        "assert all(a <= b for a, b in zip(f(0), f(0)[1:]))",
    ],
)
def test_an_empty_result_passes_where_nothing_is_expected(judge: Judge, code: str) -> None:
    assert judge("def f(n): return []", asserts(code)).reason == "passed"
    assert judge("def f(n): return [-1.0, -2.0]", asserts(code)).reason == "wrong_answer"


def test_an_object_without_elements_is_close_to_no_value(judge: Judge) -> None:
    for values, reason in (([], "wrong_answer"), ([5.0], "passed")):
        program = PROGRAMS["object"].format(values=values)
        assert judge(program, asserts(HELPER_OF_EVALPLUS)).reason == reason


@pytest.mark.parametrize(
    "code",
    [
        "for a, b in zip(f(3), [1, 2, 3]): assert a == b",
        "for b, a in zip((1, 2, 3), f(3), strict=False): assert a == b",
        "assert all(abs(a - b) < 1e-6 for a, b in zip(f(3), [1, 2, 3]))",
        "assert sum(abs(a - b) for a, b in zip(f(3), [1, 2, 3])) < 1e-6",
        "assert all(map(lambda a, b: a == b, f(3), [1, 2, 3]))",
        "for i, (a, b) in enumerate(zip(sorted(f(3)), [1, 2, 3])): assert a == b",
        "for a, b in zip(np.array(list(f(3))).tolist(), np.array([1, 2, 3])): assert a == b",
        "def same(a, b): return all(x == y for x, y in zip(a, b))\nassert same(f(3), [1, 2, 3])",
        "def check(c):\n    for a, b in zip(c(3), [1, 2, 3]): assert a == b\ncheck(f)",
        f"{CASE}for a, b in zip(f(3), [1, 2, 3]): self.assertEqual(a, b)",
    ],
)
@pytest.mark.parametrize("kind", ["list", "iterator"])
def test_a_result_is_as_long_as_the_values_beside_it(judge: Judge, code: str, kind: str) -> None:
    program = PROGRAMS[kind]
    for values in ([], [1, 2]):
        assert judge(program.format(values=values), asserts(code)).reason == "wrong_answer"
    assert judge(program.format(values=[1, 2, 3]), asserts(code)).reason == "passed"


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("for a, b in zip(f(3), [1, 2]): assert a == b", [1, 2, 3]),
        ("for a, b in zip(f(3), []): assert a == b", []),
        ("for i, a in zip(range(10), f(3)): assert a == i + 1", [1, 2, 3]),
        ("for a, b in zip(iter([1, 2]), f(3)): assert a == b", [1, 2, 3]),
        ("r = f(3)\nassert all(a < b for a, b in zip(r[1:], r[2:] + [9]))", [1, 2, 3]),
        ("r = f(3)\nassert all(a < b for a, b in zip(r[:-1], r[1:]))", [1, 2, 3]),
        ("assert list(zip(*[f(3), [1, 2, 3, 4]])) == [(1, 1)]", [1]),
        ("assert list(map(str, f(3))) == ['1']", [1]),
        ("for a, b in zip([f(1), f(2)], [[1], [1]]): assert a == b", [1]),
        ("assert np.sum(f(3)) == 1 and f(3) != []", [1]),
        ("assert np.sum(f(3)) == 1 and not f(3) == []", [1]),
    ],
)
def test_other_lengths_are_as_the_test_has_them(judge: Judge, code: str, values: list[int]) -> None:
    assert judge(f"def f(n): return {values}", asserts(code)).reason == "passed"


def test_an_endless_generator_may_stand_beside_values(judge: Judge) -> None:
    program = "import itertools\ndef f(n): return itertools.count(n)"
    code = "r = f(3)\nfor a, b in zip([3, 4], r): assert a == b\nassert next(r) == 5"
    assert judge(program, asserts(code)).reason == "passed"
