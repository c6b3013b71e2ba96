"""Expressions of numbers and variables: how they are parsed and evaluated.

An expression is a tree of frozen dataclasses. It can be evaluated exactly, where only rational
operations occur, or to any number of digits with mpmath. Nothing here builds or runs source code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from verifier_service.mathematics.notation import (
    FUNCTIONS,
    Kind,
    Token,
    Unreadable,
)

MAX_DEPTH = 60
MAX_DIGITS = 4_000
"""Of a number as written; longer ones are compared as text."""
MAX_EXACT_BITS = 20_000
"""Of numerator or denominator of an exact value."""
MAX_FACTORIAL = 3_000


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written."""

    value: Fraction
    decimals: int | None = None
    """Digits after the point; None where it was written without one."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, or one of the constants e, i, pi, infty."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of its terms."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of its factors."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Power:
    """A base to an exponent; a division is an exponent of -1."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A function of its arguments; `±` is a function of one or two."""

    name: str
    arguments: tuple[Expression, ...]


Expression = Number | Symbol | Sum | Product | Power | Call

MINUS_ONE = Number(Fraction(-1))
CONSTANTS = frozenset({"e", "i", "pi", "infty"})


def negative(expression: Expression) -> Expression:
    """Minus the expression."""
    if isinstance(expression, Number):
        return Number(-expression.value, expression.decimals)
    return Product((MINUS_ONE, expression))


def difference(left: Expression, right: Expression) -> Expression:
    """Left minus right."""
    return Sum((left, negative(right)))


def quotient(numerator: Expression, denominator: Expression) -> Expression:
    """Numerator over denominator; of two whole numbers, one number."""
    if (
        isinstance(numerator, Number)
        and isinstance(denominator, Number)
        and numerator.decimals is None
        and denominator.decimals is None
        and denominator.value
    ):
        return Number(numerator.value / denominator.value)
    return Product((numerator, Power(denominator, MINUS_ONE)))


def variables(expression: Expression) -> frozenset[str]:
    """Names of the variables in it."""
    names: set[str] = set()
    for part in walk(expression):
        if isinstance(part, Symbol) and part.name not in CONSTANTS:
            names.add(part.name)
    return frozenset(names)


def walk(expression: Expression) -> list[Expression]:
    """The expression and every expression in it."""
    found = [expression]
    for part in found:
        match part:
            case Sum(terms):
                found.extend(terms)
            case Product(factors):
                found.extend(factors)
            case Power(base, exponent):
                found += (base, exponent)
            case Call(_, arguments):
                found.extend(arguments)
    return found


def has_decimals(expression: Expression) -> bool:
    """Whether a number in it was written with a decimal point."""
    return any(isinstance(part, Number) and part.decimals for part in walk(expression))


def has_symbol(expression: Expression, name: str) -> bool:
    """Whether a variable or constant of that name is in it."""
    return any(isinstance(part, Symbol) and part.name == name for part in walk(expression))


def substitute(expression: Expression, replacements: Mapping[str, Expression]) -> Expression:
    """The expression with variables replaced."""
    if isinstance(expression, Symbol):
        return replacements.get(expression.name, expression)
    return with_parts(expression, lambda part: substitute(part, replacements))


