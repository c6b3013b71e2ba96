"""Every labelled row and every hostile text through a running service: no verdict is `failed`.

A completion that makes a verifier fail has no reward, and its group loses a member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.shared_data import read_shared_data
from tests.verifier_service.test_score import score
from tests.verifiers.test_number_of_attacks import ATTACKS

Group = dict[str, Any]


def _instructions() -> Iterator[Group]:
    for row in read_shared_data("format/ifeval_labelled.jsonl.gz"):
        given = {"instruction_id_list": row["instruction_id_list"], "kwargs": row["kwargs"]}
        for mode in ("default", "source"):
            yield _group({"type": "instruction_following", "mode": mode}, given, row["response"])


def _countdown() -> Iterator[Group]:
    for row in read_shared_data("format/countdown.jsonl.gz"):
        given = {"puzzle": "countdown", "numbers": row["numbers"], "target": row["target"]}
        yield _group({"type": "puzzle"}, given, row["completion"])


TEXT_VERIFIERS: list[tuple[dict[str, Any], Group]] = [
    ({"type": "tool_calls"}, {"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}),
    *(
        ({"type": "structured_output", "format": name}, {"value": {"a": 1}})
        for name in ("json", "yaml", "toml", "xml")
    ),
    *(
        ({"type": "structured_output", "format": name}, {"value": [{"a": "1"}]})
        for name in ("csv", "markdown_table")
    ),
    ({"type": "sql"}, {"database": "CREATE TABLE t (a);", "query": "SELECT a FROM t"}),
    *(
        ({"type": "string_similarity", "metric": name}, {"answer": "a b c"})
        for name in ("sequence_ratio", "rouge_l")
    ),
    (
        {"type": "citations"},
        {"citations": {"form": "ascii_brackets", "id_pattern": "[0-9]+", "valid": ["1"]}},
    ),
    ({"type": "puzzle"}, {"puzzle": "countdown", "numbers": [2, 3], "target": 6}),
]


def _texts() -> list[str]:
    """Real completions, and those that attack one verifier, for all of them."""
    real = [row["completion"] for row in read_shared_data("format/countdown.jsonl.gz")]
    real += [row["response"] for row in read_shared_data("format/ifeval_labelled.jsonl.gz")]
    programs = read_shared_data("code/humaneval_programs.jsonl.gz")
    real += [row["completion"] or "" for row in programs]
    hostile = (text.encode(errors="replace").decode() for text in _hostile_texts())
    return [*real[::8], *dict.fromkeys(hostile)]


def _hostile_texts() -> Iterator[str]:
    """Every text among the parameters of the tests of attacks; a query also in a block."""
    for test in (test for tests in ATTACKS.values() for test in tests):
        for mark in test.__dict__["pytestmark"]:
            if mark.name == "parametrize":
                for case in mark.args[1]:
                    values = case if isinstance(case, tuple) else (case,)
                    texts = [value for value in values if isinstance(value, str) and value]
                    yield from texts
                    yield from (
                        f"```sql\n{text}\n```" for text in texts if "select" in text.lower()
                    )


def _group(verifier: dict[str, Any], reference: dict[str, Any], *texts: str) -> Group:
    return {"verifiers": [verifier], "reference": reference, "completions": list(texts)}


@pytest.mark.slow
def test_no_labelled_row_and_no_hostile_text_fails(http: httpx.Client) -> None:
    texts = _texts()
    groups = [*_instructions(), *_countdown()]
    groups += [_group(verifier, given, *texts) for verifier, given in TEXT_VERIFIERS]
    found: Counter[tuple[str, str, str]] = Counter()
    for start in range(0, len(groups), 400):
        for group in score(http, {"groups": groups[start : start + 400]})["groups"]:
            for completion in group["completions"]:
                for name, verdict in completion["verdicts"].items():
                    found[name, verdict["outcome"], verdict["reason"]] += 1
    over_limits = {"too_slow", "too_large"}
    assert not [one for one in found if one[1] != "scored" or one[2] in over_limits]
    assert found.total() == len(groups) - len(TEXT_VERIFIERS) + len(TEXT_VERIFIERS) * len(texts)
