"""What the parser of answers reads, where the way of writing or the size is unusual."""

from __future__ import annotations

import pytest

from verifier_service.mathematics.answer_parser import parse_answer


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
