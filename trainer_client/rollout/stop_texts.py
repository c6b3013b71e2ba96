"""Texts that end a completion (`rollout.stop`), found in its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainer_client.policy.policy import Policy
from trainer_client.rollout import Rollout

Decode = Callable[[Sequence[int]], str]
"""The text of token ids."""


class StopTexts:
    """Finds the token with which a completion first contains one of the texts.

    Args:
        texts: texts that end a completion; none: no completion is ended.
        decode: decodes tokens as completions are decoded.
    """

    def __init__(self, texts: Sequence[str], decode: Decode) -> None:
        self._texts = tuple(texts)
        self._decode = decode
        # A token has at least a byte, so the text is in so many tokens. One more is decoded before
        # it: decoders of SentencePiece drop the space that a sequence begins with.
        self.window = max((len(text.encode()) for text in texts), default=0) + 1

    def __bool__(self) -> bool:
        return bool(self._texts)

    def ends(self, ids: Sequence[int]) -> bool:
        """Whether the last token completes a text."""
        tail = self._decode(ids[-self.window :])
        return any(text in tail for text in self._texts)

    def length_to_end(self, ids: Sequence[int]) -> int | None:
        """Number of tokens up to the end of the first text; None: there is no text."""
        if not self._texts or not any(text in self._decode(ids) for text in self._texts):
            return None
        return next((end for end in range(1, len(ids) + 1) if self.ends(ids[:end])), None)


def finished_rollout(
    policy: Policy,
    prompt: Sequence[int],
    ids: Sequence[int],
    logprobs: Sequence[float],
    stops: StopTexts,
) -> Rollout:
    """The rollout of a completion that vLLM has sampled, cut off after the first text that stops.

    vLLM gets token ids alone and samples on to its own end. What it sampled until the text is a
    sample all the same: the tokens before a place do not depend on those after it.

    Args:
        policy: decodes the tokens, and knows those that end a completion.
        prompt: token ids of the prompt.
        ids: token ids of the completion.
        logprobs: log-probability of each of them.
        stops: texts that end a completion.
    """
    end = stops.length_to_end(ids)
    return Rollout(
        prompt_ids=tuple(prompt),
        completion_ids=tuple(ids[:end]),
        sampler_logprobs=tuple(logprobs[:end]),
        text=policy.decode(ids[:end]),
        truncated=end is None and ids[-1] not in policy.eos_ids,
    )
