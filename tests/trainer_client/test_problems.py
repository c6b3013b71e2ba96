"""Sources of problems."""

from __future__ import annotations

import bz2
import datetime
import gzip
import json
import lzma
import re
from pathlib import Path
from typing import Any

import datasets
import pytest

from tests.shared_data import shared_data
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.system_prompt import SYSTEM_PROMPT
from trainer_client.problem_order import ProblemOrder
from trainer_client.problems import Problem, load_problems, read_solve_rates
from trainer_client.row_files import DatasetError
from verifier_service.reference_formats.reading import read_row


def jsonl(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / "problems.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def rows(count: int) -> list[dict[str, Any]]:
    return [{"problem": f"{n}+1=?", "answer": str(n + 1)} for n in range(count)]


def test_a_problem_is_a_chat_and_a_reference(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"id": 17, "problem": "1+1=?", "answer": "2"})
    assert load_problems(DatasetConfig(path=path)) == [
        Problem(
            "17",
            (
                {"role": "system", "content": SYSTEM_PROMPT},
                {"role": "user", "content": "1+1=?"},
            ),
            {"answer": "2"},
            {"id": 17, "problem": "1+1=?", "answer": "2"},
        )
    ]


def test_without_an_id_a_problem_is_known_by_its_text(tmp_path: Path) -> None:
    """Whatever part of the data it is loaded with, so that its solve rate is its own."""
    path = jsonl(tmp_path, *({**row, "id": None} for row in rows(3)))
    _, second, third = load_problems(DatasetConfig(path=path))
    again = load_problems(DatasetConfig(path=path, split="train[1:]"))
    assert [problem.id for problem in again] == [second.id, third.id]
    assert second.id != third.id
    without = load_problems(DatasetConfig(path=jsonl(tmp_path, *rows(3))))
    assert without[1].id == second.id


