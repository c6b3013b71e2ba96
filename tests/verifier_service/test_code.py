"""`code`: programs, tests and the judge between them, in the real sandbox."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import json
import subprocess
import sys
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared_data import Row, shared_data
from verifier_service.code import value_codec
from verifier_service.code.assertions import AssertionCode
from verifier_service.code.device_stdin import (
    STDIN_FILE,
    by_descriptor,
    by_duplicate,
    by_file,
    files_beside,
    with_stdin,
)
from verifier_service.code.extraction import last_block
from verifier_service.code.findings import Findings
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.output_checkers import CheckerName, accepts
from verifier_service.code.reference_tests import Asserts, Tests, read_tests
from verifier_service.code.repeated_program import Plan
from verifier_service.code.run_tests import ENTRIES, run_tests
from verifier_service.reason import EngineReason
from verifier_service.sandbox.execution import Limits
from verifier_service.sandbox.runner import Runner
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.code import Code

PLAN = Plan(Limits(cpu_seconds=2.0, wall_seconds=20.0), 10.0, 100.0, run_all=False)
ALL = dataclasses.replace(PLAN, run_all=True)
SLOTS = 4
PYTHON = LANGUAGES["python"]


class Grader:
    """A runner with an event loop of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.Runner()
        self._runner = Runner(SLOTS, entries=ENTRIES)
        self._loop.run(self._runner.__aenter__())

    def close(self) -> None:
        self._loop.run(self._runner.__aexit__(None, None, None))
        self._loop.close()

    def __call__(self, source: str, tests: dict[str, Any], plan: Plan = PLAN) -> Findings:
        (found,) = self.all([(source, read_tests({"tests": tests}))], plan)
        return found

    def all(self, asked: Sequence[tuple[str, Tests]], plan: Plan = PLAN) -> list[Findings]:
        async def run() -> list[Findings]:
            free = asyncio.Semaphore(SLOTS)

            async def one(source: str, tests: Tests) -> Findings:
                async with free:
                    return await run_tests(self._runner, PYTHON, source, tests, plan)

            return list(await asyncio.gather(*(one(*pair) for pair in asked)))

        return self._loop.run(run())


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    found = Grader()
    yield found
    found.close()


# The program in a completion


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("```python\na\n```", "a\n"),
        ("```py\na\n```\nand\n```python\nb\n```\ndone", "b\n"),
        ("```python\na\n```\n```json\n{}\n```", "a\n"),
        ("```\na\n```", "a\n"),
        ("```python\na\n```\n```\noutput\n```", "a\n"),
        ("````python\n```\na\n```\n````", "```\na\n```\n"),
        ("~~~python\na\n~~~", "a\n"),
        ('```python title="x.py"\na\n```', "a\n"),
        ("<think>```python\na\n```</think>", None),
        ("<think>```python\na\n```", None),
        ("```python\na", None),
        ("```python\na\n```\n```python\nb", "a\n"),
        ("print(1)", None),
        ("", None),
        ("<answer>```python\na\n```</answer>", "a\n"),
        ("<answer>```\na\n```\n</answer>", "a\n"),
        ("```python\na\n```<|im_end|>", "a\n"),
        ("Here's the fixed version: ```python\na\n```", "a\n"),
        ("```python\na```\nDone.", "a"),
        ("1. So:\n   ```python\n   a\n     b\n   ```", "a\n  b\n"),
        ("1. So:\n    ```python\n    a\n\n      b\n    ```", "a\n\n  b\n"),
        ("- So:\n\t```python\n\ta\n\t\tb\n\t```", "a\n\tb\n"),
        ("- So: ```python\n  a\n  ```", "a\n"),
        ("```python\na\n    ```\nb\n```", "a\n    ```\nb\n"),
        ("```python\r\na\r\n```\r\n", "a\n"),
        ("I write it in ```python\n\n```python\na\n```", "a\n"),
        ("```python\na\n```\nYou find it in ```python", "a\n"),
        ("```python\na\n```\nI wrote it in ```python\nas you asked.", "a\n"),
        ("A span ```python a``` is no block", None),
        (" ```python\nif a:\n b\n ```", "if a:\n b\n"),
        ("  ```python\nif a:\n  b\n  ```", "if a:\n  b\n"),
        ("```python\na\n```\nIt begins with ```python\nand ends with ```\n", "a\n"),
        ("It begins with ```python\n\n```\na\n```", "a\n"),
        ("> ```python\n> a\n> ```\n\n```\nb\n```", "b\n"),
        ("f(1)\n      ~~~~^~~\nSo:\n```\na\n```", "a\n"),
        ("```python\na\n```\n```python:test_a.py\nb\n```", "a\n"),
        ("```python\na\n```\n```python2\nb\n```", "a\n"),
        ("```\na\n```\n```code\n1\n```", "a\n"),
        ('```python\na\n```\n```python\nx = """```\nb', "a\n"),
        ("```python3.11\na\n```", "a\n"),
        ("```python:src/main.py\na\n```", "a\n"),
        ("```python{1,3}\na\n```", "a\n"),
        ("```{.python .numberLines}\na\n```", "a\n"),
        ("```main.py\na\n```", "a\n"),
        ("```code\na\n```", "a\n"),
        ("```cpp17\na\n```", None),
        ("```text\na\n```", None),
    ],
)
def test_the_last_whole_block_of_the_language_is_the_program(
    text: str, program: str | None
) -> None:
    assert last_block(text, ("python", "py")) == program


DEFINES_F = "def f(x):\n    return x\n"
DEFINES_METHOD = "class Solution:\n    def f(self, x):\n        return x\n"
CASE_OF_F = {"type": "function", "entry_point": "f", "cases": [{"args": [3], "returns": 3}]}
METHOD_CASE = {**CASE_OF_F, "entry_point": "Solution().f"}
CHECK_F = {"type": "asserts", "code": "def check(c): assert c(3) == 3", "entry_point": "f"}
ASSERT_F = {"type": "asserts", "code": "x = f(3)\nassert x == 3"}
WHOLE = {"type": "stdio", "cases": [{"stdin": "", "stdout": "3"}]}


@pytest.mark.parametrize(
    ("blocks", "tests", "index"),
    [
        ([DEFINES_F, "print(f(3))\n"], CASE_OF_F, 0),
        ([DEFINES_F, "assert f(3) == 3\n"], CHECK_F, 0),
        ([DEFINES_F, "x = f(3)\n", "def check(c): pass\n"], ASSERT_F, 0),
        ([DEFINES_F, "def check(c): pass\n"], CHECK_F, 0),
        ([DEFINES_METHOD, "print(Solution().f(3))\n"], METHOD_CASE, 0),
        ([DEFINES_METHOD, "s = Solution()\n"], CASE_OF_F, 0),
        (["f = abs\n", "f(3)\n"], ASSERT_F, 0),
        # two candidates: the last one, right or not
        ([DEFINES_F, "def f(x): return 4\n", "f(3)\n"], CASE_OF_F, 1),
        (["def f(x): return 4\n", DEFINES_F], ASSERT_F, 1),
        # no block defines it, or the tests call nothing
        (["def g(x): return x\n", "g(3)\n"], CASE_OF_F, 1),
        ([DEFINES_F, "print(3)\n"], WHOLE, 1),
    ],
)
def test_the_program_is_the_last_block_that_defines_what_the_tests_call(
    blocks: list[str], tests: dict[str, Any], index: int
) -> None:
    text = "\nExample usage:\n".join(f"```python\n{block}```" for block in blocks)
    assert Code().program_in(text, read_tests({"tests": tests})) == blocks[index]


def test_a_block_that_does_not_count_is_no_program_whatever_it_defines() -> None:
    text = f"```\n{DEFINES_F}```\n```python\nf(3)\n```"
    assert Code().program_in(text, read_tests({"tests": CASE_OF_F})) == "f(3)\n"


def test_a_line_that_is_nearly_a_fence_takes_time_linear_in_it() -> None:
    """Quadratic time would be hours."""
    for pad in (" ", "\t", "a", "`", "~", "é"):
        for fence in ("```", "~~~"):
            assert last_block(f"{fence}{pad * 2_000_000}`\n", ("python",)) is None


