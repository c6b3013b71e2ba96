"""`accuracy` on real labelled answers: at least as good as math-verify 0.9 on every set.

math-verify's counts are those that `benchmarks/accuracy_labels.py` prints; they are written down
here because it takes half a minute to make them.
"""

from __future__ import annotations

import pytest

from benchmarks.accuracy_labels import Rates, ours, rates, rows_of
from tests.shared_data import SharedDataMissing

pytestmark = pytest.mark.slow

MATH_VERIFY = {  # right answers refused, wrong ones accepted
    "human_labelled": (30, 0),
    "expert_tests": (11, 1),
    "rg_computed": (81, 42),
    "real_answers": (3, 0),
}
MAX_LEFT_OUT = 0.01


@pytest.fixture(scope="module")
def found() -> dict[str, Rates]:
    result = {}
    for name in (*MATH_VERIFY, "evouna_text"):
        try:
            rows, num_left_out = rows_of(name)
        except SharedDataMissing as missing:
            pytest.skip(str(missing))
        assert num_left_out <= MAX_LEFT_OUT * (len(rows) + num_left_out)
        result[name] = rates(rows, ours)
    return result


@pytest.mark.parametrize("name", MATH_VERIFY)
def test_no_set_is_judged_worse_than_by_math_verify(found: dict[str, Rates], name: str) -> None:
    refused, accepted = MATH_VERIFY[name]
    assert found[name].right_refused <= refused
    assert found[name].wrong_accepted <= accepted


def test_three_quarters_of_its_wrong_verdicts_are_gone(found: dict[str, Rates]) -> None:
    num_wrong = sum(found[name].num_wrong for name in MATH_VERIFY)
    assert num_wrong <= sum(map(sum, MATH_VERIFY.values())) / 4


def test_so_are_forty_percent_of_those_that_people_labelled(found: dict[str, Rates]) -> None:
    sets = ("human_labelled", "expert_tests")
    num_wrong = sum(found[name].num_wrong for name in sets)
    assert num_wrong <= 0.6 * sum(sum(MATH_VERIFY[name]) for name in sets)


def test_free_text_is_hardly_ever_accepted_wrongly(found: dict[str, Rates]) -> None:
    rates_of_text = found["evouna_text"]
    num_wrong = rates_of_text.wrong_accepted + rates_of_text.wrong_refused
    assert rates_of_text.wrong_accepted <= 0.01 * num_wrong


def test_hardly_any_wrong_computed_answer_is_accepted(found: dict[str, Rates]) -> None:
    assert found["rg_computed"].wrong_accepted <= 2
    assert found["expert_tests"].wrong_accepted == 0
