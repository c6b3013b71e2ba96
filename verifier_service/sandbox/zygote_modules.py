"""The modules that a zygote imports before it forks, so that its children share their memory."""

from __future__ import annotations

import ctypes
import gc
import importlib
import site
import sys
from dataclasses import dataclass
from pathlib import Path

from verifier_service.sandbox import layers, runtime
from verifier_service.sandbox.entries import ENTRIES, Entry
from verifier_service.sandbox.execution import SCIENTIFIC_KINDS, ZygoteKind

STANDARD_MODULES = (
    *("abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses"),
    *("datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "io"),
    *("itertools", "json", "math", "numbers", "operator", "queue", "random", "re", "statistics"),
    *("string", "struct", "sys", "textwrap", "threading", "time", "traceback", "types", "typing"),
)
"""Modules imported before the first fork. Each makes every fork a little slower, so modules that
programs rarely use are left out: a program imports them itself."""
SCIENTIFIC_MODULES = (
    *("numpy", "numpy.random", "numpy.linalg", "numpy.fft", "numpy.ma", "numpy.polynomial"),
    *("mpmath", "sympy"),
)

_MADV_COLLAPSE, _HUGE_PAGE_BYTES = 25, 2**21

_libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class Inherited:
    """The work of a nursery that its zygotes need not repeat."""

    entries: dict[str, Entry]
    packages: list[Path]
    """Directories that must stay readable for modules that are imported later."""
    num_threads: int
    """Threads of this user's processes when the nursery started."""

    @classmethod
    def made(cls, kind: ZygoteKind, entries: dict[str, str], packages: dict[str, str]) -> Inherited:
        """Import the modules of a kind, and gather the memory that forks share."""
        found = _import_entries(entries)
        readable = _import_modules(kind, packages)
        gc.collect()
        _use_huge_pages()
        return cls(found, readable, layers.num_threads_of_user())


def _import_entries(names: dict[str, str]) -> dict[str, Entry]:
    entries = dict(ENTRIES)
    for name, location in names.items():
        module, _, function = location.partition(":")
        entries[name] = getattr(importlib.import_module(module), function)
    return entries


def _import_modules(kind: ZygoteKind, packages: dict[str, str]) -> list[Path]:
    """Import the modules of a kind, then leave only the standard library importable.

    Returns:
        The directories that must stay readable for modules that are imported later.
    """
    library = [path for path in sys.path if Path(path) in _library_path()]
    sys.path[:] = library + sorted({str(Path(path).parent) for path in packages.values()})
    for name in STANDARD_MODULES if kind is not ZygoteKind.NATIVE else ():
        importlib.import_module(name)
    # Started with -S, which keeps installed packages off the path, Python lacks `exit`, `quit`,
    # `copyright` and `help`: programs that use them would fail here and nowhere else.
    for define in (site.setquit, site.setcopyright, site.sethelper):
        define()
    if kind in SCIENTIFIC_KINDS:
        # pandas imports it where it is installed, and it starts threads, which no fork keeps.
        sys.modules["pyarrow"] = None  # type: ignore[assignment]
        for name in (*SCIENTIFIC_MODULES, *packages):
            importlib.import_module(name)
        _warm_up_sympy()
    sys.path[:] = library
    for path in set(sys.path_importer_cache) - set(library):
        del sys.path_importer_cache[path]
    return [part for path in packages.values() for part in runtime.libraries_beside(Path(path))]


def _library_path() -> set[Path]:
    libraries = runtime.standard_library()
    return {*libraries, *(path / "lib-dynload" for path in libraries)}


def _warm_up_sympy() -> None:
    """Use sympy, so that it imports here the modules that each child would import at first use."""
    sympy = importlib.import_module("sympy")
    x = sympy.Symbol("x")
    for expression in (sympy.sin(x) ** 2 + x / 3, sympy.sqrt(2)):
        str(sympy.simplify(expression))
        str(sympy.latex(expression))
    str(sympy.solve(x**2 - 2, x))
    str(sympy.integrate(x**2, x))
    str(sympy.factorint(360))


def _use_huge_pages() -> None:
    """Ask the kernel to gather Python's memory in huge pages, where it can (Linux 6.1).

    A fork copies one table entry for each page. Without huge pages that is 512 times as many
    entries, in every fork: numpy and sympy take 40 MiB.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, _, _, inode, *_ = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        start = (start + _HUGE_PAGE_BYTES - 1) // _HUGE_PAGE_BYTES * _HUGE_PAGE_BYTES
        end = end // _HUGE_PAGE_BYTES * _HUGE_PAGE_BYTES
        if inode == "0" and permissions == "rw-p" and start < end:
            _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_COLLAPSE)
