"""Checks of a data set's prompts with the model's tokenizer, before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformers import AutoConfig, PretrainedConfig, PreTrainedTokenizerBase

from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.errors import not_loaded
from trainer_client.given_objects import is_given
from trainer_client.lost_text import lost_text_warnings, tried_problems
from trainer_client.policy.chat import chat_ids, load_tokenizer
from trainer_client.policy.given_policy import given_policy
from trainer_client.problems import Problem
from trainer_client.prompt_room import no_room_warnings
from trainer_client.row_files import DatasetError
from trainer_client.run.console import say


@dataclass(frozen=True)
class PromptReader:
    """A model's tokenizer and limits, which prompts have to fit."""

    tokenizer: PreTrainedTokenizerBase
    max_model_tokens: int | None
    """Longest sequence that the model was made for; None: it has no such limit."""

    @classmethod
    def of(cls, config: ModelConfig) -> PromptReader:
        """The reader of a configured model, whose weights are not loaded; raises ConfigError."""
        tokenizer = load_tokenizer(config)
        model = _model_config(config.path).get_text_config()
        return cls(tokenizer, getattr(model, "max_position_embeddings", None))

    def fitting(self, problems: Sequence[Problem], config: DatasetConfig) -> list[Problem]:
        """The problems of a data set whose prompts fit the model.

        Raises:
            DatasetError: a prompt is too long (`on_long_prompt: error`), or all are.
            ChatError: the chat template refuses a prompt.
        """
        limit = self._limit(config)
        if limit is None:
            for problem in problems[:1]:
                self._ids(problem)
            return list(problems)
        lengths = [len(self._ids(problem)) for problem in problems]
        kept = [p for p, length in zip(problems, lengths, strict=True) if length <= limit]
        too_long = len(problems) - len(kept)
        if not too_long:
            return kept
        by = (
            "dataset.max_prompt_tokens"
            if limit == config.max_prompt_tokens
            else "the model's limit"
        )
        found = (
            f"{config.path}: {too_long} of {len(problems)} prompts are longer than {limit} tokens "
            f"({by}); the longest has {max(lengths)}"
        )
        if config.on_long_prompt == "error" or not kept:
            raise DatasetError(f"{found}. dataset.on_long_prompt=skip leaves them out")
        say(f"{found}. They are skipped")
        return kept

    def warnings(self, problems: Sequence[Problem], *, max_completion_tokens: int) -> list[str]:
        """Warnings about characters, message fields and ends of completions that would be lost."""
        tried = tried_problems(problems)
        return [
            *lost_text_warnings(tried, self._read_back),
            *self._lost_fields(problems),
            *self._unknown_variables(tried),
            *self._no_room(tried, max_completion_tokens),
        ]

    def _ids(self, problem: Problem) -> list[int]:
        return chat_ids(self.tokenizer, problem.messages, problem.template_variables)

    def _unknown_variables(self, problems: Sequence[Problem]) -> list[str]:
        """A warning for each variable that the chat template does not have."""
        names = dict.fromkeys(name for problem in problems for name in problem.template_variables)
        return [
            f"dataset.chat_template_kwargs: the chat template has no variable {name!r}, so it "
            "changes nothing"
            for name in names
            if name not in str(self.tokenizer.chat_template)
        ]

    def _limit(self, config: DatasetConfig) -> int | None:
        """Largest number of tokens of a prompt: at least one of the context is the completion's."""
        room = None if self.max_model_tokens is None else self.max_model_tokens - 1
        limits = [limit for limit in (config.max_prompt_tokens, room) if limit is not None]
        return min(limits, default=None)

    def _read_back(self, text: str) -> str:
        """The text as completions are decoded."""
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        return str(self.tokenizer.decode(ids, skip_special_tokens=True))

    def _lost_fields(self, problems: Sequence[Problem]) -> list[str]:
        """A warning for each message field that makes no difference to the prompt."""
        first: dict[str, Problem] = {}
        for problem in problems:
            for message in problem.messages:
                for name in message.keys() - {"role", "content"}:
                    first.setdefault(name, problem)
        return [
            f"the chat template does not write the field {name!r} of messages, as in problem "
            f"{problem.id}: the model does not see it. Suggested: model.chat_template"
            for name, problem in sorted(first.items())
            if self._ids(problem)
            == self._ids(
                replace(problem, messages=tuple(_without(one, name) for one in problem.messages))
            )
        ]

    def _no_room(self, problems: Sequence[Problem], max_completion_tokens: int) -> list[str]:
        """A warning where the longest prompt and completion do not fit the model together."""
        return no_room_warnings(
            max(len(self._ids(problem)) for problem in problems),
            max_completion_tokens=max_completion_tokens,
            limit=self.max_model_tokens,
        )


def _model_config(path: str) -> PretrainedConfig:
    if is_given(path):
        return given_policy(path).config
    try:
        return AutoConfig.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"model.path: cannot load {not_loaded(error, path, 'model.path')}"
        ) from error


def _without(message: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != name}
