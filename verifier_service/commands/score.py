"""The command `score`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TextIO

import typer

from verifier_service import strict_json
from verifier_service.console import fail, input_file, input_name, progress_bar
from verifier_service.engine.scheduler import Scheduler
from verifier_service.file_scoring import (
    BadFile,
    count_verdicts,
    read_groups,
    resume,
    score_rows,
    score_summary,
    with_profiles,
)
from verifier_service.model_judge.start import start_models
from verifier_service.profiles import Verifiers, read_profiles, verifiers_from_arguments
from verifier_service.proofs.lean_start import start_lean
from verifier_service.sandbox.layers import hide_process
from verifier_service.schemas import Group
from verifier_service.settings import EngineSettings
from verifier_service.settings_options import takes_settings
from verifier_service.validation import did_you_mean
from verifier_service.worker_pools import start_pools

VERIFIER_JSON = """--verifier '{"type": "format", "weight": 0.1}'"""
"""A verifier with options, as a shell takes it."""
VerifierOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VERIFIER",
        help='type of a verifier, or JSON such as \'{"type": "format", "weight": 0.1}\'; '
        "may be repeated, and several types may be separated by commas; accuracy=0.5 has a "
        "weight",
    ),
]
ReferenceFormatOption = Annotated[
    str | None,
    typer.Option(
        help="rows are as their data set ships them, in this format of docs/datasets.md; auto: "
        "the one that fits"
    ),
]


@takes_settings(EngineSettings)
def score(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl",
            help="rows with `completion` or `completions`, and with a `reference` or with "
            "`answer`, `tests`, ...; and with `verifiers` or a `profile` of their own where these "
            "are to judge a row; - is standard input",
        ),
    ],
    *,
    verifier: VerifierOption = None,
    profile: Annotated[
        str | None, typer.Option(help="instead of --verifier: a list of verifiers by name")
    ] = None,
    reference_format: ReferenceFormatOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl",
            help="where verdicts go; rows that it has already are not scored again; - or none: "
            "standard output, the summary on standard error",
        ),
    ] = None,
    settings: EngineSettings,
) -> None:
    """Score the rows of a file, without a server.

    Settings of the judges are those of `serve`, variables included. The status is 1 if a verdict
    is `failed` or none is `scored`, 2 if nothing can be done.
    """
    hide_process()
    try:
        verifiers = _verifiers(verifier or [], profile, settings)
        if out is not None and str(out) != "-":
            status = _score(
                file, verifiers, reference_format, out=out, settings=settings, told=sys.stdout
            )
        else:
            with TemporaryDirectory() as folder:
                out = Path(folder, "scored.jsonl")
                status = _score(
                    file, verifiers, reference_format, out=out, settings=settings, told=sys.stderr
                )
                with out.open(encoding="utf-8") as lines:
                    sys.stdout.writelines(lines)
    except BrokenPipeError:
        raise  # of the output: no file is at fault
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else error)
    except ValueError as error:
        fail(error)
    raise typer.Exit(status)


def _verifiers(given: list[str], profile: str | None, settings: EngineSettings) -> Verifiers:
    if given and profile:
        raise BadFile("give --verifier (one or more) or --profile, and not both")
    if not given and not profile:
        return []  # each row must have its own
    if profile is not None:
        profiles = read_profiles(settings.profiles, settings.enabled)
        if profile not in profiles:
            nearest = did_you_mean(profile, profiles)
            there = f"there are {sorted(profiles)}{nearest}"
            raise BadFile(f"--profile: no profile {profile!r}; {there}")
        return profiles[profile]
    arguments = [one for text in given for one in _read_verifier(text)]
    try:
        return verifiers_from_arguments(arguments)
    except ValueError as error:
        raise BadFile(f"--{error}") from error


def _read_verifier(text: str) -> list[str | dict[str, Any]]:
    """Types of verifiers, or one with its options. Raises BadFile."""
    if not text.startswith(("{", "[")):
        return [_with_weight(part.strip()) for part in text.split(",")]
    try:
        found = strict_json.loads(text)
    except ValueError as error:
        why = f"is not JSON ({error}); write it as {VERIFIER_JSON}"
        raise BadFile(f"--verifier: {text!r} {why}") from error
    return found if isinstance(found, list) else [found]


def _with_weight(text: str) -> str | dict[str, Any]:
    """A type of a verifier, with a weight where one follows: `accuracy=0.5`. Raises BadFile."""
    name, sign, weight = text.partition("=")
    if not sign:
        return text
    try:
        return {"type": name.strip(), "weight": float(weight)}
    except ValueError as error:
        expected = "expected a number behind the =, as in accuracy=0.5"
        raise BadFile(f"--verifier: {text!r}: {expected}") from error


def _score(
    given: Path,
    verifiers: Verifiers,
    reference_format: str | None,
    *,
    out: Path,
    settings: EngineSettings,
    told: TextIO,
) -> bool:
    """Write verdicts, tell the summary; True if some failed or none has a score."""
    file, name = input_file(given), input_name(given)
    if out.resolve() == file.resolve():
        raise BadFile(f"{out} has the rows to be scored: choose another --out")
    try:
        groups = read_groups(file, reference_format)
        profiles = read_profiles(settings.profiles, settings.enabled)
        groups = with_profiles(groups, verifiers, profiles)
    except ValueError as error:  # BadFile, or a text that is not UTF-8
        raise BadFile(f"{name}: {error}") from error
    # A pipe has the time of its last byte, which says nothing about the rows.
    has_changed = file.is_file() and out.exists() and file.stat().st_mtime > out.stat().st_mtime
    done = resume(out, verifiers, groups)
    asyncio.run(_score_rows(groups, verifiers, out=out, done=done, settings=settings))
    counts, messages = count_verdicts(out)
    if done:
        old = f"; {name} was changed since, and {out} keeps the verdicts on them as they were"
        print(f"{len(done)} rows were scored before{old if has_changed else ''}", file=told)
    print(score_summary(counts, messages), file=told)
    outcomes = {outcome for _, outcome, _ in counts}
    return "failed" in outcomes or "scored" not in outcomes


async def _score_rows(
    groups: list[Group],
    verifiers: Verifiers,
    *,
    out: Path,
    done: set[int],
    settings: EngineSettings,
) -> None:
    every = chain(verifiers, *(group.verifiers or () for group in groups))
    needed = tuple({verifier.type for verifier in every})
    async with AsyncExitStack() as stack:
        pools = await start_pools(settings.model_copy(update={"enabled": needed}), stack)
        models = await start_models(settings, stack)
        cached = settings.max_cached_verdicts
        lean = await start_lean(settings, stack)
        scheduler = Scheduler(pools, max_cached_verdicts=cached, model=models, lean=lean)
        progress = stack.enter_context(progress_bar())
        bar = progress.add_task("scoring", total=len(groups), completed=len(done))
        await score_rows(
            scheduler,
            groups,
            verifiers=verifiers,
            out=out,
            done=done,
            on_scored=lambda number: progress.advance(bar, number),
        )
