"""Where problems come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pytest

from tests.shared_data import shared_data
from trainer_client.config.sections import SYSTEM_PROMPT, DatasetConfig
from trainer_client.dataset import (
    DatasetError,
    Problem,
    ProblemOrder,
    load_problems,
    read_solve_rates,
)


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


def test_a_row_that_brings_its_own_system_message_keeps_it(tmp_path: Path) -> None:
    chat = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "1+1=?"}]
    path = jsonl(tmp_path, {"problem": chat, "answer": "2"})
    assert list(load_problems(DatasetConfig(path=path))[0].messages) == chat


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
    with pytest.raises(DatasetError, match="rows 0 and 2 pose the same problem"):
        load_problems(DatasetConfig(path=path))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"question": "1+1=?", "answer": "2"},
            r"no column \['problem'\].*\['question', 'answer'\]",
        ),
        ({"problem": "", "answer": "2"}, "row 0, column 'problem' must be a text"),
        ({"problem": "1+1=?", "answer": None}, "row 0 has no value in column 'answer'"),
    ],
)
def test_unusable_rows_are_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        load_problems(DatasetConfig(path=jsonl(tmp_path, row)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"cannot load .*nowhere\.jsonl"):
        load_problems(DatasetConfig(path=str(tmp_path / "nowhere.jsonl")))


def test_solve_rates_of_others_may_have_ids_with_line_ends_of_unicode(tmp_path: Path) -> None:
    path = tmp_path / "solve_rates.jsonl"
    row = {"id": "a\u2028\u2029\x85b", "passed": 1, "judged": 2}
    path.write_text((json.dumps(row, ensure_ascii=False) + "\n") * 2)
    assert read_solve_rates(path) == {"a\u2028\u2029\x85b": 0.5}


def test_each_pass_takes_every_problem_once_in_another_order() -> None:
    problems = [Problem(str(n), ({"role": "user", "content": str(n)},), {}) for n in range(6)]
    order = ProblemOrder(problems, per_step=2, seed=0)
    passes: list[list[str]] = []
    position = 0
    for _ in range(2):
        passes.append([])
        for _ in range(3):
            taken, position = order.take(position, 2)
            passes[-1] += [problem.id for problem in taken]
    assert [sorted(ids) for ids in passes] == [list("012345")] * 2
    assert passes[0] != passes[1]


def test_too_few_problems_for_a_step_is_an_error() -> None:
    problems = [Problem("0", ({"role": "user", "content": "0"},), {})]
    with pytest.raises(DatasetError, match=r"1 different problems.*prompts_per_step = 2"):
        ProblemOrder(problems, per_step=2, seed=0)


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
