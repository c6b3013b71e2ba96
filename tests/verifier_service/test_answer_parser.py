"""The parser of answers, where the way of writing or the size is unusual."""

from __future__ import annotations

import pytest

from verifier_service.mathematics.answer_parser import parse_answer
from verifier_service.mathematics.comparison import read_answer, same_answer
from verifier_service.mathematics.notation import Unreadable
from verifier_service.verifiers.accuracy import Accuracy


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (r"x + 1 = \frac12 cm", r"x + 1 = \frac{1}{2} cm"),
        (r"3\frac52", r"3\frac{5}{2}"),
    ],
)
def test_a_fraction_without_braces_is_read_again_after_another_reading_failed(
    short: str, long: str
) -> None:
    assert parse_answer(short) == parse_answer(long)


RULES = Accuracy().rules
MANY = "9" * 4500  # more digits than Python turns into a number


@pytest.mark.parametrize(
    "text",
    [
        f"1 {MANY}/{MANY}9",
        f"101_{{{MANY}}}",
        "101_①",
        r"0.1\overline{①}",
        f"x + {'9' * 3990}e3999",
        f"x + {'9' * 3990} {'8' * 2990}/{'9' * 2990}",
        "5 km^99999999",
        "abs(x, y) < 2",
    ],
)
def test_numbers_and_arguments_of_any_size_and_number_are_read_or_refused(text: str) -> None:
    assert same_answer(read_answer(text), read_answer("x + 1"), RULES) is not True


@pytest.mark.parametrize(
    "text",
    [r"\mathbb{R} \cup \{1\} \setminus \{2\}", r"(0,1) \cup (2,3) \cap (0,5)"],
)
def test_sets_joined_in_several_ways_are_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        parse_answer(text)


@pytest.mark.parametrize("text", [r"1\frac}", r"5 \frac} km", r"(1\frac})", r"5 \frac{km}}{h}"])
def test_a_brace_without_its_partner_is_no_error_of_ours(text: str) -> None:
    assert read_answer(text).text
