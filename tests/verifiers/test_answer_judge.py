"""`answer_judge`: rules decide what they can, a model the rest, and lost votes are no zeros."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from tests.judge_endpoint import Judge, Mode, serving
from tests.verifier_service.test_score import verdicts
from trainer_client.service_process import running_service
from verifier_service.cli import run
from verifier_service.completion import Completion
from verifier_service.model_judge import tries
from verifier_service.model_judge.asking import Asking
from verifier_service.model_judge.endpoints import Endpoint, read_endpoint
from verifier_service.model_judge.judge_options import JudgeOptions
from verifier_service.model_judge.model_judge import ModelJudge
from verifier_service.model_judge.models import Models
from verifier_service.model_judge.open_answer import OpenAnswer
from verifier_service.model_judge.open_group import OpenGroup
from verifier_service.model_judge.rubric import OpenRubric
from verifier_service.model_judge.templates import (
    SHIPPED,
    read_pair_template,
    read_rubric_template,
    read_template,
)
from verifier_service.verdict import Verdict
from verifier_service.verifier import Judgement, Undecided
from verifier_service.verifiers.answer_judge import AnswerJudge

TEMPLATES = sorted(path.stem for path in SHIPPED.glob("*.toml"))
RIGHT = OpenAnswer(["Paris"], "the capital of France")
WRONG = OpenAnswer(["Paris"], "the capital of Spain")


def look(answer: Any, text: str, **reference: Any) -> Judgement | Undecided:
    """The worker's judgement of a completion."""
    return AnswerJudge().prepare({"answer": answer, **reference})(Completion(text))


def question(answer: Any, text: str, **reference: Any) -> OpenAnswer:
    found = look(answer, text, **reference)
    assert isinstance(found, Undecided), found
    return msgspec.json.decode(found.question, type=OpenAnswer)


def options(*urls: str, template: str = "yes_no", **changed: Any) -> JudgeOptions:
    default = JudgeOptions(
        endpoints=tuple(map(Endpoint, urls)),
        model="standin",
        template=read_template(template),
        rubric_template=read_rubric_template("yes_no"),
        pair_template=read_pair_template("a_b_tie"),
        seconds=30.0,
    )
    return replace(default, **changed)


def ask(chosen: JudgeOptions, *questions: OpenAnswer | OpenRubric | OpenGroup) -> list[Verdict]:
    async def run() -> list[Verdict]:
        async with Asking(chosen) as asking:
            models = Models(judge=ModelJudge(chosen, asking), asking={"judge": asking})
            encoded = [msgspec.json.encode(one).decode() for one in questions]
            return await asyncio.gather(*map(models.ask, encoded))

    return asyncio.run(run())


def outcomes(found: list[Verdict]) -> list[tuple[str, float | None, str]]:
    return [(one.outcome.value, one.score, str(one.reason)) for one in found]


EQUAL = ("scored", 1.0, "equal")
DIFFERENT = ("scored", 0.0, "different")


@pytest.mark.parametrize(
    ("answer", "text", "score", "reason"),
    [
        ("42", r"\boxed{42}", 1.0, "equal"),
        ("Paris", "The answer is Paris.", 1.0, "equal"),
        ("42", r"\boxed{43}", 0.0, "different"),
        ("x^2", r"\boxed{x^3}", 0.0, "different"),
        (["1", "2"], r"\boxed{(1, 2)}", 0.0, "different"),
        ("B", r"\boxed{C}", 0.0, "different"),
        ("Paris", "", 0.0, "no_answer"),
        ("Paris", r"\boxed{:}", 0.0, "no_answer"),
        ("Paris", r"\boxed{\text{Thought process:}}", 0.0, "no_answer"),
        ("Paris", "<answer>Solution</answer>", 0.0, "no_answer"),
        ("Paris", "<answer>解</answer>", 0.0, "no_answer"),
        ("Paris", f"<answer>{'word ' * 500}</answer>", 0.0, "too_large"),
    ],
)
def test_rules_decide_alone(answer: Any, text: str, score: float, reason: str) -> None:
    found = look(answer, text)
    assert isinstance(found, Judgement)
    assert (found.score, found.reason.value, found.details) == (score, reason, {"by": "rules"})