def test_returns_and_a_byte_order_mark_are_no_part_of_a_program() -> None:
    text = "So:\r\n```bash\r\n\ufeffread a b\r\necho $b\r\n```\r\n"
    assert last_block(text, ("bash",)) == "read a b\necho $b\n"


@pytest.mark.parametrize(
    ("source", "built"),
    [
        ("fs.readFileSync('/dev/stdin', 'utf8')", "fs.readFileSync(0, 'utf8')"),
        ('p = a ? "/dev/stdin" : "b"; readFileSync(p)', 'p = a ? 0 : "b"; readFileSync(p)'),
        ("const p = '/dev/stdin'; readFileSync(p)", "const p = 0; readFileSync(p)"),
        ("p === '/dev/stdin'; readFileSync(p)", "p === '/dev/stdin'; readFileSync(p)"),
        ("const p = '/dev/stdin'; openSync(p)", "const p = '/dev/stdin'; openSync(p)"),
        ("fs.createReadStream('/dev/stdin')", "fs.createReadStream('',{fd:0})"),
        ("f.createReadStream(`/dev/stdin`, {end: 9})", "f.createReadStream('',{fd:0,end: 9})"),
        ("console.log('/dev/stdin')", "console.log('/dev/stdin')"),
        ("readFileSync(0)", "readFileSync(0)"),
        ("promises.readFile('/dev/stdin')", "promises.readFile('/dev/stdin')"),
    ],
)
def test_node_reads_standard_input_by_the_name_of_its_device(source: str, built: str) -> None:
    assert by_descriptor(source.encode()).decode() == built


@pytest.mark.parametrize(
    ("source", "built"),
    [
        ("done < /dev/stdin", "done <&0"),
        ("read -r a </dev/stdin; b", "read -r a <&0; b"),
        ('mapfile -t a < "/dev/stdin"', "mapfile -t a <&0"),
        ("done <${1-/dev/stdin}", "done <&0"),
        ("echo a >>/dev/stderr", "echo a >&2"),
        ("f 2> /dev/stdout)", "f 2>&1)"),
        ("f > /dev/stdout2", "f > /dev/stdout2"),
        ("f <<< /dev/stdin", "f <<< /dev/stdin"),
        ("f &>/dev/stderr", "f &>/dev/stderr"),
        ("a=/dev/stdin", "a=/dev/stdin"),
    ],
)
def test_bash_redirects_to_descriptors_in_place_of_devices(source: str, built: str) -> None:
    assert by_duplicate(source.encode()).decode() == built


def test_a_file_takes_the_place_of_the_device_only_in_quotes() -> None:
    assert by_file(b"open(F, '< /dev/stdin')") == b"open(F, '< .dev-stdin')"
    kept = b"# reads /dev/stdin\nx = '/dev/stdin.txt'"
    assert by_file(kept) == kept
    assert files_beside(b"process.stdin") == {}
    assert with_stdin({STDIN_FILE: b"", "a": b"b"}, b"c") == {STDIN_FILE: b"c", "a": b"b"}


def test_what_a_program_adds_to_that_file_is_gone_at_the_next_case(grader: Grader) -> None:
    source = "p = '.dev-stdin'\nprint(open(p).read(), end='')\nopen(p, 'a').write('9')"
    cases = [{"stdin": f"{n}\n", "stdout": f"{n}\n"} for n in range(4)]
    found = grader(source, {"type": "stdio", "cases": cases}, IDLE_PLAN)
    assert (found.reason, found.passed) == ("passed", 4)


# What crosses between program and judge

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.datetimes()
    | st.dates()
    | st.timedeltas(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.sets(st.integers())
    ),
    max_leaves=20,
)


def refuse(value: Any) -> Any:
    raise value_codec.NotPlain(type(value).__name__)


@pytest.mark.slow
@given(plain)
def test_plain_data_arrives_as_it_was(value: object) -> None:
    found = value_codec.decode(value_codec.encode(value, refuse), refuse)
    assert (found, type(found)) == (value, type(value))


