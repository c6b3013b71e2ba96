"""Remarks at the end of a line that are no part of what it states: ` (3 shirts and 2 pants)`.

Everything here takes time linear in the length of the line.
"""

from __future__ import annotations

import re

REVISING_WORDS = (
    r"or|either|maybe|perhaps|possibly|if|unless|not|but|mod|modulo|base|also|too|otherwise"
    r"|alternatively|actually|really|wait|makes?|mean|wrong|incorrect|correct\w*|mistake\w*|guess\w*"
    r"|should|now|no"
)
"""Words in brackets that offer or revise the value before them, or say how it is written; they
stand in a pattern between bars."""

# A sentence in brackets about what was before, behind another one: ` (There were 40 at first.)`
_IN_BRACKETS = re.compile(
    r"(?<=[.!])\s\((?=[A-Z][^()]{0,100}\b(?:were|was|had|started|began|originally|initially)\b)"
    r"(?![^()]*\b(?:or|but|actually|answers?|wrong|correct\w*|not|alternativ\w+"
    r"|if|unless|maybe|perhaps|possibly|instead|wait|also|either|should|could|might|may|however"
    r"|total|result|redo\w*|recount\w*|think|thought|let|now|mistake\w*"
    r"|gave|found|i|so|thus|hence|therefore|it|sorry|makes?|rather|otherwise)\b|[^()]*n['’]t\b)"
    r"[^()]{3,200}\.\)\s{0,9}\Z",
    re.IGNORECASE,
)
# A check by arithmetic behind a sentence: ` Double check: 23 + 17 = 40.`
_CHECK = re.compile(
    r"(?<=[.!])\s(?:double[- ]check|check|verification|verify)(?:ing)?:\s"
    r"[$\d][-−+*/×·÷\d\s.,$]{2,80}=[-−\d\s.,$]{1,30}\Z",
    re.IGNORECASE,
)
# What a remark with a number may be: `half of 12`, `6 of them children`, `3 shirts and 2 pants`,
# `27 °C`, `reject -5`, `8 from each half`.
_PARTS_IN_BRACKETS = (
    r"(?:half|twice|out|including|of\swhich|\d{1,9}\sof|reject|discard)\b[^()]*"
    r"|[-−]?\d[\d.,]{0,12}\s?°\s?[CF]"
    r"|\d{1,9}\s(?:(?:[a-z]{1,12}\s)?(?:from|for|of|in|on|per|by|at)\s)?(?:each|every)(?:\s[a-z]{1,15}){0,2}"
    r"|\d{1,9}(?:\s[a-z]{1,15}){1,2}(?:,\s\d{1,9}(?:\s[a-z]{1,15}){1,2}){0,5}"
    r",?\sand\s\d{1,9}(?:\s[a-z]{1,15}){1,2}"
    r"|\d{1,9}(?:\s[a-z]{1,15}){1,2}(?:\s[×x*·+÷/]\s\d{1,9}(?:\s[a-z]{1,15}){1,2}){1,5}"
    r"|\d{1,9}\s(?:[a-z]{1,12}\s)?per\s[a-z]{1,15}"
)
# A remark in brackets at the end of a line: the ` (3 shirts and 2 pants)` of `6 outfits (3 shirts
# and 2 pants).` None that offers, rounds or revises a value, or names a base.
_BRACKETED = re.compile(
    r"(?<=[\w%$*])\s\((?=[^()]*[A-Za-z°])"
    rf"(?![^()]*(?:\b(?:{REVISING_WORDS}|could|might|may|would|approx\w*|about|roughly|i\.e|that\sis"
    r"|instead|sorry|answers?|plus|minus|less|before|after|so|thus|rather|oops)\b|n['’]t\b|≈))"
    rf"(?:[^()\d]{{3,200}}|{_PARTS_IN_BRACKETS})\)(?=[.!*]{{0,3}}\s{{0,9}}\Z)",
    re.IGNORECASE,
)
# What was before, in brackets at the end of a line: the ` (she had 14 before)` of `She has 6 now
# (she had 14 before).`
_BEFORE_IN_BRACKETS = re.compile(
    r"(?<=[\w%$*])\s\((?:up|down)\sfrom\s[$€£]?\d[\d,.]{0,12}(?:\s[a-z]{1,15}){0,2}"
    r"\)(?=[.!*]{0,3}\s{0,9}\Z)"
    r"|(?<=[\w%$*])\s\((?:he|she|they|it|there)\s(?:had|was|were|started\swith|began\swith)\s"
    r"[$€£]?\d[\d,.]{0,12}(?:\s[a-z]{1,15}){0,2}"
    r"\s(?:before|earlier|originally|initially|at\sfirst|at\sthe\sstart)\)(?=[.!*]{0,3}\s{0,9}\Z)",
    re.IGNORECASE,
)
# Another number that a line contrasts with its own, at its end: the `, not 6 as one might think` of
# `It is 7, not 6 as one might think.`
_CONTRAST = re.compile(
    r"(?:,\s(?:and\s)?not|,?\s(?:rather\sthan|instead\sof|as\sopposed\sto))\s"
    r"[$€£*]{0,3}\d[\d,]{0,20}(?:\.\d{1,20})?\*{0,2}(?!\S*\d)"
    r"(?:\s(?:as|like)\b(?:\s[^\d\s,]{1,30}){0,12})?(?=[.!]?\s{0,9}\Z)",
    re.IGNORECASE,
)
# What a total includes, at the end of a line: the `, including 24 minutes at home` of `It takes 204
# minutes, including 24 minutes at home.`
INCLUDED = re.compile(
    r",\sincluding\s"
    r"(?![^\n]*\b(?:or|but|so|not|total|makes?|making|leaves?|leaving|thus|then|remain\w*|left|with|altogether"
    r"|in\sall|net|that|gives?|giving|equals?|is|are|was|were|has|have|pays?|costs?|gets?|mistake|twice"
    r"|wrong\w*|invalid|removed?|extraneous|exclud\w*|reject\w*)\b|[^\n]*=(?![^$\n]*\$))"
    r"[^.,;:?\n]{3,120}(?=[.!*]{0,3}\s{0,9}\Z)",
    re.IGNORECASE,
)
# A computation or the parts of a number in brackets behind it, at the end of a text: the ` (12 per
# wall)` of `24 (12 per wall)`.
_PARTS_BEHIND = re.compile(
    rf"(?<=[\w%$*])\s\((?![^()]*\b(?:{REVISING_WORDS})\b)(?:{_PARTS_IN_BRACKETS})\)[.!*]{{0,3}}\s{{0,9}}\Z",
    re.IGNORECASE,
)


