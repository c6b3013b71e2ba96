"""The option `form` of `accuracy`: operations that are left to do, and forms of expressions."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tests.verifier_service.judging import judge
from verifier_service.reason import EngineReason
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

LEAVES_AN_OPERATION = [
    # reference, answer
    ("888", "37*24"),
    ("888", r"37\times24"),
    ("888", r"37 \cdot 24"),
    ("5050", r"\sum_{k=1}^{100}k"),
    ("4", "9-5"),
    ("1/2", r"\frac{2}{4}"),
    ("120", "5!"),
    ("10", r"\binom{5}{2}"),
    ("4", r"\gcd(12,8)"),
    ("1024", "2^{10}"),
    ("4", r"\sqrt{16}"),
    ("3", r"\log_2 8"),
    ("1/2", r"\sin 30^\circ"),
    (r"\frac{\sqrt2}{2}", r"\sin\frac{\pi}{4}"),
    (r"\frac{\pi}{4}", r"\arctan 1"),
    ("-1", r"e^{i\pi}"),
    ("5", "101_2"),
    ("x=3", "2x+4=10"),
    ("x<3", "2x+1<7"),
    ("3", "|{-3}|"),
    ("2", r"\frac{4}{2}"),
    ("2", "4/2"),
    ("3x", "2x+x"),
    ("6x", r"2\cdot3x"),
    ("x+3", "x+1+2"),
    (r"\sqrt6", r"\sqrt2\sqrt3"),
    ("(4,5)", "(9-5,5)"),
    (r"\{4,5\}", r"\{9-5,5\}"),
    ("x=4", "x=9-5"),
    ("370", "37*10"),
    ("37000", "37*1000"),
    ("1.5", r"\frac{3}{4}\cdot2"),
    (r"\frac{\pi}{2}", r"\frac{2\pi}{4}"),
    (r"1+\sqrt2", r"\frac{2+2\sqrt2}{2}"),
    (r"\frac13", r"\int_0^1 x^2 dx"),
    ("1", r"\lim_{x\to0}\frac{\sin x}{x}"),
    ("3:4", "6:8"),
    ("4 cm", "9-5 cm"),
    (r"50\%", r"25*2\%"),
    ("1.5", r"1\frac{2}{4}"),
    ("0.5", "1/2+0"),
    ("[0,4]", "[0,9-5]"),
    (r"\begin{pmatrix}4\\1\end{pmatrix}", r"\begin{pmatrix}9-5\\1\end{pmatrix}"),
    ("888", r"\frac{37\times24}{1}"),
    ("888", "37(24)"),
    ("888", "888+0"),
    ("888", r"1\cdot888"),
    ("888", "888^1"),
    ("888", r"\sqrt{888^2}"),
    ("888", "37*24=37*24"),
    ("888", "37 · 24"),
    ("888", r"37\cdot24\text{ cm}"),
    ("888", r"37\div\frac{1}{24}"),
    ("888", "1776/2"),
    ("-2", r"\begin{vmatrix}1&2\\3&4\end{vmatrix}"),
    ("x^2", r"\int 2x dx"),
    ("12", r"\operatorname{lcm}(4,6)"),
    ("1", r"\sin^2 x+\cos^2 x"),
    ("x", "x+0"),
    (r"\{1,2\}", r"\{1\}\cup\{2\}"),
    ("i", r"\sqrt{-1}"),
    ("-1", "i^2"),
    pytest.param(r"\frac{\pi^2}{6}", r"\sum_{n=1}^\infty\frac1{n^2}", marks=pytest.mark.slow),
    ("(4,1)", "x=9-5, y=1"),
    ("8", "2³"),
]
IS_A_VALUE = [
    # reference, answer
    ("0.5", r"\frac12"),
    ("1.4142135624", r"\sqrt2"),
    ("6.2831853072", r"2\pi"),
    (r"\sqrt2+1", r"1+\sqrt2"),
    ("(x+1)^2", "x^2+2x+1"),
    ("x^2+2x+1", "(x+1)^2"),
    ("300000000", r"3\times10^8"),
    ("-4", "-4"),
    ("3/2", r"1\frac12"),
    ("(1,2)", "(1,2)"),
    ("4", "2+2=4"),
    ("2^{10}", "1024"),
    ("2+3", "5"),
    ("5", "x=5"),
    ("3", "3.0"),
    (r"\frac{x}{2}", "0.5x"),
    (r"\frac{1+\sqrt5}{2}", r"\frac{\sqrt5+1}{2}"),
    ("3+4i", "4i+3"),
    ("1000000", "10^6"),
    ("3000000", "3 million"),
    (r"60^\circ", r"\frac{\pi}{3}"),
    (r"-\frac{3}{4}", "-3/4"),
    ("x<3", "3>x"),
    (r"\ln 2", r"\ln 2"),
    ("0.6931471806", r"\ln 2"),
    (r"\frac{2\sqrt3}{3}", r"\frac{2}{\sqrt3}"),
    (r"2\sqrt2", r"\sqrt8"),
    ("5040", "5040"),
    ("9-5", "9-5"),
    ("3-x", "-x+3"),
    ("n!", "n!"),
    ("2^{n}", "2^n"),
    ("e^2", "e^2"),
    ("12 cm", "12 cm"),
    ("1 hour 30 minutes", "90 minutes"),
    (r"50\%", "50%"),
    (r"\pm3", "3,-3"),
    (r"\frac{1}{x+1}", "1/(x+1)"),
    ("y=2x+3", "y=3+2x"),
    (r"\frac{7\pi}{4}", r"\frac{7\pi}{4}"),
    ("0.00001", "10^{-5}"),
    (r"-\frac{\sqrt2}{2}", r"-\frac{1}{\sqrt2}"),
    ("x^2-x", "x(x-1)"),
    ("a/b", r"\frac{a}{b}"),
    ("ABC", "ABC"),
    ("2:3", "2:3"),
    ("1/3, 2/3", "2/3, 1/3"),
    (r"\frac{3}{x}", "3/x"),
    ("-5x", "-5x"),
    (r"-2\sqrt3", r"-2\sqrt{3}"),
    (r"-\frac{2x}{3}", r"-\frac{2}{3}x"),
    ("888", "888=37*24"),
    (r"-\sqrt[3]{5}", r"\sqrt[3]{-5}"),
    (r"(0,1)\cup(1,2)", r"(0,2)\setminus\{1\}"),
]
HAS_ANOTHER_FORM = [
    # reference, answer
    ("x^2+2x+1", "(x+1)^2"),
    ("(x+1)^2", "x^2+2x+1"),
    ("x(x+1)", "x^2+x"),
    ("2(x+1)", "2x+2"),
    ("(x-1)(x+1)(x+2)", "(x^2-1)(x+2)"),
    (r"2\sqrt2", r"\sqrt8"),
    (r"\frac{\sqrt2}{2}", r"\frac{1}{\sqrt2}"),
    ("0.5", r"\frac12"),
    (r"50\%", "0.5"),
    ("2^{10}", "1024"),
    (r"2^3\cdot3", r"4\cdot6"),
    ("y=2x+3", "2x-y+3=0"),
    ("y=(x+1)^2-3", "y=x^2+2x-2"),
    (r"\frac{1}{x}-\frac{1}{x+1}", r"\frac{1}{x(x+1)}"),
    (r"\sin 2x", r"2\sin x\cos x"),
    (r"\ln a+\ln b", r"\ln(ab)"),
    ("5 km", "5000 m"),
    (r"\frac{x+1}{2}", r"\frac{x}{2}+\frac12"),
]
HAS_THE_SAME_FORM = [
    # reference, answer
    ("x^2+2x+1", "1+2x+x^2"),
    ("(x+1)^2", "(1+x)^2"),
    ("(x+1)^2", "(x+1)(x+1)"),
    ("(x-1)(x+2)", "(x+2)(x-1)"),
    ("(x-1)(x+2)", "(1-x)(-x-2)"),
    ("-(x-1)(x+2)", "(1-x)(x+2)"),
    (r"2\sqrt2", r"2\sqrt{2}"),
    ("12", "12.0"),
    ("3/4", r"\frac{3}{4}"),
    ("y=2x+3", "y=3+2x"),
    ("2x-y+3=0", "y-2x-3=0"),
    (r"2^3\cdot3", r"3\cdot2^3"),
    ("(1,2)", "(1,2)"),
    (r"\{1,2\}", r"\{2,1\}"),
    ("x=5", "5"),
    ("5", "x=5"),
    ("[0,1]", r"0\le x\le1"),
    (r"3\times10^8", "3*10^8"),
    (r"\frac{x+1}{2}", r"\frac12(x+1)"),
    ("Saturday", "saturday"),
    ("B", "(B)"),
    ("3x^2-x", "-x+3x^2"),
    ("x^2-5", "-5+x^2"),
    ("5 cm", "5"),
    (r"\frac{1+\sqrt5}{2}", r"\frac{\sqrt5+1}{2}"),
    ("2x+2y", "2y+2x"),
    ("-x^2+4", "4-x^2"),
    (r"\sqrt{x}", "x^{1/2}"),
    (r"x\sqrt x", r"\sqrt x\cdot x"),
]


def reason(reference: object, answer: str, form: str) -> str:
    verifier = Accuracy.model_validate({"form": form})
    return judge(verifier, {"answer": reference}, rf"\boxed{{{answer}}}").reason.value


@pytest.mark.parametrize(("reference", "answer"), LEAVES_AN_OPERATION)
def test_an_operation_to_do_is_refused_where_it_is_asked(reference: str, answer: str) -> None:
    assert reason(reference, answer, "value") == "equal"
    assert reason(reference, answer, "evaluated") == "unevaluated"
    assert reason(reference, answer, "same") == "unevaluated"


@pytest.mark.parametrize(("reference", "answer"), IS_A_VALUE)
def test_a_value_is_accepted(reference: str, answer: str) -> None:
    assert reason(reference, answer, "evaluated") == "equal"


@pytest.mark.parametrize(("reference", "answer"), HAS_ANOTHER_FORM)
def test_another_form_is_refused_where_the_same_is_asked(reference: str, answer: str) -> None:
    assert reason(reference, answer, "value") == "equal"
    assert reason(reference, answer, "evaluated") == "equal"
    assert reason(reference, answer, "same") == "other_form"


@pytest.mark.parametrize(("reference", "answer"), HAS_THE_SAME_FORM)
def test_the_same_form_is_accepted_either_way_round(reference: str, answer: str) -> None:
    assert reason(reference, answer, "same") == "equal"
    assert reason(answer, reference, "same") == "equal"


@pytest.mark.parametrize("form", ["evaluated", "same"])
@pytest.mark.parametrize("reference", ["37*24", "9-5", r"\sum_{k=1}^{100}k", "5!", r"\frac{2}{4}"])
def test_a_reference_with_an_operation_equals_itself(reference: str, form: str) -> None:
    assert reason(reference, reference, form) == "equal"
    assert reason(reference, f" {reference}. ", form) == "equal"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>9-5=4</think><answer>9-5</answer>", "unevaluated"),
        ("<think>9-5=4</think><answer>4</answer>", "equal"),
        ("<answer>9-5=4</answer>", "equal"),
        ("The answer is $9-5$.", "unevaluated"),
        ("#### 9-5", "unevaluated"),
        ("So it is $9-5$", "unevaluated"),
        (r"\boxed{5}", "different"),
        ("<think>9-5", "no_answer"),
    ],
)
def test_the_form_counts_wherever_the_answer_stands(text: str, expected: str) -> None:
    verifier = Accuracy(form="evaluated")
    assert judge(verifier, {"answer": "4"}, text).reason == expected


def test_one_of_several_references_may_allow_the_form() -> None:
    assert reason(["888", "37*24"], "24*37", "evaluated") == "equal"
    assert reason(["888", "889"], "24*37", "evaluated") == "unevaluated"
    assert reason(["x^2-1", "(x-1)(x+1)"], "(x+1)(x-1)", "same") == "equal"


def test_a_reference_whose_form_cannot_be_read_is_unverifiable() -> None:
    reference = r"\sum_{k=1}^{3}k"
    assert reason(reference, reference, "same") == "equal"
    assert reason(reference, "7", "same") == "different"
    with pytest.raises(Unverifiable) as caught:
        reason(reference, "6", "same")
    assert caught.value.reason == EngineReason.BAD_REFERENCE


@pytest.mark.parametrize("option", [{"form": "same"}, {"rounding": 3}])
def test_the_options_have_no_effect_in_the_peers_modes(option: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="no effect"):
        Accuracy.model_validate({"mode": "math_verify", **option})