class Liar(str):
    """Equal to everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Lies(list[int]):
    """Shows other elements than it holds."""

    def __iter__(self) -> Iterator[int]:
        return iter([42])


@pytest.mark.parametrize(
    "value",
    [
        deque([1, (2,)]),
        deque([1], 3),
        Counter("aab"),
        OrderedDict({"b": 1, "a": [2]}),
    ],
)
def test_a_container_of_the_standard_library_arrives_as_it_was(value: Any) -> None:
    found = value_codec.decode(value_codec.encode(value, refuse), refuse)
    assert (found, type(found)) == (value, type(value))
    assert getattr(found, "maxlen", None) == getattr(value, "maxlen", None)


class Pile(deque[int]):
    """A class of a program, with methods of its own."""


class Tally(Counter[str]):
    """Arrives as the dict that it is."""


def test_subclasses_of_containers_do_not_pass_for_them() -> None:
    with pytest.raises(value_codec.NotPlain):
        value_codec.encode(Pile([1]), refuse)
    assert value_codec.encode(Tally("a"), refuse) == ["dict", ["a", 1]]


@pytest.mark.parametrize(("value", "arrives"), [(Liar("a"), "a"), (Lies([1, 2]), [1, 2])])
def test_what_pretends_arrives_as_what_it_holds(value: object, arrives: object) -> None:
    found = value_codec.decode(value_codec.encode(value, refuse), refuse)
    assert type(found) is type(arrives)
    assert arrives == found


@pytest.mark.parametrize("value", [object(), len, [[len]], iter([1]), type("Own", (), {})])
def test_what_is_not_plain_is_not_sent(value: object) -> None:
    with pytest.raises(value_codec.NotPlain):
        value_codec.encode(value, refuse)


def test_endless_nesting_is_not_sent() -> None:
    nested: list[Any] = []
    nested.append(nested)
    with pytest.raises(value_codec.NotPlain):
        value_codec.encode(nested, refuse)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [1],
        {},
        1.5,
        ["dict", 1],
        ["dict", [1]],
        ["int", "x"],
        ["set", ["list"]],
        ["?"],
        ["deque"],
        ["deque", "x"],
        ["deque", -1],
        ["Counter", 1],
        ["OrderedDict", [["list"], 1]],
    ],
)
def test_nonsense_is_malformed(data: Any) -> None:
    def find(data: list[Any]) -> Any:
        raise value_codec.Malformed(str(data))

    with pytest.raises(value_codec.Malformed):
        value_codec.decode(data, find)


# Output


@pytest.mark.parametrize(
    ("checker", "printed", "expected", "right"),
    [
        ("exact", "1 2 \n3\n\n", "1 2\n3", True),
        ("exact", "1  2", "1 2", False),
        ("exact", " 1", "1", False),
        ("tokens", " 1\n2 ", "1 2", True),
        ("tokens", "1 2 3", "1 2", False),
        ("tokens", "", "1", False),
        ("float", "0.3333333", "0.33333333", True),
        ("float", "yes 0.5", "yes 0.5000001", True),
        ("float", "0.34", "0.33", False),
        ("float", "-.5e1 +7", "-5 7.", True),
        ("float", "1_0", "10", False),
        ("float", "10", "1_0", False),
        ("float", "\N{ARABIC-INDIC DIGIT THREE}", "3", False),
        ("float", "0x3", "3", False),
        ("float", "1e999", "2e999", False),
        ("float", "nan", "nan", True),
        ("float", "nan", "1", False),
        ("float", "inf", "1", False),
        ("float", "1", "inf", False),
        ("decimals", "1 2 \n3\n\n", "1 2\n3", True),
        ("decimals", "1  2", "1 2", False),
        ("decimals", "1 2", "1\n2", False),
        ("decimals", "0.3333333333", "0.333333", True),
        ("decimals", "0.5", "0.50 ", True),
        ("decimals", "YES  0.3333333333", "YES 0.333333", True),
        ("decimals", "NO 0.3333333333", "YES 0.333333", False),
        ("decimals", "2.0", "2", True),
        ("decimals", "1.e99999999999999999999", "1", False),
        ("decimals", "2", "2.0", True),
        ("decimals", "2.0000001", "2", False),
        ("decimals", "1000001", "1000000", False),
        ("decimals", "123456789012345678", "123456789012345679", False),
        ("decimals", "123456789012345678.0", "123456789012345679", False),
        ("decimals", "1e6", "1000000", False),
        ("decimals", "0.34", "0.33", False),
        ("decimals", "nan", "0.5", False),
        ("decimals", "1e999", "2.5", False),
        ("decimals", "0.5 0.5", "0.5", False),
        ("decimals", "", "0.5", False),
        ("decimals", "1_0.5", "10.5", False),
    ],
)
def test_checkers(checker: CheckerName, printed: str, expected: str, right: bool) -> None:
    assert accepts(checker, printed, expected, 1e-6) is right


SQUARE = {
    "type": "stdio",
    "cases": [{"stdin": "3\n", "stdout": "9\n"}, {"stdin": "4\n", "stdout": "16\n"}],
}


@pytest.mark.parametrize(
    ("source", "result", "passed"),
    [
        ("print(int(input())**2)", "passed", 2),
        ("print(9)", "wrong_answer", 1),
        ("while True: pass", "time_limit_exceeded", 0),
        ("import time; time.sleep(100)", "time_limit_exceeded", 0),
        ("raise ValueError", "runtime_error", 0),
        ("import os; os._exit(0)", "wrong_answer", 0),
        ("import sys; print(9); sys.exit(1)", "runtime_error", 0),
        ("print(", "compile_error", 0),
        ("while True: print('x' * 10000)", "output_limit_exceeded", 0),
        ("import ctypes; ctypes.string_at(0)", "runtime_error", 0),
        ("import os; os.fork(); print(int(input())**2)", "runtime_error", 0),
        ("print(open('/etc/passwd').read())", "runtime_error", 0),
        ("x = []\nwhile True: x.append(' ' * 1000000)", "memory_limit_exceeded", 0),
    ],
)
def test_a_program_that_reads_and_prints(
    grader: Grader, source: str, result: str, passed: int
) -> None:
    limits = Limits(cpu_seconds=20.0, wall_seconds=60.0, memory_bytes=2**26)
    if result == "time_limit_exceeded":
        limits = dataclasses.replace(limits, cpu_seconds=0.5, wall_seconds=3.0)
    found = grader(source, SQUARE, Plan(limits, 100.0, 600.0, run_all=False))
    assert (found.reason, found.passed) == (result, passed)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import sys\nprint(9)\nsys.stdout.close()", "passed"),
        ("import sys\nsys.stdout.close()", "wrong_answer"),
        ("import io, sys\nprint(9)\nsys.stdout = io.StringIO()", "passed"),
        ("import io, sys\nsys.stdout = io.StringIO()\nprint(9)", "wrong_answer"),
        (
            "import atexit, io, sys\nkept = sys.stdout = io.StringIO()\n"
            "atexit.register(lambda: sys.__stdout__.write(kept.getvalue()))\nprint(9)",
            "passed",
        ),
        ("import sys\nsys.stdout = sys.__stdout__ = None\nprint(9)", "wrong_answer"),
        ("import sys\nprint(9)\ndel sys.__stdout__", "passed"),
        ("import os\nprint(9 if os.path.basename(__file__) == 'main.py' else 0)", "passed"),
        ("open(__file__).read()\nprint(9)", "runtime_error"),
        ("print(9)\nexit()", "passed"),
        ("import os\nprint(9)\nos._exit(0)", "wrong_answer"),
        ("import os\nprint(9, flush=True)\nos._exit(0)", "passed"),
    ],
)
def test_a_program_ends_as_where_python_runs_a_file(
    grader: Grader, source: str, reason: str
) -> None:
    tests = {"type": "stdio", "cases": [{"stdin": "", "stdout": "9\n"}]}
    assert grader(source, tests).reason == reason


@pytest.mark.parametrize("size", ["2**27", "512 * 1024 * 1024", "10**9", "2**31 - 2**20"])
def test_a_thread_may_ask_for_a_larger_stack_than_there_is_memory(
    grader: Grader, size: str
) -> None:
    source = (
        "import sys, threading\nsys.setrecursionlimit(10**6)\n"
        f"threading.stack_size({size})\n"
        "def depth(n): return n and 1 + depth(n - 1)\n"
        "def run(): print(depth(int(input())))\n"
        "thread = threading.Thread(target=run)\nthread.start()\nthread.join()"
    )
    tests = {"type": "stdio", "cases": [{"stdin": "50000\n", "stdout": "50000\n"}]}
    plan = Plan(Limits(cpu_seconds=20.0, wall_seconds=60.0), 100.0, 600.0, run_all=False)
    assert grader(source, tests, plan).reason == "passed"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("print('7\\n' * 800_000)", "passed"),
        ("print('7 \\n' * 800_000)", "passed"),
        ("print('8\\n' * 800_000)", "wrong_answer"),
        ("while True: print('7')", "output_limit_exceeded"),
    ],
)
def test_an_output_may_be_as_long_as_the_expected_one(
    grader: Grader, source: str, reason: str
) -> None:
    tests = {"type": "stdio", "cases": [{"stdin": "", "stdout": "7\n" * 800_000}]}
    plan = Plan(Limits(cpu_seconds=20.0, wall_seconds=60.0), 100.0, 600.0, run_all=False)
    assert grader(source, tests, plan).reason == reason


def test_all_cases_are_run_when_asked_for(grader: Grader) -> None:
    found = grader("print(16)", SQUARE, ALL)
    assert (found.passed, found.total, found.first_failed) == (1, 2, 0)
    assert (found.shown, found.expected) == ("16\n", "9\n")


@pytest.mark.parametrize(
    "tests",
    [
        {
            "type": "function",
            "entry_point": "f",
            "cases": [{"args": [n], "returns": abs(n)} for n in (-1, 2, 3)],
        },
        {"type": "asserts", "code": "assert f(-1) == 1\nassert f(2) == 2\nassert f(3) == 3"},
    ],
)
def test_the_first_call_that_failed_is_known_whatever_passed_later(
    grader: Grader, tests: dict[str, Any]
) -> None:
    found = grader("def f(x): return x", tests, ALL)
    assert (found.passed, found.total, found.first_failed) == (2, 3, 0)


def test_cases_share_a_limit(grader: Grader) -> None:
    # Three times this is more than the second that all cases have.
    source = "import time\nend = time.process_time() + 0.35\nwhile time.process_time() < end: pass"
    cases = [{"stdin": "", "stdout": ""}] * 4
    plan = Plan(Limits(cpu_seconds=1.0, wall_seconds=20.0), 1.0, 100.0, run_all=True)
    found = grader(source, {"type": "stdio", "cases": cases}, plan)
    assert (found.reason, found.passed, found.total) == ("time_limit_exceeded", 2, 4)


@pytest.mark.parametrize(("after_time_limit", "num_run"), [(True, 3), (False, 1)])
def test_cases_after_one_that_met_a_time_limit_may_be_judged_from_it(
    grader: Grader, after_time_limit: bool, num_run: int
) -> None:
    plan = dataclasses.replace(IDLE_PLAN, after_time_limit=after_time_limit)
    cases = [{"stdin": "", "stdout": ""}] * 3
    found = grader("import time\ntime.sleep(60)", {"type": "stdio", "cases": cases}, plan)
    assert (found.reason, found.passed, found.total) == ("time_limit_exceeded", 0, 3)
    assert found.num_results == num_run


def test_cases_share_a_limit_on_wall_time(grader: Grader) -> None:
    """The first is cut by its own limit, the second by what is left, and there is no third."""
    plan = Plan(Limits(cpu_seconds=1.0, wall_seconds=0.5), 10.0, 0.8, run_all=True)
    cases = [{"stdin": "", "stdout": ""}] * 1000
    found = grader("import time\ntime.sleep(60)", {"type": "stdio", "cases": cases}, plan)
    assert (found.reason, found.passed, found.total) == ("time_limit_exceeded", 0, 1000)


IDLE_PLAN = Plan(
    Limits(cpu_seconds=30.0, wall_seconds=100.0, idle_seconds=0.3), 60.0, 200.0, run_all=True
)
"""Programs and judges meet none of its limits unless they sleep, on a busy machine too."""


@pytest.mark.parametrize(
    ("source", "tests"),
    [
        (
            "import time\ntime.sleep(3600)",
            {"type": "stdio", "cases": [{"stdin": "", "stdout": ""}]},
        ),
        (
            "import time\ndef f(): time.sleep(3600)",
            {"type": "function", "entry_point": "f", "cases": [{"args": [], "returns": 1}]},
        ),
        (
            "import time\ntime.sleep(3600)\ndef f(): pass",
            {"type": "asserts", "entry_point": "f", "code": "assert f() == 1"},
        ),
    ],
    ids=["stdio", "function", "asserts"],
)
def test_a_program_that_sleeps_is_out_of_time(
    grader: Grader, source: str, tests: dict[str, Any]
) -> None:
    assert grader(source, tests, IDLE_PLAN).reason == "time_limit_exceeded"


def test_a_program_does_not_answer_for_tests_that_sleep(grader: Grader) -> None:
    code = "import time\nassert f() == 1\ntime.sleep(1.5)\nassert f() == 1"
    tests = {"type": "asserts", "entry_point": "f", "code": code}
    assert grader("def f(): return 1", tests, IDLE_PLAN).reason == "passed"


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["while True: pass", "import time\ntime.sleep(60)"])
def test_a_special_judge_has_as_much_time_for_all_cases(grader: Grader, judge: str) -> None:
    plan = Plan(Limits(cpu_seconds=0.5, wall_seconds=3.0), 0.8, 4.0, run_all=True)
    cases = [{"stdin": "", "stdout": ""}] * 1000
    found = grader("", {"type": "stdio", "cases": cases, "program": judge}, plan)
    assert (found.reason, found.passed, found.total) == ("wrong_answer", 0, 1000)


def test_a_special_judge_decides(grader: Grader) -> None:
    judge = (
        "import json, sys\n"
        "shown = json.load(sys.stdin)\n"
        "sys.exit(sorted(shown['stdout'].split()) != sorted(shown['expected'].split()))\n"
    )
    tests = {"type": "stdio", "cases": [{"stdin": "", "stdout": "1 2 3"}], "program": judge}
    assert grader("print('3 1 2')", tests).reason == "passed"
    assert grader("print('3 1')", tests).reason == "wrong_answer"


def test_a_special_judge_that_is_no_program_is_the_tests_fault(grader: Grader) -> None:
    tests = {**SQUARE, "program": "import sys\nsys.exit("}
    found = grader("print(int(input())**2)", tests, ALL)
    assert (found.reason, found.passed, found.shown) == ("bad_reference", 0, "")
    assert "SyntaxError" in found.expected


@pytest.mark.slow
def test_a_special_judge_that_fails_accepts_nothing(grader: Grader) -> None:
    """A completion could provoke it."""
    for judge in ("1 / 0", "while True: pass", "x = ' ' * 10**12"):
        assert grader("print(9)", {**SQUARE, "program": judge}).reason == "wrong_answer"


@pytest.mark.slow
def test_cases_of_a_program_compile_it_once(grader: Grader) -> None:
    """Its source takes long to compile, and leaves next to nothing to run."""
    source = "if 0:\n" + "    f(1, 2, x=[3, 4])\n" * 50_000 + "print(1)"
    start = time.process_time()
    compile(source, "main.py", "exec")
    cpu_seconds = time.process_time() - start
    plan = Plan(Limits(cpu_seconds=60.0, wall_seconds=120.0), 5 * cpu_seconds, 100.0, run_all=False)
    cases = [{"stdin": "", "stdout": "1"}] * 20
    for judge in (None, "import sys; sys.exit(0)"):
        found = grader(source, {"type": "stdio", "cases": cases, "program": judge}, plan)
        assert (found.reason, found.passed) == ("passed", 20)


# Calls

ADD = {
    "type": "function",
    "entry_point": "add",
    "cases": [
        {"args": [1, 2], "returns": 3},
        {"kwargs": {"a": [1], "b": [2]}, "returns": [1, 2]},
    ],
}


@pytest.mark.parametrize(
    ("source", "result", "passed"),
    [
        ("def add(a, b): return a + b", "passed", 2),
        ("def add(a, b): return a - b", "wrong_answer", 0),
        ("def add(a, b): return 3", "wrong_answer", 1),
        ("def plus(a, b): return a + b", "runtime_error", 0),
        ("def add(a, b): raise KeyError", "runtime_error", 0),
        ("def add(a, b): exit(0)", "runtime_error", 0),
        ("def add(a, b):\n while True: pass", "time_limit_exceeded", 0),
        ("import os\ndef add(a, b): os._exit(0)", "runtime_error", 0),
        ("def add(a, b): return range(10**9)", "wrong_answer", 0),
        ("raise SystemExit", "runtime_error", 0),
        ("def add(a, b)", "compile_error", 0),
    ],
)
def test_a_function_and_its_calls(grader: Grader, source: str, result: str, passed: int) -> None:
    plan = Plan(Limits(cpu_seconds=1.0, wall_seconds=20.0), 10.0, 100.0, run_all=False)
    found = grader(source, ADD, plan)
    assert (found.reason, found.passed) == (result, passed)


@pytest.mark.parametrize("entry_point", ["add", "Solution.add", "Solution().add"])
def test_a_function_may_be_a_method_of_a_class(grader: Grader, entry_point: str) -> None:
    tests = ADD | {"entry_point": entry_point}
    check = {"type": "asserts", "entry_point": entry_point, "code": CHECK_ADD}
    right = "class Solution:\n    def add(self, a, b): return a + b"
    wrong = "class Solution:\n    def add(self, a, b): return a - b"
    for asked in (tests, check):
        assert grader(right, asked).reason == "passed"
        assert grader(wrong, asked).reason == "wrong_answer"
        assert grader("class Solution:\n    pass", asked).reason == "runtime_error"


@pytest.mark.parametrize(
    ("body", "source", "reason"),
    [
        ("assert sum(10, 15) == 6", "def sum(a, b): return 6", "passed"),
        ("assert sum(10, 15) == 6", "def sum(a, b): return 7", "wrong_answer"),
        ("assert candidate(10, 15) == sum([2, 4])", "def sum(a, b): return 6", "passed"),
        ("assert candidate(10, 15) == sum([2, 4])", "def sum(*_): return 7", "wrong_answer"),
    ],
)
def test_a_check_may_call_the_program_by_its_name_where_python_has_one(
    grader: Grader, body: str, source: str, reason: str
) -> None:
    """The name is Python's if the check uses what it is given: a program must not replace it."""
    code = f"def check(candidate):\n    {body}"
    called = f"{code}\n\ndef test_check():\n    check(sum)\n\ntest_check()"  # as MultiPL-E has it
    for one in (code, called):
        assert grader(source, asserts(one, "sum")).reason == reason


