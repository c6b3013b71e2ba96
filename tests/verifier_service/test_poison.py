"""Items that hang or swallow memory get their verdict, and change no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.verifier_service.test_score import POISON, RIGHT, THREE, WRONG, score, verdicts
from trainer_client.demo import running_service

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


def test_a_verdict_on_a_completion_that_hangs_comes_within_the_item_limit(
    http: httpx.Client,
) -> None:
    (verdict,) = verdicts(http, {"type": "accuracy"}, POISON, answer="2")
    assert verdict["reason"] == "too_slow"
    assert 2.0 <= verdict["seconds"] < 20.0  # two seconds of CPU, on a machine that may be busy


def test_a_reference_that_hangs_is_unverifiable(http: httpx.Client) -> None:
    for verdict in verdicts(http, {"type": "accuracy"}, RIGHT, WRONG, answer=POISON):
        assert (verdict["outcome"], verdict["score"]) == ("unverifiable", None)
        assert verdict["reason"] == "bad_reference"


def test_a_completion_that_swallows_memory_is_too_large(tmp_path: Path) -> None:
    limits = ("--item-memory-bytes", str(256 * 2**20), "--item-cpu-seconds", "60", "--workers", "1")
    with (
        running_service(tmp_path / "service.log", *limits) as url,
        httpx.Client(base_url=url, timeout=60) as http,
    ):
        verifier = {"type": "accuracy", "mode": "math_verify"}
        found = verdicts(http, verifier, RIGHT, MEMORY_BOMB, WRONG, answer="2")
        assert [(v["outcome"], v["score"], v["reason"]) for v in found] == [
            ("scored", 1.0, "equal"),
            ("scored", 0.0, "too_large"),
            ("scored", 0.0, "different"),
        ]
        assert http.get("/readyz").status_code == 200