def test_problems_that_share_an_id_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as a subject; their solve rates would be one."""
    shared = [{**row, "id": "sums"} for row in rows(3)]
    path = jsonl(tmp_path, *shared, {"id": "own", "problem": "0+0=?", "answer": "0"}, shared[0])
    problems = load_problems(DatasetConfig(path=path))
    ids = [problem.id for problem in problems]
    assert [one.partition("-")[0] for one in ids] == ["sums", "sums", "sums", "own"]
    assert len(set(ids)) == 4
    assert "3 rows have an id that another one has ('sums', 3 rows)" in capsys.readouterr().out
    again = load_problems(DatasetConfig(path=path, split="train[1:]", system_prompt=None))
    assert {problem.id for problem in again} == set(ids)


def test_column_names_are_configurable(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"q": "1+1=?", "gold": 2, "cases": ["a"]})
    config = DatasetConfig(
        path=path,
        problem_column="q",
        reference_columns={"answer": "gold", "tests": "cases"},
        system_prompt=None,
    )
    (problem,) = load_problems(config)
    assert problem.text == "1+1=?"
    assert problem.reference == {"answer": "2", "tests": ["a"]}


def test_rows_can_be_references_as_their_data_set_ships_them(tmp_path: Path) -> None:
    row = {"id": 3, "problem": "1+1=?", "solution": r"It is $\boxed{2}$.", "source": None}
    again = {**row, "id": 4}
    config = DatasetConfig(path=jsonl(tmp_path, row, again), reference_format="auto")
    (problem,) = load_problems(config)
    assert problem.reference == {
        "reference_row": {"solution": r"It is $\boxed{2}$.", "source": None},
        "reference_format": "auto",
    }
    assert read_row(problem.reference["reference_row"]).verifier == "accuracy"


def test_a_prompt_that_tests_may_call_is_part_of_the_reference(tmp_path: Path) -> None:
    row = {"prompt": "def a(): ...", "test": "assert f() == a()", "entry_point": "f"}
    path = jsonl(tmp_path, row)
    config = DatasetConfig(path=path, problem_column="prompt", reference_format="auto")
    (problem,) = load_problems(config)
    assert problem.reference["reference_row"] == row


def test_references_have_columns_or_a_format(tmp_path: Path) -> None:
    path = jsonl(tmp_path, *rows(1))
    with pytest.raises(ValueError, match="either reference_columns or reference_format"):
        DatasetConfig(path=path, reference_format="auto", reference_columns={"answer": "answer"})


def test_a_row_that_brings_its_own_system_message_keeps_it(tmp_path: Path) -> None:
    chat = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "1+1=?"}]
    path = jsonl(tmp_path, {"problem": chat, "answer": "2"})
    assert list(load_problems(DatasetConfig(path=path))[0].messages) == chat


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"problem_column": "problm"}, "; did you mean 'problem'? Set problem_column of"),
        ({"verifiers_column": "judges"}, "; did you mean 'judge'? Set verifiers_column of"),
        ({"reference_columns": {"tests": "zzz"}}, "'judge'. Set reference_columns.tests of"),
    ],
)
def test_a_column_that_is_not_there_is_told_with_its_setting(
    tmp_path: Path, settings: dict[str, Any], told: str
) -> None:
    path = jsonl(tmp_path, {"problem": "1+1=?", "answer": "2", "judge": None})
    with pytest.raises(DatasetError, match=re.escape(told)):
        load_problems(DatasetConfig(path=path, **settings))


def test_a_split_expression_takes_a_part_of_a_file(tmp_path: Path) -> None:
    path = jsonl(tmp_path, *rows(10))
    assert len(load_problems(DatasetConfig(path=path, split="train[2:5]"))) == 3


@pytest.mark.parametrize(("split", "count"), [("train[:40%]", 4), ("train[7:]+test", 5)])
def test_a_split_expression_takes_a_part_of_a_saved_data_set(
    tmp_path: Path, split: str, count: int
) -> None:
    saved = datasets.DatasetDict(
        train=datasets.Dataset.from_list(rows(10)),
        test=datasets.Dataset.from_list(rows(12)[10:]),
    )
    saved.save_to_disk(tmp_path / "saved")
    problems = load_problems(DatasetConfig(path=str(tmp_path / "saved"), split=split))
    assert len(problems) == count


def test_a_saved_data_set_without_splits_is_its_train_split(tmp_path: Path) -> None:
    datasets.Dataset.from_list(rows(3)).save_to_disk(tmp_path / "saved")
    assert len(load_problems(DatasetConfig(path=str(tmp_path / "saved")))) == 3


def test_repeated_prompts_are_dropped(tmp_path: Path) -> None:
    path = jsonl(tmp_path, *rows(2), *rows(3))
    assert [problem.text for problem in load_problems(DatasetConfig(path=path))] == [
        "0+1=?",
        "1+1=?",
        "2+1=?",
    ]


def test_one_prompt_with_two_references_is_no_group(tmp_path: Path) -> None:
    path = jsonl(tmp_path, *rows(2), {"problem": "0+1=?", "answer": "7"})
    with pytest.raises(DatasetError, match="rows 1 and 3 pose the same problem"):
        load_problems(DatasetConfig(path=path))


def test_all_prompts_with_two_references_are_listed(tmp_path: Path) -> None:
    other = [{"problem": f"{n}+1=?", "answer": "7"} for n in (1, 2)]
    path = jsonl(tmp_path, *rows(3), *other)
    with pytest.raises(DatasetError, match=r"rows 2 and 4 .*rows 3 and 5 .*on_conflict=drop"):
        load_problems(DatasetConfig(path=path))


def test_prompts_with_two_references_can_be_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of their rows, since no row says which reference is right; other repeats stay one."""
    conflicts = [{"problem": "1+1=?", "answer": answer} for answer in ("3", "2", "2")]
    path = jsonl(tmp_path, *rows(3), *conflicts, *rows(1))
    problems = load_problems(DatasetConfig(path=path, on_conflict="drop"))
    assert [problem.text for problem in problems] == ["0+1=?", "2+1=?"]
    assert (
        "dropped 4 rows of 1 problems with different references and 1 repeated row"
        in capsys.readouterr().out
    )


def test_references_that_python_calls_equal_and_json_does_not_are_different(
    tmp_path: Path,
) -> None:
    path = jsonl(tmp_path, *({"problem": "?", "answer": value} for value in ([1], [True])))
    with pytest.raises(DatasetError, match="rows 1 and 2 pose the same problem"):
        load_problems(DatasetConfig(path=path))


