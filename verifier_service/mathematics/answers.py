"""What a final answer is: a value, a list, a tuple, a set, ranges, a relation, a matrix, words.

`read` turns the text of an answer into an `Answer`. How the text was written is forgotten on the
way; what it says is kept: units, names (`x = 2`), brackets, decimal points.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from verifier_service.mathematics.evaluation import (
    DIGITS,
    NotExact,
    Undefined,
    exact,
    numeric,
    same,
)
from verifier_service.mathematics.expressions import (
    CONSTANTS,
    Call,
    Expression,
    Number,
    Product,
    Symbol,
    difference,
    negative,
    number,
    parse,
    quotient,
    signs,
    variables,
)
from verifier_service.mathematics.notation import (
    MATRICES,
    Kind,
    Token,
    Unreadable,
    tokenize,
)
from verifier_service.mathematics.units import (
    AREA_WORDS,
    DEGREE,
    LETTER_UNITS,
    NO_UNIT,
    PERCENT,
    UNITS,
    Unit,
)


@dataclass(frozen=True, slots=True)
class Value:
    """A quantity: an expression, perhaps with a unit or with words after it."""

    expression: Expression
    unit: Unit | None = None
    words: tuple[str, ...] = ()
    base: int | None = None
    """Of a whole number that names its base: `101_2`. The expression is what its digits say in
    base ten."""


@dataclass(frozen=True, slots=True)
class Named:
    """`x = 2`, `f(x) = x^2`, `Maximum: 3`."""

    name: str
    value: Answer
    argument: str | None = None
    """The variable of a function that is defined; None for anything else."""
    is_function: bool = False


@dataclass(frozen=True, slots=True)
class Several:
    """Several answers; `kind` is "list" (a, b), "or", "set" {a, b} or "tuple" (a, b)."""

    kind: str
    items: tuple[Answer, ...]
    brackets: str = ""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from low to high; None is infinite."""

    low: Expression | None
    low_closed: bool
    high: Expression | None
    high_closed: bool


@dataclass(frozen=True, slots=True)
class Ranges:
    """A union of ranges, perhaps of a named variable."""

    pieces: tuple[Range, ...]
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """An equation or inequality that names no value: left `=`, `<`, `<=` or `!=` right."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix, row by row."""

    rows: tuple[tuple[Answer, ...], ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Prose, in normal form."""

    text: str


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day, in minutes since midnight; `half` is "a", "p" or empty: not told."""

    minutes: int
    seconds: int
    half: str


Answer = Value | Named | Several | Ranges | Relation | Grid | Words | Time

EVERYTHING = Ranges((Range(None, False, None, False),))
EMPTY = Several("set", ())

_RELATIONS = frozenset({"=", "<", "<=", ">", ">=", "!=", "≈"})
_OPENING = frozenset({"(", "[", "{", "\\{", "⟨", "⌊", "⌈"})
_CLOSING = frozenset({")", "]", "}", "\\}", "⟩", "⌋", "⌉"})
_PAIRS = {"(": ")]", "[": "])", "{": "}", "\\{": "\\}", "⟨": "⟩"}
_CONDITION_WORDS = frozenset(
    (
        "where for when if with such since because given assuming provided as which that after"
    ).split()
)
_LIST_WORDS = frozenset({"and", "or"})
_CURRENCIES = frozenset({"$", "€", "£", "¥", "₹"})
_SET_NAMES = frozenset({"R", "Z", "N", "Q", "C"})
_ARTICLES = frozenset({"the", "a", "an"})

_NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen "
            "fourteen fifteen sixteen seventeen eighteen nineteen"
        ).split()
    )
} | {
    word: 10 * (index + 2)
    for index, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
}
_MISLEADING_WORDS = frozenset(
    (
        "squared cubed factorial below above wrong incorrect not false less more plus times "
        "tenths hundredths thousandths halves thirds"
    ).split()
)
"""Words after a number that make it another number."""
_SCALE_WORDS = {"hundred": 100, "dozen": 12, "thousand": 1000, "million": 10**6, "billion": 10**9,
                "trillion": 10**12}  # fmt: skip
_FRACTION_WORDS = {"half": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifths": 5,
                   "fifth": 5, "halves": 2, "fourth": 4, "fourths": 4, "eighth": 8,
                   "eighths": 8, "tenth": 10, "tenths": 10}  # fmt: skip

_ORDINAL_WORDS = {
    "first": 1, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
"""Without those that are units or fractions on their own."""

_BRACKETS = ("(", "[", "{", "\\{", "\\left")
_GROUPED = re.compile(
    r"(?<![\d.,])(?<!_)(\d{1,3})((?:(?:\\[,!: ]|\{,\}|,|,\\!|[ \u202f\u2009\u00a0])\d{3})+)(?![\d])"
)
_GROUP_SEPARATOR = re.compile(r"\\[,!: ]|\{,\}|,\\!|[, \u202f\u2009\u00a0]")
_TIME = re.compile(
    r"(?:at\s+)?(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?\s*(?:([ap])\.?\s*m\b\.?)?", re.IGNORECASE
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATES = (
    re.compile(_MONTH + r"\s*(?P<day>\d{1,2})(?:\s*,?\s+(?P<year>\d{4}))?", re.IGNORECASE),
    re.compile(
        r"(?P<day>\d{1,2})\s*(?:of\s+)?" + _MONTH + r"(?:\s*,?\s*(?P<year>\d{4}))?", re.IGNORECASE
    ),
)
_TIMES_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))")
_REMARK = re.compile(
    r"(?<=\S)\s+\((?=(?:[a-z]{2,}[ ,]+){2,}[a-z]{2,}\)\s*$)"
    r"(?![^()]*\b(?:mod|not|or|perhaps|maybe|wrong|incorrect|sin|cos|tan|ln|log|sqrt)\b)[^()]*\)\s*$"
)
"""Words in brackets after an answer: `8 (the smallest such integer)`."""
_ORDINAL = re.compile(
    r"(?<=\d)\s*(?:\^?\s*\{?\s*(?:\\(?:text|mathrm|textrm|textsuperscript)\s*\{\s*)?"
    r"(?:st|nd|rd|th)\s*\}?\s*\}?)(?![a-zA-Z])"
)
_UNWRAP = re.compile(
    r"\s*(?:\$\$(?P<a>[^$]*)\$\$|\$(?P<b>[^$]*)\$|\\\((?P<c>.*)\\\)|\\\[(?P<d>.*)\\\])\s*",
    re.DOTALL,
)


