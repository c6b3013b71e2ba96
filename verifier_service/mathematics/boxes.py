r"""Boxes around answers: `\boxed{5}`, those without braces, damaged ones, those that break off."""

from __future__ import annotations

import re

from verifier_service.mathematics.closing_statement import FILLED
from verifier_service.mathematics.notation import brace_pairs

# The beginning of a box: `\boxed{`, or the `\boxed` of `\boxed 5`.
_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s*(?:\{|(?=[\w\\-]))")

# The same, or a box whose backslash is lost or became `\x08` on the way: `boxed{5}`.
_DAMAGED_BOX = re.compile(
    rf"{_BOX.pattern}|(?<![A-Za-z\\])(?:boxed|\x08oxed)\{{(?=\s{{0,9}}[^\s}}])"
)

# A sign or factor before a box, in its line and formula: the `-` of `$-\boxed{2}$`.
_FACTOR = re.compile(r"(?:(?:[$=(]|\\\[)\s*|^(?=\S*$))(-|−|-?\d+(?:\.\d+)?)[ \t]*\Z")

# The content of a box without braces: the `5` of `\boxed 5`.
_BARE_BOX = re.compile(r"[ ]*(-?[\w.]+)")

# The end of mathematics: `$`, `\]`, `\)`.
_END_OF_MATH = re.compile(r"\$|\\\]|\\\)")


def boxes_in(text: str) -> list[tuple[int, int, str]] | None:
    """Start, end and content of every box that closes; a box inside another is part of it.

    None where there is no box at all. Where no box closes, the first one is given: with the text up
    to the end of its mathematics, or without content where the text breaks off.
    """
    if "box" not in text and "oxed{" not in text:  # the patterns take far longer
        return None
    box = _DAMAGED_BOX if _has_damaged_box(text) else _BOX
    first = box.search(text)
    if first is None:
        return None
    found: list[tuple[int, int, str]] = []
    unclosed = None
    position = first.start()
    closing = brace_pairs(text, position)
    while (match := box.search(text, position)) is not None:
        position = match.end()
        if text[position - 1] == "{":
            end = closing.get(position - 1)
            if end is not None:  # a box that is cut off may hold boxes that are whole
                factor = _FACTOR.search(text, max(0, match.start() - 20), match.start())
                inside = (factor[1] if factor else "") + text[position:end].strip()
                found.append((match.start(), end + 1, inside))
                position = end + 1
            else:
                unclosed = unclosed or match
        elif (bare := _BARE_BOX.match(text, position)) is not None:
            position = bare.end()
            found.append((match.start(), position, bare[1]))
    if not found and unclosed is not None:
        end_of_math = _END_OF_MATH.search(text, unclosed.end())
        inside = text[unclosed.end() : end_of_math.start()] if end_of_math else ""
        return [(unclosed.start(), len(text), inside.strip())]
    return found or None


# Words before a box that only name it: `I put it in `, `as you asked, in a `, `答案放在`.
_NAMES_IT = re.compile(
    r"(?:\b(?:in|within|inside|into|using|use|with|an?|the|of|by|as|your|my)[ ]*"
    r"|放在|放入|写在|填在|用|[`\"'“])(?:[$`\"'“]|\\\()*$",
    re.IGNORECASE,
)


# A command for text without any: the `\\text{}` of `\\boxed{\\text{}}`.
_EMPTY_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\{\s{0,9}\}")


def is_mention(text: str, start: int, inside: str) -> bool:
    """Whether an empty box is only named: the one of `my answer is within \\boxed{}`."""
    if FILLED.search(_EMPTY_TEXT.sub("", inside)):
        return False
    return bool(_NAMES_IT.search(text, max(0, start - 30), start))


def _has_damaged_box(text: str) -> bool:
    start = text.find("oxed{")
    return start >= 0 and text.count("oxed{", start) > text.count("\\boxed{", max(0, start - 2))
