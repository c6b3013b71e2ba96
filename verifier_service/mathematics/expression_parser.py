"""The parser of mathematical expressions: from tokens to a tree of `expressions`.

It reads arithmetic only. `answer_parser` calls it for each expression of an answer, and reads what
stands around them: lists, relations, intervals, units, words.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verifier_service.mathematics.expressions import (
    MINUS_ONE,
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    negative,
    quotient,
)
from verifier_service.mathematics.notation import FUNCTIONS, Kind, Token, Unreadable

MAX_DEPTH = 60
"""Deepest nesting of brackets, arguments and absolute values."""
MAX_DIGITS = 4_000
"""Most characters of a number as written; longer ones are compared as text."""
MAX_REPEATING_DIGITS = 100
"""Most digits of the period of a repeating decimal."""

_CLOSING = {"(": ")", "[": "]", "{": "}", "⌊": "⌋", "⌈": "⌉"}
_BEGINS_FACTOR = frozenset({"(", "[", "{", "|", "⌊", "⌈"})
_INVERSES = {
    name: f"arc{name}" for name in "sin cos tan cot sec csc sinh cosh tanh coth sech csch".split()
} | {"cosec": "arccsc"}
"""Functions whose inverse is written with an exponent of -1, and that inverse."""
_SYNONYMS = {
    **{f"a{name}": f"arc{name}" for name in _INVERSES},
    **{f"ar{name}": f"arc{name}" for name in ("sinh", "cosh", "tanh", "coth")},
    "cosec": "csc",
    "arctg": "arctan",
    "arcctg": "arccot",
}
"""Other names of functions: `asin`, `arsinh`."""
_RECIPROCALS = {"sech": "cosh", "csch": "sinh"}
_INVERSES_OF_RECIPROCALS = {
    "arcsec": "arccos", "arccsc": "arcsin", "arcsech": "arccosh", "arccsch": "arcsinh",
}  # fmt: skip
"""Functions of x, and the functions of 1/x that they are."""
_NEED_BRACKETS = frozenset({"max", "min", "gcd", "lcm"})


def parse_expression(tokens: Sequence[Token]) -> Expression:
    """The expression that all tokens together are.

    Raises:
        Unreadable: they are not one expression.
    """
    parser = _ExpressionParser(tokens)
    expression = parser.sum()
    if parser.position != len(parser.tokens):
        raise Unreadable(f"unexpected {parser.tokens[parser.position].text}")
    return expression


def parse_number(text: str) -> Number:
    """A number as written: digits, perhaps a point, perhaps an exponent.

    Raises:
        Unreadable: it has more than MAX_DIGITS.

    >>> parse_number("2.50")
    Number(value=Fraction(5, 2), decimals=2)
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
        places = (places or 0) - int(exponent)
    return Number(value, places)


