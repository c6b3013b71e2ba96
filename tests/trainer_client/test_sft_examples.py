"""Examples to imitate, from columns as data sets ship them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.device import DEVICE
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.sft_section import SftConfig
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.row_files import DatasetError
from trainer_client.sft_examples import load_examples

QUESTION = {"role": "user", "content": "1+1=?"}
ANSWER = {"role": "assistant", "content": "2"}


@pytest.fixture(scope="module")
def policy(task: Path) -> Policy:
    return load_policy(ModelConfig(path=str(task / "model"), device=DEVICE))


def examples(
    policy: Policy, folder: Path, *rows: dict[str, Any], skip: bool = False, **sft: Any
) -> list[tuple[str, str]]:
    """Prompt and completion of each example, as text with its special tokens."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = DatasetConfig(
        path=str(path), system_prompt=None, on_bad_row="skip" if skip else "error"
    )
    decode = policy.tokenizer.decode
    return [
        (decode(one.prompt_ids), decode(one.completion_ids))
        for one in load_examples(config, SftConfig(**sft), policy)
    ]


def test_a_chat_and_a_problem_with_its_completion_make_the_same_example(
    policy: Policy, tmp_path: Path
) -> None:
    """The column of problems may be missing beside a chat."""
    plain = examples(policy, tmp_path, {"problem": "1+1=?", "completion": "2"})
    chat = examples(
        policy, tmp_path, {"messages": [QUESTION, ANSWER]}, completion_column="messages"
    )
    assert chat == plain
    assert chat[0][1].startswith("2")


def test_each_message_of_the_assistant_is_a_completion_of_the_chat_before_it(
    policy: Policy, tmp_path: Path
) -> None:
    more = [{"role": "user", "content": "2+2=?"}, {"role": "assistant", "content": "4"}]
    row = {"messages": [QUESTION, ANSWER, *more]}
    (first, second) = examples(policy, tmp_path, row, completion_column="messages")
    assert "2+2=?" not in first[0]
    assert "1+1=?" in second[0]
    assert "2+2=?" in second[0]
    assert second[1].startswith("4")


def test_generations_that_were_judged_wrong_are_left_out(policy: Policy, tmp_path: Path) -> None:
    """A row without a correct one has no example, and is no bad row; null is not correct."""
    rows: list[dict[str, Any]] = [
        {"problem": "1+1=?", "generations": ["2", "3", "02"], "ok": [True, False, True]},
        {"problem": "1+2=?", "generations": ["4", None], "ok": [False, None]},
    ]
    columns: dict[str, Any] = {"completion_column": "generations", "correct_column": "ok"}
    found = examples(policy, tmp_path, *rows, **columns)
    assert [completion[0] for _, completion in found] == ["2", "0"]
    assert len(examples(policy, tmp_path, rows[0], completion_column="generations")) == 3


@pytest.mark.parametrize(
    ("row", "sft", "message"),
    [
        (
            {"problem": "1", "generations": ["2"]},
            {"completion_column": "generations", "correct_column": "ok"},
            r"has no column 'ok'; its columns are \['problem', 'generations'\]",
        ),
        (
            {"problem": "1", "generations": ["2", "3"], "ok": [True]},
            {"completion_column": "generations", "correct_column": "ok"},
            r"row 1 must have a list of 2 booleans in 'ok'",
        ),
        (
            {"problem": "1", "generations": ["2", ""]},
            {"completion_column": "generations"},
            r"row 1 has no text in 'generations'",
        ),
        (
            {"problem": "1", "generations": []},
            {"completion_column": "generations"},
            r"row 1 has no text in 'generations'",
        ),
        (
            {"messages": [QUESTION]},
            {"completion_column": "messages"},
            "no message of the assistant",
        ),
        ({"messages": [ANSWER]}, {"completion_column": "messages"}, "after one of the user"),
        (
            {"messages": [QUESTION, {"role": "assistant", "content": ""}, ANSWER]},
            {"completion_column": "messages"},
            "a message of the assistant without text",
        ),
        ({"completion": "2"}, {}, "no column 'problem'; set dataset.problem_column"),
    ],
)
def test_a_row_without_a_completion_is_named(
    policy: Policy, tmp_path: Path, row: dict[str, Any], sft: dict[str, Any], message: str
) -> None:
    with pytest.raises(DatasetError, match=message):
        examples(policy, tmp_path, row, **sft)


def test_bad_rows_are_skipped_if_wanted(policy: Policy, tmp_path: Path) -> None:
    rows = [{"problem": "1", "generations": []}, {"problem": "1+1=?", "generations": ["2"]}]
    assert len(examples(policy, tmp_path, *rows, skip=True, completion_column="generations")) == 1


def test_the_mistakes_of_several_rows_are_listed_at_once(policy: Policy, tmp_path: Path) -> None:
    rows = [{"problem": "1", "completion": ""}, {"problem": "", "completion": "2"}]
    wanted = r"row 1 has no text in 'completion'; row 2, column 'problem' must be .* 2 of 2 rows"
    with pytest.raises(DatasetError, match=wanted):
        examples(policy, tmp_path, *rows)


def test_missing_columns_of_problems_and_completions_are_listed_at_once(
    policy: Policy, tmp_path: Path
) -> None:
    with pytest.raises(DatasetError, match=r"no column 'completion', 'problem'; its columns are"):
        examples(policy, tmp_path, {"question": "1+1=?", "response": "2"})
