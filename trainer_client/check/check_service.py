"""The service, asked before a run: whether it is one, accepts the verifiers, and reads the data."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from reward_verifier.errors import VerifierError, VerifierRejected, VerifierUnauthorized
from reward_verifier.verdict import Verdicts
from trainer_client.check.findings import Findings
from trainer_client.config.reward_sections import VerifierConfig
from trainer_client.config.run_config import Config
from trainer_client.data_sets import DataSet, questions_of
from trainer_client.problems import Problem
from trainer_client.reward.selection import VerifierSelection
from trainer_client.reward.verifier_client import SampledText, ScoreRequest, VerifierClient

NUM_PROBED = 3
"""Problems whose references the verifiers are asked to read, beside one with an empty reference."""
NOTHING = SampledText("", num_tokens=0, truncated=False)
"""An empty completion: wrong, or impossible to judge where the reference cannot be read."""


@dataclass(frozen=True)
class ReadData:
    """The problems that a check could read."""

    data_sets: list[DataSet] = field(default_factory=list)
    held_out: list[list[Problem]] = field(default_factory=list)
    """Those of each evaluation."""

    @property
    def problems(self) -> list[Problem]:
        """The problems to train on."""
        return [problem for data_set in self.data_sets for problem in data_set.problems]


def check_service(config: Config, data: ReadData, findings: Findings, *, max_attempts: int) -> None:
    """Note the problems of the service and of the verifiers, each of which is asked for alone.

    Args:
        config: the run's.
        data: the problems that could be read.
        findings: what is found is added.
        max_attempts: requests until the service counts as away.
    """
    asked = questions_of(config, data.data_sets, data.held_out)
    if not asked:
        return
    with findings.collecting():
        asyncio.run(_ask(config, asked, data, findings, max_attempts))


async def _ask(
    config: Config,
    asked: Sequence[tuple[str, VerifierSelection]],
    data: ReadData,
    findings: Findings,
    max_attempts: int,
) -> None:
    access = config.reward.model_copy(update={"max_attempts": max_attempts})
    async with VerifierClient(access) as client:
        await client.check_ready()
        try:
            refused = [line for place, one in asked for line in await _refusals(client, place, one)]
        except VerifierUnauthorized as error:  # whatever is asked for
            refused = [f"reward.url: {' '.join(str(error).split())}"]
        findings.problems.extend(refused)
        if refused:
            return
        findings.facts.append(f"service: {config.reward.url} accepts {_names(asked)}")
        for data_set in data.data_sets:
            await _probe(client, data_set, findings)


def _names(asked: Sequence[tuple[str, VerifierSelection]]) -> str:
    """The names of all verifiers and profiles that are asked for."""
    names = (
        name
        for _, one in asked
        for name in (
            [f"profile {one.profile}"]
            if one.profile is not None
            else [verifier.key for verifier in one.verifiers]
        )
    )
    return ", ".join(dict.fromkeys(names))


async def _refusals(client: VerifierClient, place: str, selection: VerifierSelection) -> list[str]:
    """A line for each verifier, or for the profile, that the service refuses."""
    if selection.profile is not None:
        alone = {place: selection}
    else:
        alone = {
            f"{place}.{number}": VerifierSelection((verifier,))
            for number, verifier in enumerate(selection.verifiers)
        }
    lines = []
    for setting, one in alone.items():
        try:
            await client.check_accepted(one)
        except VerifierUnauthorized:
            raise
        except VerifierRejected as error:
            message = " ".join(str(error).split())
            # Each verifier is asked for alone, so the service calls it the first.
            lines.append(
                f"{setting}{message.rpartition(': verifiers.0')[2]}"
                if ": verifiers.0" in message
                else f"{setting}: {message}"
            )
    return lines


async def _probe(client: VerifierClient, data_set: DataSet, findings: Findings) -> None:
    """Note the verifiers that cannot read the references of the problems that are tried."""
    empty = [problem for problem in data_set.problems if _has_empty_reference(problem)]
    unread: dict[str, list[str]] = {}
    probed = _probed(data_set.problems, empty)
    for problem in probed:
        for name, why in _unjudged(await _judge_nothing(client, problem), problem).items():
            place = f"row {problem.row_number} of {data_set.config.path}"
            unread.setdefault(name, []).append(f"{why}, as in {place}")
    for name, reasons in unread.items():
        line = (
            f"verifier {name!r} cannot judge {len(reasons)} of {len(probed)} problems that were "
            f"tried: {reasons[0]}. {_empty_rows(empty)}Are dataset.reference_columns right?"
        )
        (findings.problems if len(reasons) == len(probed) else findings.warnings).append(line)


def _probed(problems: Sequence[Problem], empty: Sequence[Problem]) -> list[Problem]:
    """The first, middle and last problem, and the first of those with an empty reference."""
    step = max(1, (len(problems) - 1) // (NUM_PROBED - 1))
    probed = list(problems[::step][:NUM_PROBED])
    return probed + [one for one in empty[:1] if one.row not in {tried.row for tried in probed}]


def _has_empty_reference(problem: Problem) -> bool:
    """Whether a value of the reference is a text without characters, or an empty list or object."""
    values = problem.reference.values()
    return any(not one.strip() if isinstance(one, str) else one in ([], {}) for one in values)


def _empty_rows(empty: Sequence[Problem]) -> str:
    """A sentence with the number of problems that have an empty reference; no text for none."""
    if not empty:
        return ""
    return f"Rows with an empty reference: {len(empty)}, the first is row {empty[0].row_number}. "


async def _judge_nothing(client: VerifierClient, problem: Problem) -> Verdicts:
    """The verdicts on an empty completion; none where the service fails, as it may later not."""
    request = ScoreRequest(
        completions=(NOTHING, NOTHING),
        reference=problem.reference,
        prompt=problem.text,
        selection=None if problem.reward is None else problem.reward.selection,
    )
    try:
        return (await client.score(request))[0]
    except VerifierError:
        return {}


def _unjudged(verdicts: Verdicts, problem: Problem) -> dict[str, str]:
    """The names of verdicts that are `unverifiable`, or missing, with the reason."""
    found = {name: one.why for name, one in verdicts.items() if one.outcome == "unverifiable"}
    own = problem.reward
    if verdicts and own is not None and own.selection is not None and own.selection.profile:
        names = [one.key for one in own.sources if isinstance(one, VerifierConfig)]
        missing = sorted(set(names) - set(verdicts))
        why = f"profile {own.selection.profile!r} of the service has only {sorted(verdicts)}"
        found |= dict.fromkeys(missing, why)
    return found
