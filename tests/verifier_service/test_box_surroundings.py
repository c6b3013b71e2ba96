"""Text around a box that makes it a part of a formula, one of several values, or no answer."""

from __future__ import annotations

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy


@pytest.mark.parametrize(
    ("reference", "wrong", "right"),
    [
        # The operator right beside a box has it as an operand.
        ("41", r"$\boxed{41}+1$", r"$40 + 1 = \boxed{41}$"),
        ("41", r"$\boxed{41} - 1$", r"\boxed{41} - as we wanted to show."),
        ("41", r"$2\cdot\boxed{41}$", r"$41 \cdot 1 = \boxed{41}$"),
        ("41", r"$\boxed{41} - a$", r"\boxed{41} - a nice result."),
        ("41", r"$\boxed{41} + C$", r"\boxed{41} + I'd say that is large."),
        ("41", r"\boxed{41} / x", r"\boxed{41} / I am sure."),
        ("41", r"\boxed{42} Hmm.", r"\boxed{41} Hmm, is that right? 40 + 1 = 41. Yes."),
        ("82", r"$\boxed{82}/2$", r"$2\cdot\boxed{41}$"),
        ("41", r"$x = 1 + \boxed{41}$", r"$x + 1 = 1 + 41$, so $x = \boxed{41}$"),
        ("41", r"$\boxed{41}^2$", r"$\boxed{41}^\circ$"),
        ("41", r"$\boxed{41}_8$", r"$\boxed{41}$_"),
        ("41_8", r"$\boxed{41}_9$", r"$\boxed{41}_8$"),
        ("41", r"$\boxed{41}!$", r"\boxed{41}!"),
        ("41", r"$\boxed{41}x$", r"$\boxed{41}$ x"),
        ("41", r"$\boxed{41}i$", r"It is \boxed{41}, I think."),
        ("41", r"$\boxed{41}0$", r"\boxed{41} 0 errors"),
        ("41", r"\boxed{41}.5", r"\boxed{41}. 5 of these are even."),
        ("41", r"$\sqrt{\boxed{41}}$", r"$\mathbf{\boxed{41}}$"),
        ("41", r"$\frac{\boxed{41}}{2}$", r"$\frac{82}{2} = \boxed{41}$"),
        ("41", r"$\ln\boxed{41}$", r"$\ln e^{41} = \boxed{41}$"),
        ("41", r"$\pm\boxed{41}$", r"$\boxed{41}$"),
        ("41", r"$\boxed{41}\times 10^3$", r"$\boxed{41}$ $\times$"),
        ("x^2", r"$\boxed{x^2} + C$", r"$\boxed{x^2}$ + C"),
        ("41", r"\boxed{41} million", r"\boxed{41} of a million"),
        ("41", r"The answer is \boxed{41} plus 1.", r"\boxed{41}, plus a check."),
        # An equation that the box completes, and a unit behind it.
        ("4", r"$x^2 + \boxed{4}x$", r"$x^2 + 4x + \boxed{4} = (x+2)^2$"),
        ("5 m", r"$\boxed{5}^2$ m", r"\boxed{5}m"),
        # Words before a box that bound it, change it or suppose it.
        ("41", r"It is greater than \boxed{41}.", r"It is greater than 40: it is \boxed{41}."),
        ("41", r"It is twice \boxed{41}.", r"It is twice 20.5, or \boxed{41}."),
        ("41", r"one more than \boxed{41}", r"one more than 40 is \boxed{41}"),
        ("41", r"If the answer were \boxed{41}, x = 1.", r"This holds if x is \boxed{41}."),
        ("41", r"I doubt that \boxed{41} is right.", r"No doubt that \boxed{41} is right."),
        # Values that are offered beside it.
        ("42", r"\boxed{42} (or 43)", r"\boxed{42} (or 42.0)"),
        ("1/2", r"$\boxed{\frac12}$ or $\frac13$.", r"$\boxed{\frac12}$ or $0.5$."),
        ("1/2", r"$\boxed{\frac12}$, or 60\%", r"$\boxed{\frac12}$, or 50\%"),
        ("2/3", r"\boxed{\frac23} or 0.7", r"\boxed{\frac23} or about 0.667"),
        ("42", r"\boxed{42}, \text{but possibly } 43", r"\boxed{42}, but possibly by luck."),
        ("42", r"\boxed{42}, 43, or 44.", r"\boxed{42}, 43 less than 85."),
        ("42", r"Candidates: \boxed{42}, 43", r"\boxed{42}."),
        ("42", r"\boxed{42} (or else $43$)", r"\boxed{42} (or else $J$ would have two factors)"),
        ("42", r"\boxed{42}, or 43 would also work", r"\boxed{42} (or else 43 has four factors)"),
        # A quotient of units behind it.
        (
            "25 miles/day",
            r"$\boxed{25}\frac{\text{miles}}{\text{hour}}$",
            r"$= \boxed{25}\frac{\text{miles}}{\text{day}}.$",
        ),
        (
            "5",
            r"$\boxed{5}\frac{\text{x}}{\text{y}}$",
            r"$\boxed{5} \frac{\mathrm{m}}{\mathrm{s}}$",
        ),
        ("2.5 hours", r"\boxed{2.5} or 3", r"\boxed{2.5} or 150 minutes"),
        ("B", r"\boxed{B} or C", r"\boxed{B} or so it seems"),
    ],
)
def test_the_text_around_a_box_counts(reference: str, wrong: str, right: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, wrong).score == 0.0
    assert judge(Accuracy(), {"answer": reference}, right).reason == "equal"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            r"\boxed{41}. Wait, this doesn't satisfy the equation.",
            r"\boxed{41}. Wait, this doesn't look right. But 41 + 1 = 42, so it is 41.",
        ),
        (r"\boxed{41}. Oh no, I forgot to add 3.", r"\boxed{41}. Oh no, was it hard!"),
        (r"\boxed{41} Actually, the correct answer is 42.", r"\boxed{41} Actually, it is 41."),
        (r"\boxed{41}. Actually, it is 42.", r"\boxed{41}. Actually, it is 40 + 1."),
        (r"\boxed{41}. Update: the answer is 42.", r"\boxed{41}. Update: the answer is 41."),
        (r"\boxed{41} was my first guess.", r"\boxed{41} was the number of apples."),
        (r"$\boxed{41}$ is the naive estimate.", r"$\boxed{41}$ is the first term over 40."),
        (r"\boxed{41} is my initial thought.", r"\boxed{41} is the initial number of apples."),
        # An operation to be done with it; but a division has a remainder.
        (r"It is \boxed{41} when divided by 4.", r"It leaves $\boxed{41}$ when divided by 44."),
        (
            r"The remainder is 2. So $\boxed{41}$ when multiplied by 2.",
            r"The remainder is $\boxed{41}$ when it is divided by 44.",
        ),
        (
            r"The remainder is 2. So $\boxed{41}$ when divided by 2.",
            r"So $\boxed{41}$ is the first prime with remainder $1$ when divided by $5$.",
        ),
        (r"\boxed{41} fails the check.", r"\boxed{41}. 42 fails the check."),
        (r"\boxed{41} does not work.", r"\boxed{41}. 42 does not work."),
        (r"\boxed{41} is too large.", r"\boxed{41}. 42 is too large."),
        (r"\boxed{41} is only a lower bound.", r"\boxed{41} is the largest lower bound."),
        (r"The square of \boxed{41}.", r"The square root of 1681 is \boxed{41}."),
        ("The answer is 41. Actually, it is 42.", "The answer is 41. Actually, it is 41."),
        ("The answer is 41. Sorry, I meant 42.", "The answer is 41. Sorry for the delay."),
        ("The answer is 41... no, 42.", "The answer is 41... no, really."),
    ],
)
def test_what_follows_an_answer_can_take_it_back(wrong: str, right: str) -> None:
    assert judge(Accuracy(), {"answer": "41"}, wrong).score == 0.0
    assert judge(Accuracy(), {"answer": "41"}, right).reason == "equal"


