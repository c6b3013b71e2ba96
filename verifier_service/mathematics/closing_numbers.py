"""Numbers, lists and formulas with which a line of prose ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, pairwise

from verifier_service.mathematics.spelled_numbers import NUMBER_WORDS

# No words before thousands that a space parts: the 3 of `On day 3 500 people came.` is a number.
_COUNTED_BY = "".join(
    f"(?<!{word}[ ])"
    for word in ("[Dd]ay", "[Yy]ear", "[Ss]tep", "[Ww]eek", "[Mm]onth", "[Rr]ound", "[Gg]rade")
)
# A number in prose: `1 3/4`, `10:30 a.m.`, `3:4`, `$1,250.50`, `$12.6k`, `-.5`, `20%`,
# `\frac{1}{2}`, `3½`, the `12.5` of `12.5kg`.
NUMBER = re.compile(
    rf"""(?<![A-Za-z0-9_.,])(?:±\s*|[-−])?[$€£]?[-−]?
        (?: \d+\s+\d+/\d+
          | \d{{1,2}}:\d\d(?:\s*[AaPp]\.?[Mm]\.?)
          | \d+(?:\s*:\s*\d+)+
          | (?<!\d[ ]){_COUNTED_BY}\d{{1,3}}(?:[ \u00a0\u202f]\d{{3}})+(?![,.]?\d)
          | \d*[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]
          | \d[\d,]*+(?:\.\d+)?+(?:\s*/\s*\d+(?:\.\d+)?+)?
          | \.\d++ )
        (?:\s*(?:\\?%|percent))?(?![A-Za-z0-9_])
      | (?<![A-Za-z0-9_.,])[-−]?(?:[$€£]\d[\d,]*+(?:\.\d+)?+[kKMB]|\d[\d,]*+(?:\.\d+)?+k)
        (?![A-Za-z0-9_])
      | (?<![A-Za-z0-9_.,])[-−]?[$€£]?\d[\d,]*(?:\.\d+)?
      | \\d?frac\{{-?\d+\}}\{{-?\d+\}}""",
    re.VERBOSE,
)

# A part of a formula in plain text: a number, a letter, a function, a root, an exponent, a bracket.
FACTOR_OF_FORMULA = (
    r"(?:\d+(?:\.\d+)?(?!\d)|(?:sqrt|sin|cos|tan|ln|log|pi|exp|[a-zπθ])(?![A-Za-z])|√|[²³⁴⁵⁶⁷⁸⁹ⁿ]"
    r"|\\(?:pi|sqrt|d?frac|cdot|times)(?![A-Za-z])|[(){}!^])"
)

# A formula that ends a sentence in plain text, perhaps with a unit in words behind it: the `36π
# square units` of `The area is 36π square units.`, the `3 to 4` of `The ratio is 3 to 4.`
_CLOSING_FORMULA = re.compile(
    r"(?:\b(?:is|are|equals?|be|becomes|get|obtain|gives?|yields?|to)\s+|[=≈]\s*|:\s+)"
    rf"(?P<formula>[-−+±]?\s?{FACTOR_OF_FORMULA}+(?:\s?(?:[-−+*/·×÷]|\*\*)\s?{FACTOR_OF_FORMULA}+)*)"
    r"(?P<rounded>\s*≈\s*\d[\d,]*(?:\.\d+)?)?(?P<words>(?:\s+(?:square|cubic|units?|cm|m|km|mm|in|ft|inch(?:es)?|feet|(?:centi|kilo)?met(?:er|re)s?"
    r"|miles?|radians?)(?:\^?[23]|[²³])?){0,3})[.!]?\s*$"
    r"|\b(?:ratio|odds)\b[^.]*\s(?:is|are|=)\s+(?P<ratio>\d+\s+to\s+\d+)[.!]?\s*$"
)

# A sign that only a formula has; a letter behind a number alone may be a unit: `5m`.
_OF_FORMULA = re.compile(
    r"[π√^²³⁴⁵⁶⁷⁸⁹ⁿ]|(?<![A-Za-z])(?:sqrt|pi)(?![A-Za-z])|[xyznab](?![A-Za-z])"
)

_NO_UNITS = frozenset(("square", "cubic", "unit", "units"))
"""Words behind a formula that name no unit: `square units`."""
_MAX_FORMULA = 100
"""Most characters of a formula at the end of a line of prose."""

_BEFORE_FACTOR = frozenset("-−+*/^√(·×÷=≈πxto")

_BEHIND_FACTOR = frozenset("-−+*/^√()·×÷π²³⁴⁵⁶⁷⁸⁹ⁿxyznab\\s")


def closing_formula(line: str, start: int, end: int) -> str | None:
    """The formula with which a line of prose ends; None where it ends with a mere number.

    Args:
        line: a line.
        start: the start of its last number.
        end: the end of that.
    """
    before, behind = line[:start].rstrip()[-1:], line[end:].lstrip()[:1]
    if before not in _BEFORE_FACTOR and behind not in _BEHIND_FACTOR:
        return None
    match = _CLOSING_FORMULA.search(line, max(0, len(line) - _MAX_FORMULA))
    if match is None:
        return None
    if match["ratio"]:
        return str(match["ratio"])
    formula = match["formula"]
    if not _OF_FORMULA.search(formula):
        return None
    names_unit = not set(match["words"].split()) <= _NO_UNITS
    return f"{formula}{match['words']}" if names_unit else f"{formula}{match['rounded'] or ''}"


# The operands before a number and the operator between: the `4 + ` of `The total is 4 + 5.`
_NUMBERS_BEFORE = re.compile(
    r"(?<![\w.,$€£^])(?:[$€£]?\d[\d,]*(?:\.\d+)?\s*(?:[+*/×·÷^]|(?<=\s)[-−](?=\s)|(?<=\d)(?<!\d{4})[-–−](?=\Z|\d))"
    r"\s*){1,6}\Z"
)
# The end of a formula with letters before a number that belongs to it, or words that make it an
# operand: the `x + ` of `5x + 6`, the `half of ` of `half of 6`, the `5 plus ` of `5 plus 6`.
MAKES_OPERAND = re.compile(
    r"(?:(?:(?<![A-Za-z])[a-z]|[)\]²³])\s?[+*×·÷^]\s?|[-−√]\(|√|\b(?:sqrt|log|ln)[ (]"
    r"|\b(?:twice|thrice|half(?:\s+of)?|double|triple|mod|modulo|plus|divi(?:ded|sion)\s+by|multiplied\s+by"
    r"|(?:reciprocal|inverse|opposite|negative|logarithm)\s+of|\ba\s+(?:multiple|divisor|factor)\s+of"
    r"|(?:square|cube)(?:\s+root)?\s+of|power\s+of|(?:supplementary|complementary)\s+to"
    r"|\bthe\s+(?:year|day|month|integer|number)\s+(?:right\s+|just\s+)?(?:before|after)|[\d$]\s+(?:times|over|by|minus)"
    r"|(?:needs?|takes?|(?<!from )(?:about|approximately|around|roughly)|(?:ranges?|varies)\s+from)"
    r"\s+[$€£]?\d[\d,.]{0,12}\s+to)"
    r"\s+)[$*]{0,3}\Z",
    re.IGNORECASE,
)


# A letter that the number right before it multiplies, the `x` of `2x`, or its power.
_FACTOR_BEHIND = re.compile(r"(?P<letter>[xyz])(?![A-Za-z])|[²³ⁿπ√^]")


def operation_before(line: str, start: int, end: int) -> str | None:
    """The operation of which a number of a line is the last operand; None where it is none.

    It is empty where the number is a part of a formula with letters, or an operand in words.

    >>> operation_before("The total is 4 + 5.", 17, 18), operation_before("It is 5.", 6, 7)
    ('4 + ', None)
    >>> operation_before("So 2x + 6 is even.", 8, 9), operation_before("f(x) = 2x for all x", 7, 8)
    ('', '')
    """
    before = line[max(0, start - _MAX_FORMULA) : start]
    numbers = _NUMBERS_BEFORE.search(before)
    if (factor := _FACTOR_BEHIND.match(line, end)) is not None:
        is_alone = numbers is None and factor["letter"] and not _has_letter(before, factor[0])
        return None if is_alone else ""  # `2.5x` alone is `2.5 times`
    if numbers is not None:
        return numbers[0]
    return None if MAKES_OPERAND.search(before) is None else ""


def _has_letter(text: str, letter: str) -> bool:
    """Whether a letter stands in a text outside of words."""
    return re.search(rf"(?<![A-Za-z]){letter}(?![A-Za-z])", text) is not None


# A result of arithmetic: the `24 - 7 = 17` of `There are 24 - 7 = 17 students in 9B.`
RESULT = re.compile(
    r"(?<![\w.,)=+*/^-])[$€£]?\d[\d,]*(?:\.\d+)?(?:\s*[-−+*/×·÷x]\s*[$€£]?\d[\d,]*(?:\.\d+)?){1,6}"
    r"\s*=\s*(?P<value>[-−]?[$€£]?[-−]?\d[\d,]*(?:\.\d+)?(?:\s*\\?%)?)(?![\w^(])(?!\s*[-−+*/×·÷=^(]\s*\d)"
    r"(?!\s*[≈=])"
)
# A verb behind a result that says what becomes of it: the `are needed` of `12 eggs are needed`.
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|will\s+be)\s+(?:needed|required|used|left|sold|made|produced|bought|eaten"
    r"|given|available|enough)\b",
    re.IGNORECASE,
)
# A word behind a result with which the line goes on to another one: the `so` of `, so it is 5`.
_GOES_ON = re.compile(
    r"\b(?:or|so|thus|hence|therefore|then|but|and|which|leaving|making|giving|gives?|either|maybe|perhaps"
    r"|is|are|equals?|get|has|have|needs?|takes?|costs?|pays?|spends?)\b|[=≈→]",
    re.IGNORECASE,
)
# Words that deny what a line computes, or doubt all of it: the `is not 2` of `It is not 2 + 3 = 5`.
_NO_RESULT = re.compile(
    r"\b(?:(?<!who\s)cannot|unable|(?:wrong|incorrect)(?!\s(?:answers|questions|guesses|responses))|answer|know|sure"
    r"|certain)\b|\bcan['’]t\b"
    r"|(?:\bnot|n['’]t)\s+(?:equal\s+(?:to\s+)?|be\s+|true|right|correct|the\b|an?\b)?[$(]*(?:\d|\b$|that\b)",
    re.IGNORECASE,
)


def computes(line: str) -> bool:
    """Whether a line computes a number, whatever else it denies.

    >>> computes("24 - 7 = 17 of them are not red."), computes("It is not 2 + 3 = 5.")
    (True, False)
    """
    return RESULT.search(line) is not None and _NO_RESULT.search(line) is None


# Words between computations of which each uses the one before it: `and`, `First`, `so we get`.
_LINKS = re.compile(
    r"(?:(?:and|so|then|thus|hence|therefore|first|next|finally|now|we|get|have|which|gives)\b|[\s,;.])*",
    re.IGNORECASE,
)
# The words behind the last of them: ` apples.`
_COUNTED = re.compile(r"(?:\s+(?!or\b|and\b)[A-Za-z]+){0,3}[.!\s]*")


def last_of_results(line: str) -> str | None:
    """The number that the last computation of a line gives, where it goes on from the others.

    >>> last_of_results("3*4=12 and 12+8=20."), last_of_results("3+4=7, 5+2=7")
    ('20', None)
    """
    results = list(RESULT.finditer(line))
    if len(results) < 2 or not _LINKS.fullmatch(line, 0, results[0].start()):
        return None
    for one, other in pairwise(results):
        operands = re.split(r"[^\d.]+", other[0].rpartition("=")[0])
        is_used = number_text(one["value"]) in operands
        if not is_used or not _LINKS.fullmatch(line, one.end(), other.start()):
            return None
    return (
        number_text(results[-1]["value"]) if _COUNTED.fullmatch(line, results[-1].end()) else None
    )


# A number of a sentence, perhaps in bold and an ordinal: `$1,250`, `**42**`, `13th`.
_NUMBER_OF_SENTENCE = re.compile(
    r"\*{0,2}(?<![\w.,])(?P<value>[$€£]?\d[\d,]*(?:\.\d+)?)(?:st|nd|rd|th)?\*{0,2}(?=[\s-]|\.?\Z)"
)
# Words before a clause, or before the number that a sentence is about: `So,`, `In total`.
_CONCLUDING = re.compile(
    r"(?:(?:so|thus|therefore|hence|altogether|overall|finally|then|now|(?:this|that)\s+means(?:\s+that)?"
    r"|all\s+told|in\s+(?:total|all|conclusion|short|the\s+end)|as\s+a\s+result|consequently)\b[,:]?\s+)+",
    re.IGNORECASE,
)
# The beginning of a clause or place from which a sentence goes on to its result: `After 6 days`.
_BEGINS_CLAUSE = re.compile(
    r"(?:since|if|when|after|before|as|because|given|with|in|for|at|of|from|by|while|assuming|during"
    r"|on|out|having|to|until|once|per|every|each|within|although|though|without|suppose|let|[a-z]+ing)\b",
    re.IGNORECASE,
)
# A word that compares, computes, joins, denies or states: what stands behind it may be the result.
_LEADS_ON = re.compile(
    r"\b(?:and|but|so|or|which|while|then|gives?|is|are|was|were|equals?|means?|leaving|leaves|making"
    r"|makes|totals?|costs?|not|no|either|neither|maybe|perhaps|instead|rather|plus|minus|times|from"
    r"|be|more|less|fewer|than|at|per|each|every|that|who|wrong|would|should|will|has|have|had|out"
    r"|divided|multiplied)\b|n['’]t\b|[^\w\s'’*-]",
    re.IGNORECASE,
)
# Words between a number and another one that says when, or what for: ` apples after`, ` hours to
# read`, ` for the`. A number without a noun needs none where it is an amount of money.
_PLACED_BEHIND = re.compile(
    r"\s+(?:(?!(?:of|in|to|on|for|by|over)\b)[a-z'’-]+\s+){0,6}?"
    r"(?:(?:in|after|before|for|within|during|over|on|by|until)\s+(?:[a-z'’]+\s+){0,3}"
    r"|to\s+(?!(?:about|around|nearly|almost|the|an?|her|his|their|its|my|our|all|only|just|every|each"
    r"|another)\b)(?:[a-z'’]+\s+){1,5})",
    re.IGNORECASE,
)


def _number_placed(sentence: str) -> re.Match[str] | None:
    """The first number of a sentence whose others say when, why or what for.

    `So she has 42 apples after 3 days.`, `It will take her 5 hours to read 120 pages.` A sentence
    that begins with a clause or place, as `After 6 days they have 390`, ends with its result.
    """
    numbers = list(islice(_NUMBER_OF_SENTENCE.finditer(sentence), 3))
    if len(numbers) < 2:
        return None
    first, other = numbers[:2]
    begins = _CONCLUDING.match(sentence)
    opening = sentence[begins.end() if begins else 0 : first.start()]
    if _BEGINS_CLAUSE.match(opening) or _DENIES.search(opening) or _IS_GIVEN.search(opening):
        return None
    if _REASON_BEHIND.fullmatch(sentence, first.end()):
        return None if first["value"] == "0" else first
    between, behind = sentence[first.end() : other.start()], sentence[other.end() :].rstrip(".")
    if len(numbers) > 2 or _LEADS_ON.search(between) or _LEADS_ON.search(behind):
        return None
    is_price = " for " in between and _is_money(other["value"] + behind)
    is_bare = len(between.split()) < 2
    if (is_bare or is_price) and not _is_money(first["value"] + between):
        return None
    return None if _PLACED_BEHIND.fullmatch(between) is None else first


def _is_money(amount: str) -> bool:
    """Whether a number and the words behind it are an amount of money: `$5`, `5 dollars for`."""
    return _MONEY.match(amount) is not None


_MONEY = re.compile(r"[$€£]|[\d,.]+\s(?:dollars?|cents?|euros?|pounds?|pesos?|rupees?|yen)\b")
# Words right before a number that is given or aimed at: `all 12 workers`, `reach $60`, `by 12%`.
_IS_GIVEN = re.compile(
    r"\b(?:the|all|his|their|its|those|these|my|our|your|by|to|with|at|per|reach(?:es|ed)?|hits?"
    r"|(?<!takes )(?<!take )(?<!took )(?<!costs )(?<!cost )(?<!gives )(?<!gave )(?<!pays )"
    r"(?<!paid )her"
    r"|finish(?:es|ed)?|completes?d?|fills?|filled|exchanges?d?|trades?d?|swaps?|converts?)\s+"
    r"(?:(?:other|remaining|first|last|entire|whole)\s+)?\*{0,2}\Z",
    re.IGNORECASE,
)


# A clause behind a number that says when or why it is so: ` when x = 3.`, ` bananas because there
# is 1 in each batch.` None that goes on to another result, denies this one or computes.
_REASON_BEHIND = re.compile(
    r"(?:\s+(?!(?:and|but|so|or|not|if|at|only|times|plus|minus)\b)[a-z'’-]{1,30}){0,4}"
    r",?\s+(?:because|since|when(?:ever)?)\s+"
    r"(?!.*\b(?:so|thus|hence|therefore|then|leav\w+|mak\w+|giv\w+|total\w*|but|answer|equals?|or"
    r"|maybe|perhaps|not|otherwise|else|wrong|instead)\b|.*n['’]t\b)"
    r"(?:[a-z]\s?=\s?[-−]?\d[\d.,]*|[^=?]{1,200})",
    re.IGNORECASE,
)
# A word that denies a sentence's number, leaves it open or bounds it: the `not` of `She did not
# have 42 apples after 3 days.`, the `under` of `It stays under 20, since it is 12.`
_DENIES = re.compile(
    r"\b(?:not|never|no|if|unless|whether|maybe|perhaps|possibly|might|could|guess|wrong|from|under"
    r"|over|below|above|than|least|most|between|within|up\s+to|exceeds?|fail\w*|impossible|unable"
    r"|cannot|hardly|almost|nearly)\b"
    r"|n['’]t\b|[\d=?]",
    re.IGNORECASE,
)

# A word that does not change what stands before it, nor lead to another number.
_NO_CHANGE = (
    r"(?!(?:or|and|but|if|unless|when|times|plus|minus|not|is|are|was|were|either|maybe|perhaps"
    r"|possibly|otherwise|instead|wrong|divided|multiplied"
    r"|so|thus|hence|then|gives?|makes?|equals?)\b)"
)
# A number with what it counts, at the beginning of a sentence: the `448 mL` of
# `448 mL of medicine in 8 doses.`, the `5` of `5 more oranges than Jane.` Another number only
# places it, behind a preposition or as in `32-page`; any other one may be the answer.
_AMOUNT = re.compile(
    r"(?:(?P<value>[-−]?\$?\d[\d,]{0,20}(?:\.\d{1,20})?"
    r"(?:%(?=[^\d]*\Z)|[ ](?!of|in|to|on|for|from|more|less|fewer)"
    rf"{_NO_CHANGE}[A-Za-z]{{1,20}}))"
    r"[ ](?:of|in|to|on|for|from|after|at|with|by|during|over|within)"
    r"|(?P<more>\d[\d,]{0,20}(?:\.\d{1,20})?)"
    r"[ ](?:more|fewer|less)[ ](?!than\b)[a-z]{2,20}(?=[^\d]*\Z))"
    rf"(?:[ ]{_NO_CHANGE}(?:\d{{1,4}}-(?=[A-Za-z]))?[A-Za-z'’$%-]{{1,30}}"
    r"|(?:(?<=[ ]in)|(?<=[ ]of)|(?<=[ ]on)|(?<=[ ]to)|(?<=[ ]for)|(?<=[ ]from)|(?<=[ ]over)"
    r"|(?<=[ ]after)|(?<=[ ]within)|(?<=[ ]during))[ ]\$?\d[\d,.]{0,20}(?!\S)){1,25}\.?"
)


def amount_of_sentence(sentence: str) -> str | None:
    """The number with which a sentence begins, with what it counts; None for any other text.

    >>> amount_of_sentence("448 mL of medicine in 8 doses."), amount_of_sentence("5 or 6 of them")
    ('448 mL', None)
    """
    amount = _AMOUNT.fullmatch(sentence)
    return (amount["more"] or amount["value"]) if amount else None


_FROM_TWENTY = (
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    r"(?:-(?:one|two|three|four|five|six|seven|eight|nine))?"
)
# The number of a subject at the beginning of a sentence, with its verb behind it: the `5` of
# `5 cars drove by in the first 15 minutes.`, the `Four` of `Four of them were sold on Sunday.`
_SUBJECT = re.compile(
    r"(?:(?:so|thus|hence|therefore|altogether|overall|in\s+total|finally),?\s+)?"
    r"(?:(?:a\s+total\s+of|exactly|only)\s+)?\*{0,2}(?P<value>[$€£]?\d[\d,]*(?:\.\d+)?"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    rf"|{_FROM_TWENTY}))"
    r"\*{0,2}\s+(?!(?:or|and|to|in|per|out|times|more|less|fewer|than|plus|minus|percent"
    r"|divided|hundred|thousand|million|years?\s+old)\b)(?P<rest>(?:[A-Za-z'’]+\s+){1,4}?"
    r"(?:will|would|can|must|should|is|are|was|were|has|have|had|do|did|does|need|remain|live|think|drove"
    r"|went|came|left|sat|won|lost|got|took|take(?=\s+place\b)|occur|accept|like|prefer|passed|failed|[a-z]{3,12}ed)\s[^\n]*)",
    re.IGNORECASE,
)
# What leads to a later number of such a sentence, which only places it: `in the first 15`, `#12`.
_PLACES = re.compile(
    r"(?:\b(?:in|on|at|by|for|after|before|within|during|among|from|of|with|than|the|first|last|next|every|each|per"
    r"|to\s+[a-z]+|number|day|room|grade|horse|bus|team)|#)\s*\Z",
    re.IGNORECASE,
)


def number_of_subject(sentence: str) -> str | None:
    """The number of the subject with which a sentence begins, if no later one is its result.

    >>> number_of_subject("16 people think that horse #12 will win.")
    '16'
    >>> number_of_subject("3 boxes were sold for 12 dollars, which is 36.") is None
    True
    """
    match = _SUBJECT.fullmatch(sentence.strip("* "))
    if match is None:
        return _number_there_is(sentence)
    if RESULT.search(sentence) or _NO_SUBJECT.search(match["rest"]):
        return None
    rest = match["rest"]
    places = [one.start() for one in _LATER_NUMBER.finditer(rest)]
    are_places = all(_PLACES.search(rest, max(0, start - _MAX_PLACE), start) for start in places)
    return match["value"] if are_places else None


_MAX_PLACE = 24
"""Most characters that lead to a number."""
# A number behind the subject of a sentence, none of a longer one.
_LATER_NUMBER = re.compile(r"(?<![\d.,])[$€£]?\d")
# Words of a sentence that counts nothing: a comparison, a condition, a doubt, another value.
_NO_SUBJECT = re.compile(
    r"\b(?:not|if|or|but|unless|wrong|guess|would\s+be|could\s+be|might|maybe|perhaps|leaving|leaves|so"
    r"|therefore|total(?:s|ing)?|equals?|sum|each|cost|too\s+(?:many|few|much|large|small|big|high|low))\b"
    r"|n['’]t\b|=",
    re.IGNORECASE,
)

_SMALL_NUMBER = f"(?:{'|'.join(word for word, value in NUMBER_WORDS.items() if 0 < value <= 20)})"
# A sentence that says how many things there are, and perhaps which: `So there are 4 queries with a
# value lower than 0.50.`, `After the third day, there was a total of four people left.`
_THERE_IS = re.compile(
    r"(?:(?P<before>[A-Za-z][A-Za-z'’ ]{0,120}),?\s+)?there\s+(?:is|are|was|were|will\s+be)\s+"
    r"(?:(?:a\s+total\s+of|exactly|only)\s+)?\*{0,2}"
    rf"(?P<value>\d[\d,]{{0,12}}(?:\.\d{{1,9}})?|{_FROM_TWENTY}|{_SMALL_NUMBER})\*{{0,2}}"
    r"(?P<rest>(?:\s+(?!(?:or|and|to|per|out|times|more|less|fewer|than|plus|minus|percent|hundred"
    r"|thousand|million|half|dozen|point)\b)[A-Za-z'’]+){1,4}\b[^\n]{0,300})",
    re.IGNORECASE,
)
# A bound of other things in such a sentence: `lower than 0.50`, `at least one`, `3 or more`.
_BOUND = re.compile(
    r"\b(?:(?:more|less|fewer|greater|smaller|larger|bigger|higher|lower|longer|shorter|older|younger)\s+than"
    r"|at\s+(?:least|most)|above|below|over|under|exceeding)\s+(?:or\s+equal\s+to\s+)?"
    rf"(?:[$€£]?\d[\d,]{{0,12}}(?:\.\d{{1,9}})?%?|{_SMALL_NUMBER}\b)"
    rf"|\b(?:\d{{1,9}}|{_SMALL_NUMBER})\s+or\s+(?:more|less|fewer)\b",
    re.IGNORECASE,
)

# The number of some among all: the `12` of `This means that 12 of the 30 students play chess.`
_SOME_OF_ALL = re.compile(
    r"(?:(?:so|thus|hence|therefore|(?:this|that|which|it)\s(?:means|follows)(?:\sthat)?|in\stotal|altogether),?\s)?"
    r"(?:exactly\s|only\s)?\*{0,2}(?P<value>\d[\d,]{0,12})\*{0,2}\s(?:out\s)?of\s"
    r"(?:the|these|those|his|her|their|its|all)\s\d[\d,]{0,12}(?P<rest>(?:\s[A-Za-z'’]{1,20}){2,20})\.?",
    re.IGNORECASE,
)


def _number_there_is(sentence: str) -> str | None:
    """The number of things that a sentence says there are; None where it has another number.

    >>> _number_there_is("So there are 4 boys."), _number_there_is("4 of the 9 boys can swim.")
    ('4', '4')
    """
    if (some := _SOME_OF_ALL.fullmatch(sentence.strip("* "))) is not None:
        unsettled = _UNSETTLED.search(sentence) or _NO_SUBJECT.search(some["rest"])
        return None if unsettled else some["value"]
    match = _THERE_IS.fullmatch(sentence.strip("* "))
    if match is None or _UNSETTLED.search(match["before"] or ""):
        return None
    others = _WHERE_THEY_ARE.sub("", _BOUND.sub("", match["rest"]))
    if _NO_SUBJECT.search(others):
        return None
    return None if _OTHER_NUMBER.search(others) else match["value"]


# The place of what is counted, at the end of a sentence, the number that it divides, or what there
# are ways to do: ` on 3 branches.`, ` divisors of 12.`, ` ways to choose 2 items from 4.`
_WHERE_THEY_ARE = re.compile(
    r"\s(?:in|on|inside)\s\d{1,9}(?:\s[A-Za-z]{2,20}){1,3}\.?\Z"
    r"|\b(?:divisors|factors|multiples)\sof\s\d{1,9}\.?\Z"
    r"|\b(?:ways?\s(?:to|for)|(?:arrangements?|combinations?|permutations?|subsets?)\sof)\s"
    r"(?![^\n]*\b(?:and|so|or|each|every|which|giv\w+|mak\w+|times|plus|minus|multipl\w+|divid\w+|then|total\w*"
    r"|out|with|per|possible|but|while|leaving|before|after|in|among)\b)[^,;:=\n]{1,120}\Z",
    re.IGNORECASE,
)

# Words before such a number that leave open whether there are so many.
_UNSETTLED = re.compile(
    r"\b(?:if|unless|when|whether|or|not|suppose|assuming|wrong|guess|maybe|perhaps|possibly|doubt|would"
    r"|might|could)\b|n['’]t\b",
    re.IGNORECASE,
)
# Another number in a sentence, in digits or in words: the `three` of `two boys and three girls`.
_OTHER_NUMBER = re.compile(rf"\d|\b{_SMALL_NUMBER}\b|\b(?:only|except|besides)\b|\?", re.IGNORECASE)

# A number that is left of another one: `He has 5 apples left from the initial 20.`
_LEFT = re.compile(
    r"(?:[A-Za-z'’,]+\s+){0,12}?\*{0,2}(?P<value>[$€£]?\d[\d,]*(?:\.\d+)?)\*{0,2}(?:\s+[A-Za-z'’]+){0,4}?"
    r"\s+(?:(?:left|remaining|remain)\s+(?:from|of|out\s+of)\s+(?:the|his|her|their|its|an?)\s+"
    r"(?:initial|original|starting|total(?:\s+of)?)\s+\d[\d,]*(?:\s+[a-z]+){0,3}"
    r"|(?:of|out\s+of)\s+(?:the|his|her|their|its)\s+(?:initial|original)\s+\d[\d,]*(?:\s+[a-z]+){0,3}?"
    r"\s+(?:are\s+left|remain|left)"
    r"|(?:left|remaining)(?:\s+over)?\s+after\s"
    r"(?![^\n]*\b(?:so|which|then|but|or|and|minus|plus|after|leaving|leaves|total\w*|not|answer|if|has|have|is|are)\b)"
    r"[^=?,\n]{1,200})\.?",
    re.IGNORECASE,
)

# A number and what is divided by another one to get it: the `42` of `The remainder is 42 when
# divided by 100.`
_REMAINDER = re.compile(
    r".*\b(?:remainder|mod\w*|residue)\b[^\d.]{0,60}(?P<value>\d[\d,]*)\s+when\s+(?:\w+\s+){0,2}divided\s+by\s+"
    r"\$?\d[\d,]*\$?\.?\**",
    re.IGNORECASE,
)


# A price before what it pays for, whose numbers count that: the `$102.66` of `She needs $102.66 to
# buy 5 shovels and 7 mops.`, the `$64` of `He has to pay $64 for 16 glasses.`
_PRICE = re.compile(
    r"[A-Za-z][^$€£\d\n]{0,150}?\b(?:costs?|pays?|paid|needs?|needed|spends?|spent)\s+"
    r"(?:(?:him|her|them|it|you|us|a\s+total\s+of|exactly|only)\s+)?\*{0,2}(?P<value>[$€£]\d[\d,]*(?:\.\d+)?)"
    r"\*{0,2}\s+(?:in\s+total\s+)?(?:to\s+(?:buy|purchase|get)|for|on(?=[^$€£]*\sat\s))\s+"
    r"(?![^\n]*\b(?:or|so|but|which|each|every|per|a\s+total|in\s+total|left|if|unless|when|total|got"
    r"|gets?|making|leaving|has|have|had|is|are|was|were|not|instead|maybe|then|thus)\b)"
    r"(?:[A-Za-z'’,-]+\s+){0,6}?\d[\d,.]*\s+[A-Za-z][^$€£=\n]{0,200}"
    r"(?:(?<=\sat\s)[$€£]\d[\d,.]{0,12}\s+apiece\.?)?",
    re.IGNORECASE,
)
# A value at a point: the `5` of `The value is 5 when x is 3.`, of `f is 5 at x = 3.`
_AT_POINT = re.compile(
    r"[A-Za-z][^\d\n]{0,150}?\b(?:is|equals|was|be)\s+\*{0,2}(?!0[^\d.])(?P<value>[-−]?[$€£]?\d[\d,]*(?:\.\d+)?)\*{0,2}"
    r"(?:\s+[a-z]{2,20})?,?\s+(?:when|where|for|at)\s+[a-z]\s*(?:=|is|equals)\s*[-−]?\d[\d.]*\.?",
    re.IGNORECASE,
)


def closing_result(line: str) -> tuple[int, int] | None:
    """The place of the number that a line of prose computes, or that its sentence is about.

    None where the last number of the line is as good. A number behind it says when or what for.

    >>> closing_result("He gets 30 * 10 = 300 lemons in 10 years."), closing_result("2 + 3 = 5")
    ((18, 21), None)
    >>> closing_result("So she has 42 apples after 3 days."), closing_result("3 boys to 4 girls")
    ((11, 13), None)
    >>> closing_result("**9** ways to pack 5 books"), closing_result("5 left of the initial 20")
    ((2, 3), (0, 1))
    >>> closing_result("Kim pays $64 for 16 glasses."), closing_result("y is 5 when x is 3")
    ((9, 12), (5, 6))
    """
    results = list(RESULT.finditer(line))
    if results:
        start, end = results[-1].span("value")
        behind = line[end:]
        is_last = not any(map(str.isdigit, behind))
        goes_on = _GOES_ON.search(_PASSIVE.sub("", behind)) is not None
        return None if is_last or goes_on else (start, end)
    sentence = re.split(r"(?<=[.!?])\s+", line.strip("* "))[-1]
    match = (
        _number_placed(sentence)
        or _REMAINDER.fullmatch(sentence)
        or _LEFT.fullmatch(sentence)
        or _PRICE.fullmatch(sentence)
        or _AT_POINT.fullmatch(sentence)
    )
    if match is None:
        return None
    offset = line.rindex(sentence)
    return offset + match.start("value"), offset + match.end("value")


# Words or a bracket before a list of two numbers: `values are `, `average of `, `choice([`.
LEADS_TO_LIST = re.compile(
    r"(?:[:(\[{]|\b(?:are|were|is|be|both|either|neither|values?|answers?|options?|numbers?|roots?"
    r"|solutions?|candidates?|possibilities|choose|pick|say|of|equals?|try)\b[:*]*)[\s*$]*"
    r"(?:[a-z]\s?=\s?)?$",
    re.IGNORECASE,
)

# The text between two numbers of a list: `, `, `° and `, `, and x = `.
_LISTED = re.compile(r"°?\s*(?:[,;&]|(?:,\s*)?and)(?:\s*[a-z]\s?=)?", re.IGNORECASE)


def listed_at_end(line: str, numbers: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The numbers of the list with which a line ends: those of `Possible values: 5, 6, 7`."""
    listed = [numbers[-1]]
    for match in reversed(numbers[:-1]):
        # The pattern of a number takes a comma behind it: the `5,` of `5, 6`.
        between = line[match.start() + len(match[0].rstrip(",")) : listed[-1].start()].strip()
        if not _LISTED.fullmatch(between):
            break
        listed.append(match)
    return listed[::-1]


