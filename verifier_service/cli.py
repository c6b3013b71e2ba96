"""The command line of the service. Flags and environment are one thing: `Settings`."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Action, ArgumentParser, Namespace
from contextlib import AsyncExitStack
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TextIO, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    CliApp,
    CliPositionalArg,
    CliSettingsSource,
    CliSubCommand,
    SettingsConfigDict,
    SettingsError,
)
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from verifier_service.app import create_app
from verifier_service.code.check_tests import (
    BadRows,
    Misfit,
    Row,
    find_misfits,
    misfit_summary,
    read_rows,
)
from verifier_service.code.languages import LanguageName
from verifier_service.engine.scheduler import Scheduler
from verifier_service.file_scoring import BadFile, count_verdicts, read_groups, resume, score_rows
from verifier_service.file_scoring import score_summary as summary_of_scores
from verifier_service.http.api_keys import hash_of, new_key
from verifier_service.profiles import Verifiers, read_profiles, verifiers_from_arguments
from verifier_service.sandbox.doctor import diagnose
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer, SandboxError
from verifier_service.sandbox.layers import hide_process
from verifier_service.schemas import Group
from verifier_service.server import CannotServe, serve
from verifier_service.settings import EngineSettings, Settings, usable_cores
from verifier_service.verifier import Verifier
from verifier_service.verifiers import VERIFIERS
from verifier_service.verifiers.code import Code
from verifier_service.worker_pools import start_pools

READ_VARIABLES = ("serve", "score")
"""The commands that have the service's settings, each of which is a variable too."""
JSON_FORMS = {"--verifier": """; write it as --verifier '{"type": "format", "weight": 0.1}'"""}
"""What a flag takes that may be JSON, as a shell has to be told it."""
POSITIONAL = get_args(CliPositionalArg[str])[1]
"""What marks the fields that are no flags."""
PLACEHOLDERS = {"int": "N", "float": "N", "str": "TEXT", "Path": "PATH"}
"""What stands for a flag's value in the help, by the name of its type."""


class Serve(Settings):
    """Serve the scoring API. Each flag is also an environment variable, such as VERIFIER_PORT."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    def cli_cmd(self) -> None:
        """Serve until SIGINT or SIGTERM."""
        hide_process()
        try:
            serve(self)
        except CannotServe as error:
            print(error, file=sys.stderr)  # noqa: T201
            sys.exit(2)


class Doctor(BaseModel):
    """Check the sandbox: print its layers, and try what must not be possible in it."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    require: tuple[Layer, ...] = tuple(sorted(COMMON_LAYERS))
    """layers that must be in force, separated by commas; default: rlimits, capabilities,
    no_new_privs, landlock, seccomp"""

    def cli_cmd(self) -> None:
        """Print what is found; end with status 1 if a layer is missing or a check fails."""
        diagnosis = asyncio.run(diagnose(required=frozenset(self.require)))
        print(diagnosis)  # noqa: T201
        sys.exit(not diagnosis.is_healthy)


