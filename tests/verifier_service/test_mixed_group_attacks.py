"""Groups with verifiers of their own in requests that are wrong, large, late or many at once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from tests.verifier_service.test_score import score
from verifier_service.engine.engine import NoWorkers
from verifier_service.engine.mixed_scoring import scoring_of
from verifier_service.schemas import ScoreRequest
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.accuracy import AccuracyReason
from verifier_service.workers.tasks import EncodedTask, TaskResult

RIGHT, WRONG = r"So \boxed{2}.", r"So \boxed{3}."
NUMBER: dict[str, Any] = {"reference": {"answer": "2"}, "completions": [RIGHT, WRONG]}
BOXED = [{"type": "accuracy"}]
SIZES = {"small": 1, "light": 300, "large": 40_000}
"""Repetitions of a word: a small body, one whose texts are cut out, one with its own process."""


def weighted(weight: float, **given: Any) -> dict[str, Any]:
    return {**NUMBER, "verifiers": [{"type": "accuracy", "weight": weight}], **given}


def sized(size: str, groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The groups behind one with a long completion."""
    padded = {**NUMBER, "verifiers": BOXED, "completions": ["word " * SIZES[size] + RIGHT]}
    return [padded, *groups]


def rewards(groups: list[dict[str, Any]]) -> list[list[float | None]]:
    return [[one["reward"] for one in group["completions"]] for group in groups]


def refusal(http: httpx.Client, groups: list[dict[str, Any]], **request: Any) -> dict[str, Any]:
    """The error of a request that is refused whole, asked for in lines."""
    body = {"groups": groups, **request}
    answer = http.post("/v1/score", json=body, headers={"Accept": "application/x-ndjson"})
    assert answer.status_code == 422, answer.text
    found: dict[str, Any] = answer.json()["error"]
    return found