def read(text: str) -> Answer:
    """The answer that a text gives.

    Raises:
        Unreadable: it is not mathematics as this package reads it, nor plain words.

    >>> read("12").expression
    Number(value=Fraction(12, 1), decimals=None)
    >>> read(r"x \\in \\{1\\}").items[0].expression.value
    Fraction(1, 1)
    """
    text = unwrapped(text)
    if not text:
        return Words("")
    if _ISO_DATE.fullmatch(text):
        return Words(text)
    text = _rewritten(text)
    text = _REMARK.sub("", _TIMES_TEN.sub("*", _ORDINAL.sub("", text)))
    if not text.startswith(_BRACKETS):  # (3,100) is a pair
        text = _GROUPED.sub(lambda number: number[1] + _GROUP_SEPARATOR.sub("", number[2]), text)
    tokens = tokenize(_without_delimiters(text))
    if not tokens:
        return Words(text_key(text))
    return _Reader(tokens).answer()


_ISO_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.\d{4}")
_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\[dt]?frac\s*\{\s*d\s*([a-z])\s*\}\s*\{\s*d\s*([a-z])\s*\}", r"\1'"),
        (r"\\textcolor\s*\{[^{}]*\}|\\color\s*\{[^{}]*\}", ""),
        (r"√\s*(\d+(?:\.\d+)?)", r"\\sqrt{\1}"),
        (r"^(?:negative|minus)\s+(?=\S)", "-"),
        (r"^\s*(\d+)\s+out of\s+(\d+)\s*$", r"\1/\2"),
        (r"^\s*(\d+)\s+to\s+(\d+)\s*$", r"\1:\2"),
        (
            r"(?:^|(?<=[,;\s]))\(([a-h])\)\s*(?=[-\d\\$][^,;]*(?:[,;]\s*(?:and\s+)?\([a-h]\)|$))",
            r"\1: ",
        ),
    )
)


def unwrapped_text(text: str) -> str:
    """The text without the commands that only say that it is text."""
    if "\\" not in text:
        return text
    return re.sub(r"\s+", " ", _TEXT.sub(r" \1 ", text)).strip()


def _rewritten(text: str) -> str:
    """Ways of writing that say the same as simpler ones."""
    words = unwrapped_text(text)
    if "\\" not in words:
        text = words
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text


def read_condition(text: str) -> str:
    """What an answer is said to hold under: `if x > 0`, `k \\in \\mathbb{Z}`; empty if nothing.

    >>> read_condition(r"k\\pi, k \\in \\mathbb{Z}")
    'integer'
    """
    try:
        tokens = tokenize(_without_delimiters(unwrapped(text)))
    except Unreadable:
        return ""
    depth = 0
    follows_mathematics = False
    for index, token in enumerate(tokens):
        depth += _depth_change(token)
        is_word = token.kind is Kind.WORD and token.text.lower() in _CONDITION_WORDS
        if depth == 0 and is_word and follows_mathematics:
            return _condition(tokens[index + 1 :])
        if depth == 0 and token.text == "," and index:
            rest = tokens[index + 1 : index + 4]
            if "∈" in [one.text for one in rest]:
                return _condition(tokens[index + 1 :])
        follows_mathematics = follows_mathematics or _is_mathematics(token)
    return ""


def _condition(tokens: Sequence[Token]) -> str:
    """A condition in normal form: of which kind a variable is, whatever it is called."""
    texts = [token.text for token in tokens if token.text not in "{}"]
    named = texts[texts.index("∈") + 1 :] if "∈" in texts else [text.lower() for text in texts]
    for kind, names in _KINDS_OF_NUMBERS.items():
        if set(named) & names:
            return kind
    return "".join(texts).lower()


_KINDS_OF_NUMBERS = {
    "natural": frozenset({"N", "natural", "positive", "nonnegative", "non-negative"}),
    "integer": frozenset({"Z", "integer", "integers"}),
    "real": frozenset({"R", "real", "reals"}),
}


def read_as_list(text: str) -> Answer | None:
    """The other reading of `1,234`: a list of numbers. None where there is only one reading."""
    if "," not in text or not _GROUPED.search(text):
        return None
    try:
        return _Reader(tokenize(_without_delimiters(unwrapped(text)))).answer()
    except Unreadable:
        return None


def unwrapped(text: str) -> str:
    """The text without what only sets it off: delimiters, a box, bold, a full stop."""
    while True:
        before = text
        text = text.strip().strip("*").strip()
        if text.endswith(".") and not text.endswith("..") and "..." not in text[-4:]:
            text = text[:-1]
        if (match := _UNWRAP.fullmatch(text)) is not None:
            text = next(inside for inside in match.groups() if inside is not None)
        if text.startswith(("\\boxed{", "\\fbox{")) and text.endswith("}"):
            text = text[text.index("{") + 1 : -1]
        text = text.rstrip(",;^")
        if text == before:
            return text


def text_key(text: str) -> str:
    """A text without anything that only dresses it: two texts with one key say the same.

    >>> text_key(r"\\text{Line segment,  and Circle.}") == text_key("line segment, and circle")
    True
    """
    text = _TEXT.sub(lambda dressed: f" {dressed[1]} ", _SPACING.sub(" ", unwrapped(text)))
    text = _DRESS.sub("", text)
    if not _BRACES_MATTER.search(text):
        text = text.replace("{", "").replace("}", "")
    text = _ARTICLE.sub("", _KEY_PUNCTUATION.sub(" ", text))
    return " ".join(word.casefold() if _IS_WORD.fullmatch(word) else word for word in text.split())


_TEXT = re.compile(
    r"\\(?:text|mathrm|textrm|textbf|mathbf|textit|mbox|operatorname)\s*\{([^{}]*)\}"
)
_DRESS = re.compile(r"\\(?:left|right|displaystyle|bigg?|Bigg?)(?![a-zA-Z])|\$")
_SPACING = re.compile(r"\\(?:quad|qquad|[ ,;:!])|~|\s+")
_BRACES_MATTER = re.compile(r"[\\^_]")
_KEY_PUNCTUATION = re.compile(r"[\"`“”.,;:?]+(?=\s|$)|(?<=\s)[\"`“”]+|^[\"`“”]+")
_ARTICLE = re.compile(r"(?<![^\s])(?:the|an?)\s+(?=[a-z]{3})", re.IGNORECASE)
_IS_WORD = re.compile(r"[^\W\d_][^\W\d_'-]{2,}")