class CheckTests(BaseModel):
    """Judge the reference solutions of a data set by its own tests, and list those that fail."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    file: CliPositionalArg[Path]
    """JSONL: each row has a solution, bare or in a fenced block, and tests as in reference.tests:
    an object of type stdio (with cases), function (entry_point, cases) or asserts (code), or with
    inputs and outputs; see docs/code.md"""
    solution_column: str = "solution"
    """column of the reference solutions"""
    tests_column: str = "tests"
    """column of the tests"""
    workers: Annotated[int, Field(gt=0, default_factory=usable_cores)]
    """programs at the same time; default: the usable CPU cores"""
    language: LanguageName = "python"
    """language of the solutions"""

    def cli_cmd(self) -> None:
        """Print the misfits; end with status 1 if there are any, 2 if nothing can be checked."""
        hide_process()
        try:
            rows = read_rows(
                self.file, solution_column=self.solution_column, tests_column=self.tests_column
            )
            misfits = asyncio.run(self._find_misfits(rows))
        except (BadRows, OSError, UnicodeDecodeError, SandboxError) as error:
            why = error.strerror if isinstance(error, OSError) else None
            print(f"{self.file}: {why or error}", file=sys.stderr)  # noqa: T201
            sys.exit(2)
        for misfit in misfits:
            print(misfit)  # noqa: T201
        print(misfit_summary(len(rows), misfits))  # noqa: T201
        sys.exit(bool(misfits))

    async def _find_misfits(self, rows: list[Row]) -> list[Misfit]:
        verifier = Code(language=self.language, reveal_expected=True)
        columns = (*Progress.get_default_columns(), MofNCompleteColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("judging", total=len(rows))
            return await find_misfits(
                rows,
                verifier=verifier,
                num_workers=self.workers,
                on_judged=lambda: progress.advance(bar),
            )


class Score(EngineSettings):
    """Score the rows of a file, without a server; settings of what judges are those of `serve`."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    file: CliPositionalArg[Path]
    """JSONL: `completion` or `completions` with a `reference`, or with `answer`, `tests`, ..."""
    verifier: tuple[str | dict[str, Any], ...] = ()
    """type of a verifier, or JSON such as '{"type": "format", "weight": 0.1}'; may be repeated, and
    several types may be separated by commas"""
    profile: str | None = None
    """instead of --verifier: a list of verifiers by name"""
    out: Path | None = None
    """JSONL to write; rows that it has already are not scored again; - or none: standard output,
    the summary on standard error"""

    def cli_cmd(self) -> None:
        """Print what came of it; end with status 1 if verdicts failed or none has a score, 2 if
        nothing can be done."""
        hide_process()
        try:
            if self.out is None or str(self.out) == "-":
                with TemporaryDirectory() as folder:
                    status = self._score(Path(folder, "scored.jsonl"), sys.stderr)
                    with Path(folder, "scored.jsonl").open(encoding="utf-8") as lines:
                        sys.stdout.writelines(lines)
            else:
                status = self._score(self.out, sys.stdout)
        except BrokenPipeError:
            raise  # of standard output: no file is at fault
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            print(f"{place}{error.strerror or error}", file=sys.stderr)  # noqa: T201
            sys.exit(2)
        except ValueError as error:
            print(error, file=sys.stderr)  # noqa: T201
            sys.exit(2)
        sys.exit(status)

    def _score(self, out: Path, told: TextIO) -> bool:
        """Write the result, tell the summary; whether verdicts failed or none has a score."""
        verifiers = self._verifiers()
        groups = self._groups(out)
        done = resume(out, verifiers, len(groups))
        asyncio.run(self._score_rows(groups, verifiers, out=out, done=done))
        counts, messages = count_verdicts(out)
        if done:
            print(f"{len(done)} rows were scored before", file=told)
        print(summary_of_scores(counts, messages), file=told)
        outcomes = {outcome for _, outcome, _ in counts}
        return "failed" in outcomes or "scored" not in outcomes

    def _groups(self, out: Path) -> list[Group]:
        if out.resolve() == self.file.resolve():
            raise BadFile(f"{out} has the rows to be scored: choose another --out")
        try:
            return read_groups(self.file)
        except ValueError as error:  # BadFile, or a text that is not UTF-8
            raise BadFile(f"{self.file}: {error}") from error

    def _verifiers(self) -> Verifiers:
        if bool(self.verifier) == bool(self.profile):
            raise BadFile("give --verifier (one or more) or --profile, and not both")
        if self.profile is not None:
            profiles = read_profiles(self.profiles, self.enabled)
            if self.profile not in profiles:
                raise BadFile(
                    f"--profile: no profile {self.profile!r}; there are {sorted(profiles)}"
                )
            return profiles[self.profile]
        try:
            return verifiers_from_arguments(self.verifier)
        except ValueError as error:
            raise BadFile(f"--{error}") from error

    async def _score_rows(
        self, groups: list[Group], verifiers: Verifiers, *, out: Path, done: set[int]
    ) -> None:
        columns = (*Progress.get_default_columns(), MofNCompleteColumn())
        async with AsyncExitStack() as stack:
            needed = {verifier.type for verifier in verifiers}
            pools = await start_pools(self.model_copy(update={"enabled": tuple(needed)}), stack)
            scheduler = Scheduler(pools, max_cached_verdicts=self.max_cached_verdicts)
            bars = Progress(*columns, console=Console(stderr=True), transient=True)
            with bars as progress:
                bar = progress.add_task("scoring", total=len(groups), completed=len(done))
                await score_rows(
                    scheduler,
                    groups,
                    verifiers=verifiers,
                    out=out,
                    done=done,
                    on_scored=lambda number: progress.advance(bar, number),
                )


