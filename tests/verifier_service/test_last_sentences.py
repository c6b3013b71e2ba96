r"""Last sentences and lines that give one value among several numbers or formulas.

Each row has a reference, a completion and the score: the value of `**120** ways to arrange the 5
books` is 120, that of `Since $x > 0$, we get $x = 5$.` is 5.
"""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.closing_numbers import number_of_subject
from verifier_service.mathematics.closing_remarks import without_remarks
from verifier_service.mathematics.counted_lists import counted_list
from verifier_service.mathematics.labelled_answers import answers_of_parts, assigned_values
from verifier_service.mathematics.leading_verdict import leading_verdict
from verifier_service.mathematics.stated_sentence import (
    main_clause,
    states_no_value,
    without_closing_aside,
)
from verifier_service.verifiers.accuracy import Accuracy

CHAIN = "x &= 2 + 3 \\\\\n&= 5"
REASON_FIRST = [
    ("5", "So $x=5$ or $x=-5$. Since $x>0$, we get $x=5$.", 1),
    ("-5", "So $x=5$ or $x=-5$. Since $x>0$, we get $x=5$.", 0),
    ("-5", "$x=5$ or $x=-5$. Since $x<0$, it follows that $x=-5$.", 1),
    ("5", "$x=5$ or $x=-5$. Since $x<0$, it follows that $x=-5$.", 0),
    ("5", r"$x=\pm5$. Since $x>0$, $x=5$.", 1),
    ("5", "We have $x^2=25$.\nBecause $x$ is positive, $x=5$.", 1),
    ("5", "$x=5$ or $x=-5$. As $x>0.5$, we have $x=5$ cm.", 1),
    ("5", "So $x = 5$ because $2 + 3 = 5$.", 1),
    ("5", "$x=5$. Since $2+3=5$, this is right.", 1),
    ("5", "Since $x>0$, we do not get $x=5$.", 0),
    ("5", "$x=4$. Since I cannot tell, we guess $x=5$.", 0),
    ("5, -5", "So $x=5$ or $x=-5$.", 1),
    ("5", "So $x=5$ or $x=-5$.", 0),
]
COUNTS = [
    ("120", "There are **120** different ways to arrange the 5 books.", 1),
    ("5", "There are **120** different ways to arrange the 5 books.", 0),
    ("120", "**120** different ways to arrange the 5 books", 1),
    ("6", "6 ways to seat 3 people", 1),
    ("3", "6 ways to seat 3 people", 0),
    ("120", "The 5 books can be arranged in **120** ways.", 1),
    ("5", "5 apples left from the initial 20", 1),
    ("20", "5 apples left from the initial 20", 0),
    ("5", "He has 5 apples left from the initial 20.", 1),
    ("8", "**8** of the original 20 apples are left.", 1),
    ("20", "8 of the 12 remain, so 20", 1),
]
ROWS = [
    ("5", f"We get\n\\begin{{aligned}}\n{CHAIN}\n\\end{{aligned}}", 1),
    ("5", f"We get\n$$\n\\begin{{aligned}}\n{CHAIN}\n\\end{{aligned}}\n$$", 1),
    ("5", f"We get\n\\[\\begin{{split}}{CHAIN}.\\end{{split}}\\]", 1),
    ("5", f"We get\n\\begin{{align*}}\n{CHAIN}\n\\end{{align*}}", 1),
    ("5", f"\\begin{{align*}}\n{CHAIN}\n\\end{{align*}}", 1),
    ("5", f"$$\\begin{{split}}{CHAIN}\\end{{split}}$$", 1),
    ("5", "\\begin{align*}\nx+2 &= 7 \\\\\nx &= 5\n\\end{align*}", 1),
    ("2", f"We get\n\\begin{{aligned}}\n{CHAIN}\n\\end{{aligned}}", 0),
    ("2", r"$$\begin{aligned} x &= 1 \\ y &= 2 \end{aligned}$$", 0),
    ("5", r"\begin{aligned} x &= 5 \\ x &= 6 \end{aligned}", 0),
    ("x=1,y=2", r"$$\begin{cases}x=1\\y=2\end{cases}$$", 1),
]
DECIMALS = [
    ("1/2", "Answer: **1/2** (0.5)", 1),
    ("0.5", "Answer: **1/2** (0.5)", 1),
    ("2/3", "Answer: 2/3 (0.667)", 1),
    ("1/2", "Answer: **1/2** (0.6)", 0),
    ("0.6", "Answer: **1/2** (0.6)", 0),
    ("1/2", "The answer is **1/2** (see above).", 1),
]
FUNCTIONS = [
    ("2x", r"$x\mapsto 2x$", 1),
    ("f(x)=2x", r"$x\mapsto 2x$", 1),
    (r"x \mapsto 2x", "$2x$", 1),
    ("2x", r"$x\mapsto 3x$", 0),
    ("x", r"$x\mapsto 2x$", 0),
    ("12", r"\boxed{x \mapsto 12}", 0),
]
RESIDUES = [
    (r"7 \pmod 9", r"$x \equiv 7 \pmod 9$", 1),
    ("x \\equiv 7 (mod 9)", r"$x \equiv 7 \pmod{9}$", 1),
    ("7 (mod 9)", "x ≡ 7 (mod 9)", 1),
    (r"7 \pmod 9", r"$x \equiv 8 \pmod 9$", 0),
    (r"7 \pmod 9", r"$x \equiv 7 \pmod 8$", 0),
]
CONVERGENCE = [
    ("converges", "convergent", 1),
    ("convergent", "The series converges.", 1),
    ("converges", "The series converges by the ratio test.", 1),
    ("diverges", "The series does not converge.", 1),
    ("divergent", "The series doesn't converge.", 1),
    ("diverges", "The series is not convergent.", 1),
    ("diverges", r"\boxed{\text{divergent}}", 1),
    ("absolutely convergent", "The series converges absolutely.", 1),
    ("converges", "The series does not converge.", 0),
    ("convergent", "The series is not convergent.", 0),
    ("diverges", "The series converges by the ratio test.", 0),
    ("converges", "The series may converge.", 0),
    ("converges", "The series converges or diverges.", 0),
    ("converges", "It is not true that the series converges.", 0),
    ("converges", r"\boxed{\text{not convergent}}", 0),
    ("absolutely convergent", "converges conditionally", 0),
]
PARTS = [
    ("(1) 2; (2) 3", "**(1)** 2\n**(2)** 3", 1),
    ("2, 3", "**(1)** 2\n**(2)** 3", 1),
    ("(1) 2; (2) 3", "So:\n\n(1) $2$;\n(2) $3$.", 1),
    ("(1) 2; (2) 3", "**Answer:**\n**(1)** $2$\n**(2)** $3$", 1),
    ("(a) 1/2; (b) 3", "(a) $\\frac12$\n(b) $3$", 1),
    ("(1) 2; (2) 3", "**(1)** 3\n**(2)** 2", 0),
    ("2, 3", "(1) 3\n(2) 2", 0),
    ("3", "**(1)** 2\n**(2)** 3", 0),
    ("2", "**(1)** 2\n**(2)** 3", 0),
    ("3", "(a) 3", 1),
]
LOGARITHMS = [
    (r"\ln|x| + C", r"\boxed{\ln x + C}", 1),
    (r"\ln x + C", r"\boxed{\ln|x| + C}", 1),
    (r"\ln x + C", r"\boxed{\ln x^2 + C}", 0),
]


