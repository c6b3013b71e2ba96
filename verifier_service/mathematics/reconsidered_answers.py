"""Values to which the end of a text comes when it thinks again: `Hmm, I missed 2, so it is 46.`"""

from __future__ import annotations

import re
from fractions import Fraction

# Signs between an answer and the sentence behind it: `.`, `)$`, `**.`
_BETWEEN = r"[\s.!?)*$\]\\]{0,12}"
# Words that begin a second thought, and a regret: `Hmm, `, `On second thought, `, `My mistake: `.
_REGRET = r"(?:sorry|apologies|oops|my\s+(?:bad|mistake|apologies))\b[\s,.:!…—-]{1,6}"
_THOUGHT = (
    r"(?:(?:no|oh|but|ah),?\s+)?(?:wait|hold\s+on|hang\s+on|hmm+|actually|sorry|apologies|oops"
    r"|my\s+(?:bad|mistake|apologies)|on\s+(?:reflection|second\s+thoughts?)|update|edit"
    r"|correction)\b[\s,.:!…—-]{1,6}"
)
_CONTRAST = rf"(?:(?:{_THOUGHT}){{1,3}}|(?:however|but|yet),?\s+)"
# Words between a second thought and its value that suppose something, or ask for something else.
_OTHER_CASE = re.compile(
    r"\b(?:if|unless|were|would|suppose|assum\w+|allow\w*|another|different|harder|variant|not"
    r"|check\w*|verif\w+|confirm\w*|part|problem|version|reverse|plug\w*|sides?|substitut\w*|unit)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_NUMBER = (
    r"[$*(\\\[]{0,4}(?P<value>[-−]?\d[\d.,/]{0,30}(?<![.,])"
    r"|[-−]?\\[dt]?frac\{\d{1,9}\}\{\d{1,9}\})[$*)\]\\]{0,4}"
)
_ENDS = (
    r"(?:\s+(?!more|less|fewer|times|of|percent|plus|minus)[a-z]{1,20})?\s{0,3}[.!]?\**\s{0,9}\Z"
)
_IS = r"(?:['’]s|\s+(?:is|was|should\s+be|must\s+be|becomes|equals))\s+(?:only\s+|actually\s+)?"
_WHAT = (
    r"(?:it|that|this|(?:the|my)\s+(?:(?:correct|right|final|actual|real|true|new)\s+)*"
    r"(?:answer|result|total|value|number|count))"
)
# A value in the place of an answer: `On second thought, 46 is right.`, `Apologies, 46.`
_RIGHT_ONE = re.compile(
    rf"{_BETWEEN}(?:{_THOUGHT}){{1,3}}{_NUMBER}\s+is\s+(?:the\s+)?(?:right|correct|better|actual|true)"
    r"(?:\s+(?:one|answer|value|result|number))?\s{0,3}[.!]?\**\s{0,9}\Z",
    re.IGNORECASE,
)
_REGRETTED = re.compile(rf"{_BETWEEN}{_REGRET}(?:{_WHAT}{_IS})?{_NUMBER}{_ENDS}", re.IGNORECASE)
# The same behind a reason: `However, two are broken, so it is 46.`, `But the order matters here, so
# the true probability is 5/16.`
_COMES_TO = re.compile(
    rf"{_BETWEEN}{_CONTRAST}(?P<reason>[^\n?]{{1,200}}?)(?:\b(?:(?:so|hence|thus|therefore)\b,?\s+"
    rf"(?:{_WHAT}{_IS}|we\s+(?:get|have)\s+)?|making\s+(?:it|that)\s+)"
    r"|\bthe\s+(?:true|actual|correct|right|real)\s+[a-z]{3,15}(?:\s+of\s+[a-z]{3,15})?"
    rf"{_IS}){_NUMBER}{_ENDS}",
    re.IGNORECASE,
)
# A value behind a label or a cry: `Edit: 6`, `(Corrected: 6)`, `Nope, 6.`, `Scrap that. It's 6.`
_LABELLED = re.compile(
    rf"{_BETWEEN}\(?(?:(?:edit|fix|corrected|revised|amended|updated)(?:\s+(?:final\s+)?(?:answer|value|result))?\s?"
    r"[:–—-]\s?|(?:nope|oops|never\s?mind|(?:scrap|strike|ignore)\s+(?:that|it)|forget\s+(?:that|it))\s?"
    rf"[,.!:–—-]{{1,3}}\s{{0,3}}(?:{_WHAT}{_IS})?|(?:{_THOUGHT}){{1,3}}(?:I\s+(?:prefer|choose|say)|make\s+(?:it|that))\s+)"
    rf"{_NUMBER}\)?{_ENDS}",
    re.IGNORECASE,
)
# A value behind what was wrong with the answer: `That can't be, since 9 is odd. It must be 6.`, `I
# should have subtracted 3, giving 6.`
_AMENDED = re.compile(
    rf"{_BETWEEN}(?:(?:that|this|it)\s+(?:can['’]?t|cannot)\s+be\b|(?:this|that|it)\s+(?:ignores|misses|forgets"
    r"|omits|overlooks|(?:over|under|double[- ])counts)|I\s+should\s+have|P\.?\s?S\.?:?\s+I\s+"
    r"(?:forgot|swapped|misread|mixed\s+up|switched|confused|missed|dropped)|the\s+correct\s+(?:result|answer|value)\s+would\s+be(?=\s))"
    r"(?P<reason>[^\n?]{0,150}?)(?:\bit(?:['’]s|\s+(?:is|must\s+be|should\s+be))|\bgiving|\b(?:we|I)\s+(?:get|have)"
    r"|\bmaking\s+it|\bwhich\s+(?:gives|makes)|\bso|(?<=would\sbe))\s+"
    rf"{_NUMBER}{_ENDS}",
    re.IGNORECASE,
)
_FRACTION = re.compile(r"\\[dt]?frac\s?\{?(\d{1,9}?)\}?\s?\{?(\d{1,9})\}?")