def read_as_time(text: str) -> Time | Words | None:
    """The reading of a text as a time of day or a date; None where it is neither.

    >>> read_as_time("2:15 p.m.")
    Time(minutes=855, seconds=0, half='p')
    >>> read_as_time("15th March") == read_as_time("March 15")
    True
    """
    text = _TEXT.sub(r"\1", unwrapped(text)).replace("\\", " ").strip(" .{}")
    if len(text) > _MAX_TIME_CHARACTERS:
        return None
    if (match := _TIME.fullmatch(text)) is not None and (match[2] or match[4]):
        hour, minute, half = int(match[1]), int(match[2] or 0), (match[4] or "").lower()
        if hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
            return None
        if half:
            hour = hour % 12 + (12 if half == "p" else 0)
        return Time(hour * 60 + minute, int(match[3] or 0), half)
    text = _ORDINAL.sub("", text)
    for pattern in _DATES:
        if (match := pattern.fullmatch(text)) is not None:
            month = _MONTHS.index(match["month"][:3].lower()) + 1
            return Words(f"date {match['year'] or ''}-{month}-{int(match['day'])}")
    return None


_MAX_TIME_CHARACTERS = 40


def _without_delimiters(text: str) -> str:
    text = text.replace("\\(", " ").replace("\\)", " ").replace("\\[", " ").replace("\\]", " ")
    text = text.replace("\\\\$", "\\$")
    bare = len(re.findall(r"(?<!\\)\$", text))
    if bare == 0:
        return text
    # An odd dollar is money.
    return re.sub(r"(?<!\\)\$", " " if bare % 2 == 0 else r"\\$", text)


_SYSTEMS = frozenset({"cases", "aligned", "align", "gathered", "split"})
"""Environments of equations, one in each row."""