@pytest.mark.parametrize(
    ("reference", "text", "score"),
    [
        *REASON_FIRST,
        *COUNTS,
        *ROWS,
        *DECIMALS,
        *FUNCTIONS,
        *RESIDUES,
        *CONVERGENCE,
        *PARTS,
        *LOGARITHMS,
    ],
)
def test_the_last_sentence_gives_its_value(reference: str, text: str, score: int) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == score


@pytest.mark.parametrize("piece", ["Since $x$ ", "as given ", "$5$, ", ". Since, "])
def test_main_clauses_are_found_in_linear_time(piece: str) -> None:
    assert_linear(main_clause, piece)


@pytest.mark.parametrize(
    "piece", [", attained at $x$ ", "(the root $x$ is ", "5. Check: $5$ ", " is $5$", "$", " "]
)
def test_closing_asides_are_found_in_linear_time(piece: str) -> None:
    assert_linear(without_closing_aside, piece)
    assert_linear(without_closing_aside, piece, before="It is $5$, attained at ")


@pytest.mark.parametrize("piece", ["x=5, discarding $x=3$ ", "less than $5$ ", ", not $5$"])
def test_values_that_a_sentence_states_are_found_in_linear_time(piece: str) -> None:
    assert_linear(states_no_value, piece)


def test_remarks_are_found_in_linear_time() -> None:
    assert_linear(without_remarks, ", including 5 a", num_characters=200_000)