class _ExpressionParser:
    """Recursive descent over tokens; every method starts at `position` and moves it.

    The grammar, loosest first:

        sum      term + term - term ± term
        term     any number of signs and a product
        product  factors * factors / power
        factors  powers next to each other, 2x(y + 1), or a mixed number, 1 1/2
        power    an atom with its exponent, !, ° or %
        atom     a number, a symbol, a function with its arguments, brackets, |x|
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        # `_digit` splits tokens. A caller whose tokens were changed could not read them again, as
        # something else, after they turned out to be no expression.
        self.tokens = list(tokens)
        self.position = 0
        self._depth = 0
        self._num_open_bars = 0

    def sum(self) -> Expression:
        """Terms with `+`, `-` or `±` between them."""
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
        """The sign at the position; empty at another kind of token and at the end."""
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
        start = self.position
        first = self._power()
        mixed = self._mixed_number(first) if self.position == start + 1 else None
        if mixed is not None:
            first = mixed
        rest = self._implicit()
        return Product((first, *rest)) if rest else first

    def _mixed_number(self, whole: Expression) -> Expression | None:
        """The mixed number that begins with a number just read: `1 1/2`, `1\\frac{1}{2}`."""
        start = self.position
        if not (
            isinstance(whole, Number)
            and whole.value.denominator == 1
            and not whole.decimals
            and self.tokens[start - 1].kind is Kind.NUMBER
        ):
            return None
        part = self._proper_fraction()
        if part is None:
            self.position = start
            return None
        return Number(whole.value + part.value, None, part.is_reduced)

    def _proper_fraction(self) -> Number | None:
        """The fraction at the position; None unless it lies between 0 and 1."""
        if self._is_function("frac"):
            part = self._power()
            return part if isinstance(part, Number) and 0 < part.value < 1 else None
        following = self.tokens[self.position : self.position + 3]
        if len(following) < 3 or following[1].text != "/":
            return None
        above, _, below = following
        if not (above.spaced and above.kind is below.kind is Kind.NUMBER):
            return None
        if not (above.text.isdigit() and below.text.isdigit()):
            return None
        self.position += 3
        numerator, denominator = parse_number(above.text), parse_number(below.text)
        if not 0 < numerator.value < denominator.value:
            return None
        part = quotient(numerator, denominator)
        return part if isinstance(part, Number) else None

    def _implicit(self) -> list[Expression]:
        """The factors that follow without a sign between them: `x(y + 1)` after 2."""
        factors: list[Expression] = []
        while self.position < len(self.tokens) and self._is_factor(self.tokens[self.position]):
            factors.append(self._power())
        return factors

    def _is_factor(self, token: Token) -> bool:
        """Whether the token at the position begins another factor. Raises Unreadable."""
        if token.kind is Kind.NUMBER:
            before = self.tokens[self.position - 1]
            if before.kind is Kind.SIGN and before.text in ")}]|":
                return True
            # `3 4` and `x 2` are products in no notation.
            raise Unreadable("a number after a number or a variable")
        if token.kind is Kind.SIGN:
            if token.text == "|" and self._num_open_bars:
                return False  # it closes the absolute value
            return token.text in _BEGINS_FACTOR
        if token.kind is Kind.FUNCTION:
            return not token.text.startswith("end ")
        return token.kind is not Kind.WORD

    def _power(self) -> Expression:
        return self._exponents(self._atom())

    def _exponents(self, base: Expression) -> Expression:
        """The base with every sign after it applied: `^`, `!`, `°`, `%`, primes."""
        while True:
            sign = self._sign()
            if sign == "^":
                self.position += 1
                base = _radians(base) if self._skip_degree() else Power(base, self._exponent())
            elif sign == "!":
                self.position += 1
                if self._sign() == "!":
                    raise Unreadable("a double factorial")
                base = Call("factorial", (base,))
            elif sign in ("'", "''") and isinstance(base, Symbol):
                self.position += 1
                base = Symbol(base.name + sign)
            elif sign == "°":
                self.position += 1
                base = _radians(base)
            elif sign == "%":
                self.position += 1
                if self._sign() == "%":
                    raise Unreadable("a percent of a percent")
                base = Product((base, Number(Fraction(1, 100))))
            else:
                return base

    def _skip_degree(self) -> bool:
        """Pass over the `\\circ` or `{\\circ}` of `30^\\circ`, if the exponent is one."""
        texts = [token.text for token in self.tokens[self.position : self.position + 3]]
        width = 1 if self._sign() == "°" else 3 if texts == ["{", "°", "}"] else 0
        self.position += width
        return width > 0

    def _exponent(self) -> Expression:
        if self._sign() in ("-", "+"):
            sign = self._sign()
            self.position += 1
            inside = self._exponent()
            return negative(inside) if sign == "-" else inside
        base = self._atom()
        if self._sign() in ("^", "!"):  # x^y^z is x^(y^z)
            return self._exponents(base)
        return base

    def _digit(self) -> Expression:
        """The first digit of a number: `\\frac12` is a half. The rest of it stays to be read."""
        token = self._next()
        first, rest = token.text[0], token.text[1:]
        if not first.isdigit() or not rest:
            self.position += 1
            return parse_number(token.text)
        self.tokens[self.position : self.position + 1] = [
            Token(Kind.NUMBER, first),
            Token(Kind.NUMBER, rest),
        ]
        self.position += 1
        return parse_number(first)

    def _atom(self) -> Expression:
        token = self._next()
        if token.kind is Kind.NUMBER:
            self.position += 1
            return self._repeating(token) or parse_number(token.text)
        if token.kind is Kind.LETTER:
            self.position += 1
            if token.text == "Gamma" and self._sign() in ("(", "{"):
                return Call("factorial", (Sum((self._group(), MINUS_ONE)),))
            return Symbol(token.text + self._subscript())
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
        """The repeating decimal that a number begins: `0.1\\overline{6}`, 1/6."""
        if "." not in token.text:
            return None
        match [one.text for one in self.tokens[self.position : self.position + 4]]:
            case [("overline" | "bar" | "dot"), "{", digits, "}"] if (
                digits.isdecimal() and len(digits) <= MAX_REPEATING_DIGITS
            ):
                self.position += 4
                places = len(token.text.partition(".")[2])
                period = Fraction(int(digits), (10 ** len(digits) - 1) * 10**places)
                return Number(parse_number(token.text).value + period)
        return None

    def _subscript(self) -> str:
        """The index at the position: `_1` of `x_1` and of `x_{1}`; empty if none follows."""
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
        bars, self._num_open_bars = self._num_open_bars, 0
        inside = self.sum()
        self._num_open_bars = bars
        self._expect(_CLOSING[opening])
        if opening == "⌊":
            return Call("floor", (inside,))
        if opening == "⌈":
            return Call("ceil", (inside,))
        return inside

    def _absolute(self) -> Expression:
        self._expect("|")
        self._num_open_bars += 1
        inside = self.sum()
        self._num_open_bars -= 1
        self._expect("|")
        return Call("abs", (inside,))

    def _braced(self) -> Expression:
        """The argument of a LaTeX command: a group, one digit, or another single token."""
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
        """A named function with its base, its exponent and its arguments: `\\log_2^3(x)`."""
        base: Expression | None = None
        exponent: Expression | None = None
        while (sign := self._sign()) in ("_", "^"):
            self.position += 1
            if sign == "_":
                base = self._braced_or_number()
            else:
                exponent = self._exponent()
        arguments = self._arguments(name)
        if exponent == MINUS_ONE and name in _INVERSES:
            return _call(_INVERSES[name], arguments, base)
        result = _call(name, arguments, base)
        return result if exponent is None else Power(result, exponent)

    def _braced_or_number(self) -> Expression:
        token = self._next()
        if token.kind is Kind.NUMBER:
            self.position += 1
            return parse_number(token.text)
        return self._braced()

    def _arguments(self, name: str) -> tuple[Expression, ...]:
        if self._sign() in ("(", "{", "["):
            closing = _CLOSING[self._sign()]
            self.position += 1
            bars, self._num_open_bars = self._num_open_bars, 0
            found = [self.sum()]
            while self._sign() == ",":
                self.position += 1
                found.append(self.sum())
            self._num_open_bars = bars
            self._expect(closing)
            return tuple(found)
        if name in _NEED_BRACKETS:
            raise Unreadable(f"{name} without arguments")
        factors = [self._power()]
        while self._is_in_argument():
            factors.append(self._power())
        return (factors[0] if len(factors) == 1 else Product(tuple(factors)),)

    def _is_in_argument(self) -> bool:
        """Whether the next factor belongs to an argument without brackets: the x of `sin 2x`."""
        if self.position >= len(self.tokens):
            return False
        token = self.tokens[self.position]
        return token.kind is Kind.LETTER or self._is_function("frac") or self._is_function("sqrt")

    def _is_function(self, name: str) -> bool:
        """Whether the function of this name stands at the position."""
        if self.position >= len(self.tokens):
            return False
        token = self.tokens[self.position]
        return token.kind is Kind.FUNCTION and token.text == name


def _call(name: str, arguments: tuple[Expression, ...], base: Expression | None) -> Expression:
    """A function of its arguments; the base counts for `log` alone."""
    if name == "exp":
        return Power(Symbol("e"), arguments[0])
    if name == "log" and base is not None:
        return Call("log", (*arguments, base))
    if name == "lg":
        return Call("log", (*arguments, Number(Fraction(10))))
    if name == "cbrt":
        return Power(arguments[0], Number(Fraction(1, 3)))
    if name == "cis":
        return Sum((Call("cos", arguments), Product((Symbol("i"), Call("sin", arguments)))))
    return _named_call(_SYNONYMS.get(name, name), arguments)


def _named_call(name: str, arguments: tuple[Expression, ...]) -> Expression:
    """A function by its usual name; functions that are reciprocals of others become those."""
    if len(arguments) == 1 and name in _RECIPROCALS:
        return Power(Call(_RECIPROCALS[name], arguments), MINUS_ONE)
    if len(arguments) == 1 and name in _INVERSES_OF_RECIPROCALS:
        return Call(_INVERSES_OF_RECIPROCALS[name], (Power(arguments[0], MINUS_ONE),))
    return Call(name, arguments)


def _radians(degrees: Expression) -> Expression:
    return Product((degrees, Number(Fraction(1, 180)), Symbol("pi")))
