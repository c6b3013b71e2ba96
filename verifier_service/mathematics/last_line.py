"""The final answer in the last line of a text, where nothing announces it."""

from __future__ import annotations

import re

from verifier_service.mathematics.bare_text import MAX_BARE_CHARACTERS, breaks_off
from verifier_service.mathematics.chinese_numerals import with_arabic_digits
from verifier_service.mathematics.closing_notes import NOTE
from verifier_service.mathematics.closing_numbers import (
    LEADS_TO_LIST,
    NUMBER,
    OR_BETWEEN,
    closing_formula,
    closing_result,
    computes,
    listed_at_end,
    number_of_subject,
    number_text,
    operation_before,
    without_numbers_of_others,
)
from verifier_service.mathematics.closing_remarks import before_reason, without_remarks
from verifier_service.mathematics.closing_statement import NOTHING
from verifier_service.mathematics.closing_units import alternative, closing_amount, unit_behind
from verifier_service.mathematics.closing_words import stated_in_bold, stated_words
from verifier_service.mathematics.denials import (
    is_about_the_answer,
    is_no_statement,
)
from verifier_service.mathematics.extracted_answer import Extraction
from verifier_service.mathematics.markdown import closing_line, without_marks
from verifier_service.mathematics.offered_answers import (
    offered_in_line,
)
from verifier_service.mathematics.option_letters import chosen_letters
from verifier_service.mathematics.planning_sentences import plans
from verifier_service.mathematics.refused_numbers import is_set_aside
from verifier_service.mathematics.short_statements import said_twice
from verifier_service.mathematics.withdrawn_answers import (
    is_withdrawn,
)


def last_expression(text: str) -> Extraction | None:
    """The last number of the last line, or the option that the line names."""
    lines = [line for line in text.split("\n") if line.strip() and not NOTE.match(line)]
    line = without_remarks(without_marks(before_reason(lines[-1]))) if lines else ""
    if (verdict := _VERDICT_FIRST.fullmatch(line)) is not None:
        return Extraction("last_expression", (verdict["verdict"],))
    if "/" in line or "pm" in line or "minus" in line.lower():
        line = _TWO_SIGNS.sub("±", line)
    if (spelled := _count_in_chinese(line)) is not None:
        return Extraction("last_expression", (spelled,))
    if lines and (words := stated_in_bold(lines[-1])) is not None:
        return Extraction("last_expression", (words,))
    choices = _choices(line)
    if choices is None and stated_words(sentence := closing_line(line)) is not None:
        return Extraction("last_expression", (sentence,))
    if choices is not None:
        return choices
    *earlier, sentence = SENTENCE.split(line)
    if plans(sentence) or is_about_the_answer(sentence) or is_set_aside(sentence):
        return Extraction("last_expression", NOTHING)
    concludes = bool(earlier) and _STATES_RESULT.match(sentence) is not None
    if REFUSED.search(sentence if concludes else line):
        if (corrected := CORRECTED.search(line)) is not None:
            return Extraction("last_expression", (number_text(corrected[1]),))
        conclusion = CONCLUSION.match(line)
        if conclusion is not None and not REFUSED.search(line, conclusion.end()):
            line = line[conclusion.end() :]
        elif not computes(line):
            return None
    return last_number(line)


def _count_in_chinese(line: str) -> str | None:
    """The number in characters that a line of Chinese is or ends with; None for any other line.

    >>> _count_in_chinese("总共有十五个苹果。"), _count_in_chinese("不是十五个。")
    ('十五个苹果', None)
    """
    if line.isascii() or _HEDGED_IN_CHINESE.search(line):
        return None
    found = _COUNT_IN_CHINESE.search(line, max(0, len(line) - MAX_BARE_CHARACTERS))
    return found["count"] if found and with_arabic_digits(found["count"]) else None


# A number in characters that is a whole line, or stands behind a word for a total or a result:
# `总共有十五个。` What else a sentence has may be a part: `其中有十五个`.
_COUNT_IN_CHINESE = re.compile(
    r"(?:\A|共有?|(?:答案|结果|所以|因此|总数|总和)[是为得有]?)(?P<count>(?!一(?![零〇一二两三四五六七八九十百千万亿分])[\u4e00-\u9fff]|[一二三四五六七八九十]{1,2}[位次角边元维项阶级月号])负?[零〇一二两三四五六七八九十百千万亿]{1,20}(?:分之[零〇一二两三四五六七八九十百千万亿]{1,20})?"
    r"[\u4e00-\u9fff]{0,8})。?\s{0,9}\Z"
)
# A character that denies, bounds or doubts a number, or another number: `不`, `约`, `或`.
_HEDGED_IN_CHINESE = re.compile(
    r"[\d不非没無无或约多少可能吗半余几每剩选第设若题原概猜致估超近]|因为|已知|假[设如]|难道|如果|以上|以下|左右"
)


