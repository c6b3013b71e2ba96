"""Answers behind headings, in the sentence of four hashes, before reasons and marks of notes."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.extraction import extract
from verifier_service.verifiers.accuracy import Accuracy

RIGHT = [
    # In Chinese, behind a heading in brackets.
    ("C", "[\u7b54\u6848]: C"),
    ("C", "\u7efc\u4e0a\u6240\u8ff0\uff0c[\u7b54\u6848]:C"),
    ("5", "\u89e3\u5f97 5\u3002\n\n**[\u7b54\u6848]: 5**"),
    ("5", "**\u3010\u7b54\u6848\u3011**\uff1a5"),
    ("\u9519\u8bef", "[\u7b54\u6848]: \u9519\u8bef"),
    # Behind the heading of a whole solution.
    ("1", "\u3010\u7b54\u6848\u3011\n\u89e3\uff1a\u7531 $2a=2$,\u56e0\u6b64,$a=1$"),
    ("7", "Solution: Let x be 3. Then x + 4 = 7."),
    ("3", "Solution:\n2x + 4 = 10\nx = 3"),
    ("14", "Solution:\n1. 3 + 4 = 7\n2. 7 * 2 = 14"),
    ("5", "Solution: 5"),
    ("5", "Solution: $x = 5$\nExplanation: 2 + 3"),
    # In the sentence that the hashes stand in.
    ("448", "Therefore, there would be #### 448 mL of medicine in 8 doses."),
    ("193", "James delivers #### 193 newspapers to District B."),
    ("5", "Ana has 20 - 15 = #### 5 more oranges than Jane after an hour."),
    ("60", "She has #### 60% of her weekend for it."),
    # Before a reason that holds something impossible.
    ("5", "So $n = 5$ as $n=4$ gives $2=3$ which is impossible."),
    # Behind the label of an option.
    ("B", "The answer is B) $6x$."),
    ("6x", "The answer is B) $6x$."),
    ("B", "<answer>(B) \\(y = 6\\)</answer>"),
    ("y = 6", "<answer>Option B: $y=6$</answer>"),
    # Before marks of notes.
    ("1", "One apple: 1 apple [2]."),
    ("3", "3 [2], as shown"),
    ("3", "The answer is 3 [2], as shown."),
]


@pytest.mark.parametrize(("reference", "text"), RIGHT)
def test_the_answer_is_found(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).reason == "equal"


WRONG = [
    ("3", "Solution: Let x be 3. Then x + 4 = 7."),
    ("7", "Solution:\n1. 3 + 4 = 7\n2. 7 * 2 = 14"),
    ("4", "So $n = 5$ as $n=4$ gives $2=3$ which is impossible."),
    ("5", "So $n=4$ gives $n=5$ which is impossible."),
    ("5", "#### 5 is extraneous"),
    ("5", "#### 5 is wrong"),
    ("5", "#### 5 or 6 of them"),
    ("5", "#### 5 less than 10"),
    ("5", "#### 5% of 60"),
    ("5", "#### 5 apples and 6 pears in 3 bags"),
    ("5", "#### 5 apples for A, 6 apples for B"),
    ("3", "#### 3 of 4"),
    ("98", "0. 98"),
    ("C", "The answer is B) $6x$."),
    ("7x", "The answer is B) $6x$."),
]


@pytest.mark.parametrize(("reference", "text"), WRONG)
def test_what_is_not_the_answer_is_not_paid(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 0.0


@pytest.mark.parametrize(
    ("reference", "answer"), [("0. 98", "0.98"), ("$0. 5$", "1/2"), ("0. 5%", r"0.5\%")]
)
def test_a_reference_may_have_a_blank_in_a_decimal(reference: str, answer: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, rf"\boxed{{{answer}}}").reason == "equal"


@pytest.mark.parametrize(
    "piece",
    [
        "#### 5 a of ",
        "of b ",
        "Solution:\n",
        "solution: x=",
        " as $n$",
        "5 [2], as ",
        "\u7b54\u6848]",
    ],
)
@pytest.mark.parametrize("before", ["", "#### 5 apples of", "Solution:\nx ", "$n$ as "])
def test_time_grows_with_the_length_and_no_faster(piece: str, before: str) -> None:
    assert_linear(extract, piece, before=before)


@pytest.mark.parametrize(
    ("right", "text"),
    [
        ("-\\frac{5}{4}", "The answer is -$\\frac{5}{4}$."),
        ("-5", "So we get -$5$."),
        ("5", "Answer:\n- $5$"),
        ("5", "**Answer**: - $5$."),
        ("5", "- $5$"),
        ("-5", "x = - $5$"),
        ("D", "The answer is (D) $5$."),
        ("8", "#### 8 pieces of paper would be used in a 32-page tabloid."),
        ("3", "### Solution:\n$$x = 3$$\nHope this helps"),
        ("12", "Solution:\nThe area = 12\nDone."),
        # Pictures and emphasis around an answer, and clauses behind it.
        ("11", "**Answer:** 11 \u2705"),
        ("11", "**11** \u2714\ufe0f"),
        ("no", "So the answer is **no**, it is not possible."),
        ("mitosis", "The answer is mitosis, in which one cell divides."),
        ("mitosis", "The process is called mitosis."),
        ("True", "Therefore, the claim is true."),
        ("k \\ge 3", "$k$ \u7684\u53d6\u503c\u8303\u56f4\u662f $k\\geqslant 3$\u3002"),
        ("To Kill a Mockingbird", "Solution: To Kill a Mockingbird"),
        ("5", "So $n = 5$ as $n=4$ gives $2=3$ which is impossible."),
        (
            "8",
            "Solution: To find the total we shall have to add each of the parts one by one.\n\n"
            "Therefore, the total is $8$.",
        ),
    ],
)
def test_signs_titles_and_answers_behind_a_heading_are_read(right: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": right}, text).reason == "equal"


@pytest.mark.parametrize(
    "text",
    [
        "The value is not $5$, since $5$ is impossible.",
        "It is not $5$, because $4$ is impossible.",
        "We reject $x=5$, as $x=5$ is extraneous.",
        "$x=5$ as $x=5$ is extraneous",
        "So we get -$5$.",
        "The answer is -$5$.",
        "5 \u274c",
        "The process is not called 5.",
        "The answer is 6, in which case 5 is left.",
        "The answer is 5 unless zero counts, in which case 6.",
        "#### 5 apples at best 6 apples at worst",
        "#### 5 miles in the first hour 60 miles in the second hour",
        "#### 5 minutes in an hour thus 12 hours",
    ],
)
def test_a_value_that_its_own_reason_rejects_or_a_sign_changes_is_not_paid(text: str) -> None:
    assert judge(Accuracy(), {"answer": "5"}, text).score == 0.0


@pytest.mark.parametrize("reference", ["5D", "-5D", "\\frac{5}{D}"])
def test_the_label_of_an_option_is_no_factor(reference: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, "The answer is (D) $5$.").score == 0.0


def test_an_object_is_read_where_the_answer_tag_is() -> None:
    """Whoever extracts boxes alone asks for no tag, and so for no object in its place."""
    text = 'It is so.\n{"reasoning": "so", "answer": "5"}'
    assert judge(Accuracy(), {"answer": "5"}, text).reason == "equal"
    assert judge(Accuracy(extract=("boxed", "math")), {"answer": "5"}, text).score == 0.0