CHECK_ADD = "def check(candidate):\n    assert candidate(1, b=2) == 3"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(xs: List[int]) -> Optional[int]: return sum(xs)", "passed"),
        ("class Solution:\n    def f(self, xs: List[int]) -> int: return sum(xs)", "passed"),
        ("class Solution:\n    def f(self, xs): return sum(Counter(xs).elements())", "passed"),
        ("class Solution:\n    def f(self, xs): return list(accumulate(xs))[-1]", "passed"),
        ("class Solution:\n    def f(self, xs): return math.floor(sum(xs))", "passed"),
        (
            "class Solution:\n    @cache\n    def g(self, n): return n\n"
            "    def f(self, xs): return reduce(add, map(self.g, xs))",
            "passed",
        ),
        (
            "class Solution:\n    def f(self, xs, head: Optional[ListNode] = None):\n"
            "        heapify(xs)\n        return heappop(xs) + heappop(xs)",
            "passed",
        ),
        ("class Solution:\n    def f(self, xs: List[int]) -> int: return 4", "wrong_answer"),
        ("class Solution:\n    def f(self, xs): return total(xs)", "runtime_error"),
        ("def f(xs): return sum(Counter(xs).elements())", "runtime_error"),
        ("List = 3\ndef f(xs): return List", "passed"),
        ("def f(xs): return gcd(3, 6)", "runtime_error"),
    ],
)
def test_a_program_has_the_names_that_leetcode_imports(
    grader: Grader, source: str, reason: str
) -> None:
    """Others are only those of `typing`, since they stand in annotations."""
    cases = [{"args": [[1, 2]], "returns": 3}]
    tests = {"type": "function", "entry_point": "f", "cases": cases}
    assert grader(source, tests).reason == reason


