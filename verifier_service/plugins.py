"""Verifiers of other packages: entry points of the group `verifier_service.verifiers`.

The name of an entry point is the verifier's type. It refers to a subclass of `TextVerifier`,
`SettlingVerifier` or `GroupVerifier` with `type: Literal["name"] = "name"`: see examples/plugin.

A plugin is code that the service runs, so `VERIFIER_PLUGINS` can name the packages to trust.
Types of verifiers are made when the service is imported, so it is a variable and has no flag.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import get_args

from verifier_service.verifier import GroupVerifier, TextVerifier, Verifier

GROUP = "verifier_service.verifiers"
VARIABLE = "VERIFIER_PLUGINS"
"""Names of packages, separated by commas, whose verifiers may be loaded; unset: all packages."""


class PluginError(Exception):
    """An installed package has a verifier that cannot be used; the message names both."""


@dataclass(frozen=True)
class Plugin:
    """A verifier of another package."""

    verifier: type[Verifier]
    package: str
    """Name of the package that has it."""


def plugins(taken: Collection[str]) -> dict[str, Plugin]:
    """The verifiers of installed packages by type.

    Args:
        taken: types of the verifiers that the service has already.

    Raises:
        PluginError: an entry point cannot be imported, or is no verifier of its name; or
            VERIFIER_PLUGINS names a package without verifiers.
    """
    found: dict[str, Plugin] = {}
    for entry in _permitted(entry_points(group=GROUP), os.environ.get(VARIABLE)):
        if entry.name in taken or entry.name in found:
            raise PluginError(f"{_source(entry)}: there is another verifier {entry.name!r}")
        found[entry.name] = Plugin(_load(entry), _package(entry))
    return found


def _permitted(entries: Iterable[EntryPoint], setting: str | None) -> list[EntryPoint]:
    """The entry points whose packages a value of VERIFIER_PLUGINS names, by name."""
    found = sorted(entries, key=lambda entry: entry.name)
    if setting is None:
        return found
    wanted = {_normalized(name): name.strip() for name in setting.split(",") if name.strip()}
    installed = {_normalized(_package(entry)): _package(entry) for entry in found}
    unknown = [name for key, name in wanted.items() if key not in installed]
    if unknown:
        there = ", ".join(sorted(installed.values())) or "none"
        raise PluginError(
            f"{VARIABLE}: {', '.join(unknown)} is no installed package with verifiers; "
            f"there are: {there}"
        )
    return [entry for entry in found if _normalized(_package(entry)) in wanted]


def _normalized(name: str) -> str:
    """The name of a package in the form in which names are compared (PEP 503)."""
    # A run of separators: the `_` of `My_Package`.
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _load(entry: EntryPoint) -> type[Verifier]:
    try:
        loaded = entry.load()
    except Exception as error:
        raise PluginError(f"{_source(entry)}: {type(error).__name__}: {error}") from error
    if not isinstance(loaded, type) or not issubclass(loaded, TextVerifier | GroupVerifier):
        raise PluginError(
            f"{_source(entry)}: expected a subclass of TextVerifier or GroupVerifier, found "
            f"{loaded!r}"[:300]
        )
    if get_args(loaded.model_fields["type"].annotation) != (entry.name,):
        raise PluginError(f'{_source(entry)}: expected `type: Literal["{entry.name}"]`')
    missing = [name for name in ("purpose", "reasons") if not hasattr(loaded, name)]
    if missing:
        raise PluginError(f"{_source(entry)}: it has no {' and no '.join(missing)}")
    return loaded


def _source(entry: EntryPoint) -> str:
    return f"verifier {entry.name!r} of {_package(entry)} ({entry.value})"


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "a package"