class ListVerifiers(BaseModel):
    """List the verifiers: what each gives, needs and can be told; of one, each of its options."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    name: CliPositionalArg[str | None] = None
    """of one verifier: its options with type, default and meaning"""

    def cli_cmd(self) -> None:
        """Print them; end with status 2 if there is none of the name."""
        if self.name is not None:
            self._print_options(self.name)
            return
        for name, verifier in VERIFIERS.items():
            low, high = verifier.score_range
            print(f"{name}  [{low:g} to {high:g}]\n  {verifier.purpose}")  # noqa: T201
            if verifier.needs:
                needs = ", ".join(f"reference.{key}" for key in verifier.needs)
                print(f"  needs: {needs}")  # noqa: T201
            options = [key for key in verifier.field_names() if key not in Verifier.field_names()]
            if options:
                print(f"  options: {', '.join(options)}")  # noqa: T201
            reasons = ", ".join(reason.value for reason in verifier.reasons)
            print(f"  reasons: {reasons}\n")  # noqa: T201

    def _print_options(self, name: str) -> None:
        if name not in VERIFIERS:
            print(  # noqa: T201
                f"no verifier {name!r}; there are {', '.join(VERIFIERS)}", file=sys.stderr
            )
            sys.exit(2)
        properties = VERIFIERS[name].model_json_schema()["properties"]
        for option, schema in properties.items():
            if option != "type":
                default = json.dumps(schema.get("default"))
                print(f"{option}: {_type_in(schema)}, default {default}")  # noqa: T201
                print(f"  {schema.get('description', '')}".rstrip())  # noqa: T201


def _type_in(schema: dict[str, Any]) -> str:
    """The type of an option in JSON, or its values."""
    if "anyOf" in schema:
        return " or ".join(map(_type_in, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if "items" in schema:
        return f"array of {_type_in(schema['items'])}"
    return str(schema.get("type", "any"))


class OpenApi(BaseModel):
    """Print the OpenAPI document of the service, from which clients can be generated."""

    def cli_cmd(self) -> None:
        """Print it."""
        print(json.dumps(create_app(Settings()).openapi(), indent=1))  # noqa: T201


class NewKey(BaseModel):
    """Make an API key. Keep the key; give the service only its hash."""

    def cli_cmd(self) -> None:
        """Print both."""
        key = new_key()
        print(f"key:  {key}\nhash: {hash_of(key)}")  # noqa: T201


class VerifierService(BaseSettings):
    """A reward verifier: judges model completions, in batches, over HTTP."""

    model_config = SettingsConfigDict(
        case_sensitive=True,
        cli_avoid_json=True,
        cli_enforce_required=True,
        cli_hide_none_type=True,
        cli_kebab_case=True,
        cli_prog_name="verifier-service",
        cli_use_class_docs_for_groups=True,
        env_prefix="VERIFIER_COMMAND_",  # so that a variable `score` says nothing to us
    )

    serve: CliSubCommand[Serve]
    doctor: CliSubCommand[Doctor]
    check_tests: CliSubCommand[CheckTests]
    score: CliSubCommand[Score]
    verifiers: CliSubCommand[ListVerifiers]
    openapi: CliSubCommand[OpenApi]
    new_key: CliSubCommand[NewKey]

    def cli_cmd(self) -> None:
        """Run the subcommand."""
        CliApp.run_subcommand(self)


def run(arguments: list[str] | None = None) -> None:
    """Run the command line; ends the process with a message when a setting is wrong."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        parser = CliSettingsSource[VerifierService](
            VerifierService, add_argument_method=_add_argument, parse_args_method=_parse_arguments
        )
        CliApp.run(VerifierService, arguments or ["--help"], cli_settings_source=parser)
    except ValidationError as error:
        for problem in error.errors():
            print(_complaint(problem), file=sys.stderr)  # noqa: T201
        sys.exit(2)
    except SettingsError as error:  # a value that is not JSON where it begins as JSON does
        print(_bad_json(arguments, error) or error, file=sys.stderr)  # noqa: T201
        sys.exit(2)


