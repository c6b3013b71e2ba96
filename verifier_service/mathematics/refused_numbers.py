"""Numbers that a sentence speaks against, sets aside or uses up: `This contradicts n = 6.`"""

from __future__ import annotations

import re

_MAX_CHARACTERS = 120
"""Most characters on each side of a number that are read."""

# The end of the text before a number: its name, what it is, signs.
_TO_NUMBER = (
    r"(?:\s+(?:the|an?|our|this))?(?:\s+(?:value|number|result|answer|claim|guess|case))?(?:\s+of)?"
    r"\s+\$?(?:[a-zA-Z](?:\([a-z]\))?\s?(?:=|is)\s?)?[$€£*(]{0,3}\Z"
)
_AGAINST = re.compile(
    r"\b(?:(?:contradict|refut|disprov)(?:e?[sd]|ed|es|e|ing)?|distrust(?:s|ed)?"
    r"|(?:disagree[sd]?|clash(?:es)?|at\s+odds)\s+with"
    r"|(?:speaks?|argues?|evidence)\s+against|opposite\s+of"
    r"|(?:nothing|nobody|no\s+one)\s+(?:supports?|confirms?|suggests?|believes?|yields?|gives?)"
    r"|(?:trap|distractor|decoy|red\s+herring"
    r"|(?:first|initial|wrong|bad)\s+guess)"
    r"(?:\s+(?:here|value|number|one|answer))?\s+(?:is|was|would\s+be)"
    r"|(?:some|many|others|an?\s+(?:careless|hasty|naive|weak|sloppy)\s+\w{2,12})\s+"
    r"(?:would|might|may|could|will)\s+(?:say|answer|guess|think|conclude)"
    r"|about\s+to\s+(?:say|write|answer|guess)"
    r"|(?:do|does|did)(?:n['’]t|\s+not)\s+(?:trust|like|buy|accept)"
    r"|we\s+(?:now\s+|then\s+)?(?:subtract|multiply\s+by|divide\s+by)"
    r"|(?:know|tell|say)\s+(?:whether|if)|not\s+the\s+case\s+that|(?:is\s+)?orthogonal\s+to|we\s+substitute"
    r"|(?:multiply|divide)\s+(?:this|that|it)\s+by|to\s+(?:get|find|obtain)\s+the\s+(?:total|sum|result)\s+we\s+add)"
    rf"{_TO_NUMBER}",
    re.IGNORECASE,
)
# The beginning of a sentence about another problem: `In the easier version it is `.
_ELSEWHERE = re.compile(
    r"\b(?:in|for)\s+(?:the|an?)\s+(?:easier|simpler|harder|similar|naive|simplified)\s+"
    r"(?:version|problem|variant|question|model|exercise|task)\b"
    r"(?:(?!\b(?:so|but|thus|hence|here|now)\b)[^.;:?\n]){0,60}\Z",
    re.IGNORECASE,
)
# The rest of a sentence that sets the number before it aside: ` gives a contradiction.`, ` must be
# discarded.`, ` is only part of the total.`
_SET_ASIDE = re.compile(
    r"[$*)]{0,3}(?:\s(?:solution|root|value|case))?\s"
    r"(?:(?:gives|yields|leads\s+to|is|would\s+be)\s+an?\s+contradiction"
    r"|(?:must|has\s+to|have\s+to|should)\s+be\s+(?:discarded|rejected|excluded|dropped)"
    r"|is\s+(?:just|only|merely)\s+(?:the\s+first|an?\s|part\b|one\s+of|half\b)|is\s+(?:an?\s+)?intermediate\b"
    r"|(?:still\s+)?(?:has|have|needs?)\s+to\s+be\s+(?:doubled|halved|tripled|squared|divided|multiplied)"
    r"|cancels?\b|contradicts\b"
    r"|(?:the\s+)?(?:equation|formula|condition|argument|proof)\s+(?:fails|breaks\s+down))"
    r"(?![^\n]{0,200}\b(?:so|hence|thus|therefore|then)\b)",
    re.IGNORECASE,
)


def is_refused_number(line: str, start: int, end: int) -> bool:
    """Whether the sentence of a number between two positions speaks against it or sets it aside.

    >>> is_refused_number("This contradicts n = 6.", 21, 22)
    True
    >>> is_refused_number("This confirms that n = 6.", 23, 24)
    False
    >>> is_refused_number("But 6 must be discarded.", 4, 5)
    True
    """
    before = line[max(0, start - _MAX_CHARACTERS) : start]
    if _AGAINST.search(before) or _ELSEWHERE.search(before):
        return True
    return _SET_ASIDE.match(line, end, end + 2 * _MAX_CHARACTERS) is not None


def is_set_aside(sentence: str) -> bool:
    """Whether a sentence sets its first number aside: `35 still has to be doubled.`"""
    number = _FIRST_NUMBER.search(sentence)
    return number is not None and _SET_ASIDE.match(sentence, number.end()) is not None


# The first number of a sentence: the `35` of `35 cancels.`
_FIRST_NUMBER = re.compile(r"\d[\d,]{0,20}(?:\.\d{1,20})?")
