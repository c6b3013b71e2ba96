"""`citations`: the wanted sources in the wanted form, and ways to seem to cite."""

from __future__ import annotations

from typing import Any

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.completion import Completion
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.citations import FORMS, Citations

VALID = ["doc_a1", "doc_b2", "doc_c3"]
SOURCES: dict[str, Any] = {
    "form": "ascii_brackets",
    "id_pattern": "doc_[a-z0-9]{2}",
    "valid": VALID,
    "expected": ["doc_a1"],
}


def outcome(text: str, **changes: Any) -> tuple[float, str]:
    found = judge(Citations(), {"citations": SOURCES | changes}, text)
    return found.score, found.reason.value


def written(form: str, *ids: str) -> str:
    before, after = FORMS[form]
    citation = before + ",".join(ids) + after
    return f"{citation}It rained.</cite>" if form == "claim_wrap_xml" else f"It rained {citation}."


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_read_and_no_other(form: str) -> None:
    assert outcome(written(form, "doc_a1"), form=form) == (1, "cited")
    for other in FORMS:
        if other != form:
            assert outcome(written(form, "doc_a1"), form=other)[0] == 0, other


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("It rained [doc_a1].", "cited"),
        ("It rained [doc_a1] and snowed [doc_b2].", "cited"),
        ("It rained [doc_a1] [doc_a1].", "cited"),
        ("<think>[doc_x9]</think>It rained [doc_a1].", "cited"),
        ("It rained [see here](https://example.org) [doc_a1].", "cited"),
        ("It rained [doc_a1] [doc_b2] [doc_c3].", "too_many"),
        ("It rained [doc_b2].", "missing_citation"),
        ("It rained.", "missing_citation"),
        ("It rained [doc_a1] [doc_x9].", "invented"),
        ("It rained [doc_x9].", "invented"),
        ("It rained [doc_a1], see doc_b2.", "malformed"),
        ("It rained [doc_a1]. Sources: doc_a1", "malformed"),
        ("It rained (doc_a1).", "malformed"),
        ("It rained [ doc_a1 ].", "malformed"),
        ("It rained [doc_a1, doc_b2].", "malformed"),
        ("It rained [doc_a1](https://example.org).", "malformed"),
        ("It rained [DOC_A1].", "missing_citation"),
        ("It rained [doc_a1] <cite>.", "malformed"),
        ("It rained [doc_a1] </Cite >.", "malformed"),
        ("[doc_a1]", "no_claim"),
        ("[doc_a1] ... !", "no_claim"),
        ("It rained <!-- [doc_a1] -->.", "missing_citation"),
        ("It rained.\n[//]: # ([doc_a1])\n", "missing_citation"),
        ("It rained [doc_\u200ba1].", "cited"),
        ("It rained [doc_\u0430\u0031].", "missing_citation"),
        ("<think>It rained [doc_a1].", "no_answer"),
        ("<answer>It rained [doc_a1].</answer><answer>No.</answer>", "ambiguous_answer"),
        ("", "no_answer"),
        ("x" * 200_001, "too_long"),
    ],
)
def test_only_visible_citations_of_valid_sources_count(text: str, reason: str) -> None:
    assert outcome(text) == (float(reason == "cited"), reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('<cite index="doc_a1">It rained.</cite>', "cited"),
        ('<cite index="doc_a1,doc_b2">It rained.</cite> Yes.', "cited"),
        ('<cite index="doc_a1">  </cite> It rained.', "malformed"),
        ('<cite index="doc_a1">It rained.', "malformed"),
        ('It rained.</cite><cite index="doc_a1">', "malformed"),
        ('<cite index="doc_a1"><cite index="doc_b2">It rained.</cite></cite>', "malformed"),
        ('<cite index="doc_a1">doc_b2</cite>', "malformed"),
        ('<cite index="doc_a1">It rained.</cite></cite>', "malformed"),
    ],
)
def test_a_claim_stands_between_its_tags(text: str, reason: str) -> None:
    assert outcome(text, form="claim_wrap_xml")[1] == reason


@pytest.mark.parametrize("form", FORMS)
def test_no_citation_where_none_is_wanted(form: str) -> None:
    assert outcome("It rained.", form=form, wanted=False) == (1, "cited")
    assert outcome(written(form, "doc_a1"), form=form, wanted=False) == (0, "unwanted")
    assert outcome("It rained, doc_a1.", form=form, wanted=False) == (0, "unwanted")


def test_without_expected_sources_any_valid_one_counts() -> None:
    assert outcome("It rained [doc_c3] [doc_b2] [doc_a1].", expected=None) == (1, "cited")
    assert outcome("It rained.", expected=None)[1] == "missing_citation"
    assert outcome("It rained [doc_c3].", expected=None, min=2)[1] == "missing_citation"
    assert outcome("It rained [doc_a1] [doc_b2].", slack=0)[1] == "too_many"


def test_details_name_no_source() -> None:
    found = judge(Citations(), {"citations": SOURCES}, "It rained [doc_b2].")
    assert found.details == {"cited": 1, "invented": 0, "missed": 1}
    assert found.extracted == "doc_b2"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"form": "harvard"}, "`form` is one of cite_xml"),
        ({"id_pattern": ""}, "`id_pattern` is the pattern"),
        ({"id_pattern": "("}, "not a pattern of RE2"),
        ({"id_pattern": "x*"}, "matches no empty text"),
        ({"attempt_pattern": 3}, "`attempt_pattern` is a pattern"),
        ({"valid": "doc_a1"}, "`valid` is a list"),
        ({"expected": [1]}, "`expected` is a list"),
        ({"min": -1}, "`min` is a whole number"),
        ({"slack": True}, "`slack` is a whole number"),
        ({"wanted": "no"}, "`wanted` is true or false"),
        ({"expected": ["doc_zz"]}, "`expected` names 'doc_zz', which `valid` has not"),
        ({"valid": ["a"], "expected": ["a"]}, "`expected` names 'a', which `id_pattern` has not"),
        ({"valid": [], "expected": None}, "`min` is 1, and at most 0 can be cited"),
        ({"min": 3, "expected": ["doc_a1"], "slack": 1}, "`min` is 3, and at most 2"),
        ({"slak": 0}, "no name 'slak'; did you mean 'slack'"),
    ],
)
def test_a_reference_that_cannot_be_used_is_named(changes: Any, message: str) -> None:
    with pytest.raises(Unverifiable, match=message):
        outcome("It rained.", **changes)


@pytest.mark.parametrize("unit", ["[doc_a1]", '<cite index="doc_a1">', "[doc_", "<!--", "doc_a1,"])
def test_reading_takes_time_in_proportion_to_the_answer(unit: str) -> None:
    prepared = Citations().prepare({"citations": SOURCES | {"form": "claim_wrap_xml"}})
    assert_linear(lambda text: prepared(Completion(text)), unit, num_characters=40_000)


@pytest.mark.parametrize("claim", ["_", "...", "__", "🙂", "<!-- It rained. -->"])
def test_marks_are_no_claim(claim: str) -> None:
    assert outcome(f"{claim} [doc_a1]") == (0, "no_claim")
