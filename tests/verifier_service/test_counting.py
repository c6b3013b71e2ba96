"""Tests are counted from their text: a program that ends early has failed what it did not reach."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verifier_service.code.assertions import AssertionCode
from verifier_service.code.counting import count_tests
from verifier_service.code.findings import Findings
from verifier_service.code.journal import MAX_RESULT_BYTES, read_journal
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reference_tests import read_tests
from verifier_service.code.repeated_program import Plan
from verifier_service.code.run_tests import ENTRIES, run_tests
from verifier_service.code.split_tests import MAX_SPLIT_TESTS
from verifier_service.sandbox.entries import MAX_COMPILED_BYTES
from verifier_service.sandbox.execution import Limits
from verifier_service.sandbox.runner import Runner

HUGE = Limits(cpu_seconds=1000.0, wall_seconds=1000.0, memory_bytes=2**28)
PLAN = Plan(HUGE, 10_000.0, 10_000.0, run_all=True)
FIRST_ONLY = dataclasses.replace(PLAN, run_all=False)


def limited(**limits: Any) -> Plan:
    """A plan with one low limit."""
    return dataclasses.replace(PLAN, limits=dataclasses.replace(HUGE, **limits))


class Judge:
    """Judges programs in the sandbox."""

    def __init__(self) -> None:
        self._loop = asyncio.Runner()
        self._runner = Runner(1, entries=ENTRIES)
        self._loop.run(self._runner.__aenter__())

    def close(self) -> None:
        self._loop.run(self._runner.__aexit__(None, None, None))
        self._loop.close()

    def __call__(self, source: str, tests: dict[str, Any], plan: Plan = PLAN) -> Findings:
        asked = read_tests({"tests": tests})
        judging = run_tests(self._runner, LANGUAGES["python"], source, asked, plan)
        return self._loop.run(judging)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    found = Judge()
    yield found
    found.close()


def asserts(code: str, entry_point: str | None = None) -> dict[str, Any]:
    return {"type": "asserts", "code": code, "entry_point": entry_point}


# What counts as a test

TWO = "    def test_a(self): self.assertEqual(f(1), 1)\n    def test_b(self): pass\n"
CASE = "import unittest\nclass T(unittest.TestCase):\n"


@pytest.mark.parametrize(
    ("code", "total"),
    [
        ("assert f(1) == 1\nassert f(2) == 2", 2),
        ("x = f(1)\nassert x == 1\nprint('done')", 1),
        ("import solution\nsolution.f(1)\nassert f(1)", 1),
        ("import random\nrandom.seed(0)\nassert f(1)", 1),
        ("def run(): assert f(1) == 1\nrun()", 1),
        ("def helper(a, b): return a == b\nhelper(1, 1)\nassert f(1)", 1),
        ("assert f(1)\nif __name__ == '__main__':\n    print(f(1))", 1),
        ("try:\n    f(1)\n    assert False\nexcept ValueError: pass", 1),
        # statements that may fail a program, or not
        ("print(f(1))\nassert f(2) == 2", 1),
        ("print(f(1))\nprint(f(2))", 2),
        ("f(1)\n[f(x) for x in [1, 2]]\ndef test_a(): assert f(1)", 1),
        ("def show(x): print(x)\nshow(f(1))\nassert f(2)", 1),
        ("def show(x): print(x)\ndef check(c):\n    show(c(1))\n    assert c(2)\ncheck(f)", 1),
        ("def deep(x): same(x, 1)\ndef same(a, b): assert a == b\ndeep(f(1))\nassert f(2)", 2),
        ("def inner():\n    def same(a): assert a\n    same(f(1))\ninner()\nassert f(2)", 2),
        ("same = lambda a: assert_same(a, 1)\nsame(f(1))\nassert f(2)", 2),
        ("def a(): assert f(1)\ncases = [a, a]\nfor case in cases: case()\nassert f(2)", 2),
        ("def a(): return f(1)\nfound = a()\nprint(found)\nassert f(2)", 1),
        ("def a():\n    assert f(1)\n    return 1\nfound = a()\nprint(found)\nassert f(2)", 1),
        ("class C:\n    def run(self): assert f(1)\nC().run()\nc = C()\nc.run()\nassert f(2)", 3),
        ("check_all(f)\nassert f(2)", 2),
        ("print(check_all(f))\nassert f(2)", 1),
        ("if f(1) != 1: raise ValueError\nassert f(2)", 2),
        ("import sys\nif f(1) != 1: sys.exit(1)\nassert f(2)", 2),
        ("if f(1) != 1: print('wrong')\nassert f(2)", 1),
        ("gate = f(0)\ngate.exit(1)\nassert f(2)", 1),
        # assertions that are swallowed
        ("bad = []\ntry: assert f(1)\nexcept AssertionError: bad.append(1)\nassert not bad", 1),
        ("bad = []\ntry: assert f(1)\nexcept: bad.append(1)\nassert not bad", 1),
        ("try: assert f(1)\nexcept Exception as e: raise ValueError from e\nassert f(2)", 2),
        ("try: f(1)\nexcept ValueError: pass\nelse: assert False\nassert f(2)", 2),
        ("try: f(1)\nexcept Exception as e: assert str(e) == 'no'\nassert f(2)", 2),
        ("from contextlib import suppress\nwith suppress(Exception): assert f(1)\nassert f(2)", 1),
        ("import contextlib as c\nwith c.suppress(KeyError): assert f(1)\nassert f(2)", 2),
        # loops
        ("for x, y in [(1, 1), (2, 2)]: assert f(x) == y", 2),
        ("cases = [(1, 1), (2, 2)]\nfor x, y in cases: assert f(x) == y", 2),
        ("for n in range(2, 11, 3):\n    if n > 2: continue\n    assert f(n) == n", 3),
        ("xs = [1, 2]\nys = (1, 2)\nfor i, (x, y) in enumerate(zip(xs, ys)): assert f(x) == y", 2),
        ("xs = [1, 2]\nfor i in range(len(xs)): assert f(xs[i]) == xs[i]", 2),
        ("for x in []: assert f(x)\nassert f(1)", 1),
        ("for x in [1, 2, 3]:\n    assert f(x) == x\n    break", 1),
        ("ok = True\nfor x in [1, 2]:\n    if f(x) != x: ok = False; break\nassert ok", 1),
        ("n = 0\nfor x in [1, 2]:\n    if f(x) == x: n += 1\nassert n == 2", 1),
        ("n = 0\nfor x in [1, 2]:\n    try: assert f(x); n += 1\n    except: pass\nassert n", 1),
        ("for x in [1, 2]: assert f(x)\nelse: assert f(3)", 1),
        ("xs = [1, 2]\nxs.append(3)\nfor x in xs: assert f(x)", 1),
        ("for x in f(3): assert x", 1),
        ("for x in range(f(3)): assert f(x)", 1),
        ("for x in [*f(3)]: assert f(x)", 1),
        ("for x in range(1, 2, 0): assert f(x)", 1),
        ("for x in range(10**30): assert f(x)", 1),
        (f"for x in range({MAX_SPLIT_TESTS}): assert f(x)", MAX_SPLIT_TESTS),
        (f"for x in range({MAX_SPLIT_TESTS + 1}): assert f(x)", 1),
        ("xs = []\nfor x in [1, 2, 3]: xs.append(f(x))\nassert xs == [1, 2, 3]", 1),
        ("for x in range(9_000): assert f(x)\nfor x in range(9_000): assert f(x)", 9_001),
        ("def range(n): return [1]\nfor x in range(5): assert f(x)", 1),
        # functions
        ("def check(c):\n    assert c(1) == 1\n    x = c(2)\n    assert x == 2\ncheck(f)", 2),
        ("def check(c):\n    for x in [1, 2, 3]: assert c(x) == x\n    assert c(4)\ncheck(f)", 4),
        ("def check(c):\n    if not c: return\n    assert c(1)\n    assert c(2)\ncheck(f)", 1),
        ("def check(c):\n    assert c(1)\n    assert c(2)\ncheck(f)\ncheck(g)", 4),
        ("def check(c):\n    assert c(1)\n    assert c(2)\nfor c in [f, g]: check(c)", 2),
        (
            "def same(a, b): assert a == b\n"
            "def check(c):\n    same(c(1), 1)\n    same(2, 2)\ncheck(f)",
            2,
        ),
        ("import numpy\ndef check(c):\n    numpy.testing.assert_allclose(c(1), 1)\ncheck(f)", 1),
        ("def check(c):\n    c(1)\n    c(2)\ncheck(f)", 1),
        # unittest, and functions as for pytest
        (CASE + TWO, 2),
        (CASE + TWO + "T('test_a').test_a()", 3),
        (CASE + TWO + "unittest.TextTestRunner().run(unittest.makeSuite(T))", 2),
        (CASE + TWO + "s = unittest.TestSuite()\ns.addTest(T('test_a'))", 2),
        (CASE + TWO + "def main(): unittest.TextTestRunner().run(T('test_a'))\nmain()", 2),
        (CASE + TWO + "r = unittest.TestResult()\nT('test_a').run(r)\nassert not r.errors", 3),
        (CASE + TWO + "class U(T):\n    def test_c(self): f(2)\n    test_b = None", 4),
        ("from unittest import TestCase as C\nclass M:\n" + TWO + "class T(M, C): pass", 2),
        (CASE + TWO + "del T\nassert f(1)", 1),
        (CASE + "    @unittest.skip('later')\n" + TWO, 1),
        ("import sys\n" + CASE + "    @unittest.skipIf(sys.version_info > (3,), 'new')\n" + TWO, 1),
        ("import sys\n" + CASE + "    @unittest.skipIf(sys.version_info < (3,), 'old')\n" + TWO, 2),
        ("SLOW = False\n" + CASE + "    @unittest.skipUnless(SLOW, 'slow')\n" + TWO, 1),
        (CASE + "    @unittest.skipUnless(f(1), 'no f')\n" + TWO, 2),
        ("x = f(1)\n" + CASE + "    @unittest.skipUnless(x, 'no f')\n" + TWO, 2),
        (CASE + TWO + "    def test_c(self): self.skipTest('later')", 2),
        ("def test_a(): assert f(1)\ndef test_b(): f(1)\ndef other(): f(1)", 2),
        ("import unittest\n@unittest.skip('later')\ndef test_a(): f(1)\nassert f(1)", 1),
    ],
)
def test_the_text_tells_the_number_of_tests(code: str, total: int) -> None:
    assert count_tests(AssertionCode(code), code).total == total


PAID_FOR_NOTHING = {
    "a runner": "s = unittest.TestLoader().loadTestsFromTestCase(T)\n"
    "unittest.TextTestRunner().run(s)\n",
    "a runner with exit": "unittest.main(exit=False)\n",
    "prints": "print(f(2))\n[f(x) for x in range(3)]\nf(2)\n",
    "a helper that prints": "def show(x): print(x)\nshow(f(2))\n",
    "errors in a list": "bad = []\nfor a, b in [(1, 1), (2, 2), (3, 3)]:\n"
    "    try: assert f(a) == b\n    except Exception as e: bad.append(e)\nassert not bad\n",
    "suppress": "good = 0\nfor a, b in [(1, 1), (2, 2), (3, 3)]:\n"
    "    with contextlib.suppress(AssertionError):\n"
    "        assert f(a) == b\n        good += 1\nassert good == 3\n",
    "errors in a function": "def run():\n    bad = []\n    for a in [1, 2, 3]:\n"
    "        try: assert f(a) == a\n        except AssertionError: bad.append(a)\n"
    "    assert not bad\nrun()\n",
    "a break": "good = True\nfor a in [1, 2, 3]:\n    if f(a) != a:\n        good = False\n"
    "        break\nassert good\n",
    "a counter": "good = 0\nfor a in [1, 2, 3]:\n    if f(a) == a: good += 1\nassert good == 3\n",
    "a counter in a while": "good = n = 0\nwhile n < 3:\n    n += 1\n    good += f(n) == n\n"
    "assert good == 3\n",
}


@pytest.mark.parametrize("form", PAID_FOR_NOTHING)
def test_a_wrong_program_is_not_paid_for_code_that_fails_nobody(judge: Judge, form: str) -> None:
    methods = "".join(f"    def test_{n}(self): self.assertEqual(f({n}), {n})\n" for n in (1, 2))
    tests = asserts("import contextlib\n" + CASE + methods + PAID_FOR_NOTHING[form])
    honest = judge("def f(x): return x", tests)
    assert (honest.passed, honest.reason) == (honest.total, "passed")
    wrong = judge("def f(x): return -7", tests)
    assert (wrong.passed, wrong.total, wrong.reason) == (0, honest.total, "wrong_answer")
    half = judge("def f(x): return 1", tests)
    assert (half.passed, half.total) == (1, honest.total)


def test_a_failure_of_a_statement_without_a_check_is_no_full_score(judge: Judge) -> None:
    tests = asserts("assert f(1) == 1\nassert f(2) == 2\nprint(f(3))")
    found = judge("def f(x):\n    if x < 3: return x\n    raise ValueError", tests)
    assert (found.passed, found.total, found.reason) == (1, 2, "runtime_error")
    assert judge("def f(x): return x", tests).passed == 2


@pytest.mark.slow
def test_long_test_code_is_counted_in_time_linear_in_it() -> None:
    """Quadratic time would be minutes."""
    code = "".join(
        f"def g{n}(a): return a + f(a)\nx{n} = g{n}({n})\nassert x{n} == f({n})\n"
        for n in range(1000)
    )
    loops = "xs = [1]\n" + "for x in xs: assert f(x)\n" * 1000
    tests = "".join(f"def test_{n}(): assert f({n})\n" for n in range(1000))
    code += loops + tests
    assert count_tests(AssertionCode(code), code).total == 3000


# Programs that die

NUM_TESTS = 10
RIGHT = 4
DIES_AT = RIGHT + 1

FORMS: dict[str, dict[str, Any]] = {
    "function": {
        "type": "function",
        "entry_point": "f",
        "cases": [{"args": [n], "returns": n} for n in range(1, NUM_TESTS + 1)],
    },
    "asserts": asserts("".join(f"assert f({n}) == {n}\n" for n in range(1, NUM_TESTS + 1))),
    "loop": asserts(f"for n in range(1, {NUM_TESTS + 1}):\n    assert f(n) == n"),
    "check": asserts(
        "def check(candidate):\n"
        + "".join(f"    assert candidate({n}) == {n}\n" for n in range(1, NUM_TESTS + 1)),
        "f",
    ),
    "unittest": asserts(
        "import unittest\nclass T(unittest.TestCase):\n"
        + "".join(
            f"    def test_{n:02}(self): self.assertEqual(f({n}), {n})\n"
            for n in range(1, NUM_TESTS + 1)
        )
    ),
    "functions": asserts(
        "".join(f"def test_{n}(): assert f({n}) == {n}\n" for n in range(1, NUM_TESTS + 1))
    ),
    "statements": asserts(
        "".join(f"x = f({n})\nassert x == {n}\n" for n in range(1, NUM_TESTS + 1))
    ),
}

PRELUDE = """
import ctypes, os, signal, socket, sys, time

