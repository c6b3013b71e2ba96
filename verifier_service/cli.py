"""The command line of the service. Flags of `serve` and `score` are made from `settings`.

Commands import what others need not wait for, such as the server, when they run.
"""

from __future__ import annotations

import asyncio
import json
import select
import sys
from collections.abc import Iterable
from contextlib import AsyncExitStack
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NoReturn, TextIO

import typer
from typer.core import TyperGroup

import verifier_service
from verifier_service import strict_json
from verifier_service.audit.command import audit
from verifier_service.code import languages
from verifier_service.code.check_tests import (
    BadRows,
    Misfit,
    Row,
    find_misfits,
    misfit_summary,
    read_rows,
)
from verifier_service.code.languages import LanguageName
from verifier_service.console import example, fail, progress_bar
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
from verifier_service.fleet.settings import FleetSettings
from verifier_service.history.command import query, replay_store
from verifier_service.http.api_keys import hash_of, new_key
from verifier_service.inspection.command import inspect
from verifier_service.model_judge.start import start_models
from verifier_service.profiles import Verifiers, read_profiles, verifiers_from_arguments
from verifier_service.proofs.lean_start import start_lean
from verifier_service.proofs.prover_lines import prover_lines
from verifier_service.sandbox.doctor import diagnose
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer, SandboxError
from verifier_service.sandbox.layers import hide_process
from verifier_service.sandbox.runner import Runner
from verifier_service.schemas import Group
from verifier_service.settings import EngineSettings, Settings, usable_cores
from verifier_service.settings_options import takes_settings
from verifier_service.validation import did_you_mean
from verifier_service.verifier import Verifier
from verifier_service.verifiers import VERIFIERS
from verifier_service.verifiers.code import Code
from verifier_service.worker_pools import start_pools

VERIFIER_JSON = """--verifier '{"type": "format", "weight": 0.1}'"""
"""A verifier with options, as a shell takes it."""


class Commands(TyperGroup):
    """Commands that end quietly, with status 1, when nobody reads their output, as under `head`.

    Typer takes every broken pipe for that of the output; one of another process is a bug.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command and flush what it printed, while Typer still catches the error."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            if not _is_broken(sys.stdout):
                raise RuntimeError("a pipe to another process broke") from error
            raise
        return result


def _is_broken(output: TextIO) -> bool:
    poll = select.poll()
    poll.register(output.fileno(), 0)  # a broken pipe is reported unasked
    return bool(poll.poll(0))


app = typer.Typer(
    cls=Commands,
    help="A reward verifier: judges model completions, in batches, over HTTP.",
    rich_markup_mode=None,  # plain text, in which commands can be copied from lines
    pretty_exceptions_enable=False,
    epilog=example("verifier-service serve --port 8080"),
)


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process; without arguments the help is shown."""
    arguments = sys.argv[1:] if arguments is None else arguments
    app(args=arguments or ["--help"], prog_name="verifier-service")
    raise AssertionError("typer ends the process")


def _show_version(asked: bool) -> None:
    if asked:
        print(f"verifier-service {verifier_service.__version__}")  # noqa: T201
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="show the version"),
    ] = False,
) -> None:
    pass


@app.command(epilog=example("verifier-service serve --port 9000 --enabled accuracy,format"))
@takes_settings(Settings)
def serve(*, settings: Settings) -> None:
    """Serve the scoring API.

    Each flag is also an environment variable, such as VERIFIER_PORT.
    """
    from verifier_service.server import CannotServe  # noqa: PLC0415
    from verifier_service.server import serve as run_server  # noqa: PLC0415

    hide_process()
    try:
        run_server(settings)
    except CannotServe as error:
        fail(error)


@app.command(epilog=example("verifier-service fleet --judges 2 --max-judges 4"))
@takes_settings(FleetSettings)
def fleet(*, settings: FleetSettings) -> None:
    """Serve the scoring API by a Ray cluster on this machine."""
    from verifier_service.fleet.command import run_fleet  # noqa: PLC0415
    from verifier_service.server import CannotServe  # noqa: PLC0415

    try:
        run_fleet(settings)
    except CannotServe as error:
        fail(error)