class _Reader:
    """Reads tokens from the outside in: lists, then relations, then brackets, then quantities."""

    def __init__(self, tokens: list[Token], depth: int = 0) -> None:
        if depth > 12:
            raise Unreadable("nested too deeply")
        self.tokens = tokens
        self.depth = depth

    def answer(self) -> Answer:
        parts, joints = self._split_list()
        if len(parts) == 1:
            return self._item(parts[0])
        kept = [part for part in parts if part and not _is_condition(part)]
        if not kept:
            raise Unreadable("a list without items")
        if len(kept) < len(parts):
            joints = joints[: len(kept) - 1]
        items = [self._item(part) for part in kept]
        if len(items) == 1:
            return items[0]
        has_or = "or" in joints
        if any(isinstance(item, Ranges) for item in items):
            return _combined(items, is_union=has_or)
        flat: list[Answer] = []
        for item in items:
            flat += item.items if isinstance(item, Several) and item.kind == "list" else [item]
        return Several("or" if has_or else "list", tuple(flat))

    def _item(self, tokens: list[Token]) -> Answer:
        return _Reader(tokens, self.depth + 1).item()

    def _split_list(self) -> tuple[list[list[Token]], list[str]]:
        parts: list[list[Token]] = [[]]
        joints: list[str] = []
        depth = 0
        for token in self.tokens:
            depth += _depth_change(token)
            is_joint = depth == 0 and (
                (token.kind is Kind.SIGN and token.text in (",", ";"))
                or (token.kind is Kind.WORD and token.text.lower() in _LIST_WORDS)
            )
            if not is_joint:
                parts[-1].append(token)
            elif parts[-1]:
                parts.append([])
                joints.append("or" if token.text.lower() == "or" else ",")
            elif joints and token.text.lower() == "or":
                joints[-1] = "or"
        if not parts[-1]:
            parts.pop()
            joints = joints[: len(parts) - 1]
        if not parts:
            raise Unreadable("nothing but separators")
        return parts, joints

    def item(self) -> Answer:
        """One element of a list, or the only one."""
        self._cut_condition()
        if not self.tokens:
            raise Unreadable("an empty item")
        for reading in (self._special, self._labelled, self._relation, self._union, self._bracketed,
                        self._matrix):  # fmt: skip
            found = reading()
            if found is not None:
                return found
        return self._quantity()

    def _cut_condition(self) -> None:
        depth = 0
        follows_mathematics = False
        for index, token in enumerate(self.tokens):
            depth += _depth_change(token)
            is_word = token.kind is Kind.WORD and token.text.lower() in _CONDITION_WORDS
            if depth == 0 and is_word and follows_mathematics:
                self.tokens = self.tokens[:index]
                return
            follows_mathematics = follows_mathematics or _is_mathematics(token)

    def _special(self) -> Answer | None:
        texts = [token.text.lower() for token in self.tokens]
        if texts in (["∅"], ["\\{", "\\}"]):
            return EMPTY
        if all(token.kind is Kind.WORD for token in self.tokens) or len(texts) <= 6:
            phrase = " ".join(texts)
            if phrase in _EMPTY_PHRASES:
                return EMPTY
            if phrase in _EVERYTHING_PHRASES or [token.text for token in self.tokens] == ["R"]:
                return EVERYTHING
            if phrase in _SYNONYMS:
                return Words(_SYNONYMS[phrase])
        return None

    def _labelled(self) -> Answer | None:
        """`Maximum: 3`, `Alice: 5`."""
        for index, token in enumerate(self.tokens):
            if token.text == ":" and token.kind is Kind.SIGN and 0 < index < len(self.tokens) - 1:
                before = self.tokens[:index]
                if any(one.kind is Kind.WORD for one in before) or (
                    len(before) == 1 and before[0].kind is Kind.LETTER
                ):
                    name = _joined(before)
                    return Named(name, self._item(self.tokens[index + 1 :]))
                return None
        return None

    def _relation(self) -> Answer | None:
        parts: list[list[Token]] = [[]]
        found: list[str] = []
        depth = 0
        for token in self.tokens:
            depth += _depth_change(token)
            if depth == 0 and token.kind is Kind.SIGN and token.text in (*_RELATIONS, "∈"):
                found.append(token.text)
                parts.append([])
            else:
                parts[-1].append(token)
        if not found:
            return None
        if not parts[0] and found[0] in ("=", "≈"):  # "= 5"
            return self._item(self.tokens[1:])
        if any(not part for part in parts):
            raise Unreadable("a relation with one side")
        if found == ["∈"]:
            inside = self._item(parts[1])
            return (
                replace(inside, variable=_joined(parts[0]))
                if isinstance(inside, Ranges)
                else inside
            )
        if "≈" in found and set(found) <= {"=", "≈"} and not _is_name(parts[0]):
            exact_parts = parts[: found.index("≈") + 1]
            return (
                self._item(exact_parts[0]) if len(exact_parts) == 1 else self._equation(exact_parts)
            )
        if set(found) <= {"=", "≈"}:
            return self._equation(parts)
        if "∈" in found:
            raise Unreadable("a relation with ∈")
        return _inequality([parse(part) for part in parts], found)

    def _equation(self, parts: list[list[Token]]) -> Answer:
        head = _function_head(parts[0])
        if head is not None:
            name, argument = head
            value = self._item(parts[-1])
            return Named(name, value, argument, is_function=argument is not None)
        if all(_is_name(part) for part in parts[:-1]):
            value = self._item(parts[-1])
            first = _joined(parts[0])
            if (
                len(parts) == 2
                and isinstance(value, Value)
                and value.unit is None
                and isinstance(value.expression, Symbol)
                and not _is_constant(value.expression)
            ):
                return Relation("=", Symbol(first), value.expression)
            return Named(first, value)
        if any(token.kind is Kind.WORD for token in parts[0]) and len(parts) == 2:
            return Named(_joined(parts[0]), self._item(parts[1]))
        is_tuple = parts[0][0].text == "(" and isinstance(self._item(parts[0]), Several)
        if is_tuple and len(parts) == 2:  # (x, y) = (1, 2)
            return _named_tuple(self._item(parts[0]), self._item(parts[1]), _joined(parts[0]))
        try:
            sides = [parse(part) for part in parts]
        except Unreadable:
            if len(parts) == 2:
                return Named(_joined(parts[0]), self._item(parts[1]))
            raise
        if len(sides) > 2 and all(not variables(side) for side in sides):
            return _constant_chain(sides)
        if len(sides) > 2:
            return Named(_joined(parts[0]), Value(sides[-1]))
        left, right = sides
        if isinstance(right, Symbol) and not _is_constant(right) and not variables(left):  # 5 = x
            return Named(right.name, Value(left))
        return Relation("=", left, right)

    def _union(self) -> Answer | None:
        parts: list[list[Token]] = [[]]
        depth = 0
        minus = False
        for index, token in enumerate(self.tokens):
            depth += _depth_change(token)
            between = 0 < index < len(self.tokens) - 1
            if depth == 0 and between and (token.text == "∪" or self._is_letter_union(index)):
                parts.append([])
            elif depth == 0 and between and token.text == "∖":
                parts.append([])
                minus = True
            else:
                parts[-1].append(token)
        if len(parts) == 1:
            return None
        items = [as_ranges(self._item(part)) for part in parts]
        if minus:
            return _without(items[0], self._item(parts[1]))
        if any(item is None for item in items):
            sets = [self._item(part) for part in parts]
            if all(isinstance(one, Several) and one.kind == "set" for one in sets):
                return Several("set", tuple(i for one in sets for i in one.items))  # type: ignore[union-attr]
            raise Unreadable("a union of other things than ranges")
        return Ranges(tuple(piece for item in items if item for piece in item.pieces))

    def _is_letter_union(self, index: int) -> bool:
        before, after = self.tokens[index - 1], self.tokens[index + 1]
        return (
            self.tokens[index].text == "U"
            and before.text in (")", "]")
            and after.text in ("(", "[")
        )

    def _bracketed(self) -> Answer | None:
        first, last = self.tokens[0], self.tokens[-1]
        if first.kind is not Kind.SIGN or first.text not in _PAIRS or len(self.tokens) < 3:
            return None
        if last.text not in (")", "]", "}", "\\}", "⟩") or not self._spans():
            return None
        if last.text not in (_PAIRS[first.text], *_PAIRS[first.text]):
            return None
        inside = self.tokens[1:-1]
        if first.text in ("{", "\\{"):
            built = self._set_builder(inside)
            if built is not None:
                return built
        parts, _ = _Reader(inside, self.depth + 1)._split_list()
        if first.text == "{" and len(parts) == 1:
            return self._item(inside)
        if len(parts) == 1 and first.text in ("(", "["):
            return None if not _has_structure(inside) else self._item(inside)
        items = tuple(self._item(part) for part in parts)
        if first.text in ("{", "\\{"):
            return Several("set", items)
        if first.text + last.text in ("(]", "[)"):
            ranges = _interval(items, first.text + last.text)
            if ranges is None:
                raise Unreadable("brackets that do not match")
            return ranges
        return Several("tuple", items, first.text + last.text)

    def _spans(self) -> bool:
        """Whether the first bracket closes with the last token."""
        depth = 0
        for index, token in enumerate(self.tokens):
            depth += _depth_change(token)
            if depth == 0:
                return index == len(self.tokens) - 1
        return False

    def _set_builder(self, inside: list[Token]) -> Answer | None:
        depth = 0
        for index, token in enumerate(inside):
            depth += _depth_change(token)
            is_bar = token.text in ("|", "mid", ":") and token.kind is Kind.SIGN
            if not is_bar or depth or not index or index == len(inside) - 1:
                continue
            element, condition = inside[:index], inside[index + 1 :]
            texts = [one.text for one in element]
            whole = "∈" in texts and set(texts) & {"Z", "N", "Q"}
            if "∈" in texts:
                element = element[: texts.index("∈")]
            if whole:
                name = Words(f"{_joined(element)} in {sorted(whole)[0]}")
                return Several("tuple", (name, _Reader(condition, self.depth + 1).answer()), "{|}")
            if len(element) == 1 and element[0].kind is Kind.LETTER:
                return _Reader(condition, self.depth + 1).answer()
            if len(element) == 1:
                return None
            return Several("tuple", (self._item(element), Words(_joined(condition))), "{|}")
        return None

    def _matrix(self) -> Answer | None:
        tokens = self.tokens
        if tokens[0].text.partition(" ")[0] != "begin" or tokens[0].kind is not Kind.FUNCTION:
            return None
        environment = tokens[0].text.partition(" ")[2]
        if tokens[-1].text != f"end {environment}" or environment not in (*MATRICES, *_SYSTEMS):
            raise Unreadable(f"environment {environment}")
        rows: list[list[list[Token]]] = [[[]]]
        depth = 0
        for token in tokens[1:-1]:
            depth += _depth_change(token)
            if depth == 0 and token.text == "\\\\":
                rows.append([[]])
            elif depth == 0 and token.text == "&":
                rows[-1].append([])
            else:
                rows[-1][-1].append(token)
        if rows[-1] == [[]]:
            rows.pop()
        if environment == "cases" and any(len(row) > 1 for row in rows):
            return Several("set", tuple(self._case(row) for row in rows))
        if environment in _SYSTEMS:
            equations = [self._item([token for cell in row for token in cell]) for row in rows]
            return equations[0] if len(equations) == 1 else Several("list", tuple(equations))
        grid = Grid(tuple(tuple(self._item(cell) for cell in row) for row in rows))
        if environment == "vmatrix":
            raise Unreadable("a determinant")
        return grid

    def _case(self, cells: Sequence[list[Token]]) -> Answer:
        """A value and the condition under which it holds."""
        kept = []
        for cell in cells:
            while cell and (cell[-1].text in (",", ";", ".") or cell[-1].text == "if"):
                cell = cell[:-1]
            while cell and cell[0].text in ("if", "for", "when", ","):
                cell = cell[1:]
            kept.append(cell)
        if len(kept) != 2 or not all(kept):
            raise Unreadable("a case without a condition")
        condition = kept[1]
        if condition[0].text in ("otherwise", "else"):
            return Several("tuple", (self._item(kept[0]), Words("otherwise")))
        return Several("tuple", (self._item(kept[0]), _Reader(condition, self.depth + 1).answer()))

    def _quantity(self) -> Answer:
        tokens = self.tokens
        if (ratio := self._ratio()) is not None:
            return ratio
        if (residue := self._residue()) is not None:
            return residue
        if (based := _with_base(tokens)) is not None:
            return based
        if (compound := _compound(tokens)) is not None:
            return compound
        unit: Unit | None = None
        if tokens[0].kind is Kind.SIGN and tokens[0].text in _CURRENCIES:
            unit, tokens = UNITS[tokens[0].text], tokens[1:]
        elif len(tokens) > 1 and tokens[0].text == "-" and tokens[1].text in _CURRENCIES:
            unit, tokens = UNITS[tokens[1].text], [tokens[0], *tokens[2:]]
        if not tokens:
            raise Unreadable("a currency without an amount")
        tokens, angle = _degrees(tokens)
        if angle is not None:
            return angle
        words_only = all(token.kind is Kind.WORD or token.text in "-&'." for token in tokens)
        if words_only:
            return _words(tokens)
        end = len(tokens)
        while end > 0 and not _ends_expression(tokens, end):
            end -= 1
        for stop in _unit_starts(tokens, end):
            try:
                expression = parse(tokens[:stop])
            except Unreadable:
                continue
            rest = tokens[stop:]
            measured = _unit(rest)
            if measured is None and rest and any(_not_prose(token) for token in rest):
                continue
            if rest and measured is None and not _has_number(tokens[:stop]):
                break  # `a right prism`: an article, not a variable
            if not measured and any(t.text.lower() in _MISLEADING_WORDS for t in rest):
                return Words(" ".join(token.text.lower() for token in tokens))
            words = () if measured else tuple(_stem(t.text) for t in rest if t.kind is Kind.WORD)
            scale = _scale(words)
            if scale is not None:
                expression = Product((expression, Number(Fraction(scale[0]))))
                words = scale[1]
                named = _unit([token for token in rest[1:] if token.text != "of"])
                measured, words = (named, ()) if named else (None, words)
            return _signed(Value(expression, unit or measured, words))
        return self._prose()

    def _residue(self) -> Answer | None:
        """`3 (mod 7)`: a pair of residue and modulus."""
        texts = [token.text for token in self.tokens if token.text not in ("(", ")", "{", "}")]
        tokens = [token for token in self.tokens if token.text not in ("(", ")", "{", "}")]
        place = next((i for i, text in enumerate(texts) if text in ("mod", "pmod", "bmod")), 0)
        if not 0 < place < len(texts) - 1:
            return None
        residue = tokens[texts.index("≡") + 1 : place] if "≡" in texts else tokens[:place]
        pair = (Value(parse(residue)), Value(parse(tokens[place + 1 :])))
        return Several("tuple", pair, "mod")

    def _ratio(self) -> Answer | None:
        parts: list[list[Token]] = [[]]
        for token in self.tokens:
            if token.text == ":" and token.kind is Kind.SIGN:
                parts.append([])
            else:
                parts[-1].append(token)
        if len(parts) == 1 or any(not part for part in parts):
            return None
        terms = [parse(part) for part in parts]
        if len(terms) == 2:
            return Value(quotient(terms[0], terms[1]))
        return Several("tuple", tuple(Value(quotient(term, terms[0])) for term in terms), "::")

    def _prose(self) -> Answer:
        """Words with numbers among them; one number with words before it is that number."""
        tokens = self.tokens
        words = sum(token.kind is Kind.WORD for token in tokens)
        if not words:
            raise Unreadable("neither an expression nor words")
        if tokens[0].kind is Kind.WORD:
            start = next(
                i for i, t in enumerate((*tokens, None)) if t is None or t.kind is not Kind.WORD
            )
            leading = [token.text.lower() for token in tokens[:start]]
            if start < len(tokens) and set(leading) <= _LEADING:
                return self._item(tokens[start:])
        return Words(" ".join(token.text.lower() for token in tokens))