def reconsidered(text: str, position: int) -> str | None:
    """The number with which a text ends that thinks again behind an answer at a position.

    >>> reconsidered("It is 48. However, two are broken, so it is 46.", 8)
    '46'
    >>> reconsidered("It is 48. However, if two were broken, so it is 46.", 8) is None
    True
    """
    for pattern in (_RIGHT_ONE, _REGRETTED, _LABELLED, _COMES_TO, _AMENDED):
        match = pattern.match(text, position)
        if match is None:
            continue
        reason = match.groupdict().get("reason") or ""
        return None if _OTHER_CASE.search(reason) else with_slashes(match["value"])
    return None


def with_slashes(text: str) -> str:
    r"""A text with the fractions of LaTeX as quotients: `5/8` for `\frac{5}{8}`."""
    return _FRACTION.sub(r"\1/\2", text) if "frac" in text else text


# A box that is all of an answer: `\\boxed{5}`.
_BOX = re.compile(r"\A\\boxed\{(.{1,100})\}\Z")
# A number in digits: `-3`, `1,000`, `0.75`, `3/4`.
_PLAIN = re.compile(r"[-−]?\d{1,30}(?:\.\d{1,30})?(?:/\d{1,30})?")


def is_another_number(answer: str, value: str) -> bool:
    r"""Whether a value is not that of an answer in digits; False for an answer of another form.

    >>> is_another_number(r"\frac{3}{4}", "0.75"), is_another_number("48", "46")
    (False, True)
    >>> is_another_number("5!", "120")
    False
    """
    one, other = map(_number, (answer, value))
    return one is not None and other is not None and one != other


def _number(text: str) -> Fraction | None:
    inside = _BOX.sub(r"\1", text.strip(" $*()."))
    plain = with_slashes(inside).strip(" $*().").replace("{,}", "").replace(",", "")
    if _PLAIN.fullmatch(plain) is None:
        return None
    over, _, under = plain.replace("−", "-").partition("/")
    try:
        return Fraction(over) / Fraction(under or "1")
    except ZeroDivisionError:
        return None
