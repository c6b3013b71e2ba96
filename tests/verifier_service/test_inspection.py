"""verifier-service inspect: sources, findings by row, resumption, and the files that it writes."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import gzip
import hashlib
import json
import re
import string
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.data_set_rows import DATA_SET_ROWS, DataSetRow
from tests.growth import assert_linear
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.problems import load_problems
from verifier_adapters.reference import reference_of, selection_of
from verifier_service.cli import run
from verifier_service.completion import Completion
from verifier_service.console import BadInput
from verifier_service.engine.scheduler import Scheduler
from verifier_service.inspection.columns import language_of, messages_of, prompt_of, solve_rate_of
from verifier_service.inspection.duplicates import SeenProblems
from verifier_service.inspection.findings import FindingKind, RowFinding
from verifier_service.inspection.inspection import Inspection, InspectionOptions, inspect_rows
from verifier_service.inspection.judging import KeptVerdicts
from verifier_service.inspection.normal_forms import exact_tokens, loose_tokens
from verifier_service.inspection.prepared_row import prepare
from verifier_service.inspection.probes import ProbeOptions, probes_of
from verifier_service.inspection.report import page
from verifier_service.inspection.row_files import clean_row, write_clean
from verifier_service.inspection.sources import DataSource, SourceRow
from verifier_service.inspection.stated_answers import states
from verifier_service.inspection.summary import summary_of, summary_text
from verifier_service.inspection.trivial_programs import trivial_programs
from verifier_service.reference_formats.reading import read_row, resolved
from verifier_service.reference_formats.reference_format import RowReading
from verifier_service.settings import EngineSettings
from verifier_service.verifier import Judgement, TextVerifier
from verifier_service.verifiers import VERIFIERS
from verifier_service.worker_pools import start_pools

OPTIONS = ProbeOptions("boxed", "python", slow_seconds=1.0)
SOUND = {"problem": "What is 6 times 7?", "answer": "42", "id": "a"}
PLUS: dict[str, Any] = {
    "question": "Add the numbers.",
    "tests": {"type": "asserts", "code": "assert add(1, 2) == 3\nassert add(3, 4) == 7"},
    "solution": "def add(a, b):\n    return a + b",
}


def inspect(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "verifier_service", "inspect", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def write(path: Path, *rows: Any) -> Path:
    path.write_text(
        "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in rows)
    )
    return path


def rows_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_a_command_finds_defects_resumes_and_writes_what_is_usable(tmp_path: Path) -> None:
    """Every kind of finding has its rows in test_planted_defects."""
    data = write(
        tmp_path / "rows.jsonl",
        SOUND,
        PLUS,
        "{broken",
        {"problem": "Three plus one? (Answer: 4)", "answer": 4},
        {"problem": "Which is it?", "answer": "proof"},
        {"image": "x.png", "label": 3},
        PLUS | {"question": "Add again.", "solution": "def add(a, b):\n    return a - b"},
    )
    clean, findings = tmp_path / "clean.jsonl", tmp_path / "findings.jsonl"
    verdicts = tmp_path / "verdicts.jsonl"
    flags = ("--write", clean, "--findings", findings, "--verdicts", verdicts, "--min-tests", 2)
    first = inspect(data, *flags)
    assert (first.returncode, first.stderr) == (1, "")
    assert first.stdout.startswith("7 rows: 5 unusable, 2 kept\n")
    assert "mend the tests or the solution" in first.stdout
    assert re.search(r"^ +row 7: ", first.stdout, re.MULTILINE)
    found = {one["row"]: [each["kind"] for each in one["findings"]] for one in rows_in(findings)}
    assert found == {
        3: ["unreadable_row"],
        4: ["given_away"],
        5: ["bad_reference"],
        6: ["unknown_shape"],
        7: ["solution_fails"],
    }
    messages = {one["row"]: one["findings"][0]["message"] for one in rows_in(findings)}
    assert "its columns: image, label; nearest: " in messages[6]
    assert messages[7] == "wrong_answer in test 1"
    kept = rows_in(clean)
    assert [one["id"] for one in kept] == ["a", "1"]
    assert kept[0]["prompt"] == [{"role": "user", "content": SOUND["problem"]}]

    lines = verdicts.read_text().splitlines(keepends=True)
    verdicts.write_text("".join(lines[:3]) + lines[3][:-20])
    again = inspect(data, *flags)
    assert (again.returncode, again.stdout) == (1, first.stdout)
    assert len(verdicts.read_text().splitlines()) == 7

    other = write(tmp_path / "other.jsonl", SOUND | {"answer": "43"})
    refused = inspect(other, "--verdicts", verdicts)
    assert refused.returncode == 2
    assert f"{verdicts}: line 1 is of other rows or options; choose another" in refused.stderr

    alone = inspect(clean, "--min-tests", 2)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    assert "2 rows: 0 unusable, 2 kept" in alone.stdout


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("nowhere.jsonl",), "nowhere.jsonl: no such file"),
        (("{data}", "--column", "answer"), "--column: found 'answer', expected NAME=COLUMN"),
        (("{data}", "--reference-format", "awnser"), "did you mean 'answer'?"),
        (("{data}", "--write", "{data}"), "is read by this command: choose another file"),
        (("{data}", "--verdicts", "{other}"), "line 1 is not of an earlier run"),
        # The command starts its workers before it reads a row.
        pytest.param(("{empty}",), "empty.jsonl: there are no rows", marks=pytest.mark.slow),
    ],
)
def test_wrong_arguments_end_with_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], message: str
) -> None:
    places = {
        "data": write(tmp_path / "rows.jsonl", SOUND),
        "other": write(tmp_path / "other.jsonl", {"x": 1}),
        "empty": write(tmp_path / "empty.jsonl"),
    }
    with pytest.raises(SystemExit) as ended:
        run(["inspect", *(flag.format(**places) for flag in flags), "--workers", "1"])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_column_that_no_row_has_is_told(tmp_path: Path) -> None:
    data = write(tmp_path / "rows.jsonl", SOUND)
    with pytest.raises(BadInput, match="--column: no row has a column 'gold'; there are "):
        columns_of(DataSource(str(data), renamed=(("answer", "gold"),)))
    moved = columns_of(DataSource(str(data), renamed=(("prompt", "problem"),)))
    assert moved == [{"prompt": SOUND["problem"], "answer": "42", "id": "a"}]


def test_a_file_of_another_kind_is_refused_and_one_without_a_suffix_read(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("prompt,answer\n1 + 1,2\n")
    with pytest.raises(BadInput, match=r"rows\.csv: no rows in JSON; files of \.jsonl, "):
        list(DataSource(str(table)).rows())
    lines = tmp_path / "rows"
    lines.write_text('\ufeff {"prompt": "1 + 1", "answer": "2"}\n', encoding="utf-8")
    [row] = DataSource(str(lines)).rows()
    assert row.columns == {"prompt": "1 + 1", "answer": "2"}


@pytest.mark.parametrize("text", ["mine", '{"x": 1}', "1\n"])
def test_a_file_of_something_else_is_not_cut(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(BadInput, match="line 1 is not of an earlier run"):
        KeptVerdicts(path)
    assert path.read_text() == text


def columns_of(source: DataSource) -> list[dict[str, Any]]:
    return [one.columns for one in source.rows()]


def test_every_kind_of_source_has_the_same_rows(tmp_path: Path) -> None:
    import datasets  # noqa: PLC0415

    rows = [{"problem": f"{number}?", "answer": str(number)} for number in range(5)]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "rows.jsonl").write_text(text)
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    table = datasets.Dataset.from_list(rows)
    table.to_parquet(tmp_path / "rows.parquet")
    table.save_to_disk(str(tmp_path / "saved"))
    datasets.DatasetDict({"test": table}).save_to_disk(str(tmp_path / "splits"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "train.jsonl").write_text(text)
    for name in ("rows.jsonl", "rows.json", "rows.jsonl.gz", "rows.parquet", "saved", "folder"):
        assert columns_of(DataSource(str(tmp_path / name))) == rows, name
    splits = DataSource(str(tmp_path / "splits"), "test", max_rows=2)
    assert columns_of(splits) == rows[:2]
    with pytest.raises(BadInput, match=r"no split 'train'; there are \['test'\]"):
        columns_of(DataSource(str(tmp_path / "splits")))


def test_a_row_that_cannot_be_read_is_a_row_with_a_problem(tmp_path: Path) -> None:
    lines = ('{"a": "\\ud800"}', "[1]", "{", '{"a": NaN}', "[" * 100_000, "9" * 5000, '{"a": 1}')
    data = write(tmp_path / "rows.jsonl", *lines)
    rows = list(DataSource(str(data)).rows())
    assert [bool(one.problem) for one in rows] == [True] * 6 + [False]
    assert "found list, expected an object" in rows[1].problem


def test_dates_of_a_table_become_texts(tmp_path: Path) -> None:
    import datetime  # noqa: PLC0415

    import datasets  # noqa: PLC0415

    rows = [{"answer": "2", "day": datetime.date(2020, 1, 2)}]
    datasets.Dataset.from_list(rows).to_parquet(tmp_path / "rows.parquet")
    assert columns_of(DataSource(str(tmp_path / "rows.parquet")))[0]["day"] == "2020-01-02"


@pytest.mark.parametrize(
    "case",
    [pytest.param(one, id=one.data_set) for one in DATA_SET_ROWS if one.verifier in VERIFIERS],
)
def test_a_clean_row_keeps_its_reference(case: DataSetRow) -> None:
    row = SourceRow(3, {"prompt": "2 + 2?"} | case.row)
    found = clean_row(row, case.format, DataSource("rows.jsonl"))
    reading = read_row(found)
    assert (reading.verifier, reading.reference) == (case.verifier, case.reference)
    # What the adapters for verl and TRL make of the label.
    assert reference_of(found["reward_model"]["ground_truth"]) == case.reference


@pytest.mark.parametrize(
    "case",
    [pytest.param(one, id=one.data_set) for one in DATA_SET_ROWS if one.verifier in VERIFIERS],
)
def test_every_shape_has_probes(case: DataSetRow) -> None:
    probes = probes_of(case.row, read_row(case.row), OPTIONS)
    assert len({probe.name for probe in probes}) == len(probes) > 0


@pytest.mark.parametrize("name", ["clean.jsonl", "clean.parquet"])
def test_the_trainer_takes_clean_rows_as_they_are(tmp_path: Path, name: str) -> None:
    rows = [case for case in DATA_SET_ROWS if case.verifier in VERIFIERS]
    columns = [case.row | {"prompt": f"Problem {n}?"} for n, case in enumerate(rows)]
    source = DataSource(str(write(tmp_path / "rows.jsonl", *columns)))
    options = InspectionOptions(OPTIONS)
    assert write_clean(tmp_path / name, source, Inspection(), options) == len(rows)
    (tmp_path / "folder").mkdir()
    place = (tmp_path / name).rename(tmp_path / "folder" / name)
    path = place if place.suffix == ".jsonl" else place.parent
    config = DatasetConfig(path=str(path), problem_column="prompt", reference_format="auto")
    problems = load_problems(config)
    readings = [resolved(one.reference) for one in problems]
    assert readings == [case.reference for case in rows]


@pytest.mark.parametrize(
    "reference",
    [
        {"puzzle": "order", "order": ["owl", "jay"]},
        {"puzzle": "set", "items": ["a", 3]},
        {"puzzle": "grid", "grid": [[1, 2], [3, 4]]},
        {"puzzle": "cells", "cells": '{"Ann": {"pet": "cat"}}'},
        {"puzzle": "edges", "edges": [["a", "b"], ["b", "c"]]},
    ],
)
def test_the_solution_of_a_puzzle_is_judged_by_itself(reference: dict[str, Any]) -> None:
    (probe,) = probes_of({}, RowReading("puzzle", reference), OPTIONS)
    assert probe.name == "reference"
    assert isinstance(probe.verifier, TextVerifier)
    judgement = probe.verifier.prepare(reference)(Completion(probe.completion))
    assert isinstance(judgement, Judgement)
    assert judgement.score == 1


def test_an_entry_of_reasoning_gym_is_judged_by_its_answer() -> None:
    reference = {"dataset": "chain_sum", "entry": {"answer": "7", "metadata": {}}}
    (probe,) = probes_of({}, RowReading("reasoning_gym", reference), OPTIONS)
    assert (probe.name, probe.completion) == ("reference", "<answer>7</answer>")


def test_a_verifier_that_is_not_enabled_judges_nothing() -> None:
    options = dataclasses.replace(OPTIONS, enabled=frozenset({"code"}))
    row = prepare(SourceRow(0, SOUND), options)
    assert [one.kind for one in row.findings] == ["no_verifier"]
    assert row.probes == ()


def test_options_that_a_problem_does_not_show_are_put_behind_it() -> None:
    columns = {"question": "2 + 2?", "options": ["3", "4"], "answer": "B"}
    found = clean_row(SourceRow(0, columns), "auto", DataSource("x"))
    assert found["prompt"] == [{"role": "user", "content": "2 + 2?\nA. 3\nB. 4"}]


OWN = [{"type": "multiple_choice"}, {"type": "accuracy", "form": "same", "weight": 0.5}]


@pytest.mark.parametrize("column", [OWN, json.dumps(OWN)])
def test_a_clean_row_keeps_the_verifiers_that_it_names(column: Any) -> None:
    found = clean_row(SourceRow(0, SOUND | {"verifiers": column}), "auto", DataSource("x"))
    assert found["verifiers"] == found["extra_info"]["verifiers"] == OWN


@pytest.mark.parametrize("column", [None, [], ["Ann", "Bob"], "Ann", {"type": "accuracy"}])
def test_a_column_of_another_meaning_names_no_verifiers(column: Any) -> None:
    found = clean_row(SourceRow(0, SOUND | {"verifiers": column}), "auto", DataSource("x"))
    assert found["verifiers"] == [{"type": "accuracy"}]


def test_verifiers_with_different_options_go_into_one_parquet_file(tmp_path: Path) -> None:
    rows = [SOUND, SOUND | {"verifiers": OWN}]
    source = DataSource(str(write(tmp_path / "rows.jsonl", *rows)))
    write_clean(tmp_path / "clean.parquet", source, Inspection(), InspectionOptions(OPTIONS))
    read = [row.columns for row in DataSource(str(tmp_path / "clean.parquet")).rows()]
    assert [selection_of(one["extra_info"]) for one in read] == [
        {"verifiers": [{"type": "accuracy"}]},
        {"verifiers": OWN},
    ]


def test_problems_of_messages_and_turns() -> None:
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert prompt_of({"messages": chat}) == prompt_of({"question": [chat]}) == "a"
    assert messages_of({"prompt": chat}) == [{"role": "user", "content": "a"}]
    assert prompt_of({"prompt": [], "problem": "c"}) == "c"


@pytest.mark.parametrize(
    ("columns", "rate"),
    [
        ({"llama8b_solve_rate": 0.25}, 0.25),
        ({"pass_rate_72b_tir": "0.5"}, 0.5),
        ({"pass_rate_72b_tir": "n/a"}, None),
        ({"gpt_pass_percentage": 1.0}, 1.0),
        ({"extra_info": {"model_difficulty": {"DeepSeek": 4}}}, 0.75),
        ({"difficulty": "5/8"}, 0.625),
        ({"difficulty": "5/0"}, None),
        ({"difficulty": 5}, None),
        ({"solve_rate": True}, None),
        ({"solve_rate": "9" * 999}, None),
        ({"correctness_math_verify": [True, False]}, 0.5),
    ],
)
def test_solve_rates_are_read_as_data_sets_ship_them(
    columns: dict[str, Any], rate: float | None
) -> None:
    assert solve_rate_of(columns) == rate


def test_the_language_of_a_problem_is_none_of_programs() -> None:
    assert language_of({"language": "en"}, "python") == "python"
    assert language_of({"language": "Python3"}, "cpp") == "python"


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("What is $2+2$?", "what is 2 + 2", True),
        ("Compute the sum of 2 and 3.", "Please find the sum of 2 and 3.", True),
        ("Sum the odd numbers below 9.", "Sum the odd nubmers below 9.", True),
        ("Sum the odd numbers below 9.", "Sum the even numbers below 9.", False),
        ("Sum the odd numbers below 9.", "Sum the odd numbers below 90.", False),
        ("Find the maximum of f on [0, 1].", "Find the minimum of f on [0, 1].", False),
        ("Is x < 3 in all cases?", "Is x > 3 in all cases?", False),
        ("What is the area of triangle A here?", "What is the area of triangle B here?", False),
        ("Compute 5! + 3 now", "Compute 5 + 3 now", False),
    ],
)
def test_repeated_problems_are_told_from_their_likes(one: str, other: str, is_same: bool) -> None:
    seen = SeenProblems()
    assert seen.add(0, one, {}) is None
    assert (seen.add(1, other, {}) is not None) == is_same
    assert seen.add(2, one, {"context": "another text"}) is None


@pytest.mark.parametrize(
    ("prompt", "answer", "is_stated"),
    [
        ("Add them. (Answer: 5)", "5", True),
        ("The answer is 55.", "5", False),
        ("The answer is 5.5.", "5", False),
        ("If the answer is m/n, find m.", "m", False),
        ("The answer is a number.", "a", False),
        ("Answer: A", "A", True),
        ("Which answer is correct?", "c", False),
        ("Add 2 and 3 to get 5 = 2 + 3.", "5", False),
    ],
)
def test_an_answer_in_the_problem(prompt: str, answer: str, is_stated: bool) -> None:
    assert states(prompt, answer) is is_stated


def test_trivial_programs_define_what_tests_call() -> None:
    code = "import math\nfrom solution import add\ndef test_add():\n    assert add(1, abs(2)) == 3"
    programs = trivial_programs({"type": "asserts", "code": code})
    assert "def add(*args" in programs["return None"]
    assert "def abs" not in programs["return None"]
    printed = trivial_programs({"inputs": ["1", "2"], "outputs": ["a\n", "b\n"]})
    assert printed["print the first expected output"] == "print('a\\n', end='')"
    assert trivial_programs({"type": "asserts", "code": "assert True"}) == {}


HOSTILE = (
    ("", "the answer is "),
    ("answer: ", "("),
    ("", "\\boxed{"),
    ("", "a"),
    ("", "1,"),
    ("", "\\left "),
    ("", "?. "),
    ("", "\x00\u202e\u200b"),
)


@pytest.mark.parametrize(("before", "piece"), HOSTILE, ids=range(len(HOSTILE)))
def test_long_problems_take_linear_time(before: str, piece: str) -> None:
    def read(text: str) -> None:
        exact_tokens(text)
        loose_tokens(text)
        states(text, "42")
        SeenProblems().add(0, text, {})

    assert_linear(read, piece, before=before, num_characters=500_000)


ATTACKS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "sound": (SOUND, set()),
    "nested": (SOUND | {"extra": json.loads("[" * 200 + "]" * 200)}, {"unreadable_row"}),
    "nested less": (SOUND | {"problem": "b?", "extra": [[[["c"]]]]}, set()),
    "tower": ({"problem": "How large?", "answer": "10^{10^{10^{10}}}"}, set()),
    "digits": ({"problem": "How many digits?", "answer": "9" * 4000}, set()),
    "too long": ({"problem": "How long?", "answer": "9" * 40_000}, {"bad_reference"}),
    "alternatives": ({"problem": "Which?", "answer": [str(n) for n in range(2000)]}, set()),
    "boxes": ({"problem": "\\boxed{" * 20_000, "answer": "4"}, set()),
    "bad at first": ({"problem": "What is 2 plus 2 here?", "answer": "proof"}, {"bad_reference"}),
    "good then": ({"problem": "What is 2 plus 2 here?", "answer": "4"}, set()),
    "good again": ({"problem": "What is 2 plus 2 here?", "answer": "8/2"}, {"duplicate"}),
    "forks": (
        PLUS | {"question": "Fork.", "solution": "import os\nwhile True: os.fork()"},
        {"solution_fails", "few_tests"},
    ),
    "sign": ({"problem": "\x00\x1b[2J\u202e?", "answer": "4"}, set()),
    "name": (
        {"prompt": "?", "reward_model": {}, "reference_json": "{}", "verifier": "\x1b[2J"},
        {"unknown_shape"},
    ),
}


def inspected(data: Path) -> Inspection:
    """The inspection of a file by one worker of each kind."""

    async def judged() -> Inspection:
        async with AsyncExitStack() as stack:
            pools = await start_pools(EngineSettings(workers=1, code_workers=1), stack)
            engine = Scheduler(pools, max_cached_verdicts=0)
            return await inspect_rows(engine, DataSource(str(data)), InspectionOptions(OPTIONS))

    return asyncio.run(judged())


@pytest.mark.slow
def test_what_rows_hold_harms_nothing(tmp_path: Path) -> None:
    """A terminal does not obey what is shown of them, either."""
    inspection = inspected(write(tmp_path / "rows.jsonl", *(one for one, _ in ATTACKS.values())))
    found = inspection.findings
    kinds = {
        name: {one.kind.value for one in found.get(index, ())} for index, name in enumerate(ATTACKS)
    }
    assert "\x1b" not in summary_text(summary_of(inspection))
    assert kinds == {name: expected for name, (_, expected) in ATTACKS.items()}


def test_a_summary_counts_from_one_and_names_what_to_do() -> None:
    inspection = Inspection(num_rows=4)
    inspection.formats["answer", "accuracy"] = 4
    inspection.findings[2].append(RowFinding(FindingKind.NO_PROMPT))
    inspection.findings[3].append(RowFinding(FindingKind.DUPLICATE, "the problem of row 1"))
    inspection.solve_rates += [0.0, 0.5]
    assert (inspection.num_unusable, inspection.num_kept) == (1, 2)
    text = summary_text(summary_of(inspection))
    assert "4 rows: 1 unusable, 2 kept" in text
    assert "1  25.0%  no_prompt (unusable)" in text
    assert re.search(r"by --column prompt=COLUMN\n +row 3\n", text)
    assert "row 4: the problem of row 1" in text
    assert "solve rates of 2 rows:" in text


def report_of(tmp_path: Path, inspection: Inspection, *rows: dict[str, Any]) -> str:
    return page(DataSource(str(write(tmp_path / "<rows>.jsonl", *rows))), inspection)


def test_a_report_shows_the_rows_and_runs_nothing_of_theirs(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script> </style> <!--BODY--> /*NAME*/ \u202e\x00 {{7*7}}"
    inspection = Inspection(num_rows=2)
    inspection.formats[hostile, "accuracy"] = 2
    inspection.findings[1].append(RowFinding(FindingKind.GIVEN_AWAY, hostile))
    inspection.solve_rates.append(0.5)
    found = report_of(tmp_path, inspection, SOUND, {"problem": hostile, "answer": "1"})
    assert found.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3
    assert "<script" not in found
    assert not {"\u202e", "\x00"} & set(found)
    assert "50.0% <span>of 2 rows are of use</span>" in found
    assert FindingKind.GIVEN_AWAY.remedy in found
    assert "<h2>Solve rates</h2>" in found
    style = found.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in found
    assert not re.search(r"https?://|style=|<[^>]* on\w+=", found)


def test_a_report_of_sound_rows_says_so(tmp_path: Path) -> None:
    inspection = Inspection(num_rows=1)
    inspection.formats["answer", "accuracy"] = 1
    assert "every row is usable" in report_of(tmp_path, inspection, SOUND)


def test_a_report_shows_the_first_rows_of_many(tmp_path: Path) -> None:
    inspection = Inspection(num_rows=30)
    for index in range(30):
        inspection.findings[index].append(RowFinding(FindingKind.NO_PROMPT))
    found = report_of(tmp_path, inspection, *([SOUND] * 30))
    assert "and 10 more; --findings lists all" in found


def test_a_reference_with_nothing_in_it_is_told_apart_from_an_unknown_column(
    tmp_path: Path,
) -> None:
    """A misspelt column is an unknown shape; an empty one needs no other name."""
    data = write(
        tmp_path / "rows.jsonl",
        {"problem": "What is 1 plus 1?", "answer": ""},
        {"problem": "What is 1 plus 2?", "answer": None},
        {"problem": "What is 1 plus 3?", "anwser": "4"},
        SOUND,
    )
    found = inspected(data)
    kinds = {index: [one.kind for one in found.findings[index]] for index in sorted(found.findings)}
    assert kinds == {
        0: [FindingKind.EMPTY_REFERENCE],
        1: [FindingKind.EMPTY_REFERENCE],
        2: [FindingKind.UNKNOWN_SHAPE],
    }
    text = summary_text(summary_of(found))
    assert "fill it, or leave the row out" in text
    assert "rows 1, 2; row 1: empty: answer\n" in text + "\n"


def test_a_broken_line_is_told_its_column(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text('{"problem": "What is 1 plus 2?", "answer": "3"\n')
    assert "row 1: no JSON: Expecting ',' delimiter at column 47" in summary_text(
        summary_of(inspected(data))
    )


ODD = ("see the book", "TODO", "12 or 13", "nan")


@pytest.mark.slow
@pytest.mark.parametrize("num_words", [4, 12])
def test_words_are_odd_where_nearly_all_answers_are_numbers(tmp_path: Path, num_words: int) -> None:
    """Formulas and units are no words; where words are usual none of them is odd."""
    usual = [str(number) for number in range(20)] + ["\\frac{1}{2}", "2\\sqrt{3}", "x+1", "150 km"]
    words = [*ODD, *("blue", "green", "red", "pink", "grey", "black", "white", "brown")][:num_words]
    answers = usual + words
    names = string.ascii_letters[: len(answers)]
    rows = [
        {"problem": f"Problem {name} of the list?", "answer": one}
        for name, one in zip(names, answers, strict=True)
    ]
    found = inspected(write(tmp_path / "rows.jsonl", *rows))
    odd = found.rows_by_kind().get(FindingKind.ODD_ANSWER, [])
    assert [rows[index]["answer"] for index in odd] == (list(ODD) if num_words == 4 else [])


@pytest.mark.parametrize("option", ["--write", "--findings"])
def test_rows_are_not_written_under_the_name_of_another_format(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"problem": "1+1=?", "answer": "2"}\n')
    with pytest.raises(SystemExit) as ended:
        run(["inspect", str(rows), option, str(tmp_path / "clean.csv")])
    assert ended.value.code == 2
    assert "rows are written as .jsonl or .json or .parquet" in capsys.readouterr().err