# A word that refuses an answer or denies one: `cannot`, `is not`.
REFUSED = re.compile(
    r"\b(?:cannot|can['’]t|could not|isn['’]t|is not|not|wrong|incorrect|unable"
    r"|(?:do\s+not|don['’]?t)\s+know"
    r"|impossible\s+to\s+(?:determine|provide|give|answer|say|tell|know|identify|calculate|compute)"
    r"|no\s+es|non\s+è|não\s+é|n['’]est\s+pas|nicht|не|niet|inte|ikke)\b"
    r"|\bdisagree\b|不是|不等于|[\d$](?:是|为)?(?:错误的|错的|不正确|不对(?!称))|ではな|ではありま|じゃな|아니|아닙",
    re.IGNORECASE,
)

# A clause with a denial and the beginning of what follows from it: the `It is not even, so ` of
# `It is not even, so we get 42.`, the `It does not matter, ` of `It does not matter, we get 42.`
# Nothing follows for one who cannot tell, or from a wrong answer.
CONCLUSION = re.compile(
    r"(?!.*\b(?:cannot|could\s+not|unable|know|sure|certain|tell|answer|wrong|incorrect)\b|.*\bcan['’]t)"
    r"(?:.*[a-z][,;]\s+(?:and\s+)?(?:so|thus|hence|therefore)\b,?"
    r"|[^,.;]*\b(?:does\s+not|doesn['’]t)\s+matter\b[^,.;]*,)\s+(?=(?:we|I|it|there|the)\b)",
    re.IGNORECASE,
)

# A value that a line puts in the place of a denied one, and ends with: the `12` of `It isn't 13; it
# is 12.`, of `not 13 but 12`.
CORRECTED = re.compile(
    r"(?:\b(?:not|isn['’]t)\s+(?:equal\s+to\s+)?[$*(]*[-−]?\d[\d.,/]*[$*)]*)"
    r"(?:,?\s+but\s+(?:rather\s+)?|[;,.]\s+(?:but\s+)?(?:it\s+is|it['’]s)\s+(?:actually\s+)?)"
    rf"[$*(]*({NUMBER.pattern})[$*)]*[.!]?\s*$",
    re.IGNORECASE | re.VERBOSE,
)

# The space between two sentences: behind the full stop of `So 2. Then`.
SENTENCE = re.compile(r"(?<=[.!?])\s+")

# A sentence that concludes with a number, whatever those before it deny: `So the sum is 5.`
_STATES_RESULT = re.compile(
    r"(?:so|thus|hence|therefore|overall|altogether|finally|in\s+total|consequently|since|as|now)\b"
    r"(?!.{0,200}\b(?:guess|unknown|undefined|impossible)\b).{0,300}?"
    r"\b(?:is|are|be|equals|has|have|makes?|gives?|get|contains?|total)\b.{0,200}\d",
    re.IGNORECASE,
)

# A verdict with its reason, and what follows from it: `No, 2 is prime. Thus the claim fails.` A
# denial follows from no `Yes`.
_VERDICT_FIRST = re.compile(
    r"(?P<verdict>(?P<yes>Yes)|No),\s(?:since\s|because\s|as\s)?[^.,;\n?]{0,80}\d[^.,;\n?]{0,80}\.\s"
    r"(?:Thus|So|Hence|Therefore)\b"
    r"(?![^\n]*\b(?:yes|no|true|but|however|answer|holds?|or|maybe|perhaps|if)\b)"
    r"(?(yes)(?![^\n]*(?:\b(?:false|fails?|wrong|not|cannot|impossible)|n['’]t)\b))[^\d\n?]{3,100}",
)


