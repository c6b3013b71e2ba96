"""Answers in words that a closing sentence states: the `Saturday` of `The day is Saturday.`

A sentence that denies, doubts or offers several answers states none. What is taken for the answer
is the whole end of the sentence, so that `anything but Saturday` stays that.
"""

from __future__ import annotations

import re

MAX_CHARACTERS = 300
"""Longest line that is read."""
_MAX_WORDS = 5
"""Most words of an answer."""
_MAX_WORDS_OF_SUBJECT = 15

# A word that doubts, offers an alternative or sets a condition: `perhaps`, `or`, `if`.
DOUBT = re.compile(
    r"\b(?:or|nor|either|neither|maybe|perhaps|possibl[ey]|probably|presumably|(?-i:may)|might|could|"
    r"unless|if|whether|alternatively|otherwise|unsure|uncertain|unclear|unknown|unlikely|likely|"
    r"seems?|appears?|guess(?:es|ed)?|think|thought|believe[sd]?|suppos\w+|assum\w+|suspect|"
    r"but|though|although|however|except|rather|instead|also|too|both|candidates?|options?|choices?|"
    r"suggest\w*|say|says|said|claim(?!\s+is\s+(?:true|false)\b)\w*|sure|certain)\b|[?/]",
    re.IGNORECASE,
)
# A word that denies: `not`, `isn't`, `wrong`.
DENIAL = re.compile(
    r"\b(?:not|no|never|cannot|none|nobody|nothing|hardly|wrong|incorrect\w*|false|untrue|fails?|"
    r"mistake\w*|impossible|exclud\w+|reject\w*|eliminat\w+|rul(?:ed?|ing)\s+out|den(?:y|ies|ied)|"
    r"other|another|previous|next|opposite|contrary|far|instead|before|after|until)\b|n['’]t\b",
    re.IGNORECASE,
)
# A sentence with its subject, and what it says of that: `The day`, `Saturday`.
_STATEMENT = re.compile(
    r"(?P<subject>[^.!?;]+?)\s+(?:is|are|was|were|equals|falls|must\s+be|will\s+be|would\s+be)\s+"
    r"(?:(?:thus|therefore|then|indeed|simply|exactly|definitely|clearly|always|called|named"
    r"|known\s+as)\s+)?"
    r"(?P<answer>[^.!?;:,]+)",
    re.IGNORECASE,
)
# Words before a day or a place: the `on a ` of `It is on a Thursday.`
_PREPOSITION = re.compile(r"(?:on|in)\s+(?:(?:an?|the)\s+)?(?=[A-Z])")
# An option of which something is said: the `option B` of `So option B is correct`.
_OPTION = re.compile(
    r"(?:(?:so|thus|hence|therefore),?\s+)?(?:(?:the\s+)?(?:option|choice|answer)\s+)?"
    r"(?-i:\(?[A-J]\)?)",
    re.IGNORECASE,
)
# A word of an answer: `Saturday`, `well-known`.
_WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# A chemical formula with numbers of atoms: `C6H12O6`, `CO₂`.
_FORMULA = re.compile(r"(?<![\w$\\])(?=\w*[0-9₀-₉])(?:\(?[A-Z][a-z]?\)?[0-9₀-₉]{0,3}){1,12}(?!\w)")
# What a sentence says is not there: the `no real roots` of `It has no real roots`.
_NONE = re.compile(
    r"(?P<subject>.*?)\b(?:has|have|had|there\s+(?:is|are|exists?)|admits?|possess(?:es)?)\s+"
    r"(?P<answer>(?:no(?:\s+(?:real|integer|rational|positive|complex|such|such\s+real))?"
    r"|infinite(?:ly\s+many)?)\s+(?:solutions?|roots?|integers?|numbers?|values?|zeros?|intersections?))",
    re.IGNORECASE,
)
# The same in Chinese: the `无解` of `方程无解`.
_NONE_IN_CHINESE = re.compile(r"(?P<subject>[^无，。]*)(?P<answer>无(?:实数)?解)。?")
# What holds always: the `all real numbers` of `It holds for all real numbers`.
_ALWAYS = re.compile(
    r"(?P<subject>.*?)\b(?:holds?|(?:is|are)\s+(?:true|satisfied|valid))\s+for\s+"
    r"(?P<answer>(?:all|any|every)\s+real\s+(?:numbers?|values?))(?:\s+(?:of\s+)?[a-z])?",
    re.IGNORECASE,
)
# What does not exist or does not converge: the `does not exist` of `The limit does not exist`, the
# `converges` of `The series converges by the ratio test`.
_MISSING = re.compile(
    r"(?P<subject>.*?)\b(?P<answer>does\s+not\s+exist"
    r"|diverges|(?:converges|is\s+convergent)(?:\s+(?:absolutely|conditionally))?"
    r"|do(?:es\s+not|esn['’]t)\s+converge|is\s+(?:(?:absolutely|conditionally|not)\s+)?convergent|is\s+divergent)"
    r"(?:\s+by\s+(?:the\s+)?[\w' -]{1,40}\stest)?",
    re.IGNORECASE,
)
_SET_PHRASES = (_NONE, _NONE_IN_CHINESE, _ALWAYS, _MISSING)
# The beginning of a line that answers yes or no: the `Yes, ` of `Yes, it is.`
_YES_OR_NO = re.compile(
    r"(?:(?P<yes>yes)\b(?:[,.!:;–—-]|\s|$)"
    r"|(?P<no>no)\b(?:[,.!:;–—]|\s*$|\s+(?=(?:it|they|he|she|this|that|we|you|i)\b)))\s*",
    re.IGNORECASE,
)
# A denial behind `Yes`, for which `Yes` is no clear answer: `not`, `no`.
_AGAINST_YES = re.compile(r"\b(?:no|not|never|cannot|neither|nor|wrong|false)\b|n['’]t\b", re.I)
# Words behind `No` that say yes: `yes`, or `it is` alone.
_AGAINST_NO = re.compile(
    r"\byes\b|^(?:it|they|he|she|this|that|there|we|you|i)\s+"
    r"(?:is|are|was|were|does|do|did|can|will|would|has|have|must)[\s.!]*$",
    re.IGNORECASE,
)
# The space between two sentences.
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+")
# The verb of a sentence in short: the `It's` of `It's Paris.`
_IN_SHORT = re.compile(r"^((?:so,?\s)?(?:it|that|this))['’]s\b", re.IGNORECASE)
# Mathematics whose content does not matter: `$x^2 = -1$`.
_MATHEMATICS = re.compile(r"\$[^$]+\$|\\\((?:(?!\\\)).)*\\\)")
# A thing in front of its formula: the `equation $` of `the equation $x^2 = -1$ has no solution`.
_NAMED = re.compile(
    r"\b(?:equations?|systems?|inequalit(?:y|ies)|congruences?|polynomials?|functions?|limits?"
    r"|series|sums?|integrals?)\s+$",
    re.IGNORECASE,
)