@pytest.mark.parametrize(
    ("outputs", "source", "reason"),
    [
        (["12", "ab"], "def f(x): return x", "passed"),
        (["12", "ab"], "def f(x): return int(x) if x.isdigit() else x", "passed"),
        (["12", "ab"], "def f(x): return x + '0'", "wrong_answer"),
        (["[1, 2]", "ab"], "def f(x): return [1, 2] if x == '12' else x", "passed"),
        ([["12"], ["ab"]], "def f(x): return [x]", "passed"),
        ([["12"], ["ab"]], "def f(x): return int(x) if x.isdigit() else x", "passed"),
    ],
)
def test_a_text_in_the_lists_of_calls_is_itself_or_json(
    grader: Grader, outputs: list[Any], source: str, reason: str
) -> None:
    tests = {"fn_name": "f", "inputs": [["12"], ["ab"]], "outputs": outputs}
    assert grader(source, tests).reason == reason


@pytest.mark.parametrize(
    ("outputs", "source", "reason"),
    [
        ([[3], [4]], "def f(x): return x", "passed"),
        ([[3], [4]], "def f(x): return [x]", "passed"),
        ([[3], [4]], "def f(x): return [[x]]", "wrong_answer"),
        ([[3], [4]], "def f(x): return [3, 4]", "wrong_answer"),
        ([[[3]], [[4]]], "def f(x): return [x]", "passed"),
        ([[[3]], [[4]]], "def f(x): return x", "wrong_answer"),
        ([[3], [4, 4]], "def f(x): return [x] * (x - 2)", "passed"),
        ([[3], [4, 4]], "def f(x): return x if x == 3 else [4, 4]", "wrong_answer"),
        ([3, [4]], "def f(x): return x", "wrong_answer"),
    ],
)
def test_results_of_calls_may_be_in_lists_of_one_as_in_apps(
    grader: Grader, outputs: list[Any], source: str, reason: str
) -> None:
    tests = {"fn_name": "f", "inputs": [[3], [4]], "outputs": outputs}
    assert grader(source, tests).reason == reason


REVERSE = (
    "def check(candidate):\n"
    "    assert is_same_list(candidate(list_node([1, 2])), list_node([2, 1]))"
)
MIRROR = (
    "def check(candidate):\n"
    "    assert is_same_tree(candidate(tree_node([4, None, 7])), tree_node([4, 7]))"
)
REVERSED = (
    "class Solution:\n    def f(self, head: Optional[ListNode]) -> Optional[ListNode]:\n"
    "        found = None\n        while head:\n"
    "            head.next, found, head = found, head, head.next\n        return found"
)
MIRRORED = (
    "class Solution:\n    def f(self, root):\n        if root:\n"
    "            root.left, root.right = self.f(root.right), self.f(root.left)\n"
    "        return root"
)
OWN_NODES = (
    "def list_node(values):\n"
    "    return ListNode(values[0], list_node(values[1:])) if values else None\n" + REVERSE
)
LIARS = "\ndef is_same_list(a, b): return True\nis_same_tree = list_node = tree_node = is_same_list"


@pytest.mark.parametrize(
    ("code", "source", "reason"),
    [
        (REVERSE, REVERSED, "passed"),
        (MIRROR, MIRRORED, "passed"),
        (REVERSE, REVERSED + LIARS, "passed"),
        (REVERSE, "class Solution:\n    def f(self, head): return head", "wrong_answer"),
        (REVERSE, "class Solution:\n    def f(self, head): return head" + LIARS, "wrong_answer"),
        (MIRROR, "class Solution:\n    def f(self, root): return root" + LIARS, "wrong_answer"),
        (MIRROR, "class Solution:\n    def f(self, root): return None" + LIARS, "wrong_answer"),
        (OWN_NODES, "class Solution:\n    def f(self, head): return head" + LIARS, "wrong_answer"),
        (OWN_NODES, REVERSED, "passed"),
    ],
)
def test_no_program_answers_for_the_helpers_of_leetcode_data_set(
    grader: Grader, code: str, source: str, reason: str
) -> None:
    found = grader(source, asserts(code, "Solution().f"))
    assert found.reason == reason


def test_each_case_has_an_object_of_its_own(grader: Grader) -> None:
    source = """
class Solution:
    def __init__(self):
        self.n = 0

    def f(self):
        self.n += 1
        return self.n
"""
    cases = [{"args": [], "returns": 1}] * 2
    found = grader(source, {"type": "function", "entry_point": "f", "cases": cases})
    assert (found.reason, found.passed) == ("passed", 2)


def test_an_entry_point_that_is_no_expression_is_the_tests_fault(grader: Grader) -> None:
    tests = {"type": "asserts", "entry_point": "add one", "code": CHECK_ADD}
    assert grader("def add(a, b): return a + b", tests).reason == "bad_reference"


def test_floats_may_differ_by_a_tolerance(grader: Grader) -> None:
    tests = {"type": "function", "entry_point": "f", "cases": [{"args": [], "returns": [0.3, [1]]}]}
    source = "def f(): return (0.1 + 0.2, [1.0])"
    assert grader(source, tests).reason == "wrong_answer"
    assert grader(source, {**tests, "tolerance": 1e-9}).reason == "passed"


# Test code


def asserts(code: str, entry_point: str | None = None) -> dict[str, Any]:
    return {"type": "asserts", "code": code, "entry_point": entry_point}


CLASS = """
class Point:
    origin = (0, 0)
    def __init__(self, x, y=0): self.x, self.y = x, y
    def moved(self, dx): return Point(self.x + dx, self.y)
    def __len__(self): return 2
    def __iter__(self): return iter((self.x, self.y))
    def __str__(self): return f"<{self.x}, {self.y}>"
    @property
    def norm(self): return abs(self.x) + abs(self.y)
    @classmethod
    def unit(cls): return cls(1)
class Far(ValueError): pass
def check(p):
    if p.x > 9: raise Far("too far", p.x)
    return True
def count(n):
    yield from range(n)
LIMIT = 9
"""