BAD_ROWS: dict[str, dict[str, Any]] = {
    "null answer": {"problem": "1+1=?", "answer": None},
    "no answer": {"problem": "1+1=?"},
    "empty problem": {"problem": " ", "answer": "2"},
    "empty message": {"problem": [{"role": "user", "content": ""}], "answer": "2"},
    "no number": {"problem": "1+1=?", "answer": float("nan")},
    "half a character": {"problem": "\ud800", "answer": "2"},
    "picture": {
        "problem": [{"role": "user", "content": [{"type": "image", "url": "x"}]}],
        "answer": "2",
    },
}


@pytest.mark.parametrize("bad", BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_an_error_or_is_skipped_and_counted(
    tmp_path: Path, bad: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    path = jsonl(tmp_path, *rows(2), bad)
    with pytest.raises(DatasetError, match=r"row 3.*1 of 3 rows cannot be used.*on_bad_row=skip"):
        load_problems(DatasetConfig(path=path))
    assert len(load_problems(DatasetConfig(path=path, on_bad_row="skip"))) == 2
    assert "skipped 1 of 3 rows" in capsys.readouterr().out


def test_a_file_without_a_row_that_can_be_used_is_an_error(tmp_path: Path) -> None:
    for lines in ([], [BAD_ROWS["null answer"]]):
        path = jsonl(tmp_path, *lines)
        with pytest.raises(DatasetError, match=r"problems\.jsonl has no rows"):
            load_problems(DatasetConfig(path=path, on_bad_row="skip"))


@pytest.mark.parametrize(
    "answers",
    [
        ["2024-01-01", "2024-01-02"],
        ["2024-01-01T00:00:00", "12:30:00"],
        ["3", 2.5, 3, 12345678901234567890123, True, False],
        [[1, "1", 2.5, True], ["2024-01-01"], {"a": 1}, {"b": [None]}],
    ],
    ids=["dates", "times", "numbers", "nested"],
)
def test_a_reference_is_what_the_file_has_whatever_stands_in_other_rows(
    tmp_path: Path, answers: list[Any]
) -> None:
    """A reader that gives a column one type makes dates of texts, and 3.0 of a 3 beside a 2.5."""
    path = jsonl(tmp_path, *({"problem": f"{n}", "answer": a} for n, a in enumerate(answers)))
    found = [problem.reference["answer"] for problem in load_problems(DatasetConfig(path=path))]
    expected = [json.dumps(a) if isinstance(a, int | float) else a for a in answers]
    assert list(map(repr, found)) == list(map(repr, expected))


def test_columns_keep_the_types_of_the_file_for_reward_functions(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path,
        {"problem": "a", "answer": "1", "level": 3, "day": "2024-01-01"},
        {"problem": "b", "answer": "1", "level": 2.5},
    )
    first, second = load_problems(DatasetConfig(path=path))
    assert repr(first.columns["level"]) == "3"
    assert (first.columns["day"], second.columns["day"]) == ("2024-01-01", None)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("array.json", lambda text: json.dumps([json.loads(line) for line in text.split()])),
        ("mark.jsonl", lambda text: "\ufeff" + text),
        ("blank.jsonl", lambda text: text.replace("\n", "\n\n")),
        ("separators.jsonl", lambda text: text.replace("0+1", "0\u20281")),
    ],
)
def test_a_file_of_json_may_be_an_array_or_have_blank_lines(
    tmp_path: Path, name: str, write: Any
) -> None:
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows(3))
    (tmp_path / name).write_text(write(text))
    assert len(load_problems(DatasetConfig(path=str(tmp_path / name)))) == 3


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_read(tmp_path: Path, compress: Any) -> None:
    path = tmp_path / "problems.jsonl.packed"
    path.write_bytes(compress(Path(jsonl(tmp_path, *rows(3))).read_bytes()))
    assert len(load_problems(DatasetConfig(path=str(path)))) == 3
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DatasetError, match=r"cannot load .*problems\.jsonl\.packed"):
        load_problems(DatasetConfig(path=str(path)))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"problem": "1', "line 2 is not valid JSON"),
        ("[1]", "row 2 must be an object, found [1]"),
        ('{"a": ' + "9" * 5000 + "}", "line 2 is not valid JSON"),
        ("[" * 100_000, "line 2 is not valid JSON"),
    ],
    ids=["cut", "array", "digits", "depth"],
)
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps(rows(1)[0]) + "\n" + line + "\n")
    with pytest.raises(DatasetError, match=re.escape(message)):
        load_problems(DatasetConfig(path=str(path)))


