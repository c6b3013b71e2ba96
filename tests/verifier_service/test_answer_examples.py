"""Verdicts with their reasons, on an example of each class of answers that graders get wrong.

The classes themselves, with further members of each, are tested where their rules are: in
`test_false_acceptances`, `test_answer_form`, `test_written_answers`, `test_notation_readings`,
`test_reference_answer` and `test_offered_answers`.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy


def reason(reference: Any, completion: str, options: dict[str, Any]) -> str:
    try:
        return str(judge(Accuracy(**options), {"answer": reference}, completion).reason)
    except Unverifiable:
        return "unverifiable"


@pytest.mark.parametrize(
    ("expected", "reference", "completion", "options"),
    [
        ("different", "38", r"\boxed{38.0000021}", {}),
        ("different", "123456789", r"\boxed{123456700.0}", {}),
        ("different", "1000000", r"\boxed{1000000.9}", {}),
        ("different", "100!", r"\boxed{9.3326215\times10^{157}}", {}),
        ("different", "600/7", r"\boxed{85.71}", {}),
        ("different", "85.71", r"\boxed{600/7}", {}),
        ("equal", "600/7", r"\boxed{85.71}", {"rounding": 3}),
        ("equal", "85.71", r"\boxed{600/7}", {"rounding": 3}),
        ("equal", "3.14", r"\boxed{\pi}", {"rounding": 3}),
        ("equal", r"\pi", r"\boxed{3.14}", {"rounding": 3}),
        ("different", "5", r"\boxed{3=4=5}", {}),
        ("different", "5", r"\boxed{x=4=5}", {}),
        ("different", "101", r"\boxed{101_2}", {}),
        ("different", "5", r"\boxed{5^{+1}_{-1}}", {}),
        ("different", "5", "at least 5", {}),
        ("different", "5", r"\boxed{\text{at least }5}", {}),
        ("ambiguous_answer", "7", "Possible values: 5, 6, 7", {}),
        ("ambiguous_answer", "12", "Answer 1: 11 / Answer 2: 12", {}),
        ("ambiguous_answer", "12", "Answer 1: 11\nAnswer 2: 12", {}),
        ("different", "a^{bc}", r"\boxed{(a^b)^c}", {}),
        ("different", "x=y", r"\boxed{\sqrt x=\sqrt y}", {}),
        ("different", "y=x", r"\boxed{y\ne x}", {}),
        ("different", "AB", r"\boxed{BA}", {}),
        ("equal", "888", r"\boxed{37*24}", {}),
        ("unevaluated", "888", r"\boxed{37*24}", {"form": "evaluated"}),
        ("unevaluated", "5050", r"\boxed{\sum_{k=1}^{100}k}", {"form": "evaluated"}),
        ("unevaluated", "4", "<answer>9-5</answer>", {"form": "evaluated"}),
        ("other_form", "x^2+2x+1", r"\boxed{(x+1)^2}", {"form": "same"}),
        ("equal", "x^2+2x+1", r"\boxed{(x+1)^2}", {"form": "evaluated"}),
        ("equal", r"\frac12", r"\boxed{\frac12}", {"form": "evaluated"}),
        ("equal", r"\sqrt2", r"\boxed{\sqrt2}", {"form": "evaluated"}),
        ("equal", r"2\pi", r"\boxed{2\pi}", {"form": "evaluated"}),
        ("unevaluated", "1", r"\boxed{\lim_{x\to0}\frac{\sin x}{x}}", {"form": "evaluated"}),
        ("unevaluated", "6", r"\boxed{\gcd(12,18)}", {"form": "evaluated"}),
        ("unevaluated", "10", r"\boxed{\binom52}", {"form": "evaluated"}),
        ("unevaluated", r"\frac12", r"\boxed{\frac24}", {"form": "evaluated"}),
        ("unevaluated", "1/3", r"\boxed{\int_0^1 x^2 dx}", {"form": "evaluated"}),
        ("equal", "no", "boxed{no}", {}),
        ("equal", "5", r"\boxed{5 \text{ (as required)}}", {}),
        ("equal", "42", "> **42**", {}),
        ("equal", "42", "__42__", {}),
        ("equal", "18", "```\n18\n```", {}),
        ("equal", "60", "| item | price |\n|---|---|\n| tea | 20 |\n| Total | 60 |", {}),
        ("equal", "18", "Total = `18`", {}),
        ("equal", "no solution", "The equation has no solution.", {}),
        ("equal", "Saturday", "The day is Saturday.", {}),
        ("equal", "Yes", "Yes, it is.", {}),
        ("equal", "5", "We compute.\n\nNote that the answer is 5.", {}),
        ("equal", "5", "We compute.\n\nCheck: it works, so \\boxed{5}", {}),
        ("equal", "5", "We compute.\n\nVerify: the answer is 5.", {}),
        ("equal", "5", "We compute.\n\nHint: \\boxed{5}", {}),
        ("equal", "ax-ay", "ax - ay", {}),
        ("equal", "ax - ay", r"\boxed{ax-ay}", {}),
        ("equal", "ab-cd", r"\boxed{ab - cd}", {}),
        ("equal", "ma", r"\boxed{am}", {}),
        ("equal", "mn", r"\boxed{nm}", {}),
        ("equal", "ay+by", r"\boxed{y(a+b)}", {}),
        ("equal", "0", r"\boxed{\sin\pi}", {}),
        ("equal", "0", r"\boxed{e^{i\pi}+1}", {}),
        ("equal", r"3 \times 10^8 \text{ m/s}", r"\boxed{3 \times 10^{8} \text{ m/s}}", {}),
        ("equal", "5 km/h", r"\boxed{5 \frac{\text{km}}{\text{h}}}", {}),
        ("equal", r"\{1,-1,2\}", r"\boxed{\{\pm1,2\}}", {}),
        ("equal", "(1,2),(-1,2)", r"\boxed{(\pm 1, 2)}", {}),
        ("equal", "x=2y", r"\boxed{y=x/2}", {}),
        ("equal", "5", r"\boxed{5=x}", {}),
        ("equal", "x=5", r"\boxed{5=x}", {}),
        ("equal", "y=2x+1", r"\boxed{2x-y+1=0}", {}),
        ("equal", "y=2x+1", r"\boxed{2x+1=y}", {}),
        ("equal", r"x\ge3", r"\boxed{3\le x}", {}),
        ("equal", "A=5", r"\boxed{\text{Area}=5}", {}),
        ("equal", "2x+y=4", r"\boxed{y=4-2x}", {}),
        ("equal", "x>2", r"\boxed{2<x}", {}),
        ("equal", "x+y=1", r"\boxed{1=x+y}", {}),
        ("equal", "f(x)=2x", r"\boxed{2x=f(x)}", {}),
        ("equal", r"(-\infty,1]\cup\{3\}", r"\boxed{x\le 1 \text{ or } x=3}", {}),
        ("equal", r"\mathbb{R}\setminus\{0\}", r"\boxed{\{x \in \mathbb{R} | x \ne 0\}}", {}),
        ("equal", r"\{x | x\ne 0\}", r"\boxed{\mathbb{R}-\{0\}}", {}),
        ("equal", "12345", r"\boxed{12\;345}", {}),
        ("equal", "12345", r"\boxed{12,\!345}", {}),
        ("equal", "12345", r"\boxed{12'345}", {}),
        ("equal", r"\$5.50", r"\boxed{USD 5.50}", {}),
        ("equal", r"\$5.50", r"\boxed{US$5.50}", {}),
        ("equal", "£20", r"\boxed{20 pounds}", {}),
        ("equal", "€12.50", r"\boxed{€12,50}", {}),
        ("equal", "2 h 30 min", r"\boxed{150 min}", {}),
        ("equal", r"45^{\circ}30^{\prime}", r"\boxed{45.5^\circ}", {}),
        ("equal", "H2O", r"\boxed{\ce{H2O}}", {}),
        ("equal", r"\ce{2H2 + O2 -> 2H2O}", r"\boxed{2H_2 + O_2 \rightarrow 2H_2O}", {}),
        ("equal", "120", r"\boxed{C(10,3)}", {}),
        ("equal", "120", r"\boxed{C_{10}^3}", {}),
        ("equal", r"\frac{\pi}{6}", r"\boxed{\operatorname{arccsc} 2}", {}),
        ("equal", r"\frac{1}{\sinh x}", r"\boxed{\operatorname{csch} x}", {}),
        ("equal", r"x^2\ge4", r"\boxed{x^4\ge16}", {}),
        ("equal", r"|x|\le3", r"\boxed{x^2\le9}", {}),
        ("equal", r"\frac{\pi}{2}+k\pi", r"\boxed{\frac{\pi}{2}+n\pi, n\in\mathbb{Z}}", {}),
        (
            "equal",
            r"\bigcup_{k\in\mathbb{Z}}(k\pi,k\pi+1)",
            r"\boxed{\bigcup_{n\in\mathbb{Z}}(n\pi,n\pi+1)}",
            {},
        ),
        (
            "equal",
            r"\sum_{k=0}^\infty \frac{x^k}{k!}",
            r"\boxed{\sum_{n=0}^\infty \frac{x^n}{n!}}",
            {},
        ),
        ("unverifiable", "proof", r"\boxed{2}", {}),
        (
            "unverifiable",
            "We show that the sum of two even numbers is even. Let a and b be even. Then their "
            "sum is even as well, which was to be shown. So the claim holds for all of them.",
            r"\boxed{2}",
            {},
        ),
        ("equal", "$$2$$", r"\boxed{2}", {}),
        ("equal", r"\begin{align} x &= 2 \end{align}", r"\boxed{2}", {}),
        ("equal", r"\text{(A)}", r"\boxed{A}", {}),
        ("equal", "48/2=24\n#### 72", r"\boxed{72}", {}),
        ("equal", "[1, 2]", r"\boxed{[1,2]}", {}),
        ("equal", "True", r"\boxed{True}", {}),
        ("equal", "True", "True", {}),
        ("equal", '{"x": 3}', r"\boxed{x=3}", {}),
        ("equal", "['4']", r"\boxed{4}", {}),
        ("equal", '["4","5"]', r"\boxed{5}", {}),
        ("different", '["4","5"]', r"\boxed{5}", {"reference_list": "all"}),
        ("equal", '["4","5"]', r"\boxed{4,5}", {"reference_list": "all"}),
        ("equal", "3,5", r"\boxed{3.5}", {"decimal_comma": True}),
        ("equal", "3.5", r"\boxed{3,5}", {"decimal_comma": True}),
        ("equal", "5", "<solution>5</solution>", {"tags": ("answer", "solution")}),
        ("equal", "B", "<choice>B</choice>", {"tags": ("choice",)}),
        ("equal", "5", "<answer>**5**</answer>", {}),
        ("equal", "5", "<answer>\n```\n5\n```\n</answer>", {}),
        ("equal", "5", "<solution>**5**</solution>", {"tags": ("solution",)}),
        ("equal", "x^2", "<answer>$x^2$</answer>", {}),
    ],
)
def test_an_example_has_its_verdict(
    expected: str, reference: Any, completion: str, options: dict[str, Any]
) -> None:
    assert reason(reference, completion, options) == expected


@pytest.mark.parametrize(
    ("reference", "completion"), [(72, "72"), (3.5, "3.5"), (True, "True"), (-1, "-1")]
)
def test_a_value_of_json_is_a_reference(reference: Any, completion: str) -> None:
    assert reason(reference, rf"\boxed{{{completion}}}", {}) == "equal"