@pytest.mark.parametrize(
    ("answer", "text", "asked"),
    [
        ("Paris", "The answer is the capital of France.", "the capital of France"),
        ("12", r"\boxed{\text{twice six}}", r"\text{twice six}"),
        ("B", r"\boxed{\text{the second option}}", r"\text{the second option}"),
        (r"\foo{x}{y}", r"\boxed{bar}", "bar"),
        ("Paris", "<answer>the\u200b capital\u2028of\x00 France\u3164</answer>", None),
    ],
)
def test_a_model_is_asked_about_words(answer: str, text: str, asked: str | None) -> None:
    found = question(answer, text)
    assert found == OpenAnswer([answer], asked or "the capital of France")


def test_the_question_has_the_problem_and_nothing_else_of_the_completion() -> None:
    text = "<think>SECRET</think> SECRET <answer>the capital of France</answer>"
    found = question(["Paris", "Lutetia"], text, problem="Which city?", hint="SECRET")
    assert found == OpenAnswer(["Paris", "Lutetia"], "the capital of France", "Which city?")


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("num_votes", [1, 3])
def test_every_template_is_understood(template: str, num_votes: int) -> None:
    with serving(Judge(template)) as url:
        chosen = options(url, template=template, num_votes=num_votes)
        found = ask(chosen, RIGHT, WRONG, OpenAnswer(["Rome", "Paris"], "The French capital"))
    assert outcomes(found) == [EQUAL, DIFFERENT, EQUAL]


def test_a_verdict_says_who_decided() -> None:
    with serving(Judge()) as url:
        (found,) = ask(options(url, num_votes=3), RIGHT)
    assert found.details is not None
    assert found.details.pop("milliseconds") >= 0
    assert found.details == {
        "by": "model",
        "model": "standin",
        "template": read_template("yes_no").label,
        "votes": {"equal": 2, "different": 0},
    }


def test_votes_see_both_orders_at_temperature_0() -> None:
    judge = Judge()
    with serving(judge) as url:
        ask(options(url, num_votes=3, key="k"), RIGHT)
    prompts = [body["messages"][-1]["content"] for body in judge.bodies]
    places = [prompt.index('"Paris"') < prompt.index('"the capital') for prompt in prompts]
    assert sorted(places) == [False, True]
    assert {body["temperature"] for body in judge.bodies} == {0}
    assert all("authorization: bearer k\r\n" in head.lower() for head in judge.heads)


@pytest.mark.parametrize(
    ("mode", "reason", "num_calls"),
    [
        ("fails", "judge_unavailable", 3),
        ("breaks_off", "judge_unavailable", 3),
        ("rate_limited", "judge_rate_limited", 3),
        ("refuses", "judge_refused", 1),
        ("malformed", "judge_unreadable", 3),
        ("is_cut_off", "judge_unreadable", 1),
        ("nonsense", "judge_unreadable", 1),
        ("huge", "judge_unreadable", 1),
    ],
)
def test_a_bad_endpoint_is_no_zero(mode: Mode, reason: str, num_calls: int) -> None:
    judge = Judge(mode=mode)
    with serving(judge) as url:
        assert outcomes(ask(options(url), RIGHT)) == [("failed", None, reason)]
    assert judge.num_calls == num_calls


def test_an_endpoint_that_hangs_is_given_up() -> None:
    with serving(Judge(mode="hangs")) as url:
        found = ask(options(url, seconds=0.2), RIGHT)
    assert outcomes(found) == [("failed", None, "judge_timed_out")]


def test_no_endpoint_at_all_is_no_zero() -> None:
    with serving(Judge()) as url:
        pass
    assert outcomes(ask(options(url), RIGHT)) == [("failed", None, "judge_unavailable")]


def test_an_endpoint_that_asks_to_wait_is_asked_again() -> None:
    judge = Judge(mode="rate_limited_once", retry_after="0.1")
    with serving(judge) as url:
        (found,) = ask(options(url), RIGHT)
    assert outcomes([found]) == [EQUAL]
    assert found.seconds >= 0.1


