"""A judge of programs in every language, for the tests of this directory."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
import socket
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from verifier_service.code.languages.language import CompileFailure, Language
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reference_tests import Stdio
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.code.verdicts import judge_program
from verifier_service.sandbox.execution import Execution, Limits, Program
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Verdict
from verifier_service.verifiers.code import Code

T = TypeVar("T")
SECRET = f"canary{secrets.token_hex(8)}"
"""Text of the file that no program may read."""
PATIENT = Limits(cpu_seconds=20, wall_seconds=120, idle_seconds=None)


class Judge:
    """A runner in an event loop of its own."""

    def __init__(self, loop: asyncio.Runner, runner: Runner) -> None:
        self.runner = runner
        self._loop = loop

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop."""
        return self._loop.run(work)

    def language(self, name: str) -> Language:
        """A language whose toolchain is installed here and works; otherwise skips or fails."""
        language = LANGUAGES[name]
        try:
            language.toolchain()
        except ToolchainError as error:
            pytest.skip(str(error))
        assert self.wait(language.missing(self.runner)) is None
        return language

    def verdict(self, name: str, source: str, tests: Stdio, **options: Any) -> Verdict:
        """The verdict on a program."""
        self.language(name)
        code = Code.model_validate({"language": name, "cpu_seconds": 20.0, **options})
        return self.wait(judge_program(self.runner, code, tests, source))

    def built(self, name: str, source: str, **limits: Any) -> Program | CompileFailure:
        """A program, or why it could not be compiled."""
        language = self.language(name)
        limited = dataclasses.replace(language.compile_limits, **limits)
        return self.wait(language.build(self.runner, source.encode(), limited))

    def run(self, name: str, source: str, *, stdin: str = "", **limits: Any) -> Execution:
        """Compile a program, which must work, and run it."""
        program = self.built(name, source)
        assert isinstance(program, Program), program
        program = dataclasses.replace(program, stdin=stdin.encode())
        limited = dataclasses.replace(PATIENT, **limits)
        return self.wait(self.runner.run(program, LANGUAGES[name].run_limits(limited)))


def filled(source: str, canary: Path, server: socket.socket) -> str:
    """The source of a hostile program that knows what to attack."""
    port = server.getsockname()[1]
    names = {"@CANARY@": canary, "@DIRECTORY@": canary.parent, "@PORT@": port}
    for name, value in names.items():
        source = source.replace(name, str(value))
    return source