@pytest.mark.parametrize(
    ("reference", "wrong", "right"),
    [
        ("B", r"\boxed{B}. Wait, this isn't prime.", r"\boxed{B}. Wait, this isn't A. Right, B."),
        ("x", r"\boxed{x}. Wait, it doesn't fit.", r"\boxed{x}. Wait, it doesn't fit. Yes: x."),
    ],
)
def test_a_letter_that_is_doubted_comes_back_as_a_number_does(
    reference: str, wrong: str, right: str
) -> None:
    assert judge(Accuracy(), {"answer": reference}, wrong).score == 0.0
    assert judge(Accuracy(), {"answer": reference}, right).reason == "equal"


@pytest.mark.parametrize(
    ("reference", "wrong", "right"),
    [
        # A number in a line of its own is no factor of the box below it.
        ("42", "4\n\\boxed{2}", "4\n\\boxed{42}"),
        ("2", "$-\\boxed{2}$", "-\n\\boxed{2}"),
        # A coefficient is the number before its power; another formula is what it is.
        ("37", r"The term is $\boxed{37}x^3$.", r"The coefficient of $x^3$ is $\boxed{37}x^3$."),
        (
            "37",
            r"The coefficient of $x^3$ is $2\cdot\boxed{37}x^3$.",
            r"So the coefficient is $\boxed{37}x^{3}$.",
        ),
        ("37", r"The coefficient is $\boxed{37}x^3 + 5$.", r"The coefficient is $\boxed{37}$."),
        ("37x^3", r"The term is $\boxed{36}x^3$.", r"The term is $\boxed{37}x^3$."),
    ],
)
def test_what_stands_in_another_line_or_is_a_power_is_no_operand(
    reference: str, wrong: str, right: str
) -> None:
    assert judge(Accuracy(), {"answer": reference}, wrong).score == 0
    assert judge(Accuracy(), {"answer": reference}, right).score == 1


@pytest.mark.parametrize(
    ("number", "term", "text"),
    [
        ("2", "2x", r"If the coefficient is 1, the line is $y=\boxed{2}x$."),
        ("3", "3x^2", r"Since the coefficient is 3, the derivative is $\boxed{3}x^2$."),
        ("2", "2x", r"With leading coefficient 2 we get $\boxed{2}x$."),
        ("37", "37x^3", r"The term with the largest coefficient is $\boxed{37}x^3$."),
        ("3", "3x", r"The coefficient of $x$ is 3 and the line is $\boxed{3}x$."),
    ],
)
def test_a_coefficient_named_earlier_leaves_the_term_as_the_answer(
    number: str, term: str, text: str
) -> None:
    assert judge(Accuracy(), {"answer": term}, text).reason == "equal"
    assert judge(Accuracy(), {"answer": number}, text).reason == "different"
