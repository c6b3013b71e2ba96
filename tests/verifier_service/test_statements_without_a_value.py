"""Answers whose notation denies, bends or contradicts a value, each beside an honest twin."""

from __future__ import annotations

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy


@pytest.mark.parametrize(
    ("reference", "wrong", "right"),
    [
        # Relations of several variables have a direction.
        ("a > b", "b > a", "b < a"),
        ("a > b", r"a \ne b", "a > b"),
        ("a - b > 0", "b - a > 0", "a > b"),
        ("x^2 > y^2", "y^2 > x^2", "y^2 < x^2"),
        # A unit without a dimension is no currency.
        (r"5 \text{ m}", r"5 \text{ m/km}", r"500 \text{ cm}"),
        (r"5 \text{ dollars}", r"5 \text{ euros}", r"\$5"),
        # Solutions of a system: which y belongs to which x.
        ("x=1, y=2 or x=3, y=4", "x=1, y=4 or x=3, y=2", "y=4, x=3 or x=1, y=2"),
        ("p=5, q=2; p=7, q=3", "(5, 3), (7, 2)", "(7, 3), (5, 2)"),
        ("(1, 2), (3, 4)", "x=1, y=4; x=3, y=2", "x=3, y=4; x=1, y=2"),
        (
            r"(x, y) = (1, 2) \text{ or } (3, 4)",
            r"\begin{cases}x=1\\y=4\end{cases} \text{ or } \begin{cases}x=3\\y=2\end{cases}",
            r"\begin{cases}x=1\\y=2\end{cases} \text{ or } \begin{cases}x=3\\y=4\end{cases}",
        ),
        # Groups of digits, between which LaTeX drops a space.
        ("32349", r"32,\! 34", r"32,\! 349"),
        ("32349", "32{,} 3490", "32{,} 349"),
        # Denials.
        ("x = 5", r"x \not= 5", "x = 5"),
        (r"x \ne 5", "x = 5", r"x \not= 5"),
        (r"x \ne 5", "x = 5", "x =\u0338 5"),
        ("x < 5", r"x \not< 5", r"x \not\ge 5"),
        ("5", r"\text{not } x = 5", r"\text{number of notes} = 5"),
        ("5", "wrong = 5", r"\text{wrong answers} = 5"),
        (r"[1, 2]", r"x \not\in [1, 2]", r"x \in [1, 2]"),
        # Words that change a number, and words that name what is counted.
        ("5", r"5 \text{ negative}", r"5 \text{ negative roots}"),
        ("5", r"5 \text{ crore}", r"5 \text{ crows}"),
        ("500000", r"5 \text{ crore}", r"5 \text{ lakh}"),
        ("5", r"5 \text{ point five}", r"5 \text{ points}"),
        ("5", r"5 \text{ at most}", r"5 \text{ boats}"),
        ("5", r"5 \text{ mod 3}", r"5 \text{ models}"),
        (r"5 \pmod 7", r"5 \text{ mod 3}", r"5 \text{ mod 7}"),
        ("500", r"500 \text{ gross}", r"\$500 \text{ gross}"),
        # False chains, and chains that are rounded or true.
        (r"\frac{17}{3}", r"\frac{17}{3} \approx 9", r"\frac{17}{3} \approx 6"),
        ("149", r"149 \approx 148", r"149 \approx 150"),
        ("5", r"5 \equiv 6", r"f(x) \equiv 5"),
        ("6", "5 := 6", "x := 6"),
        ("z", "x = y = z", "(z)"),
        ("0", "a + b = 1", "a + b = 0"),
        ("(1, 2)", "(2, 1) = (1, 2)", r"(\frac{2}{2}, \frac{4}{2}) = (1, 2)"),
        ("x^2", "x + 1 = 2x = x^2", r"y = x \cdot x = x^2"),
        ("5", "a + b = 5 = 6", "a + b = 2 + 3 = 5"),
        (r"5 \text{ km}", r"5 \text{ m} = 5 \text{ km}", r"5000 \text{ m} = 5 \text{ km}"),
        ("5", r"7 = 5 \text{ apples}", r"2 + 3 = 5 \text{ apples}"),
        ("5", r"7 \text{ apples} = 5 \text{ apples}", r"5 \text{ apples} = 5 \text{ apples}"),
        ("5", r"n = 7 = 5 \text{ apples}", r"n = 2 + 3 = 5 \text{ apples}"),
        # Equations that state a value, and equations to solve.
        ("5", r"\log a = 5", r"\log_a b = 5"),
        ("5", "|a - 5| = 5", "|2a + b| = 5"),
        (r"\frac{3}{5}", r"\ln a = \frac{3}{5}", r"\sin A = \frac{3}{5}"),
        ("5", r"\sin A = 5", r"\tan A = 5"),
        # Functions that bend outside an interval.
        ("10 - x", "|x - 10|", "-(x - 10)"),
        ("|x - 10|", "10 - x", r"\sqrt{(x - 10)^2}"),
        ("x", r"\min(x, 10^{50})", r"\min(x, x + 1)"),
        ("0", r"\lfloor \frac{x^2}{10^{30}} \rfloor", r"\lfloor \frac12 \rfloor"),
        (r"\max(x, y)", r"\max(x, 10^{9})", r"\frac{x + y + |x - y|}{2}"),
        ("e^x", "|e^x - 1|", "|e^x|"),
        # Texts that differ in an article, in case or in a colon.
        (r"sin x", "a sin x", r"\sin x"),
        ("the circle", "a cos x", "a circle"),
        ("xyz", "XYZ", "zyx"),
        ("YES", "No", "yes"),
        ("1, 2", "1: 2", "1; 2"),
        # No value.
        ("0", r"\frac{5-5}{0}", r"\frac{5-5}{1}"),
        ("0", r"\frac{x-x}{0}", r"\frac{x-x}{2}"),
        ("85", "42 43", "42 + 43"),
        # Products of matrices, with products in them.
        (r"A \cdot B \cdot A", "A^2B", r"A B \cdot A"),
    ],
)
def test_a_statement_without_the_value_is_wrong_and_its_twin_is_right(
    reference: str, wrong: str, right: str
) -> None:
    assert judge(Accuracy(), {"answer": reference}, rf"\boxed{{{wrong}}}").score == 0.0
    assert judge(Accuracy(), {"answer": reference}, rf"\boxed{{{right}}}").score == 1.0
