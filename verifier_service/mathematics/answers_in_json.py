r"""The answer in a JSON object with which a completion ends: `{"reasoning": "...", "answer": "5"}`.

Models write LaTeX and line breaks into such objects as they are, so a strict parser refuses many.
The reader here takes a backslash before a command of LaTeX for itself, and a quotation mark that
no member follows for a part of its text. It takes time linear in the length of the text.
"""

from __future__ import annotations

import re

from verifier_service.mathematics.closing_statement import FILLED

MAX_BEGINNINGS = 8
"""Most places at which an object is sought, from the end of the text."""
MAX_ANSWER_CHARACTERS = 1000

# The beginning of an object: `{"reasoning":`.
_BEGINS = re.compile(r"\{\s{0,40}(?=\"[^\"\n]{1,60}\"\s{0,9}:)")
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
# A key under which an object offers one more answer: `alternative_answer`, `backup`.
_OFFERS = re.compile(r"(?:alt|back_?up|fall_?back|second|other|another|possible|guess)")


def with_tagged_answer(text: str, tag: str) -> str:
    """The text with the answer in a tag in the place of the JSON object at its end.

    Of another object right before it the answer stands in a tag, too.

    >>> with_tagged_answer('{"reasoning": "2 + 3", "answer": "5"}', "answer")
    '<answer>5</answer>'
    >>> with_tagged_answer('{"answer": "5", "backup_answer": "6"}', "answer")
    '<answer>5 or 6</answer>'
    >>> with_tagged_answer("The set is {1, 2}", "answer")
    'The set is {1, 2}'
    """
    tagged = _with_last_tagged(text, tag)
    begin = tagged.rfind(f"<{tag}>")
    if tagged is text or not tagged[max(0, begin - MAX_ANSWER_CHARACTERS) : begin].strip():
        return tagged
    before = tagged[:begin]
    return (
        _with_last_tagged(before, tag) + tagged[begin:]
        if before.rstrip(_AT_END)[-1:] == "}"
        else tagged
    )


def _with_last_tagged(text: str, tag: str) -> str:
    """The text with its last object alone replaced."""
    end = text[-MAX_ANSWER_CHARACTERS:].rstrip(_AT_END)
    if not end.endswith(_LAST_SIGNS) or not any(map(text.__contains__, _NAMES)):
        return text
    for begins in list(_BEGINS.finditer(text))[-MAX_BEGINNINGS:]:
        members = _members(text, begins.end())
        if members is None:
            continue
        before = text[: begins.start()]
        fence = _FENCE.search(before, max(0, len(before) - 80))
        answer = " or ".join(_answers(members))
        tagged = _tagged(before[: fence.start()] if fence else before, answer, tag)
        if tagged is not None:
            return tagged
    last = _LAST_MEMBER.search(text, max(0, len(text) - MAX_ANSWER_CHARACTERS))
    if last is None or len(_ANSWER_KEY.findall(text)) > 1:
        return text
    return _tagged(text[: last.start()], _unescaped(last["value"]), tag) or text


def _tagged(before: str, answer: str, tag: str) -> str | None:
    """The text with a tag in the place of its object; None where the answer is empty or no text."""
    if not FILLED.search(answer) or len(answer) > MAX_ANSWER_CHARACTERS or f"{tag}>" in answer:
        return None
    return f"{before}<{tag}>{answer}</{tag}>"


def _members(text: str, position: int) -> list[tuple[str, str]] | None:
    """Keys and values of an object from its first key; None where it does not end the text."""
    found = []
    while (member := _MEMBER.match(text, position)) is not None:
        found.append((member["key"], member["value"]))
        position = member.end()
        if member["end"].endswith("}"):
            return found if _ENDS.match(text, position) else None
    return None


def _answers(members: list[tuple[str, str]]) -> list[str]:
    """The different answers that an object gives or offers."""
    named = [
        (key.strip().casefold().replace(" ", "_").replace("-", "_"), value)
        for key, value in members
    ]
    answers = [_unescaped(value) for key, value in named if key in _KEYS]
    if not answers:
        return []
    are_letters = all(map(_LETTER.fullmatch, answers))
    offers = [
        _unescaped(value)
        for key, value in named
        if _OFFERS.match(key)
        or (value[0] == "{" and _ANSWER_KEY.search(value))
        or (are_letters and key in _OPTION_KEYS and _LETTER.fullmatch(_unescaped(value)))
    ]
    return list(dict.fromkeys(one for one in (*answers, *offers) if one))


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