def last_number(line: str) -> Extraction | None:
    """The number, formula or list with which a line of prose ends."""
    if (end := _statement_at_end(line)) is not None:
        return Extraction("last_expression", (end,))
    sentences = SENTENCE.split(line)
    if len(sentences) > 1 and breaks_off(sentences[-1]) and not NUMBER.search(sentences[-1]):
        return None
    if _BROKEN_OFF.search(line) and not _COUNTS_TIMES.search(line, max(0, len(line) - 80)):
        return None
    if (twice := said_twice(sentences)) is not None:
        return Extraction("last_expression", twice, "or")
    if (count := number_of_subject(sentences[-1])) is not None:
        return Extraction("last_expression", (count,))
    if (row := _ROW.search(line, max(0, len(line) - MAX_BARE_CHARACTERS))) is not None:
        return Extraction("last_expression", tuple(dict.fromkeys(row[0].split())))
    line = _MINUS.sub(r"\g<leads>-", line)
    numbers = [
        match
        for match in NUMBER.finditer(line)
        if not _LABEL.search(line, max(0, match.start() - 12), match.start())
    ]
    if (result := closing_result(line)) is not None:
        numbers = [match for match in numbers if match.start() < result[1]]
    numbers = without_numbers_of_others(line, numbers)
    if not numbers:
        return None
    if _BOUND.fullmatch(line.strip()):
        return Extraction("last_expression", (line.strip().rstrip("."),))
    if is_no_statement(line, numbers[-1].start(), numbers[-1].end()):
        return None
    if is_withdrawn(line, numbers[-1].end(), numbers[-1][0]):
        return Extraction("last_expression", instead(line))
    if (either := offered_in_line(line)) is not None:
        return Extraction("last_expression", either, "or")
    if (formula := closing_formula(line, *numbers[-1].span())) is not None:
        return Extraction("last_expression", (formula,))
    if (operation := operation_before(line, *numbers[-1].span())) is not None:
        unit = unit_behind(line, numbers[-1].end())
        whole = f"{operation}{number_text(numbers[-1][0])} {unit}".strip()
        return Extraction("last_expression", (whole,) if operation else NOTHING)
    listed = listed_at_end(line, numbers)
    if len(listed) > 2 or (len(listed) == 2 and LEADS_TO_LIST.search(line, 0, listed[0].start())):
        return Extraction("last_expression", tuple(number_text(match[0]) for match in listed))
    if len(numbers) > 1 and (other := alternative(line, *numbers[-2:])) is not None:
        offers = (other, closing_amount(line, numbers) or numbers[-1][0])
        return Extraction("last_expression", tuple(map(number_text, offers)), "or")
    kept = [numbers[-1]]
    for match in reversed(numbers[:-1]):
        between = line[match.end() : kept[-1].start()]
        if not OR_BETWEEN.fullmatch(between.strip()):
            break
        kept.append(match)
    if len(kept) == 1 and (amount := closing_amount(line, numbers)) is not None:
        return Extraction("last_expression", (number_text(amount),))
    statements = dict.fromkeys(number_text(match[0]) for match in reversed(kept))
    return Extraction("last_expression", tuple(statements), "or" if len(statements) > 1 else "list")


def _statement_at_end(line: str) -> str | None:
    """The end of a line that states several numbers at once, or the bound of a letter.

    >>> _statement_at_end("It has a 1 in 6 chance."), _statement_at_end("So x is less than 3.")
    ('1 in 6', 'x is less than 3')
    >>> _statement_at_end("They meet at (2, -1) and (3, 4).")
    '(2, -1) and (3, 4)'
    """
    begin = max(0, len(line) - MAX_BARE_CHARACTERS)
    found = (
        pattern.search(line, begin)
        for pattern in (_CHANCE, _POINTS, _BOUNDED_LETTER, _DATE, _GROWTH)
    )
    match = next(filter(None, found), None)
    sentence = SENTENCE.split(line)[-1]
    if match is None or _HEDGED.search(sentence):
        return None
    if match.re in (_DATE, _GROWTH) and _OF_ANOTHER.search(sentence):
        return None
    return match[match.lastindex or 0]


# A word of a sentence that denies, doubts, supposes or excepts what it says, or says it of others.
_HEDGED = re.compile(
    r"\A(?:is|are|do|does|if(?![^,(]*,))\b|\b(?:were|doubt\w*|(?:false|wrong|untrue|unlikely)\sthat"
    r"|never|nobody|no\sone|mistake|(?:students|people)\s(?:say|think|believe|claim)|any\spoints"
    r"|besides?|except|exclude[ds]?|reject(?:ed)?|discard(?:ed)?|extraneous|perhaps|maybe|might"
    r"|also|and\sthe\sother)\b",
    re.IGNORECASE,
)


# A word that makes the number behind it a label: the `Step ` of `Step 3`, the `Confidence: `.
_LABEL = re.compile(
    r"(?:(?:step|case|equation|problem|question|figure|part|theorem|lemma|example|exercise"
    r"|section|chapter|corollary|proposition|definition|remark)[\s(]*|confidence[\s:]*)$",
    re.IGNORECASE,
)
# The end of a line that breaks off: the ` by` of `Now we divide 84 by`. A capital is a unit or a
# name there: `5 A`.
_BROKEN_OFF = re.compile(
    r"\s(?:by|the|of|and|to|is|are|we|an?|with|for|from|that|which|so|or|but|into|than|as|if|because"
    r"|since|where|when|plus|minus|times)\s*$"
)
# A count with which a line ends: the `=40 times` of `So he sneezed 120/3=40 times`.
_COUNTS_TIMES = re.compile(
    r"(?:=|>>|\b(?:total\sof|[a-z]{3,12}ed))\s?\d[\d,]{0,12}\stimes\s{0,9}\Z"
)
# Numbers with nothing but spaces between them at the end of a line: `41 42 43 44`.
_ROW = re.compile(r"(?<![\d,.])(?:\d+ ){3,}\d+\W{0,9}$")

