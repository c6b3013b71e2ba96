"""Frames between program and judge, as a hostile program would send them.

Whatever arrives, a value is of a built-in type or a handle, no test passes that nobody can answer,
and there is a verdict: the program chooses neither `unsupported_test` nor `bad_reference`.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import pathlib
import socket
import sys
import tempfile
import unittest
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verifier_service.test_code import ALL, Grader, plain, refuse
from verifier_service import frames
from verifier_service.code import value_codec
from verifier_service.code.assertions import AssertionCode
from verifier_service.code.findings import Findings
from verifier_service.code.handles import Handle, ProgramGone, RemoteProgram
from verifier_service.code.journal import Journal, read_journal
from verifier_service.code.judge_process import judge_tests
from verifier_service.code.program_process import MODULE
from verifier_service.code.reference_tests import read_tests

SECRET = "an answer that nobody can know"
TAGS = sorted(value_codec._SEQUENCE_TYPES | value_codec._MAPPING_TYPES | value_codec._READERS)
WORDS = (*TAGS, "deque", "handle", "value", "raised", "ready", "Exception", "StopIteration", "f")
ERRORS = (
    *("ValueError", "SyntaxError", "MemoryError", "RecursionError", "AssertionError", "SkipTest"),
    *("StopIteration", "KeyboardInterrupt", "UnicodeDecodeError", "ExceptionGroup"),
)

# Data of the shapes that the codec has, with anything in their places.
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=5)
    | st.sampled_from(["0x1p3", "1/2", "1e99", "1 2 3", "2026-01-02", "00ff", "nan", "-0x1"])
)
data = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(st.sampled_from(WORDS), inner, inner).map(list)
        | st.tuples(st.sampled_from(WORDS), inner).map(list)
        | st.tuples(st.just("dict"), st.lists(inner, max_size=3)).map(list)
        | st.tuples(st.just("handle"), st.integers(-1, 2**32), st.just("f")).map(list)
        | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=12,
)
errors = st.lists(st.sampled_from(ERRORS), max_size=2)
honest = plain.map(lambda value: value_codec.encode(value, refuse))
answers = (
    st.tuples(st.just("value"), data | honest).map(list)
    | st.tuples(st.just("raised"), st.just("E"), errors | data, st.lists(data, max_size=2)).map(
        list
    )
    | data
)
whole_frames = answers.map(lambda answer: frames.pack(json.dumps(answer).encode()))
broken_frames = st.binary(max_size=12) | whole_frames.flatmap(
    lambda frame: st.integers(0, len(frame)).map(lambda end: frame[:end])
)
READY = frames.pack(b'"ready"')


@st.composite
def conversations(draw: st.DrawFn, names: list[str]) -> bytes:
    """All that a program sends: mostly it begins like an honest one, so that the rest is read."""
    sent = READY if draw(st.integers(0, 9)) else b""
    if draw(st.integers(0, 4)):  # it has `f` and no other name that it is asked for
        kinds = [["handle", 1, "function"] if name == "f" else None for name in names]
        sent += frames.pack(json.dumps(["value", ["list", *kinds]]).encode())
    sent += b"".join(draw(st.lists(whole_frames, max_size=6)))
    return sent + draw(st.just(b"") | broken_frames)


@contextlib.contextmanager
def connection(sent: bytes) -> Iterator[socket.socket]:
    """The judge's end of a connection to a program that sends this, and ends."""
    judge, program = socket.socketpair()
    with judge, program:
        program.sendall(sent)
        program.shutdown(socket.SHUT_WR)
        yield judge


@contextlib.contextmanager
def process_of_the_judge() -> Iterator[None]:
    """Undo what test code finds changed: in a judge's process it ends with the tests."""
    modules = {name: sys.modules.get(name) for name in ("__main__", MODULE)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unittest, "main", unittest.main)
        yield
    for name, module in modules.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module


FUNCTION_CASES = {
    "type": "function",
    "entry_point": "f",
    "cases": [{"args": [1], "returns": SECRET}, {"args": [2], "returns": {SECRET: [1.5]}}],
    "tolerance": 1e-6,
}
ASSERTIONS = {
    "type": "asserts",
    "entry_point": "f",
    "module": None,
    "code": f"""
import unittest
SECRET = {SECRET!r}
assert f(1) == SECRET
assert SECRET in f(2)
assert f(3)[SECRET] == [SECRET]
assert str(f(4)) == SECRET and len(f(4)) == len(SECRET)
assert {{key: list(value) for key, value in f(5).items()}} == {{SECRET: [1, 2]}}
for found in objects(6): assert found.name == SECRET
class T(unittest.TestCase):
    def test_1(self): self.assertCountEqual(f(7), [SECRET, SECRET])
    def test_2(self):
        with self.assertRaises(LookupError) as caught: f(8)
        self.assertEqual(caught.exception.args, (SECRET,))
    def test_3(self):
        with self.subTest(): self.assertEqual(f(f(9)), SECRET)
""",
}
OF_PROGRAMS = {"wrong_answer", "runtime_error", "invalid_output"}
"""Reasons that are the program's fault."""


def findings_of(channel: socket.socket, tests: dict[str, Any]) -> Findings:
    """The judge's entries in its journal; a program that was gone has ended with an error."""
    with tempfile.TemporaryFile() as file:
        is_gone = judge_tests(channel, tests, Journal(file.fileno()))
        file.seek(0)
        found = read_journal(file.read()).findings or Findings(0)
    if is_gone:
        found.fail("runtime_error")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("tests", [FUNCTION_CASES, ASSERTIONS], ids=["function", "asserts"])
