"""The files that the Python runtime of an execution needs."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

DEVICES = (Path("/dev/null"), Path("/dev/zero"), Path("/dev/random"), Path("/dev/urandom"))
_INSTALLED_PACKAGES = frozenset({"site-packages", "dist-packages"})
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")


def standard_library() -> list[Path]:
    """The directories of the standard library."""
    return sorted({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})


def readable_paths(packages: list[Path]) -> list[Path]:
    """Paths that may be read: the standard library without installed packages, shared libraries.

    Args:
        packages: directories of packages that may be read too.
    """
    library = [
        path
        for directory in standard_library()
        for path in sorted(directory.iterdir())
        if path.name not in _INSTALLED_PACKAGES and path.exists()  # Debian has dangling links
    ]
    return [*library, *system_files(), *packages]


def system_files() -> list[Path]:
    """The shared libraries of the system and of this Python, and the time zones.

    Those of a Python stand beside its standard library, also where it was moved after its build and
    LIBDIR names another place.
    """
    own = (path for library in standard_library() for path in library.parent.glob("lib*.so*"))
    return [*system_libraries(), *(path for path in sorted({*own}) if path.exists())]


def system_libraries() -> list[Path]:
    """The shared libraries of the system, and the time zones."""
    triplet = sysconfig.get_config_var("MULTIARCH") or ""
    libraries = (f"/lib/{triplet}", f"/usr/lib/{triplet}") if triplet else ("/lib64", "/usr/lib64")
    paths = [Path(path) for path in (*libraries, *_SYSTEM_FILES)]
    return [path for path in paths if path.exists()]


def libraries_beside(package: Path) -> Iterator[Path]:
    """A package, and the directory of shared libraries that its wheel installed, if it has one."""
    yield package
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        yield libraries
