"""Extraction of the final answer from a completion.

Sources are tried in order; the first that finds a statement decides. Each takes time linear in the
length of the text. Statements are texts as the model wrote them: nothing is parsed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from verifier_service.answer_text import after_reasoning
from verifier_service.mathematics.announced_answer import announced_answer, behind_disowned
from verifier_service.mathematics.announcements import other_announced
from verifier_service.mathematics.answer_sources import SOURCES, Source
from verifier_service.mathematics.answers_in_json import with_tagged_answer
from verifier_service.mathematics.bare_text import BLANK, MAX_BARE_CHARACTERS, WORD, is_wordy
from verifier_service.mathematics.box_surroundings import formula_around, offered_behind
from verifier_service.mathematics.boxes import boxes_in, is_mention
from verifier_service.mathematics.bracketed_notes import without_footnotes
from verifier_service.mathematics.cases import values_by_cases
from verifier_service.mathematics.closing_notes import amended_in_note, without_notes
from verifier_service.mathematics.closing_numbers import amount_of_sentence
from verifier_service.mathematics.closing_statement import NOTHING, Joint, closing_statement
from verifier_service.mathematics.closing_units import with_unit
from verifier_service.mathematics.closing_words import stated_words
from verifier_service.mathematics.denials import (
    is_denied,
)
from verifier_service.mathematics.extracted_answer import Extraction
from verifier_service.mathematics.further_answers import (
    FurtherAnswer,
    offered_beside,
    without_further_answers,
)
from verifier_service.mathematics.last_line import last_expression, start_of_last_sentence
from verifier_service.mathematics.last_mathematics import last_mathematics
from verifier_service.mathematics.markdown import trimmed, without_decoration, without_marks
from verifier_service.mathematics.other_questions import (
    without_next_question,
    without_other_questions,
)
from verifier_service.mathematics.plain_text import text_command_arguments
from verifier_service.mathematics.planning_sentences import plans
from verifier_service.mathematics.short_statements import short_statement
from verifier_service.mathematics.stated_sentence import sentence_math, without_closing_aside
from verifier_service.mathematics.visible_text import visible_text
from verifier_service.mathematics.withdrawn_answers import (
    has_value,
    is_denied_later,
    is_taken_back,
    is_undone,
    is_unfit,
    is_withdrawn,
)


def extract(
    text: str, sources: Sequence[Source] = SOURCES, tags: Sequence[str] = ("answer",)
) -> Extraction | None:
    """The final answer of a completion; None where it has none.

    Only what follows the reasoning counts: reasoning that never ends has no answer after it.

    >>> extract("<think>\\n1 + 1 = 3?\\n</think>\\n<answer>\\n2\\n</answer>").text
    '2'
    >>> extract("Half: \\\\boxed{\\\\frac{1}{2}}").text
    '\\\\frac{1}{2}'
    >>> extract("<think>Perhaps 3.") is None
    True

    Args:
        text: the completion.
        sources: where to look, in that order.
        tags: names of the tags that the source `answer_tag` looks for.
    """
    after = without_next_question((after_reasoning(text) or "").replace("\r\n", "\n"))
    after = without_footnotes(visible_text(after, tuple(tags))).strip(BLANK)
    if tags and "answer_tag" in sources:
        after = with_tagged_answer(after, tags[0])
    if '"""' in after:
        after = _IN_QUOTES.sub(r"\1\2", after)
    after = _GOES_ON.sub(r", \\ldots", after) if ", ." in after or ",." in after else after
    if not after:
        return None
    after = without_decoration(without_other_questions(after)).strip(BLANK)
    main, further = without_further_answers(after)
    found = _with_note(main, sources, tags)
    if further:
        found = _with_further(main, found, further) or _with_note(after, sources, tags)
    if found is None or not any(found.statements):
        return None
    if any("<<" in one for one in found.statements):
        found = replace(found, statements=tuple(map(_without_annotations, found.statements)))
    if not all(found.statements):
        found = replace(found, statements=tuple(filter(None, found.statements)))
    return _in_words(found)


# A computation that GSM8K's solutions note before its result, and no reader needs: the `<<2*3=6>>`
# of `2*3=<<2*3=6>>6 apples`.
_ANNOTATION = re.compile(r"<<[^<>\n=]{0,200}=[^<>\n]{1,60}>>(?=[ ]?\$?[-−]?[\d.])")


def _without_annotations(statement: str) -> str:
    """A statement without what GSM8K's solutions note: `2*3=6` for `2*3=<<2*3=6>>6`."""
    return _ANNOTATION.sub("", statement)


# An announced answer in three quotation marks that end a line: `FINAL ANSWER:\n"""\n42\n"""`.
_IN_QUOTES = re.compile(
    r'(\b(?i:answer)\b[^\n"]{0,40}[:：]\**[ \t]{0,9}\n{0,3})"""[ \t]{0,9}\n?'
    r'((?:[^"]|"(?!"")){1,1000})"""[ \t]{0,9}(?=\n|\Z)'
)


