"""The verdict with which a text begins: the `Yes` of `**True.** Take $x = 2$.`

A question that asks for yes or no is mostly answered in the first words, and the reasons follow.
"""

from __future__ import annotations

import re

from verifier_service.mathematics.closing_words import yes_or_no

_MAX_CHARACTERS = 2000
"""Longest text that is read."""

# The first words of a text that are a verdict: `**Yes**, `, `False. `, `The statement is **true**.`
# What follows `No` without a mark is no verdict: `No doubt`.
_VERDICT = re.compile(
    r"[*_]{0,3}(?:(?:this|the)\s(?:statement|claim|assertion|conjecture|proposition)\sis\s[*_]{0,3})?"
    r"(?:(?P<yes>yes|true)|no|false)(?:[*_]{0,3}\s?[.,!:;–—][*_]{0,3}(?=\s)|[*_]{0,3}(?=\n))",
    re.IGNORECASE,
)
# The first word of reasons, a formula or a line of its own: `since`, `Take`, `$`. What has another
# beginning is mostly no reason: `Yes, I can help!`, `Yes, provided that $n = 1$.`
_BEGINS_REASON = re.compile(
    r"[\s*_]{0,6}(?:(?:since|because|as|for(?!\s(?:some|certain|most|only)\b)|by|take|consider|it|the|this\s(?:holds|follows)"
    r"|there|such|both|every|any|all|each|no|a|an|we|suppose|assume|let\s\$|proof|explanation|reason\w*"
    r"|justification|indeed)\b|[$\\(]|\d)",
    re.IGNORECASE,
)
# The end of the sentence that begins with the verdict.
_END_OF_SENTENCE = re.compile(r"[.!?;](?=\s|\Z)|\n")
# Words behind a verdict that take it back, doubt it or bind it to a condition.
_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually|hmm|however|but|although|unless|otherwise|depend\w*|sometimes|maybe|perhaps"
    r"|alternatively|answer|incorrect|wrong|exceptions?|instead|reconsider\w*)\b"
    r"|\b(?:sorry|scratch|correction|meant|I\smean|opposite|converse|reverse|contrary|matter\sof\staste|re-?check\w*|second\sthought|nope|nein"
    r"|provided|in\scase|in\sgeneral|only\s(?:if|when|for)|one\s(?:might|may|could)\s(?:think|say)|verdict"
    r"|not\ssure|(?:a|that)\s(?:good|great|common|classic\w*)\s[a-z]{1,20})\b"
    r"|\bnot\s(?:necessarily|always|quite|really|so)\b|\?",
    re.IGNORECASE,
)
# A sentence that concludes from the reasons: its words, and not the first ones, are the verdict.
_CONCLUDES = re.compile(
    r"(?:[.!;:]\s|\n)\s{0,9}[*_]{0,3}(?:so|thus|hence|therefore|consequently|finally|in\sconclusion|then)\b",
    re.IGNORECASE,
)
# Words for a claim that holds, behind `No`.
_YES = re.compile(
    r"\b(?:yes|true|correct|indeed|no\sdoubt|nothing|proves?d?|(?:is\s|always\s)(?:valid|satisfied|established|so|possible)|can\sbe\sdone"
    r"|there\s(?:is|exists)\s(?:such|one)|(?<!not\s)(?<!n['’]t\s)(?:it|this|that)\s(?:does\s)?(?:holds?|works?))\b"
    r"|\$\s(?:works|fits)\b",
    re.IGNORECASE,
)
# Words for a claim that fails, behind `Yes`, and a `no` that is a verdict of its own: the one of
# `there is no x` only denies a noun.
_NO = re.compile(
    r"(?:\A|[.,;:!*])\s{0,3}[*_]{0,3}no\b(?!\s(?!(?:for|if|when|in|otherwise)\b)[a-z])"
    r"|\b(?:false|not\strue|(?:claim|statement|assertion|it)\s(?:fails|breaks|is\s(?:refuted|disproved))"
    r"|breaks\s(?:it|the\s(?:claim|statement))|disprove[sdn]?|refute[sd]?|fails|untrue|invalid|violate[sd]?|contradicts|counter-?example)\b",
    re.IGNORECASE,
)


def leading_verdict(text: str) -> str | None:
    """The yes or no with which a text begins; None where the text goes on to change or doubt it.

    >>> leading_verdict("**True.** Take $x = 2$."), leading_verdict("No. Or rather, yes: $x = 2$.")
    ('Yes', None)
    """
    text = text.strip()
    verdict = _VERDICT.match(text) if len(text) <= _MAX_CHARACTERS else None
    if verdict is None:
        return None
    reasons = text[verdict.end() :].lstrip()
    opposite = _NO if verdict["yes"] else _YES
    if _BEGINS_REASON.match(reasons) is None or _TAKEN_BACK.search(reasons):
        return None
    if opposite.search(reasons) or _CONCLUDES.search(reasons):
        return None
    return yes_or_no(verdict, _END_OF_SENTENCE.split(reasons, maxsplit=1)[0])
