r"""Answers to the parts of a question, rewritten as a list of values with a letter for each part.

`(1) 2; (2) 3`, `(i) 2, (ii) 3` and `①2, ②3` become `a: 2; b: 3`, as `(a) 2, (b) 3` does. So the
label of a part says where its value belongs, and is no factor.
"""

from __future__ import annotations

import re

MAX_CHARACTERS = 1000
"""Longest text in which labels are sought."""
_LETTERS = "abcdefghi"
_CIRCLED = "①②③④⑤⑥⑦⑧⑨"
_ROMAN = "i ii iii iv v vi vii viii ix".split()
# The label of a part at the start of a text or behind a separator: `(1)`, `(ii)`, `b)`, `②`. A
# letter in brackets needs only a space: the `(b)` of `(a) 15 (b) 148`.
_LABEL = re.compile(
    r"(?:^|(?P<separator>[,;，；。\n]|(?<=\S)\s(?=\([b-h]\)\s)"
    r"|\\q?quad(?![a-z])|\band\b))\s*(?:\\q?quad(?![a-z])\s*)?(?:and\s+)?"
    r"(?:[(（]\s*(?P<bracketed>[1-9]|[a-h]|i{1,3}|iv|vi{0,3}|ix)\s*[)）]"
    r"|(?P<bare>[1-9]|[a-h])\)|(?P<circled>[①-⑨]))[:：.]?\s*(?=[^\s,;])"
)
# A sign or word that makes several values of one part: the `or` of `(1) 2 or 3`.
_SEPARATES = re.compile(r"[;，；、]|,(?!\d{3}(?!\d))|\bor\b|\band\b|[或和且]")
# A group in brackets, such as a point: `(1, 2)`.
_IN_BRACKETS = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
# Commas and semicolons, and the space around them, at the ends of a part: the `;` of `2;`.
_AROUND = " \t\n,;，；。"


def with_letters_of_parts(text: str) -> str:
    """The text with `a: ` and so on in place of the labels of parts, if it has all of them.

    >>> with_letters_of_parts("(1) 2; (2) 3"), with_letters_of_parts("(ii) 3, (i) 2")
    ('a: 2; b: 3', 'b: 3; a: 2')
    >>> with_letters_of_parts("(1, 2)"), with_letters_of_parts("(2)(3)")
    ('(1, 2)', '(2)(3)')
    """
    if len(text) > MAX_CHARACTERS or not text.strip().startswith(("(", "（", *"abcdefgh1", "①")):
        return text
    text = text.strip()
    labels = list(_LABEL.finditer(text))
    ranks = _ranks([one["bracketed"] or one["bare"] or one["circled"] for one in labels])
    if len(ranks) < 2 or sorted(ranks) != list(range(len(ranks))) or labels[0].start():
        return text
    ends = [*(label.start() for label in labels[1:]), len(text)]
    parts = [
        text[label.end() : end].strip(_AROUND) for label, end in zip(labels, ends, strict=True)
    ]
    if not all(parts) or any(_SEPARATES.search(_IN_BRACKETS.sub("", one)) for one in parts):
        return text
    return "; ".join(f"{_LETTERS[rank]}: {part}" for rank, part in zip(ranks, parts, strict=True))


def _ranks(names: list[str]) -> list[int]:
    """The places of labels, from 0: letters, digits or Roman numerals; empty for any others."""
    for alphabet in (list("123456789"), list(_CIRCLED), _ROMAN, list(_LETTERS)):
        if all(name in alphabet for name in names):
            return [alphabet.index(name) for name in names]
    return []
