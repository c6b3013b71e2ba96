"""Columns of a row besides its reference: the problem, solutions, language and solve rates.

Names are those that data sets use; `--column` gives any column one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from verifier_service.code.languages.language import LanguageName
from verifier_service.code.languages.names import language_named
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.reference_formats.json_values import json_value

PROMPTS = (
    "prompt",
    "problem",
    "question",
    "query",
    "instruct_prompt",
    "complete_prompt",
    "question_content",
    "description",
    "instruction",
    "messages",
    "text",
    "input",
)
"""Columns with the problem, in the order in which they are looked for."""
_COMPANIONS = (
    *("context", "passage", "options", "choices", "tools", "db_id", "starter_code", "images"),
    *("image", "system", "system_prompt", "entry_point", "instruction_id_list", "kwargs"),
)
"""Columns that belong to the problem: the same question about another text is another problem."""
_SOLUTIONS = (
    *("canonical_solution", "reference_solution", "gold_standard_solution", "solution"),
    *("code", "solutions", "correct_solutions"),
)
MAX_SOLUTIONS = 3
"""Most programs of a row that are tried."""
_LANGUAGES = ("language", "lang", "programming_language")
_CODE_CONTESTS: Mapping[int, LanguageName] = {2: "cpp", 3: "python", 4: "java"}
"""Languages by their numbers in CodeContests; 1 is Python 2, which nothing here runs."""


def prompt_of(row: Mapping[str, Any]) -> str:
    """The text of the problem; empty where there is none."""
    for column in PROMPTS:
        text = _text_of(row.get(column))
        if text.strip():
            return text
    return ""


def messages_of(row: Mapping[str, Any]) -> list[dict[str, str]]:
    """The problem as messages of a chat."""
    for column in PROMPTS:
        value = row.get(column)
        if not _text_of(value).strip():
            continue
        if not isinstance(value, list):
            return [{"role": "user", "content": str(value)}]
        return [
            {"role": str(one.get("role") or "user"), "content": one["content"]}
            for one in _messages(value)
            if one.get("role") != "assistant"
        ]
    return []


def companions_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Other columns that belong to the problem."""
    return {name: row[name] for name in _COMPANIONS if row.get(name)}


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    said = [one["content"] for one in _messages(value) if one.get("role") != "assistant"]
    return "\n".join(said)


def _messages(value: Any) -> list[dict[str, Any]]:
    """The messages of a chat; BFCL has them in a list of turns."""
    if not isinstance(value, list):
        return []
    flat = [one for turn in value for one in (turn if isinstance(turn, list) else [turn])]
    return [one for one in flat if isinstance(one, dict) and isinstance(one.get("content"), str)]


def solutions_of(row: Mapping[str, Any]) -> list[str]:
    """The row's own solutions, at most `MAX_SOLUTIONS`."""
    found: list[str] = []
    for column in _SOLUTIONS:
        value = json_value(row.get(column))
        if isinstance(value, dict):  # CodeContests
            value = value.get("solution")
        values = value if isinstance(value, list) else [value]
        found += [one for one in values if isinstance(one, str) and one.strip()]
    return list(dict.fromkeys(found))[:MAX_SOLUTIONS]


def programs_of(row: Mapping[str, Any], language: LanguageName) -> list[str]:
    """The row's own programs; a body alone, as HumanEval ships it, goes behind its prompt."""
    name = row.get("entry_point")
    head = row.get("code_prompt") or row.get("complete_prompt") or row.get("prompt")
    found = _in_language(row, language) or solutions_of(row)
    if not isinstance(name, str) or not isinstance(head, str):
        return found
    return [one if f"def {name}" in one else f"{head.rstrip()}\n{one}" for one in found]


def _in_language(row: Mapping[str, Any], language: LanguageName) -> list[str]:
    """The solutions in one language, of rows as CodeContests has them."""
    value = json_value(row.get("solutions"))
    if not isinstance(value, dict) or not isinstance(value.get("language"), list):
        return []
    texts = value.get("solution")
    if not isinstance(texts, list):
        return []
    pairs = zip(value["language"], texts, strict=False)
    found = [text for one, text in pairs if _CODE_CONTESTS.get(one) == language]
    return [text for text in found if isinstance(text, str)][:MAX_SOLUTIONS]


def language_of(row: Mapping[str, Any], default: LanguageName) -> LanguageName | str:
    """The language of the row's programs: one that is known, or the name of another.

    >>> language_of({"language": "C++"}, "python"), language_of({"lang": "cobol"}, "python")
    ('cpp', 'cobol')
    """
    named = next((row[one] for one in _LANGUAGES if isinstance(row.get(one), str)), None)
    if named is None:
        info = json_value(row.get("verification_info"))
        named = info.get("language") if isinstance(info, dict) else None
    if not isinstance(named, str) or not named.strip():
        return default
    name = named.strip().lower()
    known = language_named(name)
    if known is None:
        known = next((one.name for one in LANGUAGES.values() if name in one.tags), None)
    return known or (default if name in _SPOKEN else name[:40])


_SPOKEN = frozenset({"en", "english", "zh", "chinese", "fr", "de", "es", "ja", "ru", "ko"})
"""Languages of the problem, which some data sets name in the same column."""

# The name of a column with a solve rate: `llama8b_solve_rate`, `pass_rate_72b_tir`.
_RATE_COLUMN = re.compile(r"(?:solve|pass|success)[_-]?(?:rate|percentage)|pass@1", re.IGNORECASE)
# A number of solved attempts as Polaris has it: `5/8`.
_ATTEMPTS = re.compile(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*")


def solve_rate_of(row: Mapping[str, Any]) -> float | None:
    """The share of attempts that solved the problem; None where the row does not tell.

    >>> solve_rate_of({"difficulty": "2/8"}), solve_rate_of({"correctness_math_verify": [True]})
    (0.25, 1.0)
    """
    for column, value in _rates(row):
        rate = _rate(column, value)
        if rate is not None and 0 <= rate <= 1:
            return rate
    return None


def _rates(row: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    info = json_value(row.get("extra_info"))
    for columns in (row, info if isinstance(info, dict) else {}):
        yield from ((str(key), value) for key, value in columns.items())


def _rate(column: str, value: Any) -> float | None:
    if column == "correctness_math_verify" and isinstance(value, list) and value:
        return sum(one is True for one in value) / len(value)
    if column == "model_difficulty" and isinstance(value, dict):  # Skywork: failures of 16
        failures = [one for one in value.values() if isinstance(one, int | float)]
        return 1 - failures[0] / 16 if failures else None
    if column == "difficulty" and isinstance(value, str):
        attempts = _ATTEMPTS.fullmatch(value)
        return int(attempts[1]) / int(attempts[2]) if attempts and int(attempts[2]) else None
    if not _RATE_COLUMN.search(column) or isinstance(value, bool):
        return None
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):  # OpenMathReasoning has `n/a`
        return None
