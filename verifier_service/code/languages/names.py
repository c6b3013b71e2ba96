"""Names of languages and runners, those that other protocols use among them."""

from __future__ import annotations

from typing import TypeGuard

from verifier_service.code.languages.language import LanguageName, RunnerName
from verifier_service.code.languages.runners import RUNNERS
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.validation import did_you_mean

_NAMES = {alias: row.name for row in LANGUAGES.values() for alias in (row.name, *row.aliases)}


def is_language(name: str) -> TypeGuard[LanguageName]:
    """Whether a name is that of a language."""
    return name in LANGUAGES


def language_named(name: str) -> LanguageName | None:
    """The language that other protocols call so; None if there is none.

    >>> language_named("nodejs"), language_named("C++"), language_named("cobol")
    ('javascript', 'cpp', None)
    """
    return _NAMES.get(name.lower())


def runnable_named(name: str) -> LanguageName | RunnerName | None:
    """The language or runner that SandboxFusion calls so; None if there is none.

    >>> runnable_named("D_ut"), runnable_named("nodejs"), runnable_named("cuda")
    ('d_ut', 'javascript', None)
    """
    found = next((runner for runner in RUNNERS if runner == name.lower()), None)
    return found or language_named(name)


def refuse_unknown(name: object) -> object:
    """The value as it is, for a validator; a text that names no language tells the nearest one.

    Raises:
        ValueError: no language has that name.
    """
    if not isinstance(name, str) or is_language(name):
        return name
    nearest = did_you_mean(language_named(name) or name, LANGUAGES)
    names = ", ".join(LANGUAGES)
    message = f"no language {name[:40]!r}"
    raise ValueError(
        f"{message}{nearest} There are {names}" if nearest else f"{message} of {names}"
    )
