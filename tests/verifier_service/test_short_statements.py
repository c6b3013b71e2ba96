"""Values that a short sentence states, each kind with twins that must not be paid."""

from __future__ import annotations

import itertools

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy

PLACES = (
    "%s",
    "<answer>%s</answer>",
    "\\boxed{\\text{%s}}",
    "<think>Perhaps 9.</think>\n%s",
    "The answer is: %s",
    "We work it out step by step.\n\n%s",
)

RIGHT = [
    ("12", "15% of 80 is 12."),
    ("12", "15% of 80 equals 12."),
    ("12", "15% of 80 is equal to 12"),
    ("6", "x is 6"),
    ("6", "x equals 6."),
    ("x = 6", "x is 6."),
    ("43", "17 + 26 is 43."),
    ("43", "17 plus 26 is 43."),
    ("43", "17 and 26 make 43."),
    ("42", "7 times 6 is 42"),
    ("42", "100 - 58 is 42."),
    ("3", "12 divided by 4 is 3"),
    ("6", "1/2 of 12 is 6"),
    ("9", "3 squared is 9"),
    ("120", "5! is 120"),
    ("4", "2 + 2 makes 4."),
    ("18", "3 packs hold 18 pens."),
    ("18", "3 packs are 18 pens."),
    ("50", "4 books cost 50 dollars."),
    ("50", "The 4 books cost 50 dollars."),
    ("7200", "2 hours are 7200 seconds."),
    ("7200", "2 hours is 7,200 seconds"),
    ("2000 g", "5 apples weigh 2 kg"),
    ("6", "4 workers need 6 days."),
    ("12", "3 hens lay 12 eggs"),
    ("0.5", "30 minutes is 0.5 hours"),
    ("2000", "2 km is 2000 m"),
    ("36", "3 dozen is 36"),
    ("6", "Tom has 6 apples"),
    ("50", "Tom pays 50 dollars in total."),
    ("12", "Each pays exactly 12 dollars"),
    ("6", "Thus x equals 6"),
    ("6", "So x is 6."),
    ("6", "x comes to 6"),
    ("42", "40 plus 2 gives 42"),
    ("-6", "x is -6"),
    ("1/2", "x is 1/2."),
    ("3x", "y is 3x"),
    ("2x+3", "y equals 2x + 3"),
    ("9", "f(2) is 9"),
    ("\\sqrt{2}", "x is √2"),
    ("36\\pi", "The area is 36π"),
]


@pytest.mark.parametrize(("reference", "sentence"), RIGHT)
def test_a_short_sentence_states_the_value_behind_its_verb(reference: str, sentence: str) -> None:
    reasons = {place: reason(reference, place % sentence) for place in PLACES}
    assert reasons == dict.fromkeys(PLACES, "equal")


@pytest.mark.parametrize(
    ("reference", "completion"),
    [
        ("50", "4 books cost $50."),
        ("50", "4 books cost \\$50."),
        ("50", "<answer>The 4 books cost $50.</answer>"),
        ("50", "The answer is: 4 books cost $50."),
        ("50", "Each book costs 12.50 dollars.\n\n4 books cost 50 dollars."),
        ("18", "Six each.\n3 packs hold 18 pens."),
        ("6", "**x is 6**"),
        ("6", "$x$ is 6"),
        ("6", "#### x is 6"),
        ("6", "\\boxed{x \\text{ is } 6}"),
        ("1/2", "x is \\frac{1}{2}"),
        ("2\\sqrt{3}", "x equals 2\\sqrt{3}"),
        ("x is 6", "x is 6"),
        ("15% of 80 is 12", "<answer>15% of 80 is 12.</answer>"),
    ],
)
def test_so_does_one_with_money_marks_or_the_words_of_the_reference(
    reference: str, completion: str
) -> None:
    assert reason(reference, completion) == "equal"


