"""Earlier judgements change no verdict; the short ways past a search find what it finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.verifier_service.judging import judge
from verifier_service.completion import Completion
from verifier_service.mathematics import (
    announced_answer,
    announcements,
    boxes,
    comparison,
    plain_text,
    visible_text,
)
from verifier_service.verifier import Judge, Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

DATA = Path(__file__).parents[1] / "data" / "attempts_without_an_answer.jsonl"
ATTEMPTS = [json.loads(line)["completion"] for line in DATA.read_text().splitlines()][::7]
RIGHT = ["5", r"\boxed{5}", "The answer is 5.", "5.0", "10/2", "five", "5 m", r"\boxed{5, 6}", "B"]
REFERENCES = ["5", "6", "5, 6", "B", r"\frac{10}{2}", "5 m", "Yes"]
CACHES = (comparison._kept_reading, plain_text.unwrapped, visible_text.visible_text)


def verdict(judge_one: Judge, completion: str) -> object:
    try:
        return judge_one(Completion(completion))
    except Unverifiable as found:
        return found.reason


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(REFERENCES),
    st.lists(st.sampled_from(ATTEMPTS + RIGHT), min_size=2, max_size=24),
)
def test_a_verdict_does_not_depend_on_what_was_judged_before(
    reference: str, completions: list[str]
) -> None:
    alone = []
    for completion in completions:
        for cache in CACHES:
            cache.cache_clear()
        alone.append(verdict(Accuracy().prepare({"answer": reference}), completion))
    judge_one = Accuracy().prepare({"answer": reference})
    assert [verdict(judge_one, completion) for completion in completions] == alone


@settings(max_examples=200, deadline=None)
@given(st.from_regex(announcements.PHRASE, fullmatch=True))
def test_every_announcement_has_its_keyword(announcement: str) -> None:
    assert announcements.KEYWORD.search(announcement) is not None


@settings(max_examples=200, deadline=None)
@given(st.from_regex(boxes._BOX, fullmatch=True))
@example("\x08oxed{")
@example("boxed{")
def test_every_box_has_the_word(box: str) -> None:
    assert boxes.boxes_in(f"{box}5}}") is not None


@given(
    st.sampled_from(["The answer is ", "Answer: ", "The answer would be ", "Not 6. Answer: "]),
    st.integers(-9999, 9999) | st.decimals(-99, 99, places=2),
    st.sampled_from(["", "."]),
)
def test_a_last_number_is_what_the_whole_search_finds(
    announcement: str, number: object, stop: str
) -> None:
    text = f"{announcement}{number}{stop}"
    longer = f"{text}\n"
    assert announced_answer._LAST_NUMBER.fullmatch(longer, len(announcement)) is None
    found = [
        announced_answer._announced(one, list(announcements.PHRASE.finditer(one))[-1])
        for one in (text, longer)
    ]
    assert found[0] == found[1]


HIDERS = (
    "<!--%s-->",
    "<del>%s</del>",
    "<div hidden><p>%s</p></div>",
    "<span style='color:white'>%s</span>",
    r"{\color{white}%s}",
    r"\phantom{%s}",
    r"\newcommand{\five}{%s}",
    r"\iffalse %s \fi",
)
"""Ways in which a text hides what is in it."""


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(HIDERS), min_size=1, max_size=3),
    st.text(alphabet="ab +-.\n", max_size=20),
)
def test_what_is_hidden_is_no_answer_and_hides_nothing_else(hiders: list[str], words: str) -> None:
    hidden = words + "".join(hider % r"\boxed{7}" for hider in hiders)
    for reference, text, score in (("7", hidden, 0.0), ("5", hidden + r" \boxed{5}", 1.0)):
        assert judge(Accuracy(), {"answer": reference}, text).score == score


@pytest.mark.parametrize(
    "unclosed",
    ["<del>", "<div hidden>", "<!-- ", "[a](", "![a](", r"\color{white}{", r"\newcommand{\a}{"],
)
def test_hidden_parts_that_never_close_are_read_once(unclosed: str) -> None:
    """Quadratic time would be a hundred times what the limit of the test run allows."""
    text = unclosed * 20_000
    assert len(visible_text.visible_text(text)) <= len(text)
