"""Languages that this machine can run: their versions, and what is missing."""

from __future__ import annotations

import functools
import platform
import re
from typing import TYPE_CHECKING, NamedTuple

from verifier_service.code.languages.language import Language, LanguageName
from verifier_service.code.languages.runners import RUNNABLE
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.toolchains.installed_programs import run_tool
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.sandbox.execution import SandboxError

if TYPE_CHECKING:
    from verifier_service.sandbox.runner import Runner


class LanguageStatus(NamedTuple):
    """A language, and whether this machine has its toolchain."""

    name: LanguageName
    version: str
    """Version of its toolchain; empty where there is none."""
    problem: str | None
    """Advice on what is missing and how to install it; None where nothing is."""


def language_statuses() -> list[LanguageStatus]:
    """The languages with their toolchains. The first call starts them all: some seconds."""
    return [_status(row) for row in LANGUAGES.values()]


def _status(language: Language) -> LanguageStatus:
    try:
        return LanguageStatus(language.name, language_version(language.name), None)
    except ToolchainError as error:
        return LanguageStatus(language.name, "", str(error))


async def problems_found(runner: Runner) -> dict[str, str]:
    """The languages and runners whose smallest program does not run, and why."""
    found = {}
    for name, row in RUNNABLE.items():
        try:
            problem = await row.missing(runner)
        except SandboxError as error:
            problem = str(error)
        if problem is not None:
            found[name] = problem
    return found


@functools.cache
def language_version(name: str) -> str:
    """Version of a language's toolchain, such as 12.2.0.

    Raises:
        ToolchainError: it is missing or does not tell. The cache does not keep this.
    """
    language = RUNNABLE[name]
    if language.find is None:
        return platform.python_version()
    command = language.toolchain().version
    result = run_tool(*command)
    # The first number with a dot: "go version go1.19.8 linux/amd64".
    found = re.search(r"\d+(?:\.\d+)+", result.stdout + result.stderr)
    if found is None:
        raise ToolchainError(f"{command[0]} does not tell its version")
    return found[0]
