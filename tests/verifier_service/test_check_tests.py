"""`verifier-service check-tests`: reference solutions that their own tests do not accept."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.shared_data import shared_data
from tests.verifier_service.test_code import module_of
from verifier_service import cli
from verifier_service.code.check_tests import BadRows, read_rows
from verifier_service.commands import check_tests

Check = Callable[..., CompletedProcess[str]]
SUCCESSOR = "def f(x): return x + 1"
NEEDS_STDOUT = {"type": "stdio", "cases": [{"stdin": "", "stdout": "4"}]}


def asserts(code: str) -> dict[str, str]:
    return {"type": "asserts", "code": code}


def write(path: Path, rows: list[Any]) -> Path:
    file = path / "problems.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """How the command ends for a file and arguments, in the process of the test."""
    monkeypatch.setattr(check_tests, "hide_process", lambda: None)

    def ended(file: Path, *arguments: str) -> CompletedProcess[str]:
        command = ["check-tests", str(file), *arguments]
        with pytest.raises(SystemExit) as raised:
            cli.run(command)
        assert isinstance(raised.value.code, int)
        return CompletedProcess(command, raised.value.code, *capsys.readouterr())

    return ended


@pytest.mark.slow
def test_solutions_that_pass_end_with_status_0(tmp_path: Path) -> None:
    """The command runs in a process of its own, as a user starts it."""
    rows = [
        {"solution": SUCCESSOR, "tests": asserts("assert f(1) == 2")},
        {"solution": f"So:\n```python\n{SUCCESSOR}\n```\n", "tests": asserts("assert f(1) == 2")},
        {"solution": "print(4)", "tests": NEEDS_STDOUT},
    ]
    file = write(tmp_path, rows)
    command = [sys.executable, "-m", "verifier_service", "check-tests", str(file)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "3 rows: 3 passed\n")


@pytest.mark.slow
def test_each_misfit_has_its_row_reason_and_detail(tmp_path: Path, check: Check) -> None:
    rows = [
        {"id": "right", "solution": SUCCESSOR, "tests": asserts("assert f(1) == 2")},
        {"id": "wrong", "solution": "print(3)", "tests": NEEDS_STDOUT},
        {"task_id": "bad", "solution": "", "tests": {"type": "stdio", "cases": [{"stdin": ""}]}},
        {"solution": "def f(g): return g(1)", "tests": asserts("assert f(abs) == 1")},
        {"solution": "while True: pass", "tests": NEEDS_STDOUT},
        {"solution": SUCCESSOR, "tests": asserts("assert f('') == ''")},
        {
            "solution": SUCCESSOR,
            "tests": {
                "type": "function",
                "entry_point": "f",
                "cases": [{"args": [1], "returns": 2}, {"args": [2], "returns": "4"}],
            },
        },
    ]
    result = check(write(tmp_path, rows), "--workers", "2")
    assert result.stdout.splitlines() == [
        "row 2 (wrong): wrong_answer: test 1: 3; expected 4",
        "row 3 (bad): bad_reference: tests.cases.0.stdout: Field required",
        "row 4: unsupported_test: test 1: passed to the program: a function or an object of the "
        "tests, which the program would have to call or to compare",
        "row 5: time_limit_exceeded: test 1; expected 4",
        'row 6: runtime_error: test 1: TypeError: can only concatenate str (not "int") to str',
        "row 7: wrong_answer: test 2: returned 3; expected '4'",
        "7 rows: 1 passed, 2 wrong_answer, 1 bad_reference, 1 unsupported_test, "
        "1 time_limit_exceeded, 1 runtime_error",
    ]
    assert result.returncode == 1


NO_KNOWN_FORM = [
    ({"type": "pytest"}, "tests: no type 'pytest'; there are 'stdio', 'interactive', "),
    ({"cases": []}, "tests: it has no 'type'; tests are {type: stdio, cases}, "),
    ("assert f()", "tests: Input should be "),
    ({"inputs": ["1"], "outputs": []}, "tests: `inputs` and `outputs` must be lists of the "),
    (None, "tests is empty"),
]


def test_tests_of_no_known_form_are_told_the_forms(tmp_path: Path, check: Check) -> None:
    rows = [{"solution": SUCCESSOR, "tests": tests} for tests, _ in NO_KNOWN_FORM]
    lines = check(write(tmp_path, rows)).stdout.splitlines()
    for line, (_, message) in zip(lines[:-1], NO_KNOWN_FORM, strict=True):
        assert message in line


@pytest.mark.slow
def test_columns_can_be_named(tmp_path: Path, check: Check) -> None:
    file = write(tmp_path, [{"code": SUCCESSOR, "checks": asserts("assert f(1) == 2")}])
    result = check(file, "--solution-column", "code", "--tests-column", "checks")
    assert (result.returncode, result.stdout) == (0, "1 rows: 1 passed\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "row 2: not JSON: Expecting property name"),
        ("[" * 100_000, "row 2: nested too deeply to be read"),
        ("[]", "row 2: found list, expected an object"),
        ('{"tests": {}}', "row 2: no column 'solution'; there are tests"),
        ('{"solution": ""}', "row 2: no column 'tests'; there are solution"),
        ('{"solution": 3, "tests": {}}', "row 2: 'solution': found int, expected text"),
    ],
)
def test_a_bad_row_is_named_with_its_field(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "problems.jsonl"
    file.write_text(f'{{"solution": "", "tests": {{}}}}\n\n{line}\n')
    with pytest.raises(BadRows, match=f"^{message}"):
        read_rows(file, solution_column="solution", tests_column="tests")


def test_what_is_wrong_with_many_rows_is_said_once(tmp_path: Path) -> None:
    file = write(tmp_path, [{"solution": "", "tests": {}}] * 3)
    with pytest.raises(BadRows) as raised:
        read_rows(file, solution_column="sol", tests_column="tests")
    assert str(raised.value) == "row 1 and 2 more: no column 'sol'; there are solution, tests"


@pytest.mark.slow
def test_what_cannot_be_read_ends_with_status_2_and_no_traceback(
    tmp_path: Path, check: Check
) -> None:
    missing = check(tmp_path / "nowhere.jsonl")
    empty = check(write(tmp_path, []))
    assert (missing.returncode, empty.returncode) == (2, 2)
    assert missing.stderr == f"{tmp_path}/nowhere.jsonl: No such file or directory\n"
    assert empty.stderr == f"{tmp_path}/problems.jsonl: there are no rows\n"
    assert "Traceback" not in missing.stderr


@pytest.mark.slow
def test_a_sandbox_that_fails_ends_with_status_2(tmp_path: Path) -> None:
    """Solutions that name numpy need packages, of which one is not there."""
    rows = [{"solution": "import numpy", "tests": NEEDS_STDOUT}] * 3
    file = write(tmp_path, rows)
    code = (
        "from verifier_service.cli import run\n"
        "from verifier_service.sandbox.execution import ZygoteKind\n"
        "from verifier_service.sandbox.python_packages import PACKAGES\n"
        "PACKAGES[ZygoteKind.SCI] = ('numpy', 'numpy_that_nobody_installed')\n"
        f"run(['check-tests', {str(file)!r}, '--workers', '2'])\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2, result.stdout
    assert "numpy_that_nobody_installed, which is not installed" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_all_canonical_solutions_of_humaneval_pass(tmp_path: Path, check: Check) -> None:
    rows = [
        {
            "task_id": row["task_id"],
            "solution": row["prompt"] + row["canonical_solution"],
            "tests": {**asserts(row["test"]), "entry_point": row["entry_point"]},
        }
        for row in shared_data("code/humaneval.jsonl.gz")
    ]
    result = check(write(tmp_path, rows))
    assert (result.stdout, result.returncode) == ("164 rows: 164 passed\n", 0)


@pytest.mark.slow
def test_at_most_4_exercism_tasks_are_misfits_all_unsupported(tmp_path: Path, check: Check) -> None:
    rows = [
        {
            "id": row["id"],
            "solution": row["code"],
            "tests": {**asserts(row["tests"]), "module": module_of(row)},
        }
        for row in shared_data("code/exercism.jsonl.gz")
        if row["label"]
    ]
    misfits = check(write(tmp_path, rows)).stdout.splitlines()[:-1]
    assert len(misfits) <= 4
    assert all(": unsupported_test: " in misfit for misfit in misfits)
