"""Rows with the answer to a problem: as it is, in a solution, or among options."""

from __future__ import annotations

import string
from typing import Any

from verifier_service.reference_formats.json_values import is_answer, json_value, texts_of
from verifier_service.reference_formats.reference_format import DataRow, ReferenceFormat, RowReading

_OF_OTHERS = frozenset(
    {
        *("options", "choices", "answerKey", "tests", "test", "test_cases", "test_list"),
        *("input_output", "public_tests", "public_test_cases", "verification_info"),
        *("tool_calls", "instruction_id_list", "instruction_id", "instructions", "db_id"),
        *("reward_model", "ground_truth", "supporting_facts", "context", "schema", "entry"),
    }
)
"""Columns of rows that are judged otherwise than by their answer alone."""


def answer_reading(answer: Any) -> RowReading | None:
    """The reading of an answer in mathematics; None where the value is none."""
    return RowReading("accuracy", {"answer": answer}) if is_answer(answer) else None


def _answer(row: DataRow) -> RowReading | None:
    return None if _is_reasoning_gym(row) else answer_reading(row["answer"])


def _is_reasoning_gym(row: DataRow) -> bool:
    metadata = json_value(row.get("metadata"))
    return isinstance(metadata, dict) and "source_dataset" in metadata


def _final_answer(row: DataRow) -> RowReading | None:
    return answer_reading(row["final_answer"])


def _solution(row: DataRow) -> RowReading | None:
    solution = row["solution"]
    return answer_reading(solution) if isinstance(solution, str) else None


def _options(row: DataRow) -> RowReading | None:
    return _choice(row["options"], row["answer"])


def _choices(row: DataRow) -> RowReading | None:
    return _choice(row["choices"], row["answer"])


def _answer_key(row: DataRow) -> RowReading | None:
    """ARC and CommonsenseQA: texts and labels of the choices in two lists."""
    choices, key = json_value(row["choices"]), row["answerKey"]
    if not isinstance(choices, dict) or not isinstance(key, str):
        return None
    texts, labels = texts_of(choices.get("text")), texts_of(choices.get("label"))
    if texts is None or labels is None or len(texts) != len(labels) or key not in labels:
        return None
    if not all(len(label) == 1 for label in labels) or len(set(labels)) < len(labels):
        return None
    # Some rows of ARC are labelled 1 to 4. The letters of a prompt go by position.
    is_numbered = labels == list(string.digits[1 : len(labels) + 1])
    if is_numbered:
        return _choice(texts, labels.index(key))
    return _with_letters(dict(zip(labels, texts, strict=True)), key)


def _choice(options: Any, answer: Any) -> RowReading | None:
    """The reading of options in a list, or by letter, and the place or letter of the right one."""
    options = json_value(options)
    if isinstance(options, list):
        if not all(isinstance(one, str) for one in options):
            return None
        options = dict(zip(string.ascii_uppercase, options, strict=False))
    if not isinstance(options, dict) or not all(isinstance(one, str) for one in options.values()):
        return None
    if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(options):
        answer = list(options)[answer]
    return _with_letters(options, answer)


def _with_letters(options: dict[str, str], letter: Any) -> RowReading | None:
    if not isinstance(letter, str) or letter.strip() not in options:
        return None
    return RowReading("multiple_choice", {"answer": letter.strip(), "choices": options})


def _aliases(row: DataRow) -> RowReading | None:
    """TriviaQA: an answer with its aliases."""
    answer = json_value(row["answer"])
    if not isinstance(answer, dict) or not isinstance(answer.get("value"), str):
        return None
    texts = [answer["value"], *(texts_of(answer.get("aliases")) or [])]
    return RowReading("string_similarity", {"answer": list(dict.fromkeys(texts))})


def _answer_of_passages(row: DataRow) -> RowReading | None:
    """HotpotQA: an answer in words."""
    answer = row["answer"]
    is_text = isinstance(answer, str) and bool(answer.strip())
    return RowReading("string_similarity", {"answer": answer}) if is_text else None


def _answers_of_passage(row: DataRow) -> RowReading | None:
    """SQuAD: passages of the context that answer."""
    answers = json_value(row["answers"])
    texts = texts_of(answers.get("text")) if isinstance(answers, dict) else None
    if texts is None:
        return None
    return RowReading("string_similarity", {"answer": list(dict.fromkeys(texts))})


ANSWER_FORMATS = (
    ReferenceFormat(
        "answer",
        "OpenR1-Math, Big-Math, Polaris, GSM8K, MATH-500, NuminaMath-1.5; rows with our `answer`",
        ("answer",),
        "accuracy",
        _answer,
        _OF_OTHERS,
    ),
    ReferenceFormat(
        "final_answer", "DeepMath", ("final_answer",), "accuracy", _final_answer, _OF_OTHERS
    ),
    ReferenceFormat(
        "solution",
        "NuminaMath, MATH",
        ("solution",),
        "accuracy",
        _solution,
        _OF_OTHERS | {"answer", "final_answer"},
    ),
    ReferenceFormat("options", "MMLU-Pro", ("options", "answer"), "multiple_choice", _options),
    ReferenceFormat("choices", "MMLU", ("choices", "answer"), "multiple_choice", _choices),
    ReferenceFormat(
        "answer_key",
        "ARC, CommonsenseQA, OpenBookQA",
        ("choices", "answerKey"),
        "multiple_choice",
        _answer_key,
    ),
    ReferenceFormat("aliases", "TriviaQA", ("answer",), "string_similarity", _aliases),
    ReferenceFormat(
        "hotpot_qa",
        "HotpotQA, 2WikiMultihopQA",
        ("answer", "supporting_facts"),
        "string_similarity",
        _answer_of_passages,
    ),
    ReferenceFormat(
        "squad", "SQuAD", ("answers", "context"), "string_similarity", _answers_of_passage
    ),
)