def with_parts(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with each of its direct parts changed."""
    match expression:
        case Sum(terms):
            return Sum(tuple(change(term) for term in terms))
        case Product(factors):
            return Product(tuple(change(factor) for factor in factors))
        case Power(base, exponent):
            return Power(change(base), change(exponent))
        case Call(name, arguments):
            return Call(name, tuple(change(one) for one in arguments))
    return expression


def signs(expression: Expression) -> list[Expression]:
    """What an expression with `±` stands for: all upper signs, then all lower ones."""
    if not any(isinstance(part, Call) and part.name in "±∓" for part in walk(expression)):
        return [expression]
    return [_with_sign(expression, 1), _with_sign(expression, -1)]


def _with_sign(expression: Expression, sign: int) -> Expression:
    changed = with_parts(expression, lambda part: _with_sign(part, sign))
    match changed:
        case Call("±", (inside,)):
            return inside if sign == 1 else negative(inside)
        case Call("∓", (inside,)):
            return inside if sign == -1 else negative(inside)
    return changed


def parse(tokens: list[Token]) -> Expression:
    """The expression that all tokens together are.

    Raises:
        Unreadable: they are not one expression.
    """
    parser = _Parser(tokens)
    expression = parser.sum()
    if parser.position != len(tokens):
        raise Unreadable(f"unexpected {tokens[parser.position].text}")
    return expression


def number(text: str) -> Number:
    """A number as written: digits, perhaps a point, perhaps an exponent.

    Raises:
        Unreadable: more than MAX_DIGITS.
    """
    if len(text) > MAX_DIGITS:
        raise Unreadable("a number of too many digits")
    mantissa, _, exponent = text.lower().partition("e")
    whole, point, decimals = mantissa.partition(".")
    digits = int(whole + decimals or "0")
    value = Fraction(digits, 10 ** len(decimals)) if decimals else Fraction(digits)
    places = len(decimals) if point else None
    if exponent:
        if abs(int(exponent)) > MAX_DIGITS:
            raise Unreadable("too large an exponent")
        value *= Fraction(10) ** int(exponent)
        places = max((places or 0) - int(exponent), 1)
    return Number(value, places)


_CLOSING = {"(": ")", "[": "]", "{": "}", "⌊": "⌋", "⌈": "⌉"}
_ENDS_FACTOR = frozenset({")", "]", "}", ",", ";", "\\}", "⟩", "⌋", "⌉", "&", "\\\\", "="})
_WITH_INVERSES = frozenset("cot sec csc sinh cosh tanh coth cosec".split())
_POSTFIX_FUNCTIONS = frozenset({"max", "min", "gcd", "lcm"})


def _radians(degrees: Expression) -> Expression:
    return Product((degrees, Number(Fraction(1, 180)), Symbol("pi")))


class _Parser:
    """Recursive descent over tokens; every method starts at `position` and moves it."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self._depth = 0
        self._bars = 0

    def sum(self) -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        terms = [self._term()]
        while (sign := self._sign()) in ("+", "-", "±", "∓"):
            self.position += 1
            term = self._term()
            terms.append(
                term if sign == "+" else negative(term) if sign == "-" else Call(sign, (term,))
            )
        self._depth -= 1
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def _sign(self) -> str:
        """The sign at the position; empty where another kind of token or nothing stands."""
        if self.position < len(self.tokens):
            token = self.tokens[self.position]
            if token.kind is Kind.SIGN:
                return token.text
        return ""

    def _next(self) -> Token:
        if self.position >= len(self.tokens):
            raise Unreadable("ends too early")
        return self.tokens[self.position]

    def _expect(self, sign: str) -> None:
        if self._sign() != sign:
            raise Unreadable(f"expected {sign}")
        self.position += 1

    def _term(self) -> Expression:
        sign = 1
        while (text := self._sign()) in ("+", "-"):
            self.position += 1
            sign = -sign if text == "-" else sign
        if (text := self._sign()) in ("±", "∓"):
            self.position += 1
            inside = Call(text, (self._term(),))
            return inside if sign == 1 else negative(inside)
        product = self._product()
        return product if sign == 1 else negative(product)

    def _product(self) -> Expression:
        result = self._factors()
        while (sign := self._sign()) in ("*", "/"):
            self.position += 1
            if self._sign() in ("+", "-"):
                right = self._signed_power()
            else:
                right = self._power() if sign == "/" else self._factors()
            if sign == "/":
                result = quotient(result, right)
                rest = self._implicit()
                if rest:
                    result = Product((result, *rest))
            else:
                result = Product((result, right))
        return result

    def _signed_power(self) -> Expression:
        sign = self._sign()
        if sign in ("+", "-"):
            self.position += 1
            inside = self._signed_power()
            return inside if sign == "+" else negative(inside)
        return self._power()

    def _factors(self) -> Expression:
        """Powers written next to each other, and mixed numbers."""
        start = self.position
        first = self._power()
        mixed = self._mixed_part(first) if self.position == start + 1 else None
        if mixed is not None:
            first = mixed
        rest = self._implicit()
        return Product((first, *rest)) if rest else first

    def _mixed_part(self, whole: Expression) -> Expression | None:
        """`1 1/2` and `1\\frac{1}{2}` are three halves."""
        if not (isinstance(whole, Number) and whole.value.denominator == 1 and not whole.decimals):
            return None
        start = self.position
        if start == 0 or self.tokens[start - 1].kind is not Kind.NUMBER:
            return None
        rest = self.tokens[start : start + 3]
        if rest and rest[0].kind is Kind.FUNCTION and rest[0].text == "frac":
            fraction = self._power()
            if isinstance(fraction, Number) and 0 < fraction.value < 1:
                return Number(whole.value + fraction.value)
        elif (
            len(rest) == 3
            and rest[0].kind is rest[2].kind is Kind.NUMBER
            and rest[0].spaced
            and rest[1].text == "/"
            and rest[0].text.isdigit()
            and rest[2].text.isdigit()
            and 0 < int(rest[0].text) < int(rest[2].text)
        ):
            self.position += 3
            return Number(whole.value + Fraction(int(rest[0].text), int(rest[2].text)))
        self.position = start
        return None

    def _implicit(self) -> list[Expression]:
        factors: list[Expression] = []
        while self.position < len(self.tokens):
            token = self.tokens[self.position]
            if token.kind is Kind.NUMBER:
                before = self.tokens[self.position - 1]
                if before.kind is Kind.NUMBER:
                    raise Unreadable("two numbers next to each other")
                if not (before.kind is Kind.SIGN and before.text in ")}]|"):
                    # `x 2`: not a product in any notation.
                    raise Unreadable("a number after a variable")
            elif token.kind is Kind.SIGN:
                if token.text == "|" and self._bars:
                    break
                if token.text not in ("(", "[", "{", "|", "⌊", "⌈"):
                    break
            elif token.kind is Kind.WORD or (
                token.kind is Kind.FUNCTION and token.text.startswith("end ")
            ):
                break
            factors.append(self._power())
        return factors

    def _power(self) -> Expression:
        return self._exponents(self._atom())

    def _exponents(self, base: Expression) -> Expression:
        while True:
            sign = self._sign()
            if sign == "!":
                self.position += 1
                if self._sign() == "!":
                    raise Unreadable("a double factorial")
                base = Call("factorial", (base,))
            elif sign == "^":
                self.position += 1
                if self._sign() == "°" or self._is_group_of("°"):
                    self.position += 1 if self._sign() == "°" else 3
                    base = _radians(base)
                    continue
                exponent = self._exponent()
                base = Power(base, exponent)
            elif sign in ("'", "''") and isinstance(base, Symbol):
                self.position += 1
                base = Symbol(base.name + sign)
            elif sign == "°":
                self.position += 1
                base = _radians(base)
            elif sign == "%":
                self.position += 1
                base = Product((base, Number(Fraction(1, 100))))
            else:
                return base

    def _is_group_of(self, sign: str) -> bool:
        texts = [token.text for token in self.tokens[self.position : self.position + 3]]
        return texts == ["{", sign, "}"]

    def _exponent(self) -> Expression:
        if self._sign() in ("-", "+"):
            sign = self._sign()
            self.position += 1
            inside = self._exponent()
            return negative(inside) if sign == "-" else inside
        base = self._atom()
        if self._sign() in ("^", "!"):  # right associative
            return self._exponents(base)
        return base

    def _digit(self) -> Expression:
        token = self._next()
        first, rest = token.text[0], token.text[1:]
        if not first.isdigit() or not rest:
            self.position += 1
            return number(token.text)
        self.tokens[self.position] = Token(Kind.NUMBER, rest)
        return number(first)

    def _atom(self) -> Expression:
        token = self._next()
        if token.kind is Kind.NUMBER:
            self.position += 1
            return self._repeating(token) or number(token.text)
        if token.kind is Kind.LETTER:
            self.position += 1
            return self._symbol(token.text)
        if token.kind is Kind.FUNCTION:
            self.position += 1
            return self._function(token.text)
        if token.kind is Kind.SIGN:
            if token.text in ("(", "[", "{", "⌊", "⌈"):
                return self._group()
            if token.text == "|":
                return self._absolute()
        raise Unreadable(f"unexpected {token.text}")

    def _repeating(self, token: Token) -> Expression | None:
        """`0.1\\overline{6}`: a repeating decimal."""
        following = [one.text for one in self.tokens[self.position : self.position + 4]]
        if (
            len(following) < 4
            or following[0] not in ("overline", "bar", "dot")
            or following[1] != "{"
            or following[3] != "}"
        ):
            return None
        _, point, start = token.text.partition(".")
        digits = following[2]
        if not (point or token.text.endswith(".")) or not digits.isdigit() or len(digits) > 100:
            return None
        self.position += 4
        value = number(token.text).value
        return Number(value + Fraction(int(digits), (10 ** len(digits) - 1) * 10 ** len(start)))

    def _symbol(self, name: str) -> Expression:
        name += self._subscript()
        return Symbol(name)

    def _subscript(self) -> str:
        if self._sign() != "_":
            return ""
        self.position += 1
        token = self._next()
        self.position += 1
        if token.text != "{":
            return "_" + token.text
        parts: list[str] = []
        depth = 1
        while depth:
            token = self._next()
            self.position += 1
            depth += (token.text == "{") - (token.text == "}")
            if depth:
                parts.append(token.text)
        return "_" + "".join(part for part in parts if part not in "{}")

    def _group(self) -> Expression:
        opening = self._next().text
        self.position += 1
        bars, self._bars = self._bars, 0
        inside = self.sum()
        self._bars = bars
        self._expect(_CLOSING[opening])
        if opening == "⌊":
            return Call("floor", (inside,))
        if opening == "⌈":
            return Call("ceil", (inside,))
        return inside

    def _absolute(self) -> Expression:
        self._expect("|")
        self._bars += 1
        inside = self.sum()
        self._bars -= 1
        self._expect("|")
        return Call("abs", (inside,))

    def _braced(self) -> Expression:
        """The argument of a LaTeX command: a group, or one token of which one digit is taken."""
        token = self._next()
        if token.text == "{":
            return self._group()
        if token.kind is Kind.NUMBER:
            return self._digit()
        return self._atom()

    def _function(self, name: str) -> Expression:
        if name == "frac":
            numerator = self._braced()
            return quotient(numerator, self._braced())
        if name == "binom":
            return Call("binom", (self._braced(), self._braced()))
        if name == "sqrt":
            return self._root()
        if name == "boxed":
            return self._braced()
        if name not in FUNCTIONS:
            raise Unreadable(f"\\{name}")
        return self._applied(name)

    def _root(self) -> Expression:
        degree: Expression = Number(Fraction(2))
        if self._sign() == "[":
            self.position += 1
            degree = self.sum()
            self._expect("]")
        inside = self._group() if self._sign() == "(" else self._braced()
        return Power(inside, quotient(Number(Fraction(1)), degree))

    def _applied(self, name: str) -> Expression:
        base: Expression | None = None
        exponent: Expression | None = None
        while (sign := self._sign()) in ("_", "^"):
            self.position += 1
            if sign == "_":
                base = self._braced_or_number()
            else:
                exponent = self._exponent()
        arguments = self._arguments(name)
        if name == "exp":
            result: Expression = Power(Symbol("e"), arguments[0])
        elif name == "log" and base is not None:
            result = Call("log", (*arguments, base))
        elif name == "lg":
            result = Call("log", (*arguments, Number(Fraction(10))))
        else:
            result = Call(
                {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(name, name), arguments
            )
        if exponent is None:
            return result
        inverse = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}.get(name)
        if exponent == MINUS_ONE and inverse:
            return Call(inverse, arguments)
        if exponent == MINUS_ONE and name in _WITH_INVERSES:
            raise Unreadable(f"the inverse of {name}")
        return Power(result, exponent)

    def _braced_or_number(self) -> Expression:
        token = self._next()
        if token.kind is Kind.NUMBER:
            self.position += 1
            return number(token.text)
        return self._braced()

    def _arguments(self, name: str) -> tuple[Expression, ...]:
        if self._sign() in ("(", "{", "["):
            closing = _CLOSING[self._sign()]
            self.position += 1
            bars, self._bars = self._bars, 0
            found = [self.sum()]
            while self._sign() == ",":
                self.position += 1
                found.append(self.sum())
            self._bars = bars
            self._expect(closing)
            return tuple(found)
        if name in _POSTFIX_FUNCTIONS:
            raise Unreadable(f"{name} without arguments")
        # `sin 2x`: everything written next to it, up to the next function.
        factors = [self._power()]
        while self.position < len(self.tokens):
            token = self.tokens[self.position]
            if token.kind is Kind.LETTER or (
                token.kind is Kind.FUNCTION and token.text in ("frac", "sqrt")
            ):
                factors.append(self._power())
            else:
                break
        return (factors[0] if len(factors) == 1 else Product(tuple(factors)),)
