"""References as data sets write them, and the options that say how to read them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.verifier_service.judging import judge
from verifier_service.mathematics.program_values import answers_in_value
from verifier_service.mathematics.reference_answer import answer_of_reference
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy


def reason(reference: Any, answer: str, **options: Any) -> str:
    return str(judge(Accuracy(**options), {"answer": reference}, rf"\boxed{{{answer}}}").reason)


CHAIN = "\\begin{align*}\nx &= 2 + 3 \\\\\n&= 5.\n\\end{align*}"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        # delimiters and environments
        ("$$5$$", "5"),
        (r"\[ \frac{1}{2} \]", r"\frac12"),
        (r"\(5\)", "5"),
        (CHAIN, "5"),
        (CHAIN.replace("align", "eqnarray").replace("&=", "&=&"), "5"),
        ("$$\n\\begin{aligned} x &= 2 + 3 \\\\ &= 5 \\end{aligned}\n$$", "5"),
        (r"\begin{equation}x^2 \tag{1}\end{equation}", "x^2"),
        (r"\begin{gather}5\end{gather}", "5"),
        (r"\begin{align} x &= 1 \\ y &= 2 \end{align}", "x = 1, y = 2"),
        (r"\begin{equation*}\begin{split} a &= 3 \\ &= 3 \end{split}\end{equation*}", "3"),
        # choices
        (r"\text{(A)}", "A"),
        (r"\textbf{(A)}\ 5", "A"),
        (r"\mathrm{(A)}", "(A)"),
        (r"(\text{A})", "A"),
        (r"\text{(A) }5", r"\text{A}"),
        # GSM8K
        ("#### 72", "72"),
        ("48/2 = <<48/2=24>>24\n#### 72", "72"),
        ("#### 1,234", "1234"),
        ("#### -3.5", "-3.5"),
        ("####72", "72"),
        # JSON numbers and truth values
        (72, "72"),
        (0.5, r"\frac12"),
        (-3, "-3"),
        (1e21, "10^{21}"),
        ([1, 2], "2"),
        (True, "True"),
        (False, r"\text{false}"),
        ([True, 1], "1"),
        # texts of JSON and Python values
        ("True", "true"),
        ("[1, 2]", "[1, 2]"),
        ("[1, 2, 3]", "[1, 2, 3]"),
        ("[1, 2, 3]", "1, 2, 3"),
        ("[1, 2, 3]", "(1, 2, 3)"),
        ("[[1, 2], [3, 4]]", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"),
        ("['4']", "4"),
        ('["4"]', "4"),
        ("'4'", "4"),
        (r'["\\frac{1}{2}"]', "1/2"),
        (r'["\frac{1}{2}"]', "1/2"),
        ('["4", "5"]', "5"),
        ("['4', '5']", "4"),
        ("('4', '5')", "4, 5"),
        ("{'4', '5'}", "5, 4"),
        ('{"x": 3}', "3"),
        ("{'x': 3}", "x = 3"),
        ("{'x': 3, 'y': 4}", "y = 4, x = 3"),
        ('{"answer": "yes"}', "Yes"),
        ('{"ground_truth": 4}', "4"),
        ('{"x": 3}', '{"x": 3}'),
        ("['4']", "['4']"),
    ],
)
def test_a_reference_is_read_as_its_data_set_means_it(reference: Any, answer: str) -> None:
    assert reason(reference, answer) == "equal"
    assert reason(reference, "12345") != "equal"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("[1, 2]", "(1, 2)"),
        ("[1, 2]", "1"),
        ("[1, 2, 3]", "3, 2, 1"),
        ("[1, 2, 3]", "3"),
        ("('4', '5')", "4"),
        ("{'4', '5'}", "4"),
        ("['4', '5']", "4 or 5"),
        ("['4', '5']", "4, 5"),
        ("['4', '5']", "['4', '5']"),
        ("{'x': 3, 'y': 4}", "3"),
        ("{'x': 3, 'y': 4}", "x = 4, y = 3"),
        (CHAIN, "2"),
        (r"\begin{align} x &= 1 \\ y &= 2 \end{align}", "2"),
        (True, "1"),
        (1, "True"),
    ],
)
def test_nothing_else_is_read_into_a_reference(reference: Any, answer: str) -> None:
    assert reason(reference, answer) != "equal"


@pytest.mark.parametrize("reference", ["['4', '5']", '["4", "5"]', "[4, 5]", '["4", 5]', "[ 4,5 ]"])
def test_an_option_says_what_a_list_stands_for(reference: str) -> None:
    for answer in ("4", "5"):
        assert reason(reference, answer, reference_list="any") == "equal"
        assert reason(reference, answer, reference_list="all") == "different"
    for answer in ("4, 5", "5, 4", "[4, 5]", "4 and 5"):
        assert reason(reference, answer, reference_list="all") == "equal"
    for answer in ("4, 5", "4 or 5", "6"):
        assert reason(reference, answer, reference_list="any") != "equal"
    assert reason(reference, "4, 6", reference_list="all") == "different"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("3,5", "3.5"),
        ("3,5", r"\frac72"),
        ("3,5", "3{,}5"),
        ("1.234,5", "1234.5"),
        ("1.234.567", "1234567"),
        ("-0,25", "-1/4"),
        ("(3,5; 4)", "(3.5, 4)"),
        ("3,5 km", "3500 m"),
        ("1, 2", "2, 1"),
        ("12,5\\%", "12.5\\%"),
        ("1,2,3", "1, 2, 3"),
    ],
)
def test_a_decimal_comma_is_read_where_an_option_says_so(reference: str, answer: str) -> None:
    assert reason(reference, answer, decimal_comma=True) == "equal"
    assert reason(answer, reference, decimal_comma=True) == "equal"


def test_without_the_option_a_comma_separates() -> None:
    assert reason("3,5", "3.5") == "different"
    assert reason("3,5", "5, 3") == "equal"
    assert reason("3,5", "35", decimal_comma=True) == "different"
    assert reason("3,5", "3", decimal_comma=True) == "different"
    completion = "Das Ergebnis ist also 3,5"
    assert judge(Accuracy(decimal_comma=True), {"answer": 3.5}, completion).score == 1.0


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        ("<solution>5</solution>", "equal"),
        ("Result: 3. <solution>\n**5**\n</solution> I checked 7.", "equal"),
        ("<choice>5</choice>", "equal"),
        ("<solution><answer>5</answer></solution>", "equal"),
        ("<solution>So \\boxed{5}</solution>", "equal"),
        ("<solution>5</solution> or <choice>6</choice>", "ambiguous_answer"),
        ("<choice>6</choice> or <solution>5</solution>", "ambiguous_answer"),
        ("<solution>5</solution>\nWait, that is wrong: <solution>6</solution>", "different"),
        ("<think><solution>5</solution>", "no_answer"),
        ("<solution></solution>", "no_answer"),
    ],
)
def test_an_option_names_the_tags_of_the_answer(completion: str, expected: str) -> None:
    verifier = Accuracy(tags=("answer", "solution", "choice"), extract=("answer_tag",))
    assert judge(verifier, {"answer": "5"}, completion).reason == expected


def test_tags_that_no_option_names_are_text() -> None:
    verifier = Accuracy(extract=("answer_tag",))
    assert judge(verifier, {"answer": "5"}, "<solution>5</solution>").reason == "no_answer"
    for name in ("", "a b", "<answer>", "1", "a" * 40, "a|b", "a.*"):
        with pytest.raises(ValidationError):
            Accuracy(tags=(name,))


@pytest.mark.parametrize(
    "text", ["[", "[1", "{'x'", "{'x':", "{'x': [1]}", "[]", "{}", "'a' or 'b'", "x'"]
)
def test_what_is_no_value_stays_as_it_is(text: str) -> None:
    assert answers_in_value(text) == (text,)
    assert answers_in_value(text, "all") == (text,)


@pytest.mark.parametrize(
    "text", ["[asy] draw((0,0)); [/asy]", "(0, \\infty)", "[a, b)", 'f\'(x) = "2"']
)
def test_brackets_of_mathematics_are_no_value(text: str) -> None:
    assert answer_of_reference(text) == text
    assert answers_in_value(text, "any") == (text,)


def test_a_list_without_answers_is_unverifiable() -> None:
    for reference in ("['']", '["proof"]', "[]"):
        with pytest.raises(Unverifiable):
            reason(reference, "5")
