"""verifier-service score: a file without a server, interrupted and gone on with."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.verifier_service.test_large_requests import without_seconds
from tests.verifier_service.test_scheduler import WatchedPool
from verifier_service.cli import run
from verifier_service.commands import score as score_command
from verifier_service.engine.scheduler import Scheduler
from verifier_service.file_scoring import (
    ROWS_PER_REQUEST,
    BadFile,
    count_verdicts,
    read_groups,
    resume,
    score_rows,
    with_profiles,
)
from verifier_service.profiles import read_profiles
from verifier_service.schemas import Group
from verifier_service.verifiers import VERIFIERS
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.format import Format
from verifier_service.workers.tasks import EncodedTask, TaskResult

ROWS: list[dict[str, Any]] = [
    {"id": "a", "completion": r"so \boxed{2}", "answer": "2"},
    {"id": 7, "completions": ["3", "2"], "reference": {"answer": "2"}},
    {"completions": [], "answer": "2"},
    {"completion": [{"role": "assistant", "content": "It is 5."}], "answer": ["5", "6"]},
]
LINE_ENDS = "\u2028\u2029\x85"
"""Ends of lines to Unicode, none to JSON, which lets them stand in a text as they are."""


def score(
    rows: Path, out: Path, *flags: str, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "verifier_service", "score", str(rows), "--out", str(out)]
    verifiers = ("--verifier", "accuracy", "--verifier", '{"type": "format", "weight": 0.5}')
    return subprocess.run(
        [*command, *(flags or verifiers), "--workers", "1"],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def lines_of(out: Path) -> list[str]:
    return out.read_text().removesuffix("\n").split("\n")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)) + "\n\n")
    return path


def test_a_file_gets_the_verdicts_of_the_service(
    rows: Path, tmp_path: Path, http: httpx.Client
) -> None:
    result = score(rows, tmp_path / "out.jsonl")
    assert (result.returncode, result.stderr) == (0, "")
    lines = [json.loads(line) for line in lines_of(tmp_path / "out.jsonl")]
    assert [line.pop("index") for line in lines] == [0, 1, 2, 3]
    groups = [
        {"id": "a", "reference": {"answer": "2"}, "completions": [ROWS[0]["completion"]]},
        {"id": "7", "reference": {"answer": "2"}, "completions": ["3", "2"]},
        {"reference": {"answer": "2"}, "completions": []},
        {"reference": {"answer": ["5", "6"]}, "completions": [ROWS[3]["completion"]]},
    ]
    verifiers = [{"type": "accuracy"}, {"type": "format", "weight": 0.5}]
    answer = http.post("/v1/score", json={"verifiers": verifiers, "groups": groups}).json()
    assert without_seconds(lines) == without_seconds(answer["groups"])
    assert "accuracy: 3 scored/equal, 1 scored/different" in result.stdout


@pytest.mark.slow
def test_rows_come_from_standard_input_and_verdicts_go_to_standard_output(rows: Path) -> None:
    result = score(Path("-"), Path("-"), stdin=rows.read_text())
    assert result.returncode == 0, result.stderr
    found = [json.loads(line)["index"] for line in result.stdout.splitlines()]
    assert sorted(found) == [0, 1, 2, 3]
    assert "accuracy: 3 scored/equal, 1 scored/different" in result.stderr


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_was(rows: Path, tmp_path: Path) -> None:
    """The last line was being written; one verdict had failed."""
    row = {"id": LINE_ENDS, "completion": rf"\boxed{{2 {LINE_ENDS}}}", "answer": "2"}
    rows.write_text(rows.read_text() + json.dumps(row) + "\n")
    out = tmp_path / "out.jsonl"
    score(rows, out)
    assert LINE_ENDS in out.read_text()
    complete = {json.loads(line)["index"]: line for line in lines_of(out)}
    failed = json.loads(complete[1])
    failed["completions"][0]["verdicts"]["accuracy"] = {"outcome": "failed", "reason": "deadline"}
    kept = (complete[4], complete[0], json.dumps(failed), complete[2], complete[3][:-9])
    out.write_text("\n".join(kept))
    result = score(rows, out)
    assert "3 rows were scored before" in result.stdout
    found = [json.loads(line) for line in lines_of(out)]
    assert sorted(line["index"] for line in found) == [0, 1, 2, 3, 4]
    expected = [json.loads(complete[index]) for index in range(5)]
    found.sort(key=lambda line: int(line["index"]))
    assert without_seconds(found) == without_seconds(expected)


@pytest.mark.slow
def test_a_weight_follows_its_verifier(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    result = score(rows, out, "--verifier", "accuracy=0.5,format=0", "--verifier", "tag_count")
    assert (result.returncode, result.stderr) == (0, "")
    lines = sorted(map(json.loads, lines_of(out)), key=lambda line: int(line["index"]))
    rewards = [one["reward"] for line in lines for one in line["completions"]]
    assert rewards == [0.5, 0.0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ("--verifier", "acuracy"),
            "--verifier 0: no type 'acuracy'; did you mean 'accuracy'? There are 'accuracy', ",
        ),
        (("--profile", "maths"), "no profile 'maths'"),
        (("--profile", "maths"), "did you mean 'math'?"),
        (("--verifier", "accuracy=half"), "expected a number behind the ="),
        (
            ("--profile", "math", "--verifier", "format"),
            "give --verifier (one or more) or --profile, and not both",
        ),
    ],
)
def test_a_wrong_wish_ends_with_status_2(
    rows: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    message: str,
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["score", str(rows), "--out", str(tmp_path / "out.jsonl"), *flags])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_each_message_is_about_its_own_file(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refusal(rows: Path, out: Path) -> str:
        with pytest.raises(SystemExit) as ended:
            run(["score", str(rows), "--out", str(out), "--verifier", "accuracy", "--workers", "1"])
        assert ended.value.code == 2
        return capsys.readouterr().err

    nowhere, out = tmp_path / "nowhere", tmp_path / "out.jsonl"
    assert refusal(rows, nowhere / "out.jsonl") == (
        f"{nowhere}/out.jsonl: No such file or directory\n"
    )
    assert refusal(nowhere, out) == f"{nowhere}: No such file or directory\n"
    assert refusal(rows, rows) == f"{rows} has the rows to be scored: choose another --out\n"
    rows.write_text('{"completion": "x"}\n{"completion": \n')
    told = "expected a row in JSON: EOF while parsing a value at column 14"
    assert refusal(rows, out) == f"{rows}: line 2: {told}\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7", "line 2: found int, expected an object"),
        ("{", "line 2: "),
        ("{}", "line 2: expected `completion` or `completions`; there are: no keys"),
        (
            '{"response": "2"}',
            "line 2: expected `completion` or `completions`; there are: response. ",
        ),
        ('{"completion": "2", "completions": []}', "line 2: expected either `completion` or"),
        ('{"completion": 7}', "line 2: completions.0"),
        ('{"completion": "\\ud800"}', "line 2: "),
        ('{"completion": "x", "answer": ' + "[" * 100_000, "line 2: "),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"completion": "x"}}\n{line}\n')
    with pytest.raises(BadFile) as raised:
        read_groups(path)
    assert str(raised.value).startswith(message)


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"completion": "2", "answer": "2"}\r\n')
    assert [group.reference for group in read_groups(path)] == [{"answer": "2"}]


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"completion": "2", "answer": "2"}\n'))
    assert len(read_groups(path)) == 1
    for broken in (path.read_bytes()[:-9], b'{"completion": "2"}\n'):
        path.write_bytes(broken)
        with pytest.raises(BadFile, match="the file is not gzip as its name says"):
            read_groups(path)


@pytest.mark.slow
def test_rows_that_were_changed_after_their_verdicts_are_told(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    rows.write_text('{"completion": "2", "answer": "2"}\n')
    score(rows, out, "--verifier", "accuracy")
    rows.write_text('{"completion": "3", "answer": "2"}\n')
    os.utime(rows, (out.stat().st_mtime + 1,) * 2)
    told = score(rows, out, "--verifier", "accuracy").stdout
    assert f"1 rows were scored before; {rows} was changed since, and {out} keeps" in told


@pytest.mark.slow
def test_rows_of_a_pipe_are_not_taken_for_changed_ones(tmp_path: Path) -> None:
    """The time of a pipe is that of its last byte."""
    out = tmp_path / "out.jsonl"
    row = '{"completion": "2", "answer": "2"}\n'
    score(Path("-"), out, "--verifier", "accuracy", stdin=row)
    os.utime(out, (0, 0))
    told = score(Path("-"), out, "--verifier", "accuracy", stdin=row).stdout
    assert told.startswith("1 rows were scored before\n")


def test_a_bad_row_of_standard_input_is_told_as_such(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(score_command, "input_file", lambda _: Path(os.devnull))
    with pytest.raises(SystemExit):
        run(["score", "-", "--verifier", "accuracy"])
    assert capsys.readouterr().err == "standard input: there are no rows\n"


def test_the_prompt_of_a_row_with_an_entry_point_is_part_of_its_reference(tmp_path: Path) -> None:
    """Tests may call what it defines."""
    row = {"prompt": "def a(): ...", "completion": "x", "test": "assert f() == a()"}
    for more, prompt in (({"entry_point": "f"}, "def a(): ..."), ({}, None)):
        path = tmp_path / "rows.jsonl"
        path.write_text(json.dumps({**row, **more}))
        (group,) = read_groups(path)
        assert group.reference.get("prompt") == prompt


def test_a_file_is_not_held_to_what_may_be_pending(tmp_path: Path) -> None:
    """No other request waits for room."""
    groups = [Group(reference={"answer": "2"}, completions=["2", "3"])] * 500
    scheduler = Scheduler({"text": WatchedPool()}, max_cached_verdicts=9)
    scored: list[int] = []
    out = tmp_path / "out.jsonl"
    asyncio.run(
        score_rows(
            scheduler,
            groups,
            verifiers=[Accuracy()],
            out=out,
            done=set(),
            on_scored=scored.append,
        )
    )
    counts, _ = count_verdicts(out)
    assert counts == {
        ("accuracy", "scored", "equal"): 500,
        ("accuracy", "scored", "different"): 500,
    }
    assert sum(scored) == len(lines_of(out)) == 500


class FirstRowsPool(WatchedPool):
    """Judges the rows of the first request alone."""

    async def judge(self, encoded: EncodedTask, verdicts: list[TaskResult]) -> None:
        texts = [one.text for part in encoded.decode().parts for one in part.completions]
        if any(int(text) >= ROWS_PER_REQUEST for text in texts):
            await asyncio.Event().wait()
        await super().judge(encoded, verdicts)


def test_no_row_is_at_work_when_the_result_cannot_be_written(tmp_path: Path) -> None:
    groups = [Group(reference={"answer": "2"}, completions=[str(n)]) for n in range(500)]
    scheduler = Scheduler({"text": FirstRowsPool()}, max_cached_verdicts=9)

    def fail(_number: int) -> None:
        raise OSError("the disk is full")

    async def run() -> int:
        with pytest.raises(OSError, match="the disk is full"):
            await score_rows(
                scheduler,
                groups,
                verifiers=[Accuracy()],
                out=tmp_path / "out.jsonl",
                done=set(),
                on_scored=fail,
            )
        return len(asyncio.all_tasks())

    assert asyncio.run(run()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--out", "-")])
def test_without_a_file_the_verdicts_go_to_standard_output(
    rows: Path, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    command = [sys.executable, "-m", "verifier_service", "score", str(rows), *flags]
    result = subprocess.run(
        [*command, "--verifier", "accuracy", "--workers", "1"],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
    )
    assert result.returncode == 0
    assert [json.loads(line)["index"] for line in result.stdout.splitlines()] == [0, 1, 2, 3]
    assert "accuracy: 3 scored/equal, 1 scored/different" in result.stderr
    assert list(tmp_path.iterdir()) == [rows]


@pytest.mark.slow
def test_a_file_of_which_nothing_can_be_judged_says_why(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    rows.write_text('{"completion": "2", "anwser": "2"}\n{"completion": "3", "answre": "2"}\n')
    nothing = score(rows, out, "--verifier", "accuracy")
    assert nothing.returncode == 1
    expected = [
        "accuracy: 2 unverifiable/missing_reference",
        "  unverifiable/missing_reference: row 1: reference.answer is needed; there are: anwser",
    ]
    assert nothing.stdout.strip().splitlines() == expected
    again = score(rows, out, "--verifier", "accuracy")
    assert again.returncode == 1
    assert again.stdout.strip().splitlines() == ["2 rows were scored before", *expected]
    out.unlink()
    something = score(rows, out, "--verifier", "accuracy,format")
    assert something.returncode == 0
    assert "format: 2 scored/missing_tag" in something.stdout


@pytest.mark.parametrize(
    "line",
    ["{}", '{"index": 9, "completions": []}', '{"index": 0, "completions": [{"verdicts": {}}]}'],
)
def test_a_result_of_something_else_is_not_overwritten(tmp_path: Path, line: str) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text(line + "\n")
    with pytest.raises(BadFile, match=r"line 1 is .*; choose another --out or delete it"):
        resume(out, [Format()], [Group(completions=[])] * 2)
    assert out.read_text() == line + "\n"


@pytest.mark.slow
def test_rows_choose_their_verifiers(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    chosen = [
        {"completion": r"\boxed{2}", "answer": "2", "profile": "accuracy"},
        {"completion": "<answer>B</answer>", "answer": "B", "verifiers": ["exact_match"]},
    ]
    rows.write_text("".join(json.dumps(row) + "\n" for row in chosen))
    command = [sys.executable, "-m", "verifier_service", "score", str(rows), "--workers", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line)["completions"][0]["verdicts"] for line in done.stdout.splitlines()]
    assert [list(verdicts) for verdicts in found] == [["accuracy"], ["exact_match"]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({}, "row 1 names no `verifiers` or `profile`: give --verifier or --profile"),
        ({"profile": "maths"}, "row 1: no profile 'maths'"),
        ({"profile": "math", "verifiers": ["accuracy"]}, "either `verifiers` or `profile`"),
        ({"verifiers": "accuracy"}, "verifiers: expected a list"),
        ({"verifiers": ["acuracy"]}, "did you mean 'accuracy'?"),
    ],
)
def test_a_wrong_choice_of_a_row_is_named(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"completion": "2", "answer": "2", **row}) + "\n")
    with pytest.raises(ValueError, match=re.escape(message)):
        with_profiles(read_groups(rows), [], read_profiles(None, VERIFIERS))
