"""Special judges: programs of the tests that decide whether an output is right."""

from __future__ import annotations

import dataclasses

from verifier_service.sandbox.execution import ExitReason, Limits, Program
from verifier_service.sandbox.runner import Runner, zygote_kind_of


async def compile_special_judge(runner: Runner, source: str, limits: Limits) -> Program | str:
    """Compile a special judge without running it.

    Returns the judge, or why it does not compile. Raises SandboxError.
    """
    judge = Program(payload=source.encode("utf-8", "surrogatepass"))
    kind = zygote_kind_of(judge)
    asked = dataclasses.replace(judge, entry="compile", zygote_kind=kind)
    run = await runner.run(asked, limits, result=True)
    if run.reason is ExitReason.COMPILE_ERROR:
        return run.stderr.decode(errors="replace")
    if not run.succeeded:
        return f"the special judge does not compile within the limits: {run.reason}"
    if not run.result:
        return judge
    return Program(payload=run.result, entry="compiled", zygote_kind=kind)
