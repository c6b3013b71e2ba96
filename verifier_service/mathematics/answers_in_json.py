r"""The answer in a JSON object with which a completion ends: `{"reasoning": "...", "answer": "5"}`.

Models write LaTeX and line breaks into such objects as they are, so a strict parser refuses many.
The reader here takes a backslash before a command of LaTeX for itself, and a quotation mark that
no member follows for a part of its text. It takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from verifier_service.mathematics.closing_statement import FILLED

MAX_BEGINNINGS = 8
"""Most places at which an object is sought, from the end of the text; twice for answers."""
MAX_ANSWER_CHARACTERS = 1000

# The beginning of an object: `{"reasoning":`.
_BEGINS = re.compile(r"\{\s{0,40}(?=\"[^\"\n]{1,60}\"\s{0,9}:)")
# A first key that names an answer: `"answer":`, `"final_answer":`.
_ANSWER_FIRST = re.compile(r'"[^"\n]{0,30}[Aa]nswers?"')
# A text in quotation marks, in which a mark counts that no member follows: `"the "best" one"`.
_QUOTED = r'"(?:[^"\\]|\\.|"(?!\s{0,40}(?:[}\]]|,\s{0,40}["\]}])))*+"'
_PLAIN = r"[-+]?\d[\d.eE+-]{0,40}|true|false|null"
_LIST = rf"\[\s{{0,40}}(?:(?:{_QUOTED}|{_PLAIN})\s{{0,40}},?\s{{0,40}})*+\]"
_KEY = r'"(?P<{0}>[^"\n]{{1,60}})"\s{{0,9}}:\s{{0,40}}'
_INNER = (
    rf"\{{\s{{0,40}}(?:{_KEY.format('inner')}(?:{_QUOTED}|{_PLAIN}|{_LIST})"
    r"\s{0,40},?\s{0,40})*+\}"
)
# One member of an object: `"answer": "5",`, `"answer": [1, 2]`, `"steps": {"first": "2 + 3"}`.
_MEMBER = re.compile(
    rf"\s{{0,40}}{_KEY.format('key')}(?P<value>{_QUOTED}|{_PLAIN}|{_LIST}|{_INNER})"
    r'\s{0,40}(?P<end>,(?=\s{0,40}")|,?\s{0,40}\})',
    re.DOTALL,
)
# The last member of an object whose rest cannot be read, alone in its line: `"answer": "5"\n}`.
_LAST_MEMBER = re.compile(
    rf'(?:\A|[\n`,])[ \t]{{0,40}}"(?i:(?:final[_ ]|correct[_ ])?answer)"\s{{0,9}}:\s{{0,40}}'
    rf"(?P<value>\"(?:[^\"\\\n]|\\.)*+\"|{_PLAIN})\s{{0,40}},?\s{{0,40}}\}}?[\s`.]{{0,40}}\Z"
)
# The end of a text behind its object, perhaps that of a fenced block.
_ENDS = re.compile(r"[\s`]{0,40}\Z")
# The beginning of a fenced block right before an object.
_FENCE = re.compile(r"`{3,9}[ \t]{0,9}(?:json|JSON)?[ \t]{0,9}\s{0,40}\Z")
_AT_END = " \t\r\n`."
_LAST_SIGNS = ("}", '"', *"0123456789")
# A key that names an answer: `"answer":`, `"backup answer":`.
_ANSWER_KEY = re.compile(r'[Aa]nswers?"\s{0,9}:')
_NAMES = ("nswer", "\u7b54\u6848")
_KEYS = frozenset({"answer", "answers", "final_answer", "correct_answer", "\u7b54\u6848"})
"""Keys of an answer; the last one is Chinese."""
_OPTION_KEYS = frozenset({"choice", "option"})
"""Keys of an option, which is another answer beside the letter of one."""
_UNIT_KEYS = frozenset({"unit", "units", "answer_unit", "answer_units"})
# A key under which an object offers one more answer: `alternative_answer`, `backup`, `answer_2`.
_OFFERS = re.compile(
    r"(?:alt(?:ernat(?:iv)?e)?s?|back_?ups?|fall_?backs?|second|others?|another|possible|guess)"
    r"(?:_(?:answer|choice|option|guess|alternative)(?:e?s)?)?"
    r"|solutions?|results?|or|or_else|maybe|perhaps|alternatively"
    r"|(?:[a-z0-9]{1,20}_){0,4}(?:answers?|correct(?:ed|ion)?)\d{0,3}(?:_[a-z0-9]{1,20}){0,4}"
)
# A key of no final answer: `initial_answer`, `wrong_answer`, `answer_type`.
_NO_OFFERS = re.compile(
    r"(?:initial|previous|first|wrong|incorrect|old|original|is|was|has)_.*"
    r"|.*_(?:types?|formats?|units?|explanation|reason(?:ing)?|confidence|check(?:ed)?|score"
    r"|verification|verified|source|steps?|count|length|id|key)"
)
# What is no answer: `none`, `true`, `n/a`.
_NONE = re.compile(r"(?:none|null|true|false|yes|no|n/?a|not\b.{0,80}|-)\.?", re.IGNORECASE)
# Words that reject what they stand beside: the `are wrong` of `A, C and D are wrong`.
_REJECTS = re.compile(
    r"\b(?:no|not|none|nothing|wrong|incorrect|invalid|rejected|false|impossible)\b", re.IGNORECASE
)
# A word of prose, no command of LaTeX.
_PROSE_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
MAX_WORDS = 4
"""Most words of a value that is an answer offered beside another one; prose has more."""
# The letters of an answer that has a unit or is none of a number; commands of LaTeX have none.
_HAS_LETTER = re.compile(r"(?<![\\A-Za-z])[A-Za-z\u00b0%$]|\\(?:text|math?rm|circ|deg|%|\$)")
# A digit that ends an answer and is no part of a unit: the `5` of `x = 5`, no `2` of `5 m^2`.
_LAST_DIGIT = re.compile(r"(?<![A-Za-z])(?<![A-Za-z]\^)[0-9]\Z")
# Words between two objects that withdraw the first one, and those that keep both.
_WITHDRAWS = re.compile(
    r"\b(?:wait|wrong|incorrect|second thoughts?|correct(?:ed|ion|ing)?|actually|mistaken?|revis)",
    re.IGNORECASE,
)
_KEEPS = re.compile(
    r"\b(?:if|unless|or|alternatively|also|another|equally|either|maybe|perhaps|possibly)\b",
    re.IGNORECASE,
)
# Signs between two objects of which both are the answer.
_JOINS = re.compile(r"[\s`,;]{0,40}(?:and)?[\s`,;]{0,40}(?:json)?\s{0,40}")
# Words of the clause that leads to an object that deny or doubt it: `It is not {...}`.
_DENIES = re.compile(
    r"\b(?:(?<!and )not|never|cannot|neither|nor|wrong|incorrect|false|mistaken|unlikely|doubt"
    r"|maybe|perhaps|possibly|might|could|may be|either|unsure|uncertain|guess|or(?=\W{0,9}\Z))\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
# Words of the sentence right before an object that doubt its answer or offer several.
_DOUBTS = re.compile(
    r"(?:\bnot|n['\u2019]t) (?:\w{1,12} )?(?:sure|certain|know)\b"
    r"|\b(?:unsure|uncertain|no idea|maybe|perhaps(?! surprisingly)|(?:my|just|wild|pure|a) guess"
    r"|(?:may|might|could)(?: also)? be(?! [a-z]{2,20}(?:ed|en|wn)\b))\b"
    r"|\banswers? (?:is|are|would be|must be)\b[^\n]{0,60}\bor\b(?! equ|:)",
    re.IGNORECASE,
)
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s{1,9}(?=\S)|\n")
_CONTEXT_CHARACTERS = 300
"""Most characters right before an object that are read."""
# The sign where a word of a key begins: the `A` of `myAnswer`.
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def with_tagged_answer(text: str, tag: str) -> str:
    """The text with the answer in a tag in the place of the JSON object at its end.

    Of another object right before it the answer stands in a tag, too. An object that the words
    before it deny stays as it is, or gives way to an empty tag.

    >>> with_tagged_answer('{"reasoning": "2 + 3", "answer": "5"}', "answer")
    '<answer>5</answer>'
    >>> with_tagged_answer('{"answer": "5", "backup_answer": "6"}', "answer")
    '<answer>5 or 6</answer>'
    >>> with_tagged_answer("The set is {1, 2}", "answer")
    'The set is {1, 2}'
    """
    closed, opening = text.rstrip(_AT_END), f"<{tag}>"
    if closed.endswith(f"</{tag}>"):
        begin = text.rfind(opening) + len(opening)
        inside = closed[begin : -len(opening) - 1]
        is_object = begin >= len(opening) and inside.strip("` \n\t").startswith(("{", "json"))
        tagged = _with_last_tagged(inside, tag) if is_object else inside
        return text[: begin - len(opening)] + tagged if tagged is not inside else text
    return _with_last_tagged(text, tag)


def _with_last_tagged(text: str, tag: str) -> str:
    """The text with its last object replaced; answers of earlier ones that stay are kept."""
    end = text[-MAX_ANSWER_CHARACTERS:].rstrip(_AT_END)
    if not end.endswith(_LAST_SIGNS) or not any(map(text.__contains__, _NAMES)):
        return text
    earlier: list[_Object] = []
    for begins in _beginnings(text):
        found = _object(text, begins.start(), begins.end())
        if found is None or (earlier and found.start < earlier[-1].end):
            continue
        if not _ENDS.match(text, found.end):
            earlier.append(found)
            continue
        kept = [one for one in earlier if _is_filled(one) and _stays(text[one.end : found.start])]
        tagged = _with_objects_tagged(text, kept, found, tag)
        if tagged is not None:
            return tagged
    last = _LAST_MEMBER.search(text, max(0, len(text) - MAX_ANSWER_CHARACTERS))
    if last is None or len(_ANSWER_KEY.findall(text)) > 1:
        return text
    return _tagged(text[: last.start()], _unescaped(last["value"]), tag) or text


def _beginnings(text: str) -> list[re.Match[str]]:
    """The last places at which an object may begin, and the last with an answer as first key."""
    found = list(_BEGINS.finditer(text))
    named = [one for one in found[:-MAX_BEGINNINGS] if _ANSWER_FIRST.match(text, one.end())]
    return named[-MAX_BEGINNINGS:] + found[-MAX_BEGINNINGS:]


def _with_objects_tagged(text: str, kept: list[_Object], last: _Object, tag: str) -> str | None:
    """The text with the last object replaced, and one right before it, too."""
    before = text[: last.start]
    fence = _FENCE.search(before, max(0, len(before) - 80))
    before = before[: fence.start()] if fence else before
    if kept and last.answers and _JOINS.fullmatch(gap := text[kept[-1].end : last.start]):
        tagged = _with_objects_tagged(text[: kept[-1].end], kept[:-1], kept[-1], tag)
        second = _tagged("", " or ".join(last.answers), tag)
        if tagged and second and f"<{tag}></{tag}>" not in tagged:
            return f"{tagged}{gap.replace('json', '')}{second}"
    others = [answer for one in kept for answer in one.answers] if last.answers else []
    answer = " or ".join(dict.fromkeys((*others, *last.answers)))
    tagged = _tagged(before, answer, tag)
    if tagged is not None or not _is_filled(last):
        return tagged
    is_led_to = not before.rstrip(" \t").endswith("\n")
    if kept or is_led_to or _DOUBTS.search(_sentence_before(before)):
        return f"{before}<{tag}></{tag}>"
    return None


def _is_filled(found: _Object) -> bool:
    return any(map(FILLED.search, found.answers))


def _stays(gap: str) -> bool:
    """Whether an object's answer stays beside that of the last one, by the words between them."""
    return _WITHDRAWS.search(gap) is None or _KEEPS.search(gap) is not None