@pytest.mark.parametrize(
    "code",
    [
        "assert Point(1, 2).x == 1",
        "p = Point(1)\nassert p.moved(2).x == 3 and p.x == 1",
        "p = Point(1, y=2)\nassert (p.norm, Point.origin) == (3, (0, 0))",
        "assert str(Point(1)) == '<1, 0>'\nassert len(Point(1)) == 2",
        "assert list(Point(1)) == [1, 0]",
        "p = Point(1)\np.x = 5\nassert p.x == 5",
        "assert isinstance(Point.unit(), Point)",
        "assert check(Point(1)) is True",
        "try:\n    check(Point(10))\nexcept Far as far:\n    assert far.args == ('too far', 10)\n"
        "else:\n    assert False",
        "try:\n    check(Point(10))\nexcept ValueError:\n    pass\nelse:\n    assert False",
        "assert list(count(3)) == [0, 1, 2]\nassert next(count(1)) == 0",
        "from solution import count as c, LIMIT\nassert (list(c(1)), LIMIT) == ([0], 9)",
        "import solution\nassert solution.LIMIT == 9",
        "from your_module import Point as P\nassert P(1).x == 1",
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def setUp(self): self.p = Point(1)\n"
        "    def test_x(self): self.assertEqual(self.p.x, 1)\n"
        "    def test_far(self):\n"
        "        with self.assertRaises(Far) as caught: check(Point(10))\n"
        "        self.assertEqual(caught.exception.args[0], 'too far')\n"
        "if __name__ == '__main__': unittest.main()",
        "def check_all(f):\n    for n in range(3): assert list(f(n)) == list(range(n))\n"
        "check_all(count)",
        "for n in range(3):\n    assert list(count(n)) == list(range(n))",
        "def test_one():\n    assert Point(1).x == 1\ndef test_two():\n    assert LIMIT == 9",
        "def test_once(): assert Point(1).x == 1\ntest_once()",
    ],
)
def test_test_code_sees_the_programs_functions_and_objects(grader: Grader, code: str) -> None:
    found = grader(CLASS, asserts(code))
    assert (found.reason, found.shown) == ("passed", "")


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("assert Point(1) == Point(1)", "unsupported_test"),
        ("assert Point(1) < Point(2)", "unsupported_test"),
        ("assert Point(1) + Point(2)", "unsupported_test"),
        ("assert check(lambda: 1)", "unsupported_test"),
        ("def f(): pass\nassert count(f)", "unsupported_test"),
        ("import pytest\nassert Point(1) == pytest.approx(1)", "unsupported_test"),
        ("import pandas as pd\nassert pd.isna(count(1))", "unsupported_test"),
        ("from unittest.mock import patch\nwith patch('print'): assert LIMIT", "unsupported_test"),
        ("from unittest import mock\nassert LIMIT == 9", "unsupported_test"),
        ("import sys, io\nsys.stdout = io.StringIO()\nassert LIMIT == 9", "unsupported_test"),
        ("def test_writes(tmp_path):\n    assert LIMIT == 9", "unsupported_test"),
        (
            "import io, contextlib\nprinted = io.StringIO()\n"
            "with contextlib.redirect_stdout(printed): check(Point(1))\n"
            "assert printed.getvalue() == 'far'",
            "unsupported_test",
        ),
        ("def test_x():\n    assert Point(1).x == 2", "wrong_answer"),
        ("def test_x():\n    check(Point(10))", "runtime_error"),
        ("assert count(", "bad_reference"),
        ("x = 1", "bad_reference"),
        ("def test_x():\n    pass", "bad_reference"),
        ("def test_x():\n    'Nothing yet.'\n    assert True", "bad_reference"),
        ("def check(f):\n    return None\ncheck(count)", "bad_reference"),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test_x(self):\n        pass\n"
            "if __name__ == '__main__':\n    unittest.main()",
            "bad_reference",
        ),
        ("def check(f):\n    f(2)\ncheck(count)", "passed"),
        ("class T:\n    def count(self):\n        pass\ndef test_x():\n    count(2)", "passed"),
        ("assert missing(1) == 2", "runtime_error"),
        ("import solution\nassert solution.missing(1) == 2", "wrong_answer"),
        ("assert list(count(2)) == [0]", "wrong_answer"),
        ("import sys\nsys.exit(0)", "wrong_answer"),
    ],
)
def test_tests_that_cannot_be_run_are_told_from_wrong_programs(
    grader: Grader, code: str, result: str
) -> None:
    assert grader(CLASS, asserts(code)).reason == result


FORGED = "\n".join(map(json.dumps, (["total", 1], ["passed"], ["done"]))) + "\n"


@pytest.mark.parametrize(
    "source",
    [
        "class f:\n    def __new__(cls, *a): return object.__new__(cls)\n"
        "    def __eq__(self, other): return True\n    __hash__ = None",
        "class Any(str):\n    def __eq__(self, other): return True\ndef f(x): return Any('?')",
        "class Any(int):\n    def __eq__(self, other): return True\ndef f(x): return Any(7)",
        "class Any:\n    def __sub__(self, o): return 0\n    __rsub__ = __sub__\n"
        "    def __eq__(self, o): return True\ndef f(x): return Any()",
        "import os\ndef f(x): os._exit(0)",
        "import os\nos._exit(0)",
        "raise SystemExit(0)",
        "import builtins, operator\nbuiltins.AssertionError = Exception\n"
        "operator.eq = lambda a, b: True\ndef f(x): return None",
        "import sys\ndef f(x):\n    frame = sys._getframe()\n"
        "    while frame:\n        for v in list(frame.f_locals.values()):\n"
        "            if isinstance(v, list) and 'secret' in v: return v\n"
        "        frame = frame.f_back\n",
        "import gc\ndef f(x):\n    for o in gc.get_objects():\n"
        "        if isinstance(o, list) and 'secret' in o: return o\n",
        "import atexit, os\natexit.register(os._exit, 0)\ndef f(x): raise SystemExit",
        f"print({FORGED!r})\ndef f(x): return None",
        f"import os\nfor n in range(3, 64):\n    try: os.write(n, {FORGED.encode()!r})\n"
        "    except OSError: pass\ndef f(x): return None",
        "def f(x):\n    while True: yield 1",
        "def f(x):\n    x.clear()\n    return x",
    ],
)
def test_no_trick_passes_a_test_whose_answer_cannot_be_known(grader: Grader, source: str) -> None:
    plan = Plan(Limits(cpu_seconds=1.0, wall_seconds=20.0), 10.0, 100.0, run_all=False)
    code = "assert f([1]) == ['secret', 1]"
    found = grader(source, asserts(code), plan)
    assert found.passed == 0
    assert found.reason not in ("passed", "unsupported_test", "bad_reference")


