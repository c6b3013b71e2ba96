"""Splitting the tokens of an answer, never inside brackets: at commas, relations, unions, rows."""

from __future__ import annotations

from collections.abc import Sequence

from verifier_service.mathematics.notation import Kind, Token, Unreadable

_OPENING = frozenset({"(", "[", "{", "\\{", "⟨", "⌊", "⌈"})
_CLOSING = frozenset({")", "]", "}", "\\}", "⟩", "⌋", "⌉"})
_CLOSED_BY = {
    "(": frozenset({")", "]"}),
    "[": frozenset({"]", ")"}),
    "{": frozenset({"}"}),
    "\\{": frozenset({"\\}", "}"}),
    "⟨": frozenset({"⟩"}),
}
"""Brackets around lists, and what may close each: half-open intervals mix two kinds."""
_LIST_WORDS = frozenset({"and", "or"})


def depth_change(token: Token) -> int:
    """1 for an opening bracket or environment, -1 for a closing one, 0 for any other token."""
    if token.kind is Kind.SIGN:
        return (token.text in _OPENING) - (token.text in _CLOSING)
    if token.kind is Kind.FUNCTION:
        return token.text.startswith("begin ") - token.text.startswith("end ")
    return 0


def split_at(tokens: Sequence[Token], signs: frozenset[str]) -> tuple[list[list[Token]], list[str]]:
    """The parts between signs outside brackets, some perhaps empty, and the signs."""
    parts: list[list[Token]] = [[]]
    found: list[str] = []
    depth = 0
    for token in tokens:
        depth += depth_change(token)
        if depth == 0 and token.text in signs and token.kind is Kind.SIGN:
            found.append(token.text)
            parts.append([])
        else:
            parts[-1].append(token)
    return parts, found


def split_list(tokens: Sequence[Token]) -> tuple[list[list[Token]], list[str]]:
    """The elements of a list, none of them empty, and the `,` or `or` after each but the last.

    Raises:
        Unreadable: there are no elements.
    """
    parts: list[list[Token]] = [[]]
    joints: list[str] = []
    depth = 0
    for token in tokens:
        depth += depth_change(token)
        if depth or not _is_joint(token):
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


def _is_joint(token: Token) -> bool:
    if token.kind is Kind.SIGN:
        return token.text in (",", ";", "&")
    return token.kind is Kind.WORD and token.text.lower() in _LIST_WORDS


def split_sets(tokens: Sequence[Token]) -> tuple[list[list[Token]], list[str]]:
    """The sets between signs outside brackets, and the signs of union and so on.

    The letter U between two intervals is a union, too: `(0,1) U (2,3)`; and a minus sign behind a
    set and before `\\{` is a difference: `\\mathbb{R} - \\{0\\}`.
    """
    parts: list[list[Token]] = [[]]
    operators: list[str] = []
    depth = 0
    for index, token in enumerate(tokens):
        depth += depth_change(token)
        operator = _set_operator(tokens, index) if depth == 0 else None
        if operator and 0 < index < len(tokens) - 1:
            parts.append([])
            operators.append(operator)
        else:
            parts[-1].append(token)
    return parts, operators


def _set_operator(tokens: Sequence[Token], index: int) -> str | None:
    """The set operation of a token outside brackets; None for any other token."""
    text = tokens[index].text
    if text in ("∪", "∩", "∖"):
        return text
    if text == "U":
        return "∪" if _is_letter_union(tokens, index) else None
    if text == "-" and index + 1 < len(tokens) and tokens[index + 1].text == "\\{":
        return "∖" if _ends_set(tokens[:index]) else None
    return None


def _ends_set(tokens: Sequence[Token]) -> bool:
    """Whether tokens are a set, and no number before a fractional part: `x - \\{x\\}`."""
    texts = [token.text for token in tokens]
    if [text for text in texts if text not in "{}"] == ["R"]:
        return True
    return texts[-1:] == ["\\}"] or (texts[-1:] in (["]"], [")"]) and "," in texts)


def _is_letter_union(tokens: Sequence[Token], index: int) -> bool:
    return (
        0 < index < len(tokens) - 1
        and tokens[index - 1].text in (")", "]")
        and tokens[index + 1].text in ("(", "[")
    )


def split_set_builder(tokens: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]] | None:
    """Element and condition of `x | x > 0`, `x : x > 0`; None for any other tokens."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += depth_change(token)
        is_bar = token.text in ("|", "mid", ":") and token.kind is Kind.SIGN
        if is_bar and depth == 0 and 0 < index < len(tokens) - 1:
            return tokens[:index], tokens[index + 1 :]
    return None


def split_rows(tokens: Sequence[Token]) -> list[list[list[Token]]]:
    """The cells of each row of a matrix: rows end with `\\\\`, cells with `&`."""
    rows = [split_at(row, frozenset("&"))[0] for row in split_at(tokens, frozenset(["\\\\"]))[0]]
    if rows[-1] == [[]]:
        rows.pop()
    return rows


def is_bracketed(tokens: Sequence[Token]) -> bool:
    """Whether the first token opens brackets around something that the last token closes."""
    first, last = tokens[0], tokens[-1]
    if first.kind is not Kind.SIGN or first.text not in _CLOSED_BY or len(tokens) < 3:
        return False
    return last.text in _CLOSED_BY[first.text] and _spans(tokens)


def _spans(tokens: Sequence[Token]) -> bool:
    """Whether the first bracket closes with the last token, and not before."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += depth_change(token)
        if depth == 0:
            return index == len(tokens) - 1
    return False
