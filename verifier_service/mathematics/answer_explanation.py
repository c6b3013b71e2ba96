"""The way from a completion to `accuracy`'s verdict, told again for `explain`.

It takes the steps of the judge once more: extraction, reading, comparison. Nothing here decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verifier_service.explanation import (
    MAX_READINGS,
    MAX_REFERENCES,
    DecidingStage,
    Explanation,
    Reading,
    cut,
    spans_of,
)
from verifier_service.mathematics.answer_sources import MAX_ANSWER_CHARACTERS
from verifier_service.mathematics.comparison import (
    AnswerReading,
    joined_answer,
    meets,
    read_answer,
)
from verifier_service.mathematics.extracted_answer import Extraction
from verifier_service.mathematics.reading_text import reading_texts
from verifier_service.mathematics.rules import Rules


def explained_answer(
    completion: str,
    references: Sequence[AnswerReading],
    *,
    find: Callable[[str], Extraction | None],
    as_read: Callable[[Extraction], Extraction],
    rules: Rules,
) -> Explanation:
    """The explanation of a completion's verdict in the default mode.

    Args:
        completion: text of the completion.
        references: acceptable answers.
        find: finds the final answer in a text, as it is written there.
        as_read: gives what was found in the notation in which it is compared.
        rules: decide what counts as equal.
    """
    shown = [_reading(one) for one in references[:MAX_REFERENCES]]
    found = find(completion)
    if found is None:
        return Explanation(DecidingStage.EXTRACTION, references=shown)
    spans = spans_of(completion, found.statements, find)
    if len(found.text) > MAX_ANSWER_CHARACTERS:
        return Explanation(DecidingStage.EXTRACTION, spans, Reading(cut(found.text)), shown)
    answer = _answer(as_read(found))
    stage = _stage(answer, references, rules)
    return Explanation(stage, spans, _reading(answer), shown)


def _answer(found: Extraction) -> AnswerReading:
    readings = [read_answer(one) for one in found.statements]
    return readings[0] if len(readings) == 1 else joined_answer(readings, found.text, found.joint)


def _stage(answer: AnswerReading, accepted: Sequence[AnswerReading], rules: Rules) -> DecidingStage:
    """The stage that decides whether an answer is one of the accepted."""
    if any(one.key == answer.key and one.key for one in accepted):
        return DecidingStage.TEXT
    verdicts = [meets(one, answer, rules) for one in accepted]
    return (
        DecidingStage.MATH_VERIFY
        if None in verdicts and True not in verdicts
        else DecidingStage.VALUES
    )


def _reading(one: AnswerReading) -> Reading:
    return Reading(cut(one.text), [cut(text) for text in reading_texts(one)[:MAX_READINGS]])
