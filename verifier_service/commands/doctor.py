"""The command `doctor`."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from verifier_service.code.languages.runners import RUNNERS, language_tools
from verifier_service.code.languages.status import language_statuses, problems_found
from verifier_service.proofs.prover_lines import prover_lines
from verifier_service.sandbox.doctor import diagnose
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer
from verifier_service.sandbox.runner import Runner


def doctor(
    require: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="layers that must be in force, separated by commas, of: " + ", ".join(Layer),
        ),
    ] = ",".join(sorted(COMMON_LAYERS)),
) -> None:
    """Check what confines programs on this machine.

    Prints the layers of the sandbox, tries operations that must be refused, runs a program in each
    language and for each runner of /run_code, and Coq, and gives each Lean server a proof. The
    status is 1 if a layer is missing or a check fails; a language, a runner or a proof checker that
    is missing does not count.
    """
    required = {name.strip() for name in require.split(",") if name.strip()}
    if unknown := sorted(required - set(Layer)):
        raise typer.BadParameter(
            f"no layer {', '.join(unknown)}; there are {', '.join(Layer)}", param_hint="--require"
        )
    diagnosis = asyncio.run(diagnose(required=frozenset(map(Layer, required))))
    print(diagnosis)  # noqa: T201
    if diagnosis.is_healthy:
        for line in [*asyncio.run(language_lines()), *asyncio.run(prover_lines())]:
            print(line)  # noqa: T201
    raise typer.Exit(not diagnosis.is_healthy)


async def language_lines() -> list[str]:
    """A line for each language and runner: whether its smallest program runs in the sandbox."""
    async with Runner(1, tools=language_tools) as runner:
        problems = await problems_found(runner)
    lines = ["languages of programs:"]
    for status in language_statuses():
        problem = problems.get(status.name) or status.problem
        found = f"works, {status.version}" if problem is None else f"- {problem}"
        lines.append(f"  {status.name:13} {found}")
    lines.append("runners of /run_code:")
    for runner_name in RUNNERS:
        problem = problems.get(runner_name)
        lines.append(f"  {runner_name:13} {'works' if problem is None else f'- {problem}'}")
    return lines
