"""Answers that a text offers beside its own: the `6` of `Backup answer: 6`, of `6 also works.`

An offer is a whole clause. One that goes on to compare (`6 also works. But 5 is smaller.`) offers
nothing. Everything here takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from verifier_service.mathematics.closing_numbers import number_text

MAX_CHARACTERS = 1000
"""Longest end of a text in which offers are sought."""
_MAX_BEFORE_BOX = 120
"""Most characters before the last box in which offers are sought."""
_MAX_BETWEEN = 60
"""Most characters between the label of an offer and the answer behind it."""


@dataclass(frozen=True)
class FurtherAnswer:
    """An offer of another answer."""

    value: str
    position: int
    """Its place in the text without offers."""
    is_labelled: bool
    """Whether a label names it, as in `Backup answer: 6`; only then it can stand before the own."""


# A short value: `6`, `-3/4`, `$x^2$`, `\boxed{6}`, `(B)`; `A` before a word is an article.
_VALUE = (
    r"(?P<{0}>\$?\\boxed\{{[^{{}}$\n]{{1,60}}\}}\$?|\$[^$\n]{{1,60}}\$"
    r"|\\[dt]?frac\{{[^{{}}\n]{{1,20}}\}}\{{[^{{}}\n]{{1,20}}\}}"
    r"|[-−]?[$€£]?\d[\d,]{{0,20}}(?:\.\d{{1,20}})?(?:/\d{{1,9}})?(?:\\?%)?"
    r"|\(?(?-i:[A-J])\)?(?![\w'’])"
    r"(?![ ](?!(?:if|when|unless)\b)[a-z]))"
)
_BOLD = r"[*_]{0,3}"
# The beginning of a clause: of a line, a sentence or a bracket, with marks of Markdown.
_BEGINS = r"(?:\A|\n|[.!?;]{1,3}[ ]{1,3}|\()[\s*_>#(-]{0,6}"
# The end of a clause, perhaps behind a unit: ` cm.`, `**`, `, if you count zero`.
_ENDS = (
    r"(?:[ ](?!(?:more|less|fewer|times|percent|plus|minus|or|and|is|was)\b)[a-z]{1,12}){0,2}"
    rf"{_BOLD}\)?(?=[ \t]{{0,9}}(?:[!?;\n)]|\.(?!\d)|\Z)"
    r"|,[ ](?:if|when|unless|depending|in[ ]case)\b)"
)
_ARTICLE = r"(?:(?:my|the|our|an?|one)[ ])?(?:(?:possible|valid|acceptable|plausible|likely)[ ])?"
# A clause that names a further answer: `Backup answer: 6`, `Another possible answer is 6`.
_LABELLED = re.compile(
    rf"(?:{_BEGINS}|,[ ])(?P<offer>{_ARTICLE}"
    r"(?:(?:(?:alternat(?:iv)?e|back-?up|fall-?back|secondary|spare|reserve|hedge)s?"
    r"(?:[ ](?:possible[ ])?(?:answer|choice|guess|option|value|result)s?)?"
    r"|plan[ ]B|second[- ]best|next[- ]best|less[ ]likely|runner-up"
    r"|(?:second|other|next|(?:second|next)[- ]best)\s(?:possible\s|best\s)?"
    r"(?:(?:answer|choice|guess)s?|option|possibility)"
    r"|another[ ](?:(?:possible|valid|acceptable|plausible|correct|right)[ ])?"
    rf"(?:answer|choice|guess|option|possibility|candidate)){_BOLD}[ ]?[:=]{_BOLD}"
    r"|(?:(?:alternat(?:iv)?e|back-?up|fall-?back|secondary)\s(?:possible\s)?(?:answer|choice|guess|option)"
    r"|(?:second|other|next|(?:second|next)[- ]best)[ ](?:possible[ ]|best[ ])?(?:answer|guess)"
    r"|another[ ](?:(?:possible|valid|acceptable|plausible|correct|right)[ ])?"
    r"(?:answer|option|possibility|candidate))[ ](?:is|would[ ]be|could[ ]be|might[ ]be))"
    rf"[ \n]{{1,2}}{_BOLD}(?:{_VALUE.format('value')}"
    rf"(?:{_ENDS}|(?=,?[ ](?:(?:or|and)[ ])?[$\d-]|[ ]\())"
    r"|(?P<other>(?=[^\n]{0,60}[\d+*/^=])(?:[^\sA-Za-z]|\\[a-z]{1,8}|(?<![A-Za-z])[a-z](?![A-Za-z])"
    r"|[ ](?=[-+*/=\\\d]|[a-z]\b)){1,60}(?=[.]?\s{0,3}(?:\n|\Z)))))",
    re.IGNORECASE,
)
# A clause for the case that the answer is refused: `If that is wrong: 6`, `Otherwise, use 6.`
_FALLBACK = re.compile(
    rf"{_BEGINS}(?P<offer>"
    r"(?:(?:and|or|but)\s)?(?:(?:if|in\scase|should)\s"
    r"(?:not\b|wrong\b|rejected\b|(?:that|this|it|the\sanswer|my\sanswer)\b"
    r"[^.,:\n]{0,30}\b(?:wrong|incorrect|rejected|refused|not[ ]\w{2,12}|no[ ]good|mistaken)\b)"
    r"[^.,:\n]{0,20}[,:]?|(?:or\s)?else\b,?|otherwise\b,?|failing\sthat\b,?|alternatively\b[,:]?"
    r"|(?:(?:hmm|wait|well)[,.]{0,3}\s)?(?:or\b(?:\s(?:maybe|perhaps|possibly|even))?|maybe|perhaps|possibly)[,:]?"
    r"|(?:actually|hmm|wait)[,:.]{0,3}(?=\s[*_$]{0,3}[-\d\\])"
    r"|same\sfor\b|so\sdoes\b"
    r"|(?:(?:but|and)\s)?(?:it|this|the\sanswer)\s(?:could|might|may)\s(?:also|equally|just\sas\swell)\sbe)"
    r"\s(?:(?:then|please|use|try|take|read|accept|it|is|the|my|second|final|answer|i['’]d|say|i|would"
    r"|go|with|choose|pick|select|put|mark|as|could|might|may|be|also|maybe|perhaps|possibly)[\s,]{1,2}){0,7}"
    rf"{_BOLD}{_VALUE.format('value')}{_ENDS})",
    re.IGNORECASE,
)
# A line that takes the answer back for another value, behind which nothing is stated:
# `Wait, actually 6.`, `No, it is 6.`
_CORRECTION = re.compile(
    rf"\n[\s*_>#(-]{{0,6}}(?P<offer>(?:(?:oh|hmm|wait|no|oops|sorry|actually|correction"
    r"|scratch[ ]that|make[ ]that|I[ ]mean|I[ ]meant)\b[,:.!…]{0,3}[ ]){1,4}"
    r"(?:(?:it|that|this|the|my|answer|is|should|must|be|I|think|mean|meant|now|get|say|make|final|correct"
    r"|right|actually|it['’]s|that['’]s)[ ,:]{1,2}){0,7}"
    rf"{_BOLD}{_VALUE.format('value')}{_ENDS})(?=[^\d\\]*\Z)",
    re.IGNORECASE,
)
# A clause that calls another value as good: `6 also works.`, `$6$ is acceptable, too.`
_AS_GOOD = re.compile(
    rf"(?:{_BEGINS}|,[ ])(?P<offer>"
    r"(?:(?:and|but|though|although|note(?:[ ]that|:)|or|I[ ]think)[ ])?"
    rf"(?:the\s(?:value|number|answer)\s)?(?:[a-z]\s?=\s?)?{_BOLD}(?P<value>{_VALUE.format('one')}|\(?(?-i:[A-J])\)?(?![\w'’])){_BOLD}\s"
    r"(?:(?:also|equally)\s(?:works|fits|qualifies|counts)|(?:works|fits|qualifies)\s(?:too|as\swell|also|equally)"
    r"|(?:is|are)\s(?:also\s|equally\s|just\sas\s)(?:an?\s)?(?:possible|right|correct|valid|fine|good"
    r"|acceptable|plausible|answer)(?:[ ]answer)?"
    r"|(?:is|would[ ]be)[ ](?:possible|right|correct|valid|acceptable|plausible|fine|ok(?:ay)?),?"
    r"[ ](?:too|as[ ]well)"
    r"|(?:would|could|might|may)\s(?:also|equally)\s(?:work|do|fit|be\s(?:an?\s|the\s)?(?:right|correct|valid"
    r"|fine|accepted|acceptable|answer))"
    r"|is\s(?:an(?:other)?|the\sother)\s(?:valid\s|possible\s|alternative\s)?(?:possibility|option|answer|candidate)"
    r"|is\s(?:my|the)\s(?:(?:second|other)\s(?:choice|guess|answer|option)"
    r"|(?:back-?up|fall-?back|alternative)(?:\s(?:choice|guess|answer|option))?))"
    r"(?=[ \t]{0,9}(?:[.!;\n)]|\Z)))",
    re.IGNORECASE,
)
# Brackets behind a value with what it is under another condition: ` (or 6 if you count zero)`.
_IN_BRACKETS = re.compile(
    r"(?<=[\d}$*)\]A-Ja-z])[$*]{0,3}(?P<offer>[ ]{1,2}\("
    r"(?:(?:or|and|but|alternatively|otherwise),?[ ])?(?:"
    rf"{_BOLD}{_VALUE.format('value')}{_BOLD}(?:\s[a-z]{{1,12}})?,?\s(?:if|when|unless|depending)\b"
    r"(?:(?!\bnot\b|n['’]t\b|\bbut\b|\bhad\b|\bwere\b|\bwould\b|\bwrong|\bround)[^()\n]){0,100}"
    r"|(?:if|when|unless)\b(?:(?!\bnot\b|n['’]t\b|\bbut\b|\bhad\b|\bwere\b|\bwould\b|\bwrong|\bround)[^()\n,]){1,80},"
    rf"[ ](?:then[ ]|it[ ]is[ ]){{0,2}}{_VALUE.format('other')})\))",
    re.IGNORECASE,
)
# The clauses, each with parts of words without which no text has it: these are found far sooner.
_CLAUSES = (
    (
        _LABELLED,
        "lternat|nother |ack-up|ackup|all-back|allback|econd|ext best|ext-best|ther ans"
        "|ther cho|ther gue|ther opt|ther pos|plan B|Plan B|spare |Spare |eserve |edge: "
        "|edge answer|ess likely|unner-up",
    ),
    (
        _FALLBACK,
        "lse |lse,|therwise|lternatively|ailing that|f that|f this|f it |f it's|f the answer"
        "|f my answer|f not|f wrong|f rejected|n case |hould "
        "|ame for |o does |so be |ly be |ll be |\nor |\nOr |\nor\n|\nOr\n|\nor:|\nOr:|. or |. Or "
        "|(or |; or |, or |aybe|erhaps|ossibly|ctually|mm, |ait, ",
    ),
    (_CORRECTION, "\n"),
    (
        _AS_GOOD,
        "also |equally | too|s well|just as |choice|guess|option|possibility|another "
        "|the other |back-up|backup|fallback|alternative",
    ),
    (_IN_BRACKETS, "(or |(if |(when |(unless | if | when | unless | depending "),
)
_WORDS = tuple(tuple(words.split("|")) for _, words in _CLAUSES)
# Words behind an offer that choose between the values, or say that it is none: `5 is smaller`.
_SETTLES = re.compile(
    r"\b(?:small|larg|great|least|minim|maxim|low|high|reject|discard|wrong|incorrect|invalid|extraneous"
    r"|exclud|asked|asks|requir|want|need|same)",
    re.IGNORECASE,
)
_MAX_SETTLING = 120
# A value, or an equation that gives a letter one; no equation to solve: `x = 6`, but not `2x = 10`.
_STATES_VALUE = re.compile(r"(?:[A-Za-z](?:_\w)?\s?=)?[^=]*")
_MARKS = "$*_() "


def without_further_answers(text: str) -> tuple[str, tuple[FurtherAnswer, ...]]:
    """The text without the clauses that offer other answers, and these.

    >>> without_further_answers("It is 5. 6 also works.")
    ('It is 5.', (FurtherAnswer(value='6', position=8, is_labelled=False),))
    >>> without_further_answers("It is 5. 6 also works. But 5 is smaller.")[1]
    ()
    """
    before_box = text.rfind("\\boxed{") - _MAX_BEFORE_BOX
    start = max(0, len(text) - MAX_CHARACTERS, before_box)
    end_of_text = text[start:]
    found = [
        (one.start("offer"), one.end("offer"), _value(one), clause is _LABELLED)
        for (clause, _), words in zip(_CLAUSES, _WORDS, strict=True)
        if any(map(end_of_text.__contains__, words))
        for one in clause.finditer(text, start)
        if not _SETTLES.search(text, one.end("offer"), one.end("offer") + _MAX_SETTLING)
        and _STATES_VALUE.fullmatch(_value(one))
    ]
    if not found:
        return text, ()
    kept, further, end = [], [], 0
    num_kept = 0
    for first, last, value, is_labelled in sorted(found):
        if first < end:
            continue
        first, last = _with_marks(text, first, last, end)
        kept.append(text[end:first])
        num_kept += first - end
        further.append(FurtherAnswer(value, num_kept, is_labelled))
        end = last
    return "".join([*kept, text[end:]]), tuple(further)


def _with_marks(text: str, first: int, last: int, end: int) -> tuple[int, int]:
    """The place of a clause with the marks of Markdown before it and the full stop behind it."""
    while first > end and (text[first - 1] in "*_>#(" or text[first - 2 : first] in ("- ", "> ")):
        first -= 1
    while last < len(text) and text[last] in ".!*_)":
        last += 1
    while first > end and text[first - 1] in " ;,":
        first -= 1
    return first, last


_OPTION_LETTERS = frozenset("ABCDEFGHIJ")


def _value(offer: re.Match[str]) -> str:
    groups = offer.groupdict()
    value = (groups["value"] or groups.get("other") or "").strip("$*_ ")
    if value.startswith("\\boxed{"):
        value = value[len("\\boxed{") : -1]
    letter = value.strip("()")
    return number_text(letter if value[1:2].isalpha() or letter in _OPTION_LETTERS else value)


def offered_beside(text: str, position: int, further: Sequence[FurtherAnswer]) -> tuple[str, ...]:
    """The values that are offered beside the answer at a position of a text without offers."""
    return tuple(
        one.value
        for one in further
        if one.position >= position
        or (
            one.is_labelled
            and position - one.position <= _MAX_BETWEEN
            and text[one.position : position].count("\n") < 3
        )
    )
