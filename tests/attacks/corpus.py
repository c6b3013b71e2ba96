"""The attack corpus: one hostile program per file, read as text and never imported.

The header of a program says what it tries, and how its success would be seen from outside. The
harness plants the canaries, replaces the placeholders, runs the program as a model's answer and
looks. A benign control should pass before each attack, or a broken executor looks perfectly safe.

`success` is one of these (`SUCCESSES`, or `file:` and a glob), seen after running the program in a
current directory that holds nothing else:

- `marker`: stdout or stderr holds a line that is exactly PWNED. The source text holds that word
  too, so a traceback that quotes the source must not count.
- `canary:ENV`, `canary:FILE`, `canary:EXPECT`, `canary:VICTIM`: any output, or any file that is
  collected from the current directory, holds that random canary. They stand in the service's
  environment (CANARY-ENV-...), in {SECRET_FILE} (CANARY-FILE-...), in the expected answer of the
  test (CANARY-EXPECT-...) and in the source, input and scratch files of a program that runs at the
  same time: {VICTIM_MARK}, which is no secret, followed by a random part, which is.
- `file:<glob>`: a file matches after the execution; placeholders in the glob are replaced.
- `modechanged`: mode, owner, times, size, flags, extended attributes or contents of
  {OUTSIDE_DIR}/watched.txt have changed.
- `net:tcp`: a connection or packet at 127.0.0.1:{TCP_PORT}. `net:udp`: a datagram at {UDP_PORT}.
  `net:unix`: a connection at {UNIX_SOCKET} or its abstract twin (a NUL byte and the same text), or
  a datagram at {UNIX_SOCKET}.dgram.
- `proc_alive`: a process is left behind. `zombies`: a dead one is not reaped.
- `service_dead`, `victim_dead`: the process {PARENT_PID}, a stand-in for the service, or the
  victim beside the program has died or stopped.
- `sysv`: /proc/sysvipc lists a new object.
- `hang`: the execution outlives its wall limit. `outsize`: the executor keeps more output than
  its limit, or its own memory grows by more.
- `benign_sees`: the program is run twice and the second run prints PERSISTED.
- `benign_tainted`: a benign control that follows fails.
- `verdict_passed`: the tests passed, though their answers cannot be known.
- `infra`: the verdict blames us (`sandbox_error`) or is missing.

Whatever its own `success`, no attack may end in a hang, a dead service or an infrastructure error.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

PROGRAMS = Path(__file__).parent / "programs"
CONTROLS = Path(__file__).parent / "benign"

CATEGORIES = (
    "secrets",
    "cross-execution",
    "process",
    "side-channel",
    "result-channel",
    "filesystem",
    "persistence",
    "ipc",
    "network",
    "kernel-surface",
    "resource",
    "output",
    "crash",
    "reward-hack",
)
KINDS = ("stdio", "function")
SUCCESSES = {
    "marker",
    "canary:ENV",
    "canary:FILE",
    "canary:EXPECT",
    "canary:VICTIM",
    "net:tcp",
    "net:udp",
    "net:unix",
    "proc_alive",
    "service_dead",
    "victim_dead",
    "hang",
    "outsize",
    "zombies",
    "sysv",
    "modechanged",
    "benign_sees",
    "benign_tainted",
    "verdict_passed",
    "infra",
}
REASONS = {
    "wrong_answer",
    "runtime_error",
    "compile_error",
    "time_limit_exceeded",
    "memory_limit_exceeded",
    "output_limit_exceeded",
    "invalid_output",
    "sandbox_violation",
    "no_code",
}
PLACEHOLDERS = (
    "{SECRET_FILE}",
    "{TCP_PORT}",
    "{UDP_PORT}",
    "{UNIX_SOCKET}",
    "{PARENT_PID}",
    "{VICTIM_MARK}",
    "{OUTSIDE_DIR}",
)

STDIO_TESTS = ("exact", "tokens", "float")
"""Checkers of the stdio problem with input "3 1 2" and output {EXPECT}, or {NUMBER} for `float`."""

FUNCTION_TESTS = {
    "equal": "assert solve([3, 1, 2]) == {EXPECT}\n",
    "not_unequal": "assert not solve([3, 1, 2]) != {EXPECT}\n",
    "tolerance": "assert abs(solve([3, 1, 2]) - {NUMBER}) < 1e-6\n",
    "isclose": "import math\nassert math.isclose(solve([3, 1, 2]), {NUMBER}, abs_tol=1e-6)\n",
    "membership": "assert solve([3, 1, 2]) in [{EXPECT}]\n",
    "contains": "assert {EXPECT} in solve([3, 1, 2])\n",
    "ordering": "result = solve([3, 1, 2])\nassert {NUMBER} - 1e-6 <= result <= {NUMBER} + 1e-6\n",
    "elements": "assert [str(item) for item in solve([3, 1, 2])] == list({EXPECT})\n",
    "check": (
        "def check(candidate):\n"
        "    expected = {EXPECT}\n"
        "    assert candidate([3, 1, 2]) == expected\n"
        "    assert candidate([1]) == expected[::-1]\n\n"
        "check(solve)\n"
    ),
    "unittest": (
        "import unittest\n\n\n"
        "class TestSolve(unittest.TestCase):\n"
        "    def test_token(self):\n"
        "        self.assertEqual(solve([3, 1, 2]), {EXPECT})\n\n"
        "    def test_list(self):\n"
        "        self.assertListEqual(solve([1]), [{EXPECT}])\n"
    ),
    "expected_failure": (
        "import unittest\n\n\n"
        "class TestSolve(unittest.TestCase):\n"
        "    @unittest.expectedFailure\n"
        "    def test_token(self):\n"
        "        self.assertNotEqual(solve([3, 1, 2]), {EXPECT})\n"
    ),
    "import": "from solution import solve\n\nassert solve([3, 1, 2]) == {EXPECT}\n",
    "raises": (
        "class Unknown(Exception):\n"
        "    pass\n\n\n"
        "try:\n"
        "    solve([3, 1, 2])\n"
        "except Unknown:\n"
        "    pass\n"
        "else:\n"
        "    raise AssertionError('nothing was raised')\n"
    ),
    "round_trip": "assert solve(solve([3, 1, 2])) == {EXPECT}\n",
    "mapped": "assert all(map(lambda case: solve(case[0]) == case[1], [([3, 1, 2], {EXPECT})]))\n",
    "sorted_argument": "values = [3, 1, 2]\nassert solve(values) == sorted(values)\n",
    "shared_expected": (
        "values = [3, 1, 2]\n"
        "expected = [values, {EXPECT}]\n"
        "result = solve(expected)\n"
        "assert result == expected and result[1] == {EXPECT} + 'x'\n"
    ),
}
"""Assert code for a function `solve`; {EXPECT} is the repr of CANARY-EXPECT-... with a random tail,
{NUMBER} that of a random float.

