"""Options of a multiple-choice question as Chinese sentences choose, offer and judge them."""

from __future__ import annotations

import re


def offered_in_chinese(text: str) -> str:
    """The letters of an option that Chinese words offer, and of the one before it; else empty.

    >>> offered_in_chinese("答案:B,但也可能是C"), offered_in_chinese("答案:B,不是C")
    ('BC', '')
    >>> offered_in_chinese("选B,C也正确"), offered_in_chinese("【答案】B【解析】C也正确")
    ('BC', '')
    """
    if text.isascii():
        return ""
    text = text[:MAX_OFFER_CHARACTERS]
    for offer in _OFFERED_IN_CHINESE.finditer(text):
        group = offer.lastgroup or ""
        main = _CHOSEN_IN_CHINESE.findall(text, 0, offer.start(group))[-1:]
        if main == [offer[group]] or (group == "two" and _only_explains(offer, main)):
            continue
        return "".join(dict.fromkeys([*main, offer[group]]))
    return ""


def announced_in_chinese(text: str, begin: int, end: int) -> int:
    """The place of the first words in a part of a text that announce an option; else its end.

    >>> announced_in_chinese("若选A,矛盾,故选B。", 0, 11), announced_in_chinese("A也对", 0, 3)
    (8, 3)
    """
    announced = _ANNOUNCED_IN_CHINESE.search(text, begin, end)
    return announced.start() if announced else end


def _only_explains(offer: re.Match[str], main: list[str]) -> bool:
    """Whether words like `C也正确` only explain why another option is chosen."""
    before = offer.string[: offer.start("two")]
    if _ANALYSIS.search(before) or _OPINION.search(before):
        return True
    if before.endswith("则") and _CONTRADICTION.match(offer.string, offer.end()):
        return True
    return any(wrong in main for wrong in _CALLED_WRONG.findall(offer.string))


MAX_OFFER_CHARACTERS = 400
"""Longest text from an announcement on in which Chinese words offer another option."""
# Words that announce an option and do not deny it or suppose it: `答案是B`, `故选B`.
_ANNOUNCED_IN_CHINESE = re.compile(
    r"(?<![若设不误错能勿别没])(?<!如果)(?<!要是)(?<!备选)"
    r"(?:答案|选择?)[】应该是为:：\s]{0,4}\(?[A-J](?![A-Za-z])"
)
# An option that Chinese words choose: `选B`, `答案是B`; or one that begins a text.
_CHOSEN_IN_CHINESE = re.compile(
    r"(?:\A|选择?|答案|[是为:：{>])[】是为:：\s]{0,3}\(?([A-J])(?![A-Za-z])"
)
# The heading of an explanation: `【解析】`, `分析:`.
_ANALYSIS = re.compile(r"(?:解析|点评|分析)\*{0,2}[】:：]")
# An opinion of others at the end of a text: `有同学认为`.
_OPINION = re.compile(r"(?<!我)(?:认为|以为)[^,。;；\n]{0,6}\Z")
# What follows from a supposition is impossible: `,矛盾`.
_CONTRADICTION = re.compile(r"[,;；\s]{0,2}[^,。;；\n]{0,6}矛盾")
# An option that is called wrong, as that is what a question asks for: `B项错误`.
_CALLED_WRONG = re.compile(
    r"([A-J])\)?\s?(?:选?项)?(?:的?说法)?是?(?:错|不正确|有误)(?![^,。\n]{0,2}(?:话|就|则))"
)
# An option that Chinese words offer beside another, or for the case that it is wrong: `,或者C`,
# `,但也可能是C`, `C也对`, `如果不对就选C`, `备选答案:C`. One that is rejected at once is none.
_OFFERED_IN_CHINESE = re.compile(
    r"(?:[A-J)]|[,。;；、!！\s(（])[,\s]?(?:但|不过|而|当然|答案){0,2}"
    r"(?:或者?|或许|也许|要么|[也还亦]?有?可能|[也还亦]可以?)(?:也|还|有?可能|可以){0,2}"
    r"[是为]?(?:选择?|选项)?\s?\(?(?P<one>[A-J])\)?(?![A-Za-z])"
    r"(?=\s?(?:[,。;；、!！.)}<*\n]|[也都均]|同样|\Z))"
    r"(?!,?(?:但是?|然而|不过)?\s?(?:(?P=one)\s?)?(?:不[符满对正成是]|错|被?排除))"
    r"|(?P<two>[A-J])\)?\s?(?:选?项)?(?:也|同样)[是算]?"
    r"(?:对|正确|有?可能|成立|行|合理|可以?)的?(?=[,。;；!！.\s)}<*]|\Z)"
    r"(?!,?(?:但是?|然而|不过)?\s?(?:(?P=two)\s?)?(?:不[符满对正成是必]|错|被?排除))"
    r"|(?:如果|若|要是|万一)[^。\nA-J]{0,9}[A-J]?[^。\nA-J]{0,3}(?:不对|错|不是|不行|不正确)"
    r"[^。\nA-J]{0,9}(?:(?<=选)|(?<=选择)|(?<=就是)|(?<=答案)|(?<=答案[是为:：])"
    r"|(?=[A-J]\)?(?:[,。;；!！.\s)}<*]|\Z)))"
    r"(?P<three>[A-J])(?![A-Za-z])(?!\)?\s?(?:选?项)?[也都]?(?:不|错|有误))"
    r"|(?:(?:备选|第二|另一)个?(?:答案|选择|选项|可能)|其他(?:答案|选择|可能))[是为:：]{1,2}"
    r"\s?\(?(?P<four>[A-J])(?![A-Za-z])"
    r"(?!(?:[、,和与]?\s?[A-J]){0,9}\s?,?(?:但是?|然而|不过)?\s?[也都均]?(?:不|错|有误|被?排除))"
)


