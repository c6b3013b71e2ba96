"""Examples to imitate: prompts with given completions, from the columns that data sets have.

OpenR1-Math has `generations`, several texts for a problem with the list of those that were judged
correct, and `messages`, a whole chat; others have one text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.sft_section import SftConfig
from trainer_client.policy.policy import Policy
from trainer_client.problems import chat_messages, messages_of, read_rows, with_system_prompt
from trainer_client.row_files import DatasetError
from trainer_client.rows import Rows, load_rows

Messages = list[dict[str, Any]]


@dataclass(frozen=True)
class Example:
    """A prompt and the completion to imitate, as token ids; the completion ends with EOS."""

    prompt_ids: list[int]
    completion_ids: list[int]


def load_examples(config: DatasetConfig, sft: SftConfig, policy: Policy) -> list[Example]:
    """The data set's prompts, each with a completion; raises DatasetError."""
    rows = load_rows(config)
    wanted = [sft.completion_column, *([sft.correct_column] if sft.correct_column else [])]
    if missing := [name for name in wanted if name not in rows.column_names]:
        raise DatasetError(_without_columns(missing, rows, config))
    model = policy.model.config.get_text_config()
    limit: int | None = getattr(model, "max_position_embeddings", None)

    def read(row: dict[str, Any], index: int) -> list[Example]:
        return [
            _example(prompt, completion, f"{config.path}: row {index + 1}", config, policy, limit)
            for prompt, completion in _completions(row, index, config, sft)
        ]

    found = [example for _, own in read_rows(rows, config, read) for example in own]
    if not found:
        raise DatasetError(f"{config.path} [{config.split}] has no completion to imitate")
    return found


def _without_columns(missing: list[str], rows: Rows, config: DatasetConfig) -> str:
    """The message on missing columns of completions, and on that of problems, if it lacks too."""
    advice = "Set sft.completion_column"
    if config.problem_column not in rows.column_names:
        missing = [*missing, config.problem_column]
        advice += ", and dataset.problem_column unless completions are chats"
    return (
        f"{config.path} has no column {', '.join(map(repr, missing))}; its columns are "
        f"{list(rows.column_names)}. {advice}"
    )


def _completions(
    row: dict[str, Any], index: int, config: DatasetConfig, sft: SftConfig
) -> Iterator[tuple[Messages, str]]:
    """The prompts of a row, each with a completion; raises DatasetError."""
    column, value = sft.completion_column, row[sft.completion_column]
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        yield from _assistant_messages(row, index, config, column)
        return
    if config.problem_column not in row:
        raise DatasetError(
            f"{config.path} has no column {config.problem_column!r}; set dataset.problem_column"
        )
    prompt = messages_of(row, index, config)
    texts = value if isinstance(value, list) and value else [value]
    for text, correct in zip(texts, _correct(row, index, len(texts), config, sft), strict=True):
        if correct:
            if not isinstance(text, str) or not text:
                raise DatasetError(f"{config.path}: row {index + 1} has no text in {column!r}")
            yield prompt, text


def _assistant_messages(
    row: dict[str, Any], index: int, config: DatasetConfig, column: str
) -> Iterator[tuple[Messages, str]]:
    """Each message of the assistant, after the chat before it."""
    chat = with_system_prompt(chat_messages(row, index, config, column), config)
    turns = [place for place, message in enumerate(chat) if message["role"] == "assistant"]
    if not turns or not any(message["role"] == "user" for message in chat[: turns[0]]):
        raise DatasetError(
            f"{config.path}: row {index + 1}, column {column!r} has no message of the assistant "
            "after one of the user"
        )
    for place in turns:
        if not chat[place]["content"]:
            raise DatasetError(
                f"{config.path}: row {index + 1}, column {column!r} has a message of the assistant "
                "without text"
            )
        yield chat[:place], chat[place]["content"]


def _correct(
    row: dict[str, Any], index: int, count: int, config: DatasetConfig, sft: SftConfig
) -> list[bool]:
    """Whether each text of a row is to be imitated; raises DatasetError."""
    if sft.correct_column is None:
        return [True] * count
    marks = row[sft.correct_column]
    if not isinstance(marks, list) or len(marks) != count:
        raise DatasetError(
            f"{config.path}: row {index + 1} must have a list of {count} booleans in "
            f"{sft.correct_column!r}, one for each text; found {repr(marks)[:80]}"
        )
    return [mark is True for mark in marks]


def _example(
    prompt: Messages,
    completion: str,
    place: str,
    config: DatasetConfig,
    policy: Policy,
    limit: int | None,
) -> Example:
    """The token ids of an example; raises DatasetError where the model has no room for it."""
    ids = policy.tokenizer.encode(completion, add_special_tokens=False)
    prompt_ids = policy.prompt_ids(prompt, config.chat_template_kwargs)
    length = len(prompt_ids) + len(ids) + 1
    if limit is not None and length > limit:
        raise DatasetError(
            f"{place} has {length} tokens, prompt and completion together, more than the {limit} "
            "of the model"
        )
    return Example(prompt_ids, [*ids, policy.eos_ids[0]])
