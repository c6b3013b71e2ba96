"""The final answer behind the words that announce it: `The answer is 42.`"""

from __future__ import annotations

import re
from dataclasses import replace

from verifier_service.mathematics.announced_sentences import number_counted_out, number_of_sentence
from verifier_service.mathematics.announcements import announcements
from verifier_service.mathematics.bare_text import BLANK
from verifier_service.mathematics.closing_numbers import number_text
from verifier_service.mathematics.closing_statement import NOTHING
from verifier_service.mathematics.closing_words import announced_verdict
from verifier_service.mathematics.denials import (
    is_disowned,
)
from verifier_service.mathematics.extracted_answer import Extraction
from verifier_service.mathematics.labelled_answers import (
    answers_of_parts,
    assigned_values,
    labelled_answers,
    leads_to_values,
    repeated_answers,
)
from verifier_service.mathematics.last_line import CORRECTED, REFUSED, last_number
from verifier_service.mathematics.last_mathematics import HEDGE
from verifier_service.mathematics.markdown import listed_behind, without_opening
from verifier_service.mathematics.offered_answers import (
    is_offered_beside,
    offered_values,
)
from verifier_service.mathematics.short_statements import stated_twice
from verifier_service.mathematics.stated_sentence import stated, without_reason
from verifier_service.mathematics.withdrawn_answers import (
    is_taken_back,
    is_undone,
    value_instead,
)


def announced_answer(text: str) -> Extraction | None:
    """The answer that words announce last; without statements where they take it back.

    >>> announced_answer("The answer is 41. No, wait: the answer is 42.").statements
    ('42',)
    """
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
    if announces_nothing or (has_disowned and not behind_disowned(text)):
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
        instead = None if is_taken_back(text, position) else value_instead(text, position)
        return Extraction("answer_phrase", NOTHING if instead is None else (instead,))
    plain = text[position : position + _MAX_OFFERING].replace("**", "")
    if (offered := offered_values(plain, 0)) is not None:
        return Extraction("answer_phrase", offered, "or")
    behind = text[position:].lstrip(" *:\n\t")
    if behind[:1] in "(（" and (parts := answers_of_parts(behind, may_have_more=False)):
        return Extraction("answer_phrase", (parts,))
    line = text[max(text.rfind("\n", 0, announcement.start()) + 1, position - 200) : position]
    if leads_to_values(line, is_announcement=True) and (
        assigned := assigned_values(behind, may_have_more=False)
    ):
        return Extraction("answer_phrase", (assigned,))
    if len(listed := listed_behind(text, position)) > 1:
        return Extraction("answer_phrase", listed)
    rest = _rest_behind(text, position)
    if (corrected := CORRECTED.fullmatch(rest)) is not None:
        return Extraction("answer_phrase", (number_text(corrected[1]),))
    if (verdict := announced_verdict(rest.split("\n", 1)[0])) is not None:
        return Extraction("answer_phrase", (verdict,))
    if (sentence := _THAT.match(rest)) is not None:
        told = last_number(sentence["told"])
        if told is not None:
            return replace(told, source="answer_phrase")
    statement = stated(rest) if rest and not _DENIED.match(rest) else ""
    if not statement:
        return Extraction("answer_phrase", NOTHING)
    if (twice := stated_twice(rest)) is not None:
        return Extraction("answer_phrase", twice, "or")
    hedge = HEDGE.fullmatch(statement)
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
    r"that\s{1,3}(?P<told>(?=[^\n.]{0,200}\d)(?![^\n]{0,200}(?:\b(?:not|no|never|cannot\s+(?:be|know|say|tell))\b|n['’]t))"
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
    if REFUSED.search(statement):
        return (number_counted_out(statement) if is_sentence else None) or statement
    place = rest.find(whole)
    behind = rest[place + len(whole) :] if place >= 0 else rest
    reason = whole[len(statement) :]
    goes_on = "which" in reason and any(map(str.isdigit, reason))
    behind = reason if goes_on else behind
    return number_of_sentence(statement, behind, is_sentence=is_sentence)


def behind_disowned(text: str) -> str:
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
