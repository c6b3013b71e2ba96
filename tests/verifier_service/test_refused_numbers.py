"""Numbers that a closing sentence speaks against, sets aside, or has from the problem alone."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.denials import is_no_statement
from verifier_service.mathematics.planning_sentences import plans
from verifier_service.mathematics.refused_numbers import is_refused_number, is_set_aside
from verifier_service.verifiers.accuracy import Accuracy

WRONG = [
    "This contradicts n = 6.",
    "The data contradict the value 6.",
    "The trap here is 6.",
    "A careless reader would say 6.",
    "I was about to write 6.",
    "Nothing supports the value 6.",
    "My first guess was 6.",
    "I don't trust 6.",
    "In the easier version it is 6.",
    "For n = 6 the formula breaks down.",
    "Plugging in 6 gives a contradiction.",
    "So 6 must be discarded.",
    "6 is only part of the total.",
    "6 still has to be doubled.",
    "6 has to be divided by 5 now.",
    "Next we subtract 6.",
    "Multiply this by 6.",
    "It is impossible to do it in 6 moves.",
    "There's no way Lena has 6 marbles.",
    "Tom has 6 marbles, and Lena has half of that.",
    "We add 6 to get the answer.",
    "The year after 6.",
    "The angle is supplementary to 6 degrees.",
    "The problem says that 6 students are in the class.",
    "Given: 6 students. Find: the number of girls.",
    "Compute the cost of 6 items.",
    "不止6种方法。",
    "We don't know whether $n=6$.",
    "It is not the case that $f(x)=6$.",
    "We substitute $x = 6$.",
    "$6$ contradicts the bound.",
    "$v$ is orthogonal to $6$.",
    "I cannot tell whether it's 6.",
    "The answer is that we cannot know whether it's 6.",
    "The answer is 6 only in the first case.",
    "The answer is 6 only for special triangles.",
]
RIGHT = [
    "This contradicts n = 5, so n = 6.",
    "This confirms that n = 6.",
    "We still have to check 5, which fails; so 6.",
    "Some would say 5. It is 6.",
    "The trap is 5; the answer is 6.",
    "Only 6 satisfies the equation.",
    "6 is the sum of the first three terms.",
    "6 miles still need to be added to the road.",
    "6 of them are red.",
    "So we subtract 5 and get 6.",
    "We multiply 3 by 2 to get 6.",
    "We divide by 35, which leaves 6.",
    "It takes 6 moves, and it is impossible to do it faster.",
    "It is impossible to do it in 5 moves, so we need 6.",
    "There's no way to have more, so it's 6.",
    "Tom has 6, and that is twice what Lena has.",
    "The problem says that 12 students are girls, so there are 6 boys.",
    "To find the total we compute 4 + 2 = 6.",
    "Find the sum: 4 + 2 = 6",
    "一共有6种方法。",
    "We know that $n=6$.",
    "Except for $5$, which is prime, we get $6$.",
    "We substitute $x = 2$ and get $6$.",
    "$5$ contradicts the bound, so it is $6$.",
    "The answer is that she needs 6 eggs.",
    "We can tell that it is 6.",
]


@pytest.mark.parametrize("text", WRONG)
def test_a_number_that_is_not_stated_is_not_paid(text: str) -> None:
    assert judge(Accuracy(), {"answer": "6"}, text).score == 0.0


@pytest.mark.parametrize("text", RIGHT)
def test_a_number_that_is_stated_is_paid(text: str) -> None:
    assert judge(Accuracy(), {"answer": "6"}, text).score == 1.0


@pytest.mark.parametrize(
    "piece", ["no way ", "is impossible to ", "a careless ", "in the easier ", "and has ", "x "]
)
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(lambda text: is_refused_number(text, len(text) - 1, len(text)), piece)
    assert_linear(lambda text: is_no_statement(text, len(text) - 1, len(text)), piece)
    assert_linear(lambda text: is_no_statement(text, 0, 1), piece, before="6 ")
    assert_linear(is_set_aside, piece, before="6 ")
    assert_linear(plans, piece, before="The problem says ")