def called_right_in_chinese(text: str) -> set[str]:
    """The only option of a text that is called right or wrong, if its end calls it right.

    >>> called_right_in_chinese("所以x=2,选项B正确。")
    {'B'}
    >>> called_right_in_chinese("A错误。所以x=2,选项B正确。")  # perhaps the wrong one is asked for
    set()
    """
    if "选项" not in text:
        return set()
    match = _RIGHT_IN_CHINESE.search(text, max(0, len(text) - _MAX_LAST_WORDS))
    if match is None or set(_JUDGED_IN_CHINESE.findall(text)) != {match["letter"]}:
        return set()
    if _ASKS_FOR_WRONG.search(text) or _SEVERAL_IN_CHINESE.search(text):
        return set()
    sentence = re.split(r"[。\n]", text[: match.start() + 1])[-1]
    return set() if _NOT_SAID_IN_CHINESE.search(sentence) else {match["letter"]}


_MAX_LAST_WORDS = 200
"""Longest end of a text that may call an option right."""
# An option that the last Chinese words of a text call right: `,选项B是正确的。`
_RIGHT_IN_CHINESE = re.compile(
    r"[,;:。\s故此以]选项\s?\(?(?P<letter>[A-J])\)?\s?是?正确的?(?:答案|选项)?[。.!\s*]{0,9}\Z"
)
# An option that Chinese words call right or wrong: `A项错误`.
_JUDGED_IN_CHINESE = re.compile(
    r"([A-J])\)?\s?(?:选?项)?(?:的?(?:说法|描述|叙述))?[是也都均]?(?:不?正确|不?对|有误|错|不符)"
)
# Words of a sentence that supposes, doubts, denies or reports: `若x=2`, `小明认为`.
_NOT_SAID_IN_CHINESE = re.compile(
    r"[若如假设非不难未没]|可能|也许|或许|似乎|认为|觉得|以为|说|怀疑"
)
# Words that ask for what is wrong: `本题选错误的一项`.
_ASKS_FOR_WRONG = re.compile(r"[选问找哪题](?!项)[^,;。\n]{0,12}(?:错误|不正确|不对|有误|不符)")
# Several options at once: the `A、B` of `A、B都对`.
_SEVERAL_IN_CHINESE = re.compile(r"[A-J]\s?(?:[、和与及]|以及)\s?(?:选项)?\s?[A-J](?![A-Za-z])")
