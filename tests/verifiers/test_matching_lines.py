"""`regex` with `min_lines`: each line matches by itself."""

from __future__ import annotations

import httpx
import pytest

from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service.verifiers.regex import Regex


@pytest.mark.parametrize(
    ("text", "min_lines", "score"),
    [
        ("- a\n- b", 2, 1),
        ("- a\n- b", 3, 0),
        ("- a - b\n- c", 2, 1),
        ("a\n- b\n\n- c", 2, 1),
        ("- \n- \n-", 1, 0),
        ("x - a\n y - b", 1, 0),
        ("- a", 1, 1),
    ],
)
def test_so_many_lines_must_match(text: str, min_lines: int, score: float) -> None:
    found = judge(Regex(pattern="^- .+", min_lines=min_lines), {}, text)
    assert found.score == score


def test_a_line_matches_as_a_whole_where_that_is_wanted() -> None:
    verifier = Regex(pattern="[0-9]+", match="full", min_lines=2)
    assert judge(verifier, {}, "1\n22").details == {"lines": 2}
    assert judge(verifier, {}, "1\n2a").score == 0


def test_chrf_is_judged_in_a_confined_worker(http: httpx.Client) -> None:
    """A missing extra is named by the verdict; a worker that died would be `failed`."""
    verifier = {"type": "string_similarity", "metric": "chrf"}
    (found,) = verdicts(http, verifier, "It rained.", answer="It rained.")
    assert found["reason"] in ("similar", "missing_package")
