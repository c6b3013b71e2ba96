"""Names of values in answers: variables, functions, points and words before an equals sign."""

from __future__ import annotations

from collections.abc import Sequence

from verifier_service.mathematics.expressions import Symbol, is_constant
from verifier_service.mathematics.notation import Kind, Token
from verifier_service.mathematics.values import Named, Quantity, Several, Value

BRACES = frozenset({"{", "}"})


def is_colon(token: Token) -> bool:
    """Whether a token is a colon."""
    return token.text == ":" and token.kind is Kind.SIGN


def has_words(tokens: Sequence[Token]) -> bool:
    """Whether a token is a word."""
    return any(token.kind is Kind.WORD for token in tokens)


def name_of(tokens: Sequence[Token]) -> str:
    """The name that tokens spell; the case of words does not count."""
    name = "".join(token.text for token in tokens if token.text not in BRACES)
    return name.lower() if has_words(tokens) else name


def is_name(tokens: Sequence[Token]) -> bool:
    """Whether tokens are words, or a variable, perhaps with a subscript."""
    if all(token.kind is Kind.WORD for token in tokens):
        return True
    if tokens[0].kind is not Kind.LETTER:
        return False
    if tokens[0].text in ("e", "i", "pi", "infty"):
        return False
    if tokens[0].text == "Delta" and len(tokens) > 1 and tokens[1].kind is Kind.LETTER:
        tokens = tokens[1:]
    if len(tokens) > 1 and tokens[1].text == "'":  # no sum: y' + y
        return all(token.text not in ("+", "-", "*", "/") for token in tokens[2:])
    # No name: n_1 \sin x
    is_indexed = len(tokens) > 1 and tokens[1].text == "_"
    return len(tokens) == 1 or (is_indexed and not _goes_on_with_a_function(tokens[2:]))


def _goes_on_with_a_function(tokens: Sequence[Token]) -> bool:
    """Whether a function stands behind an index: the sine of `{12} \\sin x`."""
    end = next((at + 1 for at, one in enumerate(tokens) if one.text == "}"), len(tokens))
    behind = tokens[end:] if tokens and tokens[0].text == "{" else tokens[1:]
    return any(token.kind is Kind.FUNCTION for token in behind)


def names_e(parts: Sequence[Sequence[Token]]) -> bool:
    """Whether `e` only names a number, as an eccentricity is named: `e = c/a = \\frac{1}{2}`."""
    alone, *sides = parts
    if [token.text for token in alone] != ["e"] or alone[0].kind is not Kind.LETTER:
        return False
    letters = {token.text for side in sides for token in side if token.kind is Kind.LETTER}
    return "e" not in letters and not any(token.kind is Kind.LETTER for token in sides[-1])


def function_head(tokens: Sequence[Token]) -> tuple[str, str | None] | None:
    """Name and argument of `f(x)`; the argument is None if it is no variable: `f(2)`."""
    texts = [token.text for token in tokens if token.text not in BRACES]
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


def is_turned_round(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Whether a value stands before its function: `4 = f(2)`, `2x = f(x)`."""
    head = None if function_head(left) else function_head(right)
    if head is None or is_name(left):
        return False
    letters = {token.text for token in left if token.kind is Kind.LETTER}
    return letters <= {"e", "i", "pi"} if head[1] is None else head[1] in letters


def names_point(token: Token) -> bool:
    """Whether a token is the name of a point: a capital letter, but not C of a constant."""
    is_letter = token.kind is Kind.LETTER and len(token.text) == 1
    return is_letter and token.text.isupper() and token.text != "C"


def variable_of(value: Value) -> Symbol | None:
    """The variable that is the whole of an answer; None for any other answer."""
    if not isinstance(value, Quantity) or value.unit is not None:
        return None
    expression = value.expression
    return expression if isinstance(expression, Symbol) and not is_constant(expression) else None


def with_names(names: Several, values: Value, name: str) -> Value:
    """Each value with its own name; all values with one name where the names are no symbols."""
    if not isinstance(values, Several):
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


def solutions_of_system(items: list[Value]) -> list[Value]:
    """The solutions `(1, 2)` and `(3, 4)` of `x = 1, y = 2, x = 3, y = 4`; other items as they are.

    Without that, `x = 1, y = 4 or x = 3, y = 2` would have the same items.
    """
    named = [one for one in items if isinstance(one, Named) and not one.is_function]
    names = list(dict.fromkeys(one.name for one in named))
    if len(names) < 2 or len(named) < len(items) or len(items) == len(names):
        return items
    solutions = [named[start : start + len(names)] for start in range(0, len(named), len(names))]
    if any({one.name for one in solution} != set(names) for solution in solutions):
        return items

    def in_order(solution: list[Named]) -> tuple[Value, ...]:
        return tuple(sorted(solution, key=lambda one: names.index(one.name)))

    return [Several("tuple", in_order(solution), "()") for solution in solutions]