@pytest.mark.parametrize("piece", ["x = 5\n", "- $x = 5$\n", "$ * ", "x=5,", "\n"])
def test_values_of_letters_are_found_in_linear_time(piece: str) -> None:
    assert_linear(assigned_values, piece)


@pytest.mark.parametrize("piece", ["5 a: ", "5, ", "5 a and ", ": (", " a"])
def test_counted_lists_are_found_in_linear_time(piece: str) -> None:
    assert_linear(counted_list, piece)
    assert_linear(counted_list, piece, before="5 of them: ", num_characters=400)


@pytest.mark.parametrize("piece", ["no ", ", no", "**", "not so", "$x$. "])
def test_leading_verdicts_are_found_in_linear_time(piece: str) -> None:
    assert_linear(leading_verdict, piece, before="Yes. ")


@pytest.mark.parametrize("piece", ["(1) 2\n", "\n", "** ", "(1)"])
def test_parts_are_found_in_linear_time(piece: str) -> None:
    assert_linear(answers_of_parts, piece)


PARAGRAPHS = [
    (
        "79",
        "1001",
        "We need $13a + 11b + 7c = 1001$, which implies that $2b + 6c$ is even, so it is least at "
        "26 (e.g. with $b = 10$). This gives $a + b + c = 79$.",
    ),
    ("32", r"\frac14", r"Thus we have $z = \frac14$, so we can go back to get $x = 32$."),
    ("32", r"\frac14", r"Now $2z = \frac12$, which gives $z = \frac14$. Finally, $x = 32$."),
    ("9", "4", r"First, $x = 4$ since $x > 0$. Then $y = 9$."),
    ("9", "4", r"The first is $x = 4$ Because $x > 0$, the second is $y = 9$."),
    ("9", "3", "See Fig. 3. Then $x^2 = 81$. Hence $x = 9$, since $x > 0$."),
    ("7", "4", "This cannot be 4. So the smallest integer that fits is 7."),
    ("16", "90", r"Since $x < 90$, we have $2x = 32$ or $3x = 90$. As $3x$ is even, $x = 16$."),
]


@pytest.mark.parametrize(("right", "earlier", "text"), PARAGRAPHS)
def test_the_last_sentence_of_a_paragraph_states_the_answer(
    right: str, earlier: str, text: str
) -> None:
    assert judge(Accuracy(), {"answer": right}, text).score == 1
    assert judge(Accuracy(), {"answer": earlier}, text).score == 0


@pytest.mark.parametrize(
    "text",
    [
        "It is not 4. So the answer is not 5.",
        "I do not know the answer. Now, a guess is 5.",
        "We get $x = 5$, which is not negative. There is no solution.",
        "The equation gives $x = 5$. Hence there are no solutions.",
        "Let $x = 5$. Then $2x = 10$.",
    ],
)
def test_what_a_paragraph_says_before_its_last_sentence_is_no_answer(text: str) -> None:
    assert judge(Accuracy(), {"answer": "5"}, text).score == 0


