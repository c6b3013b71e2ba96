r"""Notations of intervals, rewritten as ones that the parser knows.

`]0, 1]` is `(0, 1]` as it is written in France, Germany and elsewhere; `\mathbb{R}_{>0}` and
`\mathbb{R}^+` are the positive numbers. `\mathbb{R}_+` has the 0 for some and not for others, so
it stays what it is.
"""

from __future__ import annotations

import re

# An end of an interval, without brackets and separators: `-\infty`, `\frac{1}{2}`.
_END = r"(?P<{}>[^\[\](),;=<>]{{1,60}})"
# Two ends between square brackets that open either way: `]0, 1]`, `\left]-\infty; 3\right[`.
_BRACKETED = re.compile(
    r"(?:\\left\s*)?(?P<opening>[\[\]])\s*"
    + _END.format("low") + r"(?P<separator>[,;])" + _END.format("high")
    + r"(?:\\right\s*)?(?P<closing>[\[\]])"
)  # fmt: skip
# A bracket that opens to the outside: the first of `]0,1]`, the last of `[0,1[ \cup`.
_OPENS_OUTSIDE = re.compile(
    r"(?:^|[=(]|\\(?:in|cup|cap|left)|[∈∪∩])\s*\]|(?:\[|\\right\s*\[)\s*(?:$|\\(?:cup|cap)|[∪∩])"
)
# The real numbers of one sign, perhaps with their variable: `x \in \mathbb{R}_{>0}`, `R^+`.
_SIGNED_REALS = re.compile(
    r"(?P<variable>[a-zA-Z]\s*(?:\\in(?![a-z])|∈)\s*)?(?:\\math(?:bb|bf|rm)\s*\{?\s*R\s*\}?|ℝ|R)\s*"
    r"(?P<sign>\^\s*(?:\{\s*[-+*]\s*\}|[-+*])(?:\s*_\s*(?:\{\s*0\s*\}|0))?|[⁺⁻]|"
    r"_\s*\{\s*(?:[<>]|\\[gl](?:t|e|eq|eqslant)(?![a-z])|\\neq?(?![a-z])|[≥≤≠])\s*0\s*\}|"
    r"_\s*(?:\{\s*0\s*\}|0)\s*\^\s*(?:\{\s*[-+]\s*\}|[-+]))"
)
# Two numbers with a word or a dash for all between them: `3.2 to 4.8`, `from 3 to 5`, `3-5`.
_FROM_TO = re.compile(
    r"(?:(?P<word>from)\s+)?(?P<low>-?\d{1,15}(?:\.\d{1,15})?)\s*(?:to|[-–—])\s*"
    r"(?P<high>\d{1,15}(?:\.\d{1,15})?)"
)


def with_usual_brackets(text: str) -> str:
    r"""The text with round brackets in place of square ones that open to the outside.

    >>> with_usual_brackets(r"]-\infty, 3[ \cup [5, 7]"), with_usual_brackets("[1, 2]")
    ('(-\\infty, 3) \\cup [5, 7]', '[1, 2]')
    >>> with_usual_brackets(r"x \in \mathbb{R}_{>0}"), with_usual_brackets(r"\mathbb{R}^*")
    ('x \\in (0,\\infty)', '(-\\infty,0) \\cup (0,\\infty)')
    """
    if ("]" in text or "[" in text) and _OPENS_OUTSIDE.search(text):
        text = _BRACKETED.sub(_usual, text)
    if "R" in text or "ℝ" in text:
        reals = _SIGNED_REALS.fullmatch(text.strip())
        return text if reals is None else (reals["variable"] or "") + _interval_of(reals["sign"])
    return text


def _usual(interval: re.Match[str]) -> str:
    opening = "(" if interval["opening"] == "]" else "["
    closing = ")" if interval["closing"] == "[" else "]"
    return f"{opening}{interval['low']}{interval['separator']}{interval['high']}{closing}"


def _interval_of(sign: str) -> str:
    """The interval of the real numbers with a sign: of `_{>0}`, `^+`, `^*`."""
    has_zero = bool(re.search(r"[≥≤]|\\[gl]eq?|[-+⁺⁻][\W_]*0|0[\W_]*[-+]", sign))
    if "*" in sign or "≠" in sign or re.search(r"\\neq?(?![a-z])", sign):
        return r"(-\infty,0) \cup (0,\infty)"
    if re.search(r"[-<≤⁻]|\\l", sign):
        return r"(-\infty,0]" if has_zero else r"(-\infty,0)"
    return r"[0,\infty)" if has_zero else r"(0,\infty)"


def range_between(text: str) -> str | None:
    """The closed interval that two numbers with `to` or a dash between them may mean.

    >>> range_between("3.2 to 4.8"), range_between("3-5"), range_between("5-3")
    ('[3.2,4.8]', '[3,5]', None)
    """
    match = _FROM_TO.fullmatch(text)
    if match is None or float(match["low"]) >= float(match["high"]):
        return None
    return f"[{match['low']},{match['high']}]"
