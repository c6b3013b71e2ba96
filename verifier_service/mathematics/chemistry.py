r"""Chemical formulas and reactions: `H2O`, `\ce{SO4^2-}`, `2H_2 + O_2 \rightarrow 2H_2O`.

A text is read as chemistry where it is made of symbols of elements, numbers, charges and states
alone, and holds something that no single variable does: two symbols, a number behind one, or a
charge. The reading says nothing about molecules that are written in another order: `C2H6O` is not
`CH3CH2OH`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_CHARACTERS = 300
"""Longest text that is read as chemistry."""

_ELEMENTS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb "
    "Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm "
    "Bk Cf Es Fm Md No Lr"
).split()
_SYMBOL = "|".join(sorted(_ELEMENTS, key=len, reverse=True))

# Commands that only set what follows in some style: `\mathrm`, `\ce`, `\left`.
_STYLE = re.compile(
    r"\\(?:ce|mathrm|text|textrm|mathbf|rm|left|right|displaystyle)(?![A-Za-z])|\\[,;! ]|[{}$~]"
)
_ARROWS = (
    # An equilibrium, then a reaction.
    (re.compile(r"<=+>|<-+>|\\(?:leftrightarrow|rightleftharpoons|leftrightharpoons)|⇌|↔"), "<>"),
    (re.compile(r"=|[-–—]+>|\\(?:x?rightarrow|to|longrightarrow|implies)(?![A-Za-z])|→|⟶"), ">"),
)
_DOT = re.compile(r"\\cdot(?![A-Za-z])|[·⋅*•.]")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "01234567890123456789+--")
_SUPERSCRIPTS = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
# A plus sign between two substances: the second of `Na+ + Cl-`.
_PLUS = re.compile(r"\+(?=\s*[A-Z0-9(\[^e])")
_PART = rf"(?:(?:{_SYMBOL})|[()\[\]])_?\d{{0,3}}"
# A substance: number, formula with hydrates, charge, state: `2`, `SO4`, `^2-`, `(aq)`.
_SUBSTANCE = re.compile(
    rf"\s*(?P<number>\d{{1,3}}(?:/\d)?)?\s*(?P<nuclide>(?:\^\d{{1,3}}\s*_\d{{1,3}}|\^\d{{1,3}}))?\s*"
    rf"(?P<formula>(?:{_PART})+(?:\s*~\s*\d{{0,2}}\s*(?:{_PART})+)?|e(?=\s*\^?\s*-))"
    r"\s*(?P<charge>\^\s*(?:\d{0,2}[+-]|[+-]\d{1,2})|[+-]{1,3})?"
    r"\s*(?:_?\((?P<state>s|l|g|aq)\))?\s*"
)
_METAL_CHARGE = re.compile(
    # An ion of one metal: `Ca2+`, whose number is a charge, unlike that of `H2+`.
    r"(Li|Be|Na|Mg|Al|K|Ca|Sc|Ti|V|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Rb|Sr|Ag|Cd|Sn|Cs|Ba|Pt|Au|Hg|Pb|Bi)"
    r"([2-4])([+])$"
)


class Substance(NamedTuple):
    """A substance of a reaction with the number before it."""

    number: str
    nuclide: str
    formula: str
    charge: str
    state: str
    """s, l, g, aq; empty where the text does not say."""


class Chemistry(NamedTuple):
    """A formula, a sum of substances, or a reaction."""

    sides: tuple[tuple[Substance, ...], ...]
    """The substances of each side in sorted order."""
    arrows: tuple[str, ...]
    """`>` for a reaction, `<>` for an equilibrium."""


def read_chemistry(text: str) -> Chemistry | None:
    r"""The formula or reaction that a whole text is; None for any other text.

    >>> read_chemistry(r"\ce{H2O}") == read_chemistry(r"\text{H}_2\text{O}")
    True
    >>> read_chemistry("2x + 1") is None
    True
    """
    if len(text) > MAX_CHARACTERS or not _MAY_BE_CHEMISTRY.search(text):
        return None
    plain = _SUPERSCRIPTS.sub(lambda run: "^" + run[0], text).translate(_DIGITS)
    for pattern, arrow in _ARROWS:
        plain = pattern.sub(f" @{arrow}@ ", plain)
    plain = _DOT.sub("~", _STYLE.sub("", plain).strip(" ."))
    parts = plain.split("@")
    sides = tuple(_side(part) for part in parts[::2])
    if any(side is None for side in sides):
        return None
    found = Chemistry(tuple(side for side in sides if side), tuple(parts[1::2]))
    return found if any(_is_marked(one) for side in found.sides for one in side) else None


# A symbol of an element; most texts have no capital letter.
_MAY_BE_CHEMISTRY = re.compile(r"[A-Z]")
# Two symbols, a symbol of two letters, or a symbol with a number.
_MARKED = re.compile(r"[A-Z].*[A-Z]|[A-Z][a-z]|[A-Z]\d")


def _is_marked(substance: Substance) -> bool:
    """Whether a substance cannot be a single variable."""
    is_marked = bool(substance.charge or substance.nuclide)
    return is_marked or _MARKED.search(substance.formula) is not None


def _side(text: str) -> tuple[Substance, ...] | None:
    """The substances of one side; None where there is anything else."""
    found = []
    for part in _PLUS.split(text):
        match = _SUBSTANCE.fullmatch(_METAL_CHARGE.sub(r"\1^\2\3", part.strip()))
        if match is None or match["formula"].count("(") != match["formula"].count(")"):
            return None
        found.append(
            Substance(
                match["number"] or "1",
                re.sub(r"\s", "", match["nuclide"] or ""),
                re.sub(r"[\s_]", "", match["formula"]).replace("[", "(").replace("]", ")"),
                _charge(match["charge"] or ""),
                match["state"] or "",
            )
        )
    return tuple(sorted(found))


def _charge(text: str) -> str:
    """A charge as its sign and number: `+2` for `^{2+}` and `++`."""
    text = re.sub(r"[\s^]", "", text)
    if not text:
        return ""
    digits = text.strip("+-")
    sign = "+" if "+" in text else "-"
    return sign + (digits or str(len(text)))


def same_chemistry(left: Chemistry | None, right: Chemistry | None) -> bool:
    """Whether two texts are the same chemistry; states count where both sides name any."""
    if left is None or right is None:
        return False
    if left == right:
        return True
    if _has_states(left) and _has_states(right):
        return False
    return _without_states(left) == _without_states(right)


def _has_states(chemistry: Chemistry) -> bool:
    return any(one.state for side in chemistry.sides for one in side)


def _without_states(chemistry: Chemistry) -> Chemistry:
    sides = tuple(tuple(sorted(one._replace(state="") for one in side)) for side in chemistry.sides)
    return chemistry._replace(sides=sides)