def stated_words(line: str) -> str | None:
    """The answer in words that a line states; None where it states none, or more than one.

    >>> stated_words("The day is Saturday."), stated_words("Yes, it is.")
    ('Saturday', 'Yes')
    >>> stated_words("So the equation has no solution.")
    'no solution'
    >>> stated_words("The day is not Saturday."), stated_words("It is Saturday or Sunday.")
    (None, None)
    """
    line = line.strip(" \t*_")
    if not line or len(line) > MAX_CHARACTERS or line.endswith("?"):
        return None
    named = _with_named_mathematics(line := _IN_SHORT.sub(r"\1 is", line))
    if named is None:
        return None
    if (verdict := _YES_OR_NO.match(named)) is not None:
        return yes_or_no(verdict, named[verdict.end() :])
    if any(map(str.isdigit, _FORMULA.sub("", named))):
        return None
    sentences = _BETWEEN_SENTENCES.split(named)
    answer = _answer_of(sentences[-1], may_be_any=named == line)
    if answer is None or not _is_whole(line, answer):
        return None
    stated = [_parts_of(sentence) for sentence in sentences]
    same = {words.casefold() for subject, words in stated if subject == stated[-1][0]}
    return answer if len(same) <= 1 else None


# Words in bold behind a verb with which a sentence ends, whatever numbers it has before: the
# `Tuesday` of `So 100 days later it will be **Tuesday**.`
_IN_BOLD = re.compile(
    r"(?:(?!\bnot\b|\bn(?:or|ever)\b|n['’]t\b)[^.!?;:*\n]){1,120}\s(?:is|was|will\s+be|falls\s+on)"
    r"\s(?:on\s)?(?:(?:an?|the)\s)?\*\*(?P<words>[A-Z][a-z]{2,20}(?:\s[A-Z][a-z]{2,20}){0,2})\*\*[.!]?\s{0,9}"
)


