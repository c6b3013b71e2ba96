"""Environments for the episodes of a run, from the function or class that it names."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from trainer_client.config.rollout_section import EnvironmentConfig
from trainer_client.config.run_config import Config, ConfigError
from trainer_client.episodes.environment import DEFAULT_ROLE, Environment
from trainer_client.episodes.function_tools import FunctionTools
from trainer_client.episodes.openenv import OpenEnv
from trainer_client.episodes.python_tool import DEFAULT_SECONDS, PythonTool
from trainer_client.episodes.search_tool import SearchTool
from trainer_client.episodes.service_client import ServiceClients
from trainer_client.episodes.verifier_feedback import VerifierFeedback
from trainer_client.episodes.verifiers_environment import VerifiersEnvironment
from trainer_client.errors import raised
from trainer_client.python_file import from_file


def _python_tool(config: Config, clients: ServiceClients) -> Callable[..., Environment]:
    """Raise ConfigError for a program that may run as long as its episode.

    The time limit would pass before anyone knows whether the program or the service took the time.
    """
    section = config.rollout.environment
    assert section is not None
    seconds = section.options.get("seconds", DEFAULT_SECONDS)
    if isinstance(seconds, int | float) and seconds >= section.max_seconds:
        raise ConfigError(
            f"rollout.environment.max_seconds must be more than a program's time limit, "
            f"options.seconds {seconds:g}, found {section.max_seconds:g}"
        )
    return partial(PythonTool.of, clients)


SHIPPED: Mapping[str, Callable[[Config, ServiceClients], Callable[..., Environment]]] = {
    "functions": lambda config, clients: FunctionTools,
    "openenv": lambda config, clients: OpenEnv,
    "python_tool": _python_tool,
    "search_tool": lambda config, clients: SearchTool.of,
    "verifier_feedback": lambda config, clients: partial(VerifierFeedback, clients),
    "verifiers": lambda config, clients: VerifiersEnvironment,
}
"""Environments of this package: each makes a factory from a run's configuration and clients."""


class EnvironmentSource:
    """Makes an environment for each episode, and owns the clients that environments share.

    Args:
        config: configuration of a run with `rollout.environment`.

    Raises:
        ConfigError: the factory cannot be imported, does not take the options, or makes something
            without `reset` and `step`.
    """

    def __init__(self, config: Config) -> None:
        section = config.rollout.environment
        assert section is not None
        self._clients = ServiceClients(config.reward)
        shipped = SHIPPED.get(section.path)
        factory = _imported(section.path) if shipped is None else shipped(config, self._clients)
        self._make = partial(factory, **section.options)
        first = _first(self._make, section)
        self.role = role_of(first)
        """Role of observations that are texts."""
        self.tools = tools_of(first)
        """JSON schemas of the tools that the policy is shown."""
        close(first)

    def make(self) -> Environment:
        """An environment for one episode."""
        return self._make()

    def close(self) -> None:
        """Close the clients."""
        self._clients.close()


def role_of(environment: Environment) -> str:
    """The role of an environment's observations that are texts."""
    return str(getattr(environment, "role", DEFAULT_ROLE))


def tools_of(environment: Environment) -> list[Any]:
    """The tools that an environment offers; none where it has no `tools`."""
    return list(getattr(environment, "tools", ()))


def service_seconds_of(environment: Environment | None) -> float:
    """The time that an environment has waited for a service; 0 where it does not tell."""
    return float(getattr(environment, "service_seconds", 0.0))


def close(environment: Environment) -> None:
    """Close an environment that has `close`."""
    end = getattr(environment, "close", None)
    if end is not None:
        end()


def _first(make: Callable[[], Environment], section: EnvironmentConfig) -> Environment:
    """A first environment, which shows that the options are right; raises ConfigError."""
    try:
        environment = make()
    except Exception as error:
        raise ConfigError(
            f"rollout.environment: {section.path} with options {section.options} raised "
            f"{raised(error)}"
        ) from error
    missing = [name for name in ("reset", "step") if not hasattr(environment, name)]
    if missing:
        raise ConfigError(
            f"rollout.environment: {section.path} makes a {type(environment).__name__}, which has "
            f"no {' and no '.join(missing)}"
        )
    return environment


def _imported(path: str) -> Callable[..., Environment]:
    """The class or function at file.py:name or package.module:name; raises ConfigError."""
    place, _, name = path.rpartition(":")
    try:
        module = from_file(place) if place.endswith(".py") else importlib.import_module(place)
    except Exception as error:
        raise ConfigError(
            f"rollout.environment: {place} cannot be imported: {raised(error)}"
        ) from error
    factory = getattr(module, name, None)
    if not callable(factory):
        raise ConfigError(f"rollout.environment: {place} has no class or function {name!r}")
    made: Callable[..., Environment] = factory
    return made
