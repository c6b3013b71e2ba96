"""Rewards by the user's own Python functions, in the trainer's process.

    def brevity(completions, **columns):
        return [-len(completion) / 1000 for completion in completions]

A function is called once a step, with lists that have one entry for each completion: `prompts`
(the problem's text), `completions` (the completion's text), and every column of the data sets under
its own name, with None where a problem's data set does not have it. It returns a list or an array
with a score for each completion, or None where it cannot judge; such a completion stays out of its
group's mean. It may be `async`. It sees completions as text and must not run them: the verifier
service has a sandbox for that.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, cast

from reward_verifier.verdict import Verdict
from trainer_client.config.reward_sections import RewardFunctionConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.errors import TrainerError, raised
from trainer_client.given_objects import given_object, is_given
from trainer_client.own_loop import run_async
from trainer_client.python_file import from_file
from trainer_client.rollout import RolloutGroup

NOT_JUDGED = "not_judged"
"""Reason of the verdict on a completion for which a function returned None."""


class RewardError(TrainerError):
    """A reward function or model did not give one finite score for each completion."""


class RewardFunction:
    """A loaded function; raises ConfigError if its file or its name does not exist."""

    def __init__(self, config: RewardFunctionConfig) -> None:
        self.key = config.key
        self._path = config.path
        self._function = _load(config.path)
        parameters = inspect.signature(self._function).parameters.values()
        self._takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self._names = {p.name for p in parameters if p.kind is not p.VAR_KEYWORD}
        self._required = {
            p.name
            for p in parameters
            if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        }

    def score(self, groups: Sequence[RolloutGroup]) -> list[Verdict]:
        """A verdict for each completion, group by group.

        Raises:
            RewardError: the function has a parameter that is no column, raises an error (then the
                cause), or does not return one finite number or None for each completion.
        """
        columns = self._arguments(groups)
        try:
            result = self._function(**columns)
            if inspect.isawaitable(result):
                result = run_async(_awaited(result))
        except (Exception, SystemExit) as error:
            raise RewardError(f"reward function {self._path} raised {raised(error)}") from error
        result = _plain(result)
        count = sum(len(group.rollouts) for group in groups)
        if not isinstance(result, Sequence) or len(result) != count:
            found = (
                f"a list of {len(result)}" if isinstance(result, Sequence) else repr(result)[:80]
            )
            raise RewardError(
                f"reward function {self._path} must return a list of {count} numbers or None, one "
                f"for each completion, found {found}"
            )
        return [self._verdict(value) for value in result]

    def _arguments(self, groups: Sequence[RolloutGroup]) -> dict[str, list[Any]]:
        # A row is read from its file: once for each group and not for each value.
        rows = [(dict(group.problem.columns.items()), len(group.rollouts)) for group in groups]
        names = dict.fromkeys(name for row, _ in rows for name in row)
        columns = {
            name: [row.get(name) for row, count in rows for _ in range(count)] for name in names
        }
        columns["prompts"] = [group.problem.text for group in groups for _ in group.rollouts]
        columns["completions"] = [rollout.text for group in groups for rollout in group.rollouts]
        missing = self._required - columns.keys()
        if missing:
            raise RewardError(
                f"reward function {self._path} asks for {sorted(missing)}; there are "
                f"{sorted(columns)}"
            )
        return {name: v for name, v in columns.items() if self._takes_all or name in self._names}

    def _verdict(self, value: Any) -> Verdict:
        value = _plain(value)
        if value is None:
            return Verdict(outcome="unverifiable", reason=NOT_JUDGED)
        if isinstance(value, Real) and math.isfinite(value):
            return Verdict(outcome="scored", score=float(value), reason="function")
        raise RewardError(
            f"reward function {self._path} must return finite numbers or None, found {value!r}"
        )


def _plain(value: Any) -> Any:
    """The lists and numbers of Python in place of an array of numpy, torch or pandas."""
    return value.tolist() if hasattr(value, "tolist") else value


async def _awaited(result: Any) -> Any:
    return await result


def _load(path: str) -> Callable[..., Any]:
    if is_given(path):
        given = given_object(path, "reward.functions")
        if not callable(given):
            raise ConfigError(
                f"reward.functions: {path!r} must be a function, found {type(given).__name__}"
            )
        return cast(Callable[..., Any], given)
    file, _, name = path.rpartition(":")
    if not Path(file).is_file():
        raise ConfigError(f"reward.functions: there is no Python file {file!r}")
    try:
        module = from_file(file)
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"reward.functions: {file} cannot be imported: {raised(error)}"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise ConfigError(f"reward.functions: {file} has no function {name!r}")
    loaded: Callable[..., Any] = function
    return loaded
