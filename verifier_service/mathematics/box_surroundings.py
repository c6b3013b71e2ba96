r"""The text around a box: a formula that the box is a part of, and values that are offered with it.

Models write `2 + 3 = \boxed{5}` and `x^2 + 4x + \boxed{4} = (x+2)^2`. So an equality sign parts a
box from the formula before it, and an equation that a box completes leaves the box as the answer.
"""

from __future__ import annotations

import re

from verifier_service.mathematics.closing_numbers import number_text
from verifier_service.mathematics.closing_units import unit_behind

_MAX_FORMULA = 120
"""Most characters of a formula on each side of a box."""
_SPACE = r"(?:\\[,;:! ]|[ ~])*"
# A letter that is no word of prose: the `x` of `+ x$`; neither the `a` of `- a nice result` nor the
# `I` of `- I'm sure`.
_SYMBOL = r"[a-zA-Z](?![a-zA-Z'’]|\s+[a-zA-Z]{2}|\.\w)"
# An operator right behind a box, with the beginning of its operand: the `+1` of `\boxed{41}+1`, the
# `^2` of `\boxed{41}^2`, the `0` of `\boxed{41}0`; but neither a degree nor a dash before words,
# nor the `I` of `\boxed{41}I think`.
_OPERATOR_BEHIND = re.compile(
    rf"{_SPACE}(?:[-−+/×·]{_SPACE}(?:\d|\\(?:d?frac|sqrt|pi)|{_SYMBOL})"
    rf"|\*(?!\*){_SPACE}\d|\^(?!\s*\{{?\s*\\(?:circ|text|prime))|_\s*\{{?\d|!\s*(?:\$|\\[\])])"
    r"|\\(?:cdot|times|div|pm|mp|pi|sqrt|d?frac|sin|cos|ln|log)(?![a-zA-Z]))"
    r"|\d|\.\d|(?![AaI]\s+[a-z]{2})[a-zA-Z](?![a-zA-Z'’])"
)
# An operator right before a box: the `2\cdot` of `2\cdot\boxed{41}`, the `\sqrt{` of
# `\sqrt{\boxed{41}}`. Signs and digits before a box belong to its content already.
_OPERATOR_BEFORE = re.compile(
    r"(?:(?:\d|(?:\$|\\[(\[])[^$\n]*[\w)}])\s*(?:\+|(?<!\*)\*|/|×|·)|[\w)}][\^_]\s*\{?|\\(?:cdot|times|div|pm|mp|ln|log|lg|sin|cos"
    r"|tan|exp|sqrt)|±|\\[dt]?frac\s*\{(?:[^{}$]*\}\s*\{)?|\\sqrt\s*(?:\[\d\]\s*)?\{)"
    rf"{_SPACE}$"
)
# The place where a formula begins or ends: a delimiter, a relation, a comma, a row, text.
_EDGE = re.compile(
    r"\$|\\[()\[\]]|[=≈:,;&\n]|\\\\|\\(?:approx|to|implies|iff|Rightarrow|rightarrow|therefore|quad"
    r"|qquad|text|mbox|tag|because|blacksquare|checkmark)(?![a-zA-Z])|[.!?](?=\s|\Z)|(?<![\\A-Za-z])[A-Za-z]{2,}\s"
)
# A number that the word behind the box multiplies: the ` million` of `\boxed{41} million`.
_SCALE = re.compile(
    r"[\s$)\]\\~]{0,6}(?:\\text\{\s*)?(?P<scale>hundred|thousand|million|billion|trillion|lakh|crore)"
    r"\b(?!th)"
)


# Words right before a box that ask for the number before a power: the `coefficient of $x^3$ is $`
# of `The coefficient of $x^3$ is $\boxed{37}x^3$.`; but not those of `The term with the largest
# coefficient is`, which may ask for the whole term.
_COEFFICIENT = re.compile(
    r"(?<!largest )(?<!greatest )(?<!highest )(?<!biggest )(?<!smallest )(?<!lowest )(?<!least )"
    r"(?<!leading )(?<!maximum )(?<!minimum )(?<!maximal )(?<!minimal )\bcoefficient"
    r"(?:\sof\s(?:(?!\s(?:is|equals)\s)[^.\n,=]){1,80})?(?:\s(?:is|equals)|\s?[=:])"
    r"\s?[$\\(\[{* ]{0,9}\Z",
    re.IGNORECASE,
)
# Powers of letters behind a box, which end their formula: the `x^3` of `\boxed{37}x^3$`.
_POWERS = re.compile(
    rf"{_SPACE}(?:[a-zA-Z](?:\^(?:\d|\{{[^{{}}]{{1,9}}\}}))?){{1,3}}\s?(?:\$|\\[)\]]|[.,]|\Z)"
)


