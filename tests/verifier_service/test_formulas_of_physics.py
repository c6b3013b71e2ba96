"""Formulas, units and amounts as answers of physics, engineering and finance write them.

Each right pair has a twin that must not be paid.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.notation import Unreadable, tokenize
from verifier_service.mathematics.part_labels import MAX_CHARACTERS, with_letters_of_parts
from verifier_service.verifiers.accuracy import Accuracy

RIGHT = [
    # Unit vectors, whose font says nothing
    (r"\frac{\mu_0 I}{2\pi r}\hat{z}", r"\frac{I\mu_0}{2\pi r}\hat z"),
    (r"\frac{\mu_0 I}{2\pi r}\hat{\mathbf{z}}", r"\frac{I\mu_0}{2\pi r}\mathbf{\hat{z}}"),
    (r"\mathbf{B} = B_0\hat{\boldsymbol{\phi}}", r"\vec{B} = B_0\,\hat{\varphi}"),
    (r"\hat{y} = 2x+3", "y = 3+2x"),
    # An estimate, which is what stands on the other side
    (r"\hat{\theta} = \bar{x}", r"\bar{x}"),
    (r"\hat{\mu} = x", "x"),
    # A name with an index beside the same name without one
    ("T = 5", "T_2 = 5"),
    (r"J'_U = (1-r)\sigma", r"J' = \sigma(1-r)"),
    (r"E = \frac{x}{2}", r"E_{\text{total}} = \frac{x}{2}"),
    # Products of letters before a function
    (r"\frac{mg \sin \alpha}{k} + d", r"d + \frac{mg\sin(\alpha)}{k}"),
    (r"mg \left(1+x\right)", "mg(1+x)"),
    # Equations whose sides begin with an indexed factor
    (r"n_1\sin x = n_2\sin y", r"n_2\sin y = n_1\sin x"),
    # Letters of Greek by their names, in formulas as programs write them
    ("gamma*B", r"\gamma B"),
    ("-12*hbar/25", r"-\frac{12\hbar}{25}"),
    ("mu_0*I/(2*pi*r)", r"\frac{\mu_0 I}{2\pi r}"),
    ("E = (n+1/2)ℏ*omega", r"\hbar\omega\left(n+\frac{1}{2}\right)"),
    ("gamma rays", r"\text{gamma rays}"),
    # Units
    ("1.0 GeV/c^2", "1.0 GeV/c²"),
    ("1.0 GeV/c^2", r"1000\ \mathrm{MeV}/c^{2}"),
    ("5 MeV/c", r"5\text{ MeV}/\text{c}"),
    ("5 erg", r"5\times10^{-7}\text{ J}"),
    ("5 gauss", r"5\times10^{-4}\text{ T}"),
    ("5 dyn", r"5\text{ dynes}"),
    ("5 dB", "5"),
    ("2 Btu", "2 BTU"),
    # Numbers in words
    ("15 psi", "30 psi/2"),
    ("psi/2", r"\frac{\psi}{2}"),
    ("7 over 24", r"\frac{7}{24}"),
    ("25 times brighter", "25"),
    ("4.5", r"4.5\text{ times as large}"),
    # Parts with a space between them
    ("(a) 15, (b) 148", "(a) 15 (b) 148"),
    # Accounts in Japanese
    ("-391,726", "△391,726"),
    ("-391,726百万円", "▲391,726百万円"),
    ("改善", "改善した"),
    ("増加", "増加しました"),
    ("減少", "減少です"),
]
WRONG = [
    (r"\frac{\mu_0 I}{2\pi r}\hat{z}", r"\frac{\mu_0 I}{2\pi r}\hat{x}"),
    (r"\frac{\mu_0 I}{2\pi r}\hat{\mathbf{z}}", r"-\frac{\mu_0 I}{2\pi r}\hat{\mathbf{z}}"),
    (r"B_0\hat{\boldsymbol{\phi}}", r"B_0\hat{\theta}"),
    (r"\hat{\theta} = \bar{x}", r"\bar{y}"),
    (r"y = \bar{x}", r"\bar{x}"),
    ("T_1 = 5", "T_2 = 5"),
    ("T = 5, T_0 = 3", "T_0 = 5, T = 3"),
    ("T = 5", "T_2 = 6"),
    ("T = 5", "U_2 = 5"),
    (r"E = \frac{x}{2}", r"F_{\text{total}} = \frac{x}{2}"),
    (r"x_{\text{max}} = 5", r"x_{\text{min}} = 5"),
    (r"\frac{mg \sin \alpha}{k}", r"\frac{mg\cos(\alpha)}{k}"),
    (r"5 mg \sin x", r"5 g \sin x"),
    (r"n_1\sin x = n_2\sin y", r"n_1\sin y = n_2\sin x"),
    ("gamma*B", r"\sigma B"),
    ("-12*hbar/25", r"-\frac{12}{25}"),
    ("gamma rays", "gamma"),
    ("1.0 GeV/c^2", "1.0 GeV/c"),
    ("1.0 GeV/c^2", "1.0 MeV/c²"),
    ("5 erg", "5 J"),
    ("5 gauss", "5 T"),
    ("5 dyn", "5 erg"),
    ("5 dB", "5 Hz"),
    ("7 over 24", r"\frac{24}{7}"),
    ("25 times brighter", "24 times brighter"),
    ("25", r"25\text{ times } 3"),
    *(("25", f"25 times {words}") for words in ("number", "power", "another", "the sum", "over")),
    ("25", r"25\text{ times more than before}"),
    ("(a) 15, (b) 148", "(a) 148 (b) 15"),
    ("-391,726", "391,726"),
    ("-391,726百万円", "391,726百万円"),
    ("391,726百万円", "△391,726百万円"),
    ("5个半", "-5个半"),
    ("改善", "悪化した"),
    ("改善", "改善しなかった"),
    ("改善", "改善していない"),
]


@pytest.mark.parametrize(("reference", "answer"), RIGHT)
def test_one_answer_in_two_forms_is_equal(reference: str, answer: str) -> None:
    assert _score(reference, answer) == _score(answer, reference) == 1.0


@pytest.mark.parametrize(("reference", "answer"), WRONG)
def test_another_answer_differs(reference: str, answer: str) -> None:
    assert _score(reference, answer) == _score(answer, reference) == 0.0


@pytest.mark.parametrize(
    ("read", "piece", "num_characters"),
    [
        (tokenize, "mu ", 6_000),
        (tokenize, "\\hat{\\mathbf{", 12_000),
        (tokenize, "△ ", 6_000),
        (with_letters_of_parts, "(a) 1 ", MAX_CHARACTERS),
    ],
)
def test_readings_take_linear_time(
    read: Callable[[str], object], piece: str, num_characters: int
) -> None:
    assert_linear(lambda text: _read(read, text), piece, num_characters=num_characters)


def _read(read: Callable[[str], object], text: str) -> None:
    try:
        read(text)
    except Unreadable:  # too many tokens
        return


def _score(reference: str, answer: str) -> float | None:
    return judge(Accuracy(), {"answer": reference}, rf"\boxed{{{answer}}}").score
