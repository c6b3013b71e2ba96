"""Records of a request: what is kept of its texts, and where a record ends."""

from __future__ import annotations

import pytest

from verifier_service.engine import store_records
from verifier_service.engine.chunks import Owner, VerdictsByKey, options_json
from verifier_service.engine.equal_completions import unique_parts
from verifier_service.engine.store_records import records_of
from verifier_service.reason import EngineReason
from verifier_service.schemas import Group, ScoreRequest
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verdict_store.records import RequestRecord, record_decoder
from verifier_service.verifiers.accuracy import Accuracy


def recorded(*prompts: str) -> list[RequestRecord]:
    """The records of a request with a group for each prompt."""
    groups = [Group(prompt=one, reference={"answer": "2"}, completions=["2"]) for one in prompts]
    accuracy = Accuracy()
    request = ScoreRequest.model_construct(verifiers=[accuracy], groups=groups)
    verdict = Verdict(Outcome.SCORED, 0.0, EngineReason.TOO_SLOW, 0.0)
    slots: list[list[VerdictsByKey]] = [[{accuracy.key: verdict}] for _ in groups]
    owners: list[list[Owner]] = []
    unique_parts(request, slots, owners)
    options = {accuracy.key: options_json(accuracy)}
    places = range(len(groups))
    found = records_of(request, slots, owners, options=options, places=places, texts="text")
    return [record_decoder.decode(body) for body, _ in found]


def test_a_prompt_that_is_too_long_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_records, "MAX_TEXT_CHARACTERS", 100)
    [found] = recorded("p" * 100, "p" * 101)
    assert [one.prompt for one in found.groups] == ["p" * 100, None]


def test_a_record_ends_where_its_prompts_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_records, "CHARACTERS_PER_RECORD", 250)
    found = recorded(*["p" * 100] * 6)
    assert [len(one.groups) for one in found] == [3, 3]
