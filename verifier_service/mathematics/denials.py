"""Values and options that a completion denies, doubts, takes back, or offers beside others."""

from __future__ import annotations

import re

MAX_DENIAL_CHARACTERS = 60
"""Longest text before the announcement of an answer in which a denial of it is sought."""


def is_disowned(announcement: re.Match[str]) -> bool:
    """Whether a denial stands before the announcement of an answer (`answer is`), in its line."""
    text, end = announcement.string, announcement.start()
    begin = max(0, end - MAX_DENIAL_CHARACTERS)
    begin = max(begin, text.rfind("\n", begin, announcement.end() - 1) + 1)
    is_denied = _DISOWNED.search(text, begin, end) is not None
    return is_denied and _COUNTED.search(text, begin, end) is None


_CLAIM = (
    r"(?:say(?:ing)?|think|believe|claim|conclude|assume|agree|sure|certain|convinced|confident)"
)
_ARTICLES = r"(?:[ ]+(?:the|an?|my|our|your|final))*"
# A denial right before `answer is 5`: `n't think that the ` in `I don't think that the answer is`.
# Nothing that ends a clause may come between: `I am not sure, but the answer is 5` denies nothing.
_DISOWNING = (
    rf"(?:\b(?:wrong|incorrect)"
    rf"|\b(?:wrong|incorrect|false)[ ]+(?:to[ ]+{_CLAIM}(?:[ ]+that)?|that){_ARTICLES}"
    rf"|(?:\bnot|\bcannot|n['’]t)[ ]+(?:be[ ]+)?{_CLAIM}(?:[ ]+(?:that|if|whether))?{_ARTICLES}"
    rf"|\b(?:nobody|no[ ]+one)[ ]+(?:(?:would|will|could|can|should)[ ]+)?{_CLAIM}s?"
    rf"(?:[ ]+that)?{_ARTICLES}"
    rf"|(?:\bnot|n['’]t)[ ]+(?:(?:true|correct|right|the[ ]+case)[ ]+)?that{_ARTICLES})[ *_]+"
)
# Such a denial at the end of a text.
_DISOWNED = re.compile(_DISOWNING + "$", re.IGNORECASE)
# Words that count wrong answers and deny none: `number of wrong ` before `answers is 12`.
_COUNTED = re.compile(
    r"(?:\b(?:total|(?:number|count|fraction|percentage|proportion|probability|chance)s?[ ]+"
    r"(?:of|for|that))\b(?:(?!\b(?:is|are|so|but)\b)[^.,:;?!])*|\d[ *_]+)"
    r"\b(?:wrong|incorrect)[ *_]+$",
    re.IGNORECASE,
)


# Words right before a number that bound it, deny it or doubt it: `fewer than `, `ruled out `. Not
# `at least`: `You need at least 5 coins.` answers how many one needs.
_WEAKENING = re.compile(
    r"(?:\b(?:(?:more|less|fewer|greater|smaller|larger|bigger|higher|lower)[ ]+than|exceeds?"
    r"|differs?[ ]+from|different[ ]+from|anything[ ]+but"
    r"|(?:rule[sd]?|ruling)[ ]+out|exclud(?:e[sd]?|ing)|impossible[ ]+to[ ]+(?:get|be|have|reach)"
    r"|(?:might|could|may)[ ]+(?:also[ ]+)?be|perhaps|maybe|possibly"
    r"|between[ ]+\S{1,30}[ ]+and)[ ]+(?:the[ ]+number[ ]+)?[$*(]*)$",
    re.IGNORECASE,
)
# A question, up to the number in it: `Is the answer `, `... or `.
_QUESTION = re.compile(
    r"(?:^|[.!?]\s+)(?:(?:is|are|was|were|could|can|might|does|do|should|would)\b[^.!?]*"
    r"|[^.!?]*\bor\s+)$",
    re.IGNORECASE,
)
# The end of a question that nothing follows: the `?` of `5?`.
_ASKED = re.compile(r"[$*)]{0,4}\?[\s*]{0,9}$")


def is_no_statement(line: str, start: int, end: int) -> bool:
    """Whether a line bounds, denies, doubts or asks for the number between two positions.

    >>> is_no_statement("There are fewer than 5.", 21, 22), is_no_statement("Is it 5?", 6, 7)
    (True, True)
    >>> is_no_statement("There are 5 fewer than before.", 10, 11)
    False
    """
    before = line[max(0, start - MAX_DENIAL_CHARACTERS) : start]
    if _WEAKENING.search(before):
        return True
    return _ASKED.match(line, end) is not None and _QUESTION.search(before) is not None


