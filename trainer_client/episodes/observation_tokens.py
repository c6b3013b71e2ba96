"""Token ids of observations: what a chat template writes between two messages of the policy.

Sampled tokens are never tokenised again. The template writes a chat with a placeholder for the
policy's message, and the text behind the placeholder is the observation's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
from transformers import PreTrainedTokenizerBase

from trainer_client.config.run_config import ConfigError
from trainer_client.episodes.environment import Message
from trainer_client.errors import first_line
from trainer_client.rollout import RolloutError

PLACEHOLDER = "placeholder of a message"
THOUGHTFUL = f"<think>\na thought\n</think>\n\n{PLACEHOLDER}"
"""A message of a reasoning model; many templates leave the thought out of earlier turns."""
WITHHELD = "(withheld: the text is read as control tokens)"
"""Observation in the place of one that a tokenizer cannot read as text."""
_QUESTION = {"role": "user", "content": "question"}


class ObservationTokens:
    """Writes observations as token ids.

    Args:
        tokenizer: has a chat template.
        eos_ids: tokens that end a message of the policy.
        variables: variables of the chat template, `tools` included.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        eos_ids: Sequence[int],
        variables: Mapping[str, Any],
    ) -> None:
        self._tokenizer = tokenizer
        self._variables = dict(variables)
        self._ends = {one: str(tokenizer.convert_ids_to_tokens(one)) for one in eos_ids}
        added = tokenizer.get_added_vocab()
        # Control texts of two characters or more, in any case: "<|im_end|>".
        texts = sorted((text for text in added if len(text) > 1), key=len, reverse=True)
        self._control_ids = {added[text] for text in texts} - {tokenizer.unk_token_id}
        self._control = re.compile("|".join(map(re.escape, texts)) or r"(?!)", re.IGNORECASE)

    def ids(self, observation: Sequence[Message], *, last_id: int) -> list[int]:
        """Token ids from the policy's last token to where its next message begins.

        Args:
            observation: messages of the environment. Control tokens that their texts spell are
                broken up, so that no output of a tool passes for a turn of its own.
            last_id: last token of the policy's message. Where it ended at a text, the template's
                end of a message is part of the result.

        Raises:
            RolloutError: the template does not write such messages.
        """
        try:
            return self._ids(observation, last_id)
        except (jinja2.TemplateError, ValueError, TypeError) as error:
            raise RolloutError(
                "the chat template cannot write an observation with the roles "
                f"{[message['role'] for message in observation]}: {first_line(error)}"
            ) from error

    def _ids(self, observation: Sequence[Message], last_id: int) -> list[int]:
        """See `ids`; control tokens are those alone that the template writes.

        A tokenizer may rewrite a text before it looks for control tokens: NFKC makes `<` of its
        wide form. So what is not plain ASCII is escaped where control tokens are left.
        """
        empty = [{**message, "content": "x"} for message in observation]
        expected = self._num_control(self._encoded(self._behind(empty, last_id)))
        for content in (str, _escaped):
            messages = [
                {**message, "content": self._without_control(content(message["content"]))}
                for message in observation
            ]
            ids = self._encoded(self._behind(messages, last_id))
            if self._num_control(ids) == expected:
                return ids
        withheld = [{**message, "content": WITHHELD} for message in observation]
        return self._encoded(self._behind(withheld, last_id))

    def _num_control(self, ids: Sequence[int]) -> int:
        return sum(one in self._control_ids for one in ids)

    def check(self, *, role: str, model: str) -> None:
        """Raise ConfigError where earlier turns would not stay as the policy sampled them.

        Args:
            role: role of the observations.
            model: name of the model in the error.
        """
        about = f"rollout.environment: the chat template of {model!r}"
        advice = "Set model.chat_template to a Jinja file that does, or give observations a role"
        for message in (PLACEHOLDER, THOUGHTFUL):
            chat = [_QUESTION, {"role": "assistant", "content": message}]
            chat.append({"role": role, "content": "observation"})
            try:
                before = self._rendered([_QUESTION])
                whole = self._rendered(chat)
            except (jinja2.TemplateError, ValueError, TypeError) as error:
                raise ConfigError(
                    f"{about} cannot write an observation of role {role!r}: {first_line(error)}. "
                    f"{advice} that it has"
                ) from error
            if not whole.startswith(before + message):
                raise ConfigError(
                    f"{about} rewrites history: once an observation of role {role!r} follows, it "
                    f"no longer writes {message!r} as the policy wrote it. {advice} before which "
                    "it leaves messages alone"
                )
            self._check_tokens(whole, whole[len(before + message) :], about)

    def _check_tokens(self, whole: str, behind: str, about: str) -> None:
        """Raise ConfigError where an observation has other tokens alone than in its chat."""
        alone, together = self._encoded(behind), self._encoded(whole)
        if together[len(together) - len(alone) :] != alone:
            raise ConfigError(
                f"{about} has nothing between a message and the observation behind it that keeps "
                "their tokens apart, so that no token ids of the observation alone can be told"
            )

    def _behind(self, messages: Sequence[Message], last_id: int) -> str:
        """The text of the template behind the policy's last token."""
        chat = [_QUESTION, {"role": "assistant", "content": PLACEHOLDER}, *messages]
        _, found, text = self._rendered(chat).partition(PLACEHOLDER)
        if not found:
            raise ValueError("it does not write the message before the observation")
        if last_id not in self._ends:
            return text
        for end in self._ends.values():
            before, found, rest = text.partition(end)
            if found and not before.strip():
                return rest
        return text

    def _rendered(self, messages: Sequence[Mapping[str, Any]]) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                add_generation_prompt=True,
                tokenize=False,
                **self._variables,
            )
        )

    def _encoded(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def _without_control(self, text: str) -> str:
        """The text with a space in each part that is a control token."""
        return self._control.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)


def _escaped(text: str) -> str:
    r"""The text in printable ASCII and line breaks; other characters are escaped, as `\xe9`."""
    return "".join(
        one if one.isascii() and (one.isprintable() or one == "\n") else ascii(one)[1:-1]
        for one in text
    )
