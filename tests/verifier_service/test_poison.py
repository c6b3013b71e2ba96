"""Items that hang or swallow memory get their verdict, and change no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.verifier_service.poison import HOSTILE, POISON
from tests.verifier_service.test_score import RIGHT, THREE, WRONG, score, verdicts
from trainer_client.service_process import running_service

# Without backslashes math-verify reads this as a product that it expands to gigabytes.
MEMORY_BOMB = r"\boxed{left(1+frac{1}{10^{9}}right)^{10^{9}}}"


def without_seconds(completions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for completion in completions:
        for verdict in completion["verdicts"].values():
            del verdict["seconds"]
    return completions


def test_a_completion_that_hangs_is_too_slow_and_the_others_are_as_if_alone(
    http: httpx.Client,
) -> None:
    others = [RIGHT, WRONG, "", r"\boxed{\frac{4}{2}}", "It is $5$."] + [
        f"${n}$" for n in range(14)
    ]
    batch = [*others[:9], POISON, *others[9:]]
    group = {"reference": {"answer": "2"}, "completions": batch}
    found = score(http, {"verifiers": THREE, "groups": [group]})["groups"][0]["completions"]
    verdict = found.pop(9)["verdicts"]["accuracy"]
    assert (verdict["outcome"], verdict["score"], verdict["reason"]) == ("scored", 0.0, "too_slow")
    alone = [
        score(
            http,
            {
                "verifiers": THREE,
                "groups": [{"reference": {"answer": "2"}, "completions": [completion]}],
            },
        )["groups"][0]["completions"][0]
        for completion in others
    ]
    assert without_seconds(found) == without_seconds(alone)


def test_a_completion_that_hangs_has_had_its_whole_cpu_time(http: httpx.Client) -> None:
    (verdict,) = verdicts(http, {"type": "accuracy"}, POISON, answer="2")
    assert verdict["reason"] == "too_slow"
    assert verdict["seconds"] > 1.5  # of two; a processor's time is counted in steps


@pytest.mark.slow
def test_a_reference_that_hangs_is_unverifiable(http: httpx.Client) -> None:
    for verdict in verdicts(http, {"type": "accuracy"}, RIGHT, WRONG, answer=POISON):
        assert (verdict["outcome"], verdict["score"]) == ("unverifiable", None)
        assert verdict["reason"] == "bad_reference"


@pytest.mark.slow
def test_a_completion_that_swallows_memory_is_too_large(tmp_path: Path) -> None:
    limits = ("--item-memory-bytes", str(256 * 2**20), "--item-cpu-seconds", "60")
    flags = ("--workers", "1", "--enabled", "accuracy", *limits)
    with (
        running_service(tmp_path / "service.log", *flags) as url,
        httpx.Client(base_url=url, timeout=600) as http,
    ):
        verifier = {"type": "accuracy", "mode": "math_verify"}
        found = verdicts(http, verifier, RIGHT, MEMORY_BOMB, WRONG, answer="2")
        assert [(v["outcome"], v["score"], v["reason"]) for v in found] == [
            ("scored", 1.0, "equal"),
            ("scored", 0.0, "too_large"),
            ("scored", 0.0, "different"),
        ]
        assert http.get("/readyz").status_code == 200


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a service that gives an item a quarter of a second of CPU time."""
    log = tmp_path_factory.mktemp("impatient") / "service.log"
    with (
        running_service(log, "--enabled", "accuracy", "--item-cpu-seconds", "0.25") as url,
        httpx.Client(base_url=url, timeout=600) as http,
    ):
        yield http


REASONS = {"different", "no_answer", "ambiguous_answer", "too_slow", "too_large"}


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["2", r"\frac{x^2+1}{x-1}", "(1, 2)"])
def test_every_hostile_answer_gets_a_verdict_with_its_reason(
    impatient: httpx.Client, reference: str
) -> None:
    assert len(HOSTILE) >= 60
    boxes = [rf"\boxed{{{text}}}" for text in HOSTILE.values()]
    found = verdicts(impatient, {"type": "accuracy"}, *boxes, answer=reference)
    for name, verdict in zip(HOSTILE, found, strict=True):
        assert (name, verdict["outcome"], verdict["score"]) == (name, "scored", 0.0)
        assert verdict["reason"] in REASONS, name


@pytest.mark.slow
def test_hostile_references_are_the_fault_of_the_data(impatient: httpx.Client) -> None:
    groups = [
        {"reference": {"answer": text}, "completions": [r"\boxed{2}", r"\boxed{x}"]}
        for text in HOSTILE.values()
    ]
    answer = score(impatient, {"verifiers": [{"type": "accuracy"}], "groups": groups})
    for name, group in zip(HOSTILE, answer["groups"], strict=True):
        for completion in group["completions"]:
            verdict = completion["verdicts"]["accuracy"]
            if verdict["outcome"] == "scored":
                assert verdict["reason"] == "different", name
            else:
                assert (verdict["outcome"], verdict["reason"]) == ("unverifiable", "bad_reference")


@pytest.mark.slow
def test_a_batch_with_poison_gives_every_other_item_the_verdict_it_gets_alone(
    impatient: httpx.Client,
) -> None:
    others = [rf"So \boxed{{\frac{{{n}}}{{{n % 7 + 1}}}}}." for n in range(380)]
    poison = [rf"\boxed{{{text}}}" for text in list(HOSTILE.values())[:20]]
    batch = [*others]
    for index, text in enumerate(poison):
        batch.insert(20 * index, text)
    mixed = verdicts(impatient, {"type": "accuracy"}, *batch, answer=r"\frac{12}{6}")
    alone = verdicts(impatient, {"type": "accuracy"}, *others, answer=r"\frac{12}{6}")
    kept = [verdict for text, verdict in zip(batch, mixed, strict=True) if text not in poison]
    assert [without_its_seconds(one) for one in kept] == [without_its_seconds(one) for one in alone]
    assert {verdict["outcome"] for verdict in mixed} == {"scored"}


def without_its_seconds(verdict: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in verdict.items() if key != "seconds"}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["math_verify", "open_r1"])
def test_hostile_answers_get_a_verdict_in_the_modes_of_peers(
    impatient: httpx.Client, mode: str
) -> None:
    verifier = {"type": "accuracy", "mode": mode}
    boxes = [rf"\boxed{{{text}}}" for text in HOSTILE.values()]
    found = verdicts(impatient, verifier, *boxes, answer="2")
    for name, verdict in zip(HOSTILE, found, strict=True):
        assert (name, verdict["outcome"], verdict["score"]) == (name, "scored", 0.0)