def stated_in_bold(line: str) -> str | None:
    """The words in bold with which a sentence with numbers ends; None for any other line.

    >>> stated_in_bold("So 100 days later it will be **Tuesday**.")
    'Tuesday'
    """
    found = _IN_BOLD.fullmatch(line.strip())
    if found is None or not any(map(str.isdigit, line)) or DOUBT.search(line):
        return None
    return None if _DENIED_IN_BOLD.search(line) else found["words"]


_DENIED_IN_BOLD = re.compile(
    r"\b(?:wrong|incorrect|false|impossible|unlikely|cannot|no|none|previous|other|another|correct|right"
    r"|true|answer)\b",
    re.IGNORECASE,
)


def _with_named_mathematics(line: str) -> str | None:
    """The line with names in place of formulas that stand behind their names; None with others."""
    if "$" not in line and "\\" not in line:
        return line
    formulas = list(_MATHEMATICS.finditer(line))
    if len(formulas) != 1 or not _NAMED.search(line, 0, formulas[0].start()):
        return None
    rest = line[formulas[0].end() :]
    return None if "$" in rest or "\\" in rest else line[: formulas[0].start()] + rest.lstrip()


def yes_or_no(verdict: re.Match[str], rest: str, doubt: re.Pattern[str] = DOUBT) -> str | None:
    """`Yes` or `No`, by the group `yes` of a verdict; None where the rest is against it."""
    against = _AGAINST_YES if verdict["yes"] else _AGAINST_NO
    possible = _POSSIBLE if verdict["yes"] else _NOT_POSSIBLE
    if against.search(rest) or doubt.search(possible.sub("", rest)):
        return None
    return "Yes" if verdict["yes"] else "No"


# What a verdict says of a thing, which is no doubt: the `it is possible` of `Yes, it is possible.`,
# the `it is not possible` of `No, it is not possible.`
_POSSIBLE = re.compile(
    r"\b(?:it|this|that)(?:\s+is|['’]s)\s+(?:(?:indeed|always)\s+)?possible\b", re.IGNORECASE
)
_NOT_POSSIBLE = re.compile(r"\b(?:it|this|that)(?:\s+is|['’]s)\s+not\s+possible\b", re.IGNORECASE)
# Words behind an announced `Yes` or `No` that take it back or bind it to something.
_HALF = re.compile(
    r"\b(?:or|if|unless|but|although|though|however|except|maybe|perhaps|depend\w*)\b",
    re.IGNORECASE,
)


def announced_verdict(statement: str) -> str | None:
    """The yes or no with which an announced sentence begins, unless the rest is against it.

    >>> announced_verdict("No, it could not hold 10 of them."), announced_verdict("Yes, but never.")
    ('No', None)
    """
    verdict = _YES_OR_NO.match(statement)
    rest = "" if verdict is None else statement[verdict.end() :]
    return yes_or_no(verdict, rest, _HALF) if verdict and rest else None


def _answer_of(sentence: str, *, may_be_any: bool) -> str | None:
    """The answer that a sentence states: a set phrase, or any words behind its `is`."""
    sentence = sentence.rstrip(" .!*_")
    if DOUBT.search(sentence):
        return None
    for phrase in _SET_PHRASES:
        if (match := phrase.fullmatch(sentence)) is not None:
            answer = re.sub(r"n['’]t\b", " not", match["answer"])
            return None if DENIAL.search(match["subject"]) else answer
    match = _STATEMENT.fullmatch(sentence)
    if match is None or not may_be_any or DENIAL.search(match["subject"]):
        return None
    if _OPTION.fullmatch(match["subject"]):
        return None
    answer = match["answer"].strip(" *_\"“”'")
    answer = _PREPOSITION.sub("", answer)
    words = answer.split()
    if len(words) > _MAX_WORDS or len(match["subject"].split()) > _MAX_WORDS_OF_SUBJECT:
        return None
    is_denied = len(words) > 1 and DENIAL.search(answer)
    are_words = all(_WORDS.fullmatch(word) or _FORMULA.fullmatch(word) for word in words)
    return answer if are_words and not is_denied else None


def _parts_of(sentence: str) -> tuple[str, str]:
    match = _STATEMENT.fullmatch(sentence.rstrip(" .!*_"))
    return (match["subject"].casefold(), match["answer"]) if match else ("", "")


def _is_whole(line: str, answer: str) -> bool:
    """Whether a line ends with its sentence; one without a full stop may break off."""
    if line.endswith((".", "!", '"', "”", "**")):
        return True
    return len(answer) > 1 and len(line.split()) <= 8