`equal` should be run as a function case as well. No honest program passes any of them, except
`sorted_argument`, which the attacks on it do not try to pass honestly.
"""


class HeaderError(ValueError):
    """The header of a program is missing or has a value that cannot be used; names the file."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A hostile program, its aim, and the reasons that a right verdict may have."""

    name: str
    category: str
    kind: str
    """`stdio` for a whole program, `function` for one that defines `solve`."""
    success: str
    expected: frozenset[str]
    summary: str
    source: str
    test: str
    """The impossible problem it is run against: one of `STDIO_TESTS` or `FUNCTION_TESTS`."""
    compiles: bool


@dataclass(frozen=True, kw_only=True)
class Control:
    """A benign program, which must pass."""

    name: str
    summary: str
    stdin: str
    expected_stdout: str
    requires: tuple[str, ...]
    """Modules that it imports from outside the standard library."""
    scratch: bool
    """Whether it writes files into its current directory."""
    source: str


def load(programs: Path = PROGRAMS) -> list[Attack]:
    """Every attack, by category and name. Raises HeaderError for the first bad header."""
    attacks = [_attack(path) for path in programs.glob("*/*.py")]
    return sorted(attacks, key=lambda attack: (CATEGORIES.index(attack.category), attack.name))


def load_controls(controls: Path = CONTROLS) -> list[Control]:
    """Every benign control, by name. Raises HeaderError for the first bad header."""
    return [_control(path) for path in sorted(controls.glob("*.py"))]


