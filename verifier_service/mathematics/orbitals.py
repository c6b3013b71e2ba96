"""Electrons in orbitals: configurations such as `1s^2 2s^1`, and hybrids such as `sp^3`."""

from __future__ import annotations

import re

_MAX_CHARACTERS = 200
"""Longest text that is read."""
# A sign of a shell or a hybrid, which few texts have: `3d`, `sp`.
_MAY_NAME = re.compile(r"[1-7]\s?[spdf]|sp")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
# Commands and signs that only set what they hold: `\mathrm`, `$`, `{`; and spaces.
_STYLE = re.compile(r"\\(?:ce|mathrm|text|textrm|mathbf|rm)(?![A-Za-z])|\\[,;! ]|[\s{}$~]")
# A shell with its electrons: the `2p^6` of `1s^2 2s^2 2p^6`.
_SHELL = re.compile(r"([1-7])([spdf])\^?(1[0-4]|\d)(?=[1-7][spdf]|\Z)")
_CONFIGURATION = re.compile(
    r"(?P<core>\[(?:He|Ne|Ar|Kr|Xe|Rn)\])?(?P<shells>(?:[1-7][spdf]\^?\d{1,2}){1,20})"
)
_HYBRID = re.compile(r"(?:d(?:\^?2)?)?sp(?:\^?[23])?(?:d(?:\^?[23])?)?(?:hybridi[sz](?:ed|ation))?")


def read_orbitals(text: str) -> str | None:
    """The orbitals that a text names, in one form; None for any other text.

    >>> read_orbitals("1s² 2s¹") == read_orbitals("$1s^22s^1$"), read_orbitals("sp³")
    (True, 'sp3')
    >>> read_orbitals("1s^2 2s^1") == read_orbitals("1s^1 2s^2"), read_orbitals("sp^n") is None
    (False, True)
    """
    if len(text) > _MAX_CHARACTERS or _MAY_NAME.search(text) is None:
        return None
    plain = _STYLE.sub("", text.translate(_SUPERSCRIPTS)).rstrip(".")
    if (hybrid := _HYBRID.fullmatch(plain)) is not None:
        return hybrid[0].partition("hybridi")[0].replace("^", "")
    configuration = _CONFIGURATION.fullmatch(plain)
    if configuration is None:
        return None
    shells = _SHELL.findall(configuration["shells"])
    is_whole = sum(map(len, map("".join, shells))) == len(plain.replace("^", "")) - len(
        configuration["core"] or ""
    )
    is_several = len(shells) > 1 or configuration["core"]
    if not is_several or not is_whole:
        return None
    return (configuration["core"] or "") + " ".join(sorted(map("".join, shells)))


def have_same_orbitals(left: str, right: str) -> bool | None:
    """Whether two texts name the same orbitals; None where one of them names none."""
    one, other = read_orbitals(left), read_orbitals(right)
    return None if one is None or other is None else one == other