# A sign in words, behind a word that leads to a value: `It fell to minus 6 degrees.`
_MINUS = re.compile(
    r"(?P<leads>\b(?:to|is|was|be|are|equals?|exactly)\s+)(?:minus|negative)\s+(?=[$€£]?\d)",
    re.IGNORECASE,
)
# A chance at the end of a line: `The probability is 1 out of 8.`, `There is a 1 in 8 chance.`
_CHANCE = re.compile(
    r"\b(?:chance|probability|odds|likelihood)\s(?:[a-z]{1,12}\s){0,6}(?:is|are)\s"
    r"(\d{1,9}\s(?:in|out\sof)\s\d{1,9})[.!]?\s{0,9}\Z"
    r"|\b(?:is|has|have)\san?\s(\d{1,9}\s(?:in|out\sof)\s\d{1,9})\s(?:chance|probability)[.!]?\s{0,9}\Z",
    re.IGNORECASE,
)
_POINT = r"\([-−]?\d[\d./]{0,20}(?:,\s?[-−]?\d[\d./]{0,20}){1,5}\)"
# Points at the end of a line: the `(2, -1) and (3, 4)` of `The points are (2, -1) and (3, 4).`
_POINTS = re.compile(
    rf"\b(?:are|at|points?|solutions?|vertices|pairs?|triples?):?\s"
    rf"({_POINT}(?:(?:,\s?|,?\s(?:and|&)\s){_POINT}){{1,12}})[.!]?\s{{0,9}}\Z"
)
# A bound of a letter that is a whole line: `So x is greater than 3.`
# `So n is at least 3.` tells the least whole number.
_BOUNDED_LETTER = re.compile(
    r"\A(?:(?:so|thus|hence|therefore),?\s)?((?-i:[a-z])\s(?:is|must\sbe)\s(?:(?:greater|less)\sthan"
    r"(?:\sor\sequal\sto)?"
    r"|(?<!\b[kmn]\sis\s)(?<!\b[kmn]\smust\sbe\s)at\s(?:least|most))\s[-−]?\d[\d./]{0,20}(?<!\.))\.?\s{0,9}\Z",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
# A date at the end of a line: the `March 15, 2024` of `The day is March 15, 2024.`
_DATE = re.compile(
    rf"\b(?:is|was|be)\s(?:the\s)?({_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}})?)\.?\s{{0,9}}\Z",
    re.IGNORECASE,
)
# A rate of growth at the end of a line: the `O(n log n)` of `The complexity is O(n log n).`
_GROWTH = re.compile(
    r"\b(?:is|are|of|in|to)\s([OΘΩ]\((?:[^()\n]|\([^()\n]{1,20}\)){1,40}\))[.!]?\s{0,9}\Z"
)
# A word for another date or rate than that of the whole: `before`, `each step is`.
_OF_ANOTHER = re.compile(
    r"\b(?:since|because|as|each|every|per|better|worse|than|while|whereas|average|best|before|after|bound"
    r"|previous|following|or)\b",
    re.IGNORECASE,
)
# Two signs for one number: the `plus or minus` of `It is plus or minus 5`.
_TWO_SIGNS = re.compile(
    r"\b(?:plus|minus)\s*(?:or|/)\s*(?:plus|minus)\b|\+\s?/\s?[-−]|\\pm\b", re.IGNORECASE
)

# A bound, which is no value: `at least 5`.
_BOUND = re.compile(
    r"(?:at\s+(?:least|most)|(?:more|less|fewer|greater|smaller)\s+than|up\s+to)\s+\S+",
    re.IGNORECASE,
)


def _choices(line: str) -> Extraction | None:
    """The options that a line without numbers names, and does not reject."""
    if NUMBER.search(line):
        return None
    chosen = chosen_letters(line)
    return Extraction("last_expression", chosen, "or") if chosen else None


# What a text says instead of a value that it takes back: `there is no solution`.
_NO_SOLUTION = re.compile(
    r"\bthere\s+(?:is|are)\s+no\s+(?:(?:such|real|integer|valid|positive)\s+){0,2}"
    r"(?:solution|root|value|number|integer)s?(?:\s+to\s+the\s+equation)?[.!*]{0,3}\s{0,9}\Z",
    re.IGNORECASE,
)


def instead(rest: str) -> tuple[str, ...]:
    """The statement with which a text ends that has taken back its last value."""
    return ("no solution",) if _NO_SOLUTION.search(rest, max(0, len(rest) - 100)) else NOTHING


def start_of_last_sentence(text: str) -> int:
    """The start of the last sentence of the last line of a text."""
    start = text.rfind("\n") + 1
    return max([start, *(one.end() for one in SENTENCE.finditer(text, start))])