# Words behind an answer that take it back: `Just kidding`, `I don't know.`
_TAKEN_BACK = re.compile(
    r"\bjust[ ]+kidding\b|\bI[ ]+(?:made[ ]+that[ ]+up|give[ ]+up)\b"
    r"|\bI[ ]+(?:don['’]t|do[ ]+not)[ ]+(?:really[ ]+|actually[ ]+)?know(?=\s*[.!]|\s*$)",
    re.IGNORECASE,
)


def is_taken_back(text: str, position: int) -> bool:
    """Whether the text behind an answer takes it back."""
    return _TAKEN_BACK.search(text, position) is not None


# A short value: `5`, `-3/4`, `$x^2$`.
_VALUE = r"(?:\$[^$\n]{1,80}\$|[-−]?\d[\d.,/]{0,40}(?<![.,]))"
# A second value behind the first, in the same line: the `6` of `5. Or 6`, of `5 as well as 6`, of
# `5 if n is odd and 6 if n is even`, of `5 and the answer is 6`.
_SECOND = re.compile(
    rf"(?P<first>{_VALUE})(?:[.!?]\s+(?:or|maybe|perhaps|possibly|alternatively)\b,?\s+"
    rf"|,?\s+as\s+well\s+as\s+"
    rf"|,?\s+(?:and|or)\s+(?:maybe\s+|perhaps\s+|else\s+)?the\s+(?:final\s+)?answer\s+is\s+"
    rf"|,?\s+(?:if|when)\b[^.\n]{{0,80}}?[\s,;](?:else|otherwise)[\s,]+)(?P<second>{_VALUE})"
    rf"|(?P<one>{_VALUE}),?\s+(?:if|when|for)\b[^.\n]{{0,80}}?(?:,\s|;\s|\sand\s)(?:and\s+)?"
    rf"(?P<other>{_VALUE})\s+(?:if|when|for)\b",
    re.IGNORECASE,
)


def is_offered_beside(announced: re.Match[str], again: re.Match[str]) -> bool:
    """Whether a second announcement of an answer is an alternative to the first one."""
    match = _SECOND.match(announced.string, announced.end())
    return match is not None and match.end() > again.start()


def offered_values(text: str, position: int) -> tuple[str, str] | None:
    """The two values that an announcement offers behind a position; None where it offers one.

    >>> offered_values("The answer is 5. Or 6.", 14), offered_values("It is 5 if n is odd.", 6)
    (('5', '6'), None)
    """
    match = _SECOND.match(text, position)
    if match is None:
        return None
    first, second = match["first"] or match["one"], match["second"] or match["other"]
    return first.strip("$"), second.strip("$")


# The letter of an option: `(b)`, `B`, `[B]`.
_OPTION = r"(?:[(\[][A-Za-z][)\]]|[(\[]?\b[A-Z]\b[)\]]?)"
_NOUN = r"(?:(?i:option|choice|answer)s?\s+)?"
# An option further on in a list, unless a statement about it begins there: `C is` is none.
_NEXT = rf"{_NOUN}{_OPTION}(?![)\]]?\s+(?i:is|are|must|remains?|stands|looks|seems|has)\b)"
# A list of options, up to the one behind its `and`: the `A, C and D` of `A, C and D, option B`.
_OPTIONS = rf"{_NOUN}{_OPTION}(?:\s*,\s*{_NEXT})*(?:(?:\s*,)?\s+(?i:and|or)\s+{_NEXT})*"
# The options that `not` denies: one, or a list that ends with `or`. In `not A, B` B is chosen.
_NEITHER = rf"{_NOUN}{_OPTION}(?:(?:\s*,\s*{_NEXT})*(?:\s*,)?\s+(?i:n?or)\s+{_NEXT})?"
# Options with the words that reject them: `ruling out A and C`, `not (B)`, `B is wrong`.
REJECTED_OPTION = re.compile(
    rf"(?i:{_DISOWNING}(?:final[ ])?(?:option|choice|answer)s?(?:\s*(?:is|are|:))?\s*){_OPTIONS}"
    rf"|(?i:\b(?:reject|eliminat|exclud|discard)(?:e?[sd]|e|ing)?\s+|\brul(?:e[sd]?|ing)\s+out\s+)"
    rf"{_OPTIONS}"
    rf"|\(?(?i:\b(?:and|but)\s+)?(?i:(?:\bnot|n['’]t)\s+){_NEITHER}"
    rf"|(?i:\b(?:option|choice)\s+)?{_OPTION}\s+(?:(?i:fails)\b"
    rf"|(?i:is|was|looks|seems|must\s+be|has\s+been)"
    rf"\s+(?i:wrong|false|incorrect|eliminated|rejected|excluded|discarded|ruled\s+out)\b"
    rf"|(?i:is|was)(?i:n['’]t|\s+not)\b(?:\s+{_NEITHER})?)"
)