WRONG_CHOICES: dict[str, tuple[dict[str, Any], str]] = {
    "option": ({"verifiers": [{"type": "accuracy", "tolerence": 1}]}, "verifiers.0.tolerence"),
    "type": ({"verifiers": [{"type": "acuracy"}]}, "verifiers.0"),
    "twice": ({"verifiers": [*BOXED, *BOXED]}, "verifiers"),
    "too_many": (
        {"verifiers": [{"type": "accuracy", "name": f"a{number}"} for number in range(33)]},
        "verifiers",
    ),
    "weight": ({"verifiers": [{"type": "accuracy", "weight": "much"}]}, "verifiers.0.weight"),
    "empty": ({"verifiers": []}, "verifiers"),
    "text": ({"verifiers": "accuracy"}, "verifiers"),
    "unknown": ({"verdicts": BOXED}, "verdicts"),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", WRONG_CHOICES)
def test_one_wrong_group_among_others_is_named_and_nothing_is_judged(
    http: httpx.Client, size: str, name: str
) -> None:
    choice, place = WRONG_CHOICES[name]
    groups = sized(size, [weighted(1), weighted(2), {**NUMBER, **choice}, weighted(3)])
    details = refusal(http, groups, profile="math")["details"]
    assert details[0]["field"] == f"groups.3.{place}"


@pytest.mark.parametrize("size", SIZES)
def test_an_unknown_profile_or_two_choices_are_named_at_any_size(
    http: httpx.Client, size: str
) -> None:
    unknown = refusal(http, sized(size, [weighted(1), {**NUMBER, "profile": "maths"}]))
    assert "no profile 'maths'" in unknown["message"]
    both = refusal(http, sized(size, [{**NUMBER, "verifiers": BOXED, "profile": "math"}]))
    assert "groups.1: give either `verifiers` or `profile`" in both["message"]


@pytest.mark.parametrize("size", SIZES)
def test_equal_verifiers_of_other_weights_have_rewards_of_their_own(
    http: httpx.Client, size: str
) -> None:
    groups = sized(size, [weighted(weight) for weight in (1, 0.5, -2, 0)])
    found = score(http, {"groups": groups})["groups"][1:]
    assert rewards(found) == [[1, 0], [0.5, 0], [-2, 0], [None, None]]
    body = {"groups": groups}
    lines = http.post("/v1/score", json=body, headers={"Accept": "application/x-ndjson"}).text
    streamed = sorted(map(json.loads, lines.splitlines()[:-1]), key=lambda one: one["index"])
    assert rewards(streamed[1:]) == rewards(found)


@pytest.mark.parametrize("size", SIZES)
def test_verdicts_have_the_names_and_the_order_of_their_group(
    http: httpx.Client, size: str
) -> None:
    one = [
        {"type": "exact_match", "name": "b", "weight": 1},
        {"type": "exact_match", "name": "a", "weight": 10, "case_sensitive": True},
    ]
    reference = {"reference": {"answer": "Yes"}, "completions": ["yes", "Yes"]}
    groups = [{**reference, "verifiers": one}, {**reference, "verifiers": one[::-1]}]
    found = score(http, {"groups": sized(size, groups)})["groups"][1:]
    names = [[list(each["verdicts"]) for each in group["completions"]] for group in found]
    assert names == [[["b", "a"]] * 2, [["a", "b"]] * 2]
    assert rewards(found)[0] == rewards(found)[1]


def test_groups_of_one_choice_are_not_judged_as_one_group(http: httpx.Client) -> None:
    by_length = {"verifiers": [{"type": "length"}], "reference": {"answer": "2"}}
    short = {**by_length, "completions": [r"\boxed{2}", r"so it is \boxed{2}"]}
    long = {**by_length, "completions": ["w " * 50 + r"\boxed{2}", "w " * 90 + r"\boxed{2}"]}
    together = score(http, {"groups": [short, weighted(1), long, short]})["groups"]
    assert rewards(together) == [[0.5, -0.5], [1, 0], [0.5, -0.5], [0.5, -0.5]]


def test_explanations_of_all_groups_together_are_counted(http: httpx.Client) -> None:
    two = [{"type": "accuracy"}, {"type": "exact_match"}]
    groups = [{**NUMBER, "verifiers": two, "completions": [RIGHT] * 257} for _ in range(2)]
    body = {"groups": groups, "explain": True}
    assert http.post("/v1/score", json=body).status_code == 413
    twin = {**body, "groups": [{**one, "completions": [RIGHT] * 256} for one in groups]}
    answer = score(http, twin)
    every = [one for group in answer["groups"] for one in group["completions"]]
    assert all(verdict["explanation"] for one in every for verdict in one["verdicts"].values())


def test_a_late_request_has_a_verdict_for_each_and_no_0(http: httpx.Client) -> None:
    groups = [
        {"completions": [f"{number}"], "verifiers": [{"type": "regex", "pattern": f"^{number}$"}]}
        for number in range(300)
    ]
    answer = score(http, {"groups": groups, "deadline_seconds": 1e-6})
    for group in answer["groups"]:
        (completion,) = group["completions"]
        (verdict,) = completion["verdicts"].values()
        assert (completion["reward"], verdict["reason"]) in [(None, "deadline"), (1, "matched")]


@pytest.mark.parametrize(
    "num_groups",
    [
        pytest.param(400, marks=pytest.mark.quick),
        pytest.param(10_000, marks=pytest.mark.slow),
    ],
)
def test_groups_of_as_many_choices_have_their_own_verdicts(
    http: httpx.Client, num_groups: int
) -> None:
    groups = [
        {
            "completions": [str(number), "no"],
            "verifiers": [{"type": "exact_match", "name": f"v{number}", "weight": number + 1}],
            "reference": {"answer": str(number)},
        }
        for number in range(num_groups)
    ]
    found = score(http, {"groups": groups})["groups"]
    assert rewards(found) == [[number + 1, 0] for number in range(num_groups)]
    assert list(found[-1]["completions"][0]["verdicts"]) == [f"v{num_groups - 1}"]


RIGHT_VERDICT = Verdict(Outcome.SCORED, 1.0, AccuracyReason.EQUAL, 0.0)


class _Refusing:
    """An engine that judges a task at a time, and counts them."""

    keeps_verdicts = False
    max_questions = None
    stored_texts = None

    def __init__(self) -> None:
        self.num_tasks = 0

    def num_workers(self, kind: str) -> int:
        return 1 if kind == "text" else 0

    async def judge(
        self, task: EncodedTask, verdicts: list[TaskResult], keys: Sequence[bytes] = ()
    ) -> None:
        self.num_tasks += 1
        await asyncio.sleep(0)
        verdicts += [RIGHT_VERDICT] * task.num_completions

    async def look_up(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        return [None for _ in keys]

    def keep(self, verdicts: Sequence[tuple[bytes, Verdict]]) -> None:
        pass


def as_many_choices(num_groups: int) -> ScoreRequest:
    groups = [
        {
            "completions": ["x"],
            "verifiers": [{"type": "exact_match", "name": f"v{number}"}],
            "reference": {"answer": "x"},
        }
        for number in range(num_groups)
    ]
    return ScoreRequest.model_validate({"groups": groups})


def reasons(request: ScoreRequest, engine: _Refusing, deadline_seconds: float) -> Counter[str]:
    scored = asyncio.run(scoring_of(request, engine).run(deadline_seconds))  # type: ignore[arg-type]
    every = (verdicts for group in scored.groups for verdicts in group)
    return Counter(str(verdict.reason) for one in every for verdict in one.values())


def test_small_tasks_of_many_choices_go_to_workers_together() -> None:
    engine = _Refusing()
    assert reasons(as_many_choices(640), engine, 600) == {"equal": 640}
    assert engine.num_tasks <= 640 / 16


def test_every_choice_of_a_joined_task_is_told_that_no_worker_runs() -> None:
    class NoneRunning(_Refusing):
        async def judge(self, *_arguments: Any) -> None:
            raise NoWorkers

    assert reasons(as_many_choices(100), NoneRunning(), 600) == {"worker_died": 100}


def test_a_joined_task_that_is_late_keeps_the_verdicts_that_it_has() -> None:
    class Stuck(_Refusing):
        async def judge(
            self, task: EncodedTask, verdicts: list[TaskResult], keys: Sequence[bytes] = ()
        ) -> None:
            verdicts += [RIGHT_VERDICT] * 3
            await asyncio.Event().wait()

    found = reasons(as_many_choices(20), Stuck(), 0.2)
    assert found == {"equal": 3, "deadline": 17}


def test_a_response_that_is_given_up_ends_the_judging_of_all_choices() -> None:
    request = as_many_choices(500)
    engine = _Refusing()

    def full(_index: int) -> None:
        raise BufferError("the client does not read")

    async def run() -> None:
        with pytest.raises(BufferError):
            await scoring_of(request, engine, on_group=full).run(60)  # type: ignore[arg-type]
        given_up = engine.num_tasks
        for _ in range(20):
            await asyncio.sleep(0)
        assert engine.num_tasks == given_up

    asyncio.run(run())
    assert engine.num_tasks < 500
