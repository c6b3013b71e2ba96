"""Units behind the number with which a text closes: the `m` of `The distance is 5 m.`

Without its unit the number would be taken for one of the reference's unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from verifier_service.mathematics.notation import Unreadable, tokenize
from verifier_service.mathematics.quantities import (
    read_compound,
    read_unit,
    with_signs_of_units,
)
from verifier_service.mathematics.units import (
    CAPITAL_UNITS,
    LETTER_UNITS,
    NO_UNIT,
    UNITS,
    unit_named,
)

MAX_WORDS = 4
"""Most words that name one unit: `kilometers per square second`."""
_MAX_AMOUNTS = 3
"""Most amounts of one quantity: `1 hour 30 minutes 10 seconds`."""
# A word or sign that may name a unit, the signs of its end behind it: the `km/h.` of `5 km/h.`
_PIECE = re.compile(
    r"[ \t~]*(?P<name>\\?%|[A-Za-z°€£¢/\u03a9\u2126\u00b5\u03bcÅ][A-Za-z0-9°/^²³\u03a9\u2126]*)"
    r"(?P<stop>[.,;:!?*_)\]$]*)"
)
# What may stand between a number and its unit: the end of its mathematics, `\,`, `}$**`, `\)`.
_GAP = re.compile(r"(?:\\[,;: )\]]|[$}*_\s~])*(?:\\(?:text|mathrm|textrm|,)\s*\{?\s*)?")
# A quotient of two units: `\frac{\text{miles}}{\text{day}}`.
_QUOTIENT = re.compile(
    r"(?:\\[,;: ]|[$}*\s~]){0,6}\\[dt]?frac\s?"
    r"\{\\(?:text|mathrm)\{\s{0,3}(?P<above>[A-Za-z]+)\s{0,3}\}\}\s?"
    r"\{\\(?:text|mathrm)\{\s{0,3}(?P<below>[A-Za-z]+)\s{0,3}\}\}"
)
# A word that tells what is measured, behind a unit: the ` long` of `5 m long`.
_MEASURED = re.compile(r"\s(?:long|high|tall|wide|deep|thick|away|apart)\b")
# A word that multiplies the number before it: the ` million` of `$1.5 million`.
_SCALE = re.compile(r"[ ~](?:hundred|thousand|million|billion|trillion|lakh|crore|dozen)\b")
# A unit in Chinese that ends a sentence or stands before a clause: the `米` of `75米。`
_CHINESE = re.compile(r"(?P<name>(?!元)[\u4e00-\u9fff]{1,4})[*)）]{0,3}(?=[。，,.；;！!\s]|\Z)")
_END_OF_LINE = re.compile(r"[ \t}]*(?:\n|\Z)")
_NO_LAST_WORDS = frozenset("of the an per each square cubic / sq cu".split())
"""Words that may stand in the name of a unit and do not end it."""
_NO_WORDS = frozenset("kg km cm mm mg mL ml kJ kW Hz lb".split())
"""Units of two letters that are no words, and so may stand inside a sentence."""
_NO_NAMES = frozenset(("Hm", "Hmm"))
"""Words that would be a product of units by their letters, H and m."""
_LETTERS = LETTER_UNITS | CAPITAL_UNITS | {"°", "€", "£", "¢", "\u03a9", "\u2126", "\u00c5"}
# A number alone, or with its name, whose unit may stand behind its box or its mathematics:
# `1,250.5`, `\frac{3}{4}`, `d = 5`.
_NUMBER_ALONE = re.compile(
    r"\s*(?:[A-Za-z](?:_\w+)?\s*=\s*)?[-+−]?(?:\d[\d,.]*(?:\s*/\s*\d+)?|\\d?frac\{\d+\}\{\d+\})\s*"
)


def unit_behind(text: str, position: int) -> str:
    """The unit at a position, behind a number; empty where the words there name none.

    A word of one or two letters is a unit at the end of a sentence only: `in` is a word, too. `kg`
    is none.

    >>> unit_behind("It is 5 km/h.", 7), unit_behind("It takes 5 minutes of time.", 10)
    ('km/h', 'minutes')
    >>> unit_behind("They weigh 12 kg in total.", 13)
    'kg'
    >>> unit_behind("She bought 12 in May.", 13), unit_behind("He has 5 apples.", 8)
    ('', '')
    """
    found = _unit_at(text, position)
    return "" if found is None else found[0]


def _unit_at(text: str, position: int) -> tuple[str, int] | None:
    """The name of the unit at a position, and the position of its end."""
    if (quotient := _QUOTIENT.match(text, position)) is not None:
        names = quotient.group("above", "below")
        if all(_names_unit([name], ends_sentence=True) for name in names):
            return "/".join(names), quotient.end()
    gap = _GAP.match(text, position)
    start = gap.end() if gap else position
    if (chinese := _CHINESE.match(text, start)) is not None and chinese["name"] in UNITS:
        return chinese["name"], chinese.end("name")
    words: list[str] = []
    ends: list[int] = []
    ends_sentence = False
    while len(words) < MAX_WORDS and not ends_sentence and (piece := _PIECE.match(text, start)):
        start = piece.end()
        words.append(piece["name"])
        ends.append(piece.end("name"))
        ends_sentence = bool(piece["stop"]) or _END_OF_LINE.match(text, start) is not None
    while words:
        end = ends[len(words) - 1]
        if _names_unit(
            words, ends_sentence=ends_sentence or _MEASURED.match(text, end) is not None
        ):
            return " ".join(words), end
        words.pop()
        ends_sentence = False
    return None


def _names_unit(words: Sequence[str], *, ends_sentence: bool) -> bool:
    """Whether words are the name of a unit."""
    name, last = " ".join(words), words[-1]
    if name in _NO_NAMES or last.lower() in _NO_LAST_WORDS:
        return False
    if len(name) == 1 and name not in _LETTERS:
        return False
    if len(name) < 3 and name.isalpha() and not ends_sentence and name not in _NO_WORDS:
        return False
    if last == "in" and len(words) > 1 and not ends_sentence:  # `12 kg in total`
        return False
    if unit_named(name) is not None:
        return True
    try:
        unit = read_unit(with_signs_of_units(tokenize(name)))
    except Unreadable:
        return False
    return unit is not None and unit != NO_UNIT


def with_unit(number: str, text: str, position: int) -> str:
    """A number alone with the unit that stands behind a position; anything else as it is.

    >>> with_unit("5", "so $5$ m.", 6), with_unit("x + 5", "so $x + 5$ m.", 10)
    ('5 m', 'x + 5')
    """
    if not _NUMBER_ALONE.fullmatch(number):
        return number
    unit = unit_behind(text, position)
    return _with_unit(number, unit) if unit else number


def _with_unit(number: str, unit: str) -> str:
    return rf"{number}\text{{ {unit}}}" if unit in CAPITAL_UNITS else f"{number} {unit}"


# Words for what one number counts, and `or` before another: the ` apples or ` of `5 apples or 6`.
_OR_BEHIND = re.compile(
    r"(?P<counted>(?:\s[a-z²³]{1,15}){1,3}),?\sor\s(?:(?:about|maybe|perhaps|even|possibly)\s)?[$*]{0,3}"
)


def alternative(line: str, first: re.Match[str], last: re.Match[str]) -> str | None:
    """The first of two numbers with what it counts, where a line offers it beside the last one.

    None for any other two, and where they count different things: `2 hours or 120 minutes`.

    >>> import re
    >>> line = "It is 5 apples or 6 apples."
    >>> alternative(line, *re.finditer("[0-9]", line))
    '5 apples'
    """
    offered = _OR_BEHIND.fullmatch(line, first.end(), last.start())
    if offered is None:
        return None
    behind = _COUNTED.match(line, last.end())
    is_same = behind is None or behind["noun"] in offered["counted"].split()
    return f"{first[0]}{offered['counted']}" if is_same else None


# The word right behind a number: the `apples` of `6 apples`.
_COUNTED = re.compile(r"[$*]{0,3}\s(?P<noun>[a-z²³]{1,15})")


# Hours and minutes at the end of a line: `2h30`.
_HOURS_AND_MINUTES = re.compile(r"(?<![\w.])(\d{1,3}\s?h\s?[0-5]\d)\W{0,4}$")


def closing_amount(line: str, numbers: Sequence[re.Match[str]]) -> str | None:
    """The last of some numbers in a line with its unit, and with the larger amounts before it.

    A word that multiplies it, as in `$1.5 million`, counts as one. None where it has no unit.

    >>> import re
    >>> line = "It takes 1 hour and 30 minutes."
    >>> closing_amount(line, list(re.finditer("[0-9]+", line)))
    '1 hour and 30 minutes'
    """
    if (clock := _HOURS_AND_MINUTES.search(line)) is not None:
        return clock[1]
    last = numbers[-1]
    if (scale := _SCALE.match(line, last.end())) is not None:
        return with_unit(f"{last[0]}{scale[0]}", line, scale.end())
    found = _unit_at(line, last.end())
    if found is None:
        return None
    unit, end = found
    for first in numbers[-_MAX_AMOUNTS:-1]:
        amounts = line[first.start() : end]
        try:
            if read_compound(tokenize(amounts)) is not None:
                return amounts
        except Unreadable:
            continue
    return _with_unit(last[0], unit)
