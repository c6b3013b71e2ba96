"""Sentences that plan, suppose, ask or repeat what is given: `Let $x = 6$.`"""

from __future__ import annotations

import re

from verifier_service.mathematics.closing_numbers import RESULT

# The beginning of a sentence that plans, supposes or asks, with no result in it: `Let $x = 6$.`,
# `We want to find how many of the 6 boys play.`, `How many of the 6 boys play?`
_PLANS = re.compile(
    r"[\s*_>#-]{0,9}(?:(?:so|now|next|then|first|finally|therefore|thus|hence|here|and|but)\b,?\s+){0,3}"
    r"(?:(?:let|(?:suppose|assume)(?:\s+that)?|substitut(?:e|ing)|plug(?:ging)?|consider)\b"
    r"|(?:let['’]s|let\s+us|(?:we|I)\s+(?:now\s+)?(?:(?:need|want|have|would\s+like|are\s+asked)\s+to|must"
    r"|will|should))\s+(?:now\s+)?"
    r"(?:find|compute|calculate|determine|check|prove|figure\s+out|know|see)\s+(?:(?:how|what|whether|if|which|the)\b|\$\\?[A-Za-z])"
    r"|(?:find|determine|compute|calculate)(?::\s|\s+(?:the|how|what|which|all)\b)"
    r"|we\s+are\s+given\b|(?:it|this|the\s+answer)\s+depends\s+on\b"
    r"|(?:how|what|which|where|when|why)\b[^?\n]{1,200}\?\W{0,4}\Z)",
    re.IGNORECASE,
)
# A sentence that only repeats what the problem gives: `We are given that $r = 6$.`, `Given: radius
# 6.`, `Given $r=6$, find the area.`
_IS_PREMISE = re.compile(
    r"[\s*_>#-]{0,9}(?:we\s+(?:are|were)\s+given\b(?:(?!\b(?:so|thus|hence|therefore)\b)[^,;\n=]){0,100}"
    r"|given(?::[^,;\n=]{1,60}|\s+(?:that\s+)?(?=\$?[A-Za-z](?:_\w)?\s?=)[^,;\n=]{1,9}))"
    r"(?:=[^,;\n=]{1,40})?"
    r"(?:,\s+(?:find|compute|determine|calculate|evaluate)\b[^\n=]{0,200})?"
    r"|[\s*_>#-]{0,9}the\s+(?:problem|question|exercise|task|text|statement|story)\s+(?:says|states|tells\s+us"
    r"|mentions|gives\s+us)\b(?:(?!\b(?:so|thus|hence|therefore|and|but|which|giving|making|leaving|round\w*)\b)[^,;:\n=?]){1,200}",
    re.IGNORECASE,
)
# A word or sign with which a sentence comes to a result, or a second clause.
_COMES_TO = re.compile(
    r"\b(?:so|then|thus|hence|therefore|get|gets|obtain|gives?|giving|yields?|is|are|equals?|makes?|to\s+be|that"
    r"|conclude|have|leads?|leading|we\s+find|answer|results?|total|final\w*|comes?|produces?|shows?|turns|becomes?)\b|[,;:≈⇒→]|\\(?:approx|to|implies|Rightarrow|rightarrow)\b|=[^=]*=|[.]\s",
    re.IGNORECASE,
)


def plans(sentence: str) -> bool:
    """Whether a sentence only plans, supposes or asks, and comes to no result.

    >>> plans("Let $x = 6$."), plans("How many of the 6 boys play?")
    (True, True)
    >>> plans("Let $x = 6$, so $y = 7$."), plans("Now we find 5 + 6 = 11.")
    (False, False)
    """
    if _IS_PREMISE.fullmatch(sentence):
        return True
    beginning = _PLANS.match(sentence)
    if beginning is None:
        return False
    rest = sentence[beginning.end() :].rstrip(" .*_$")
    return _COMES_TO.search(rest) is None and RESULT.search(sentence) is None