def _with_note(text: str, sources: Sequence[Source], tags: Sequence[str]) -> Extraction | None:
    """The answer before closing notes, or the announced one in them."""
    main = without_notes(text)
    if (cases := values_by_cases(main)) and not any(f"<{name}>" in main for name in tags):
        source: Source = "boxed" if cases[0].is_boxed else "answer_phrase"
        if source in sources:
            values = tuple(one.value for one in cases)
            return Extraction(source, values, position=len(main))
    found = _first(main, sources, tags)
    if main != text and (found is None or found.source not in ANNOUNCED):
        # The note holds the tag, the box or the phrase that the text before it lacks.
        in_note = _first(text, sources, tags)
        if found is None or (in_note is not None and in_note.source in ANNOUNCED):
            found = in_note
    elif main != text and found is not None and len(found.statements) == 1:
        other = other_announced(text, len(main), found.statements[0])
        if other is not None:
            return replace(found, statements=(*found.statements, other), joint="or")
    if found is not None and len(found.statements) == 1:
        amended = amended_in_note(text[len(main) :])
        if amended is not None and not has_value(found.statements[0], amended):
            return replace(found, statements=NOTHING)
        position = len(main) if found.position is None else found.position
        if is_denied_later(text, position, found.statements[0]):
            return replace(found, statements=NOTHING)
    return found


def _with_further(
    text: str, found: Extraction | None, further: Sequence[FurtherAnswer]
) -> Extraction | None:
    """The answer of a text without offers, and what is offered beside it; None without one."""
    if found is None or not any(found.statements):
        return None
    position = start_of_last_sentence(text.rstrip()) if found.position is None else found.position
    values = offered_beside(text, position, further)
    statements = tuple(dict.fromkeys((*found.statements, *values)))
    return replace(found, statements=statements, joint="or") if values else found


# The dots of a list that goes on, at the end of a line: the `, ...` of `2, 3, ...`. Else they are
# lost as if they were full stops, and any beginning of a list is the whole list.
_GOES_ON = re.compile(r",[ ]*\.{3,}(?=[\s*$)\]}]*(?:\n|\Z))")


def _in_words(found: Extraction) -> Extraction:
    """The extraction with what its sentence states: `Yes` of `Yes, it is`, `6` of `x is 6`."""
    sentence = found.statements[0]
    if len(found.statements) > 1 or " " not in sentence:
        return found
    plain = text_command_arguments(sentence)
    words = stated_words(plain)
    if words is None and (statement := short_statement(plain)) is not None:
        words = statement.text
    if words is None or words == sentence:
        return found
    return replace(found, statements=(words,), sentence=sentence)


def _first(text: str, sources: Sequence[Source], tags: Sequence[str]) -> Extraction | None:
    """The extraction of the first source that finds one.

    The sources after `answer_phrase` do not see values that are said not to be the answer.
    """
    for source in sources:
        found = _answer_tag(text, tags) if source == "answer_tag" else _FINDERS[source](text)
        if found is not None:
            return found
        if source == "answer_phrase":
            text = without_closing_aside(behind_disowned(text))
    return None


ANNOUNCED: frozenset[Source] = frozenset({"answer_tag", "boxed", "hashes", "answer_phrase"})
"""Sources whose answers are said to be answers."""


# A word behind a tag that only names it: the ` tags` of `It is wrapped in <answer> tags.`
_OF_TAG = r"[`'\"*]{0,3}[ ](?:tags?|blocks?|elements?)\b"


@lru_cache(maxsize=64)
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of a tag's content, closed or not: the `2` of `<answer>2</answer>`."""
    names = "|".join(map(re.escape, tags))
    return re.compile(rf"<({names})>(?!{_OF_TAG})(.*?)(?:</\1>|(?=<(?:{names})>)|\Z)", re.DOTALL)


def _answer_tag(text: str, names: Sequence[str]) -> Extraction | None:
    if not any(f"<{name}>" in text for name in names):
        return None
    found_tags = _tag_pattern(tuple(names)).finditer(text)
    tags = [(tag.start(), tag.end(), tag[2].strip(BLANK)) for tag in found_tags]
    if not tags:
        return None
    statements, joint = closing_statement(text, tags)
    if is_withdrawn(text, tags[-1][1], tags[-1][2]):
        return Extraction("answer_tag", NOTHING)
    position = tags[-1][0]
    offered, are_alternatives = offered_behind(text, tags[-1][1])
    if offered and are_alternatives:
        return Extraction("answer_tag", (*statements, *offered), "or", position=position)
    if len(statements) != 1:
        return Extraction("answer_tag", statements, joint, position=position)
    inside = statements[0]
    for finder in (_boxed, _hashes, announced_answer):
        found = finder(inside)
        if found is not None:
            return Extraction("answer_tag", found.statements, found.joint, position=position)
    inside = behind_disowned(inside)
    if "\n" in inside or len(inside) > MAX_BARE_CHARACTERS:
        for finder in (last_mathematics, last_expression):
            found = finder(inside)
            if found is not None and is_wordy(inside):
                return Extraction("answer_tag", found.statements, found.joint, position=position)
    if plans(inside):
        return Extraction("answer_tag", NOTHING, position=position)
    statement = sentence_math(inside) or without_marks(inside)
    return Extraction("answer_tag", (statement,), position=position)


