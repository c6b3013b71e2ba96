"""Orbitals, words of coins, labelled values, coordinates, quantifiers and signs by other names."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.closing_words import stated_in_bold
from verifier_service.mathematics.labelled_values import labelled_values
from verifier_service.mathematics.letter_words import have_same_words
from verifier_service.mathematics.orbitals import read_orbitals
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

EXTREMES = "maximum 7, minimum -1"
REJECTION = "Reject the null hypothesis"
SAME = [
    ("sp3", "sp³"),
    ("sp^3", r"The hybridization is $sp^3$."),
    ("sp^3d^2", "sp3d2"),
    ("1s^2 2s^2 2p^6 3s^1", "1s² 2s² 2p⁶ 3s¹"),
    ("1s^2 2s^2 2p^6 3s^1", r"\boxed{1s^22s^22p^63s^1}"),
    ("[Ar] 4s^1 3d^10", "[Ar] 3d^{10} 4s^1"),
    ("C_6H_{12}O_6", "C₆H₁₂O₆"),
    ("2Na + Cl2 -> 2NaCl", "Cl₂ + 2Na → 2NaCl"),
    ("{HT, TH}", r"\{TH, HT\}"),
    ("{RC}", "{CR}"),
    (EXTREMES, "The maximum is 7 and the minimum is -1."),
    (EXTREMES, "min = -1, max = 7"),
    ("slope = 2, y-intercept = -3", "The slope is 2 and the y-intercept is -3."),
    ("Center (2, -3), radius 4", "The center is (2, -3) and the radius is 4."),
    ("length 12 cm, width 5 cm", "The length is 12 cm and the width is 5 cm."),
    ("Alice 24, Bob 18", "Alice has 24 and Bob has 18."),
    ("(3,-1)", "y = -1, x = 3"),
    ("(2,5)", "b = 5, a = 2"),
    ("(5,3)", "n = 5, k = 3"),
    (r"\forall x, P(x)", "∀x, P(x)"),
    ("△ABC", r"\triangle ABC"),
    (r"AB \parallel CD", "AB ∥ CD"),
    (r"1+2+\cdots+n", r"1+2+\ldots+n"),
    ("5‰", "5 per mille"),
    (REJECTION, "reject the null hypothesis"),
    (r"A\cos x+B\sin x", r"C_1\cos x+C_2\sin x"),
    (r"A\cos(\omega t+C)", r"A\cos(\omega t+B)"),
    ("Tuesday", "So 100 days later it will be **Tuesday**."),
    ("F=ma", r"\boxed{F=am}"),
    ("12", r"\boxed{12\text{ failures}}"),
    ("8", "<answer>So x = 8.</answer>"),
    ("7", r"Hence there are 7 people. $\blacksquare$"),
]
DIFFERENT = [
    ("sp3", "sp2"),
    ("sp^3", "sp^3d"),
    ("1s^2 2s^2 2p^6 3s^1", "1s^2 2s^1 2p^6 3s^2"),
    ("[Ar] 3d^10 4s^1", "[Ar] 3d^9 4s^2"),
    ("[Ar] 3d^5", "[Kr] 3d^5"),
    ("S = {HH, HT, TH, TT}", "{HH, HT, TT}"),
    ("{HT, TH}", "{HT, TT}"),
    (EXTREMES, "The maximum is -1 and the minimum is 7."),
    (EXTREMES, "The maximum is 7."),
    (EXTREMES, "The maximum is 7 and the mean is -1."),
    (EXTREMES, "The maximum is at least 7 and the minimum is -1."),
    (EXTREMES, "The maximum is 7 or 8 and the minimum is -1."),
    (EXTREMES, "The maximum is not 7 and the minimum is not -1."),
    (EXTREMES, "maximum 7, minimum -1, maximum 8"),
    (EXTREMES, "The maximum is 7, the minimum is -1, and the range is 9."),
    (EXTREMES, "If the maximum is 7 and the minimum is -1."),
    ("(3,-1)", "y = 3, x = -1"),
    ("(1,2,3)", "z = 1, y = 2, x = 3"),
    ("(5,3)", "k = 3, n = 5"),
    (r"\forall x, x^2 \geq 0", r"$\exists x, x^2\ge0$"),
    ("△ABC", "∠ABC"),
    ("AB ∥ CD", "AB ⊥ CD"),
    ("5%", "5 per mille"),
    (REJECTION, "Fail to reject the null hypothesis"),
    (REJECTION, "Do not reject the null hypothesis."),
    (REJECTION, "Reject the null hypothesis?"),
    (REJECTION, "Reject the null hypothesis. Just kidding."),
    (r"a^2+b^2-2ab\cos C", r"$a^2+b^2-2ab\cos A$"),
    (r"\text{Paris}", r"\boxed{\text{Pairs}}"),
    (r"\text{Paris}", r"\boxed{\text{Paris?}}"),
    ("8", "<answer>Let x = 8.</answer>"),
    ("Tuesday", "So 100 days later it will not be **Tuesday**."),
    ("Tuesday", "So 100 days later it will be **Tuesday** or **Monday**."),
    ("Tuesday", "If 100 days later it is **Tuesday**, fine."),
    ("Tuesday", "100 days ago it might be **Tuesday**."),
    ("Tuesday", "The wrong answer for 100 days is **Tuesday**."),
    ("Tuesday", "The day 100 days before **Tuesday**."),
    ("Tuesday", "The previous day, day 99, is **Tuesday**."),
    ("Tuesday", "100 days later it is **Wednesday**, the day after **Tuesday**."),
]


def score(reference: str, text: str) -> float | None:
    try:
        return judge(Accuracy(), {"answer": reference}, text).score
    except Unverifiable:
        return None


@pytest.mark.parametrize(("reference", "text"), SAME)
def test_the_same_answer_is_paid(reference: str, text: str) -> None:
    assert score(reference, text) == 1.0


@pytest.mark.parametrize(("reference", "text"), DIFFERENT)
def test_another_answer_is_not_paid(reference: str, text: str) -> None:
    assert score(reference, text) != 1.0


@pytest.mark.parametrize("piece", ["1s2 ", "HT, ", "the mean is 5, ", "a ", "5 ", "**A** "])
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(read_orbitals, piece)
    assert_linear(lambda text: have_same_words(text, text), piece, before="{")
    assert_linear(labelled_values, piece)
    assert_linear(stated_in_bold, piece, num_characters=8_000)
