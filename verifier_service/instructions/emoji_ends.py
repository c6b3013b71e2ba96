"""The constraint of IFBench that sentences end with an emoji; the package emoji knows them."""

from __future__ import annotations

import string
from functools import cache
from typing import Any

from verifier_service.instructions.constraint import (
    Finding,
    MissingPackage,
    Response,
    constraint,
)

_NO_SIGNS = str.maketrans("", "", string.punctuation)


class NoEmoji(MissingPackage):
    """The package emoji is not installed."""


@cache
def _emoji() -> Any:
    try:
        import emoji  # noqa: PLC0415
    except ImportError as error:
        raise NoEmoji from error
    return emoji


@constraint("format:emoji")
def emoji_ends(response: Response) -> Finding:
    """Every sentence ends with an emoji, or the next one begins with it."""
    is_emoji = _emoji().is_emoji
    plain = [one.translate(_NO_SIGNS).strip() for one in _with_trailing(response)]
    for index, sentence in enumerate(plain):
        if not sentence:
            return Finding(False, "an empty sentence")
        if any(is_emoji(sign) for sign in sentence[-2:]):
            continue
        following = plain[index + 1 : index + 2]
        if not following or not following[0] or not is_emoji(following[0][0]):
            return Finding(False, f"{sentence[-30:]!r}")
    return Finding(bool(plain), "emoji")


def _with_trailing(response: Response) -> list[str]:
    """The sentences; an emoji behind the last one belongs to it."""
    found = list(response.sentences)
    rest = response.text.rstrip()
    if found and not rest.endswith(found[-1]):
        found[-1] += rest[rest.rfind(found[-1]) + len(found[-1]) :]
    return found