_LEADING = frozenset(
    (
        "the it answer value result is are equals approximately about exactly at only just "
        "around roughly nearly in"
    ).split()
)
_EMPTY_PHRASES = frozenset(
    {
        "no solution", "no solutions", "no real solution", "no real solutions", "none", "empty set",
        "the empty set", "no such", "no roots", "no real roots", "no such numbers", "no integers",
        "there are no solutions", "there is no solution", "no integer solutions",
        "no solution exists", "no solutions exist", "no such integers", "no such number",
    }
)  # fmt: skip
_EVERYTHING_PHRASES = frozenset(
    {"all real numbers", "all reals", "any real number", "all real", "all real values",
     "every real number", "the set of all real numbers", "real numbers"}
)  # fmt: skip


_SYNONYMS = {
    "dne": "does not exist",
    "limit does not exist": "does not exist",
    "the limit does not exist": "does not exist",
    "it does not exist": "does not exist",
    "infinitely many solutions": "infinitely many",
    "there are infinitely many": "infinitely many",
    "there are infinitely many solutions": "infinitely many",
}


def _is_mathematics(token: Token) -> bool:
    if token.kind is Kind.SIGN:
        return token.text not in ".,'-:"
    return token.kind is not Kind.WORD and token.text not in ("a", "A", "I")


def _depth_change(token: Token) -> int:
    if token.kind is Kind.SIGN:
        return (token.text in _OPENING) - (token.text in _CLOSING)
    if token.kind is Kind.FUNCTION:
        return token.text.startswith("begin ") - token.text.startswith("end ")
    return 0


def _joined(tokens: Sequence[Token]) -> str:
    """The name that tokens spell; of words, whatever their case."""
    name = "".join(token.text for token in tokens if token.text not in ("{", "}"))
    return name.lower() if any(token.kind is Kind.WORD for token in tokens) else name


def _is_name(tokens: Sequence[Token]) -> bool:
    """A variable, perhaps with a subscript, or words."""
    if all(token.kind is Kind.WORD for token in tokens):
        return True
    if tokens[0].kind is not Kind.LETTER:
        return False
    if tokens[0].text in ("e", "i", "pi", "infty"):
        return False
    return len(tokens) == 1 or tokens[1].text in ("_", "'")


def _is_constant(symbol: Symbol) -> bool:
    return symbol.name in CONSTANTS