SUBJECTS = [
    ("3", "The weight is known.\nThree trucks will be needed to transport 80 flagstones.", 1),
    ("80", "The weight is known.\nThree trucks will be needed to transport 80 flagstones.", 0),
    ("5", "5 cars drove through the traffic jam in the first 15 minutes.", 1),
    ("15", "5 cars drove through the traffic jam in the first 15 minutes.", 0),
    ("16", "16 people think that horse #12 will win the big race.", 1),
    ("12", "16 people think that horse #12 will win the big race.", 0),
    ("10", "Ten men can stay upright on the wave.", 1),
    ("2", "Two people accept the position.", 1),
    ("12", "12 cookies were eaten by 4 people.", 1),
    # Later numbers that are the result.
    ("15", "5 bags cost 15 dollars.", 1),
    ("5", "5 bags cost 15 dollars.", 0),
    ("3", "7 of the 10 were sold, leaving 3.", 1),
    ("8", "3 red and 5 blue balls were drawn, so 8.", 1),
    ("240", "12 months have 240 workdays.", 1),
    ("90", "3 friends paid 30 dollars each, which totals 90 dollars.", 1),
    ("30", "15 students passed in each of 2 groups, 30 in total.", 1),
    ("15", "15 students passed in each of 2 groups, 30 in total.", 0),
    # No count.
    ("12", "12 people can not fit.", 0),
    ("2", "Two numbers are prime: 3 and 5.", 0),
    ("2", "Two dice were rolled and the sum is 6.", 0),
    ("5", "5 or 6 people can stay on the wave.", 0),
]


@pytest.mark.parametrize(("reference", "text", "score"), SUBJECTS)
def test_the_number_of_a_subject_is_the_answer_unless_a_later_one_is(
    reference: str, text: str, score: int
) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == score


@pytest.mark.parametrize("piece", ["in the first 15 ", "cars ", "of the "])
def test_the_subject_of_a_long_sentence_is_found_in_linear_time(piece: str) -> None:
    assert_linear(number_of_subject, piece, before="5 cars drove ")
    assert_linear(number_of_subject, piece, before="5 ")


HOW_MANY = [
    ("4", "So, there are 4 queries that have a value lower than 0.50.", 1),
    ("0.50", "So, there are 4 queries that have a value lower than 0.50.", 0),
    ("2", "There are two bars with values larger than 4.", 1),
    ("4", "After removing all cubes, there are a total of four objects on the table.", 1),
    ("3", "There are three objects preferred by more than 7 people in at least one year.", 1),
    ("0", "There are 0 bars with values smaller than 0.", 1),
    ("3", "There are 3 large objects behind the bus and 2 tiny ones.", 0),
    ("4", "There are not 4 items larger than 5.", 0),
    ("4", "If we add them, there are 4 items larger than 5.", 0),
    ("4", "I doubt there are 4 items larger than 5.", 0),
    ("4", "There are 4 items, maybe, larger than 5.", 0),
    ("4", "There are 4 times more than 5.", 0),
    ("4", "There are 4 items larger than 5, which is wrong.", 0),
    ("5", "There are 5 boxes larger than 3, so we use 6.", 0),
]


@pytest.mark.parametrize(("reference", "text", "score"), HOW_MANY)
def test_a_sentence_that_counts_may_bound_what_it_counts(
    reference: str, text: str, score: int
) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == score


@pytest.mark.parametrize(
    "piece", ["there are ", "there are 4 items ", "larger than 5 ", "at least one, ", "so "]
)
def test_what_a_sentence_counts_is_found_in_linear_time(piece: str) -> None:
    assert_linear(number_of_subject, piece, before="There are 4 items ")


@pytest.mark.parametrize(
    "offer",
    [
        "Is there anything else I can help you with?",
        "Do you have any other questions?",
        "I hope this helps! Let me know if I can explain a step.",
    ],
)
@pytest.mark.parametrize("end_of_line", ["\n", "\r\n"])
def test_an_offer_of_help_is_no_answer(offer: str, end_of_line: str) -> None:
    text = f"The sum is 3 + 6 = **9**.{end_of_line}{end_of_line}{offer}"
    assert judge(Accuracy(), {"answer": "9"}, text).score == 1


def test_an_offer_that_names_an_option_is_no_courtesy() -> None:
    text = "The sum is 9.\n\nWould you like me to choose B?"
    assert judge(Accuracy(), {"answer": "9"}, text).score == 0
