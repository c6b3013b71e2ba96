"""Further members of each class of answers that graders get wrong, written from the class alone.

`test_answer_examples` has the examples. Each member here is a reference, an answer and the reason
of its verdict; a class has at least five members, and right ones beside wrong ones where it can.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

EQUAL, DIFFERENT = "equal", "different"
SEVERAL = "ambiguous_answer"

# Answers that stand in a box: class, then reference, answer, reason.
BOXED: dict[str, list[tuple[str, str, str]]] = {
    "a float for an integer": [
        ("57", "57.0000031", DIFFERENT),
        ("-912", "-912.0004", DIFFERENT),
        ("2024", "2023.9999", DIFFERENT),
        ("6", "5.9999", DIFFERENT),
        ("150", "150.00015", DIFFERENT),
        ("57", "57.00", EQUAL),
    ],
    "a rounded large integer": [
        ("987654321", "987654300", DIFFERENT),
        ("4294967296", "4294967000.0", DIFFERENT),
        ("16777216", "1.6777e7", DIFFERENT),
        ("1000000007", "10^9", DIFFERENT),
        ("31415926", r"3.14159\times10^7", DIFFERENT),
        ("4294967296", "2^{32}", EQUAL),
    ],
    "a rounded factorial or power": [
        ("50!", r"3.0414\times10^{64}", DIFFERENT),
        ("2^{200}", r"1.6069\times10^{60}", DIFFERENT),
        ("3^{100}", "5.1537752e47", DIFFERENT),
        (r"\binom{100}{50}", r"1.00891\times10^{29}", DIFFERENT),
        ("7^{77}", r"1.18\times10^{65}", DIFFERENT),
        ("2^{200}", "4^{100}", EQUAL),
    ],
    "a decimal near a fraction": [
        ("2/7", "0.2857", DIFFERENT),
        (r"\frac{22}{7}", "3.1429", DIFFERENT),
        ("1/6", "0.1667", DIFFERENT),
        ("-5/9", "-0.556", DIFFERENT),
        ("100/3", "33.34", DIFFERENT),
        ("1/8", "0.125", EQUAL),
        ("2/7", "0.285714286", EQUAL),
    ],
    "a decimal of seven digits and more": [
        ("12.3456789", "12.3456799", DIFFERENT),
        ("2.71828183", "2.71828283", DIFFERENT),
        ("1048.57600", "1048.57601", DIFFERENT),
        ("0.123456789", "0.123456889", DIFFERENT),
        ("9.86960440", "9.86960540", DIFFERENT),
        ("12.3456789", "12.34567892", EQUAL),
    ],
    "a chain that contradicts itself": [
        ("8", "2=6=8", DIFFERENT),
        ("3", "y=7=3", DIFFERENT),
        ("20", r"A=\frac{30}{2}=20", DIFFERENT),
        ("9", r"\sqrt{64}=9", DIFFERENT),
        ("1/2", "0.25=1/2", DIFFERENT),
        ("8", "2^3=8", EQUAL),
        ("20", r"A=\frac{40}{2}=20", EQUAL),
    ],
    "a base on one side": [
        ("110", "110_2", DIFFERENT),
        ("77", "77_8", DIFFERENT),
        ("212", "212_3", DIFFERENT),
        ("1234_5", "1234", DIFFERENT),
        ("30", r"30_{\text{six}}", DIFFERENT),
        ("110_2", "6", EQUAL),
    ],
    "a deviation": [
        ("12", "12^{+2}_{-3}", DIFFERENT),
        ("7.5", "7.5^{+0.1}_{-0.2}", DIFFERENT),
        ("3", "3^{+0}_{-1}", DIFFERENT),
        ("40", r"40_{-5}^{+5}", DIFFERENT),
        ("9", r"9 \pm 1", DIFFERENT),
        ("12", "12^{1}", EQUAL),
    ],
    "a bound in a box": [
        ("9", r"\text{at most }9", DIFFERENT),
        ("9", r"\ge 9", DIFFERENT),
        ("9", r"\text{more than }9", DIFFERENT),
        ("9", r"\text{no less than }9", DIFFERENT),
        ("9", "x>9", DIFFERENT),
        (r"x\ge9", r"9\le x", EQUAL),
    ],
    "a power of a power": [
        ("r^{st}", "(r^s)^t", DIFFERENT),
        ("(u^v)^w", "u^{vw}", DIFFERENT),
        ("x^{ab}", "(x^b)^a", DIFFERENT),
        ("c^{xy}-1", "(c^x)^y-1", DIFFERENT),
        ("p^{qr}", "p^q p^r", DIFFERENT),
        ("r^{st}", "r^{ts}", EQUAL),
    ],
    "an equation that loses solutions": [
        ("u=v", r"\sqrt u=\sqrt v", DIFFERENT),
        ("a=2b", r"\ln a=\ln(2b)", DIFFERENT),
        ("x=3y", r"\sqrt{x}=\sqrt{3y}", DIFFERENT),
        ("x+y=5", r"\sqrt x+\sqrt y=\sqrt5", DIFFERENT),
        ("m=n", r"\log m=\log n", DIFFERENT),
        ("u=v", "3u=3v", EQUAL),
    ],
    "an inequation for an equation": [
        ("x=y+2", r"x\ne y+2", DIFFERENT),
        ("a=3b", r"3b\neq a", DIFFERENT),
        ("x^2=2", r"x^2\ne2", DIFFERENT),
        ("y=4", r"y\not=4", DIFFERENT),
        ("p=q", "p>q", DIFFERENT),
        ("x=y+2", "y=x-2", EQUAL),
    ],
    "products with an order": [
        ("CD", "DC", DIFFERENT),
        ("ABC", "CBA", DIFFERENT),
        ("BD", "DB", DIFFERENT),
        ("A^{-1}BA", "B", DIFFERENT),
        ("QPQ^{-1}", "P", DIFFERENT),
        ("CD", r"C\cdot D", EQUAL),
    ],
    "products of letters": [
        ("px-qx", "x(p-q)", EQUAL),
        ("uv-wz", "uv - wz", EQUAL),
        ("bc-ad", "-ad + bc", EQUAL),
        ("xy-zw", "xy - wz", EQUAL),
        ("ef-gh", "fe - hg", EQUAL),
        ("px-qx", "qx-px", DIFFERENT),
    ],
    "two letters that name a unit or a word": [
        ("kg", "gk", EQUAL),
        ("he", "eh", EQUAL),
        ("so+to", "o(s+t)", EQUAL),
        ("ms+mt", "m(s+t)", EQUAL),
        ("us+vs", "s(u+v)", EQUAL),
        ("ft", "f+t", DIFFERENT),
        ("it", "i+t", DIFFERENT),
    ],
    "exact zero": [
        ("0", r"\cos\frac{3\pi}{2}", EQUAL),
        ("0", r"e^{2\pi i}-1", EQUAL),
        ("0", r"\sqrt{12}-2\sqrt3", EQUAL),
        ("0", r"\tan(2\pi)", EQUAL),
        ("0", r"\ln 6-\ln 2-\ln 3", EQUAL),
        ("0", r"\sin(3.14159)", DIFFERENT),
        ("0", "10^{-50}", DIFFERENT),
    ],
    "a power of ten with a unit": [
        (r"6.67 \times 10^{-11} \text{ N}", r"6.67\cdot10^{-11}\,\mathrm{N}", EQUAL),
        (r"2 \times 10^{5} \text{ Pa}", "2*10^5 Pa", EQUAL),
        (r"1.5 \times 10^{8} \text{ km}", r"1.5\times10^{11}\text{ m}", EQUAL),
        (r"4 \times 10^3 \text{ J}", r"4\text{ kJ}", EQUAL),
        (r"9 \times 10^{-3} \text{ m}", r"9\text{ mm}", EQUAL),
        (r"2 \times 10^{5} \text{ Pa}", r"2\times10^{5}\text{ J}", DIFFERENT),
    ],
    "quotients of units": [
        ("7 g/mL", r"7 \frac{\text{g}}{\text{mL}}", EQUAL),
        ("30 miles/hour", r"30\,\text{mph}", EQUAL),
        ("4 m/s^2", r"4\,\text{m}\cdot\text{s}^{-2}", EQUAL),
        ("90 km/h", r"25\ \mathrm{m/s}", EQUAL),
        ("12 L/min", r"12 \frac{\text{L}}{\text{min}}", EQUAL),
        ("7 g/mL", r"7 \frac{\text{mL}}{\text{g}}", DIFFERENT),
    ],
    "a double sign inside": [
        (r"\{\pm4,0\}", r"\{-4,0,4\}", EQUAL),
        (r"(0,\pm2)", "(0,2),(0,-2)", EQUAL),
        (r"\{\pm i,\pm1\}", r"\{1,-1,i,-i\}", EQUAL),
        (r"(\pm5,1)", r"(5,1)\text{ and }(-5,1)", EQUAL),
        (r"\{2\pm\sqrt5\}", r"\{2+\sqrt5,2-\sqrt5\}", EQUAL),
        (r"\{\pm4,0\}", r"\{4,0\}", DIFFERENT),
        (r"(0,\pm2)", "(0,2)", DIFFERENT),
    ],
    "a name beside a value": [
        ("17", "N=17", EQUAL),
        (r"\text{Volume}=24\pi", r"24\pi", EQUAL),
        ("t=2.5", "2.5", EQUAL),
        ("P(X=2)=3/8", "3/8", EQUAL),
        (r"\theta=45^\circ", r"45^\circ", EQUAL),
        ("17", "N=18", DIFFERENT),
    ],
    "relations turned round": [
        ("7<y", "y>7", EQUAL),
        (r"a\le2b", r"2b\ge a", EQUAL),
        ("3x-y=2", "y=3x-2", EQUAL),
        ("x^2+y^2=1", "1-x^2=y^2", EQUAL),
        (r"2\le t\le9", r"9\ge t\ge2", EQUAL),
        ("7<y", "y<7", DIFFERENT),
    ],
    "or with a point": [
        (r"x<-2\text{ or }x=0", r"(-\infty,-2)\cup\{0\}", EQUAL),
        (r"\{5\}\cup[6,7]", r"x=5\text{ or }6\le x\le7", EQUAL),
        ("x=1 or x>4", r"(4,\infty)\cup\{1\}", EQUAL),
        (r"x\ge3\text{ or }x=-3", r"\{-3\}\cup[3,\infty)", EQUAL),
        (r"[0,1)\cup\{1\}", "[0,1]", EQUAL),
        (r"x<-2\text{ or }x=0", r"(-\infty,-2)", DIFFERENT),
    ],
    "set-builders and differences": [
        (r"\{x\in\mathbb R\mid x\ne5\}", r"\mathbb R\setminus\{5\}", EQUAL),
        (r"\{t: t>0, t\ne2\}", r"(0,\infty)\setminus\{2\}", EQUAL),
        (r"\mathbb{R}-\{-1,1\}", r"x\ne\pm1", EQUAL),
        (r"(-1,4)\setminus\{0\}", r"(-1,0)\cup(0,4)", EQUAL),
        (r"\{1,2,3,4\}\setminus\{2,4\}", r"\{1,3\}", EQUAL),
        (r"\{x\in\mathbb R\mid x\ne5\}", r"\mathbb R\setminus\{-5\}", DIFFERENT),
    ],
    "grouped digits": [
        ("98765", r"98\;765", EQUAL),
        ("4500000", r"4,\!500,\!000", EQUAL),
        ("20736", "20'736", EQUAL),
        ("-7200", r"-7\,200", EQUAL),
        ("3628800", "3 628 800", EQUAL),
        ("98765", r"9\;8765", DIFFERENT),
        ("20736", "20'737", DIFFERENT),
    ],
    "money": [
        (r"\$7.25", "USD 7.25", EQUAL),
        (r"\$1200", r"US\$1,200", EQUAL),
        ("£45", "45 pounds", EQUAL),
        ("€8.99", "€8,99", EQUAL),
        ("80 cents", r"\$0.80", EQUAL),
        (r"\$7.25", "EUR 7.25", DIFFERENT),
        ("€8.99", "€8,90", DIFFERENT),
    ],
    "hours and minutes": [
        ("1 h 45 min", "105 min", EQUAL),
        ("3 hours 20 minutes", "200 minutes", EQUAL),
        ("4 min 10 s", "250 s", EQUAL),
        ("1.75 h", r"1\text{ h }45\text{ min}", EQUAL),
        ("2 days 6 hours", "54 hours", EQUAL),
        ("1 h 45 min", "1.45 h", DIFFERENT),
    ],
    "degrees and minutes": [
        (r"30^{\circ}15^{\prime}", r"30.25^\circ", EQUAL),
        (r"12^\circ 45'", r"12.75^\circ", EQUAL),
        (r"89.5^\circ", r"89^{\circ}30^{\prime}", EQUAL),
        ("10°6'", r"10.1^\circ", EQUAL),
        (r"60^\circ20'24''", r"60.34^\circ", EQUAL),
        (r"30^{\circ}15^{\prime}", r"30.15^\circ", DIFFERENT),
    ],
    "chemistry": [
        ("NH3", r"\ce{NH3}", EQUAL),
        ("Al2(SO4)3", r"\mathrm{Al_2(SO_4)_3}", EQUAL),
        ("CaCO3", r"\text{CaCO}_3", EQUAL),
        (r"\ce{Fe^3+}", r"\mathrm{Fe^{3+}}", EQUAL),
        (r"\ce{N2 + 3H2 -> 2NH3}", r"N_2+3H_2\to 2NH_3", EQUAL),
        ("NH3", "NH4", DIFFERENT),
        (r"\ce{N2 + 3H2 -> 2NH3}", r"\ce{N2 + H2 -> NH3}", DIFFERENT),
    ],
    "binomial coefficients": [
        ("35", "C(7,3)", EQUAL),
        ("35", "C_7^3", EQUAL),
        (r"\binom{8}{2}", "28", EQUAL),
        ("{}_{6}C_{2}", "15", EQUAL),
        ("C(9,4)", "C(9,5)", EQUAL),
        ("35", "C(7,2)", DIFFERENT),
        ("x_7^3", "35", DIFFERENT),
    ],
    "inverse functions": [
        (r"\frac{\pi}{4}", r"\operatorname{arccsc}\sqrt2", EQUAL),
        (r"\frac{\pi}{2}", r"\operatorname{arccsc} 1", EQUAL),
        (r"\frac{\pi}{3}", r"\operatorname{arcsec} 2", EQUAL),
        (r"\csc^{-1}(2)", r"\frac{\pi}{6}", EQUAL),
        (r"\operatorname{arccot} 1", r"\frac{\pi}{4}", EQUAL),
        (r"\frac{\pi}{4}", r"\operatorname{arccsc} 2", DIFFERENT),
    ],
    "hyperbolic functions": [
        (r"\operatorname{csch}(2x)", r"\frac{1}{\sinh 2x}", EQUAL),
        (r"\operatorname{csch}^2 x", r"\coth^2 x-1", EQUAL),
        (r"-\operatorname{csch} x\coth x", r"-\frac{\cosh x}{\sinh^2 x}", EQUAL),
        (r"\operatorname{sech} 0", "1", EQUAL),
        (r"\frac{2}{e^t-e^{-t}}", r"\operatorname{csch} t", EQUAL),
        (r"\operatorname{csch} x", r"\frac{1}{\cosh x}", DIFFERENT),
    ],
    "inequalities with the same solutions": [
        (r"x^2>25", r"|x|>5", EQUAL),
        (r"|x|<1", r"x^4<1", EQUAL),
        (r"x^2-7x+10\le0", r"2\le x\le5", EQUAL),
        (r"x^3\ge27", r"x\ge3", EQUAL),
        (r"(x-4)^2<9", r"1<x<7", EQUAL),
        (r"x^2>25", "x>5", DIFFERENT),
    ],
    "series": [
        (r"\sum_{k=1}^\infty \frac{x^k}{k^2}", r"\sum_{n=1}^\infty \frac{x^n}{n^2}", EQUAL),
        (r"\sum_{n=0}^\infty (-1)^n x^{2n}", r"\sum_{j=0}^\infty (-1)^j x^{2j}", EQUAL),
        (r"\sum_{n=0}^\infty (n+1)x^n", r"\sum_{m=0}^\infty (m+1)x^m", EQUAL),
        (r"\sum_{i=1}^n i^3", r"\sum_{k=1}^n k^3", EQUAL),
        (r"3\sum_{k=0}^\infty x^{3k}", r"3\sum_{n=0}^\infty x^{3n}", EQUAL),
        (r"\sum_{i=1}^n i^3", r"\sum_{k=1}^n k^2", DIFFERENT),
    ],
    "unions over the integers": [
        (
            r"\bigcup_{k\in\mathbb Z}(2k\pi,2k\pi+\pi)",
            r"\bigcup_{n\in\mathbb Z}(2n\pi,2n\pi+\pi)",
            EQUAL,
        ),
        (r"\bigcup_{k\in\mathbb Z}[k\pi,k\pi+1)", r"\bigcup_{m\in\mathbb Z}[m\pi,m\pi+1)", EQUAL),
        (r"x=\frac{\pi}{3}+2k\pi, k\in\mathbb Z", r"x=\frac{\pi}{3}+2n\pi, n\in\mathbb Z", EQUAL),
        (r"k\pi-\frac{\pi}{4}", r"n\pi+\frac{3\pi}{4}, n\in\mathbb Z", EQUAL),
        (r"x=2k\pi", r"x=2\pi n, n\in\mathbb{Z}", EQUAL),
        (r"x=2k\pi", r"x=n\pi, n\in\mathbb{Z}", DIFFERENT),
    ],
    "a box with a remark": [
        ("14", r"14 \text{ (as needed)}", EQUAL),
        ("14", r"14\ \text{(checked)}", EQUAL),
        (r"\frac35", r"\frac{3}{5} \text{ (in lowest terms)}", EQUAL),
        ("x=2", r"x=2 \text{ (the only solution)}", EQUAL),
        ("14", r"14\quad\checkmark", EQUAL),
        ("14", r"14 \text{ (or 15)}", DIFFERENT),
    ],
    "a sign too many": [
        ("5", "5-", DIFFERENT),
        ("5", "5*", DIFFERENT),
        ("5", "5/", DIFFERENT),
        ("5", "5:", DIFFERENT),
        ("5", "5...", DIFFERENT),
        ("5", "5?", DIFFERENT),
        ("5", "h.5", DIFFERENT),
        ("5", "**5**", EQUAL),
        (r"\mathbb{R}", r"\mathbb{R}^*", DIFFERENT),
    ],
    "a comma between groups or elements": [
        ("1,000", "1,0", DIFFERENT),
        ("1,000", "(1,0)", DIFFERENT),
        ("1,020", "1, 20", DIFFERENT),
        ("10,5", "10,05", DIFFERENT),
        ("1,000", "1000", EQUAL),
        ("1,234", "1, 234", EQUAL),
    ],
    "an equation of an absolute value": [
        ("|z|=2", "z=2", DIFFERENT),
        ("|a| = 3", "a = 3", DIFFERENT),
        (r"|\vec{a}|=2", "a=2", DIFFERENT),
        ("|z|=2", "|z| = 2", EQUAL),
        ("2z=4", "z=2", EQUAL),
    ],
    "parts of a question": [
        ("(a) 5; (b) 7", "7, 5", DIFFERENT),
        ("(a) 5; (b) 7", "(a) 7; (b) 5", DIFFERENT),
        ("(1) 2; (2) 3", "(1) 3; (2) 2", DIFFERENT),
        ("(1) 2; (2) 3", "3, 2", DIFFERENT),
        ("2, 3", "(1) 2; (2) 3", EQUAL),
        ("(i) 2, (ii) 3", "2, 3", EQUAL),
        ("(a) 5; (b) 7", "(b) 7; (a) 5", EQUAL),
        ("2;3", "①2\uff1b②3", EQUAL),
        ("6", "(2)(3)", EQUAL),
        ("(1) 2; (2) 3", "(1) 2 or 3; (2) 3", SEVERAL),
    ],
    "equations side by side": [
        ("x=5, y=7", r"x=5 \quad y=7", EQUAL),
        ("x=5, y=7", r"x = 5 \\ y = 7", EQUAL),
        ("1, 2", r"1 \quad 2", EQUAL),
        ("x=5, y=7", r"x=7 \quad y=5", DIFFERENT),
        ("x=5, y=7", r"x=5 \text{ or } y=7", DIFFERENT),
        ("x=5", r"x=5 \quad x=6", DIFFERENT),
    ],
    "a unit behind a power of ten": [
        (r"5\times10^{-7}", r"5\times10^{-7} m", EQUAL),
        (r"500\text{ nm}", r"5\times10^{-7} m", EQUAL),
        (r"1.6\times10^{-19}\text{ C}", r"1.6\times10^{-19} C", EQUAL),
        (r"6.63\times10^{-34}", r"6.63\times10^{-34} J s", EQUAL),
        (r"5\times10^{-7}\text{ m}", r"5\times10^{-7} s", DIFFERENT),
        (r"5\times10^{-7}", r"5\times10^{-6} m", DIFFERENT),
        (r"3\times10^8", r"3\times10^8x", DIFFERENT),
    ],
    "units with exponents": [
        (r"5\text{ m/s}", "5 ms^{-1}", EQUAL),
        ("9.8 m/s^2", r"9.8\ \mathrm{ms^{-2}}", EQUAL),
        ("72 km/h", "72 kmh^{-1}", EQUAL),
        ("18 g/mol", "18 g mol^{-1}", EQUAL),
        ("8.314 J/(mol K)", "8.314 J mol^{-1} K^{-1}", EQUAL),
        ("50 kJ/mol", "50 kJmol^{-1}", EQUAL),
        ("5 m/s", "5 m s^-1", EQUAL),
        ("0.5 s^-1", "0.5 Hz", EQUAL),
        ("5 m/s", "5 m s^-2", DIFFERENT),
        ("5 m/s", "5 ms", DIFFERENT),
        ("5 m/s", "5 ms^{-2}", DIFFERENT),
        ("18 g/mol", "18 kg mol^{-1}", DIFFERENT),
    ],
    "a rounding with its unit": [
        (r"12\pi cm \approx 37.7 cm", "37.7 cm", EQUAL),
        (r"12\pi\text{ cm} \approx 37.7\text{ cm}", r"12\pi", EQUAL),
        (r"\frac{5}{3} \text{ hours} \approx 1.67 \text{ hours}", "1.67 hours", EQUAL),
        (r"12\pi cm \approx 37.7 cm", "37.6 cm", DIFFERENT),
        (r"12\pi cm \approx 37.7 cm", "37.7 m", DIFFERENT),
        (r"12\pi\text{ cm}", r"12\pi \text{ cm} \approx 47.7\text{ cm}", DIFFERENT),
    ],
    "brackets that open to the outside": [
        ("(0,1]", "]0,1]", EQUAL),
        ("(-1,1)", "]-1;1[", EQUAL),
        (r"(-\infty,3)\cup(5,\infty)", r"]-\infty,3[\cup]5,+\infty[", EQUAL),
        ("]0,1[", r"\left]0,1\right[", EQUAL),
        ("[0,1]", "]0,1]", DIFFERENT),
        ("(0,1)", "[0,1[", DIFFERENT),
        ("]0,1[", "]1,0[", DIFFERENT),
    ],
    "real numbers of one sign": [
        (r"(0,\infty)", r"\mathbb{R}_{>0}", EQUAL),
        (r"x>0", r"x \in \mathbb{R}^+", EQUAL),
        (r"[0,\infty)", r"\mathbb{R}_{\ge 0}", EQUAL),
        (r"\mathbb{R}\setminus\{0\}", r"\mathbb{R}^*", EQUAL),
        (r"[0,\infty)", r"\mathbb{R}_{>0}", DIFFERENT),
        (r"(0,\infty)", r"\mathbb{R}_{<0}", DIFFERENT),
        (r"(0,\infty)", r"\mathbb{R}_{+}", DIFFERENT),
    ],
    "a range with a word or a dash": [
        ("[3.2, 4.8]", "3.2 to 4.8", EQUAL),
        ("10-20", "10 to 20", EQUAL),
        ("[3,5]", "from 3 to 5", EQUAL),
        ("3:5", "3 to 5", EQUAL),
        ("[3.2, 4.8]", "3.2 to 4.7", DIFFERENT),
        ("(3,5)", "3-5", DIFFERENT),
        ("3.2 to 4.8", "4.8 to 3.2", DIFFERENT),
    ],
    "a decimal that goes on": [
        ("1/3", "0.(3)", EQUAL),
        ("1/3", "0.333...", EQUAL),
        ("1/6", r"0.1666\ldots", EQUAL),
        ("3/11", "0.2727...", EQUAL),
        (r"\pi", "3.14159...", EQUAL),
        ("0.333", "0.333...", DIFFERENT),
        ("3/11", "0.(72)", DIFFERENT),
        ("3.14", "3.14...", DIFFERENT),
        ("0.9", "0.3(3)", DIFFERENT),
    ],
    "groups of digits of other countries": [
        ("1234567", "1.234.567", EQUAL),
        ("1234567.89", "1.234.567,89", EQUAL),
        ("1234567", "12,34,567", EQUAL),
        ("100000", "1,00,000", EQUAL),
        ("1234", "1.234", DIFFERENT),
        ("123456", "12,34,56", DIFFERENT),
        ("1234567", "1.23.4567", DIFFERENT),
    ],
    "a base in words or as a prefix": [
        ("2345_6", r"2345 \text{ base }6", EQUAL),
        ("101_2", "101 (base two)", EQUAL),
        ("26", "0x1A", EQUAL),
        ("5", "0b101", EQUAL),
        ("255", "FF_{16}", EQUAL),
        ("2345", "2345 base 6", DIFFERENT),
        ("0x1A", "0x1B", DIFFERENT),
        ("6", "0b101", DIFFERENT),
    ],
    "a Roman numeral": [
        ("XIV", "14", EQUAL),
        ("II", "2", EQUAL),
        ("XIV", "16", DIFFERENT),
        ("II", "III", DIFFERENT),
        ("VI", "IV", DIFFERENT),
        ("X", "10", DIFFERENT),
        ("20", "XX", DIFFERENT),
        ("4", "IIII", DIFFERENT),
    ],
    "a counter behind a number": [
        ("42", "42个", EQUAL),
        ("42", r"42\text{ 名学生}", EQUAL),
        ("420000", "42万元", EQUAL),
        ("12 cm", "12厘米", EQUAL),
        ("42", "42개", EQUAL),
        ("42", "42万", DIFFERENT),
        ("5", "5个半", DIFFERENT),
        ("5", "5倍", DIFFERENT),
        ("5", "5分之2", DIFFERENT),
        ("12 cm", "12米", DIFFERENT),
    ],
    "a residue as a formula": [
        (r"x \equiv 3 \pmod 7", "7k+3", EQUAL),
        (r"x \equiv 3 \pmod{7}", r"x=7k-4, k\in\mathbb{Z}", EQUAL),
        ("7k+3", r"x\equiv 3\pmod 7", EQUAL),
        (r"x \equiv 3 \pmod 7", "7k+4", DIFFERENT),
        (r"x \equiv 3 \pmod 7", "14k+3", DIFFERENT),
        (r"x \equiv 3 \pmod 7", "7x+3", DIFFERENT),
    ],
    "the gamma function": [
        ("24", r"\Gamma(5)", EQUAL),
        (r"\sqrt{\pi}", r"\Gamma\left(\frac12\right)", EQUAL),
        ("n!", r"\Gamma(n+1)", EQUAL),
        ("24", r"\Gamma(4)", DIFFERENT),
        ("n!", r"\Gamma(n)", DIFFERENT),
    ],
    "a constant that is added": [
        (r"\sin^2x+C", r"-\cos^2x+C", EQUAL),
        (r"\frac{(x+1)^2}{2}+C", r"\frac{x^2}{2}+x+K", EQUAL),
        (r"\ln|x|+C", r"\ln|2x|+C", EQUAL),
        (r"\sin^2x+C", r"\cos^2x+C", DIFFERENT),
        (r"\sin^2x", r"-\cos^2x", DIFFERENT),
        (r"\sin^2x+C", r"-\cos^2x", DIFFERENT),
        (r"x+C", r"\lfloor x\rfloor+C", DIFFERENT),
        ("A+B+C", "A+B+5+C", DIFFERENT),
    ],
    "a list in Chinese": [
        ("2或3", "3 or 2", EQUAL),
        ("-1和3", "-1, 3", EQUAL),
        ("x<1或x>2", r"(-\infty,1)\cup(2,\infty)", EQUAL),
        (r"a>1且a\ne 2", r"a>1 and a\ne 2", EQUAL),
        ("无解", "no solution", EQUAL),
        ("2或3", "2", DIFFERENT),
        ("2", "2或3", SEVERAL),
        ("5", "5个或6个", DIFFERENT),
    ],
    "statements by their numbers": [
        ("①②③", "①, ②, ③", EQUAL),
        ("②④", "④②", EQUAL),
        ("①③", r"\text{①③}", EQUAL),
        ("①②", "①③", DIFFERENT),
        ("①②③", "①②", DIFFERENT),
        ("①", "1", DIFFERENT),
    ],
    "rows behind one brace": [
        (r"\left\{\begin{array}{l}x=1,\\y=2.\end{array}\right.", "x=1, y=2", EQUAL),
        (r"\left\{\begin{array}{l}x=1\\y=2\end{array}\right.", "x=1, y=2", EQUAL),
        (r"\left\{\begin{array}{l}x=1\\y=2\end{array}\right.", "(1,2)", EQUAL),
        (r"\left\{\begin{aligned}x&=1\\y&=2\end{aligned}\right.", "x=1, y=2", EQUAL),
        (
            r"f(x)=\left\{\begin{array}{ll}x^2, & x>0\\-x, & x\le 0\end{array}\right.",
            r"\begin{cases}x^2 & x>0\\-x & x\leq 0\end{cases}",
            EQUAL,
        ),
        (r"\left\{\begin{array}{l}x=1\\y=2\end{array}\right.", "x=2, y=1", DIFFERENT),
    ],
    "several names for one value": [
        ("(0,0,0)", "x=y=z=0", EQUAL),
        ("x=y=z=1", "x=1, y=1, z=1", EQUAL),
        ("a=b=2", "2", EQUAL),
        ("x=y=z=1", "(1,1)", DIFFERENT),
        ("x=y=z=1", "(1,1,2)", DIFFERENT),
    ],
    "a ratio of segments": [
        (r"\frac{AB}{CD}=2", "2", EQUAL),
        ("AB=5", "5", EQUAL),
        (r"\frac{AB}{CD}=2", r"\frac12", DIFFERENT),
        (r"\frac{x}{y}=2", "2", DIFFERENT),
        (r"AB \cdot CD = 12", "12", EQUAL),
    ],
    "names of the tangent": [
        (r"\operatorname{tg} x", r"\tan x", EQUAL),
        (r"\mathrm{ctg} x", r"\cot x", EQUAL),
        (r"\tan x", r"\operatorname{tg}x", EQUAL),
        (r"\operatorname{tg} x", r"\cot x", DIFFERENT),
        (r"\operatorname{ctg} x", r"\tan x", DIFFERENT),
    ],
    "an option in Chinese": [
        ("C", "选C", EQUAL),
        ("C", "C选项", EQUAL),
        ("ABD", "A、B、D", EQUAL),
        ("B", "选C", DIFFERENT),
        ("C", "选B或C", SEVERAL),
    ],
}
# Whole completions: class, then reference, completion, reason.
WRITTEN: dict[str, list[tuple[str, str, str]]] = {
    "a bound in words": [
        ("9", "at most 9", DIFFERENT),
        ("12", "more than 12", DIFFERENT),
        ("30", "No more than 30.", "no_answer"),
        ("8", "less than 8", DIFFERENT),
        ("100", "up to 100", DIFFERENT),
        ("9", "You can buy at most 9 pens.", EQUAL),
    ],
    "possible values": [
        ("4", "Possible answers: 2, 3, 4", DIFFERENT),
        ("9", "The options are 7, 8 and 9.", DIFFERENT),
        ("10", "Candidates: 8, 9, 10", DIFFERENT),
        ("1", "It could be any of 3, 2, 1.", SEVERAL),
        ("15", "The potential values are 5, 10, 15", SEVERAL),
        ("2, 3, 4", "Possible answers: 2, 3, 4", EQUAL),
    ],
    "numbered answers": [
        ("8", "Answer 1: 7\nAnswer 2: 8", SEVERAL),
        ("8", "Solution 1: 7. Solution 2: 8.", SEVERAL),
        ("8", "Guess A: 7, guess B: 8", SEVERAL),
        ("8", "First answer: 7\nSecond answer: 8", SEVERAL),
        ("8", "Answer (a): 7; answer (b): 8", SEVERAL),
        ("7, 8", "Answer 1: 7\nAnswer 2: 8", EQUAL),
    ],
    "long plain mathematics": [
        ("+".join(f"{n}x^{{{n}}}" for n in range(2, 30)),) * 2 + (EQUAL,),
        ("-".join(f"{n}ab^{n}" for n in range(2, 40)),) * 2 + (EQUAL,),
        (", ".join(str(n * n) for n in range(50)),) * 2 + (EQUAL,),
        ("{" + ", ".join(str(2**n) for n in range(40)) + "}",) * 2 + (EQUAL,),
        ("1" + "".join(f" + {n}*y**{n}" for n in range(2, 30)),) * 2 + (EQUAL,),
        ("29", "+".join(f"{n}x^{{{n}}}" for n in range(2, 30)), DIFFERENT),
    ],
    "a closing note": [
        ("9", "We count.\n\nNote: the answer is 9.", EQUAL),
        ("9", "We count.\n\nCheck: 3*3 = 9, so \\boxed{9}", EQUAL),
        ("9", "We count them.\n\nVerification: \\boxed{9} fits.", EQUAL),
        ("9", "We count them.\n\n**Hint:** Final answer: 9", EQUAL),
        ("9", "We count.\n\nVerify that 3*3 = 9.\n#### 9", EQUAL),
        ("9", "The answer is 8.\n\nNote: with order it would be 9.", DIFFERENT),
    ],
    "a box without backslash": [
        ("3/8", "boxed{3/8}", EQUAL),
        ("yes", "So boxed{yes}.", EQUAL),
        ("(1, 4)", "We get boxed{(1, 4)}", EQUAL),
        ("x>2", "$boxed{x > 2}$", EQUAL),
        ("C", "Hence boxed{C}", EQUAL),
        ("5", "boxed{4} or boxed{5}", SEVERAL),
    ],
    "marks around an answer": [
        ("23", "> **23**", EQUAL),
        ("23", "__23__", EQUAL),
        ("23", "***23***", EQUAL),
        ("23", "## **23**", EQUAL),
        ("23", "> `23`", EQUAL),
        ("23", "**22** or **23**", SEVERAL),
    ],
    "fenced answers": [
        ("64", "```\n64\n```", EQUAL),
        ("64", "The result:\n```text\n64\n```", EQUAL),
        ("64", "~~~\n64\n~~~", EQUAL),
        ("x+1", "```math\nx+1\n```", EQUAL),
        ("64", "Answer:\n```\n64\n```", EQUAL),
        ("64", "```\n63\n```", DIFFERENT),
    ],
    "tables": [
        ("90", "| day | km |\n|---|---|\n| Mon | 40 |\n| Sum | 90 |", EQUAL),
        ("90", "| day | km |\n|:-:|:-:|\n| Sum | **90** |", EQUAL),
        ("90", "So:\n\n| a | b |\n|---|---|\n| 1 | 90 |", EQUAL),
        ("90", "day | km\n---|---\nMon | 40\nSum | 90", EQUAL),
        ("$90", "| item | cost |\n|---|---|\n| Total | 90 dollars |", EQUAL),
        ("40", "| day | km |\n|---|---|\n| Mon | 40 |\n| Sum | 90 |", DIFFERENT),
    ],
    "code in a line": [
        ("33", "Sum = `33`", EQUAL),
        ("33", "Result: `33`", EQUAL),
        ("33", "`n = 33`", EQUAL),
        ("33", "Total: `33` apples", EQUAL),
        ("33", "The count is `33`.", EQUAL),
        ("33", "Sum = `32`", DIFFERENT),
    ],
    "no solution": [
        ("no solution", "So the system has no solution.", EQUAL),
        ("no solution", "This equation has no real solutions.", EQUAL),
        ("no solution", "Therefore, there is no solution.", EQUAL),
        (r"\emptyset", "Hence the inequality has no solutions.", EQUAL),
        ("no solution", "There are no solutions.", EQUAL),
        ("no solution", "The equation has no other solution.", "no_answer"),
    ],
    "a closing sentence": [
        ("Friday", "The day is Friday.", EQUAL),
        ("Berlin", "So the city is Berlin.", EQUAL),
        ("green", "The colour is green.", EQUAL),
        ("rhombus", "The figure is a rhombus.", EQUAL),
        ("July", "Therefore the month must be July.", EQUAL),
        ("Friday", "The day is not Friday.", "no_answer"),
    ],
    "yes and no": [
        ("Yes", "Yes, they are.", EQUAL),
        ("No", "No, it does not.", EQUAL),
        ("Yes", "Yes, it can be done.", EQUAL),
        ("No", "No. It is odd.", EQUAL),
        ("Yes", "Yes - it holds for all n.", EQUAL),
        ("Yes", "Yes or no.", SEVERAL),
    ],
    "a conclusion in Chinese": [
        ("C", "因此选C", EQUAL),
        ("C", "本题选C。", EQUAL),
        ("C", "正确选项是C。", EQUAL),
        ("5", "故答案为\uff1a5", EQUAL),
        ("C", "因此不选C", "no_answer"),
        ("C", "故选B或C", SEVERAL),
    ],
    "computations that lead to the last one": [
        ("20", "3*4=12 and 12+8=20.", EQUAL),
        ("20", "First 3*4=12, then 12+8=20.", EQUAL),
        ("12", "3*4=12 and 12+8=20.", DIFFERENT),
        ("20", "Either 12+8=20 or 12+9=21.", DIFFERENT),
        ("12", "So 3*4=12 eggs are needed each day for 5 people.", EQUAL),
        ("5", "So 3*4=12 eggs are needed each day for 5 people.", DIFFERENT),
    ],
    "a box and another form of its value": [
        ("1/2", r"\boxed{\frac12}, 0.5", EQUAL),
        ("2/3", r"\boxed{\frac23}, 0.667", EQUAL),
        ("1/2", r"\boxed{\frac12}, 0.6", SEVERAL),
        ("1/2", r"\boxed{0.6}, 0.5", SEVERAL),
        ("7, 8", r"\boxed{7}, 8", EQUAL),
        ("42", r"\boxed{42}I think so.", EQUAL),
        ("42", r"\boxed{42}a", DIFFERENT),
    ],
}
# The option `form`: class, then reference, answer, form, reason.
FORMS: dict[str, list[tuple[str, str, str, str]]] = {
    "operators between literals": [
        ("391", "17*23", "evaluated", "unevaluated"),
        ("42", "50-8", "evaluated", "unevaluated"),
        ("81", "3^4", "evaluated", "unevaluated"),
        ("7", "21/3", "evaluated", "unevaluated"),
        ("720", "6!", "evaluated", "unevaluated"),
        ("391", "391", "evaluated", EQUAL),
        ("391", "17*23", "value", EQUAL),
    ],
    "sums and products": [
        ("55", r"\sum_{k=1}^{10}k", "evaluated", "unevaluated"),
        ("30", r"\sum_{i=1}^{4}i^2", "evaluated", "unevaluated"),
        ("24", r"\prod_{k=1}^{4}k", "evaluated", "unevaluated"),
        ("2", r"\sum_{n=0}^\infty\frac{1}{2^n}", "evaluated", "unevaluated"),
        ("15", r"\sum_{k=1}^5 k", "evaluated", "unevaluated"),
        ("55", r"\sum_{k=1}^{10}k=55", "evaluated", EQUAL),
    ],
    "integrals": [
        ("2", r"\int_0^2 x dx", "evaluated", "unevaluated"),
        ("9", r"\int_0^3 x^2 dx", "evaluated", "unevaluated"),
        ("1/4", r"\int_0^1 x^3\,dx", "evaluated", "unevaluated"),
        ("2", r"\int_0^\pi \sin x\,dx", "evaluated", "unevaluated"),
        ("e-1", r"\int_0^1 e^x dx", "evaluated", "unevaluated"),
        ("e-1", "e-1", "evaluated", EQUAL),
    ],
    "limits": [
        ("0", r"\lim_{n\to\infty}\frac1n", "evaluated", "unevaluated"),
        ("2", r"\lim_{x\to1}\frac{x^2-1}{x-1}", "evaluated", "unevaluated"),
        ("4", r"\lim_{x\to2} x^2", "evaluated", "unevaluated"),
        ("e", r"\lim_{n\to\infty}(1+\frac1n)^n", "evaluated", "unevaluated"),
        ("3", r"\lim_{x\to0}\frac{3x}{x}", "evaluated", "unevaluated"),
        ("e", "e", "evaluated", EQUAL),
    ],
    "divisors and binomials": [
        ("5", r"\gcd(15,20)", "evaluated", "unevaluated"),
        ("24", r"\operatorname{lcm}(6,8)", "evaluated", "unevaluated"),
        ("21", r"\binom72", "evaluated", "unevaluated"),
        ("56", "C(8,3)", "evaluated", "unevaluated"),
        ("7", r"\gcd(21,14)", "evaluated", "unevaluated"),
        (r"\binom{n}{2}", r"\binom{n}{2}", "evaluated", EQUAL),
    ],
    "fractions to reduce": [
        (r"\frac23", r"\frac46", "evaluated", "unevaluated"),
        (r"\frac58", r"\frac{10}{16}", "evaluated", "unevaluated"),
        ("3", r"\frac{12}{4}", "evaluated", "unevaluated"),
        ("-1/5", "-3/15", "evaluated", "unevaluated"),
        (r"\frac{\pi}{3}", r"\frac{2\pi}{6}", "evaluated", "unevaluated"),
        (r"\frac23", "2/3", "evaluated", EQUAL),
    ],
    "values": [
        (r"\frac79", r"\frac{7}{9}", "evaluated", EQUAL),
        (r"3\sqrt5", r"3\sqrt{5}", "evaluated", EQUAL),
        (r"\frac{5\pi}{6}", r"\frac56\pi", "evaluated", EQUAL),
        ("2-3i", "-3i+2", "evaluated", EQUAL),
        (r"\ln 7", r"\ln(7)", "evaluated", EQUAL),
        ("x^2-4", "(x-2)(x+2)", "evaluated", EQUAL),
    ],
    "expanded or factored": [
        ("x^2-4", "(x-2)(x+2)", "same", "other_form"),
        ("(x-3)^2", "x^2-6x+9", "same", "other_form"),
        ("3x+6", "3(x+2)", "same", "other_form"),
        ("x(x-5)", "x^2-5x", "same", "other_form"),
        ("(a+b)(a-b)", "a^2-b^2", "same", "other_form"),
        ("x^2-4", "-4+x^2", "same", EQUAL),
        ("(x-3)^2", "(3-x)^2", "same", EQUAL),
    ],
    "reduced roots and decimals": [
        (r"3\sqrt2", r"\sqrt{18}", "same", "other_form"),
        (r"\frac{\sqrt5}{5}", r"\frac{1}{\sqrt5}", "same", "other_form"),
        ("0.25", r"\frac14", "same", "other_form"),
        (r"\frac34", r"75\%", "same", "other_form"),
        (r"5\sqrt3", r"\sqrt{75}", "same", "other_form"),
        (r"3\sqrt2", r"\sqrt2\cdot3", "same", EQUAL),
    ],
}
# References as data sets write them: class, then reference, completion, reason, options.
REFERENCES: dict[str, list[tuple[Any, str, str, dict[str, Any]]]] = {
    "rounded references": [
        ("2.72", r"\boxed{e}", EQUAL, {"rounding": 3}),
        ("1.41", r"\boxed{\sqrt2}", EQUAL, {"rounding": 3}),
        ("14.3", r"\boxed{100/7}", EQUAL, {"rounding": 3}),
        ("100/7", r"\boxed{14.3}", EQUAL, {"rounding": 3}),
        ("2.72", r"\boxed{e}", DIFFERENT, {}),
        ("14", r"\boxed{100/7}", DIFFERENT, {"rounding": 2}),
    ],
    "delimiters": [
        ("$$x+1$$", r"\boxed{x+1}", EQUAL, {}),
        (r"\[5\]", r"\boxed{5}", EQUAL, {}),
        (r"\(\frac12\)", r"\boxed{0.5}", EQUAL, {}),
        ("$7$", r"\boxed{7}", EQUAL, {}),
        ("$$\n(1,2)\n$$", r"\boxed{(1,2)}", EQUAL, {}),
        ("$$x+1$$", r"\boxed{x-1}", DIFFERENT, {}),
    ],
    "environments": [
        (r"\begin{align} y &= 7 \end{align}", r"\boxed{7}", EQUAL, {}),
        (r"\begin{align*} 2+3 &= 5 \end{align*}", r"\boxed{5}", EQUAL, {}),
        (r"\begin{equation} x = 4 \end{equation}", r"\boxed{4}", EQUAL, {}),
        (r"\begin{align} a &= 1 \\ &= 1 \end{align}", r"\boxed{1}", EQUAL, {}),
        (r"\begin{gather} n = 12 \end{gather}", r"\boxed{12}", EQUAL, {}),
        (r"\begin{align} y &= 7 \end{align}", r"\boxed{8}", DIFFERENT, {}),
    ],
    "options of MATH": [
        (r"\text{(B)}", r"\boxed{B}", EQUAL, {}),
        (r"\text{(C)}", "The answer is (C).", EQUAL, {}),
        (r"\textbf{(D)}", r"\boxed{\text{D}}", EQUAL, {}),
        (r"\text{(E) }12", r"\boxed{E}", EQUAL, {}),
        (r"\mathrm{(A)}", "A", EQUAL, {}),
        (r"\text{(B)}", r"\boxed{C}", DIFFERENT, {}),
    ],
    "hashes": [
        ("2*9=18\n#### 18", r"\boxed{18}", EQUAL, {}),
        ("#### 5", "#### 5", EQUAL, {}),
        ("He has <<3+4=7>>7.\n#### 7", "The answer is 7.", EQUAL, {}),
        ("#### 1,250", r"\boxed{1250}", EQUAL, {}),
        ("It is less.\n#### -3", r"\boxed{-3}", EQUAL, {}),
        ("2*9=18\n#### 18", r"\boxed{9}", DIFFERENT, {}),
    ],
    "values of JSON": [
        (72, r"\boxed{72}", EQUAL, {}),
        (0.25, r"\boxed{\frac14}", EQUAL, {}),
        (False, "False", EQUAL, {}),
        (-3, r"\boxed{-3}", EQUAL, {}),
        ([3, 4], r"\boxed{4}", EQUAL, {}),
        (72, r"\boxed{73}", DIFFERENT, {}),
    ],
    "values of Python": [
        ("[3, 7]", r"\boxed{[3,7]}", EQUAL, {}),
        ("(2, 9)", r"\boxed{(2,9)}", EQUAL, {}),
        ("False", r"\boxed{\text{False}}", EQUAL, {}),
        ('{"n": 12}', r"\boxed{n=12}", EQUAL, {}),
        ("['x+1']", r"\boxed{1+x}", EQUAL, {}),
        ("['x+1']", r"\boxed{x-1}", DIFFERENT, {}),
    ],
    "lists of answers": [
        ('["7", "8"]', r"\boxed{7}", EQUAL, {}),
        ('["7", "8"]', r"\boxed{7}", DIFFERENT, {"reference_list": "all"}),
        ('["7", "8"]', r"\boxed{8, 7}", EQUAL, {"reference_list": "all"}),
        ('["\\\\frac{1}{2}"]', r"\boxed{0.5}", EQUAL, {}),
        ("[7, 8]", r"\boxed{8}", EQUAL, {"reference_list": "any"}),
        ('["7", "8"]', r"\boxed{9}", DIFFERENT, {}),
    ],
    "decimal commas": [
        ("2,75", r"\boxed{2.75}", EQUAL, {"decimal_comma": True}),
        ("0,5", r"\boxed{\frac12}", EQUAL, {"decimal_comma": True}),
        ("1.500,25", r"\boxed{1500.25}", EQUAL, {"decimal_comma": True}),
        ("6.5", r"\boxed{6,5}", EQUAL, {"decimal_comma": True}),
        ("(1,5; 2)", r"\boxed{(1.5; 2)}", EQUAL, {"decimal_comma": True}),
        ("2,75", r"\boxed{2.75}", DIFFERENT, {}),
    ],
    "other tags": [
        ("9", "<solution>9</solution>", EQUAL, {"tags": ("solution",)}),
        ("D", "<choice>(D)</choice>", EQUAL, {"tags": ("choice",)}),
        ("9", "<result>**9**</result>", EQUAL, {"tags": ("result", "answer")}),
        ("9", "<answer>`9`</answer>", EQUAL, {}),
        ("9", "<answer>\n> **9**\n</answer>", EQUAL, {}),
        ("9", "<choice>8</choice>", DIFFERENT, {"tags": ("choice",)}),
    ],
    "no answer at all": [
        ("proof", r"\boxed{2}", "unverifiable", {}),
        ("Proof.", "We are done.", "unverifiable", {}),
        ("see solution", r"\boxed{1}", "unverifiable", {}),
        (
            "Assume that n is even. Then n^2 is even too. This contradicts the choice of n, so "
            "that n must be odd, as was to be shown.",
            r"\boxed{n}",
            "unverifiable",
            {},
        ),
        ("notfound", r"\boxed{0}", "unverifiable", {}),
        ("Therefore \\boxed{2}.", r"\boxed{2}", EQUAL, {}),
    ],
    "whole solutions": [
        ("Adding gives $\\boxed{\\frac{3}{4}}$, which is what we wanted.", "0.75", EQUAL, {}),
        ("Step 1. Expand.\nStep 2. Solve.\nThe answer is $x = 6$.", r"\boxed{6}", EQUAL, {}),
        ("We have 3 + 4 = 7.\n\nAnswer: 7", r"\boxed{7}", EQUAL, {}),
        ("So the probability is $\\boxed{\\frac{1}{6}}$. Remark: compare 2.", "1/6", EQUAL, {}),
        ("Let $n = 2$. Hence the final answer is \\boxed{(1, 2)}.", r"\boxed{(1,2)}", EQUAL, {}),
        ("Adding gives $\\boxed{\\frac{3}{4}}$.", r"\boxed{3}", DIFFERENT, {}),
    ],
}
MIN_MEMBERS = 5


def reason(reference: Any, completion: str, **options: Any) -> str:
    try:
        return str(judge(Accuracy(**options), {"answer": reference}, completion).reason)
    except Unverifiable:
        return "unverifiable"


def of(classes: dict[str, list[Any]]) -> list[Any]:
    """The members of all classes, each with the name of its class."""
    return [
        pytest.param(*member, id=f"{name}-{number}")
        for name, members in classes.items()
        for number, member in enumerate(members, start=1)
    ]


@pytest.mark.parametrize(("reference", "answer", "expected"), of(BOXED))
def test_a_boxed_answer_has_the_verdict_of_its_class(
    reference: str, answer: str, expected: str
) -> None:
    assert reason(reference, rf"\boxed{{{answer}}}") == expected


@pytest.mark.parametrize(("reference", "completion", "expected"), of(WRITTEN))
def test_a_completion_has_the_verdict_of_its_class(
    reference: str, completion: str, expected: str
) -> None:
    assert reason(reference, completion) == expected


@pytest.mark.parametrize(("reference", "answer", "form", "expected"), of(FORMS))
def test_a_form_has_the_verdict_of_its_class(
    reference: str, answer: str, form: str, expected: str
) -> None:
    assert reason(reference, rf"\boxed{{{answer}}}", form=form) == expected


@pytest.mark.parametrize(("reference", "completion", "expected", "options"), of(REFERENCES))
def test_a_reference_is_read_as_its_class_is(
    reference: Any, completion: str, expected: str, options: dict[str, Any]
) -> None:
    assert reason(reference, completion, **options) == expected


def test_each_class_has_members_enough() -> None:
    tables: list[dict[str, list[Any]]] = [BOXED, WRITTEN, FORMS, REFERENCES]
    assert min(len(members) for table in tables for members in table.values()) >= MIN_MEMBERS