def test_the_processes_of_the_sandbox_import_the_standard_library_only() -> None:
    """A package that they imported would be within reach of every program."""
    names = [place.partition(":")[0] for place in ENTRIES.values()]
    found = subprocess.run(
        [sys.executable, "-c", FOREIGN_MODULES, *names],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["verifier_service"]


FOREIGN_MODULES = """
import importlib, sys
before = set(sys.modules)
for name in sys.argv[1:]:
    importlib.import_module(name)
packages = {name.partition(".")[0] for name in sys.modules.keys() - before}
print(*sorted(packages - sys.stdlib_module_names))
"""


@pytest.mark.parametrize(
    "code",
    [
        "assert all(map(lambda case: f(case[0]) == case[1], [(1, 2), (3, 4)]))",
        "for found, expected in zip(map(f, [1, 2]), [3, 4]):\n    assert found == expected",
        "import itertools\nassert all(itertools.starmap(lambda a, b: f(a) == b, [(1, 2)]))",
        "assert not any(map(f, [1, 2]))",
        "assert list(iter(lambda: f(1), 2)) == []",
    ],
)
@pytest.mark.parametrize("kind", ["StopIteration", "StopAsyncIteration"])
def test_a_program_cannot_end_the_iteration_of_a_test(grader: Grader, kind: str, code: str) -> None:
    for source in (f"def f(x): raise {kind}", f"class End({kind}): pass\ndef f(x): raise End"):
        found = grader(source, asserts(code))
        assert (found.reason, found.passed) == ("runtime_error", 0)


def test_an_iterator_of_the_program_ends_as_in_python(grader: Grader) -> None:
    code = (
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test(self):\n        items = f(1)\n        self.assertEqual(next(items), 1)\n"
        "        with self.assertRaises(StopIteration): next(items)\n"
        "        self.assertEqual(list(f(2)), [2])\n"
    )
    assert grader("def f(x): yield x", asserts(code)).reason == "passed"


@pytest.mark.parametrize("afterwards", ["return x", "while True: pass"])
def test_a_program_that_closes_its_connection_has_one_reason(
    grader: Grader, afterwards: str
) -> None:
    hangs_up = f"    if x == 2:\n        os.closerange(0, 64)\n        {afterwards}\n"
    source = f"import os\ndef f(x):\n{hangs_up}    return x"
    found = grader(source, asserts("assert f(1) == 1\nassert f(2) == 2"))
    assert (found.reason, found.passed, found.total) == ("runtime_error", 1, 2)


NESTS = "def enc(x):\n    for _ in range({}): x = [x]\n    return x\ndef dec(x): return x"
SENDS_RAW = """
import json
from verifier_service.code import value_codec
value_codec._to_json = json.JSONEncoder(ensure_ascii=False).encode
def enc(x): return "é" * 8_000_000
def dec(x): return x
"""


@pytest.mark.parametrize("source", [NESTS.format(200), SENDS_RAW])
@pytest.mark.parametrize(
    "code",
    [
        "assert dec(enc('abc')) == 'abc'",
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
        "        with self.subTest(): self.assertEqual(dec(enc('abc')), 'abc')",
    ],
)
def test_a_program_cannot_choose_to_have_no_verdict(grader: Grader, source: str, code: str) -> None:
    found = grader(source, asserts(code))
    assert (found.reason, found.passed) == ("invalid_output", 0)
    assert found.shown.startswith("passed back to the program: ")


@pytest.mark.parametrize(
    "code",
    [
        "assert dec('é' * 8_000_000) == ''",
        "x = []\nfor _ in range(300): x = [x]\nassert dec(x) == []",
        "assert dec(enc('abc')) == enc('abc')\nassert dec('é' * 8_000_000) == ''",
    ],
)
def test_tests_with_too_much_data_are_unsupported(grader: Grader, code: str) -> None:
    assert grader(NESTS.format(90), asserts(code)).reason == "unsupported_test"


def test_arguments_that_are_too_large_are_unsupported_whatever_was_returned(
    grader: Grader,
) -> None:
    cases = [{"args": ["a"], "returns": "a" * 2**21}, {"args": ["é" * 6_000_000], "returns": "a"}]
    tests = {"type": "function", "entry_point": "f", "cases": cases}
    assert grader("def f(x): return x * 2**21", tests).reason == "unsupported_test"


def test_what_is_nested_deeply_can_be_passed_back(grader: Grader) -> None:
    found = grader(NESTS.format(150), asserts("x = enc(1)\nassert dec(x) == x"))
    assert found.reason == "passed"


def test_arguments_that_the_program_changes_stay_as_they_were(grader: Grader) -> None:
    source = "def f(x):\n    x.clear()\n    return []"
    found = grader(source, asserts("values = [2, 1]\nassert f(values) == sorted(values)"))
    assert found.reason == "wrong_answer"


def test_what_test_code_says_counts_as_what_is_expected(grader: Grader) -> None:
    code = (
        "import unittest\nclass Test(unittest.TestCase):\n"
        "    def test(self):\n        self.assertEqual(f(1), 'the answer')\n"
    )
    found = grader("def f(x): return 'no'", asserts(code))
    assert (found.reason, found.shown) == ("wrong_answer", "")
    assert "'no' != 'the answer'" in found.expected


IN_PLACE = "it looks at what the program has changed in"
AWAITS = "it awaits what the program's process would have to run"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("a = [2, 1]\nf(a)\nassert a == [1, 2]", f"{IN_PLACE} a"),
        ("def check(candidate):\n    a = {2: 1}\n    candidate(a)\n    assert a == {}", IN_PLACE),
        ("from collections import deque\na = deque([1])\nf(a)\nassert len(a) == 2", IN_PLACE),
        ("from solution import f\na = list('ba')\nf(items=a)\nassert a == ['a']", ""),
        ("from solution import f\na = list('ba')\nf(a)\nassert a == ['a']", IN_PLACE),
        ("a = [2, 1]\nf(a)\na = [3]\nassert f(a) == [3]", ""),
        ("a = [2, 1]\nassert f(a) == [1, 2]\nassert a == [2, 1]", ""),
        ("a = (2, 1)\nf(a)\nassert a == (2, 1)", ""),
        ("a = [2, 1]\nprint(a)\nassert f(a) == [1, 2]", ""),
        ("def same(a, b): assert a == b\na = [1]\nsame(a, f(1))\nsame(a, f(2))", ""),
        ("from numpy.testing import assert_equal\na = [1]\nassert_equal(a, f(1))\nassert a", ""),
        (
            "def check(candidate):\n    from heapq import heapify\n    a = [3, 1, 2]\n"
            "    heapify(a)\n    assert candidate(a) == 1",
            "",
        ),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
            "        from random import shuffle\n        a = [3, 1, 2]\n        shuffle(a)\n"
            "        self.assertEqual(f(a), 1)",
            "",
        ),
        (
            "def test_a():\n    a = []\n    def add(xs, x): xs.append(x)\n    add(a, f(1))\n"
            "    assert a == [2]",
            "",
        ),
        (
            "class T:\n    def f(self):\n        a = [2, 1]\n        f(a)\n        assert a == [1]",
            f"{IN_PLACE} a",
        ),
        (
            "def check(candidate):\n    from solution import f\n    a = [2, 1]\n    f(a)\n"
            "    assert a == [1, 2]",
            f"{IN_PLACE} a",
        ),
        (
            "def test_a():\n    a = [1]\n    f(a)\ndef test_b():\n    a = 1\n    assert f(a) == 1",
            "",
        ),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
            "        a = [1]\n        with self.assertRaises(ValueError):\n            f(a)\n"
            "        self.assertEqual(f(1), a)",
            "",
        ),
        ("import asyncio\nassert asyncio.run(f(1)) == 2", AWAITS),
        (
            "import asyncio\nasync def main():\n    assert await f(1) == 2\nasyncio.run(main())",
            AWAITS,
        ),
        (
            "import asyncio\ndef test_a():\n    async def go():\n        return f(3)\n"
            "    assert asyncio.run(go()) == 9",
            "",
        ),
        (
            "import asyncio\ndef test_a():\n    async def go():\n        return await f(3)\n"
            "    assert asyncio.run(go()) == 9",
            AWAITS,
        ),
        (
            "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    assert f(1) == 2\n"
            "asyncio.run(main())",
            "",
        ),
    ],
)
def test_what_the_program_would_have_to_do_in_the_process_of_the_test_is_seen_in_its_text(
    code: str, why: str
) -> None:
    found = AssertionCode(code).cannot_be_run_apart()
    assert found.startswith(why) if why else found == ""


def test_a_right_program_is_not_wrong_because_its_changes_cannot_be_seen(grader: Grader) -> None:
    found = grader("def f(x): x.sort()", asserts("a = [2, 1]\nf(a)\nassert a == [1, 2]"))
    assert found.reason == "unsupported_test"


@pytest.mark.slow
def test_long_test_code_is_read_in_time_linear_in_it() -> None:
    """Quadratic time would be minutes."""
    code = "a = [1]\n" + "assert f(a) == 1\na = [1]\nf(a)\na = [1]\n" * 5000
    assert AssertionCode(code).cannot_be_run_apart() == ""


SUB_TEST = """
import unittest
class Test(unittest.TestCase):
    def test(self):
        for argument in [lambda x: x]:
            {}:
                self.assertEqual(apply({}), 1)
"""


def test_a_traceback_shows_the_program_alone(grader: Grader) -> None:
    findings = grader("def f(): return 1 / 0\nf()", asserts("assert f() == 1"))
    assert findings.shown.splitlines() == [
        "Traceback (most recent call last):",
        '  File "solution.py", line 2, in <module>',
        '  File "solution.py", line 1, in f',
        "ZeroDivisionError: division by zero",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "assert missing(1) == 2",
        "def check(candidate):\n    assert candidate(1) == 2",
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test_it(self): self.assertEqual(missing(1), 2)",
    ],
)
def test_a_name_that_the_program_lacks_is_told(grader: Grader, code: str) -> None:
    findings = grader(CLASS, asserts(code, entry_point="missing"))
    assert findings.reason == "runtime_error"
    assert findings.shown.removeprefix("test_it: ") == "there is no missing"
    assert findings.expected == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "arguments", "result"),
    [
        ("def apply(*x): return 1", "1", "passed"),
        ("def apply(*x): return 2", "1", "wrong_answer"),
        ("def apply(*x): return 1", "argument", "unsupported_test"),
        ("def apply(*x): raise ValueError('no')", "1", "runtime_error"),
        ("def apply(*x): return {}", "1).missing(", "wrong_answer"),
        ("import os\ndef apply(*x): os._exit(3)", "1", "runtime_error"),
        ("def apply(*x):\n    while True: pass", "1", "time_limit_exceeded"),
    ],
)
def test_a_sub_test_has_the_outcome_that_it_would_have_alone(
    grader: Grader, source: str, arguments: str, result: str
) -> None:
    plan = Plan(Limits(cpu_seconds=0.5, wall_seconds=10.0), 10.0, 100.0, run_all=False)
    alone = grader(source, asserts(SUB_TEST.format("if True", arguments)), plan)
    within = grader(source, asserts(SUB_TEST.format("with self.subTest()", arguments)), plan)
    assert alone.reason == result
    assert within == alone


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("def apply(*x): return 1", "wrong_answer"),
        ("def apply(*x): return 2", "passed"),
        ("import os\ndef apply(*x): os._exit(3)", "runtime_error"),
    ],
)
def test_a_program_that_ends_is_no_failure_that_was_expected(
    grader: Grader, source: str, result: str
) -> None:
    for block in ("if True", "with self.subTest()"):
        code = SUB_TEST.format(block, "1").replace(
            "    def", "    @unittest.expectedFailure\n    def"
        )
        assert grader(source, asserts(code)).reason == result
        unsupported = asserts(code.replace("apply(1)", "apply(argument)"))
        assert grader("def apply(x): return 1", unsupported).reason == "unsupported_test"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("return deque(x)", "assert f([1, 2]) == deque([1, 2])\nassert f([1])[0] == 1"),
        ("return Counter(x)", "assert f('aab').most_common(1) == [('a', 2)]"),
        ("return Counter(x)", "assert f('aab') == {'a': 2, 'b': 1} and f('a')['z'] == 0"),
        ("return OrderedDict(x)", "assert f([(2, 1)]) == OrderedDict([(2, 1)]) == {2: 1}"),
        ("return defaultdict(int, x)", "assert f({2: 1}) == {2: 1}"),
        ("return sum(x)", "assert f(deque([1, 2])) == 3"),
    ],
)
def test_containers_of_the_standard_library_cross(grader: Grader, source: str, code: str) -> None:
    imports = "from collections import Counter, OrderedDict, defaultdict, deque\n"
    found = grader(f"{imports}def f(x): {source}", asserts(imports + code))
    assert (found.reason, found.expected) == ("passed", "")


