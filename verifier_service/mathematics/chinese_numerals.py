"""Numbers in Chinese characters: `十二`, `一百零二`, `三分之二`, `百分之五十`.

Only the usual forms are read. `一百二` is 120 to most speakers and no form that people write, so it
is no number here.
"""

from __future__ import annotations

import re

MAX_CHARACTERS = 40
"""Longest text whose number is read."""
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_PLACES = {"十": 10, "百": 100, "千": 1000}
_SCALES = {"万": 10**4, "亿": 10**8}
_NUMBER = "[零〇一二两三四五六七八九十百千万亿]{1,20}"
# A number in characters, or the quotient of two, before what it counts: `十二个`, `三分之二`.
_COUNTED = re.compile(
    rf"(?P<sign>负?)(?:(?P<percent>百分之)(?P<hundredths>{_NUMBER})"
    rf"|(?P<denominator>{_NUMBER})分之(?P<numerator>{_NUMBER})|(?P<whole>{_NUMBER}))"
    r"(?P<rest>[^\d零〇一二两三四五六七八九十百千万亿分半]{0,10})"
)


def with_arabic_digits(text: str) -> str | None:
    """The text with digits in place of the characters of the number that it begins with.

    >>> with_arabic_digits("十二个"), with_arabic_digits("一百零二"), with_arabic_digits("三分之二")
    ('12个', '102', '2/3')
    >>> with_arabic_digits("百分之五十"), with_arabic_digits("二〇二四")
    ('50%', '2024')
    >>> with_arabic_digits("一百二") is None
    True
    """
    text = text.strip(" 。．.")
    if not text or len(text) > MAX_CHARACTERS or text.isascii():
        return None
    match = _COUNTED.fullmatch(text)
    if match is None:
        return None
    names = ("hundredths", "denominator", "numerator", "whole")
    numbers = [_value_of(match[name]) for name in names if match[name]]
    if None in numbers:
        return None
    number = "/".join(map(str, reversed(numbers)))
    return f"{'-' if match['sign'] else ''}{number}{'%' if match['percent'] else ''}{match['rest']}"


def _value_of(number: str) -> int | None:
    """The value of a number in characters; None for a form that is not the usual one."""
    if len(number) > 1 and all(character in _DIGITS for character in number):
        return int("".join(str(_DIGITS[character]) for character in number))
    total, scales = 0, sorted(_SCALES, key=lambda scale: -_SCALES[scale])
    for scale in scales:
        before, found, behind = number.rpartition(scale)
        if found:
            section = _section(before)
            if section is None:
                return None
            total, number = total + section * _SCALES[scale], behind.removeprefix("零")
    section = _section(number) if number else 0
    return None if section is None else total + section


def _section(number: str) -> int | None:
    """The value of a number below 10,000: `三千零五十`; None for any other text."""
    total, last_place, digit = 0, 10**4, None
    has_gap = False
    for index, character in enumerate(number):
        if character in _PLACES:
            place = _PLACES[character]
            is_ten = character == "十" and index == 0
            if place >= last_place or (digit is None and not is_ten):
                return None
            total, last_place, digit, has_gap = total + (digit or 1) * place, place, None, False
        elif digit not in (None, 0) or character not in _DIGITS:
            return None
        else:
            digit, has_gap = _DIGITS[character], has_gap or character in "零〇"
    if digit is None:
        return total or None
    is_usual = last_place in (10, 10**4) or has_gap
    return total + digit if is_usual else None
