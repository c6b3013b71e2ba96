"""Packages that programs in Python may import besides the standard library."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from verifier_service.sandbox.execution import SandboxError, ZygoteKind

PACKAGES = {
    ZygoteKind.STD: (),
    ZygoteKind.NATIVE: (),
    ZygoteKind.SCI: ("mpmath", "numpy", "sympy"),
    ZygoteKind.DATA: ("mpmath", "numpy", "sympy"),
    ZygoteKind.TESTS: ("mpmath", "numpy", "sympy"),
}
"""Packages that a kind of zygote has besides the standard library."""
_DATA_PACKAGES = ("networkx", "pandas", "scipy", "sortedcontainers")
_PYTEST_PACKAGES = ("pytest", "_pytest", "iniconfig", "packaging", "pluggy", "pygments")
OPTIONAL_PACKAGES: Mapping[ZygoteKind, tuple[str, ...]] = {
    ZygoteKind.STD: (),
    ZygoteKind.NATIVE: (),
    ZygoteKind.SCI: ("sortedcontainers",),
    ZygoteKind.DATA: _DATA_PACKAGES,
    ZygoteKind.TESTS: (*_DATA_PACKAGES, *_PYTEST_PACKAGES),
}
"""Packages that a kind of zygote has besides, where they are installed; the extra `programs`."""


def packages_of(kind: ZygoteKind) -> dict[str, str]:
    """Names and directories of the packages of a kind of zygote.

    Raises:
        SandboxError: a package is not installed.
    """
    found = {}
    for name in PACKAGES[kind]:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxError(f"programs of the kind {kind} need {name}, which is not installed")
        found[name] = str(Path(spec.origin).parent)
    for name in OPTIONAL_PACKAGES[kind]:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            found[name] = str(Path(spec.origin).parent)
    return found


@cache
def is_installed(name: str) -> bool:
    """Whether a package is installed beside the service."""
    return importlib.util.find_spec(name) is not None


def importable_packages() -> dict[str, str | None]:
    """Versions of the packages that programs may import; None for one that is not installed."""
    names = (*PACKAGES[ZygoteKind.DATA], *OPTIONAL_PACKAGES[ZygoteKind.DATA])
    return {
        name: importlib.metadata.version(name) if is_installed(name) else None for name in names
    }
