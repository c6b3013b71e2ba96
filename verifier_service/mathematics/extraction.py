"""Extraction of the final answer from a completion.

Sources are tried in order; the first that finds a statement decides. Each takes time linear in the
length of the text. Statements are texts as the model wrote them: nothing is parsed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from verifier_service.answer_text import after_reasoning
from verifier_service.mathematics.announced_sentences import (
    number_counted_out,
    number_of_sentence,
)
from verifier_service.mathematics.announcements import announcements, other_announced
from verifier_service.mathematics.answer_sources import SOURCES, Source
from verifier_service.mathematics.answers_in_json import with_tagged_answer
from verifier_service.mathematics.bare_text import (
    BLANK,
    MAX_BARE_CHARACTERS,
    WORD,
    breaks_off,
    is_bare,
    is_block,
    is_wordy,
)
from verifier_service.mathematics.box_surroundings import formula_around, offered_behind
from verifier_service.mathematics.boxes import boxes_in, is_mention
from verifier_service.mathematics.bracketed_notes import without_footnotes
from verifier_service.mathematics.cases import values_by_cases
from verifier_service.mathematics.closing_notes import NOTE, without_notes
from verifier_service.mathematics.closing_numbers import (
    LEADS_TO_LIST,
    NUMBER,
    OR_BETWEEN,
    amount_of_sentence,
    closing_formula,
    closing_result,
    computes,
    last_of_results,
    listed_at_end,
    number_of_subject,
    number_text,
    operation_before,
    plans,
    without_numbers_of_others,
)
from verifier_service.mathematics.closing_remarks import without_remarks
from verifier_service.mathematics.closing_statement import NOTHING, Joint, closing_statement
from verifier_service.mathematics.closing_units import (
    alternative,
    closing_amount,
    unit_behind,
    with_unit,
)
from verifier_service.mathematics.closing_words import announced_verdict, stated_words
from verifier_service.mathematics.delimited_math import (
    DISPLAY_END,
    OPENING,
    DelimitedMath,
    delimited,
    end_of_chain,
    final_side,
    has_open_display,
    rows_alone,
)
from verifier_service.mathematics.denials import (
    is_denied,
    is_disowned,
    is_no_statement,
    is_offered_beside,
    is_taken_back,
    is_undone,
    is_unfit,
    is_withdrawn,
    offered_in_line,
    offered_values,
)
from verifier_service.mathematics.further_answers import (
    FurtherAnswer,
    offered_beside,
    without_further_answers,
)
from verifier_service.mathematics.labelled_answers import (
    answers_of_parts,
    labelled_answers,
    lone_values,
    repeated_answers,
)
from verifier_service.mathematics.markdown import (
    closing_line,
    listed_behind,
    listed_values,
    trimmed,
    without_decoration,
    without_marks,
    without_opening,
)
from verifier_service.mathematics.option_letters import chosen_letters
from verifier_service.mathematics.other_questions import (
    without_next_question,
    without_other_questions,
)
from verifier_service.mathematics.plain_text import text_command_arguments
from verifier_service.mathematics.short_statements import (
    said_twice,
    short_statement,
    stated_twice,
)
from verifier_service.mathematics.stated_sentence import (
    SIGN_BEFORE,
    main_clause,
    sentence_math,
    sentence_of_last_math,
    stated,
    states_no_value,
    without_aside,
    without_reason,
)
from verifier_service.mathematics.visible_text import visible_text


@dataclass(frozen=True)
class Extraction:
    """The final answer of a completion: mostly one statement, sometimes several."""

    source: Source
    statements: tuple[str, ...]
    joint: Joint = "list"
    sentence: str = ""
    """The sentence that states the answer in words; empty where the statement is no part of one."""
    position: int | None = None
    """Place of the tag, the box or the words that announce it; None: it stands at the end."""

    @property
    def text(self) -> str:
        """The statements in one text, for people to read."""
        return (" or " if self.joint == "or" else ", ").join(self.statements)


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
    if not all(found.statements):
        found = replace(found, statements=tuple(filter(None, found.statements)))
    return _in_words(found)


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
    if main != text and (found is None or found.source not in _ANNOUNCED):
        # The note holds the tag, the box or the phrase that the text before it lacks.
        in_note = _first(text, sources, tags)
        if found is None or (in_note is not None and in_note.source in _ANNOUNCED):
            found = in_note
    elif main != text and found is not None and len(found.statements) == 1:
        other = other_announced(text, len(main), found.statements[0])
        if other is not None:
            return replace(found, statements=(*found.statements, other), joint="or")
    return found


def _with_further(
    text: str, found: Extraction | None, further: Sequence[FurtherAnswer]
) -> Extraction | None:
    """The answer of a text without offers, and what is offered beside it; None without one."""
    if found is None or not any(found.statements):
        return None
    position = _last_sentence(text.rstrip()) if found.position is None else found.position
    values = offered_beside(text, position, further)
    statements = tuple(dict.fromkeys((*found.statements, *values)))
    return replace(found, statements=statements, joint="or") if values else found


def _last_sentence(text: str) -> int:
    """The start of the last sentence of the last line of a text."""
    start = text.rfind("\n") + 1
    return max([start, *(one.end() for one in _SENTENCE.finditer(text, start))])


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
            text = _behind_disowned(text)
    return None


_ANNOUNCED: frozenset[Source] = frozenset({"answer_tag", "boxed", "hashes", "answer_phrase"})
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
    for finder in (_boxed, _hashes, _answer_phrase):
        found = finder(inside)
        if found is not None:
            return Extraction("answer_tag", found.statements, found.joint, position=position)
    inside = _behind_disowned(inside)
    if "\n" in inside or len(inside) > MAX_BARE_CHARACTERS:
        for finder in (_math, _last_expression):
            found = finder(inside)
            if found is not None and is_wordy(inside):
                return Extraction("answer_tag", found.statements, found.joint, position=position)
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


def _answer_phrase(text: str) -> Extraction | None:
    if labelled := labelled_answers(text):
        return Extraction("answer_phrase", labelled)
    if repeated := repeated_answers(text):
        return Extraction("answer_phrase", repeated, "or")
    end = len(text)
    last_sign = len(text.rstrip(_EMPTY))
    has_disowned = announces_nothing = False
    while end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        last = None
        for match in announcements(text, start, end):
            if match.end() >= last_sign:
                announces_nothing = True  # the text ends before the answer
            elif is_disowned(match):
                has_disowned = True
            elif last is None or not is_offered_beside(last, match):
                last = match
        if last is not None:
            return replace(_announced(text, last), position=last.start())
        end = start
    if announces_nothing or (has_disowned and not _behind_disowned(text)):
        return Extraction("answer_phrase", NOTHING)
    return None


_EMPTY = BLANK + "*_:.…"
"""Signs behind an announcement that are no answer."""

# A number that ends the text, which nothing can take back: the `18` of `The answer is 18.`
_LAST_NUMBER = re.compile(r"[ ]?(-?[0-9]+(?:\.[0-9]+)?)\.?")


def _announced(text: str, announcement: re.Match[str]) -> Extraction:
    """The answer behind its announcement; without statements where it is denied or taken back."""
    position = announcement.end()
    if (number := _LAST_NUMBER.fullmatch(text, position)) is not None:
        return Extraction("answer_phrase", (number[1],))
    if is_taken_back(text, position) or is_undone(text, position, announcement[0]):
        return Extraction("answer_phrase", NOTHING)
    plain = text[position : position + _MAX_OFFERING].replace("**", "")
    if (offered := offered_values(plain, 0)) is not None:
        return Extraction("answer_phrase", offered, "or")
    behind = text[position:].lstrip(" *:\n\t")
    if behind[:1] in "(（" and (parts := answers_of_parts(behind, may_have_more=False)):
        return Extraction("answer_phrase", (parts,))
    if len(listed := listed_behind(text, position)) > 1:
        return Extraction("answer_phrase", listed)
    rest = _rest_behind(text, position)
    if (corrected := _CORRECTED.fullmatch(rest)) is not None:
        return Extraction("answer_phrase", (number_text(corrected[1]),))
    if (verdict := announced_verdict(rest.split("\n", 1)[0])) is not None:
        return Extraction("answer_phrase", (verdict,))
    if (sentence := _THAT.match(rest)) is not None:
        told = _last_number(sentence["told"])
        if told is not None:
            return replace(told, source="answer_phrase")
    statement = stated(rest) if rest and not _DENIED.match(rest) else ""
    if not statement:
        return Extraction("answer_phrase", NOTHING)
    if (twice := stated_twice(rest)) is not None:
        return Extraction("answer_phrase", twice, "or")
    hedge = _HEDGE.fullmatch(statement)
    if hedge is not None:
        return Extraction("answer_phrase", (hedge[1].strip(), without_reason(hedge[2])), "or")
    whole, statement = statement, without_reason(statement)
    is_sentence = (
        announcement[0].rstrip(" *\n").endswith((":", "\uff1a")) or statement[:1].isupper()
    )
    if _NO_REASON.match(whole, len(statement)) and not any(map(str.isdigit, statement)):
        statement = whole
    if (value := _number_stated(statement, whole, rest, is_sentence=is_sentence)) != statement:
        return Extraction("answer_phrase", (value,), sentence=statement)
    return Extraction("answer_phrase", (statement,))


_MAX_OFFERING = 500
"""Most characters behind an announcement in which a second value is sought."""
# The rest of a sentence that no reason begins: the ` in total 9 pens` of `He has in total 9 pens`,
# the ` after a year is 9` of `The number after a year is 9`.
_NO_REASON = re.compile(
    r"\s+(?:in\s+total\b|after\s[^.\n]{1,60}?(?:\b(?:is|are|was|were|be)|=)\s)", re.IGNORECASE
)
# A sentence that is announced: the `10 fish are left` of `The answer is that 10 fish are left.`
_THAT = re.compile(
    r"that\s{1,3}(?P<told>(?=[^\n.]{0,200}\d)(?![^\n]{0,200}(?:\b(?:not|no|never)\b|n['’]t))"
    r"[^\n$\\]{1,300}?)(?:[.!](?=\s|\Z)|\n|\Z)",
    re.IGNORECASE,
)


def _number_stated(statement: str, whole: str, rest: str, *, is_sentence: bool) -> str:
    """The number that an announced sentence states; a statement without one as it is.

    Args:
        statement: what is announced.
        whole: the same with the reason behind it: `, which is 3 dozen`, ` after 4 hours`.
        rest: the text behind the announcement, which begins with all that.
        is_sentence: whether it may be a sentence of its own, not the end of `The answer is`.
    """
    if _REFUSED.search(statement):
        return (number_counted_out(statement) if is_sentence else None) or statement
    place = rest.find(whole)
    behind = rest[place + len(whole) :] if place >= 0 else rest
    reason = whole[len(statement) :]
    goes_on = "which" in reason and any(map(str.isdigit, reason))
    behind = reason if goes_on else behind
    return number_of_sentence(statement, behind, is_sentence=is_sentence)


def _behind_disowned(text: str) -> str:
    """The text behind the last value that is said not to be the answer; all of it without one."""
    end = len(text)
    while end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        disowned = [match for match in announcements(text, start, end) if is_disowned(match)]
        if disowned:
            behind = text[disowned[-1].end() :].lstrip(" *:\n\t")
            return behind.partition("\n")[2].strip(BLANK)
        end = start
    return text


def _rest_behind(text: str, end: int) -> str:
    """The text behind the announcement of an answer, without marks at the start of its line."""
    rest = text[end:].lstrip(" *:\n\t")
    marks = text[end : len(text) - len(rest)]
    if "**" in marks or text.endswith("**", 0, end):
        rest = _END_OF_BOLD.sub("", rest, count=1)
    if "\n" in marks:
        rest = without_opening(rest)
    rest = _DOTS.sub("", rest, count=1)
    adverb = _ADVERB.match(rest)
    return rest[adverb.end() :] if adverb else rest


# The dots of an announcement, as in a form to fill in: the `... ` of `The answer is ... C`.
_DOTS = re.compile(r"\A(?:\.{2,9}|…)[ ]?(?=[\w$(\\*-])")


# The end of bold text before a word or a bracket: the `**` of `18** apples`, of `no**, it is not`.
_END_OF_BOLD = re.compile(r"(?<=[^\s*])\*\*(?=,?\s+[A-Za-z(])")

# A word before an answer that says nothing: the `therefore ` of `The answer is therefore 42.`
_ADVERB = re.compile(
    r"(?:therefore|thus|then|hence|simply|just|indeed|clearly|exactly|precisely|obviously|finally"
    r"|definitely|certainly),?\s+(?=[\d$\\(*-]|not\b)",
    re.IGNORECASE,
)

# The beginning of a statement that gives no answer: `not known`, `unclear`.
_DENIED = re.compile(r"(?:not|wrong|incorrect|unknown|unclear|undetermined)\b", re.IGNORECASE)

MAX_HEDGE = 200
"""Longest bare line in which an alternative in brackets is sought."""
# An alternative in brackets, behind the first one: `5 (or 6)`.
_HEDGE = re.compile(
    r"([^()]+)\(\s*(?:or|alternatively|maybe|perhaps|possibly)\s+(?:equivalently\s+)?([^()]+)\)"
)

# A number that is said again behind it: `1/2, that is 0.5`.
_RESTATED = re.compile(
    r"([^,]+),?\s+(?:that\s+is|which\s+is|i\.e\.),?\s+(\$?[-−]?\d[\d.,/]*(?<![.,])\$?)",
    re.IGNORECASE,
)


def _math(text: str) -> Extraction | None:
    """The last mathematics of a text, unless what follows says that it solves nothing."""
    closing = text[_last_sentence(text.rstrip()) :]
    if plans(closing):
        return Extraction("math", NOTHING)
    if is_unfit(closing):
        return Extraction("math", _instead(closing))
    if "$" in closing and (either := offered_in_line(closing)) is not None:
        return Extraction("math", either, "or")
    if _MAY_WITHDRAW.search(text, max(0, len(text) - _MAX_WITHDRAWAL)):
        found = delimited(text)
        is_reason = _is_reason_beside(closing)
        if found and not is_reason and is_withdrawn(text, found[-1].end, found[-1].inside):
            return Extraction("math", _instead(text[found[-1].end :]))
    return _last_math(text)


def _is_reason_beside(closing: str) -> bool:
    """Whether a sentence states a value, and behind it a reason that speaks of another one."""
    value = without_aside(closing)
    if _BEGINS_REASON.match(closing, len(value)) is None or _REJECTS.search(value):
        return False
    insides = [{one.inside for one in delimited(part)} for part in (value, closing[len(value) :])]
    return insides[0].isdisjoint(insides[1])


# Words of a sentence that rejects its value: the `not` of `The value is not $5$, since ...`
_REJECTS = re.compile(
    r"\b(?:not|no|none|never|reject|discard|cannot|exclude|rule|if|unless)|n['’]t\b", re.IGNORECASE
)
# The beginning of a reason behind a value: the ` as` of `$n=5$, as $n=4$ is impossible.`
_BEGINS_REASON = re.compile(r",?\s(?:as|since|because)\s")
_MAX_WITHDRAWAL = 300
# A word of a sentence that may take back a value before it.
_MAY_WITHDRAW = re.compile(
    r"\b(?:impossible|inadmissible|contradict|absurd|extraneous|not|wrong|incorrect|candidate|fails"
    r"|too\s)|n['’]t\b",
    re.IGNORECASE,
)


def _last_math(text: str) -> Extraction | None:
    """The whole text where it is a bare answer; else the last mathematics between delimiters."""
    if text.startswith("\\begin{") and (rows := rows_alone(text)) is not None:
        return Extraction("math", (rows,))
    if (main := main_clause(text)) != text:
        if _REFUSED.search(main[: main.rfind("$", 0, -2)]) and not _CONCLUSION.match(main):
            return Extraction("math", NOTHING)
        text = main
    closing = text[_last_sentence(text.rstrip()) :]
    if closing != text and stated_words(closing) is not None and OPENING.search(text):
        return Extraction("math", (closing,))
    if is_bare(text) or is_block(text):
        line = text if "\n" in text else closing_line(text)
        if spans := delimited(line):
            line = line[sentence_of_last_math(line, 0, spans) :]
            if states_no_value(line):
                return Extraction("math", NOTHING)
        if bare := sentence_math(without_aside(line)):
            return Extraction("math", (_with_unit_behind(end_of_chain(bare), line),))
        bare = _bare(_LEAD_IN.sub("", line, count=1))
        hedge = (
            (_HEDGE.fullmatch(bare) or _RESTATED.fullmatch(bare)) if len(bare) < MAX_HEDGE else None
        )
        if hedge is not None:
            return Extraction("math", (hedge[1].strip(), hedge[2].strip()), "or")
        return Extraction("math", (bare,))
    if parts := answers_of_parts(text):
        return Extraction("math", (parts,))
    if listed := listed_values(text) or lone_values(text):
        return Extraction("math", tuple(dict.fromkeys(listed)))
    found = delimited(text)
    rest = text[found[-1].end :] if found else text
    if has_open_display(rest) or (found and breaks_off(rest)):
        return Extraction("math", NOTHING)
    last_line = closing_line(text)
    if found and stated_words(last_line) is not None:
        return Extraction("math", (last_line,))
    is_display = DISPLAY_END.match(last_line) or "\\end{" in last_line
    if is_bare(last_line) and not OPENING.search(last_line) and not is_display:
        if (twice := stated_twice(text)) is not None:
            return Extraction("math", twice, "or")
        return Extraction("math", (_bare(_LEAD_IN.sub("", last_line, count=1)),))
    if not found or (any(map(str.isdecimal, rest)) and not _is_rounding(rest)):
        return None
    return _math_of_sentence(text, found)


def _math_of_sentence(text: str, found: Sequence[DelimitedMath]) -> Extraction:
    """The mathematics of the last sentence that has any, among prose."""
    paragraph = text.rfind("\n", 0, found[-1].start) + 1
    line_start = sentence_of_last_math(text, paragraph, found)
    line = text[line_start:]
    if line_start > paragraph and (_UNSURE.search(line) or is_undone(text, found[-1].start)):
        return Extraction("math", NOTHING)
    if "\n" not in line and (main := without_aside(line)) != line:
        return Extraction("math", (_with_unit_behind(final_side(sentence_math(main)), main),))
    if states_no_value(line):
        return Extraction("math", NOTHING)
    if any(span.start >= line_start for span in found[:-1]):
        return Extraction("math", (final_side(sentence_math(text[line_start : found[-1].end])),))
    return Extraction("math", (with_unit(_signed_side(text, found[-1]), text, found[-1].end),))


def _signed_side(text: str, span: DelimitedMath) -> str:
    """The last side of mathematics, with a sign that stands before its delimiter: `-$5$`."""
    side = final_side(span.inside)
    return f"-{side}" if SIGN_BEFORE.search(text, max(0, span.start - 5), span.start) else side


# What a text says instead of a value that it takes back: `there is no solution`.
_NO_SOLUTION = re.compile(
    r"\bthere\s+(?:is|are)\s+no\s+(?:(?:such|real|integer|valid|positive)\s+){0,2}"
    r"(?:solution|root|value|number|integer)s?(?:\s+to\s+the\s+equation)?[.!*]{0,3}\s{0,9}\Z",
    re.IGNORECASE,
)


def _instead(rest: str) -> tuple[str, ...]:
    """The statement with which a text ends that has taken back its last value."""
    return ("no solution",) if _NO_SOLUTION.search(rest, max(0, len(rest) - 100)) else NOTHING


_MAX_ROUNDING = 60
# A rounding of the last mathematics of a text: the ` cm ≈ 8.66 cm.` of `$5\\sqrt{3}$ cm ≈ 8.66 cm.`
_ROUNDED_BEHIND = re.compile(
    r"\s*(?:[A-Za-z]{1,10}[23²³]?\s+){0,2}(?:≈|[,(]?\s*(?:or|which\s+is)\s+(?:about|approximately|roughly)\s)"
    r"\s*\d[\d,.]*(?:\s+[A-Za-z]{1,10}[23²³]?){0,2}\)?\.?\s*",
    re.IGNORECASE,
)


def _is_rounding(rest: str) -> bool:
    """Whether the short text behind mathematics only rounds it."""
    return len(rest) <= _MAX_ROUNDING and _ROUNDED_BEHIND.fullmatch(rest) is not None


def _bare(line: str) -> str:
    """The answer that a bare line is: the `42` of `Not 41, but 42.`"""
    if (corrected := _CORRECTED.fullmatch(line)) is not None:
        return number_text(corrected[1])
    return last_of_results(line) or trimmed(line)


def _with_unit_behind(statement: str, line: str) -> str:
    """A statement with the unit behind the only mathematics of its line."""
    found = delimited(line)
    return with_unit(statement, line, found[0].end) if len(found) == 1 else statement


# Words before a bare answer: `So it is `, `Hence, `.
_LEAD_IN = re.compile(
    r"(?:(?:[∴⇒⟹→➜➡👉✅]\ufe0f?|=+>|\\(?:therefore|Rightarrow|implies|to)(?![a-z]))\s*)?(?:(?:so|thus|hence|therefore|then)\b[,:]?\s*)?(?:(?:it|that|this)\s+(?:is|equals)\s+)?"
    r"(?:(?:(?:故|所以|因此|综上|则|即)[,，]?)?(?:结果(?:是|为)|(?:应|故)?填|[可解]?得|[一总]?共有?|应付)[:：]?(?=[-−$]?\d))?",
    re.IGNORECASE,
)

# A word that refuses an answer or denies one: `cannot`, `is not`.
_REFUSED = re.compile(
    r"\b(?:cannot|can['’]t|could not|isn['’]t|is not|not|wrong|incorrect|unable"
    r"|(?:do\s+not|don['’]?t)\s+know"
    r"|impossible\s+to\s+(?:determine|provide|give|answer|say|tell|know|identify|calculate|compute)"
    r"|no\s+es|non\s+è|não\s+é|n['’]est\s+pas|nicht|не|niet|inte|ikke)\b"
    r"|\bdisagree\b|不是|不等于|[\d$](?:是|为)?(?:错误的|错的|不正确|不对(?!称))|ではな|ではありま|じゃな|아니|아닙",
    re.IGNORECASE,
)

# A sentence that is no conclusion of those before it: `Since I cannot tell, we guess $x = 5$.`
_UNSURE = re.compile(
    r"\b(?:guess|(?:cannot|can['’]t|could\s+not)\s+(?:tell|say|know)|not\s+sure|unsure)\b",
    re.IGNORECASE,
)
# A sentence that concludes with a number, whatever those before it deny: `So the sum is 5.`
_STATES_RESULT = re.compile(
    r"(?:so|thus|hence|therefore|overall|altogether|finally|in\s+total|consequently|since|as|now)\b"
    r"(?!.{0,200}\b(?:guess|unknown|undefined|impossible)\b).{0,300}?"
    r"\b(?:is|are|be|equals|has|have|makes?|gives?|get|contains?|total)\b.{0,200}\d",
    re.IGNORECASE,
)

# A value that a line puts in the place of a denied one, and ends with: the `12` of `It isn't 13; it
# is 12.`, of `not 13 but 12`.
_CORRECTED = re.compile(
    r"(?:\b(?:not|isn['’]t)\s+(?:equal\s+to\s+)?[$*(]*[-−]?\d[\d.,/]*[$*)]*)"
    r"(?:,?\s+but\s+(?:rather\s+)?|[;,.]\s+(?:but\s+)?(?:it\s+is|it['’]s)\s+(?:actually\s+)?)"
    rf"[$*(]*({NUMBER.pattern})[$*)]*[.!]?\s*$",
    re.IGNORECASE | re.VERBOSE,
)

# The space between two sentences: behind the full stop of `So 2. Then`.
_SENTENCE = re.compile(r"(?<=[.!?])\s+")

# A word that makes the number behind it a label: the `Step ` of `Step 3`, the `Confidence: `.
_LABEL = re.compile(
    r"(?:(?:step|case|equation|problem|question|figure|part|theorem|lemma|example|exercise"
    r"|section|chapter|corollary|proposition|definition|remark)[\s(]*|confidence[\s:]*)$",
    re.IGNORECASE,
)
# The end of a line that breaks off: the ` by` of `Now we divide 84 by`. A capital is a unit or a
# name there: `5 A`.
_BROKEN_OFF = re.compile(
    r"\s(?:by|the|of|and|to|is|are|we|an?|with|for|from|that|which|so|or|but|into|than|as|if|because"
    r"|since|where|when|plus|minus|times)\s*$"
)
# Numbers with nothing but spaces between them at the end of a line: `41 42 43 44`.
_ROW = re.compile(r"(?<![\d,.])(?:\d+ ){3,}\d+\W{0,9}$")


def _last_expression(text: str) -> Extraction | None:
    """The last number of the last line, or the option that the line names."""
    lines = [line for line in text.split("\n") if line.strip() and not NOTE.match(line)]
    line = without_remarks(without_marks(lines[-1])) if lines else ""
    if (verdict := _VERDICT_FIRST.fullmatch(line)) is not None:
        return Extraction("last_expression", (verdict["verdict"],))
    if "/" in line or "pm" in line or "minus" in line.lower():
        line = _TWO_SIGNS.sub("±", line)
    choices = _choices(line)
    if choices is None and stated_words(sentence := closing_line(line)) is not None:
        return Extraction("last_expression", (sentence,))
    if choices is not None:
        return choices
    *earlier, sentence = _SENTENCE.split(line)
    if plans(sentence):
        return Extraction("last_expression", NOTHING)
    concludes = bool(earlier) and _STATES_RESULT.match(sentence) is not None
    if _REFUSED.search(sentence if concludes else line):
        if (corrected := _CORRECTED.search(line)) is not None:
            return Extraction("last_expression", (number_text(corrected[1]),))
        conclusion = _CONCLUSION.match(line)
        if conclusion is not None and not _REFUSED.search(line, conclusion.end()):
            line = line[conclusion.end() :]
        elif not computes(line):
            return None
    return _last_number(line)


# A verdict with its reason, and what follows from it: `No, 2 is prime. Thus the claim fails.` A
# denial follows from no `Yes`.
_VERDICT_FIRST = re.compile(
    r"(?P<verdict>(?P<yes>Yes)|No),\s(?:since\s|because\s|as\s)?[^.,;\n?]{0,80}\d[^.,;\n?]{0,80}\.\s"
    r"(?:Thus|So|Hence|Therefore)\b"
    r"(?![^\n]*\b(?:yes|no|true|but|however|answer|holds?|or|maybe|perhaps|if)\b)"
    r"(?(yes)(?![^\n]*(?:\b(?:false|fails?|wrong|not|cannot|impossible)|n['’]t)\b))[^\d\n?]{3,100}",
)


def _last_number(line: str) -> Extraction | None:
    """The number, formula or list with which a line of prose ends."""
    if (chance := _CHANCE.search(line, max(0, len(line) - MAX_BARE_CHARACTERS))) is not None:
        return Extraction("last_expression", (chance[1] or chance[2],))
    sentences = _SENTENCE.split(line)
    if len(sentences) > 1 and breaks_off(sentences[-1]) and not NUMBER.search(sentences[-1]):
        return None
    if _BROKEN_OFF.search(line):
        return None
    if (twice := said_twice(sentences)) is not None:
        return Extraction("last_expression", twice, "or")
    if (count := number_of_subject(sentences[-1])) is not None:
        return Extraction("last_expression", (count,))
    if (row := _ROW.search(line, max(0, len(line) - MAX_BARE_CHARACTERS))) is not None:
        return Extraction("last_expression", tuple(dict.fromkeys(row[0].split())))
    line = _MINUS.sub(r"\g<leads>-", line)
    numbers = [
        match
        for match in NUMBER.finditer(line)
        if not _LABEL.search(line, max(0, match.start() - 12), match.start())
    ]
    if (result := closing_result(line)) is not None:
        numbers = [match for match in numbers if match.start() < result[1]]
    numbers = without_numbers_of_others(line, numbers)
    if not numbers:
        return None
    if _BOUND.fullmatch(line.strip()):
        return Extraction("last_expression", (line.strip().rstrip("."),))
    if is_no_statement(line, numbers[-1].start(), numbers[-1].end()):
        return None
    if is_withdrawn(line, numbers[-1].end(), numbers[-1][0]):
        return Extraction("last_expression", _instead(line))
    if (either := offered_in_line(line)) is not None:
        return Extraction("last_expression", either, "or")
    if (formula := closing_formula(line, *numbers[-1].span())) is not None:
        return Extraction("last_expression", (formula,))
    if (operation := operation_before(line, *numbers[-1].span())) is not None:
        unit = unit_behind(line, numbers[-1].end())
        whole = f"{operation}{number_text(numbers[-1][0])} {unit}".strip()
        return Extraction("last_expression", (whole,) if operation else NOTHING)
    listed = listed_at_end(line, numbers)
    if len(listed) > 2 or (len(listed) == 2 and LEADS_TO_LIST.search(line, 0, listed[0].start())):
        return Extraction("last_expression", tuple(number_text(match[0]) for match in listed))
    if len(numbers) > 1 and (other := alternative(line, *numbers[-2:])) is not None:
        offers = (other, closing_amount(line, numbers) or numbers[-1][0])
        return Extraction("last_expression", tuple(map(number_text, offers)), "or")
    kept = [numbers[-1]]
    for match in reversed(numbers[:-1]):
        between = line[match.end() : kept[-1].start()]
        if not OR_BETWEEN.fullmatch(between.strip()):
            break
        kept.append(match)
    if len(kept) == 1 and (amount := closing_amount(line, numbers)) is not None:
        return Extraction("last_expression", (number_text(amount),))
    statements = dict.fromkeys(number_text(match[0]) for match in reversed(kept))
    return Extraction("last_expression", tuple(statements), "or" if len(statements) > 1 else "list")


# A sign in words, behind a word that leads to a value: `It fell to minus 6 degrees.`
_MINUS = re.compile(
    r"(?P<leads>\b(?:to|is|was|be|are|equals?|exactly)\s+)(?:minus|negative)\s+(?=[$€£]?\d)",
    re.IGNORECASE,
)
# A chance at the end of a line: `The probability is 1 in 8.`, `There is a 1 in 8 chance.`
_CHANCE = re.compile(
    r"\b(?:chance|probability|odds|likelihood)\s(?:[a-z]{1,12}\s){0,6}(?:is|are)\s"
    r"(\d{1,9}\sin\s\d{1,9})[.!]?\s{0,9}\Z"
    r"|\b(?:is|has|have)\san?\s(\d{1,9}\sin\s\d{1,9})\s(?:chance|probability)[.!]?\s{0,9}\Z",
    re.IGNORECASE,
)
# Two signs for one number: the `plus or minus` of `It is plus or minus 5`.
_TWO_SIGNS = re.compile(
    r"\b(?:plus|minus)\s*(?:or|/)\s*(?:plus|minus)\b|\+\s?/\s?[-−]|\\pm\b", re.IGNORECASE
)

# A bound, which is no value: `at least 5`.
_BOUND = re.compile(
    r"(?:at\s+(?:least|most)|(?:more|less|fewer|greater|smaller)\s+than|up\s+to)\s+\S+",
    re.IGNORECASE,
)


# A clause with a denial and the beginning of what follows from it: the `It is not even, so ` of
# `It is not even, so we get 42.`, the `It does not matter, ` of `It does not matter, we get 42.`
# Nothing follows for one who cannot tell, or from a wrong answer.
_CONCLUSION = re.compile(
    r"(?!.*\b(?:cannot|could\s+not|unable|know|sure|certain|tell|answer|wrong|incorrect)\b|.*\bcan['’]t)"
    r"(?:.*[a-z][,;]\s+(?:and\s+)?(?:so|thus|hence|therefore)\b,?"
    r"|[^,.;]*\b(?:does\s+not|doesn['’]t)\s+matter\b[^,.;]*,)\s+(?=(?:we|I|it|there|the)\b)",
    re.IGNORECASE,
)


def _choices(line: str) -> Extraction | None:
    """The options that a line without numbers names, and does not reject."""
    if NUMBER.search(line):
        return None
    chosen = chosen_letters(line)
    return Extraction("last_expression", chosen, "or") if chosen else None


_FINDERS: dict[str, Callable[[str], Extraction | None]] = {
    "boxed": _boxed,
    "hashes": _hashes,
    "answer_phrase": _answer_phrase,
    "math": _math,
    "last_expression": _last_expression,
}