def _sentence_before(before: str) -> str:
    """The sentence right before an object, or the words that lead to it."""
    context = before[-_CONTEXT_CHARACTERS:].rstrip(" \t\r\n`*")
    return _SENTENCE_ENDS.split(context)[-1]


def _is_denied(before: str, answer: str) -> bool:
    """Whether the words right before an object deny or doubt it, or offer several answers.

    >>> _is_denied("It is not ", "5"), _is_denied("So it is not 5 but 6.", "6")
    (True, False)
    """
    sentence = _sentence_before(before)
    if _DOUBTS.search(sentence):
        return True
    if not sentence.endswith((".", "!", "?")):
        return _DENIES.search(re.split("[,;]", sentence)[-1]) is not None
    return re.search(rf"\bnot\s{{1,9}}{re.escape(answer)}(?![\w.]*\w)", sentence) is not None


def _tagged(before: str, answer: str, tag: str) -> str | None:
    """The text with a tag in the place of its object; None where that is denied or no answer."""
    if not FILLED.search(answer) or len(answer) > MAX_ANSWER_CHARACTERS or f"{tag}>" in answer:
        return None
    if _is_denied(before, answer):
        return None
    return f"{before}<{tag}>{answer}</{tag}>"


class _Object(NamedTuple):
    """An object in a text: where it begins and ends, and the different answers in it."""

    start: int
    end: int
    answers: list[str]