def test_a_saved_reference_that_json_cannot_express_is_named(tmp_path: Path) -> None:
    day = datetime.datetime(2024, 1, 1)
    datasets.Dataset.from_list([{"problem": "?", "answer": day}]).save_to_disk(tmp_path / "saved")
    with pytest.raises(DatasetError, match=r"row 1, column 'answer' .*datetime"):
        load_problems(DatasetConfig(path=str(tmp_path / "saved")))


CALL = {"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}


@pytest.mark.parametrize("saved", [False, True])
def test_all_fields_of_a_message_are_kept(tmp_path: Path, saved: bool) -> None:
    """A field that only another message has is no field, though a table has a null there."""
    chat: list[dict[str, Any]] = [
        {"role": "user", "content": "1+1=?"},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "name": "add", "content": "2"},
    ]
    row = {"problem": chat, "answer": "2"}
    path = jsonl(tmp_path, row)
    if saved:
        datasets.Dataset.from_list([row]).save_to_disk(tmp_path / "saved")
        path = str(tmp_path / "saved")
    (problem,) = load_problems(DatasetConfig(path=path, system_prompt=None))
    assert list(problem.messages) == [chat[0], {**chat[1], "content": ""}, chat[2]]


def test_a_content_in_parts_of_text_is_their_text(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "1+"}, {"type": "text", "text": "1=?"}]
    path = jsonl(tmp_path, {"problem": [{"role": "user", "content": parts}], "answer": "2"})
    assert load_problems(DatasetConfig(path=path))[0].text == "1+1=?"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"question": "1+1=?", "answer": "2"},
            r"no column 'problem'; its columns are 'question', 'answer'",
        ),
        ({"problem": "", "answer": "2"}, "row 1, column 'problem' must be a text"),
        ({"problem": "1+1=?", "answer": None}, "row 1 has no value in column 'answer'"),
    ],
)
def test_unusable_rows_are_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        load_problems(DatasetConfig(path=jsonl(tmp_path, row)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nowhere\.jsonl: there is no such file \(relative"):
        load_problems(DatasetConfig(path=str(tmp_path / "nowhere.jsonl")))


def test_solve_rates_of_others_may_have_ids_with_line_ends_of_unicode(tmp_path: Path) -> None:
    path = tmp_path / "solve_rates.jsonl"
    row = {"id": "a\u2028\u2029\x85b", "passed": 1, "judged": 2}
    path.write_text((json.dumps(row, ensure_ascii=False) + "\n") * 2)
    assert read_solve_rates(path) == {"a\u2028\u2029\x85b": 0.5}


def test_solve_rates_of_another_data_set_are_no_rates_of_this_one(tmp_path: Path) -> None:
    path = tmp_path / "solve_rates.jsonl"
    rows = [
        {"dataset": "math", "id": "0", "passed": 0, "judged": 4},
        {"dataset": "code", "id": "0", "passed": 4, "judged": 4},
        {"id": "0", "passed": 2, "judged": 2},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_solve_rates(path, "math") == {"0": 2 / 6}
    assert read_solve_rates(path, "renamed") == read_solve_rates(path) == {"0": 0.6}
    problems = tmp_path / "math.jsonl"
    problems.write_text(json.dumps({"id": 0, "problem": "a", "answer": "1"}))
    chosen = DatasetConfig(path=str(problems), solve_rates=path, solve_rate_range=(0, 0.5))
    assert [problem.id for problem in load_problems(chosen)] == ["0"]


def test_each_pass_takes_every_problem_once_in_another_order() -> None:
    problems = [Problem(str(n), ({"role": "user", "content": str(n)},), {}) for n in range(6)]
    order = ProblemOrder(problems, seed=0)
    passes: list[list[str]] = []
    position = 0
    for _ in range(2):
        passes.append([])
        for _ in range(3):
            taken, position = order.take(position, 2)
            passes[-1] += [problem.id for problem in taken]
    assert [sorted(ids) for ids in passes] == [list("012345")] * 2
    assert passes[0] != passes[1]


@pytest.mark.slow
def test_gsm8k_loads_as_it_is_published(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path,
        *(
            {"question": row["question"], "answer": row["solution"]}
            for row in shared_data("math/gsm8k_train.jsonl.gz")
        ),
    )
    problems = load_problems(DatasetConfig(path=path, problem_column="question"))
    assert len(problems) == 7473
