r"""Notations of binomial coefficients and of permutations, rewritten as one that the parser knows.

`C(10,3)`, `C_{10}^3`, `{}_{10}C_3`, `^{10}C_3`, `10C3` and `\mathrm{C}_{10}^{3}` are
`\binom{10}{3}`; the same with P or A in place of C are `3!\binom{10}{3}`. The larger number is the
number of things that are chosen from. `C_1^2` stays the square of a constant, and `C(1,2)` a point.
"""

from __future__ import annotations

import re

_N = r"(?:\d{1,4}|[nmN])"
_K = r"(?:\d{1,4}|[kmrn])"
_CHOICE = r"(?:\\(?:mathrm|text|mathbf)\s*\{(?P<styled>[CPA])\}|(?P<plain>[CPA]))\s*"
_SPACE = r"(?:\s|\\[,;!])*"
# Nothing that the letter could be a factor of, or an index or exponent to, may stand before it.
_START = r"(?<![A-Za-z\\^_])"


def _index(name: str, inside: str) -> str:
    r"""An index or exponent with the name of a group for either of its forms: `3`, `{3}`."""
    return rf"(?:\{{\s*(?P<{name}>{inside})\s*\}}|(?P<{name}_bare>\d|[a-zN]))"


_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        # The numbers below and above: `C_{10}^3`.
        _START + _CHOICE + "_" + _index("n", _N) + r"\^" + _index("k", _K) + r"(?![\w{])",
        # The numbers above and below: `C^{3}_{10}`.
        _START + _CHOICE + r"\^" + _index("k", _K) + "_" + _index("n", _N) + r"(?![\w{])",
        # The larger number before the letter: `{}_{10}C_3`, `^{10}C_3`.
        r"(?:\{\}|(?<![\w})\]\\]))[_^]" + _index("n", _N) + _SPACE + _CHOICE + "_" + _index("k", _K)
        + r"(?![\w{^])",
        # Two arguments: `C(10, 3)`, `nCr(10, 3)`.
        rf"(?:{_START}(?P<plain>C)|(?<![A-Za-z\\])n(?P<styled>[CP])r)\(\s*(?P<n>{_N})\s*,\s*"
        rf"(?P<k>{_K})\s*\)",
        # Plain text: `10C3`.
        r"(?<![\w.])(?P<n>\d{1,4})(?P<plain>[CP])(?P<k>\d{1,4})(?![\w.])",
    )
)  # fmt: skip
_MAY_OCCUR = re.compile(r"[CPA]")


def with_binomials(text: str) -> str:
    r"""The text with `\binom` in place of the other notations.

    >>> with_binomials("C_{10}^3 + 2"), with_binomials("C_1^2"), with_binomials("x_{10}^3")
    ('\\binom{10}{3} + 2', 'C_1^2', 'x_{10}^3')
    >>> with_binomials("5P2")
    '(2!\\binom{5}{2})'
    """
    if _MAY_OCCUR.search(text):
        for pattern in _PATTERNS:
            text = pattern.sub(_rewritten, text)
    return text


def _rewritten(match: re.Match[str]) -> str:
    groups = match.groupdict()
    letter = groups.get("plain") or groups.get("styled")
    whole, part = (groups.get(name) or groups.get(f"{name}_bare") or "" for name in ("n", "k"))
    if not re.fullmatch(_N, whole) or not re.fullmatch(_K, part) or not _can_choose(whole, part):
        return match[0]
    binomial = rf"\binom{{{whole}}}{{{part}}}"
    return binomial if letter == "C" else rf"({part}!{binomial})"


def _can_choose(whole: str, part: str) -> bool:
    """Whether numbers, or a letter and something else, can be those of a choice."""
    if whole.isdigit() and part.isdigit():
        return int(whole) >= max(int(part), 3)
    return whole != part and not whole.isdigit()