# The `or` between two numbers, in any language: `3, or 4`.
OR_BETWEEN = re.compile(
    r"(?:,\s*)?(?:or|oder|ou|o|u|или|либо|lub|of|eller|veya|atau|hoặc|或者?|还是|または|もしくは|또는|혹은)",
    re.IGNORECASE,
)


# A number that only describes a noun: the `6` of `the 6-foot well`, of `56 6-inch pencils`.
_DESCRIBES = re.compile(r"-[a-z]{2,}")
_IS_KNOWN = re.compile(r"(?:\bthe|\d)\s\Z", re.IGNORECASE)
# Words right before a number that is a bound, or that of somebody or something else: ` below 11`,
# ` each of the 3 buses`, ` than Tim's 40`, ` than Tom, who has 6`, `needs 40 more to reach 100`.
_IS_OF_ANOTHER = re.compile(
    r"(?:(?<!\ball)(?<!\bwere)(?<!\bwas)(?<!\bare)(?<!\bis)(?<!\bscored)\s(?:below|above|under)"
    r"|\b(?:each|every\s+one)\s+of\s+(?:the|his|her|their|its)"
    r"|\bthan\s+(?-i:[A-Z])\w{0,20}(?:['’]s|,\s+who\s+(?:has|had))"
    r"|\bneeds?\s+\*{0,2}[$€£]?\d[\d,.]{0,12}\*{0,2}\s+more\b[^\d.]{0,40}\sto\s+[a-z]{2,10}"
    r"|,?\s(?:up|down)\s+from|,\s+compared\s+(?:to|with)"
    r"|,\s+(?:twice|half|three\s+times|double)\s+(?:as\s+(?:much|many|long|far|old)\s+as\s+)?the)\s+[$€£*]{0,3}\Z",
    re.IGNORECASE,
)
# A last clause that compares the number before it with another: `, which is 10 more than Tim`,
# `, 6 fewer than at the start`.
_COMPARES = re.compile(
    r",\s+(?:which\s+is\s+)?[$€£*]{0,3}\d[\d,.]{0,12}\*{0,2}\s+(?:[a-z]{1,15}\s+){0,2}(?:more|less|fewer"
    r"|greater|higher|lower|older|younger|longer|shorter)\s+than\s+"
    r"(?=[A-Z]|(?<=is\s)the|(?:his|her|their|its|before|at|yesterday|last|planned|originally|expected)\b)"
    r"(?!.{0,200}(?:\b(?:so|thus|hence|therefore|then|total|altogether|making|giving|and|but)\b|[:=]))",
)
_MAX_LEADING = 80
"""Most characters before a number that tell of whom it is."""


def without_numbers_of_others(line: str, numbers: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The numbers of a line without last ones that are not what it states.

    >>> line = "It takes 10 days to climb out of the 6-foot well."
    >>> [one[0] for one in without_numbers_of_others(line, list(NUMBER.finditer(line)))]
    ['10']
    """
    kept = list(numbers)
    if len(kept) > 1 and (compared := _COMPARES.search(line, kept[0].end())) is not None:
        kept = [one for one in kept if one.start() < compared.start()] or kept
    while len(kept) > 1 and _is_of_another(line, kept[-1]):
        kept.pop()
    return kept


def _is_of_another(line: str, number: re.Match[str]) -> bool:
    before = line[max(0, number.start() - _MAX_LEADING) : number.start()]
    describes = _DESCRIBES.match(line, number.end()) and _IS_KNOWN.search(before)
    return bool(describes or _IS_OF_ANOTHER.search(before))


def number_text(text: str) -> str:
    """A number as it stands in prose, without the comma behind it."""
    return text.strip().rstrip(",").replace("−", "-")
