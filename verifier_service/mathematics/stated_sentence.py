"""The statement of a sentence: what it says, without the reasons and asides around that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from verifier_service.mathematics.answer_sources import MAX_ANSWER_CHARACTERS
from verifier_service.mathematics.closing_numbers import MAKES_OPERAND
from verifier_service.mathematics.closing_remarks import INCLUDED, REVISING_WORDS
from verifier_service.mathematics.closing_statement import JOINT_WORDS
from verifier_service.mathematics.delimited_math import DelimitedMath, delimited, without_spans
from verifier_service.mathematics.denials import (
    is_unstated,
)
from verifier_service.mathematics.markdown import trimmed

# The end of a sentence, but neither the point of `3.5` nor that of `p. m.` or `Mrs. Wong`.
_SENTENCE_END = re.compile(
    r"\n|(?<!\b[A-Za-z])(?<!\d)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bProf)[.!?](?=\s)|(?<=\d)\.(?=\s|$)|(?<=\b[A-Za-z])\.(?=\s+[A-Z]|\s*$)|。"
)

# A remark in brackets about a value that is no answer: ` (reject $x = -1$)`.
_REJECTED = re.compile(
    r"\((?:we\s)?(?:since|because|as|where|reject\w*|discard\w*|ignor\w*|exclud\w*|not|extraneous"
    r"|including|of\swhich|check(?:ing)?|verif(?:y|ying|ication)|(?:the\s)?other\s(?:root|solution|value)"
    r"|(?:the\s)?(?:root|solution|value|candidate)\s[^()]{1,60}\s(?:is|are|was)\s"
    r"(?:extraneous|rejected|discarded|excluded|invalid|inadmissible|not\svalid))\b"
    r"[^()]*\)[ .*]{0,5}$",
    re.IGNORECASE,
)

# A reason or aside at the end of a sentence: `, since x > 0`, `(see above)`, `, not 3`, `而不是3`.
_BECAUSE = re.compile(
    r"\((?:see|as|from|by|for|where|since|because)\b[^()]*\)\s*$"
    r"|,\s+(?:and\s+)?not\b.*|(?<!\s)\s+(?:rather\s+than|instead\s+of|as\s+opposed\s+to)\b.*"
    r"|[，,]?[ ]?而(?:不是|不选|非)[^或]*|[，,]\s*不(?:是|选)[^或]*"
    r"|(?:,|(?<!\s))\s+"
    r"(?:because|since|as we|(?:(?:in|of|on|for|to|from|with|by)\s)?which(?!\scase\b)|so that"
    r"|(?<!\bthe )given|when rounded|after|if|in total)\b.*",
    re.IGNORECASE | re.DOTALL,
)


def stated(rest: str) -> str:
    """The first sentence of a text, or the mathematics in it."""
    if rest.startswith(("\\[", "$$")) and (spans := delimited(rest[:MAX_ANSWER_CHARACTERS])):
        return spans[0].inside
    line = without_aside(_REJECTED.sub("", rest.split("\n", 1)[0], count=1))
    end = _SENTENCE_END.search(line)
    if end is not None and line[: end.start()].strip() and not _is_time(line, end.start()):
        line = line[: end.start()]
    return sentence_math(line) or trimmed(line)


def without_reason(statement: str) -> str:
    """A statement in prose without the reason behind it."""
    if "$" in statement:
        return statement
    if statement.endswith(")"):
        if (written := _DECIMAL_IN_BRACKETS.fullmatch(statement)) is not None:
            return _with_decimal(statement, written)
        statement = _COMPUTATION.sub("", _ASIDE_IN_BRACKETS.sub(r"\g<kept>", statement))
    statement = trimmed(_BECAUSE.sub("", statement))
    return statement[:-1] if _EXCLAIMED.search(statement) else statement


# A fraction with its decimal in brackets: `1/2 (0.5)`.
_DECIMAL_IN_BRACKETS = re.compile(
    r"(?P<exact>[-−]?\d{1,20}/\d{1,20})\s+\((?:[=≈]\s?)?(?P<decimal>[-−]?\d{0,20}\.\d{1,20})\)"
)


def _with_decimal(statement: str, written: re.Match[str]) -> str:
    """A fraction with the sign of a rounding before its decimal; unchanged with another decimal."""
    numerator, _, denominator = written["exact"].replace("−", "-").partition("/")
    decimal = Fraction(written["decimal"].replace("−", "-"))
    unit = Fraction(1, 10 ** len(written["decimal"].partition(".")[2]))
    error = abs(decimal * int(denominator) - int(numerator))
    if not int(denominator) or error > abs(int(denominator)) * unit / 2:
        return statement
    return rf"{written['exact']} \approx {written['decimal']}"


# A remark of three words or more behind a number, perhaps with its unit: `7 (8 counts the empty
# set)`, `160 minutes (2 hours and 40 minutes)`.
_ASIDE_IN_BRACKETS = re.compile(
    rf"(?P<kept>\d(?:\s[A-Za-z]{{1,15}}){{0,2}})\s+\((?![^()]*\b(?:{REVISING_WORDS})\b)"
    r"[^()]*?[A-Za-z]{2,}[^()]*?\s[A-Za-z]{2,}[^()]*?\s[A-Za-z]{2,}[^()]*\)\s*$",
    re.IGNORECASE,
)

# A computation in brackets behind its result: the ` (6*7)` of `42 (6*7)`.
_COMPUTATION = re.compile(
    r"(?<=\d)\s+\((?:=[-−+*/×·÷=\d\s.,$]+"
    r"|(?:since|as|because|i\.e\.,?)?\s*\$?\d[\d\s.,$]*"
    r"(?:\s[-−/]\s|[-−+*/×·÷=]*[+*×·÷=])[-−+*/×·÷=\d\s.,$]*)\)\s*$"
)

# An exclamation mark behind a number at the end of a sentence in prose: no factorial.
_EXCLAIMED = re.compile(r"\d\**!$")

# The beginning of a clause that explains: `, since`, ` where`, `, attained`, `, which is`; but not
# of one that leads to a result: `, which gives $y = 3$`, `, so we get $y = 3$`. A contrast is one,
# too, and so is what the value holds for: ` rather than $6$`, ` for any integer $k$`.
_ASIDE = re.compile(
    r",?\s(?:because|since|where|when|as|given|(?<=,\s)(?:attained|achieved|reached|not|discarding|rejecting)"
    r"|rather\sthan|instead\sof|as\sopposed\sto|for\s(?:any|all|every|each|some)"
    r"|so\s+we(?!(?:(?!\\\()[^$]){0,200}(?:\$|\\\())"
    r"|which(?=\s+(?:is|are|was|were|occurs?|happens?|holds?|completes?|corresponds?|matches|agrees|lies"
    r"|belongs?|satisf(?:ies|y)|fits?|can|does|do|has\s+no|we|must|should)\b))"
    r"(?=\s)"
)
# Words right before mathematics that is a value: the ` is ` of `The minimum is $5$`, a comma.
_LEADS_TO_VALUE = re.compile(
    r"(?:\b(?:is|are|was|were|equals?|equal\s+to|be|becomes?|gives?|yields?|get|gets|obtain|have|has"
    r"|finds?|conclude|thus|so|hence|therefore|then|that|only|exactly|answer)|[,:;.∴]|\A)[\s*]*\Z",
    re.IGNORECASE,
)
# Words between a value and the clause behind it: a unit, as in ` square meters`, or that nothing
# else is one, as in ` is the only valid solution`.
_UNIT_BEHIND = re.compile(
    r"[*]{0,2}(?:\s(?:is|remains)\s(?:thus\s|therefore\s)?the\s(?:only|unique)"
    r"(?:\s(?:valid|possible|positive|negative|real|integer|admissible|feasible|acceptable)){0,2}"
    r"\s(?:solutions?|values?|roots?|answers?|one|possibility)"
    r"|(?:\s(?!(?:is|are|has|have|and|but|or|as|attains?|gives?)\b)[A-Za-z°%]{1,15}){0,2})[*.]{0,2}"
)
# A clause that goes on to another result: `, but in fact $x = -5$`, ` and get $5$`.
_GOES_ON = re.compile(
    r"\b(?:but|so|thus|hence|therefore|giving|instead|(?:and|we)\s+(?:then\s+)?(?:get|have|obtain|find))\b"
    r"[^$\\]{0,80}(?:\$|\\\()",
    re.IGNORECASE,
)
_MAX_LEAD = 60


def without_aside(line: str) -> str:
    """A sentence without the clause that explains it, if a value stands right before that."""
    spans, position = delimited(line), 0
    for aside in _ASIDE.finditer(line):
        while position < len(spans) and spans[position].end <= aside.start():
            position += 1
        is_inside = position < len(spans) and spans[position].start <= aside.start()
        if position and not is_inside and _is_value(line, spans[position - 1], aside.start()):
            return line if _GOES_ON.search(line, aside.end()) else line[: aside.start()]
    return line


def _is_value(line: str, span: DelimitedMath, end: int) -> bool:
    """Whether mathematics before a place, perhaps with a unit behind it, is a stated value."""
    if _UNIT_BEHIND.fullmatch(line, span.end, end) is None:
        return False
    lead = line[max(0, span.start - _MAX_LEAD) : span.start]
    return "=" in span.inside or _LEADS_TO_VALUE.search(lead) is not None


# The end of a sentence before another one, but not of an abbreviation: `is even. Then`, not
# `Fig. 3`.
_NEXT_SENTENCE = re.compile(
    r"(?<!\b[A-Za-z])(?<!\b[Ee]q)(?<!\b[Nn]o)(?<!\b[Ff]ig)(?<!\b[Tt]hm)[.!?][\"')]?\s+(?=[A-Z$\\(])"
)


def sentence_of_last_math(text: str, start: int, spans: Sequence[DelimitedMath]) -> int:
    """The start of the sentence that holds the last mathematics of a line.

    Args:
        text: a text.
        start: the start of the line.
        spans: the mathematics of the text, which no sentence ends inside of.
    """
    found, position = start, 0
    inside = [one for one in spans if one.end > start]
    for end in _NEXT_SENTENCE.finditer(text, start, spans[-1].start):
        while position < len(inside) and inside[position].end <= end.start():
            position += 1
        if position == len(inside) or inside[position].start >= end.end():
            found = end.end()
    return found


# The half of the day, from the sign before its first point: ` a.m.`, `pm.`.
_HALF_OF_DAY = re.compile(r"\s?[ap]\.?m?\.", re.IGNORECASE)


def _is_time(line: str, position: int) -> bool:
    """Whether the point at a position belongs to a time of day."""
    return bool(_HALF_OF_DAY.match(line, max(0, position - 1)))


def sentence_math(line: str) -> str:
    """The mathematics of a sentence, if the rest is prose that only surrounds it."""
    found = delimited(line)
    if not found:
        return ""
    line, found = _without_unstated(line, found)
    if _is_no_value(line, found[-1]):
        return trimmed(line)
    outside = without_spans(line, found)
    if len(found) == 1:
        after = line[found[0].end :].strip(" .*")
        before = line[: found[0].start].strip(" *")
        if not after and SIGN_BEFORE.search(line, 0, found[0].start) is not None:
            return f"-{found[0].inside}"
        is_label = not after and _OPTION_LABEL.fullmatch(before) is not None
        if is_label or any(map(str.isdigit, outside)) or (after and len(after) < 30 and not before):
            return trimmed(line)
        return found[0].inside
    words = JOINT_WORDS.findall(outside)
    if _CONCLUDES.search(line[found[-2].end : found[-1].start]):
        return found[-1].inside
    if any(word.lower() in _JOINING for word in words) or not words or _is_list(line, found):
        return line[found[0].start : found[-1].end]
    return found[-1].inside


def states_no_value(line: str) -> bool:
    """Whether a sentence denies its only mathematics, or makes it an operand.

    >>> states_no_value("It is not $6$."), states_no_value("It is half of $6$.")
    (True, True)
    >>> states_no_value("There are $25$ primes less than $100$.")
    False
    """
    line, spans = _without_unstated(line, delimited(line))
    return bool(spans) and _is_no_value(line, spans[-1])


def _is_no_value(line: str, span: DelimitedMath) -> bool:
    """Whether a sentence denies the mathematics at a place, or makes it an operand."""
    before = line[max(0, span.start - _MAX_LEAD) : span.start]
    return is_unstated(line, span.start, span.end) or MAKES_OPERAND.search(before) is not None


def _without_unstated(line: str, spans: list[DelimitedMath]) -> tuple[str, list[DelimitedMath]]:
    """A line and its mathematics up to what it bounds or denies, or divides by, at its end.

    `There are $25$ primes less than $100$.` states 25. The first mathematics always stays, and so
    does what is offered beside it: `$5$, or perhaps $6$`.
    """
    kept = list(spans)
    while len(kept) > 1 and _only_places(line, kept[-2], kept[-1]):
        end = kept.pop().start
        contrast = _CONTRASTS.search(line, max(0, end - _MAX_CONTRAST), end)
        line = line[: contrast.start() if contrast else end]
    return line, kept


def _only_places(line: str, former: DelimitedMath, span: DelimitedMath) -> bool:
    """Whether a sentence bounds or denies its last mathematics, or divides by it."""
    before = line[max(0, span.start - _MAX_LEAD) : span.start]
    if _OFFERS.search(before) or _COMPARED_WITH.fullmatch(line, former.end, span.start):
        return False
    return is_unstated(line, span.start, span.end) or _DIVIDES.search(before) is not None


# All words between two formulas where they compare them: the ` more than ` of `$18$ more than $3$`.
_COMPARED_WITH = re.compile(
    r"\s*(?:is\s+|times\s+)?(?:more|less|fewer|greater|larger|smaller|higher|lower)\s+than\s+"
    r"|\s*divided\s+by\s+|,?\s*except\s+"
)
# A word that offers the mathematics behind it beside another one: `, or perhaps `, ` might be `.
_OFFERS = re.compile(
    r"\b(?:or|perhaps|maybe|possibly|might|could|may)\b[^$\\,;.]{0,30}\Z", re.IGNORECASE
)


# Words before mathematics that a sentence denies, at the end of a text: the `, but not ` of `$5$,
# but not $6$`.
_CONTRASTS = re.compile(r"(?:,? (?:and|but|or))?,? not \Z")
_MAX_CONTRAST = 16


# Words right before a number that another one is divided by: `upon division by `.
_DIVIDES = re.compile(r"\bdivi(?:ded|sion)\s+by\s+\Z", re.IGNORECASE)
_JOINING = frozenset(("and", "or", "或", "或者", "和"))
"""Words between values that belong to one answer or are offered for it."""
# A sign outside of the mathematics that it belongs to: the `-` of `-$5$`, of `x = - $5$`; but that
# of `- $5$` is the mark of a list or a dash.
SIGN_BEFORE = re.compile(r"(?:(?:\A|(?<![\d)\]$])[\s*:])[-−]|=\s?[-−]\s?)\Z")
# The label of an option before its text; a reference may be the label: the `(B)` of `(B) $6x$`.
_OPTION_LABEL = re.compile(r"(?:[Oo]ption |[Cc]hoice )?(?:\([A-J]\)|[A-J][).:])")


def _is_list(line: str, spans: Sequence[DelimitedMath]) -> bool:
    """Whether mathematics is a list of three values or more: `$5$, $6$, $7$`."""
    gaps = [line[one.end : other.start] for one, other in pairwise(spans)]
    return (
        len(spans) > 2
        and not any("=" in one.inside for one in spans)
        and (all(gap.strip() == "," for gap in gaps))
    )


# A last sentence with its reason first: `Since $x > 0$, we get $x = 5$.`
_REASON_FIRST = re.compile(
    r"(?:\A|[.!?;]\s|\n)[\s*]{0,4}(?:since|because|as|given)\s"
    r"(?![^.!?\n]{0,200}\b(?:cannot|guess|assume|suppose|unsure|unknown|not\ssure)\b|[^.!?\n]{0,200}n['’]t\b)"
    r"(?:[^.!?\n,]|\.(?=\d)){1,120},\s"
    r"(?P<main>(?:so|then|we|it|the|this|that|only|thus|hence|therefore|\$|\\\()[^\n]*)\Z",
    re.IGNORECASE,
)
_MAX_REASON = 400


def main_clause(text: str) -> str:
    """The main clause of a last sentence that begins with its reason, with mathematics; else all.

    >>> main_clause("So $x=5$ or $x=-5$. Since $x>0$, we get $x=5$.")
    'we get $x=5$.'
    """
    sentence = _REASON_FIRST.search(text, max(0, len(text) - _MAX_REASON))
    if sentence is None or ". " in sentence["main"]:
        return text
    found = delimited(sentence["main"])
    has_plain_number = any(one.isdigit() for one in without_spans(sentence["main"], found))
    return text if not found or has_plain_number else sentence["main"]


# A word that leads to a result: the `gives` of `$x = 2$ gives $y = 3$`, `因此`.
_CONCLUDES = re.compile(
    r"\b(?:giving|gives?|keep|retain|accept|leaving|leaves|so|thus|hence|therefore|then|yields?|get|is)\b"
    r"|因此|所以|从而|于是|解得|可得|[和积差商](?:是|为)|故(?!事|障)|\A[^，,；;。]{0,40}(?:是|为(?!了)|等于)",
    re.IGNORECASE,
)


# The clause behind an extreme value that says where it is: the `, attained at $x = 2$` of `The
# minimum is 5, attained at $x = 2$.`, the ` and it is achieved when $a = b$` of `The minimum is $5$
# and it is achieved when $a = b$.` No comma or verb leads from it to another result.
_ATTAINED = re.compile(
    r"(?<=[\d$)}*a-z])(?:,?\s(?:and|where)\s(?:it|this|(?:the\s)?equality)\s(?:is\s)?|,\s(?:which\sis\s)?)"
    r"(?:attained|achieved|reached|obtained|occurring|occurs?|holds?)\s(?:only\s)?(?:at|when|for|if|by)\s"
    r"(?![^\n]*(?:\b(?:is|are|was|so|thus|hence|giving|gives?|with|but|or)\b|\\boxed|<))"
    r"(?:[^\n.;]|\.(?=\d)){1,120}[.*]{0,3}\s{0,9}\Z"
)
_MAX_ATTAINED = 200
# The end of a sentence that states a value, in digits or in mathematics: `is 5`, `equals $5$ cm`.
_STATES_EXTREME = re.compile(
    r"\b(?:is|are|equals|be|of|=)\s[*_]{0,3}(?:[-−$€]?\d[\d.,]*|\$[^$\n]{1,60}\$|\\\([^\n]{1,60}?\\\))"
    r"[*_]{0,3}(?:\s[A-Za-z]{1,12}){0,2}\Z"
)


def without_closing_aside(text: str) -> str:
    """A text without an aside at its end that speaks of other values than the one stated.

    It is a check, a remark in brackets behind mathematics or a number, or the place of an extreme
    value.

    >>> without_closing_aside("So $x=5$ (the root $x=-3$ is extraneous)")
    'So $x=5$'
    """
    verified = _VERIFIED.search(text, max(0, len(text) - _MAX_VERIFIED))
    if verified is not None:
        text = text[: verified.start()]
    included = INCLUDED.search(text, max(0, len(text) - _MAX_ATTAINED))
    if included is not None and _COUNTS.search(
        text, max(0, included.start() - 60), included.start()
    ):
        text = text[: included.start()]
    rejected = _REJECTED.search(text, max(0, len(text) - _MAX_ATTAINED))
    if rejected is not None and _UNDONE.search(rejected[0]):
        return without_place_of_extreme(text)
    if rejected is not None and _ENDS_WITH_VALUE.search(text, 0, rejected.start()):
        text = text[: rejected.start()].rstrip()
    return without_place_of_extreme(text)


_MAX_VERIFIED = 300
# A check in a sentence of its own behind the one that states a value: ` We can verify: $2(6) + 3 =
# 15$.` It is one equation without words, whose left side computes; a mark of success may follow.
_VERIFIED = re.compile(
    r"(?<=[\d$)}][.!])\s(?:(?:we\scan|let['’]s|let\sus|to)\s)?(?:verif(?:y|ying|ication)|check(?:ing)?|double-check)"
    r"(?:\s(?:this|that|it|by\ssubstitution|(?:our|the)\s(?:answer|solution|result)))?\s?[:,]\s"
    r"\$(?![^$\n]*(?:≠|\\ne|\\boxed))(?=[^$=\n]{0,100}\d)(?=[^$=\n]{0,100}[+*/^(-])[^$=\n]{1,100}=[^$\n]{1,100}\$"
    r"[.\s✓✔✅]{0,6}\Z",
    re.IGNORECASE,
)
# A remark in brackets that undoes the value before it, or comes to another: `(check: fails)`.
_UNDONE = re.compile(
    r"\b(?:fail(?:s|ed)?|so|thus|hence|wrong|answer|instead|but|gives|does\snot)\b|,\s[$\\]|≠|\\ne|[✗❌]",
    re.IGNORECASE,
)
# A number with what it counts at the end of a text: `5 real roots`.
_COUNTS = re.compile(r"(?<![\w.])\d[\d,]{0,12}(?:\s[a-z]{1,15}){1,3}\Z")
# The end of mathematics or of a number, perhaps with its unit: `$5$`, `12 square meters`.
_ENDS_WITH_VALUE = re.compile(r"[\d$)}][*_]{0,3}(?:\s[A-Za-z]{1,12}){0,2}[*_]{0,3}\s{1,3}\Z")


def without_place_of_extreme(text: str) -> str:
    """A text without the clause at its end that says where the value of its sentence is attained.

    >>> without_place_of_extreme("The minimum is 5, attained at $x = 2$.")
    'The minimum is 5.'
    >>> without_place_of_extreme("The minimum, attained at $x = 2$, is 5.")
    'The minimum, attained at $x = 2$, is 5.'
    """
    place = _ATTAINED.search(text, max(0, len(text) - _MAX_ATTAINED))
    if place is None:
        return text
    begin = max(0, place.start() - _MAX_ATTAINED)
    if _STATES_EXTREME.search(text, begin, place.start()) is None:
        return text
    return f"{text[: place.start()]}."
