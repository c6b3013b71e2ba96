"""Verifiers of other packages: entry points of the group `verifier_service.verifiers`.

The name of an entry point is the verifier's type. It refers to a subclass of `TextVerifier`,
`SettlingVerifier` or `GroupVerifier` with `type: Literal["name"] = "name"`: see examples/plugin.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import EntryPoint, entry_points
from typing import get_args

from verifier_service.verifier import GroupVerifier, TextVerifier, Verifier

GROUP = "verifier_service.verifiers"


class PluginError(Exception):
    """An installed package has a verifier that cannot be used; the message names both."""


def plugins(taken: Collection[str]) -> dict[str, type[Verifier]]:
    """The verifiers of installed packages by type.

    Args:
        taken: types of the verifiers that the service has already.

    Raises:
        PluginError: an entry point cannot be imported, or is no verifier of its name.
    """
    found: dict[str, type[Verifier]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if entry.name in taken or entry.name in found:
            raise PluginError(f"{_source(entry)}: there is another verifier {entry.name!r}")
        found[entry.name] = _load(entry)
    return found


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
    package = entry.dist.name if entry.dist is not None else "a package"
    return f"verifier {entry.name!r} of {package} ({entry.value})"
