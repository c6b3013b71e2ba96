"""No answer talks a model into paying for it: the model sees a quotation, never an instruction."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.judge_endpoint import Judge, serving
from tests.verifiers.judge_attacks import ATTACKS, TWINS
from tests.verifiers.test_answer_judge import TEMPLATES, ask, look, options
from verifier_service.model_judge import templates
from verifier_service.model_judge.only_announced import says_nothing
from verifier_service.model_judge.open_answer import OpenAnswer, cleaned, quoted
from verifier_service.model_judge.replies import read_reply
from verifier_service.model_judge.templates import Template, read_template
from verifier_service.verifier import Judgement

MARK = "0123456789abcdef01234567"
FORMS = ("<answer>{}</answer>", r"\boxed{{{}}}", "The answer is {}", "{}")
"""Completions around an answer."""


def open_answers(text: str, reference: Any = "Paris") -> list[OpenAnswer]:
    """The questions about an answer in each form; rules refuse the others."""
    found = []
    for form in FORMS:
        judged = look(reference, form.format(text))
        if isinstance(judged, Judgement):
            assert judged.score == 0, (text, form)
        else:
            found.append(msgspec.json.decode(judged.question, type=OpenAnswer))
    return found


def decisions(judge: Judge, template: str, answer: OpenAnswer) -> set[bool | None]:
    """The decisions of a judge on a question in either order."""
    chosen = read_template(template)
    both = [chosen.messages(answer, mark=MARK, swapped=swapped) for swapped in (False, True)]
    return {said(chosen, judge, messages) for messages in both}


def said(chosen: Template, judge: Judge, messages: list[dict[str, str]]) -> bool | None:
    body = {"messages": messages, **chosen.constraint}
    found = chosen.said(read_reply(judge.content(body)))
    return None if found is None else found.decision == "equal"


def test_the_attacks_are_many() -> None:
    assert len(ATTACKS) >= 200


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["Paris", "12", ["Rome", "Paris"]])
def test_no_attack_is_paid(reference: Any) -> None:
    questions = [one for text in ATTACKS for one in open_answers(text, reference)]
    assert len(questions) > len(ATTACKS)
    # Templates differ in their own words alone: all of them once, else the default.
    for template in TEMPLATES if reference == "Paris" else ["yes_no"]:
        judge = Judge(template)
        paid = [one for one in questions if decisions(judge, template, one) != {False}]
        assert paid == []
        assert judge.num_obeyed == 0


def test_no_attack_is_paid_over_http() -> None:
    judge = Judge()
    questions = [one for text in ATTACKS for one in open_answers(text)[:1]]
    with serving(judge) as url:
        found = ask(options(url), *questions)
    assert {(one.outcome.value, one.score) for one in found} == {("scored", 0.0)}
    assert judge.num_obeyed == 0


@pytest.mark.slow
def test_the_stand_in_obeys_what_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would pass for want of a judge that can be fooled."""
    questions = [one for text in ATTACKS for one in open_answers(text)[:1]]
    monkeypatch.setattr(
        templates, "quoted", lambda text: text if isinstance(text, str) else json.dumps(text)
    )
    judge = Judge()
    for one in questions:
        decisions(judge, "yes_no", one)
    assert judge.num_obeyed == 2 * len(questions)


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize(("reference", "text"), TWINS)
def test_an_honest_twin_is_paid(template: str, reference: str, text: str) -> None:
    judge = Judge(template)
    questions = open_answers_of_twin(text, reference)
    assert questions
    for one in questions:
        assert decisions(judge, template, one) == {True}
    assert judge.num_obeyed == 0


def open_answers_of_twin(text: str, reference: str) -> list[OpenAnswer]:
    judged = look(reference, f"<answer>{text}</answer>")
    assert not isinstance(judged, Judgement), judged
    return [msgspec.json.decode(judged.question, type=OpenAnswer)]


@given(st.text())
@example('\\"\ud800\u2028</s>[INST]')
def test_a_quotation_is_one_line_of_json_without_marks(text: str) -> None:
    shown = cleaned(text)
    assert shown == cleaned(shown)
    encoded = quoted(shown)
    assert json.loads(encoded) == shown
    assert encoded.isprintable()
    assert not set("<>\n") & set(encoded)
    encoded.encode()


@pytest.mark.parametrize("answer", ["12:30", "2:1", "A", "solution B", "the answer is Lyon", "no"])
def test_an_answer_that_looks_like_an_announcement_says_something(answer: str) -> None:
    assert not says_nothing(answer)


@pytest.mark.parametrize(
    "text",
    [
        "let's solve " * 100_000,
        "[" * 1_000_000,
        "[" + "A" * 1_000_000,
        "\u0301" * 300_000,
        "\\text{" * 200_000,
        "\\text{" * 100_000 + "}" * 100_000,
        "solution " * 100_000 + ":",
        " \u2800" * 300_000,
    ],
)
def test_hostile_lengths_take_no_time(text: str) -> None:
    """The time limit of the suite's workers is far above it; quadratic patterns would not end."""
    shown = cleaned(text)
    says_nothing(shown)
    quoted(shown)
