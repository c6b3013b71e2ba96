"""The module in a Python file of the user."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def from_file(file: str) -> ModuleType:
    """The module; raises ImportError, or whatever its own code raises.

    As for a script that is run, modules beside the file can be imported; they come after all
    others, so that a `datasets.py` there replaces no library.
    """
    path = Path(file).resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ImportError(f"there is no Python file {file!r}")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = importlib.util.module_from_spec(spec)
    known = sys.modules.get(path.stem)
    if known is None or getattr(known, "__file__", None) == str(path):
        # Dataclasses and pickle look a class's module up by its name.
        sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if sys.modules.get(path.stem) is module:
            del sys.modules[path.stem]
        raise
    return module
