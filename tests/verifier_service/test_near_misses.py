"""Answers that are nearly the reference and must be refused, and others that must not."""

from __future__ import annotations

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

NEAR_MISSES = [
    # bar-decorations
    (r"\bar{z}", "z"),
    (r"0.\bar{3}", "0"),
    (r"0.\bar{3}", "0.3"),
    (r"0.\overline{12}", "0.12"),
    (r"0.1\overline{2}", r"0.\overline{12}"),
    # base
    ("101_2", "101_3"),
    ("101_2", "101_{10}"),
    ("101_2", "5!"),
    ("2A_{16}", "2B_{16}"),
    # chem-case
    (r"\text{Co}", r"\text{CO}"),
    (r"\text{Aa}", r"\text{AA}"),
    (r"\mathrm{H_2O}", r"\mathrm{H_2O_2}"),
    (r"\text{CO}_2", r"\text{CO}"),
    (r"\text{NO}_2", r"\text{N}_2\text{O}"),
    # choice
    (r"\textbf{(B)}\ 12", r"\textbf{(C)}\ 12"),
    (r"\textbf{(B)}\ 12", r"\textbf{(B)}\ 13"),
    ("B", "C"),
    ("A, B", "A"),
    ("A", "A, B"),
    # completion/gpt
    ("(1,2,3)", r"x=3,\ y=2,\ z=1"),
    ("[5, 7]", r"5 < x \le 7"),
    # conditions
    (r"x^2 \text{ if } x>0", r"x^2 \text{ if } x<0"),
    (r"5 \text{ if } n \text{ is even}", r"5 \text{ if } n \text{ is odd}"),
    (r"n^2 \text{ for even } n", r"n^2 \text{ for odd } n"),
    (r"k\pi, k \in \mathbb{N}", r"k\pi, k\in \mathbb Z"),
    (r"k\pi, k \in \mathbb{Z}", r"2k\pi, k\in\mathbb{Z}"),
    # expressions
    (r"\frac{1}{23}", r"\frac{12}{3}"),
    (r"\frac1{23}", r"\frac{12}3"),
    ("x^{10}", "10x"),
    (r"2\frac12", "1"),
    (r"2\cdot\frac12", r"\frac52"),
    # intervals
    ("(0,1)", "[0,1]"),
    ("(0,1]", "[0,1)"),
    ("[0,1]", "0,1"),
    ("[0,1]", r"\{0,1\}"),
    ("(0,1)", "(1,0)"),
    # latex-ops
    (r"\nabla f", "f"),
    (r"\prod_{k=1}^n k", r"\sum_{k=1}^n k"),
    (r"\mathbb{E}[X]", r"\mathbb{E}[Y]"),
    (r"\operatorname{Var}(X)", r"\operatorname{Var}(Y)"),
    (r"\operatorname{Var}(X)", r"\operatorname{Cov}(X)"),
    # letter-unit
    (r"\frac{1}{3} \pi r^2 h", r"\frac{1}{3} \pi r^2"),
    (r"2 \pi r h", r"2 \pi r"),
    ("m g h", "m g"),
    (r"\mu m g", r"\mu m"),
    ("m g L", "m g"),
    # logic
    (r"p \land q", r"p \lor q"),
    (r"p \wedge q", r"p \vee q"),
    (r"(p \lor q) \land r", r"p \lor (q \land r)"),
    ("p ∧ q", "p ∨ q"),
    (r"\text{True}", r"\text{False}"),
    # modular
    (r"x \equiv 3 \pmod 7", r"x \equiv 3 \pmod 5"),
    (r"x \equiv 3 \pmod 7", r"x \equiv 4 \pmod 7"),
    (r"3 \pmod 7", r"3 \pmod 5"),
    ("10", r"3 \pmod 7"),
    (r"1 \bmod 4", r"3 \bmod 4"),
    # money
    (r"\$12.50", r"\$12.05"),
    (r"5\text{ USD}", r"5\text{ EUR}"),
    (r"\text{Rs. } 500", r"\text{Rs. } 50"),
    (r"5\text{ dollars and }30\text{ cents}", r"\$5"),
    (r"\$5\text{ and }30\text{ cents}", r"\$5"),
    # names
    ("f'(x) = 2x", "f(x) = 2x"),
    ("f^{-1}(x) = 2x", "f(x) = 2x"),
    ("y' = 2x", "y = 2x"),
    (r"\alpha = 3", r"\beta = 3"),
    (r"\theta = 30^\circ", r"\phi = 30^\circ"),
    # odd notations
    (r"25\pi", "25"),
    (r"25\pi", "78.5"),
    (r"120^\circ", r"60^\circ"),
    (r"120^\circ", r"120\text{ radians}"),
    (r"\frac{2\pi}{3}", r"\frac{2}{3}"),
    # order
    ("a<b<c", "b<a<c"),
    ("a < b < c", r"a \le b \le c"),
    ("X > Y > Z", "X > Z > Y"),
    (r"\text{CAB}", r"\text{ABC}"),
    ("CAB", "ABC"),
    # pm
    (r"\pm 3", "3"),
    (r"\pm 3", "-3"),
    (r"1\pm\sqrt2", r"1+\sqrt2"),
    (r"1\pm\sqrt2", r"-1\pm\sqrt2"),
    (r"\pm 1, \pm 2", "1, 2"),
    # poly-python
    ("2*x**2 + 3*x - 1", "2x^3+3x-1"),
    ("exp(-x)*sin(x)", r"e^{-x}\cos x"),
    ("(a+b)/c-d", r"\frac{a+b}{c-d}"),
    ("1/(2*x)", r"\frac{x}{2}"),
    ("x^2 y", "xy^2"),
    # ratio
    ("1:2", "2:1"),
    ("1:2:3", "3:2:1"),
    ("3 : 4", r"4\text{ to }3"),
    ("3:4", "3,4"),
    ("1:4", "4"),
    # remark-bracket
    (r"e^x (\sin x + \cos x)", r"e^x (\sin x - \cos x)"),
    (r"x^2 (\ln x - a)", "x^2"),
    (r"2 (\sqrt{x}+\sqrt{y})", "2"),
    (r"e^x (\sin x + \cos x)", "e^x"),
    (r"k (\alpha + \beta)", "k"),
    # sci
    (r"6.02\times10^{23}", r"6.02\times10^{22}"),
    (r"6.02\times10^{23}", r"6.02\times10^{2}3"),
    (r"6.02\times10^{23}", r"6.02\times1023"),
    (r"6.02\times10^{23}", "6.02"),
    (r"1.6\times10^{-19}\text{ C}", r"1.6\times10^{-19}\text{ J}"),
    # set-builder
    (r"\{2k : k \in \mathbb{Z}\}", r"\{3k : k \in \mathbb{Z}\}"),
    (r"\{2k : k \in \mathbb{Z}\}", r"\mathbb{Z}"),
    (r"\{2k+1 \mid k\in\mathbb{Z}\}", r"\{2k \mid k\in\mathbb{Z}\}"),
    (r"\{x^2 \mid x > 2\}", r"\{x \mid x > 2\}"),
    (r"\{x^2 \mid x > 2\}", r"(2,\infty)"),
    # time-date
    (r"2:15 \text{ PM}", r"2:15\text{ a.m.}"),
    ("2:15", "4:30"),
    ("12:30", "6:15"),
    ("3:00", "5:00"),
    (r"10:30 \text{ a.m.}", r"10:03 \text{ a.m.}"),
    # unicode
    ("3½", "1.5"),
    ("a₁", "a₂"),
    ("∛8", "8"),
    ("{1,2} ∩ {2,3}", "{1,2,3}"),
    ("5 µm", "5 m"),
    # unknown-unit
    (r"5 \text{ in}", r"5 \text{ ft}"),
    (r"5 \text{ inches}", r"5 \text{ in}^2"),
    (r"5 \text{ GHz}", r"5 \text{ MHz}"),
    (r"5 \text{ kV}", r"5 \text{ V}"),
    (r"5 \text{ mW}", r"5 \text{ MW}"),
    # words-numbers
    ("-5", r"\text{five}"),
    ("12", r"\text{twenty-one}"),
    ("3", r"\text{one two}"),
    ("40", r"\text{twenty twenty}"),
    ("60", r"\text{six}"),
]
EQUAL = [
    # bar-decorations
    (r"0.\bar{3}", r"\frac13"),
    (r"0.\overline{3}", r"\frac13"),
    (r"0.\dot{3}", r"\frac13"),
    # base
    ("101_2", "101_{2}"),
    ("1A_{16}", "1a"),
    # chem-case
    (r"\mathrm{H_2O}", "H_2O"),
    # choice
    ("B", "(B)"),
    ("B", r"\textbf{(B)}"),
    ("B", r"\textbf{(B)}\ 12"),
    # completion/gpt
    ("7", r"\boxed{7}"),
    ("7", r"\text{The answer is } 7"),
    ("7", r"\mathbf{7}"),
    # completion/mc
    ("C", r"\text{C}"),
    # conditions
    (r"k\pi, k \in \mathbb{Z}", r"n\pi, n\in \mathbb Z"),
    (r"k\pi, k \in \mathbb{Z}", r"n\pi \text{ where } n \text{ is an integer}"),
    # expressions
    (r"\frac12", r"\frac{1}{2}"),
    ("x^{10}", "x^10"),
    (r"2\frac12", r"\frac52"),
    # intervals
    (r"(-\infty,3)", "x<3"),
    (r"(-\infty,3)\cup(3,\infty)", r"x\ne3"),
    (r"(1,3)\cup(5,7)", r"(5,7)\cup(1,3)"),
    # latex-ops
    ("A^{-1}", r"\frac{1}{A}"),
    (r"\sqrt[3]{x^2}", "x^{2/3}"),
    ("(x^2)^{1/3}", "x^{2/3}"),
    # letter-unit
    (r"\pi r^2 h", r"h \pi r^2"),
    (r"\frac{1}{3} \pi r^2 h", r"\frac{\pi r^{2}h}{3}"),
    ("m g h", "mgh"),
    # logic
    (r"p \land q", r"q \land p"),
    (r"p \land q", r"p \wedge q"),
    (r"\text{I and II}", r"\text{I, II}"),
    # modular
    (r"x \equiv 3 \pmod 7", r"x \equiv 3 \pmod{7}"),
    (r"3 \pmod 7", r"x\equiv 3 \pmod 7"),
    # money
    (r"\$12.50", "12.5"),
    (r"\$12.50", r"12.50 \text{ dollars}"),
    (r"\$1{,}234.50", "1234.5"),
    # names
    ("(x,y)=(1,2)", "y=2, x=1"),
    ("(x,y)=(1,2)", "x=1, y=2"),
    ("(x,y)=(1,2)", r"x=1\text{ and }y=2"),
    # odd notations
    (r"25\text{ cm}^2", r"25\text{ square cm}"),
    (r"25\pi\text{ square inches}", r"25\pi"),
    (r"5\frac{3}{4}\text{ inches}", r"5.75\text{ in}"),
    # order
    ("a<b<c", "c>b>a"),
    (r"\text{red and blue}", r"\text{blue and red}"),
    ("(1,2),(3,4)", "(3,4),(1,2)"),
    # pm
    (r"\pm 3", "3,-3"),
    (r"\pm 3", r"\{-3,3\}"),
    (r"\pm 3", r"x = 3 \text{ or } x=-3"),
    # poly-python
    ("2*x**2 + 3*x - 1", "2x^2+3x-1"),
    ("x*(x+1)", "x^2+x"),
    ("exp(-x)*sin(x)", r"e^{-x}\sin x"),
    # ratio
    ("1:2", r"\frac12"),
    ("2:4", "1:2"),
    ("1:2:3", "2:4:6"),
    # remark-bracket
    (r"e^x (\sin x + \cos x)", r"e^x\sin x + e^x\cos x"),
    (r"x (\ln x - a)", r"x\ln x - ax"),
    # sci
    (r"6.02\times10^{23}", "6.02e23"),
    (r"6.02\times10^{23}", "6.02 × 10²³"),
    (r"6.02\times10^{23}", "6.02*10^23"),
    # set-builder
    (r"\{x \mid x > 2\}", r"(2,\infty)"),
    (r"\{x : -1 \le x < 3\}", "[-1,3)"),
    (r"\{x \in \mathbb{R} : x \neq 0\}", r"(-\infty,0)\cup(0,\infty)"),
    # time-date
    (r"2:15 \text{ PM}", r"2:15\text{ p.m.}"),
    (r"3:00 \text{ PM}", r"3 \text{ p.m.}"),
    (r"3:00 \text{ PM}", "3:00"),
    # unicode
    ("x²", "x^2"),
    ("x³ + 1", "x^3+1"),
    ("½", "0.5"),
    # unknown-unit
    (r"12 \text{ in}", r"1 \text{ ft}"),
    (r"5 \text{ inches}", r"5 \text{ in}"),
    (r"2 \text{ dozen}", "24"),
    # words-numbers
    (r"\frac12", r"\text{one half}"),
    (r"\frac12", r"\text{half}"),
    (r"\frac23", r"\text{two thirds}"),
]


def accepts(reference: str, answer: str) -> bool:
    try:
        return judge(Accuracy(), {"answer": reference}, rf"\boxed{{{answer}}}").score == 1.0
    except Unverifiable:
        return False


@pytest.mark.parametrize(("reference", "answer"), NEAR_MISSES)
def test_a_near_miss_is_refused_either_way_round(reference: str, answer: str) -> None:
    assert not accepts(reference, answer)
    assert not accepts(answer, reference)


@pytest.mark.parametrize(("reference", "answer"), EQUAL)
def test_another_way_of_writing_is_accepted(reference: str, answer: str) -> None:
    assert accepts(reference, answer)