def _add_argument(parser: ArgumentParser, *names: str, **given: Any) -> Action:
    """Add a flag to the command line, with a help for people: no types, no defaults of Python's."""
    metavar = given.get("metavar", "")
    if "--verifier" in names:
        given["metavar"] = "VERIFIER"
    elif metavar.startswith("tuple["):
        given["metavar"] = "LIST"
    elif metavar in PLACEHOLDERS:
        given["metavar"] = PLACEHOLDERS[metavar]
    described, _, default = given["help"].rpartition(" (default")
    if "default: " in described or default in (": None)", ": ())"):
        given["help"] = described
    return parser.add_argument(*names, **given)


def _parse_arguments(
    parser: ArgumentParser, arguments: list[str], namespace: Namespace | None = None
) -> Namespace:
    """As argparse does it, but an unknown flag is told as one of the command that it is behind."""
    found, unknown = parser.parse_known_args(arguments, namespace)
    if not unknown:
        return found
    has_command = not arguments[0].startswith("-")
    command = f"{parser.prog} {arguments[0]}" if has_command else parser.prog
    names = [one.partition("=")[0] for one in unknown if one.startswith("-")]
    flags = _flags(arguments[0]) if has_command else []
    near = [name for one in names for name in get_close_matches(one, flags, n=1)]
    meant = f"; did you mean {', '.join(near)}?" if near else "."
    print(  # noqa: T201
        f"{command}: unrecognized arguments: {' '.join(unknown)}{meant} See {command} --help",
        file=sys.stderr,
    )
    sys.exit(2)


def _flags(command: str) -> list[str]:
    """Those of a command; argparse does not tell them."""
    field = VerifierService.model_fields[command.replace("-", "_")]
    models = [one for one in get_args(field.annotation) if one is not type(None)]
    return [
        f"--{name.replace('_', '-')}"
        for one in models
        for name, field in one.model_fields.items()
        if POSITIONAL not in field.metadata
    ]


def _bad_json(arguments: list[str], found: SettingsError) -> str | None:
    """What is wrong with the first flag whose value begins as JSON does and is none."""
    separate = [
        part for one in arguments for part in one.split("=", 1 if one.startswith("--") else 0)
    ]
    for flag, value in pairwise(separate):
        if flag.startswith("--") and value.startswith(("{", "[")):
            try:
                json.loads(value)
            except ValueError:
                why = found.__cause__ or found
                return f"{flag}: {value!r} is not JSON ({why}){JSON_FORMS.get(flag, '')}"
    return None


def _complaint(problem: ErrorDetails) -> str:
    """One line, by the flag and, where there is one, the variable that the value came from."""
    command, field = (*map(str, problem["loc"]), "settings", "settings")[:2]
    name = f"--{field.replace('_', '-')}"
    if command in READ_VARIABLES and field in Settings.model_fields:
        name += f" / VERIFIER_{field.upper()}"
    found = "" if field.startswith("api_key") else f" (found {problem['input']!r})"[:200]
    message = problem["msg"].removeprefix("Value error, ")
    return f"{name}: {message}{found}"
