"""The service, asked before a run: whether it is one, accepts the verifiers, and reads the data."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from reward_verifier.errors import VerifierError, VerifierRejected
from reward_verifier.verdict import Verdicts
from trainer_client.check.findings import Findings
from trainer_client.config.run_config import Config
from trainer_client.dataset import Problem
from trainer_client.reward.verifier_client import (
    SampledText,
    ScoreRequest,
    VerifierClient,
    VerifierSelection,
    question_of,
)

NUM_PROBED = 3
"""Problems whose references the verifiers are asked to read."""
NOTHING = SampledText("", num_tokens=0, truncated=False)
"""An empty completion: wrong, or impossible to judge where the reference cannot be read."""


def check_service(
    config: Config, problems: Sequence[Problem], findings: Findings, *, max_attempts: int
) -> None:
    """Note the problems of the service and of the verifiers, each of which is asked for alone.

    Args:
        config: the run's.
        problems: of the data set; none where it cannot be read.
        findings: what is found is added.
        max_attempts: requests until the service counts as away.
    """
    asked = [("reward", VerifierSelection(config.reward.verifiers))]
    asked += [
        (f"evaluation.{number}", question)
        for number, one in enumerate(config.evaluation)
        if (question := question_of(one)) is not None
    ]
    asked = [(section, one) for section, one in asked if one != VerifierSelection()]
    if not asked:
        return
    with findings.collecting():
        asyncio.run(_ask(config, asked, problems, findings, max_attempts))


async def _ask(
    config: Config,
    asked: Sequence[tuple[str, VerifierSelection]],
    problems: Sequence[Problem],
    findings: Findings,
    max_attempts: int,
) -> None:
    access = config.reward.model_copy(update={"max_attempts": max_attempts})
    async with VerifierClient(access) as client:
        await client.check_ready()
        refused = [line for section, one in asked for line in await _refusals(client, section, one)]
        findings.problems.extend(refused)
        if refused:
            return
        names = ", ".join(verifier.key for verifier in config.reward.verifiers)
        findings.facts.append(f"service: {config.reward.url} accepts {names or 'the evaluations'}")
        if config.reward.verifiers:
            await _probe(client, problems, findings)


async def _refusals(
    client: VerifierClient, section: str, selection: VerifierSelection
) -> list[str]:
    """A line for each verifier, or for the profile, that the service refuses."""
    if selection.profile is not None:
        alone = {f"{section}.profile": selection}
    else:
        alone = {
            f"{section}.verifiers.{number}": VerifierSelection((verifier,))
            for number, verifier in enumerate(selection.verifiers)
        }
    lines = []
    for setting, one in alone.items():
        try:
            await client.check_accepted(one)
        except VerifierRejected as error:
            message = " ".join(str(error).split())
            # Each verifier is asked for alone, so the service calls it the first.
            lines.append(
                f"{setting}{message.rpartition(': verifiers.0')[2]}"
                if ": verifiers.0" in message
                else f"{setting}: {message}"
            )
    return lines


async def _probe(client: VerifierClient, problems: Sequence[Problem], findings: Findings) -> None:
    """Note the verifiers that cannot read the references of the first, middle and last problem."""
    step = max(1, (len(problems) - 1) // (NUM_PROBED - 1))
    unread: dict[str, list[str]] = {}
    probed = problems[::step][:NUM_PROBED]
    for problem in probed:
        for name, why in _unjudged(await _judge_nothing(client, problem)).items():
            unread.setdefault(name, []).append(f"{why}, as in problem {problem.id}")
    for name, reasons in unread.items():
        line = (
            f"verifier {name!r} cannot judge {len(reasons)} of {len(probed)} problems that were "
            f"tried: {reasons[0]}. Are dataset.reference_columns right?"
        )
        (findings.problems if len(reasons) == len(probed) else findings.warnings).append(line)


async def _judge_nothing(client: VerifierClient, problem: Problem) -> Verdicts:
    """The verdicts on an empty completion; none where the service fails, as it may later not."""
    request = ScoreRequest(
        completions=(NOTHING, NOTHING), reference=problem.reference, prompt=problem.text
    )
    try:
        return (await client.score(request))[0]
    except VerifierError:
        return {}


def _unjudged(verdicts: Verdicts) -> dict[str, str]:
    """The names of `unverifiable` verdicts with what the service says of them."""
    return {name: one.why for name, one in verdicts.items() if one.outcome == "unverifiable"}
