"""The Python of the user that a configuration names, looked up before a run; none of it is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trainer_client.check.python_names import Parameters, defined_names, parameters_of
from trainer_client.config.rollout_section import EnvironmentConfig
from trainer_client.config.run_config import Config, ConfigError
from trainer_client.data_sets import DataSet
from trainer_client.errors import did_you_mean
from trainer_client.given_objects import given_object, is_given


def code_problems(config: Config, data_sets: Sequence[DataSet]) -> Iterator[str]:
    """A line for each file, name, parameter or option that does not fit.

    Args:
        config: the run's.
        data_sets: those that could be read; reward functions get their columns.
    """
    columns = {"prompts", "completions"}
    columns |= {name for one in data_sets for first in one.problems[:1] for name in first.columns}
    for function in config.reward.functions:
        if is_given(function.path):
            yield from _missing_object(function.path)
            continue
        yield from _missing_code(function.path, "reward.functions", "function")
        taken = _parameters(function.path)
        if data_sets and taken is not None and (lacking := taken.required - columns):
            yield (
                f"reward.functions: {function.path} asks for {sorted(lacking)}; there are "
                f"{sorted(columns)}"
            )
    if config.rollout.environment is not None:
        yield from _environment_problems(config.rollout.environment)


def _environment_problems(environment: EnvironmentConfig) -> Iterator[str]:
    setting = "rollout.environment"
    if environment.path == "functions":
        paths = environment.options.get("paths")
        for path in paths if isinstance(paths, list) else ():
            yield from _missing_code(str(path), f"{setting}.options.paths", "function")
    if ".py:" not in environment.path:
        return
    yield from _missing_code(environment.path, setting, "class or function")
    taken = _parameters(environment.path)
    if taken is None:
        return
    unknown = [] if taken.takes_all else sorted(environment.options.keys() - taken.names)
    for name in unknown:
        near = did_you_mean(name, taken.names) or f"; there are {sorted(taken.names)}"
        yield f"{setting}.options: {environment.path} takes no {name!r}{near}"
    if lacking := sorted(taken.required - environment.options.keys()):
        yield f"{setting}.options: {environment.path} needs {', '.join(lacking)}"


def _missing_object(path: str) -> Iterator[str]:
    try:
        given_object(path, "reward.functions")
    except ConfigError as error:
        yield str(error)


def _missing_code(path: str, setting: str, kind: str) -> Iterator[str]:
    """A problem where there is no file, or nothing of that name in it: `rewards.py:brevity`."""
    place, _, name = path.rpartition(":")
    if not Path(place).is_file():
        yield f"{setting}: there is no file {place} (relative paths start at {Path.cwd()})"
        return
    try:
        defined = defined_names(Path(place).read_bytes())
    except (SyntaxError, ValueError) as error:
        yield f"{setting}: {place} is not Python: {error}"
        return
    if name not in defined and "*" not in defined:
        yield f"{setting}: {place} has no {kind} {name!r}{did_you_mean(name, defined)}"


def _parameters(path: str) -> Parameters | None:
    """The parameters of a function or a class; None where they cannot be told."""
    place, _, name = path.rpartition(":")
    try:
        return parameters_of(Path(place).read_bytes(), name)
    except (OSError, SyntaxError, ValueError):
        return None
