"""Collections without an order: in which order they are written never changes a verdict."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations_with_replacement, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier_service.judging import judge
from verifier_service.mathematics.comparison import read_answer, same_answer
from verifier_service.mathematics.pairing import MAX_UNORDERED, same_elements
from verifier_service.verifiers.accuracy import Accuracy

RULES = Accuracy().rules
# In each row some elements equal two others that differ.
NOT_TRANSITIVE = (
    ("2", "2 m", "2 s", "200 cm"),
    (r"50\%", "50", "0.5"),
    ("5", "5 apples", "5 pears"),
    ("2", "x = 2", "y = 2"),
    (r"\log 100", "2", r"\ln 100"),
    ("11_2", "11", "3", "3_{10}"),
    ("1.00000", "1.0000006", "1.0000012"),
)


def compare(left: str, right: str) -> bool | None:
    return same_answer(read_answer(left), read_answer(right), RULES)


@pytest.mark.parametrize("answer", ["0.5, 50", "50, 0.5"])
@pytest.mark.parametrize("reference", [r"50\%, 50", r"50, 50\%"])
def test_a_list_is_right_in_any_order(reference: str, answer: str) -> None:
    found = judge(Accuracy(), {"answer": reference}, rf"\boxed{{{answer}}}")
    assert (found.score, found.reason) == (1.0, "equal")


@pytest.mark.parametrize("form", [("{}", ", "), (r"\{{{}\}}", ", "), ("{}", " or ")])
@pytest.mark.parametrize("elements", NOT_TRANSITIVE)
def test_the_order_of_writing_changes_nothing(
    elements: Sequence[str], form: tuple[str, str]
) -> None:
    around, between = form
    pairs = list(combinations_with_replacement(elements, 2))
    for left in pairs:
        for right in pairs:
            verdicts = {
                compare(around.format(between.join(one)), around.format(between.join(other)))
                for one in permutations(left)
                for other in permutations(right)
            }
            assert len(verdicts) == 1, (left, right)


@given(st.lists(st.sampled_from(NOT_TRANSITIVE[0] + NOT_TRANSITIVE[1]), max_size=6), st.data())
def test_the_order_of_longer_lists_changes_nothing(left: list[str], data: st.DataObject) -> None:
    right = data.draw(st.permutations(left))
    other = data.draw(st.lists(st.sampled_from(left or ["1"]), max_size=6))
    assert compare(", ".join(left), ", ".join(right)) is not False
    assert compare(", ".join(left), ", ".join(other)) == compare(
        ", ".join(right), ", ".join(reversed(other))
    )


@pytest.mark.parametrize(
    "pieces", [("(a, b)", "(c, d)"), ("(1, 2)", "[1, 3]"), ("(2, 3)", "(0, 1)")]
)
def test_the_order_of_a_union_changes_nothing(pieces: tuple[str, str]) -> None:
    one, other = pieces
    assert compare(rf"{one} \cup {other}", rf"{other} \cup {one}") is True


def test_a_set_is_not_met_by_values_that_differ() -> None:
    # Both equal 50%, each in its way; together they are two values.
    assert compare(r"\{50\%\}", r"\{0.5, 50\}") is False
    assert compare(r"\{1/2, 0.5, 2\}", r"\{2, 1/2\}") is True


@pytest.mark.parametrize(("one", "other"), [(r"\log 100", "2"), ("11_2", "3_{10}"), ("11_2", "3")])
def test_elements_are_compared_as_they_are_alone(one: str, other: str) -> None:
    assert compare(one, other) is True
    assert compare(f"{one}, 5", f"5, {other}") is True


@pytest.mark.parametrize("answer", ["A, C", "C, A", "C and A", "(C), (A)", "AC"])
def test_the_order_of_option_letters_changes_nothing(answer: str) -> None:
    assert compare("AC", answer) is True
    assert compare("A, C", answer) is True


graphs = st.integers(0, 5).flatmap(
    lambda size: st.lists(
        st.lists(st.sampled_from([True, False, None]), min_size=size, max_size=size),
        min_size=size,
        max_size=size,
    )
)


@given(graphs)
def test_elements_are_paired_whenever_they_can_be(verdicts: list[list[bool | None]]) -> None:
    size = len(verdicts)
    asked: list[tuple[int, int]] = []

    def same(one: int, other: int) -> bool | None:
        asked.append((one, other))
        return verdicts[one][other - size]

    found = same_elements(range(size), range(size, 2 * size), same, repeats_count=True)
    pairings = [
        [row[column] for row, column in zip(verdicts, columns, strict=True)]
        for columns in permutations(range(size))
    ]
    if any(all(pairing) for pairing in pairings):
        assert found is True
    elif all(False in pairing for pairing in pairings):
        assert found is False
    else:
        assert found is None
    assert len(asked) == len(set(asked))


def test_a_long_list_in_another_order_takes_few_comparisons() -> None:
    elements = list(range(MAX_UNORDERED))
    shuffled = random.Random(0).sample(elements, k=len(elements))
    num_asked = 0

    def same(one: int, other: int) -> bool:
        nonlocal num_asked
        num_asked += 1
        return one == other

    for other in (elements, elements[::-1], shuffled):
        assert same_elements(elements, other, same, repeats_count=True) is True
        assert same_elements(elements, other, same, repeats_count=False) is True
    assert num_asked == 3 * MAX_UNORDERED


def test_longer_lists_are_not_decided() -> None:
    elements = range(MAX_UNORDERED + 1)
    assert same_elements(elements, elements, int.__eq__, repeats_count=True) is None