@settings(max_examples=150, deadline=None)
@given(drawing=st.data())
def test_no_frames_pass_a_test_or_have_no_verdict(
    tests: dict[str, Any], drawing: st.DataObject
) -> None:
    names = AssertionCode(tests["code"]).free_names() if tests is ASSERTIONS else ["f"]
    sent = drawing.draw(conversations(names))
    with connection(sent) as channel, process_of_the_judge():
        found = findings_of(channel, tests | {"run_all": True, "reading": ""})
    assert found.reason in OF_PROGRAMS
    # A loop over nothing asserts nothing: only that one statement can pass.
    assert found.passed <= (tests is ASSERTIONS)


# Values

EXACT = {
    *(type(None), bool, int, float, str, bytes, bytearray, complex, range, Decimal, Fraction),
    *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta, uuid.UUID),
    *(pathlib.PosixPath, pathlib.PurePosixPath, pathlib.PureWindowsPath),
    *(list, tuple, set, frozenset, dict, deque, Counter, OrderedDict, Handle),
    type,  # types of the standard library cross by their names
}


def parts_of(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset | deque):
        for part in value:
            yield from parts_of(part)


def lists_in(data: Any) -> Iterator[list[Any]]:
    if isinstance(data, list):
        yield data
        for part in data:
            yield from lists_in(part)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """Data of a value, changed in one place."""
    found = ["tuple", json.loads(json.dumps(value_codec.encode(draw(plain), refuse)))]
    place = draw(st.sampled_from(list(lists_in(found))))
    index = draw(st.integers(0, len(place) - 1)) if place else 0
    change = draw(st.sampled_from(["replace", "double", "remove"]))
    place[index : index + 1] = {
        "replace": [draw(data)],
        "double": place[index : index + 1] * 2,
        "remove": [],
    }[change]
    return found


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(data | mutated())
def test_a_value_is_of_a_built_in_type_or_a_handle(data: Any) -> None:
    with connection(READY + frames.pack(json.dumps(["value", data]).encode())) as channel:
        try:
            value = RemoteProgram(channel).ask("get", 0, "x")
        except ProgramGone:
            return
    parts = list(parts_of(value))
    assert {type(part) for part in parts} <= EXACT
    assert all(0 <= part._number < 2**31 for part in parts if type(part) is Handle)


@pytest.mark.parametrize("number", [-1, 2**31, True, "1", ["int", "0x1"]])
def test_a_handle_has_a_small_number(number: Any) -> None:
    """Larger ones could have equal hashes, for which the judge would have to compare objects."""
    sent = frames.pack(json.dumps(["value", ["handle", number, "f"]]).encode())
    with connection(READY + sent) as channel, pytest.raises(ProgramGone, match="nonsense"):
        RemoteProgram(channel).ask("get", 0, "x")


# The real processes

HOSTILE = """
import json, random, struct
from verifier_service.code import value_codec
choose = random.Random({seed})
def spoil(data):
    places = [data]
    for place in places:
        places += [part for part in place if isinstance(part, list)]
    place = choose.choice(places)
    at = choose.randrange(len(place)) if place else 0
    place[at:at + 1] = choose.choice([
        [], place[at:at + 1] * 2, [None], [["handle", choose.randrange(3), "f"]], [[]], [1.5],
        ["raised"], [["dict", [["handle", 1, "f"], 1], [["handle", 1, "f"], 2]]], [2**70], [{{}}],
    ])
class Encoder:
    def __call__(self, message):
        if message != "ready" and choose.random() < 0.5:
            message = json.loads(json.dumps(message))
            spoil(message)
        text = json.dumps(message)
        return text[:-1] if choose.random() < 0.02 else text
value_codec._to_json = Encoder()
def f(x): return {{"a": [x, (1, 2)], "b": {{1: x}}}}
objects = f
"""


def test_a_hostile_program_gets_a_verdict_and_no_test_passed(grader: Grader) -> None:
    tests = [read_tests({"tests": tests}) for tests in (FUNCTION_CASES, ASSERTIONS)]
    asked = [(HOSTILE.format(seed=seed), one) for seed in range(30) for one in tests]
    for (_, one), found in zip(asked, grader.all(asked, ALL), strict=True):
        assert found.reason in OF_PROGRAMS
        assert found.passed <= (one is tests[1])


def test_the_same_tests_pass_a_program_that_knows(grader: Grader) -> None:
    """The tests above would say nothing otherwise."""
    cases = f"def f(x): return {SECRET!r} if x == 1 else {{{SECRET!r}: [1.5]}}"
    assert grader(cases, FUNCTION_CASES).reason == "passed"
    assert grader(KNOWS, ASSERTIONS, ALL).reason == "passed"


KNOWS = f"""
class Named:
    name = {SECRET!r}
def f(x):
    if x == 1 or x == {SECRET!r}: return {SECRET!r}
    if x == 2: return [{SECRET!r}]
    if x == 3: return {{{SECRET!r}: [{SECRET!r}]}}
    if x == 4: return {SECRET!r}
    if x == 5: return {{{SECRET!r}: (1, 2)}}
    if x == 6: return [Named()]
    if x == 7: return [{SECRET!r}] * 2
    if x == 8: raise KeyError({SECRET!r})
    return {SECRET!r}
objects = f
"""


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    found = Grader()
    yield found
    found.close()
