"""The environment `verifier_feedback`: the verdict's reason as an observation, several tries.

rollout:
  environment: {path: verifier_feedback, options: {num_tries: 3}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reward_verifier.completion_group import CompletionGroup
from reward_verifier.protocol import score
from reward_verifier.verdict import Verdict
from trainer_client.episodes.environment import EnvironmentLost, Message
from trainer_client.episodes.service_client import ServiceClients
from trainer_client.problems import Problem
from trainer_client.reward.rewards import main_of
from trainer_client.reward.selection import VerifierSelection
from trainer_client.run.rollout_log import PASSING_SCORE


class VerifierFeedback:
    """An episode of several tries, each judged by the verifiers of its problem.

    It is done when the main verifier's score passes, the tries are used up, or the problem cannot
    be judged. Another try costs the episode nothing: the last message alone is scored.

    Args:
        clients: of the service that judges, with the run's section `reward`.
        num_tries: messages that the policy may write.
        role: role of the observations.
    """

    def __init__(self, clients: ServiceClients, *, num_tries: int = 3, role: str = "user") -> None:
        if num_tries < 2:
            raise ValueError(f"num_tries must be at least 2, found {num_tries}")
        self.role = role
        self._config = clients.config
        self._calls = clients.calls()
        self._tries_left = num_tries
        self._problem: Problem | None = None

    @property
    def service_seconds(self) -> float:
        """See `Environment`: all time of a verdict is the service's."""
        return self._calls.service_seconds

    def reset(self, problem: Problem) -> Sequence[Message]:
        """See `Environment`."""
        self._problem = problem
        return problem.messages

    def step(self, message: Message) -> tuple[Any, bool, Mapping[str, float]]:
        """See `Environment`; counts `tries`."""
        self._tries_left -= 1
        if not self._tries_left:
            return None, True, {"tries": 1}
        verdict = self._verdict(message["content"])
        if verdict.score is None or verdict.score >= PASSING_SCORE:
            return None, True, {"tries": 1}
        text = f"That is not accepted: {verdict.why}. Tries left: {self._tries_left}."
        return text, False, {"tries": 1}

    def _verdict(self, text: str) -> Verdict:
        """The main verifier's verdict; raises EnvironmentLost where the service has none."""
        problem = self._problem
        assert problem is not None
        key = main_of(problem, self._config)
        selection = VerifierSelection(self._config.verifiers)
        if problem.reward is not None and problem.reward.selection is not None:
            selection = problem.reward.selection
        group = CompletionGroup([text], problem.reference, problem.text)
        conversation = score(self._calls.access, selection.wire, [group])
        ((scored,),) = self._calls.converse(conversation)
        verdict = scored.verdicts.get(key)
        if verdict is None or verdict.outcome == "failed":
            why = "has no verdict" if verdict is None else f"failed: {verdict.why}"
            raise EnvironmentLost(f"the verifier {key!r} {why}")
        return verdict