def without_parts(line: str) -> str:
    """A line without the parts of its number in brackets at its end.

    >>> without_parts("24 (12 per wall)"), without_parts("24 (mod 7)")
    ('24', '24 (mod 7)')
    """
    return _PARTS_BEHIND.sub("", line, count=1)


# A sentence with a number in bold, and a reason or a part behind it: the `, as 40 of the 70 were
# children` of `There were **30 adults**, as 40 of the 70 were children.`
_REASON_BEHIND_BOLD = re.compile(
    r"(?P<kept>[^*\n?]{0,300}\*\*[$€£]?[-−]?\d[\d,]{0,12}(?:\.\d{1,9})?(?:\s[A-Za-z]{1,15}){0,3}\*\*(?:\s[a-z]{1,12}){0,3}),"
    r"\s(?:as|since|because)\s"
    r"(?![^\n]*(?:\b(?:so|thus|hence|therefore|then|but|or|not|if|unless|otherwise|answer|total|leaving|wrong"
    r"|actually)\b|n['’]t\b|[=≈→]))[^*\n?]{1,200}"
)


def before_reason(line: str) -> str:
    """A line without the reason behind its one number in bold; any other line as it is.

    >>> before_reason("So **30 adults** came, as 40 of the 70 were children.")
    'So **30 adults** came.'
    """
    found = _REASON_BEHIND_BOLD.fullmatch(line)
    return f"{found['kept']}." if found else line


_MAX_REMARK = 400
"""Longest remark that is looked for at the end of a line, with some text before it."""


def without_remarks(line: str) -> str:
    """A line without remarks behind its last sentence or in the end of that.

    They are a sentence in brackets, a check by arithmetic, brackets behind a number, a contrast,
    and what a total includes.

    >>> without_remarks("There are 6 outfits (3 shirts and 2 pants).")
    'There are 6 outfits.'
    >>> without_remarks("There are 8 (make that 6)."), without_remarks("It is 7, not 6.")
    ('There are 8 (make that 6).', 'It is 7.')
    """
    line = _CHECK.sub("", _IN_BRACKETS.sub("", line))
    for pattern in (_BRACKETED, _BEFORE_IN_BRACKETS, _CONTRAST, INCLUDED):
        remark = pattern.search(line, max(0, len(line) - _MAX_REMARK))
        if remark is not None and any(map(str.isdigit, line[: remark.start()])):
            line = line[: remark.start()] + line[remark.end() :]
    return line
