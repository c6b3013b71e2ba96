"""A program that is run once per case, within limits on each run and on all of them together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from verifier_service.code.device_stdin import with_stdin
from verifier_service.sandbox.execution import Execution, Limits, Program
from verifier_service.sandbox.runner import Runner, zygote_kind_of

PAGE_BYTES = 4096
FREE_BYTES = 2**20
"""Room for the files that a program makes, where it is given some."""


@dataclass(frozen=True)
class Plan:
    """Limits on running a program's tests, and which of them are run."""

    limits: Limits
    """Limits on one stdio case, or on all calls of a function together."""
    total_cpu_seconds: float
    """CPU time of a program in all stdio cases together. A special judge may have as much."""
    total_wall_seconds: float
    """Wall time of a program in all stdio cases together. A special judge may have as much."""
    run_all: bool
    """Whether tests after the first that fails are run."""
    after_time_limit: bool = True
    """Whether that holds for cases after one that met a time limit too. If not, they are taken to
    have met it: a program that loops costs its limit once, and not once for each case."""
    keeps_runs: bool = False
    """Whether the findings keep what each run of a whole program read and printed."""


class RepeatedProgram:
    """A program that is run once per case. Python is compiled in the first run only."""

    def __init__(
        self, runner: Runner, program: Program, plan: Plan, files: Mapping[str, str] | None = None
    ) -> None:
        self._runner = runner
        given = {name: encoded(content) for name, content in (files or {}).items()}
        self._files = {**given, **program.files}
        self.program = dataclasses.replace(program, files=self._files)
        self._limits = plan.limits
        self._cpu_seconds_left = plan.total_cpu_seconds
        self._wall_seconds_left = plan.total_wall_seconds

    @property
    def is_out_of_time(self) -> bool:
        """Whether the program has used up its time for all cases."""
        return self._cpu_seconds_left <= 0 or self._wall_seconds_left <= 0

    def limits_with(self, files: Mapping[str, bytes], output_bytes: int = 0) -> Limits:
        """The limits on its next run, with room for files, and for this much output at least."""
        return dataclasses.replace(
            self._limits,
            cpu_seconds=min(self._limits.cpu_seconds, self._cpu_seconds_left),
            wall_seconds=min(self._limits.wall_seconds, self._wall_seconds_left),
            file_bytes=max(self._limits.file_bytes, room_for(files)),
            output_bytes=max(self._limits.output_bytes, output_bytes),
        )

    def charge(self, run: Execution) -> None:
        """Take the time of a run from what is left for all."""
        self._cpu_seconds_left -= run.cpu_seconds
        self._wall_seconds_left -= run.wall_seconds - run.waited_seconds

    async def run(
        self,
        stdin: str = "",
        *,
        arguments: tuple[str, ...] = (),
        files: Mapping[str, bytes] | None = None,
        output_bytes: int = 0,
    ) -> Execution:
        """Run the program within what is left of its time. Raises SandboxError.

        Args:
            stdin: its standard input.
            arguments: its arguments.
            files: files in its working directory, besides those that it always has.
            output_bytes: output that it may have, where that is more than its limit.
        """
        given = with_stdin({**self._files, **(files or {})}, encoded(stdin))
        program = dataclasses.replace(
            self.program, stdin=encoded(stdin), arguments=arguments, files=given
        )
        compiles = program.entry == "script"
        limits = self.limits_with(given, output_bytes)
        run = await self._runner.run(program, limits, result=compiles)
        if compiles and run.result:
            self.program = Program(
                payload=run.result, entry="compiled", zygote_kind=zygote_kind_of(program)
            )
        self.charge(run)
        return run


def room_for(files: Mapping[str, bytes]) -> int:
    """Bytes of a scratch directory with these files; 0, which is none, if there are none."""
    if not files:
        return 0
    # A directory takes a page as well, and each name may have several.
    pages = sum(len(content) // PAGE_BYTES + 2 + name.count("/") for name, content in files.items())
    return FREE_BYTES + pages * PAGE_BYTES


def encoded(text: str) -> bytes:
    """The text in UTF-8, as files and programs have it."""
    return text.encode("utf-8", "surrogatepass")
