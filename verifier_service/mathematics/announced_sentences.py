"""The one number that an announced sentence states: the `52` of `Answer: Bob ate 52 sweets.`

A sentence that bounds, denies, doubts or changes its number, or that has another number which may
be the answer, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from verifier_service.mathematics.closing_numbers import (
    NUMBER,
    amount_of_sentence,
    closing_result,
    number_of_subject,
    number_text,
)
from verifier_service.mathematics.closing_units import closing_amount
from verifier_service.mathematics.counts_in_other_scripts import CHANGES
from verifier_service.mathematics.denials import (
    is_no_statement,
)
from verifier_service.mathematics.offered_answers import (
    offered_in_line,
)
from verifier_service.mathematics.sentences_in_other_languages import says_how_many
from verifier_service.mathematics.spelled_numbers import NUMBER_WORDS

MAX_SENTENCE = 300
"""Longest sentence that is read, in characters."""

# A sentence about one number, up to it: `It will take `, `Each of them pays exactly $`.
_BEFORE_NUMBER = re.compile(
    r"(?:(?:[A-Z][\w'’]*|the)\s+)(?:[\w'’-]+\s+){0,20}?(?:is|are|was|were|be|takes?|took|has|have|had|needs?"
    r"|makes?|made|earns?|gets?|got|pays?|paid|costs?|spends?|spent|saves?|saved|buys?|bought|sells?"
    r"|sold|gives?|contains?|weighs?|runs?|ran|walks?|uses?|used"
    r"|(?:will|can|could|must)\s+[a-z]{3,12})\s+"
    r"(?:(?:a\s+total\s+of|exactly|only|in\s+total)\s+)?[$*]*"
)
# A word behind a number that makes it another one, or a part: `thousand`, `crore`, `eighths`.
_SCALE = (
    r"(?i:hundreds?|thousands?|[mbtr]\w{0,3}illions?|(?:mn|bn|tn|mio|mrd|lakhs?|crores?|grand|dozens?|grosse?"
    r"|scores?|hal(?:f|ves)|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?"
    r"|tenths?|hundredths?|thousandths?|percent(?:age)?|fold)\b)"
)
# Words that may follow a number in a sentence, none of which changes it: ` years before he earns`.
_PLAIN_END = re.compile(
    r"\**(?:\s+(?!(?:or|and|but|if|unless|times|more|less|fewer|plus|minus|squared|cubed|point)\b"
    rf"|{_SCALE})[A-Za-z'’,]+){{0,15}}[.!*]*$",
    re.IGNORECASE,
)


def number_of_sentence(statement: str, behind: str, *, is_sentence: bool = True) -> str:
    """The number that an announced sentence of prose states; the statement if it states none.

    >>> number_of_sentence("It will take 13 years", "")
    '13'
    >>> number_of_sentence("Kim ate 2 more plums than Jo.", "")
    '2'
    >>> number_of_sentence("He has 2 or 3 of them", "")
    'He has 2 or 3 of them'

    Args:
        statement: the sentence, or any other statement.
        behind: the text behind it. Where that has a number, the sentence may be the beginning of
            a solution.
        is_sentence: whether it may be a sentence of its own, not the end of `The answer is`.
    """
    statement = _STEP.sub("", statement, count=1)
    if statement.count(" ") < 2 and not _is_unspaced(statement):
        return statement
    numbers = list(NUMBER.finditer(statement))
    if not numbers or "\\" in statement or len(statement) > MAX_SENTENCE:
        return statement
    start, end = numbers[-1].span()
    if is_no_statement(statement, start, end) or offered_in_line(statement) is not None:
        return statement
    stated = None
    is_doubted = _NOTHING_KNOWN.search(statement, 0, start) is not None
    if len(numbers) == 1 and not is_doubted and _BEFORE_NUMBER.fullmatch(statement, 0, start):
        stated = numbers[0][0] if _PLAIN_END.match(statement, end) is not None else None
    states_nothing = _STATES_NOTHING.match(statement) is not None or behind.startswith("?")
    if stated is None and is_sentence and not states_nothing:
        stated = _stated_number(statement, numbers)
        if stated is not None and _ends_otherwise(behind, stated):
            return statement
    return statement if stated is None else stated


# The beginning of a sentence that tells what to do or what is given: `We need to find 5 numbers.`
_STATES_NOTHING = re.compile(
    r"(?:we\s+(?:need|have|want|must|can|should|will)|let|solve|see|find|use|consider|given|suppose|assume|imagine|pretend|say|remember|make|take|pick"
    r"|choose|note|first|start|try|check|refer|recall|to|what|how|which|is|are|does|do)\b"
    r"|[^\n]*\b(?:step|equation|case|figure|problem|question|part|section|page|chapter|row|line|option"
    r"|choice|table|exercise|example|highway|route|room|aged)\s+\(?\d",
    re.IGNORECASE,
)


# The label of a step before a sentence: the `Step 2: ` of `Step 2: Sam has 5 dimes.`
_STEP = re.compile(r"\A\**Step \d{1,2}:\s{1,3}\**(?=\S)", re.IGNORECASE)


def _ends_otherwise(behind: str, stated: str) -> bool:
    """Whether a text has numbers in words, or ends with another number than the stated one."""
    later = NUMBER.findall(behind)
    ends = bool(later) and _digits(later[-1]) != _digits(stated)
    return ends or _IN_WORDS.search(behind) is not None


def _digits(number: str) -> str:
    return re.sub(r"[^\d.]", "", number)


def _stated_number(statement: str, numbers: Sequence[re.Match[str]]) -> str | None:
    """The number that a whole sentence states; None where words change it, or for several."""
    if _LABELLED_RESULT.fullmatch(statement) is not None:
        return _last_amount(statement, numbers)
    if any(one.search(statement) for one in _REFUSALS) or _OPTION.match(statement):
        return None
    if (first := amount_of_sentence(statement) or number_of_subject(statement)) is not None:
        return first
    if (result := closing_result(statement)) is not None:
        return number_text(statement[slice(*result)])
    if numbers[0].start() == 0:  # `5 too many`
        return None
    if len(numbers) == 1:
        is_stated = _says_how_many(statement, *numbers[0].span())
        return _last_amount(statement, numbers) if is_stated else None
    place = _place_of_statement(statement, numbers)
    return None if place is None else _last_amount(statement, numbers[: place + 1])


def _says_how_many(statement: str, start: int, end: int) -> bool:
    """Whether the only number of a sentence stands right behind a verb that says how much."""
    if says_how_many(statement, start, end):
        return True
    if _NOTHING_KNOWN.search(statement, 0, start) or _ANOTHER.search(statement, end):
        return False
    if _IS.search(statement, 0, start):
        return True
    is_told = _VERB.fullmatch(statement, 0, start) is not None
    return is_told and _OF_ANOTHER.search(statement, 0, start) is None


def _place_of_statement(statement: str, numbers: Sequence[re.Match[str]]) -> int | None:
    """Which of several numbers a sentence states; None where that is open.

    It is the one right behind the only `is`, or the first one, behind its verb; words such as
    `with` or `to make` lead to all behind that.
    """
    verbs = [index for index, one in enumerate(numbers) if _IS.search(statement, 0, one.start())]
    if len(_IS_ANYWHERE.findall(statement)) > 1:
        return None
    place = verbs[0] if verbs else 0
    if not verbs and _FIRST.fullmatch(statement, 0, numbers[0].start()) is None:
        return None
    leads = [_LEADS.search(statement, 0, one.start()) for one in numbers[place + 1 :]]
    joins = [_JOINS.search(statement, 0, one.start()) for one in numbers[place + 1 :]]
    are_led_to = all(leads[:1]) and all(map(any, zip(leads, joins, strict=True)))
    return place if are_led_to and _GOES_ON.search(statement) is None else None


# A letter of mathematics, or a sign of it: the `x` of `x is 6 over y`, the `π` of `36π`.
_LETTER = re.compile(r"(?<![A-Za-z'’])(?<!\d )[b-hj-z](?![A-Za-z'’])|[π√|∞]|\bprobably\b")
# The label of an option: the `C. ` of `C. 12 apples`.
_OPTION = re.compile(r"\(?[A-J][).:]\s")
# The verb right before the number that a sentence states: the `is ` of `The cost is $5.`
_IS = re.compile(
    r"(?:\b(?:is|are|was|were|equals|(?:will|would)\s+be)|=)\s+"
    r"(?:(?:a\s+total\s+of|exactly|only|now|about)\s+)?[*]{0,2}\Z"
)
_IS_ANYWHERE = re.compile(r"\b(?:is|are|was|were|equals|be)\s+[*$€£]{0,3}\d|=", re.IGNORECASE)
_OBJECT = (
    r"(?:(?!(?:of|some|than|up|longer|nearly|almost|less|more|over|under|(?:to|the)(?=\s+[$\d]))\b)"
    r"[A-Za-z'’]+\s+)"
)
# A subject with a verb that says how much, up to the first number: `He can make `, `It takes Al `.
_SAYS_HOW_MUCH = (
    r"[^\d\n]{2,150}?\s"
    r"(?:(?:(?:will|can|could|must|should|would|to|has|have|had)\s+)?"
    rf"(?:takes?|took|costs?|gives?|gave|pays?|paid)\s+{_OBJECT}{{0,4}}"
    r"|(?:has|have|had|needs?|makes?|made|earns?|gets?|got|pays?|paid|spends?|spent|saves?|buys?"
    r"|bought|sells?|sold|gives?|gave|contains?|weighs?|runs?|ran|walks?|uses?|eats?|ate|drinks?"
    r"|reads?|puts?|won|lost|cut|grew|drove|left|rode|slept|caught|wrote|chose|drank|threw|built"
    r"|travels?|covers?|sees?|plants?|raises?|collects?|receives?|consumes?|produces?|bakes?|drives?"
    r"|rides?|sleeps?|works?|plays?|owes?|scores?|picks?|starts?\s+with|started\s+with"
    r"|(?!exceed|lack|miss|doubt|guess|refus|want|hop|expect|plann|estimat|assum|suppos|claim|add|divid|ask|search|look|wish|demand"
    r"|subtract|multipl|reduc|increas|decreas|need)[a-z]{3,12}ed"
    r"|needed|went\s+to|(?:will|can|could|must|should|would"
    r"|(?:needs?|needed|has|have|had|able|going)\s+to)\s+(?:be\s+)?"
    r"(?!exceed|add\b|subtract|multipl|divide|round|lack|miss)[a-z]{2,12})\s+)"
    r"(?:(?:an?\s+(?:\w+\s+)?(?:total|profit|sum|score|distance|speed)\s+of|exactly|only|up\s+with"
    r"|away|into|for|an?|an\s+average\s+of|in\s+total|about|approximately|still|now|back|another"
    r"|an\s+additional)\s+){0,2}[*]{0,2}"
)
_VERB = re.compile(_SAYS_HOW_MUCH, re.IGNORECASE)
_FIRST = re.compile(
    r"(?!(?:in|on|at|for|from|with|to|by|of|after|before|during|within|over|since|because|as|given"
    r"|when|while|if|out|using|between|among|besides|per|each|every)\b)" + _SAYS_HOW_MUCH,
    re.IGNORECASE,
)
# A word before a number with which a sentence denies it, leaves it open, or only wishes it.
_NOTHING_KNOWN = re.compile(
    r"\b(?:than|no|none|nobody|nothing|never|neither|nor|unknown|unclear|impossible|unlikely"
    r"|depends?|how|what|whether|why|whose|where|nearly|almost|might|(?-i:may)"
    r"|(?:thinks?|thought|believes?|says?|said|claims?|hopes?|hoped|assum\w+|imagines?|wish\w*)"
    r"|(?:wants?|wanted|plan\w*|tries|tried|try|trying|fail\w*|refuse\w*|forg[eo]t\w*|likes?"
    r"|used|expect\w*|intend\w*|pretend\w*|promise\w*|enough)\s+to)\b",
    re.IGNORECASE,
)
# A word before a number that makes it that of somebody else: `than Ann, who has 12`.
_OF_ANOTHER = re.compile(
    r"\b(?:than|who|which|that|since|because|as\s+(?:many|much))\b", re.IGNORECASE
)
# Another number in words behind one: the `one` of `and Ann ate one`.
_ANOTHER = re.compile(
    r"\b(?<!in )(?<!for )(?<!after )(?<!each )(?<!every )(?<!per )(?<!with )"
    r"(?:one|none|nothing|zero|nobody|neither|no|too)\b(?!\s+(?:more|longer)\b)",
    re.IGNORECASE,
)
# What leads to a number that only places the first one: `with `, `to make `, `the remaining `.
_LEADS = re.compile(
    r"\b(?:in|on|at|by|for|after|before|within|during|from|of|with|the|using|over|per|all|every|each"
    r"|(?:to|for|of|after|by|using|with|in)\s+[a-z]+(?:ing)?"
    r"|(?:the|his|her|their|its|those|these|a)\s+(?:remaining|other|first|next|last|entire|whole|total"
    r"|initial|original))\s+[*$]{0,2}\Z",
    re.IGNORECASE,
)
# What joins another number to one behind such words: the `and ` of `to hold 6 roses and 9 lilies`.
_JOINS = re.compile(r"(?:,|\band)\s+[*$]{0,2}\Z", re.IGNORECASE)
# A word with which a sentence goes on to another statement: `, which is`, `and has`, `so that`.
_GOES_ON = re.compile(
    r"\b(?:which|so|then|thus|therefore|hence|leaving|making|giving|equivalent|instead|while"
    r"|and\s+(?:has|have|had|is|are|was|were|he|she|it|they|gets?|needs?|then"
    r"|(?:begin|end|start)s?))\b|;",
    re.IGNORECASE,
)


def _last_amount(statement: str, numbers: Sequence[re.Match[str]]) -> str:
    """The last number of a sentence, with its unit."""
    amount = closing_amount(statement, numbers)
    return number_text(numbers[-1][0] if amount is None else amount)


# Three signs of a script without spaces between its words, Chinese, Japanese or Thai: `花了三`.
_UNSPACED = re.compile(r"(?:[\u3040-\u30ff\u4e00-\u9fff\u0e00-\u0e7f].{0,20}?){3}")


def _is_unspaced(statement: str) -> bool:
    return len(statement) <= MAX_SENTENCE and _UNSPACED.search(statement) is not None


# A label with its computation: `Total cost = $10 + $15 = $25`, `Legs = 5 dogs x 4 = 20 legs`.
_LABELLED_RESULT = re.compile(
    r"(?![^\n]*\b(?:or|if|either|not|but|about|maybe|perhaps)\b)[A-Za-z][A-Za-z'’ ()/-]{2,80}="
    rf"(?:[^=\n?<>≈]{{1,120}}=){{0,3}}\s?[$€£]?\d[\d,.]*(?:\s(?!{_SCALE})[A-Za-z-]+){{0,3}}\.?"
)
_SPELLED = "|".join(word for word in NUMBER_WORDS if word != "one")
# A number in words: the `seven` of `After that he has seven.`
_IN_WORDS = re.compile(rf"\b(?:{_SPELLED})\b", re.IGNORECASE)
_LED_TO = "".join(
    f"(?<!\\b{word} )" for word in ("in", "for", "after", "first", "last", "the", "those")
)
# A word that changes a number, bounds it, or gives another one: `twice`, `at least`, `two`, `and a
# half`, `5 and some`; in other languages the commonest of them.
_CHANGES = re.compile(
    r"\b(?:or|either|might|but|if|unless|whether|times|plus|minus|squared|cubed|hundred|thousand"
    r"|million|billion|dozens?|(?<!first )(?<!second )half|twice|thrice|doubled?|tripled?"
    r"|quarters?|(?<!the )thirds?|divided|multiplied|negative"
    r"|squares?|cubes?|roots?|power|factorial|between|maybe|perhaps|possibly|wrong|guess|another|not"
    r"|opposite|reciprocal|inverse|complement|divisible|multiples?|close|hidden|decoy|number\s+with"
    rf"|except|least|most|{_LED_TO}(?:{_SPELLED})(?!-))\b|n['’]t\b|\d,\d{{1,2}}(?!\d)|\d,\d{{4}}"
    r"|\b(?:more|less|fewer|greater|higher|lower|above|below|over|under)\s+(?:than\s+)?[$€£]?\d"
    r"|\d\s*(?:more|less|fewer|times)\s+than\b|\d\s*[-−+*/^×÷!]|[-−+*/^×÷?]\s*[$€£]?\d"
    r"|\d[\w.]*,?\s+and\b(?!\s+\w+)|\d[\w.]*,?\s+and\s+(?:some|an?|then|no|so|he|she|they|we|it|I)\b"
    r"|\b(?:ou|oder|o|u|або|или|либо|nicht|kein\w*|pas|aucun\w*|non|não|нет|не|mal|fois|veces|si|wenn"
    r"|falls|moitié|mitad|hälfte|doppelt\w*|doble|au\s+moins|mindestens|al\s+menos)\b"
    r"|[=？吗嗎二三四五六七八九\[\]<>{}]|至少|最多|\d\s+(?:out\s+of|of|in|to|by|from)\s+[$€£]?\d"
    rf"|\d\s+{_SCALE}|\bbase\s+\d|\d\s+[a-z]+\s+(?:by|x)\s+\d",
    re.IGNORECASE,
)
# A sentence with any of these gives no number.
_REFUSALS = (_CHANGES, CHANGES, _LETTER)


# A number that counts those of which a verb is denied: `21 pupils did not come to the party`. The
# verbs are few: others deny the number, as in `21 apples do not fit`.
_COUNTED_OUT = re.compile(
    r"(?:There[ ](?:are|were)[ ])?(?P<value>\d[\d,]{0,12})"
    rf"(?:[ ](?!and\b|or\b|{_SCALE})[a-z]{{2,20}}){{1,4}}[ ]"
    r"(?:did|do|were|are|have|had|will|can|could)[ ]not[ ](?:be[ ])?"
    r"(?:come|attend|like|play|have|wear|ride|eat|own|join|go|sing|dance|swim|bloom|hatch|used|eaten"
    r"|sold|ripe|ready|in|on|at)\b(?![^\d]*\b(?:if|unless|or|but|so)\b)[^\d]*"
)


def number_counted_out(statement: str) -> str | None:
    """The number of those that a sentence denies something of; None for any other denial.

    >>> number_counted_out("21 pupils did not come."), number_counted_out("5 is not right.")
    ('21', None)
    """
    counted = _COUNTED_OUT.fullmatch(statement) if len(statement) <= MAX_SENTENCE else None
    return counted["value"] if counted else None
