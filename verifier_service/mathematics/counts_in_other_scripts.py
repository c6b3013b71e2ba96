"""Numbers with what they count in words that are not plain English: `9 días`, `6 уток`, `18 美元`.

The tokens of an answer are those of mathematics and of words in plain letters. Here other words
get plain letters, so that such an answer is read as a quantity like `9 days`.
"""

from __future__ import annotations

import re
import unicodedata

from verifier_service.mathematics.sentences_in_other_languages import is_changed

MAX_CHARACTERS = 60
"""Longest answer that is read."""

_WORD = r"[^\W\d_][^\d\s.,;:!?()\[\]{}=+*/<>\\$|%~≈±√^_-]{0,20}"
# A number with one to three words: `9 días`, `$20 наличными`, `18美元`, `1,200 బిస్కెట్లు.`
_COUNT = re.compile(
    rf"(?P<number>[-−]?[$€£]?(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,15}})(?:\.\d{{1,9}})?)\s?"
    rf"(?P<words>{_WORD}(?:\s{_WORD}){{0,2}})[.。]?"
)
# Words and signs that change a number, by a script each: thousand, million, dozen, half, percent,
# times as much, and `or`, `not`. Vowel signs of Hindi and Bengali are no letters to `\b`: it would
# find the `বা` ("or") that begins `বাক্স` ("box").
CHANGES = re.compile(
    r"тысяч|миллион|миллиард|дюжин|десят|сот|половин|процент|\bили\b|\bне|раз(?:а|)\sбольше"
    r"|হাজার|লক্ষ|লাখ|কোটি|ডজন|অর্ধেক|শতাংশ|গুণ|(?<!\S)বা(?!\S)|వేల|లక్ష|కోట్ల|డజన|సగం|శాతం|రెట్లు"
    r"|พัน|หมื่น|แสน|ล้าน|ร้อย|โหล|ครึ่ง|เปอร์เซ|เท่า|หรือ|ไม่"
    r"|[十百千万萬亿億兆半倍成折打或非不没無割吗嗎呢]|ですか|까|または|パーセント|ダース|ない|ません|[천만억백십배반]|퍼센트|또는|아니"
    r"|ألف|آلاف|مليون|مائة|مئة|نصف|ضعف|بالمئة|بالمائة|\bأو\b|हज़ार|हजार|लाख|करोड़|दर्जन|आध|गुना|प्रतिशत",
    re.IGNORECASE,
)
# The same and bounds, of which no word is a count: `से कम`, `أقل`, `이상`, `శాతం`, `余`.
_BOUNDS = re.compile(
    r"(?<!\S)से(?!\S)|कम|ज़्यादा|ज्यादा|अधिक|(?<!\S)सौ(?!\S)|أقل|أكثر|فوق|دون|على|خمس|ربع|ثلث|[多几幾余餘]|未[満满]|이상|이하|미만|초과|정도|분의|할\b"
    r"|వంద|শ(?:ত|\s|\Z)|কম|বেশি|более|менее|больше|меньше|трет|четверт|пят(?:ая|ых)"
)
# The same in languages with plain letters.
_LATIN_CHANGES = re.compile(
    r"tis[ií]c|tys|stovek|\bset\b|tusen|tuhat|ezer|\bbin\b|yüz|milj|miliard|(?:drit|vier|fünf|chs|sieb|ach|neun|zehn)tel"
    r"|ièmes?\b|tiers|quart|quint|tercio|nghìn|ngàn|triệu|tỷ|trăm|rưỡi|chục|phần\străm|hoặc|không"
    r"|mill|mil\b|cent|dutzend|douzaine|docena|dúzia|hälfte|moiti|mitad|metade|prozent|fois|mal\b"
    r"|veces|vezes|\b(?:o|ou|oder|or|u|and|y|und|et|no|non|nicht|pas|más|plus|moins|menos|mehr)\b",
    re.IGNORECASE,
)


def with_plain_words(text: str) -> str | None:
    """A number whose words are written in plain letters; None for any other text.

    >>> with_plain_words("9 días"), with_plain_words("18美元")
    ('9 dias', '18 qhpioqfbed')
    >>> with_plain_words("9 days"), with_plain_words("5 тысяч"), with_plain_words("3,5 mètres")
    (None, None, None)
    """
    if text.isascii() or len(text) > MAX_CHARACTERS:
        return None
    count = _COUNT.fullmatch(text.strip())
    if count is None or count["words"].isascii():
        return None
    words = count["words"]
    if any(one.search(words) for one in (CHANGES, _BOUNDS, _LATIN_CHANGES)) or is_changed(words):
        return None
    return f"{count['number']} {' '.join(map(_in_plain_letters, count['words'].split()))}"


def _in_plain_letters(word: str) -> str:
    """A word in letters from a to z: without accents, or spelled by the numbers of its signs."""
    bare = "".join(
        one for one in unicodedata.normalize("NFKD", word) if not unicodedata.combining(one)
    )
    if bare.isascii() and bare.isalpha():
        return bare
    return "".join(_spelled(ord(one)) for one in word)


def _spelled(number: int) -> str:
    """Letters for a number, `q` before them: no two numbers have the same."""
    letters = ""
    while number:
        number, digit = divmod(number, 16)
        letters = "abcdefghijklmnop"[digit] + letters
    return f"q{letters}"
