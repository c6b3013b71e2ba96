"""Problems in the style of LeetCode: right programs score 1 and wrong ones 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.verifier_service.class_solutions import Problem, problems
from tests.verifier_service.test_code import ALL, Grader
from verifier_service.code.reference_tests import read_tests

PROBLEMS = list(problems())
A_SHARE = PROBLEMS[::4]


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    found = Grader()
    yield found
    found.close()


def reasons(grader: Grader, chosen: Sequence[Problem], kind: str) -> dict[str, str]:
    """The verdict's reason on the right, or the wrong, program of each problem."""
    asked = [
        (getattr(one, kind), read_tests({"tests": {"type": "asserts", "code": one.tests}}))
        for one in chosen
    ]
    found = grader.all(asked, ALL)
    assert all(one.total == one.num_results for one in found)
    return {one.name: str(verdict.reason) for one, verdict in zip(chosen, found, strict=True)}


def test_there_are_two_hundred_problems() -> None:
    assert len({one.name for one in PROBLEMS}) == len(PROBLEMS) >= 200
    sizes = [sum(f"{kind}(" in one.tests.split("assert ", 1)[1] for one in PROBLEMS)
             for kind in ("linked", "tree")]  # fmt: skip
    assert min(sizes) >= 45


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param(A_SHARE, id="a share", marks=pytest.mark.quick),
        pytest.param(PROBLEMS, id="all", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(("kind", "reason"), [("right", "passed"), ("wrong", "wrong_answer")])
def test_right_programs_pass_and_wrong_ones_do_not(
    grader: Grader, chosen: Sequence[Problem], kind: str, reason: str
) -> None:
    found = reasons(grader, chosen, kind)
    assert {name: why for name, why in found.items() if why != reason} == {}
