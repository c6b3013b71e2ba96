"""The final answer in the last mathematics of a text, or in a text that is nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verifier_service.mathematics.bare_text import breaks_off, is_bare, is_block
from verifier_service.mathematics.closing_numbers import last_of_results, number_text
from verifier_service.mathematics.closing_remarks import without_parts
from verifier_service.mathematics.closing_statement import NOTHING
from verifier_service.mathematics.closing_units import with_unit
from verifier_service.mathematics.closing_words import stated_words
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
from verifier_service.mathematics.extracted_answer import Extraction
from verifier_service.mathematics.labelled_answers import (
    answers_of_parts,
    assigned_values,
    lone_values,
)
from verifier_service.mathematics.last_line import (
    CONCLUSION,
    CORRECTED,
    REFUSED,
    instead,
    start_of_last_sentence,
)
from verifier_service.mathematics.markdown import closing_line, listed_values, trimmed
from verifier_service.mathematics.offered_answers import (
    offered_in_line,
)
from verifier_service.mathematics.planning_sentences import plans
from verifier_service.mathematics.refused_numbers import is_set_aside
from verifier_service.mathematics.short_statements import stated_twice
from verifier_service.mathematics.stated_sentence import (
    SIGN_BEFORE,
    main_clause,
    sentence_math,
    sentence_of_last_math,
    states_no_value,
    without_aside,
)
from verifier_service.mathematics.withdrawn_answers import (
    is_undone,
    is_unfit,
    is_withdrawn,
)


def last_mathematics(text: str) -> Extraction | None:
    """The last mathematics of a text, unless what follows says that it solves nothing."""
    closing = text[start_of_last_sentence(text.rstrip()) :]
    if plans(closing) or is_set_aside(closing):
        return Extraction("math", NOTHING)
    if is_unfit(closing):
        return Extraction("math", instead(closing))
    if "$" in closing and (either := offered_in_line(closing)) is not None:
        return Extraction("math", either, "or")
    if _MAY_WITHDRAW.search(text, max(0, len(text) - _MAX_WITHDRAWAL)):
        found = delimited(text)
        is_reason = _is_reason_beside(closing)
        if found and not is_reason and is_withdrawn(text, found[-1].end, found[-1].inside):
            return Extraction("math", instead(text[found[-1].end :]))
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
    if assigned := assigned_values(text):
        return Extraction("math", (assigned,))
    if (main := main_clause(text)) != text:
        if REFUSED.search(main[: main.rfind("$", 0, -2)]) and not CONCLUSION.match(main):
            return Extraction("math", NOTHING)
        text = main
    closing = text[start_of_last_sentence(text.rstrip()) :]
    if closing != text and stated_words(closing) is not None and OPENING.search(text):
        return Extraction("math", (closing,))
    if is_bare(text) or is_block(text):
        line = text if "\n" in text else closing_line(text)
        if spans := delimited(line):
            line = line[sentence_of_last_math(line, 0, spans) :]
            if states_no_value(line):
                return Extraction("math", NOTHING)
        line = without_parts(line)
        if bare := sentence_math(without_aside(line)):
            return Extraction("math", (_with_unit_behind(end_of_chain(bare), line),))
        bare = _bare(_LEAD_IN.sub("", line, count=1))
        hedge = (
            (HEDGE.fullmatch(bare) or _RESTATED.fullmatch(bare)) if len(bare) < _MAX_HEDGE else None
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


_MAX_HEDGE = 200
"""Longest bare line in which an alternative in brackets is sought."""
# An alternative in brackets, behind the first one: `5 (or 6)`.
HEDGE = re.compile(
    r"([^()]+)\(\s*(?:or|alternatively|maybe|perhaps|possibly)\s+(?:equivalently\s+)?([^()]+)\)"
)

# A number that is said again behind it: `1/2, that is 0.5`.
_RESTATED = re.compile(
    r"([^,]+),?\s+(?:that\s+is|which\s+is|i\.e\.),?\s+(\$?[-−]?\d[\d.,/]*(?<![.,])\$?)",
    re.IGNORECASE,
)


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
    if (corrected := CORRECTED.fullmatch(line)) is not None:
        return number_text(corrected[1])
    return last_of_results(line) or trimmed(line)


def _with_unit_behind(statement: str, line: str) -> str:
    """A statement with the unit behind the only mathematics of its line."""
    found = delimited(line)
    return with_unit(statement, line, found[0].end) if len(found) == 1 else statement


# Words before a bare answer: `So it is `, `Hence, `, a picture. Pictures that refuse or doubt are
# many, so those that do not are listed: `🎯 5`, but not `❌ 5` or `🤷 5`.
_LEAD_IN = re.compile(
    r"(?:(?:[∴⇒⟹→➜➡👉✅✔☑⭐✨⚡🌟🎉🎯🏁🏆💡📊📌📍📐📝🔑🔢🚀🟢🧮🥇]\ufe0f?|=+>|\\(?:therefore|Rightarrow|implies|to)(?![a-z]))\s*)?(?:(?:so|thus|hence|therefore|then)\b[,:]?\s*)?(?:(?:it|that|this)\s+(?:is|equals)\s+)?"
    r"(?:(?:(?:故|所以|因此|综上|则|即)[,，]?)?(?:结果(?:是|为)|(?:应|故)?填|[可解]?得|[一总]?共有?|应付)[:：]?(?=[-−$]?\d))?",
    re.IGNORECASE,
)

# A sentence that is no conclusion of those before it: `Since I cannot tell, we guess $x = 5$.`
_UNSURE = re.compile(
    r"\b(?:guess|(?:cannot|can['’]t|could\s+not)\s+(?:tell|say|know)|not\s+sure|unsure)\b",
    re.IGNORECASE,
)
