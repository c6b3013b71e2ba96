"""A share of what rules decide is asked about too: it is counted, and changes no verdict."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.judge_endpoint import Judge
from tests.verifiers.test_answer_judge import DIFFERENT, EQUAL, RIGHT, look, service
from verifier_service.completion import Completion
from verifier_service.model_judge import audits
from verifier_service.model_judge.audits import Audits
from verifier_service.model_judge.open_answer import OpenAnswer
from verifier_service.verifier import Judgement
from verifier_service.verifiers.answer_judge import AnswerJudge

METRIC = "verifier_judge_audited_total"


def score(http: httpx.Client, texts: list[str], fraction: float, **more: Any) -> list[Any]:
    verifier = {"type": "answer_judge", "audit_fraction": fraction}
    group = {"reference": {"answer": "Paris"}, "completions": texts}
    response = http.post("/v1/score", json={"verifiers": [verifier], "groups": [group], **more})
    assert response.status_code == 200, response.text
    completions = response.json()["groups"][0]["completions"]
    return [one["verdicts"]["answer_judge"] for one in completions]


def counts(http: httpx.Client, number: int) -> dict[str, float]:
    """The checks by their labels, once there are so many."""
    while True:
        lines = http.get("/metrics").text.splitlines()
        rows = [line.removeprefix(METRIC) for line in lines if line.startswith(METRIC + "{")]
        found = {row.split(" ")[0]: float(row.split(" ")[1]) for row in rows}
        if sum(found.values()) >= number:
            return found


@pytest.mark.slow
def test_rules_and_model_are_compared(tmp_path: Path) -> None:
    judge = Judge()
    right, wrong = "<answer>Paris</answer>", "<answer>7</answer>"
    texts = [right, wrong, "<answer>:</answer>", "So <answer>Paris</answer>"]
    with service(judge, tmp_path / "log") as http:
        found = score(http, texts, 1.0)
        assert next((one["outcome"], one["score"], one["reason"]) for one in found) == EQUAL
        assert all("audit" not in one for one in found)
        assert {one["details"]["by"] for one in found[::3]} == {"rules"}
        asked = sum(one["details"]["by"] == "model" for one in found)
        agreed = counts(http, 2)
        many = score(http, [f"{right} {n}" for n in range(2000)], 1.0)
        assert len(many) == 2000
        assert all("audit" not in one for one in many)
        assert counts(http, 3)['{result="agreed",rules="equal"}'] >= 2
    assert agreed['{result="agreed",rules="equal"}'] >= 1
    assert judge.num_calls > asked


@pytest.mark.slow
def test_a_model_that_disagrees_or_fails_changes_no_verdict(tmp_path: Path) -> None:
    judge = Judge(mode="says_no")
    with service(judge, tmp_path / "log") as http:
        found = score(http, ["<answer>Paris</answer>"], 1.0)
        assert counts(http, 1) == {'{result="disagreed",rules="equal"}': 1.0}
        judge.mode = "refuses"
        again = score(http, ["<answer>paris</answer>"], 1.0)
        assert counts(http, 2)['{result="lost",rules="equal"}'] == 1.0
    assert [(one["score"], one["details"]) for one in found + again] == [(1.0, {"by": "rules"})] * 2


@pytest.mark.slow
def test_a_verdict_does_not_wait_for_its_check(tmp_path: Path) -> None:
    with service(Judge(mode="hangs"), tmp_path / "log") as http:
        found = score(http, ["<answer>Paris</answer>"], 1.0)
    assert found[0]["score"] == 1.0


@pytest.mark.parametrize("fraction", [0.0, 0.25, 1.0])
def test_a_share_is_drawn_by_content(fraction: float) -> None:
    judge = AnswerJudge(audit_fraction=fraction).prepare({"answer": "Paris", "problem": "?"})
    texts = [f"<answer>Paris{' ' * (n % 2)}</answer>" for n in range(2)]
    texts += [f"\\boxed{{{n}}}" for n in range(400)]
    numbers = AnswerJudge(audit_fraction=fraction).prepare({"answer": "1000"})
    found = [judge(Completion(text)) for text in texts[:2]]
    found += [numbers(Completion(text)) for text in texts[2:]]
    assert all(isinstance(one, Judgement) for one in found)
    drawn = [isinstance(one, Judgement) and one.audit is not None for one in found]
    assert drawn[0] == drawn[1]
    assert sum(drawn) / len(drawn) == pytest.approx(fraction, abs=0.1)


def test_what_says_nothing_is_not_checked() -> None:
    found = look("Paris", "<answer>:</answer>")
    assert isinstance(found, Judgement)
    assert found.audit is None
    judge = AnswerJudge(audit_fraction=1.0).prepare({"answer": "Paris"})
    for text in ("", "<answer>:</answer>", f"<answer>{'word ' * 500}</answer>"):
        judged = judge(Completion(text))
        assert isinstance(judged, Judgement)
        assert judged.audit is None


def test_checks_beyond_the_bound_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "MAX_UNDER_WAY", 2)
    answer = OpenAnswer(RIGHT.references, RIGHT.answer, by_rules=True)

    class Endless:
        async def decision(self, answer: OpenAnswer) -> bool | None:
            await asyncio.Event().wait()
            raise AssertionError("never set")

    async def run() -> Audits:
        checks = Audits()
        for _ in range(5):
            checks.check(answer, Endless())
        await checks.close()
        return checks

    assert asyncio.run(run()).counts == {("equal", "left_out"): 3}


@pytest.mark.slow
def test_without_a_fraction_nothing_is_asked(tmp_path: Path) -> None:
    judge = Judge()
    with service(judge, tmp_path / "log") as http:
        found = score(http, ["<answer>Paris</answer>", "<answer>Lyon</answer>"], 0.0)
        assert [one["score"] for one in found] == [1.0, DIFFERENT[1]]
        assert METRIC + "{" not in http.get("/metrics").text
    assert judge.num_calls == 1