def close():
    for descriptor in range(3, 64):
        try: os.close(descriptor)
        except OSError: pass

def say(text):
    for descriptor in range(3, 64):
        try: os.write(descriptor, text)
        except OSError: pass
    os._exit(0)
"""
DEATHS = {
    "_exit(0)": "os._exit(0)",
    "_exit(1)": "os._exit(1)",
    "segfault": "ctypes.string_at(0)",
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "abort": "os.abort()",
    "closed channel": "close()",
    "nonsense": "say(bytes([0, 0, 0, 4]) + b'[[[[')",
    "17 MB": "return 'x' * (17 * 2**20)",
    "17 MB in raw": "say((17 * 2**20).to_bytes(4, 'big') + b'x' * (17 * 2**20))",
}
GOES_ON = {
    "sys.exit": "sys.exit(0)",
    "raises": "raise ValueError",
    "MemoryError": "raise MemoryError",
    "deep": "x = []\n    for _ in range(300): x = [x]\n    return x",
    "refused allocation": "return ' ' * 2**50",
}


def dying(death: str, *, at: int = DIES_AT) -> str:
    """A program that is right until it dies."""
    return f"{PRELUDE}\ndef f(x):\n    if x < {at}: return x\n    {death}\n"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("death", ["_exit(0)", "_exit(1)", "segfault", "closed channel"])
def test_what_a_dead_program_did_not_reach_has_failed(judge: Judge, form: str, death: str) -> None:
    found = judge(dying(DEATHS[death]), FORMS[form])
    if form == "statements":  # an exception in a statement that is no assertion ends all tests
        assert found.reason != "passed"
    assert (found.passed, found.total, found.first_failed) == (RIGHT, NUM_TESTS, RIGHT)
    assert found.reason in ("runtime_error", "invalid_output")


@pytest.mark.parametrize("form", ["function", "check"])
@pytest.mark.parametrize("death", DEATHS)
def test_no_way_to_die_pays(judge: Judge, form: str, death: str) -> None:
    found = judge(dying(DEATHS[death]), FORMS[form])
    assert (found.passed, found.total, found.first_failed) == (RIGHT, NUM_TESTS, RIGHT)
    assert found.reason in ("runtime_error", "invalid_output", "memory_limit_exceeded")


@pytest.mark.parametrize("form", [form for form in FORMS if form != "statements"])
def test_a_test_that_fails_does_not_end_the_others(judge: Judge, form: str) -> None:
    """The honest twin: wrong once, and right before and after."""
    found = judge("def f(x): return 0 if x == 5 else x", FORMS[form])
    assert (found.passed, found.total, found.first_failed) == (NUM_TESTS - 1, NUM_TESTS, 4)
    assert found.reason == "wrong_answer"
    assert judge("def f(x): return x", FORMS[form]).passed == NUM_TESTS


@pytest.mark.parametrize("form", [form for form in FORMS if form != "statements"])
@pytest.mark.parametrize("error", GOES_ON)
def test_an_error_of_one_call_fails_one_test(judge: Judge, form: str, error: str) -> None:
    source = f"{PRELUDE}\ndef f(x):\n    if x != {DIES_AT}: return x\n    {GOES_ON[error]}\n"
    found = judge(source, FORMS[form])
    assert (found.passed, found.total, found.first_failed) == (NUM_TESTS - 1, NUM_TESTS, RIGHT)
    assert found.reason == "runtime_error"


@pytest.mark.parametrize("form", ["function", "loop", "unittest"])
def test_an_endless_loop_has_failed_what_it_did_not_reach(judge: Judge, form: str) -> None:
    found = judge(dying("while True: pass"), FORMS[form], limited(cpu_seconds=0.5))
    assert (found.passed, found.total, found.first_failed) == (RIGHT, NUM_TESTS, RIGHT)
    assert found.reason == "time_limit_exceeded"


@pytest.mark.slow
def test_a_program_that_sleeps_has_failed_what_it_did_not_reach(judge: Judge) -> None:
    """Waiting for a processor does not count, so the tests before are reached at any load."""
    found = judge(dying("time.sleep(10**6)"), FORMS["asserts"], limited(wall_seconds=4.0))
    assert (found.passed, found.total, found.first_failed) == (RIGHT, NUM_TESTS, RIGHT)
    assert found.reason == "time_limit_exceeded"


SUMS = {
    "asserts": "".join(f"assert sum(f({n})) == {n}\n" for n in range(1, NUM_TESTS + 1)),
    "loop": f"for n in range(1, {NUM_TESTS + 1}):\n    assert sum(f(n)) == n",
    "check": "def check(c):\n"
    + "".join(f"    assert sum(c({n})) == {n}\n" for n in range(1, NUM_TESTS + 1)),
    "unittest": "import unittest\nclass T(unittest.TestCase):\n"
    + "".join(
        f"    def test_{n:02}(self): assert sum(f({n})) == {n}\n" for n in range(1, NUM_TESTS + 1)
    ),
}


@pytest.mark.parametrize("form", SUMS)
def test_the_journal_outlives_a_judge_that_is_ended(judge: Judge, form: str) -> None:
    """The judge meets its limit while it adds up what the program returned at once."""
    source = f"def f(x): return range(x, x + 1) if x < {DIES_AT} else range(10**15)"
    found = judge(source, asserts(SUMS[form], "f"), limited(cpu_seconds=0.5))
    assert (found.passed, found.total, found.first_failed) == (RIGHT, NUM_TESTS, RIGHT)
    assert found.reason == "time_limit_exceeded"
    assert judge("def f(x): return [x]", asserts(SUMS[form], "f")).passed == NUM_TESTS


def test_an_exception_outside_an_assertion_ends_the_tests(judge: Judge) -> None:
    found = judge(dying("raise ValueError"), FORMS["statements"])
    assert (found.passed, found.total, found.first_failed) == (RIGHT, NUM_TESTS, RIGHT)
    assert (found.reason, found.shown) == ("runtime_error", "ValueError: ")


def test_a_failure_after_the_last_test_is_no_full_score(judge: Judge) -> None:
    tests = asserts("assert f(1) == 1\nassert f(2) == 2\nx = f(3)")
    found = judge("def f(x):\n    if x < 3: return x\n    raise ValueError", tests)
    assert (found.passed, found.total, found.reason) == (1, 2, "runtime_error")
    assert judge("def f(x): return x", tests).passed == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_program_that_does_not_compile_or_start_has_failed_all(judge: Judge, form: str) -> None:
    for source, reason in (("def f(", "compile_error"), ("1 / 0", "runtime_error")):
        found = judge(source, FORMS[form])
        assert (found.passed, found.total, found.reason) == (0, NUM_TESTS, reason)


def test_the_total_is_the_same_where_the_first_failure_ends_all(judge: Judge) -> None:
    for form in FORMS:
        found = judge("def f(x): return x if x < 3 else 0", FORMS[form], FIRST_ONLY)
        assert (found.passed, found.total, found.first_failed) == (2, NUM_TESTS, 2)


def test_stdio_counts_its_cases(judge: Judge) -> None:
    cases = [{"stdin": f"{n}", "stdout": f"{n}"} for n in range(1, NUM_TESTS + 1)]
    source = "import os\nx = int(input())\nif x > 4: os._exit(0)\nprint(x)"
    found = judge(source, {"type": "stdio", "cases": cases})
    assert (found.passed, found.total, found.first_failed) == (RIGHT, NUM_TESTS, RIGHT)
    broken = judge("print(", {"type": "stdio", "cases": cases})
    assert (broken.passed, broken.total, broken.reason) == (0, NUM_TESTS, "compile_error")


FORM_NAMES = st.sampled_from(["function", "asserts", "loop", "check", "unittest", "functions"])


def form_of(name: str, num_tests: int) -> dict[str, Any]:
    """A small test of a form."""
    numbers = range(1, num_tests + 1)
    codes = {
        "asserts": "".join(f"assert f({n}) == {n}\n" for n in numbers),
        "loop": f"for n in range(1, {num_tests + 1}): assert f(n) == n",
        "check": "def check(c):\n" + "".join(f"    assert c({n}) == {n}\n" for n in numbers),
        "unittest": CASE
        + "".join(f"    def test_{n:02}(self): assert f({n}) == {n}\n" for n in numbers),
        "functions": "".join(f"def test_{n}(): assert f({n}) == {n}\n" for n in numbers),
    }
    if name == "function":
        cases = [{"args": [n], "returns": n} for n in numbers]
        return {"type": "function", "entry_point": "f", "cases": cases}
    return asserts(codes[name], "f")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    form=FORM_NAMES,
    num_tests=st.integers(1, 12),
    wrong=st.sets(st.integers(1, 12)),
    death=st.sampled_from(["_exit(0)", "_exit(1)", "closed channel", "kill"]),
    at=st.integers(1, 14),
)
def test_what_passed_is_what_was_right_before_the_end(
    judge: Judge, form: str, num_tests: int, wrong: set[int], death: str, at: int
) -> None:
    body = f"    if x in {wrong!r}: return 0\n    return x\n"
    source = f"{PRELUDE}\ndef f(x):\n    if x >= {at}: {DEATHS[death]}\n{body}"
    found = judge(source, form_of(form, num_tests))
    right = [n for n in range(1, num_tests + 1) if n not in wrong and n < at]
    assert (found.passed, found.total) == (len(right), num_tests)
    assert found.has_failed is (len(right) < num_tests)


# Skipped tests, and tests that are expected to fail


@pytest.mark.parametrize(
    "skip",
    [
        "if f(2) != 2: self.skipTest('not there')",
        "if f(2) != 2: raise unittest.SkipTest('not there')",
        "with self.subTest():\n            if f(2) != 2: self.skipTest('not there')",
    ],
)
def test_a_program_cannot_have_a_test_skipped(judge: Judge, skip: str) -> None:
    code = CASE + f"    def test_a(self): assert f(1) == 1\n    def test_b(self):\n        {skip}\n"
    found = judge("def f(x): return 1", asserts(code))
    assert (found.passed, found.total, found.reason) == (1, 2, "wrong_answer")
    assert found.expected == "test_b: skipped: not there"
    assert judge("def f(x): return x", asserts(code)).passed == 2


def test_a_program_cannot_have_a_class_skipped(judge: Judge) -> None:
    setup = "    @classmethod\n    def setUpClass(cls):\n        if f(1) != 1: {}\n"
    for end in ("raise unittest.SkipTest('no')", "raise KeyError"):
        tests = asserts(CASE + setup.format(end) + TWO + "assert f(2) == 2")
        found = judge("def f(x): return 2", tests)
        assert (found.passed, found.total, found.reason) == (1, 3, "wrong_answer")
        assert judge("def f(x): return x", tests).passed == 3
    decorated = asserts(CASE.replace("class", "@unittest.skipUnless(f(1) == 1, 'no')\nclass") + TWO)
    assert judge("def f(x): return 2", decorated).reason == "wrong_answer"
    assert judge("def f(x): return x", decorated).passed == 2


def test_what_is_skipped_whatever_the_program_is_counts_nothing(judge: Judge) -> None:
    code = CASE + "    @unittest.skip('later')\n    def test_0(self): assert f(1) == 5\n" + TWO
    found = judge("def f(x): return x", asserts(code))
    assert (found.passed, found.total, found.reason) == (2, 2, "passed")
    all_skipped = asserts(CASE.replace("class", "@unittest.skip('later')\nclass") + TWO)
    assert judge("def f(x): return x", all_skipped).reason == "bad_reference"


BASE = (
    "import unittest, sys\nclass Base(unittest.TestCase):\n    @classmethod\n"
    "    def setUpClass(cls):\n        if {}: raise unittest.SkipTest('base')\n"
    "    def test_a(self): assert f(1) == 1\n"
    "    def test_b(self):\n        if sys.version_info > (3,): self.skipTest('new')\n"
    "class T(Base): pass"
)


def test_a_skip_that_no_program_decides_about_fails_nobody(judge: Judge) -> None:
    found = judge("def f(x): return x", asserts(BASE.format("cls is Base")))
    assert (found.passed, found.total, found.reason) == (4, 4, "passed")
    assert judge("def f(x): return 0", asserts(BASE.format("cls is Base"))).passed == 3
    for condition in ("f(1) != 1", "cls.__name__ == f(1)", "cls is f(1)"):
        found = judge("def f(x): return 1", asserts(BASE.format(condition)))
        assert (found.passed, found.total, found.reason) == (2, 4, "wrong_answer")


EXPECTED_FAILURE = CASE + (
    "    @unittest.expectedFailure\n    def test_a(self): self.assertEqual(f(1), 2)\n"
)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(x): return 1", "passed"),
        ("def f(x): return 2", "wrong_answer"),
        ("def f(x): raise ValueError", "runtime_error"),
        ("def f(x): raise AssertionError", "runtime_error"),
        ("def f(x): raise SystemExit", "runtime_error"),
    ],
)
def test_only_an_assertion_can_fail_as_expected(judge: Judge, source: str, reason: str) -> None:
    assert judge(source, asserts(EXPECTED_FAILURE)).reason == reason


# Tests that the text does not show

MADE = (
    CASE
    + TWO
    + "def made(n): return lambda self: self.assertEqual(f(n), n)\n"
    + "for n in range(3): setattr(T, f'test_{n}', made(n))\n"
)


def test_tests_that_are_made_while_the_code_runs_have_to_pass(judge: Judge) -> None:
    assert judge("def f(x): return x", asserts(MADE)).reason == "passed"
    found = judge("def f(x): return 1", asserts(MADE))
    assert found.reason == "wrong_answer"
    assert found.passed < found.total
    only_made = asserts(MADE.replace(TWO, "    pass\n"))
    assert judge("def f(x): return x", only_made).reason == "passed"
    assert judge("def f(x): return 1", only_made).reason == "wrong_answer"


def test_text_in_which_no_test_is_found_is_one_test(judge: Judge) -> None:
    tests = asserts("exec('assert __import__(\"solution\").f(1) == 1')")
    found = judge("def f(x): return x", tests)
    assert (found.passed, found.total, found.reason) == (1, 1, "passed")
    assert judge("def f(x): return 0", tests).reason == "wrong_answer"
    assert judge("def f(x): return x", asserts("x = f(1)")).reason == "bad_reference"


# Tests that cannot be judged, whatever the program is


@pytest.mark.parametrize("source", ["print(9)", "1 / 0", "print(", "while True: pass"])
def test_a_special_judge_that_does_not_compile_is_noticed_before_the_program(
    judge: Judge, source: str
) -> None:
    tests = {"type": "stdio", "cases": [{"stdin": "", "stdout": "9"}], "program": "import sys("}
    found = judge(source, tests)
    assert (found.reason, found.passed) == ("bad_reference", 0)
    assert "SyntaxError" in found.expected


def test_a_special_judge_may_be_too_large_to_be_kept_compiled(judge: Judge) -> None:
    lines = "".join(f"def f{n}(a, b): return [a, b, {n}]\n" for n in range(3000))
    tests = {"type": "stdio", "cases": [{"stdin": "", "stdout": "9"}] * 2, "program": lines}
    assert judge("print(9)", tests).passed == 2


@pytest.mark.parametrize("source", ["def f(x): return x", "1 / 0", "def f("])
@pytest.mark.parametrize(
    "code", ["assert f(", "assert " + "(" * 5000 + ")" * 5000, "assert " + "-" * 100_000 + "1"]
)
def test_test_code_that_cannot_be_read_is_bad_for_every_program(
    judge: Judge, source: str, code: str
) -> None:
    assert judge(source, asserts(code)).reason == "bad_reference"


@pytest.mark.slow
def test_test_code_that_takes_too_long_to_read_is_bad_for_every_program(judge: Judge) -> None:
    tests = asserts("assert f(1) == 1\n" * 200_000)
    for source in ("def f(x): return x", "1 / 0"):
        found = judge(source, tests, limited(cpu_seconds=0.2))
        assert (found.reason, found.passed) == ("bad_reference", 0)
        assert found.shown == "the tests could not be read within the limits: cpu_limit"


# The journal


@pytest.mark.slow
def test_a_journal_has_room_for_the_results_of_all_tests(judge: Judge) -> None:
    num_tests = 27_000
    assert num_tests * (MAX_RESULT_BYTES - 2) > MAX_COMPILED_BYTES  # the least room of a result
    found = judge("", asserts("assert not 0\n" * num_tests), limited(output_bytes=1))
    assert (found.passed, found.total, found.reason) == (num_tests, num_tests, "passed")


def lines(*found: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in found)


WRONG = ["failed", "wrong_answer", "", "1"]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (b"", None),
        (b'["total", 3', None),
        (lines(["total", 3]), (0, 3, "passed", None)),
        (lines(["total", 3], ["passed"], ["passed"]) + b'["pas', (2, 3, "passed", None)),
        (lines(["total", 3], ["passed"], WRONG, ["failed"]), (1, 3, "wrong_answer", 1)),
        (lines(["total", 2], ["passed"], ["passed"], ["broken", *WRONG[1:]]), (1, 2, WRONG[1], 1)),
        (lines(["total", 3], ["passed"], ["failed"], ["passed"]), (1, 3, "passed", None)),
        (lines(["total", 3], ["passed"], ["failed", "fine"], ["passed"]), (1, 3, "passed", None)),
        (lines(["total", 3], ["passed"], ["done", 1], ["passed"]), (1, 3, "passed", None)),
        (lines(["total", 3], ["passed"], 5, ["passed"]), (1, 3, "passed", None)),
        (lines(["total", 3], ["passed"]) + b"[" * 10**5 + b"\n", (1, 3, "passed", None)),
        (lines(["broken", "bad_reference", "why", ""]), (0, 0, "bad_reference", 0)),
    ],
)
def test_a_journal_is_read_up_to_its_first_line_that_is_none(
    written: bytes, found: tuple[int, int, str, int | None] | None
) -> None:
    findings = read_journal(written).findings
    counted = findings and (
        findings.passed, findings.total, findings.reason, findings.first_failed,
    )  # fmt: skip
    assert counted == found