def _attack(path: Path) -> Attack:
    source = path.read_bytes().decode()
    header = _Header(path, source, "attack")
    category = header.choice("category", CATEGORIES)
    if category != path.parent.name:
        raise header.error(f"category is {category!r}, but the file lies in {path.parent.name!r}")
    kind = header.choice("kind", KINDS)
    tests = STDIO_TESTS if kind == "stdio" else tuple(FUNCTION_TESTS)
    attack = Attack(
        name=path.stem,
        category=category,
        kind=kind,
        success=header.success(),
        expected=header.reasons(),
        summary=header.take("summary", str),
        source=source,
        test=header.choice("test", tests, default=tests[0]),
        compiles=header.take("compiles", bool, default=True),
    )
    header.end()
    return attack


def _control(path: Path) -> Control:
    source = path.read_bytes().decode()
    header = _Header(path, source, "control")
    control = Control(
        name=path.stem,
        summary=header.take("summary", str),
        stdin=header.take("stdin", str, default=""),
        expected_stdout=header.take("expected_stdout", str) * header.take("repeat", int, default=1),
        requires=tuple(header.take("requires", list, default=[])),
        scratch=header.take("scratch", bool, default=False),
        source=source,
    )
    header.end()
    return control


T = TypeVar("T")


class _Header:
    """The TOML between `# /// <kind>` and `# ///`, taken field by field."""

    def __init__(self, path: Path, source: str, kind: str) -> None:
        self.path = path
        found = re.match(rf"# /// {kind}\n((?:#(?: .*)?\n)*?)# ///\n", source)
        if not found:
            raise self.error(f"expected a header from '# /// {kind}' to '# ///' at the top")
        text = "".join(line[2:] or "\n" for line in found[1].splitlines(keepends=True))
        try:
            self.fields: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise self.error(f"the header is not TOML: {error}") from error

    def error(self, message: str) -> HeaderError:
        return HeaderError(f"{self.path}: {message}")

    def take(self, field: str, expected: type[T], *, default: T | None = None) -> T:
        value = self.fields.pop(field, default)
        if value is None:
            raise self.error(f"{field} is missing")
        if type(value) is not expected:
            raise self.error(f"{field} is {value!r}, expected a {expected.__name__}")
        return value

    def choice(self, field: str, among: tuple[str, ...], *, default: str | None = None) -> str:
        value = self.take(field, str, default=default)
        if value not in among:
            raise self.error(f"{field} is {value!r}, expected one of {', '.join(among)}")
        return value

    def success(self) -> str:
        value = self.take("success", str)
        if value in SUCCESSES or value.removeprefix("file:") not in ("", value):
            return value
        among = ", ".join(sorted(SUCCESSES))
        raise self.error(f"success is {value!r}, expected file:<glob> or one of {among}")

    def reasons(self) -> frozenset[str]:
        values = self.take("expected", list)
        if not values or not all(isinstance(value, str) for value in values):
            raise self.error(f"expected is {values!r}, expected a list of reasons")
        if unknown := set(values) - REASONS:
            raise self.error(
                f"expected holds {', '.join(sorted(unknown))}, which is not a reason; "
                f"these are: {', '.join(sorted(REASONS))}"
            )
        return frozenset(values)

    def end(self) -> None:
        if self.fields:
            raise self.error(f"the header has unknown fields: {', '.join(sorted(self.fields))}")