def formula_around(text: str, start: int, end: int, inside: str) -> str | None:
    r"""The formula that a box is a part of; None where the box is all of it.

    >>> formula_around(r"$2\cdot\boxed{41}$", 7, 17, "41")
    '2\\cdot(41)'
    >>> formula_around(r"$x = \boxed{41}$", 5, 15, "41") is None
    True

    Args:
        text: a text.
        start: the start of a box in it.
        end: the end of that box.
        inside: the content of the box.
    """
    if (scale := _SCALE.match(text, end)) is not None:
        return f"{inside} {scale['scale']}"
    before = text[max(0, start - _MAX_FORMULA) : start]
    goes_on = _OPERATOR_BEHIND.match(text, end) is not None and not unit_behind(text, end)
    goes_on = goes_on and not (_COEFFICIENT.search(before) and _POWERS.match(text, end))
    if not goes_on and _OPERATOR_BEFORE.search(before) is None:
        return None
    edges = [edge.end() for edge in _EDGE.finditer(before)]
    first = edges[-1] if edges else 0
    edge = _EDGE.search(text, end, end + _MAX_FORMULA)
    last = edge.start() if edge else min(len(text), end + _MAX_FORMULA)
    if edge is not None and edge[0] in ("=", "≈"):  # an equation that the box completes
        return None
    return f"{before[first:]}({inside}){text[end:last]}".strip(" *")


# A value in a few signs: `43`, `$\frac{1}{2}$`, `50%`, `(B)`.
_VALUE = (
    r"(?:\$[^$\n]{1,60}\$|\\[dt]?frac\{[^{}]{1,20}\}\{[^{}]{1,20}\}"
    r"|[-−]?[$€£]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:/\d+)?(?:\\?%)?"
    r"|\(?[A-J]\)?(?=\s*(?:[.,;)$]|\Z)))"
)
# Another value with `or` behind a box: the ` (or 43` of `\boxed{42} (or 43)`. A rounded one, as in
# `\boxed{\frac{2}{3}} or about 0.67`, is no other value, nor is what a reason is about: ` (or else
# $J$ would have more factors)`.
_OFFERED = re.compile(
    r"[\s$)\]\\*~]{0,8}[,;.，—–-]?\s{0,3}(?:\\text\{\s{0,3})?[(\[]?(?:\\text\{\s{0,3})?"
    r"(?:或者?|または|もしくは|또는|(?:or|oder|ou|oppure|или|alternatively|possibly"
    r"|perhaps|maybe|(?:but|and)\s+(?:possibly|perhaps|maybe)"
    r"|(?:it\s+)?(?:could|might|may)\s+(?:also|equally|just\s+as\s+well)\s+be"
    r"|but\s+(?:it\s+)?(?:could|might|may)\s+(?:also\s+)?be)\b)[,:]?\s{0,3}"
    rf"(?:(?:possibly|maybe|perhaps|even|else|also|just)\s{{1,3}})?\}}?\s{{0,3}}(?P<value>{_VALUE})"
    r"(?!\d|\$?\s+(?:(?:would|will|must)\s+have|has|have|had)\b)",
    re.IGNORECASE,
)
# Numbers behind a box, in one list with it: the `, 43, or 44` of `\boxed{42}, 43, or 44.`
_LISTED = re.compile(
    r"[\s$)\]\\*~]{0,6}(?P<list>(?:,\s*(?:(?:and|or)\s+)?\$?[-−]?\d+(?:\.\d+)?\$?){1,9})"
    r"\s*(?:[.!$]\s*(?=[\s$*]|\Z)|\n|\Z)"
)
# A number of such a list: the `43` of `, 43, or 44`.
_LISTED_NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?")


def offered_behind(text: str, end: int) -> tuple[tuple[str, ...], bool]:
    r"""The values that stand behind a box beside its own, and whether they are alternatives to it.

    >>> offered_behind(r"\boxed{42} (or 43)", 10), offered_behind(r"\boxed{42}, 43.", 10)
    ((('43',), True), (('43',), False))
    >>> offered_behind(r"\boxed{2.5} or 150 minutes", 11)
    ((), False)
    """
    if (offered := _OFFERED.match(text, end)) is not None:
        value = number_text(offered["value"].strip("$()"))
        is_measured = bool(unit_behind(text, offered.end()))
        return ((), False) if is_measured else ((value,), True)
    if (listed := _LISTED.match(text, end)) is not None:
        numbers = _LISTED_NUMBER.findall(listed["list"])
        return tuple(number_text(one) for one in numbers), False
    return (), False