def _is_condition(tokens: Sequence[Token]) -> bool:
    """`k \\in \\mathbb{Z}`, `where ...`: says something about the answer, is none."""
    texts = [token.text for token in tokens]
    if tokens[0].kind is Kind.WORD and texts[0].lower() in _CONDITION_WORDS:
        return True
    if "∈" in texts:
        after = [text for text in texts[texts.index("∈") + 1 :] if text not in "{}"]
        return bool(after) and after[0] in _SET_NAMES
    return "integer" in texts or "integers" in texts


def _function_head(tokens: Sequence[Token]) -> tuple[str, str | None] | None:
    """`f(x)`: the name and the argument; the argument is None where it is a number."""
    texts = [token.text for token in tokens if token.text not in ("{", "}")]
    if len(texts) < 4 or tokens[0].kind is not Kind.LETTER or texts[-1] != ")":
        return None
    opening = texts.index("(") if "(" in texts else 0
    if opening == 0 or (opening > 1 and texts[1] not in ("_", "^", "'", "''")):
        return None
    inside = texts[opening + 1 : -1]
    if "(" in inside:
        return None
    name = texts[0] + "".join(texts[1:opening])
    if len(inside) == 1 and inside[0][0].islower():
        return name, inside[0]
    return f"{name}({''.join(inside)})", None


def _constant_chain(sides: list[Expression]) -> Answer:
    """`1 + 1 = 2` is 2; sides that contradict each other are no answer."""
    if all(same(side, sides[-1], 1e-6) for side in sides[:-1]):
        return Value(sides[-1])
    raise Unreadable("sides that contradict each other")


def _with_base(tokens: Sequence[Token]) -> Value | Words | None:
    """`101_2`, `(2A)_{16}`, `204_{\\text{five}}`: digits and their base."""
    texts = [token.text for token in tokens if token.text not in ("{", "}", "(", ")")]
    if len(texts) < 3 or texts[-2] != "_" or tokens[0].text in ("-", "_"):
        return None
    digits, base_text = "".join(texts[:-2]), texts[-1].lower()
    if not digits[0].isdigit():  # a name with an index
        return None
    base = int(base_text) if base_text.isdigit() else _NUMBER_WORDS.get(base_text, 0)
    if not 2 <= base <= 36 or len(digits) > 1000 or not digits.isalnum() or not digits.isascii():
        return None
    try:
        value = int(digits, base)
    except ValueError:
        return Words(f"{digits}_{base}")
    if not digits.isdigit():
        return Value(Number(Fraction(value)))
    return Value(Number(Fraction(int(digits))), base=base)


def _compound(tokens: Sequence[Token]) -> Value | None:
    """`1 hour 30 minutes`, `5 ft 3 in`: a sum of quantities of one dimension."""
    starts = [index for index, token in enumerate(tokens) if token.kind is Kind.NUMBER]
    if len(starts) < 2 or starts[0] != 0:
        return None
    total, first = Fraction(0), None
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        unit_tokens = tokens[start + 1 : end]
        if not unit_tokens or any(token.kind is not Kind.WORD for token in unit_tokens):
            return None
        unit = _unit(unit_tokens)
        if unit is None or (first is not None and unit.dimension != first.dimension):
            return None
        first = first or unit
        total += number(tokens[start].text).value * unit.size
    return Value(Number(total / first.size), first) if first else None


def _named_tuple(names: Answer, values: Answer, name: str) -> Answer:
    """`(x, y) = (1, 2)`: each value with its name."""
    if not (isinstance(names, Several) and isinstance(values, Several)):
        return Named(name, values)
    symbols = [
        one.expression.name
        for one in names.items
        if isinstance(one, Value) and isinstance(one.expression, Symbol)
    ]
    if not len(symbols) == len(names.items) == len(values.items):
        return Named(name, values)
    items = tuple(Named(symbol, value) for symbol, value in zip(symbols, values.items, strict=True))
    return Several("tuple", items, values.brackets)


def _has_structure(tokens: Sequence[Token]) -> bool:
    """Whether brackets hold more than an expression."""
    return any(
        token.text in _RELATIONS or token.text in ("∪", "°") or token.kind is Kind.WORD
        for token in tokens
    )


def _signed(value: Value) -> Answer:
    both = signs(value.expression)
    if len(both) == 1:
        return value
    return Several("list", tuple(replace(value, expression=one) for one in both))


def _inequality(sides: list[Expression], found: list[str]) -> Answer:
    found = ["=" if sign == "≈" else sign for sign in found]
    if len(sides) == 2:
        return _single_inequality(sides[0], found[0], sides[1])
    if len(sides) == 3 and len({sign[0] for sign in found}) == 1 and found[0][0] in "<>":
        if found[0][0] == ">":
            sides, found = sides[::-1], [sign.replace(">", "<") for sign in found[::-1]]
        low, middle, high = sides
        piece = Range(_bound(low), found[0] == "<=", _bound(high), found[1] == "<=")
        if isinstance(middle, Symbol):
            return Ranges((piece,), middle.name)
        linear = _linear(middle)
        if linear is not None:
            name, slope, offset = linear
            return _scaled(piece, name, slope, offset)
    raise Unreadable("a chain of relations")


def _bound(expression: Expression) -> Expression | None:
    if expression in (Symbol("infty"), negative(Symbol("infty"))):
        return None
    return expression


def _single_inequality(left: Expression, sign: str, right: Expression) -> Answer:
    if sign[0] == ">":
        left, sign, right = right, sign.replace(">", "<"), left
    names = variables(left) | variables(right)
    if (distance := _distance(left, sign, right)) is not None:
        return distance
    if sign in ("<", "<=", "!="):
        for variable, other, is_left in ((left, right, True), (right, left, False)):
            if (
                isinstance(variable, Symbol)
                and not _is_constant(variable)
                and variable.name not in variables(other)
                and (len(names) == 1 or not isinstance(other, Symbol))
            ):
                return _half_line(variable.name, other, sign, below=is_left)
        linear = _linear(difference(left, right)) if len(names) == 1 else None
        if linear is not None:
            name, slope, offset = linear
            return _half_line(
                name, Number(-offset / slope, None), sign, below=slope > 0 or sign == "!="
            )
    return Relation(sign, left, right)


def _distance(left: Expression, sign: str, right: Expression) -> Ranges | None:
    """`|x| < 2` and `2 < |x|`."""
    for inside, bound, is_near in ((left, right, True), (right, left, False)):
        if not (isinstance(inside, Call) and inside.name == "abs" and not variables(bound)):
            continue
        (variable,) = inside.arguments
        if not isinstance(variable, Symbol) or sign == "!=":
            return None
        closed = sign == "<="
        if is_near:
            return Ranges((Range(negative(bound), closed, bound, closed),), variable.name)
        outer = (Range(None, False, negative(bound), closed), Range(bound, closed, None, False))
        return Ranges(outer, variable.name)
    return None