@pytest.mark.parametrize("retry_after", ["3600", "inf", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_an_endpoint_that_asks_to_wait_too_long_is_not_waited_for(retry_after: str) -> None:
    judge = Judge(mode="rate_limited", retry_after=retry_after)
    with serving(judge) as url:
        (found,) = ask(options(url), RIGHT)
    assert outcomes([found]) == [("failed", None, "judge_rate_limited")]
    assert judge.num_calls == 1


@pytest.mark.parametrize("retry_after", ["-5", "nan", "soon", "Fri, 31 Dec 1999 23:59:59 GMT"])
def test_a_wait_that_is_none_is_short(retry_after: str) -> None:
    with serving(Judge(mode="rate_limited_once", retry_after=retry_after)) as url:
        assert outcomes(ask(options(url), RIGHT)) == [EQUAL]


def test_calls_go_to_the_next_endpoint() -> None:
    with serving(Judge(mode="fails")) as broken, serving(Judge()) as url:
        assert outcomes(ask(options(broken, url), RIGHT)) == [EQUAL]


@pytest.mark.parametrize("num_votes", [1, 3])
def test_an_endpoint_that_fails_in_30_percent_changes_no_score(
    num_votes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lost answers have no score; there are no second tries here, so that something is lost."""
    monkeypatch.setattr(tries, "TRIES", 1)
    asked = [RIGHT, WRONG] * 100
    found = {}
    for mode in ("deterministic", "fails_in_30_percent"):
        with serving(Judge(mode=mode)) as url:
            chosen = options(url, num_votes=num_votes, num_calls_at_once=4)
            found[mode] = outcomes(ask(chosen, *asked))
    whole, lossy = found["deterministic"], found["fails_in_30_percent"]
    assert whole == [EQUAL, DIFFERENT] * 100
    kept = [(one, other) for one, other in zip(whole, lossy, strict=True) if other[0] == "scored"]
    assert all(one == other for one, other in kept)
    assert 0 < len(kept) < 200
    assert {one[0] for one in lossy} == {"scored", "failed"}


def test_calls_of_a_minute_are_bounded() -> None:
    judge = Judge()
    with serving(judge) as url:
        found = ask(options(url, max_calls_per_minute=2), *[RIGHT] * 5)
    # A minute may end in between.
    assert judge.num_calls in (2, 4)
    assert outcomes(found).count(("failed", None, "judge_over_budget")) == 5 - judge.num_calls


def test_calls_at_once_are_bounded() -> None:
    judge = Judge(seconds=0.02)
    with serving(judge) as url:
        ask(options(url, num_calls_at_once=3), *[RIGHT] * 12)
    assert judge.most_at_once == 3


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        ("yes", True),
        (" **Yes**.\n", True),
        ("<think>no?</think>\nyes", True),
        ("No", False),
        ("yes no", None),
        ("", None),
        ("Yes, since", None),
        ("正确", None),
        ("\ud800", None),
    ],
)
def test_a_reply_is_one_of_two_words(reply: str, decision: bool | None) -> None:
    assert read_template("yes_no").decision(reply) is decision


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        ("They agree.\n**Final Decision: Yes**", True),
        ("It says Final Decision: Yes\nFinal Decision: No", False),
        ("Final Decision: Yes\nor not", None),
        ("Final Decision: maybe", None),
    ],
)
def test_the_last_line_of_a_reasoned_reply_decides(reply: str, decision: bool | None) -> None:
    assert read_template("general_verifier").decision(reply) is decision


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('system = "s"', "user: "),
        ('system = "s"\nuser = "{answer}"\nequal = ["y"]\ndifferent = ["n"]', "{references} once"),
        (
            'system = "s"\nuser = "{references}{answer}"\nequal = ["y"]\ndifferent = ["n"]',
            "{mark} before and after",
        ),
        (
            'system = "s"\nuser = "{references}{mark}{answer}{mark}"\nequal = ["y"]\n'
            'different = ["Y."]',
            "replies that differ",
        ),
        ("= 5", "Invalid"),
    ],
)
def test_a_file_that_is_no_template_is_told(content: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"own\.toml: ") as error:
        read_template(str(path))
    assert problem in str(error.value)


def test_an_unknown_template_is_told_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'xverify'"):
        read_template("xverifi")


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://a/v1", "a:8000", "http://", "http://a/v1?x=1", "http://a:x/v1", "http://u:p@a"),
        *("http://a/v1 HTTP/1.1", "http://a/v1\r\nX: y", "http://a/\u00e9"),
    ],
)
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        read_endpoint(url)


@contextmanager
def service(judge: Judge, log: Path, *flags: str) -> Iterator[httpx.Client]:
    with serving(judge) as url:
        enabled = "answer_judge,accuracy,rubric,pairwise,reward_model"
        chosen = ("--workers", "1", "--enabled", enabled, "--judge-url", url)
        with (
            running_service(log, *chosen, "--judge-model", "standin", *flags) as base_url,
            httpx.Client(base_url=base_url, timeout=60) as http,
        ):
            yield http


def body(*completions: str, num_copies: int = 1, **options: Any) -> dict[str, Any]:
    group = {"reference": {"answer": "Paris"}, "completions": list(completions) * num_copies}
    return {"verifiers": [{"type": "answer_judge"}], "groups": [group], **options}


def scores(http: httpx.Client, content: dict[str, Any]) -> list[tuple[str, float | None, str]]:
    response = http.post("/v1/score", json=content)
    assert response.status_code == 200, response.text
    (group,) = response.json()["groups"]
    found = [one["verdicts"]["answer_judge"] for one in group["completions"]]
    return [(one["outcome"], one["score"], one["reason"]) for one in found]


OPEN = "The answer is the capital of France."
CLOSED = "The answer is Paris."


@pytest.mark.slow
def test_the_service_asks_once_for_equal_answers_and_counts(tmp_path: Path) -> None:
    judge = Judge()
    with service(judge, tmp_path / "log") as http:
        found = scores(http, body(OPEN, CLOSED, f"So: {OPEN}", "The answer is Lyon."))
        assert found == [EQUAL, EQUAL, EQUAL, DIFFERENT]
        assert judge.num_calls == 2
        # The cache has both.
        assert scores(http, body(OPEN, "Well. The answer is Lyon.")) == [EQUAL, DIFFERENT]
        assert judge.num_calls == 2
        metrics = http.get("/metrics").text
        explained = http.post("/v1/score", json=body(OPEN, explain=True)).json()
    assert 'verifier_judge_decided_total{by="rules"} 1.0' in metrics
    assert 'verifier_judge_decided_total{by="model"} 2.0' in metrics
    assert 'verifier_model_calls_total{model="judge",result="answered"} 2.0' in metrics
    assert 'verifier_model_tokens_total{kind="prompt",model="judge"} 200.0' in metrics
    (completion,) = explained["groups"][0]["completions"]
    assert completion["verdicts"]["answer_judge"]["explanation"]["stage"] == "model"


@pytest.mark.slow
def test_a_large_request_asks_through_its_process(tmp_path: Path) -> None:
    judge = Judge(seconds=0.01)
    with service(judge, tmp_path / "log", "--judge-questions-per-request", "2") as http:
        texts = [OPEN, CLOSED, "The answer is Lyon.", "The answer is Nice."]
        found = scores(http, body(*texts, num_copies=600))
        # One of the three questions is over the budget, and none is a zero for it.
        assert sorted(set(found), key=str)[-2:] == [DIFFERENT, EQUAL]
        assert found.count(("failed", None, "judge_over_budget")) == 600
        assert judge.num_calls == 2


@pytest.mark.slow
def test_the_deadline_ends_a_question(tmp_path: Path) -> None:
    with service(Judge(mode="hangs"), tmp_path / "log") as http:
        found = scores(http, body(OPEN, CLOSED, deadline_seconds=2.0))
        many = scores(http, body(OPEN, CLOSED, num_copies=600, deadline_seconds=3.0))
    assert found == [("failed", None, "deadline"), EQUAL]
    assert many == found * 600


@pytest.mark.slow
def test_a_file_is_scored_with_the_judge(tmp_path: Path) -> None:
    file, out = tmp_path / "rows.jsonl", tmp_path / "scored.jsonl"
    file.write_bytes(msgspec.json.encode({"answer": "Paris", "completions": [OPEN, CLOSED]}))
    with serving(Judge()) as url:
        command = ["score", str(file), "--out", str(out), "--verifier", "answer_judge"]
        with pytest.raises(SystemExit) as ended:
            run([*command, "--workers", "1", "--judge-url", url, "--judge-model", "standin"])
    assert not ended.value.code
    completions = msgspec.json.decode(out.read_bytes())["completions"]
    found = [one["verdicts"]["answer_judge"] for one in completions]
    assert [(one["score"], one["details"]["by"]) for one in found] == [
        (1.0, "model"),
        (1.0, "rules"),
    ]


def test_without_a_judge_an_open_answer_is_unverifiable(http: httpx.Client) -> None:
    judge = {"type": "answer_judge"}
    found = verdicts(http, judge, OPEN, CLOSED, "The answer is 7.", answer="Paris")
    assert [(one["outcome"], one["reason"]) for one in found] == [
        ("unverifiable", "no_judge"),
        ("scored", "equal"),
        ("unverifiable", "no_judge"),
    ]
    assert "VERIFIER_JUDGE_URL" in found[0]["details"]["message"]