def _object(text: str, start: int, position: int) -> _Object | None:
    """The object that begins in a text, from its first key; None where it cannot be read."""
    found = []
    while (member := _MEMBER.match(text, position)) is not None:
        found.append((_name(member["key"]), member["value"]))
        position = member.end()
        if member["end"].endswith("}"):
            return _Object(start, position, _answers(found))
    return None


def _name(key: str) -> str:
    """A key in lower case, its words joined by underscores.

    >>> _name("Final Answer"), _name("backupAnswer")
    ('final_answer', 'backup_answer')
    """
    return _CAMEL.sub("_", key.strip()).casefold().replace(" ", "_").replace("-", "_")


def _answers(named: list[tuple[str, str]]) -> list[str]:
    """The different answers that an object gives or offers, with the unit that it has for them."""
    answers = [_unescaped(value) for key, value in named if key in _KEYS]
    if not answers:
        return []
    are_letters = all(map(_LETTER.fullmatch, answers))
    same = set(map(_value, answers))
    offers = [
        _unescaped(value)
        for key, value in named
        if key not in _KEYS and _is_offered(key, value, same, are_letters=are_letters)
    ]
    units = [_unescaped(value) for key, value in named if key in _UNIT_KEYS]
    answers = [_with_unit(one, units) for one in answers]
    return list(dict.fromkeys(one for one in (*answers, *offers) if one))


