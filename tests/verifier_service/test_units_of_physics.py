"""Units and vectors of physics in each form that people write, with twins that must not be paid."""

from __future__ import annotations

import pytest

from tests.verifier_service.judging import judge
from verifier_service.mathematics.units import PRODUCT_UNITS, UNITS, unit_named
from verifier_service.verifiers.accuracy import Accuracy

RIGHT = [
    # Prefixes and signs
    (r"5 \Omega", r"5\,\Omega"),
    (r"5\ \Omega", "5"),
    (r"5\ \Omega", "5 ohms"),
    (r"4.7\text{ k}\Omega", r"4700\ \Omega"),
    (r"4.7\ \mathrm{k\Omega}", r"4.7\text{ k}\Omega"),
    ("4.7 kΩ", r"4.7\ \mathrm{k}\Omega"),
    (r"5\ \mathrm{\mu F}", r"5\times10^{-6}\text{ F}"),
    (r"5\ \mu\text{F}", r"5\,\mu F"),
    ("5 μF", r"5\ \mu \mathrm{F}"),
    ("5 micrometers", r"5\ \mu\mathrm{m}"),
    ("5 mcg", r"5 \mu\text{g}"),
    (r"5 \mu\text{g}", "0.005 mg"),
    ("5 kV", "5000 V"),
    (r"5\text{ MPa}", r"5\times10^6\text{ Pa}"),
    ("2 GHz", "2000 MHz"),
    (r"3\text{ nC}", r"3\times 10^{-9}\text{ C}"),
    ("3 mT", r"0.003\text{ T}"),
    ("3 mV", r"3\,\mathrm{mV}"),
    ("1 GeV", "1000 MeV"),
    (r"5\ \text{Å}", r"5\times10^{-10}\text{ m}"),
    (r"5\ \mathring{A}", "0.5 nm"),
    # Derived units
    (r"3\ \mathrm{N/C}", r"3\ \mathrm{V/m}"),
    ("2 kWh", r"7.2\times 10^6 J"),
    ("1 atm", "101325 Pa"),
    (r"1\text{ atm}", r"760\text{ mmHg}"),
    (r"3\text{ J/s}", "3 W"),
    (r"0.5\text{ mol/L}", r"0.5\ \mathrm{M}"),
    (r"0.5\text{ mol/L}", r"0.5\ \mathrm{mol\,L^{-1}}"),
    ("5 kg m/s", "5 N s"),
    (r"1.0\times10^{-7}\ \mathrm{Wb}", "1e-7 V s"),
    (r"9.8\ \mathrm{m/s^2}", r"9.8\ \mathrm{m\,s^{-2}}"),
    (r"8.314\ \mathrm{J/(mol\cdot K)}", r"8.314\ \mathrm{J\,mol^{-1}\,K^{-1}}"),
    (r"6.63\times10^{-34}\,\mathrm{J\cdot s}", r"6.63\times10^{-34}\ \mathrm{J\,s}"),
    (r"\text{0.05 M}", "0.05"),
    ("0.5 A", r"500\ \mathrm{mA}"),
    (r"1.5\,\mathrm{AU}", "1.5"),
    ("60 rpm", r"1\text{ rev/s}"),
    (r"2\text{ C}", r"Q = CV = 2\text{ C}"),
    ("500 m", r"x = 0.5\text{ km} = 500\text{ m}"),
    (r"-285.8\text{ kJ/mol}", r"\Delta H = -285.8 kJ/mol"),
    ("(3,4) m", "(3 m, 4 m)"),
    ("(3,4)", "(3, 4) m/s"),
    (r"(3,4)\ \mathrm{m/s^2}", r"(3,4)\ \mathrm{m\,s^{-2}}"),
    ("9.8 m/s^2", r"9.8\,\text{m}\text{s}^{-2}"),
    # Temperatures
    (r"20^\circ\text{C}", "20 degrees Celsius"),
    (r"20^\circ\text{C}", r"20\text{ degrees C}"),
    (r"20^\circ\text{C}", "20 C"),
    (r"20^\circ\text{C}", r"20\text{ C}"),
    ("68 degrees Fahrenheit", r"20^\circ\text{C}"),
    # Products of variables stay products
    (r"2\mu g", r"2 g\mu"),
    (r"5\mu m", r"5m\mu"),
    (r"2\Omega", r"\Omega\cdot 2"),
    (r"\frac{1}{2} m V^2", r"\frac{mV^2}{2}"),
    ("5 bars", "5"),
    ("3 pm", "15:00"),
    ("Ångström", r"\text{Ångström}"),
    ("5 Å", r"5\,\AA"),
    # Vectors
    ("(3,4)", r"3\hat{i}+4\hat{j}"),
    ("(3,4)", r"(3\hat{i}+4\hat{j})\text{ m/s}"),
    (r"3\mathbf{i}+4\mathbf{j}", "(3,4)"),
    (r"3\hat{i}-4\hat{k}", "(3,0,-4)"),
    (r"3\hat{i}+4\hat{j}", r"\vec{v} = 4\hat{\jmath} + 3\hat{\imath}"),
    ("3i+4j", r"3\hat i + 4\hat j"),
    (r"\begin{pmatrix}3\\0\\-4\end{pmatrix}", r"3\mathbf{i}-4\mathbf{k}"),
    (r"\langle 2t, 3t^2\rangle", r"2t\,\mathbf{i}+3t^2\,\mathbf{j}"),
    ("(1,2)", "<1, 2>"),
    ("<1, 2>", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    # Names of quantities, and constants that are named by chance
    (r"\Delta x = 5", "5"),
    ("pH = 3.5", "3.5"),
    (r"\text{pH}=3.5", "3.5"),
    (r"y=c_1e^x+c_2e^{-x}", r"y=Ae^x+Be^{-x}"),
    # Others
    ("2 hours 30 minutes", "2h30"),
    (r"x \equiv 2 \pmod{5}", r"x\equiv 7 \pmod{5}"),
    (r"4\pmod 7", r"-3\pmod 7"),
    ("odd", r"\text{odd function}"),
    (r"\text{isosceles triangle}", "isosceles"),
    (r"9.8\ \mathrm{m/s^2}", r"9.8\ \mathrm{ms^{-2}}"),
]
WRONG = [
    ("5 kV", "5 V"),
    (r"5\text{ MV}", r"5\text{ mV}"),
    ("5 mg", r"5 \mu\text{g}"),
    (r"5\ \Omega", r"5\ \mathrm{k}\Omega"),
    (r"3\ \mathrm{N/C}", r"3\ \mathrm{N/m}"),
    (r"20^\circ\text{C}", "20 degrees Fahrenheit"),
    (r"20^\circ\text{C}", "20 F"),
    (r"2\text{ T}", r"2\text{ H}"),
    (r"3\hat{i}+4\hat{j}", "(4,3)"),
    (r"3\hat{i}+4\hat{j}", "7"),
    (r"3\hat{i}+4\hat{j}", r"3\hat{i}+4\hat{k}"),
    (r"3\hat{i}+4\hat{j}", r"3\hat{i}-4\hat{j}"),
    (r"3\hat{i}+4\hat{j}", "3+4i"),
    ("3+4i", "(3,4)"),
    ("(3,6)", r"3\hat{i}+2+4\hat{j}"),
    ("5k", "(0,0,5)"),
    (r"\sqrt{2}\hat{i}", r"\sqrt2"),
    ("3 h", "2h60"),
    (r"4\pmod 7", r"3^{100}\pmod 7"),
    (r"4\pmod 7", r"11\pmod{14}"),
    (r"\text{even}", r"\text{odd function}"),
    ("prime", r"\text{composite number}"),
    ("no", r"\text{no function}"),
    ("500 m", r"x = 41\text{ km} = 500\text{ m}"),
    ("500 m", r"x = 41\text{ kg} = 500\text{ m}"),
    ("500 m", r"x = 41 = 500\text{ m}"),
    ("(3,4) m", "(3,4) km"),
    (r"\text{AaBb}", "aabb"),
    (r"y=c_1e^x+c_2e^{-x}", r"y=Ae^x"),
    (r"\Delta x", "x"),
    ("0.5 A", r"500\ \mathrm{A}"),
]
CLOSING: list[tuple[str, str, bool | None]] = [
    ("5 kΩ", "The resistance is 5 kΩ.", True),
    ("5 kΩ", "The resistance is 5 Ω.", False),
    ("5 kΩ", "The resistance is 5000 ohms.", True),
    ("5 μF", "The capacitance is 5 μF.", True),
    ("5 μF", "The capacitance is 5 pF.", False),
    ("3 mV", "So the voltage is 3 mV.", True),
    ("3 mV", "So the voltage is 3 V.", False),
    ("20 °C", "The temperature is 20 degrees Celsius.", True),
    ("20 °C", "The temperature is 20 degrees Fahrenheit.", False),
    ("12 GHz", r"The frequency is $12\,\mathrm{MHz}$.", False),
    ("0.5 A", "The current is 0.5 A.", True),
    ("0.5 A", "The current is 0.5 mA.", False),
    ("2 T", "The field is 2 mT.", False),
    ("2.5 hours", "It takes 2h30.", True),
    ("2 hours", "It takes 2h30.", False),
    ("CO2", "The gas is CO2.", True),
    ("CO2", "The gas is CO.", False),
    ("C6H12O6", "The formula is C₆H₁₂O₆.", True),
    ("C6H12O6", "The formula is not C₆H₁₂O₆.", None),
]


@pytest.mark.parametrize(("reference", "answer"), RIGHT)
def test_one_quantity_in_two_forms_is_equal(reference: str, answer: str) -> None:
    for one, other in ((reference, answer), (answer, reference)):
        found = judge(Accuracy(), {"answer": one}, rf"So it is \boxed{{{other}}}.")
        assert (found.reason, found.score) == ("equal", 1.0)


@pytest.mark.parametrize(("reference", "answer"), WRONG)
def test_another_quantity_differs(reference: str, answer: str) -> None:
    for one, other in ((reference, answer), (answer, reference)):
        found = judge(Accuracy(), {"answer": one}, rf"So it is \boxed{{{other}}}.")
        assert found.score == 0.0


@pytest.mark.parametrize(("reference", "text", "is_right"), CLOSING)
def test_the_unit_of_a_closing_number_counts(
    reference: str, text: str, is_right: bool | None
) -> None:
    found = judge(Accuracy(), {"answer": reference}, text)
    expected = {True: "equal", False: "different", None: "no_answer"}
    assert found.reason == expected[is_right]


def test_each_prefix_scales_its_unit() -> None:
    for small, large, factor in [("mV", "V", 1000), ("μm", "m", 10**6), ("W", "GW", 10**9)]:
        one, other = unit_named(small), unit_named(large)
        assert one is not None
        assert other is not None
        assert one.dimension == other.dimension
        assert other.size == one.size * factor


def test_no_sign_of_a_unit_is_an_everyday_word() -> None:
    assert {"us", "am", "pm", "as", "at", "a", "i", "in a", "no"}.isdisjoint(
        {*UNITS, *PRODUCT_UNITS}
    )