@app.command(epilog=example("verifier-service doctor --require landlock,seccomp,user"))
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
    language, and Coq, and gives each Lean server a proof. The status is 1 if a layer is missing or
    a check fails; a language or a proof checker that is missing does not count.
    """
    required = {name.strip() for name in require.split(",") if name.strip()}
    if unknown := sorted(required - set(Layer)):
        raise typer.BadParameter(
            f"no layer {', '.join(unknown)}; there are {', '.join(Layer)}", param_hint="--require"
        )
    diagnosis = asyncio.run(diagnose(required=frozenset(map(Layer, required))))
    print(diagnosis)  # noqa: T201
    if diagnosis.is_healthy:
        for line in [*asyncio.run(_language_lines()), *asyncio.run(prover_lines())]:
            print(line)  # noqa: T201
    raise typer.Exit(not diagnosis.is_healthy)


async def _language_lines() -> list[str]:
    """A line for each language: whether its smallest program runs in the sandbox."""
    async with Runner(1, tools=languages.tools) as runner:
        problems = await languages.language_problems(runner)
    lines = ["languages of programs:"]
    for status in languages.language_statuses():
        problem = problems.get(status.name)
        found = f"works, {status.version}" if problem is None else f"- {problem}"
        lines.append(f"  {status.name:13} {found}")
    return lines


@app.command(epilog=example("verifier-service check-tests problems.jsonl --language cpp"))
def check_tests(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl",
            help="each row has a solution, bare or in a fenced block, and tests as in "
            "reference.tests: an object of type stdio (with cases), function (entry_point, cases) "
            "or asserts (code, entry_point, module), or with inputs and outputs; see docs/code.md",
        ),
    ],
    solution_column: Annotated[str, typer.Option(help="column of the solutions")] = "solution",
    tests_column: Annotated[str, typer.Option(help="column of the tests")] = "tests",
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="programs at the same time; default: the usable CPU cores"
        ),
    ] = None,
    language: Annotated[LanguageName, typer.Option(help="language of the solutions")] = "python",
) -> None:
    """Judge reference solutions by their own tests.

    Lists those that fail. The status is 1 if one fails, 2 if nothing can be checked.
    """
    hide_process()
    try:
        rows = read_rows(file, solution_column=solution_column, tests_column=tests_column)
        misfits = asyncio.run(_find_misfits(rows, language, workers or usable_cores()))
    except (BadRows, OSError, UnicodeDecodeError, SandboxError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        fail(f"{file}: {why or error}")
    for misfit in misfits:
        print(misfit)  # noqa: T201
    print(misfit_summary(len(rows), misfits))  # noqa: T201
    raise typer.Exit(bool(misfits))


async def _find_misfits(rows: list[Row], language: LanguageName, num_workers: int) -> list[Misfit]:
    with progress_bar() as progress:
        bar = progress.add_task("judging", total=len(rows))
        return await find_misfits(
            rows,
            verifier=Code(language=language, reveal_expected=True),
            num_workers=num_workers,
            on_judged=lambda: progress.advance(bar),
        )


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


@app.command(
    epilog=example("verifier-service score rows.jsonl --verifier accuracy --out scored.jsonl")
)
@takes_settings(EngineSettings)
def score(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl",
            help="rows with `completion` or `completions`, and with a `reference` or with "
            "`answer`, `tests`, ...; and with `verifiers` or a `profile` of their own where these "
            "are to judge a row",
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
    file: Path,
    verifiers: Verifiers,
    reference_format: str | None,
    *,
    out: Path,
    settings: EngineSettings,
    told: TextIO,
) -> bool:
    """Write verdicts, tell the summary; True if some failed or none has a score."""
    if out.resolve() == file.resolve():
        raise BadFile(f"{out} has the rows to be scored: choose another --out")
    try:
        groups = read_groups(file, reference_format)
        profiles = read_profiles(settings.profiles, settings.enabled)
        groups = with_profiles(groups, verifiers, profiles)
    except ValueError as error:  # BadFile, or a text that is not UTF-8
        raise BadFile(f"{file}: {error}") from error
    has_changed = out.exists() and file.stat().st_mtime > out.stat().st_mtime
    done = resume(out, verifiers, groups)
    asyncio.run(_score_rows(groups, verifiers, out=out, done=done, settings=settings))
    counts, messages = count_verdicts(out)
    if done:
        old = f"; {file} was changed since, and {out} keeps the verdicts on them as they were"
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


app.command(
    name="inspect",
    epilog=example(
        "verifier-service inspect problems.jsonl --report report.html --write clean.jsonl"
    ),
)(inspect)
app.command(epilog=example("verifier-service audit runs/first --report audit.html"))(audit)
app.command(name="replay", epilog=example("verifier-service replay verdicts --out changes.jsonl"))(
    replay_store
)
app.command(
    epilog=example(
        "verifier-service query --store verdicts "
        '"SELECT verifier, reason, count(*) FROM verdicts GROUP BY ALL"'
    ),
)(query)


@app.command(epilog=example("verifier-service verifiers accuracy"))
def verifiers(
    name: Annotated[
        str | None,
        typer.Argument(help="show the options of this verifier, with type, default and meaning"),
    ] = None,
) -> None:
    """List the verifiers, or the options of one."""
    if name is None:
        for one, verifier in VERIFIERS.items():
            print("\n".join(_described(one, verifier)), end="\n\n")  # noqa: T201
    elif name in VERIFIERS:
        print("\n".join(_options_of(VERIFIERS[name])))  # noqa: T201
    else:
        nearest = did_you_mean(name, VERIFIERS)
        fail(f"no verifier {name!r}; there are {', '.join(VERIFIERS)}{nearest}")


def _described(name: str, verifier: type[Verifier]) -> Iterable[str]:
    low, high = verifier.score_range
    yield f"{name}  [{low:g} to {high:g}]"
    yield f"  {verifier.purpose}"
    if verifier.needs:
        yield f"  needs: {', '.join(f'reference.{key}' for key in verifier.needs)}"
    options = [key for key in verifier.field_names() if key not in Verifier.field_names()]
    if options:
        yield f"  options: {', '.join(options)}"
    yield f"  reasons: {', '.join(reason.value for reason in verifier.reasons)}"


def _options_of(verifier: type[Verifier]) -> Iterable[str]:
    for option, schema in verifier.model_json_schema()["properties"].items():
        if option != "type":
            yield f"{option}: {_type_in(schema)}, default {json.dumps(schema.get('default'))}"
            yield f"  {schema.get('description', '')}".rstrip()


def _type_in(schema: dict[str, Any]) -> str:
    """The type of an option in JSON, or its values."""
    if "anyOf" in schema:
        return " or ".join(map(_type_in, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if "items" in schema:
        return f"array of {_type_in(schema['items'])}"
    return str(schema.get("type", "any"))


@app.command(epilog=example("verifier-service openapi > openapi.json"))
def openapi() -> None:
    """Print the OpenAPI document of the service.

    Clients can be generated from it.
    """
    from verifier_service.app import create_app  # noqa: PLC0415

    print(json.dumps(create_app(Settings()).openapi(), indent=1))  # noqa: T201


@app.command(name="new-key", epilog=example("verifier-service new-key"))
def make_key() -> None:
    """Make an API key and its hash.

    Keep the key; give the service only the hash, by `serve --api-key-hashes` or
    VERIFIER_API_KEY_HASHES. Clients take the key from REWARD_VERIFIER_API_KEY.
    """
    key = new_key()
    print(f"key:  {key}\nhash: {hash_of(key)}")  # noqa: T201