def test_values_of_many_types_cross(grader: Grader) -> None:
    source = "def same(*values): return values"
    values = (
        {"a": (1, 2.5, None)}, {1, 2}, frozenset({3}), b"x", 2**80, Decimal("1.5"), Fraction(1, 3),
        datetime.datetime(2026, 1, 2, 3), datetime.timedelta(1), 1j, True, float("inf"),
    )  # fmt: skip
    code = (
        "import datetime\nfrom decimal import Decimal\nfrom fractions import Fraction\n"
        f"inf = float('inf')\nvalues = {values!r}\n"
        "found = same(*values)\nassert found == values\n"
        "assert [type(v) for v in found] == [type(v) for v in values]"
    )
    found = grader(source, asserts(code))
    assert (found.reason, found.shown) == ("passed", "")


def test_what_an_exception_says_need_not_be_text(grader: Grader) -> None:
    source = "def f(x):\n    if x == 2: raise ValueError('\\ud800')\n    return 1"
    cases = [{"args": [1], "returns": 1}, {"args": [2], "returns": 2}]
    found = grader(source, {"type": "function", "entry_point": "f", "cases": cases}, ALL)
    assert (found.reason, found.passed) == ("runtime_error", 1)
    assert found.shown == "ValueError: ?"


# Real problems


def humaneval() -> list[Row]:
    return shared_data("code/humaneval.jsonl.gz")


def of_humaneval(row: Row) -> Asserts:
    return Asserts(type="asserts", code=row["test"], entry_point=row["entry_point"])


def test_every_canonical_solution_of_humaneval_passes(grader: Grader) -> None:
    rows = humaneval()
    asked = [(row["prompt"] + row["canonical_solution"], of_humaneval(row)) for row in rows]
    found = grader.all(asked)
    failed = [r["task_id"] for r, g in zip(rows, found, strict=True) if g.reason != "passed"]
    assert failed == []


OFF_BY_ONE = """
_right = {name}
def {name}(*args):
    found = _right(*args)
    if isinstance(found, bool): return not found
    if isinstance(found, (int, float)): return found + 1
    if isinstance(found, str): return found + "x"
    if isinstance(found, list): return found + [None]
    if isinstance(found, tuple): return found + (None,)
    if isinstance(found, dict): return {{**found, None: None}}
    return 1 if found is None else None
"""
WRONG = {
    "returns None": "def {name}(*args): return None",
    "raises": "def {name}(*args): raise ValueError",
    "is empty": "def {name}(*args): pass",
    "exits": "import os\ndef {name}(*args): os._exit(0)",
    "equals everything": "class Equal:\n    def __eq__(self, other): return True\n"
    "    def __bool__(self): return True\ndef {name}(*args): return Equal()",
    "is off by one": OFF_BY_ONE,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_wrong_variants_of_humaneval_fail(grader: Grader, name: str) -> None:
    rows = humaneval()
    asked = [
        (
            f"{row['prompt']}{row['canonical_solution']}\n"
            + WRONG[name].format(name=row["entry_point"]),
            of_humaneval(row),
        )
        for row in rows
    ]
    found = grader.all(asked)
    passed = [r["task_id"] for r, g in zip(rows, found, strict=True) if g.reason == "passed"]
    assert passed == []


@pytest.mark.parametrize(
    "one_in",
    [
        pytest.param(10, id="sample", marks=pytest.mark.quick),
        pytest.param(1, id="all", marks=pytest.mark.slow),
    ],
)
def test_labelled_programs_get_their_labels(grader: Grader, one_in: int) -> None:
    rows = shared_data("code/humaneval_programs.jsonl.gz")[::one_in]
    asked: list[tuple[str, Tests]] = [
        (row["code"], Asserts(type="asserts", code=row["tests"], entry_point=row["entry_point"]))
        for row in rows
    ]
    found = grader.all(
        asked, Plan(Limits(cpu_seconds=3, wall_seconds=60), 10.0, 100.0, run_all=False)
    )
    differing = [
        row["id"]
        for row, one in zip(rows, found, strict=True)
        if (one.reason == "passed") != row["label"]
    ]
    assert differing == []


MAX_UNSUPPORTED = 4


def module_of(row: Row) -> str:
    """The module of an exercism task; its id is `exercism/two-fer/example`."""
    return str(row["id"]).split("/")[1].replace("-", "_")


@pytest.mark.slow
def test_exercism_tasks_get_their_labels_or_are_unsupported(grader: Grader) -> None:
    rows = shared_data("code/exercism.jsonl.gz")
    asked: list[tuple[str, Tests]] = [
        (row["code"], Asserts(type="asserts", code=row["tests"], module=module_of(row)))
        for row in rows
    ]
    found = {row["id"]: one for row, one in zip(rows, grader.all(asked), strict=True)}
    unsupported = {name for name, one in found.items() if one.reason == "unsupported_test"}
    differing = [
        row["id"]
        for row in rows
        if row["id"] not in unsupported and (found[row["id"]].reason == "passed") != row["label"]
    ]
    assert differing == []
    assert len({name.rpartition("/")[0] for name in unsupported}) <= MAX_UNSUPPORTED


# References

BAD = EngineReason.BAD_REFERENCE
NESTED: list[Any] = []
for _ in range(5000):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    "case", [{"args": [NESTED], "returns": 1}, {"kwargs": {"x": NESTED}, "returns": 1}]
)
def test_arguments_that_are_nested_too_deeply_are_unsupported(
    grader: Grader, case: dict[str, Any]
) -> None:
    tests = {"type": "function", "entry_point": "f", "cases": [case]}
    assert grader("def f(x): return 1", tests).reason == "unsupported_test"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({}, EngineReason.MISSING_REFERENCE),
        ({"tests": {}}, BAD),
        ({"tests": {"type": "stdio", "cases": []}}, BAD),
        ({"tests": {"type": "asserts", "code": ""}}, BAD),
        ({"tests": {"type": "pytest", "code": "x"}}, BAD),
        ({"tests": {"inputs": ["[" * 10**5], "outputs": ["1"], "fn_name": "f"}}, BAD),
        ({"tests": {"inputs": ["1"], "outputs": ["[" * 10**5], "fn_name": "f"}}, BAD),
        ({"tests": {"inputs": [NESTED], "outputs": ["1"]}}, BAD),
    ],
)
def test_tests_that_cannot_be_used_say_why(reference: dict[str, Any], reason: EngineReason) -> None:
    with pytest.raises(Unverifiable) as caught:
        read_tests(reference)
    assert caught.value.reason is reason
