"""Probes of a row: completions whose verdicts tell whether the row is of use.

The reference itself in the form that answers have, the row's own solutions, its prompt taken for a
completion, and programs that do nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, get_args

from verifier_service.code.languages.language import LanguageName
from verifier_service.code.languages.names import is_language
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.inspection.columns import (
    language_of,
    programs_of,
    prompt_of,
    solutions_of,
)
from verifier_service.inspection.trivial_programs import trivial_programs
from verifier_service.mathematics.answer_sources import Source
from verifier_service.profiles import verifiers_from_arguments
from verifier_service.reference_formats.reference_format import DataRow, RowReading
from verifier_service.verifier import Verifier
from verifier_service.verifiers import VERIFIERS
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.code import Code
from verifier_service.verifiers.multiple_choice import MultipleChoice

AnswerFormat = Literal["boxed", "answer_tag", "hashes", "answer_phrase"]
_FORMS: Mapping[AnswerFormat, str] = {
    "boxed": "\\boxed{%s}",
    "answer_tag": "<answer>%s</answer>",
    "hashes": "#### %s",
    "answer_phrase": "The answer is %s",
}
_STATED: tuple[Source, ...] = get_args(AnswerFormat)
"""Sources of an answer that is announced."""
_SOLUTIONS: Mapping[str, str] = {
    **{name: name for name in ("cells", "edges", "grid", "order")},
    "set": "items",
}
"""Key of the solution in the reference of each puzzle that has one."""
NUM_RUNS = 3
"""Runs of a row's own program."""
MAX_SOURCE_CHARACTERS = 100_000
"""Longest reference, solution or prompt that is read for an answer."""


@dataclass(frozen=True)
class Probe:
    """A completion, the verifier that judges it, and its name among the probes of its row."""

    name: str
    verifier: Verifier
    completion: str


@dataclass(frozen=True)
class ProbeOptions:
    """The options of the command that decide what is probed."""

    answer_format: AnswerFormat
    language: LanguageName
    slow_seconds: float
    """CPU time of a test from which it is slow."""
    enabled: frozenset[str] = frozenset(VERIFIERS)
    """Types of the verifiers that judge."""


def probes_of(row: DataRow, reading: RowReading, options: ProbeOptions) -> list[Probe]:
    """The probes of a row whose verifier this service has."""
    kind, reference = reading.verifier, reading.reference
    if kind == "code":
        return list(_program_probes(row, reference, options))
    if kind == "accuracy":
        return list(_accuracy_probes(row, reference, options))
    (verifier,) = verifiers_from_arguments([kind])
    if kind == "multiple_choice":
        return list(_choice_probes(reference, options))
    written = _written(kind, reference)
    return [Probe("reference" if written else "readable", verifier, written or "x")]


def answers_in(reference: Mapping[str, Any]) -> list[str]:
    """The acceptable answers of a reference as texts; of whole solutions, their final answers.

    Empty where none can be read.
    """
    from verifier_service.mathematics.reference_answer import (  # noqa: PLC0415  patterns
        NoAnswer,
        answer_of_reference,
        answers_of_reference,
    )

    answer = reference.get("answer")
    found: list[str] = []
    for one in answer if isinstance(answer, list) else [answer]:
        text = "" if one is None else str(one)
        if len(text) <= MAX_SOURCE_CHARACTERS:
            with suppress(NoAnswer):
                # The answer in a solution may say that there is none, too: `#### proof`.
                found += map(answer_of_reference, answers_of_reference(text))
    return [one for one in found if one.strip()]


def _accuracy_probes(
    row: DataRow, reference: Mapping[str, Any], options: ProbeOptions
) -> Iterator[Probe]:
    answers = answers_in(reference)
    if not answers:
        yield Probe("readable", Accuracy(), "\\boxed{0}")
        return
    written = _FORMS[options.answer_format] % answers[0]
    yield Probe("reference", Accuracy(), written)
    yield Probe("reach", Accuracy(extract=(options.answer_format,)), written)
    stated = Accuracy(extract=_STATED)
    for solution in solutions_of(row)[:1]:
        if solution != reference.get("answer") and len(solution) <= MAX_SOURCE_CHARACTERS:
            yield Probe("solution", stated, solution)
    prompt = prompt_of(row)
    if len(prompt) <= MAX_SOURCE_CHARACTERS:
        yield Probe("prompt", stated, prompt)


def _choice_probes(reference: Mapping[str, Any], options: ProbeOptions) -> Iterator[Probe]:
    written = _FORMS[options.answer_format] % f"({reference['answer']})"
    yield Probe("reference", MultipleChoice(), written)
    if options.answer_format != "hashes":
        yield Probe("reach", MultipleChoice(extract=(options.answer_format,)), written)


def _written(kind: str, reference: Mapping[str, Any]) -> str:
    """The reference as a completion; empty where none follows from it."""
    if kind in ("exact_match", "string_similarity"):
        answer = reference.get("answer")
        first = answer[0] if isinstance(answer, list) and answer else answer
        return "" if first in (None, "", []) else f"<answer>{first}</answer>"
    if kind == "sql" and isinstance(reference.get("query"), str):
        return f"```sql\n{reference['query']}\n```"
    if kind == "puzzle":
        solution = reference.get(_SOLUTIONS.get(str(reference.get("puzzle")), ""))
        text = solution if isinstance(solution, str) else json.dumps(solution)
        return "" if solution is None else f"<answer>{text}</answer>"
    if kind == "reasoning_gym":
        entry = reference.get("entry", reference)
        answer = entry.get("answer") if isinstance(entry, Mapping) else None
        return f"<answer>{answer}</answer>" if isinstance(answer, str) and answer else ""
    if kind == "tool_calls":
        calls = [_call(one) for one in reference.get("tool_calls") or []]
        return "\n".join(f"<tool_call>{json.dumps(one)}</tool_call>" for one in calls)
    return ""


def _call(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """A wanted call; of accepted values the first that is not empty, which means `leave out`."""
    accepted = wanted.get("accepted")
    arguments = wanted.get("arguments", {})
    if isinstance(accepted, dict):
        first = {
            key: values[0]
            for key, values in accepted.items()
            if isinstance(values, list) and values
        }
        arguments = {key: value for key, value in first.items() if value != ""}
    return {"name": wanted.get("name"), "arguments": arguments}


def _program_probes(
    row: DataRow, reference: Mapping[str, Any], options: ProbeOptions
) -> Iterator[Probe]:
    language = language_of(row, options.language)
    if not is_language(language):
        return
    runs = Code(language=language, part="completion", reveal_expected=True)
    strict = {"cpu_seconds": options.slow_seconds, "total_cpu_seconds": 10 * options.slow_seconds}
    fast = runs.model_copy(update=strict)
    for number, text in enumerate(programs_of(row, language)):
        program = _bare(text, language)
        yield Probe(f"program_{number}", runs, program)
        if number == 0:
            # Equal completions are judged once, so that each run has more white space.
            for run in range(1, NUM_RUNS):
                yield Probe(f"run_{run}", fast, program + "\n" * run)
    tests = reference.get("tests")
    if isinstance(tests, dict):
        trivial = Code(part="completion")
        for name, program in trivial_programs(tests).items():
            yield Probe(f"trivial: {name}", trivial, program)


def _bare(text: str, language: LanguageName) -> str:
    """The program in a fenced block; the text itself where it has none."""
    found = Code(language=language).program_in(text) if "```" in text else None
    return text if found is None else found


def has_language(row: DataRow, options: ProbeOptions) -> bool:
    """Whether the row's programs are in a language that is known here."""
    return language_of(row, options.language) in LANGUAGES
