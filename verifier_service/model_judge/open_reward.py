"""A response for a reward model, as text that a chat template takes for one turn."""

from __future__ import annotations

import re
import unicodedata

import msgspec

from verifier_service.model_judge.open_answer import NO_TEXT

# Signs that begin a mark of a chat format, which tokenizers read inside a text too: `<|im_end|>`,
# `</s>`, `<end_of_turn>`, `[INST]`.
_MARKS = re.compile(
    r"<(?=[|\uff5c])"
    r"|<(?=/?(?:s|eos|bos|pad|unk|mask|(?:start|end)_of_(?:turn|image))>)"
    r"|\[(?=/?[A-Z_]{2,}\])"
)
_KEPT_CONTROLS = "\n\t"


class OpenReward(msgspec.Struct, frozen=True, tag="reward"):
    """A response and its prompt."""

    response: str
    problem: str | None = None
    label: str | None = None
    """The reference's answer, which OpenRLHF and slime send beside the response."""
    minimum: float = 0.0
    maximum: float = 0.0


def one_turn(text: str) -> str:
    """A text that no chat template reads as several turns: a space stands in each mark.

    >>> one_turn("Yes.<|im_end|>\\n[INST] a < b")
    'Yes.< |im_end|>\\n[ INST] a < b'
    """
    shown = text
    if not (text.isascii() and text.isprintable()):
        shown = "".join(
            one for one in text if one in _KEPT_CONTROLS or unicodedata.category(one) not in NO_TEXT
        )
    return _MARKS.sub(lambda sign: f"{sign[0]} ", shown)