MAX_CLOSING_BOXES = 500
"""Most boxes at the end of a text that are looked at; each takes about 30 microseconds."""


def _boxed(text: str) -> Extraction | None:
    boxes = boxes_in(text)
    if boxes is None:
        return None
    boxes = [one for one in boxes[-MAX_CLOSING_BOXES:] if not is_mention(text, one[0], one[2])]
    if not boxes:
        return None
    boxes = [one for one in boxes if not is_denied(text, one[0], one[1])]
    if not boxes or _is_undone_box(text, *boxes[-1][:2]):
        return Extraction("boxed", NOTHING)
    statements, joint = closing_statement(text, boxes)
    if len(statements) == 1 and len(inner := boxes_in(statements[0]) or []) > 1:
        statements, joint = closing_statement(statements[0], inner)
    if len(statements) == 1:
        found = _with_surroundings(statements[0], text, *boxes[-1][:2])
        return replace(found, position=boxes[-1][0])
    return Extraction("boxed", statements, joint, position=boxes[-1][0])


def _with_surroundings(inside: str, text: str, start: int, end: int) -> Extraction:
    """The content of a box with its unit, the formula around it, and the values behind it."""
    if (formula := formula_around(text, start, end, inside)) is not None:
        return Extraction("boxed", (formula,))
    statement = with_unit(inside, text, end)
    offered, are_alternatives = offered_behind(text, end)
    if not offered and (other := other_announced(text, end, inside)) is not None:
        offered, are_alternatives = (other,), True
    statements = tuple(dict.fromkeys((statement, *offered)))
    return Extraction("boxed", statements, "or" if are_alternatives and offered else "list")


def _is_undone_box(text: str, start: int, end: int) -> bool:
    """Whether the text behind a box takes it back; a few signs behind it cannot."""
    if len(text) - end <= 2:
        return False
    if is_taken_back(text, end):
        return True
    begin = max(start, end - 100)
    return is_withdrawn(text, end, text[begin:end]) or is_undone(text, begin)


# The rest of a line behind four hashes, as in GSM8K: the `72` of `#### 72`.
_HASHES = re.compile(r"####[ \t]*([^\n]*)")
# Hashes that close a line as a heading of Markdown may: the ` ####` of `#### 72 ####`.
_CLOSING_HASHES = re.compile(r"(?:[ \t]{1,9}#{1,9}|(?<=[\d.)$%])#{2,9})\Z")
# Hashes inside the marks of a line that has them already: the `####` of `#### **#### 72**`.
_INNER_HASHES = re.compile(r"\A([*$]{1,3})####[ \t]{0,9}(?=[^\s#])")


def _without_more_hashes(found: re.Match[str]) -> str:
    """The rest of a line behind hashes, without those that say nothing more."""
    return _CLOSING_HASHES.sub("", _INNER_HASHES.sub(r"\1", found[1].strip()))


def _hashes(text: str) -> Extraction | None:
    if "####" not in text:
        return None
    found = list(_HASHES.finditer(text))
    last = found[-1]
    line = _without_more_hashes(last)
    is_heading = line.startswith("#") or (
        bool(WORD.match(line)) and bool(text[last.end() :].strip(BLANK))
    )
    if is_heading:
        return None
    if not line or is_withdrawn(text, last.end(), line) or is_unfit(line):
        return Extraction("hashes", NOTHING)
    if is_undone(text, last.start(1)):
        return Extraction("hashes", NOTHING)
    if len(found) > 1 and not text[found[-2].end() : last.start()].strip(BLANK):
        statements = dict.fromkeys(map(trimmed, (_without_more_hashes(found[-2]), line)))
        joint: Joint = "or" if len(statements) > 1 else "list"
        return Extraction("hashes", tuple(statements), joint, position=last.start())
    statement = amount_of_sentence(line) or trimmed(line)
    return Extraction("hashes", (statement,), position=last.start())


_FINDERS: dict[str, Callable[[str], Extraction | None]] = {
    "boxed": _boxed,
    "hashes": _hashes,
    "answer_phrase": announced_answer,
    "math": last_mathematics,
    "last_expression": last_expression,
}
