"""Reads the text of an answer as a `Value`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verifier_service.mathematics.evaluation import same
from verifier_service.mathematics.expressions import (
    Expression,
    Number,
    Product,
    Symbol,
    parse,
    quotient,
    variables,
)
from verifier_service.mathematics.notation import MATRICES, Kind, Token, Unreadable, tokenize
from verifier_service.mathematics.quantities import (
    ends_expression,
    has_number,
    is_not_prose,
    read_compound,
    read_degrees,
    read_unit,
    read_with_base,
    signed,
    unit_starts,
)
from verifier_service.mathematics.ranges import (
    as_ranges,
    combined,
    inequality,
    interval,
    is_constant,
    without,
)
from verifier_service.mathematics.units import UNITS, Unit
from verifier_service.mathematics.values import (
    EMPTY,
    EVERYTHING,
    Grid,
    Named,
    Quantity,
    Ranges,
    Relation,
    Several,
    Value,
    Words,
)
from verifier_service.mathematics.wording import (
    ORDINAL,
    read_words,
    rewritten,
    scale_of,
    stem,
    text_key,
    unwrapped,
)

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
_MISLEADING_WORDS = frozenset(
    (
        "squared cubed factorial below above wrong incorrect not false less more plus times "
        "tenths hundredths thousandths halves thirds"
    ).split()
)
"""Words after a number that make it another number."""

_BRACKETS = ("(", "[", "{", "\\{", "\\left")
_GROUPED = re.compile(
    r"(?<![\d.,])(?<!_)(\d{1,3})((?:(?:\\[,!: ]|\{,\}|,|,\\!|[ \u202f\u2009\u00a0])\d{3})+)(?![\d])"
)
_GROUP_SEPARATOR = re.compile(r"\\[,!: ]|\{,\}|,\\!|[, \u202f\u2009\u00a0]")
_TIMES_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))")
_REMARK = re.compile(
    r"(?<=\S)\s+\((?=(?:[a-z]{2,}[ ,]+){2,}[a-z]{2,}\)\s*$)"
    r"(?![^()]*\b(?:mod|not|or|perhaps|maybe|wrong|incorrect|sin|cos|tan|ln|log|sqrt)\b)[^()]*\)\s*$"
)
"""Words in brackets after an answer: `8 (the smallest such integer)`."""


def read(text: str) -> Value:
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
    text = rewritten(text)
    text = _REMARK.sub("", _TIMES_TEN.sub("*", ORDINAL.sub("", text)))
    if not text.startswith(_BRACKETS):  # (3,100) is a pair
        text = _GROUPED.sub(lambda number: number[1] + _GROUP_SEPARATOR.sub("", number[2]), text)
    tokens = tokenize(_without_delimiters(text))
    if not tokens:
        return Words(text_key(text))
    return _Reader(tokens).answer()


_ISO_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.\d{4}")


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


def read_as_list(text: str) -> Value | None:
    """The other reading of `1,234`: a list of numbers. None where there is only one reading."""
    if "," not in text or not _GROUPED.search(text):
        return None
    try:
        return _Reader(tokenize(_without_delimiters(unwrapped(text)))).answer()
    except Unreadable:
        return None


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

    def answer(self) -> Value:
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
            return combined(items, is_union=has_or)
        flat: list[Value] = []
        for item in items:
            flat += item.items if isinstance(item, Several) and item.kind == "list" else [item]
        return Several("or" if has_or else "list", tuple(flat))

    def _item(self, tokens: list[Token]) -> Value:
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

    def item(self) -> Value:
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

    def _special(self) -> Value | None:
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

    def _labelled(self) -> Value | None:
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

    def _relation(self) -> Value | None:
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
        return inequality([parse(part) for part in parts], found)

    def _equation(self, parts: list[list[Token]]) -> Value:
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
                and isinstance(value, Quantity)
                and value.unit is None
                and isinstance(value.expression, Symbol)
                and not is_constant(value.expression)
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
            return Named(_joined(parts[0]), Quantity(sides[-1]))
        left, right = sides
        if isinstance(right, Symbol) and not is_constant(right) and not variables(left):  # 5 = x
            return Named(right.name, Quantity(left))
        return Relation("=", left, right)

    def _union(self) -> Value | None:
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
            return without(items[0], self._item(parts[1]))
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

    def _bracketed(self) -> Value | None:
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
            ranges = interval(items, first.text + last.text)
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

    def _set_builder(self, inside: list[Token]) -> Value | None:
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

    def _matrix(self) -> Value | None:
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

    def _case(self, cells: Sequence[list[Token]]) -> Value:
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

    def _quantity(self) -> Value:
        tokens = self.tokens
        if (ratio := self._ratio()) is not None:
            return ratio
        if (residue := self._residue()) is not None:
            return residue
        if (based := read_with_base(tokens)) is not None:
            return based
        if (compound := read_compound(tokens)) is not None:
            return compound
        unit: Unit | None = None
        if tokens[0].kind is Kind.SIGN and tokens[0].text in _CURRENCIES:
            unit, tokens = UNITS[tokens[0].text], tokens[1:]
        elif len(tokens) > 1 and tokens[0].text == "-" and tokens[1].text in _CURRENCIES:
            unit, tokens = UNITS[tokens[1].text], [tokens[0], *tokens[2:]]
        if not tokens:
            raise Unreadable("a currency without an amount")
        tokens, angle = read_degrees(tokens)
        if angle is not None:
            return angle
        words_only = all(token.kind is Kind.WORD or token.text in "-&'." for token in tokens)
        if words_only:
            return read_words(tokens)
        end = len(tokens)
        while end > 0 and not ends_expression(tokens, end):
            end -= 1
        for stop in unit_starts(tokens, end):
            try:
                expression = parse(tokens[:stop])
            except Unreadable:
                continue
            rest = tokens[stop:]
            measured = read_unit(rest)
            if measured is None and rest and any(is_not_prose(token) for token in rest):
                continue
            if rest and measured is None and not has_number(tokens[:stop]):
                break  # `a right prism`: an article, not a variable
            if not measured and any(t.text.lower() in _MISLEADING_WORDS for t in rest):
                return Words(" ".join(token.text.lower() for token in tokens))
            words = () if measured else tuple(stem(t.text) for t in rest if t.kind is Kind.WORD)
            scale = scale_of(words)
            if scale is not None:
                expression = Product((expression, Number(Fraction(scale[0]))))
                words = scale[1]
                named = read_unit([token for token in rest[1:] if token.text != "of"])
                measured, words = (named, ()) if named else (None, words)
            return signed(Quantity(expression, unit or measured, words))
        return self._prose()

    def _residue(self) -> Value | None:
        """`3 (mod 7)`: a pair of residue and modulus."""
        texts = [token.text for token in self.tokens if token.text not in ("(", ")", "{", "}")]
        tokens = [token for token in self.tokens if token.text not in ("(", ")", "{", "}")]
        place = next((i for i, text in enumerate(texts) if text in ("mod", "pmod", "bmod")), 0)
        if not 0 < place < len(texts) - 1:
            return None
        residue = tokens[texts.index("≡") + 1 : place] if "≡" in texts else tokens[:place]
        pair = (Quantity(parse(residue)), Quantity(parse(tokens[place + 1 :])))
        return Several("tuple", pair, "mod")

    def _ratio(self) -> Value | None:
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
            return Quantity(quotient(terms[0], terms[1]))
        return Several("tuple", tuple(Quantity(quotient(term, terms[0])) for term in terms), "::")

    def _prose(self) -> Value:
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


def _constant_chain(sides: list[Expression]) -> Value:
    """`1 + 1 = 2` is 2; sides that contradict each other are no answer."""
    if all(same(side, sides[-1], 1e-6) for side in sides[:-1]):
        return Quantity(sides[-1])
    raise Unreadable("sides that contradict each other")


def _named_tuple(names: Value, values: Value, name: str) -> Value:
    """`(x, y) = (1, 2)`: each value with its name."""
    if not (isinstance(names, Several) and isinstance(values, Several)):
        return Named(name, values)
    symbols = [
        one.expression.name
        for one in names.items
        if isinstance(one, Quantity) and isinstance(one.expression, Symbol)
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