def _half_line(name: str, bound: Expression, sign: str, *, below: bool) -> Ranges:
    if sign == "!=":
        return Ranges((Range(None, False, bound, False), Range(bound, False, None, False)), name)
    closed = sign == "<="
    if below:
        return Ranges((Range(None, False, _bound(bound), closed),), name)
    return Ranges((Range(_bound(bound), closed, None, False),), name)


def _linear(expression: Expression) -> tuple[str, Fraction, Fraction] | None:
    """Name, slope and value at 0 of a linear expression of one variable."""
    names = variables(expression)
    if len(names) != 1:
        return None
    (name,) = names
    try:
        values = [exact(expression, {name: Fraction(x)}) for x in (0, 1, 2, 5, 11)]
    except (NotExact, Undefined):
        return None
    slope = values[1] - values[0]
    if not slope or any(
        value != values[0] + slope * x for value, x in zip(values, (0, 1, 2, 5, 11), strict=True)
    ):
        return None
    return name, slope, values[0]


def _scaled(piece: Range, name: str, slope: Fraction, offset: Fraction) -> Ranges:
    """The range of a variable of which slope * x + offset lies in a range."""

    def solve(bound: Expression | None) -> Expression | None:
        if bound is None:
            return None
        shifted = difference(bound, Number(offset))
        solved = Product((shifted, Number(1 / slope)))
        try:
            return Number(exact(solved, {}))
        except (NotExact, Undefined):
            return solved

    low, high = solve(piece.low), solve(piece.high)
    if slope > 0:
        return Ranges((Range(low, piece.low_closed, high, piece.high_closed),), name)
    return Ranges((Range(high, piece.high_closed, low, piece.low_closed),), name)


def _interval(items: Sequence[Answer], brackets: str) -> Ranges | None:
    """Two values in brackets as a range."""
    if len(items) != 2:
        return None
    low, high = items
    if not (isinstance(low, Value) and isinstance(high, Value)):
        return None
    return Ranges(
        (Range(_bound(low.expression), brackets[0] == "[", _bound(high.expression),
               brackets[-1] == "]"),)
    )  # fmt: skip


def as_ranges(answer: Answer) -> Ranges | None:
    """Ranges, also of a two-element tuple; None for anything else."""
    if isinstance(answer, Ranges):
        return answer
    if isinstance(answer, Several) and answer.kind == "tuple":
        return _interval(answer.items, answer.brackets)
    if isinstance(answer, Value) and answer.expression == Symbol("R"):
        return EVERYTHING
    return None


def _without(whole: Ranges | None, removed: Answer) -> Answer:
    """All real numbers but some points."""
    if whole != EVERYTHING:
        raise Unreadable("a difference of sets")
    points = removed.items if isinstance(removed, Several) else (removed,)
    ends = [point.expression for point in points if isinstance(point, Value)]
    if len(ends) != len(points) or not ends:
        raise Unreadable("a difference of sets")
    with contextlib.suppress(NotExact, Undefined):
        ends.sort(key=lambda end: exact(end, {}))
    lows: list[Expression | None] = [None, *ends]
    highs: list[Expression | None] = [*ends, None]
    return Ranges(
        tuple(Range(low, False, high, False) for low, high in zip(lows, highs, strict=True))
    )


def _combined(items: Sequence[Answer], *, is_union: bool) -> Answer:
    """Ranges joined by `or`, `and` or a comma: a union unless their intersection makes sense."""
    ranges = [as_ranges(item) for item in items]
    if any(one is None for one in ranges):
        if all(isinstance(item, Ranges | Named) for item in items):
            return Several("list", tuple(items))
        raise Unreadable("ranges and other things")
    found = [one for one in ranges if one is not None]
    names = {one.variable for one in found if one.variable}
    if len(names) > 1:
        return Several("list", tuple(found))
    name = names.pop() if names else None
    pieces = tuple(piece for one in found for piece in one.pieces)
    if not is_union and name:
        common: tuple[Range, ...] | None = found[0].pieces
        for one in found[1:]:
            common = _intersection(common, one.pieces) if common is not None else None
        if common:
            return Ranges(common, name)
        if common is None:
            raise Unreadable("ranges whose ends cannot be ordered")
    return Ranges(pieces, name)


def _intersection(left: Sequence[Range], right: Sequence[Range]) -> tuple[Range, ...] | None:
    """What two unions of ranges have in common; None where their ends cannot be ordered."""
    found = []
    for one in left:
        for other in right:
            low = _inner(one.low, one.low_closed, other.low, other.low_closed, 1)
            high = _inner(one.high, one.high_closed, other.high, other.high_closed, -1)
            if low is None or high is None:
                return None
            (start, start_closed), (end, end_closed) = low, high
            if start is not None and end is not None:
                order = _order(start, end)
                if order is None:
                    return None
                if order > 0 or (order == 0 and not (start_closed and end_closed)):
                    continue
            found.append(Range(start, start_closed, end, end_closed))
    return tuple(found)


def _inner(
    one: Expression | None,
    one_closed: bool,
    other: Expression | None,
    other_closed: bool,
    sign: int,
) -> tuple[Expression | None, bool] | None:
    """The larger of two lower ends (sign 1) or the smaller of two upper ones (sign -1)."""
    if one is None:
        return other, other_closed
    if other is None:
        return one, one_closed
    order = _order(one, other)
    if order is None:
        return None
    if order == 0:
        return one, one_closed and other_closed
    return (one, one_closed) if order == sign else (other, other_closed)


def _order(one: Expression, other: Expression) -> int | None:
    """-1, 0 or 1 as one is less than, equal to or greater than the other; None if unknown."""
    try:
        gap = exact(difference(one, other), {})
        return (gap > 0) - (gap < 0)
    except Undefined:
        return None
    except NotExact:
        pass
    try:
        value = numeric(difference(one, other), {}, DIGITS)
    except (Undefined, Unreadable):
        return None
    if value.imag or abs(value) < 1e-30:
        return None if value.imag else 0
    return 1 if value > 0 else -1