WRONG = [
    # The reference stands as the subject, or inside it.
    ("12", "12 percent of 80 is 9.6"),
    ("12", "12 is 15% of 80"),
    ("80", "12 percent of 80 is 9.6"),
    ("26", "17 + 26 is 43."),
    ("17", "17 and 26 make 43."),
    ("4", "4 books cost 50 dollars."),
    ("3", "3 packs hold 18 pens."),
    ("2", "2 hours are 7200 seconds."),
    ("5", "5 is 6"),
    # The value is another one, or the sides disagree.
    ("42", "x is 43"),
    ("44", "17 + 26 is 44"),
    ("6", "5 is 6"),
    ("6", "5% is 6%"),
    ("5", "5 m is 5 km"),
    # What is stated is stated of something else.
    ("6", "2x is 6"),
    ("6", "x/2 is 6"),
    ("6", "-x is 6"),
    ("6", "|x| is 6"),
    ("6", "x^2 is 6"),
    # Denials.
    ("6", "x is not 6"),
    ("6", "x isn't 6"),
    ("6", "x never is 6"),
    ("6", "x is 6 not"),
    ("6", "x is neither 6 nor 7"),
    ("6", "x is 6, which is wrong."),
    ("6", "x is 6 is wrong"),
    # Hedges.
    ("6", "x is 6 or 7"),
    ("7", "x is 6 or 7"),
    ("6", "x is either 6 or 7"),
    ("6", "x is maybe 6"),
    ("6", "x is 6 maybe"),
    ("6", "x is 6 probably"),
    ("6", "x is 6 unless y is 2"),
    ("6", "If x is 6"),
    ("6", "x could be 6"),
    ("6", "x is less than 6"),
    # Two statements.
    ("6", "x is 6. x is 7."),
    ("6", "x is 6 and y is 7"),
    ("6", "x is 6, y is 7"),
    ("6", "x is 6 and 7"),
    ("6", "5 = x is 6"),
    ("6", "x is 5 is 6"),
    # An operation is left to do.
    ("6", "x is 6 over y"),
    ("6", "x is 6 minus one"),
    ("6", "x is 6 doubled"),
    ("6", "x is 6 thousand"),
    ("6", "x is 6 squared"),
    ("6", "x is 6 dozen"),
    # Neither a question nor a label answers.
    ("6", "x is 6?"),
    ("6", "Case 1 is 6"),
    ("6", "x was 6 before"),
]


@pytest.mark.parametrize(("reference", "sentence"), WRONG)
def test_a_short_sentence_that_states_something_else_is_not_paid(
    reference: str, sentence: str
) -> None:
    paid = [place for place in PLACES if reason(reference, place % sentence) == "equal"]
    assert paid == []


@pytest.mark.parametrize(
    ("reference", "completion"),
    [
        ("6", "<answer>Twice x is 6</answer>"),
        ("6", "<answer>Half of x is 6</answer>"),
        ("6", "<answer>The square of x is 6</answer>"),
        ("6", "<answer>My guess is 6</answer>"),
        ("6", "<answer>Perhaps x is 6</answer>"),
        ("6", "<answer>Suppose x is 6</answer>"),
        ("6", "<answer>No x is 6</answer>"),
        ("6", "<answer>The wrong value is 6</answer>"),
        ("6", "<answer>Originally x was 6</answer>"),
        ("6", "<answer>What is 6</answer>"),
        ("6", "<answer>x is 6 divided by two</answer>"),
        ("6", "<answer>5 and x is 6</answer>"),
        ("6", "<answer>x is 6</answer> <answer>x is 7</answer>"),
        ("6", "\\boxed{x \\text{ is } 6} or \\boxed{x \\text{ is } 7}"),
        ("6", "x is 6. That is wrong."),
        ("6", "x is 6. No."),
        ("6", "x is 6!"),
        ("6", "<answer>x is 6!</answer>"),
        ("6", "x is 6 if y is 2"),
        ("6", "<answer>x is 6 if y is 2</answer>"),
    ],
)
def test_a_sentence_that_supposes_labels_or_takes_back_is_not_paid(
    reference: str, completion: str
) -> None:
    assert reason(reference, completion) != "equal"


@pytest.mark.parametrize(
    ("first", "last"), list(itertools.permutations(("x is 6", "x is 7", "x equals 8."), 2))
)
def test_lines_that_state_two_values_of_one_subject_offer_both(first: str, last: str) -> None:
    for reference in "678":
        assert reason(reference, f"We see.\n{first}\n{last}") == "ambiguous_answer"


def test_lines_that_state_values_of_two_subjects_end_with_the_answer() -> None:
    assert reason("6", "Six in all.\ny is 7\nx is 6") == "equal"


@pytest.mark.parametrize("answer", ["3 eighths", "\\boxed{3\\text{ eighths}}", "x is 3 eighths"])
def test_digits_count_parts_as_words_do(answer: str) -> None:
    assert reason("3/8", answer) == "equal"
    assert reason("3", answer) == reason("8", answer) == reason("3/5", answer) == "different"


def reason(reference: str, completion: str) -> str:
    return str(judge(Accuracy(), {"answer": reference}, completion).reason)