def _is_offered(key: str, value: str, same: set[str], *, are_letters: bool) -> bool:
    """Whether a member beside the answer offers another one."""
    if value[0] == "{":
        return _ANSWER_KEY.search(value) is not None
    text = _unescaped(value)
    is_letter = _LETTER.fullmatch(text) is not None
    if key in _OPTION_KEYS:
        return are_letters and is_letter
    if not _OFFERS.fullmatch(key) or _NO_OFFERS.fullmatch(key) or _value(text) in same:
        return False
    if not FILLED.search(text) or _NONE.fullmatch(text) or len(text) > MAX_ANSWER_CHARACTERS:
        return False
    max_words = 1 if key.startswith(("solution", "result")) else MAX_WORDS
    return len(_PROSE_WORD.findall(text)) <= max_words and not _REJECTS.search(text)


def _value(text: str) -> str:
    """A text for comparison: the `5` of `x = 5` and of `$5$`."""
    return "".join(text.casefold().rpartition("=")[2].replace("$", "").split()).rstrip(".")


def _with_unit(answer: str, units: list[str]) -> str:
    """An answer without a unit with that which stands beside it.

    >>> _with_unit("5", ["cm"]), _with_unit("5 m", ["cm"]), _with_unit("5", ["none"])
    ('5 cm', '5 m', '5')
    """
    unit = units[-1] if units else ""
    answer = answer.rstrip(".")
    has_none = _HAS_LETTER.search(answer) is None or _LAST_DIGIT.search(answer) is not None
    if not has_none or not any(map(str.isdigit, answer)) or answer[0] == "[" or unit in answer:
        return answer
    if not unit or unit[0] in "[{" or len(unit) > MAX_UNIT_CHARACTERS or _NONE.fullmatch(unit):
        return answer
    return f"{unit}{answer}" if unit in _CURRENCIES else f"{answer} {unit}"


_CURRENCIES = frozenset("$\u20ac\u00a3\u00a5")
MAX_UNIT_CHARACTERS = 40
# The letter of an option: `B`, `(B)`.
_LETTER = re.compile(r"\(?[A-Za-z]\)?\.?")


def _unescaped(value: str) -> str:
    r"""The text of a value.

    >>> _unescaped(r'"\frac{1}{2}"'), _unescaped(r'"\\frac{1}{2}"'), _unescaped("null")
    ('\\frac{1}{2}', '\\frac{1}{2}', '')
    """
    if not value.startswith('"'):
        return "" if value == "null" else value
    value = value[1:-1]
    escape = _ESCAPE if "\\\\" in value else _ESCAPE_BESIDE_LATEX
    return escape.sub(_sign, value).strip()


# A sign behind a backslash, as JSON has it; beside LaTeX no letter, for it begins a command.
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\\\"/nrtbf]))")
_ESCAPE_BESIDE_LATEX = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"/]|[nrt](?![A-Za-z])))")


def _sign(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return "\n" if escape[2] in "nrtbf" else escape[2]