def _degrees(tokens: list[Token]) -> tuple[list[Token], Value | None]:
    """`60^\\circ 42'` is an angle of degrees, minutes and seconds."""
    index = next((i for i, token in enumerate(tokens) if token.text == "°"), None)
    if index is None:
        return tokens, None
    before = tokens[:index]
    if any(token.kind is Kind.FUNCTION for token in before) and not all(
        token.text in ("frac", "sqrt") for token in before if token.kind is Kind.FUNCTION
    ):
        return tokens, None  # sin 30°: the expression knows
    while before and before[-1].text in ("^", "{"):
        before = before[:-1]
    after = [token for token in tokens[index + 1 :] if token.text not in ("{", "}")]
    if after and after[0].text in ("C", "F") and len(after) == 1:
        return tokens, Value(parse(before), UNITS["°" + after[0].text])
    if not before:
        raise Unreadable("an angle without a number")
    expression = parse(before)
    sizes = {"'": 60, "''": 3600}
    while len(after) >= 2 and after[0].kind is Kind.NUMBER and after[1].text in sizes:
        minutes = quotient(parse(after[:1]), Number(Fraction(sizes[after[1].text])))
        expression = difference(expression, negative(minutes))
        after = after[2:]
    if after and not all(token.kind is Kind.WORD for token in after):
        raise Unreadable("an angle in an expression")
    return tokens, Value(expression, DEGREE)


def _ends_expression(tokens: Sequence[Token], end: int) -> bool:
    """Whether an expression could end before `end`."""
    token = tokens[end - 1]
    return token.kind in (Kind.NUMBER, Kind.LETTER) or token.text in (
        ")", "]", "}", "|", "!", "'", "''", "⌋", "⌉", "°"
    )  # fmt: skip


def _unit_starts(tokens: Sequence[Token], end: int) -> list[int]:
    """Where a unit may start, the likeliest first."""
    starts = [end] if end else []
    for index in range(end, 0, -1):
        token = tokens[index - 1] if index <= len(tokens) else None
        if token is None or index - 1 == 0:
            continue
        is_unit = token.text in UNITS and (
            token.kind is Kind.WORD
            or (token.text in LETTER_UNITS and token.spaced and _is_measure(tokens[: index - 1]))
            or token.text == "%"
        )
        if is_unit or token.kind is Kind.WORD:
            starts.insert(0, index - 1)
    for index, token in enumerate(tokens):
        if index and (token.kind is Kind.WORD or token.text in ("%", "$", "€", "£")):
            starts.insert(0, index)
            break
    return list(dict.fromkeys(starts))


def _is_measure(tokens: Sequence[Token]) -> bool:
    """Whether a letter after these can be a unit: they end in a number and have no variable."""
    return tokens[-1].kind is Kind.NUMBER and all(token.kind is not Kind.LETTER for token in tokens)


def _not_prose(token: Token) -> bool:
    return token.kind is not Kind.WORD and token.text not in (".", "-", "'", ",", "(", ")", "/")


def _has_number(tokens: Sequence[Token]) -> bool:
    return any(token.kind is Kind.NUMBER or token.text == "pi" for token in tokens)


def _unit(tokens: Sequence[Token]) -> Unit | None:
    """The unit that tokens name, or None: `km/h`, `square meters`, `m^2`, `meters per second`."""
    if not tokens:
        return None
    result, sign, power, found = NO_UNIT, 1, 1, False
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        lower = text.lower()
        unit = UNITS.get(text) or (UNITS.get(lower) if len(text) > 2 else None)
        if lower in AREA_WORDS:
            power = AREA_WORDS[lower]
        elif lower in ("per", "/", "an") and found:
            sign = -1
        elif text in ("*", ".", "-", "{", "}", "(", ")", "of", "each", "the"):
            pass
        elif unit is not None:
            exponent, index = _exponent_after(tokens, index)
            result = result.times(unit, sign * power * exponent)
            power, found = 1, True
        elif text == "unit" or text == "units":
            _, index = _exponent_after(tokens, index)
            return None
        else:
            return None
        index += 1
    if found and len(tokens) == 1 and (text in UNITS or len(text) > 1):
        return UNITS.get(tokens[0].text) or UNITS.get(tokens[0].text.lower())
    return result if found else None


def _exponent_after(tokens: Sequence[Token], index: int) -> tuple[int, int]:
    """The exponent of the unit at index, and the index of its last token."""
    following = [token.text for token in tokens[index + 1 : index + 6]]
    if following[:1] != ["^"]:
        if following[:1] and following[0] in ("2", "3"):
            return int(following[0]), index + 1
        if following[:1] and following[0].lower() in ("squared", "cubed"):
            return 2 if following[0].lower() == "squared" else 3, index + 1
        return 1, index
    digits = "".join(text for text in following[1:] if text.isdigit() or text == "-")
    width = 2
    if following[1:2] == ["{"]:
        width = 1 + following.index("}") if "}" in following else 2
        digits = "".join(following[2 : width - 1])
    else:
        digits = following[1] if len(following) > 1 else ""
    try:
        return int(digits), index + width
    except ValueError:
        return 1, index


def _stem(word: str) -> str:
    word = word.lower()
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _scale(words: tuple[str, ...]) -> tuple[int, tuple[str, ...]] | None:
    if words and words[0] in _SCALE_WORDS:
        return _SCALE_WORDS[words[0]], words[1:]
    return None


def _words(tokens: Sequence[Token]) -> Answer:
    """Words, or the number that they spell."""
    if tokens[0].text == "-" and len(tokens) > 1:
        inside = _words(tokens[1:])
        if isinstance(inside, Value):
            return replace(inside, expression=negative(inside.expression))
    words = [part for token in tokens for part in token.text.lower().split("-") if part]
    if words in (["half"], ["one", "half"]):
        return Value(Number(Fraction(1, 2)))
    if len(words) == 1 and words[0] in _ORDINAL_WORDS:
        return Value(Number(Fraction(_ORDINAL_WORDS[words[0]])))
    count = _spelled(words)
    if count is not None:
        value, rest = count
        unit = PERCENT if rest == ["percent"] else None
        return Value(Number(value), unit, tuple(_stem(word) for word in rest) if not unit else ())
    text = " ".join(word for word in words if word not in _ARTICLES and word not in "-&'.")
    return Words(text or " ".join(words))


def _spelled(words: Sequence[str]) -> tuple[Fraction, list[str]] | None:
    """The number that the first words spell, and the words after it."""
    total, current, index = 0, 0, 0
    while index < len(words):
        word = words[index]
        if word in _NUMBER_WORDS:
            value = _NUMBER_WORDS[word]
            fits = current % 100 == 0 or (current % 10 == 0 and current % 100 >= 20 and value < 10)
            if not fits:  # `twenty twenty`, `one two`
                return None
            current += value
        elif word == "hundred" and index:
            current = (current or 1) * 100
        elif word in _SCALE_WORDS and index:
            total, current = total + (current or 1) * _SCALE_WORDS[word], 0
        elif word == "and" and index:
            pass
        elif word in _FRACTION_WORDS and index == 1 and current:
            return Fraction(current, _FRACTION_WORDS[word]), list(words[2:])
        else:
            break
        index += 1
    if index == 0 or (index == 1 and len(words) > 3):
        return None
    return Fraction(total + current), list(words[index:])
