"""Warnings about answers, which are nobody's: those of numpy and of Python's parser."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext

_IGNORE_ALL = ("ignore", None, Warning, None, 0)
_AS_IT_IS: AbstractContextManager[None] = nullcontext()


def without_warnings() -> AbstractContextManager[None]:
    """A block in which no warning is shown.

    To open and close one takes longer than many a scorer, so nothing is done in a process whose
    first filter ignores them all.
    """
    if warnings.filters and warnings.filters[0] == _IGNORE_ALL:
        return _AS_IT_IS
    return warnings.catch_warnings(action="ignore")
