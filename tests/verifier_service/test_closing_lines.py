"""Last lines of prose: the number that they state, and lines that state none or several."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.closing_numbers import closing_result
from verifier_service.mathematics.stated_sentence import without_aside
from verifier_service.verifiers.accuracy import Accuracy


@pytest.mark.parametrize(
    ("right", "text", "wrong"),
    [
        ("300", "He gets 30 * 10 = 300 lemons in 10 years.", "10"),
        ("17", "There are 24 - 7 = 17 students not in class 9.", "9"),
        ("21", "So 84 - 63 = 21 melons are not ripe.", "63"),
        ("6", "Since $4 and $2 differ, it costs $4 + $2 = $6 for 2 tubs.", "2"),
        ("10", "He has 4 + 4 = 8 pens, so with 2 more it is 10.", "8"),
        ("42", "So she has 42 apples after 3 days.", "3"),
        ("42", "So Alice needs 42 apples to feed 7 people.", "7"),
        ("42", "So the farm had 42 apples in 2024.", "2024"),
        ("42", "So it takes her 42 minutes to paint 7 fences.", "7"),
        ("42", "The bakery will earn $42 for the 7 loaves.", "7"),
        ("42", "Ben had 42 pears left after he ate 7 of them.", "7"),
        ("42", "All told, Nina drives 42 miles over 7 days.", "7"),
        ("42", "She needs 42 plums because there are 6 in each of 7 jars.", "7"),
        ("42", "The minimum value is 42 when x = 7.", "7"),
        ("42", "The minimum value is \\(42\\) when \\(x = 7\\).", "7"),
        ("42", "The maximum of $f(x)$ is $42$, attained at $x = 7$.", "7"),
        ("42", "Thus \\(x = 7\\), which gives \\(y = 42\\).", "7"),
        ("7", "The maximum of $f(x)$ is attained at $x = 7$.", "42"),
        ("7", "The function \\(g(x)\\) attains its minimum when \\(x=7\\).", "42"),
        ("4", "The remainder of \\(3^{42}\\) when divided by \\(5\\) is \\(4\\).", "5"),
        ("42", "The value of $x$ given that $y = 7$ is $42$.", "7"),
        ("42", "So \\(n\\) is given by \\(n = 42\\).", "n"),
        ("42", "The side is \\(7\\), which makes the area \\(42\\).", "7"),
        ("42", "We use \\(7\\) as the base and get \\(42\\).", "7"),
        ("-7", "We get \\(x = 7\\) when we forget the sign, but in fact \\(x = -7\\).", "7"),
        ("7", "Therefore the two taps fill the 420 liter tub in 7 hours.", "420"),
        ("7", "All 42 workers together finish the road in 7 days.", "42"),
        ("7", "So Nina will reach her $42 goal in 7 weeks.", "42"),
        ("7", "He can read all 420 pages in 7 days.", "420"),
        ("42", "She sold all 7 rings for 42 dollars.", "7"),
        ("7", "The number of pupils went down by 42 percent to reach 7 pupils.", "42"),
        ("7", "The height is 0 when t = 7.", "0"),
        ("42", "After 7 days of harvest they have 42 sacks.", "7"),
        ("42", "Since one box holds 7 pens, she has 42 pens.", "7"),
        ("42", "He gave her 7 of them, leaving him with 42 pens.", "7"),
        ("42", "They met 7 years before they moved, which is 42 years ago.", "7"),
        ("42", "She bought 7 pens for which she paid 42 dollars.", "7"),
        ("42", "Multiply 7 apples by 6, which is 42 apples.", "7"),
        ("6", "He has 5 apples in 1 basket, so 6 things.", "5"),
        ("3:4", "The ratio is 3 to 4.", "3"),
        ("5 A", "So the current is 5 A", "4 A"),
        ("42", "Hence 42 is the number of ways for A", "41"),
        ("43", "The answer is not 41, but 43.", "41"),
        ("42", "We compute $x = 6 \\cdot 7$.\n\nNot 41, but 42.", "41"),
        ("42", "The answer is 42 (not 43).", "43"),
        ("42", "It does not matter which, we get 42.", "43"),
        ("B", "Hence the correct choice is B (42).", "43"),
        ("42", "Hence the correct choice is B (42).", "C"),
        ("12\\pi", "The area is 12π ≈ 37.7 square units.", "37"),
        ("37.7", "The area is 12π ≈ 37.7 square units.", "37.6"),
        ("5\\sqrt{3}", "The height is $5\\sqrt{3}$ cm ≈ 8.66 cm.", "8.7"),
        ("B", "故选:B.", "C"),
        ("B", "所以答案选 B", "A"),
        ("42", "답: 42", "43"),
        ("42", "答え: 42", "43"),
        ("42", "Đáp án: 42", "43"),
        ("12.5", "They weigh 12.5kg.", "12"),
        ("12.5 kg", "They weigh 12.5kg in total.", "12"),
        ("12 km", "He ran 12 km in the morning.", "12 m"),
        ("3.5", "It is 3.5m long.", "3"),
        ("1500", "It costs 1,500USD today.", "1"),
        ("12600", "Thus the net income would be $12.6k higher.", "12"),
        ("-2.5", "It fell by -2.5x.", "-2"),
        (
            "20",
            "The answer is the most suitable ratio to apply in a price-to-earnings model is 20.",
            "19",
        ),
        ("12%", "So the answer is the return on the stock with the given values is 12%.", "13%"),
        ("20", "The answer is 20.\n\nNote that the final answer is an approximation.", "21"),
        ("7", "The answer is 7.\n\nThe answer is based on the data in the table.", "8"),
        ("12000", "The answer is \u20a412,000.", "12"),
        ("5", "The answer is 5 (in USD).", "6"),
    ],
)
def test_a_line_states_one_value(right: str, text: str, wrong: str) -> None:
    assert judge(Accuracy(), {"answer": right}, text).reason == "equal"
    assert judge(Accuracy(), {"answer": wrong}, text).score == 0.0


@pytest.mark.parametrize(
    ("references", "text"),
    [
        (("42", "43", "44"), "I get 42. I get 43. I get 44."),
        (("42", "43"), "She has 42 apples. She has 43 apples."),
        (("41", "44"), "Count: 41 42 43 44"),
        (("42", "43"), "#### 42\n#### 43"),
        (("42", "43"), "Answer: 42\nAnother answer: 43"),
        (("42", "43"), "The answer is 42.\n\nThe answer is 43."),
        (("0",), "I don't know. 0"),
        (("84",), "Now we divide 84 by"),
        (("5",), "So we have 5 apples and then we"),
        (("5",), "This follows by Theorem 5."),
        (("5",), "See equation (5)."),
        (("5",), "It is not 2 + 3 = 5."),
        (("42",), "答えは42ではありません。"),
        (("42", "43"), "42 (or 43)"),
    ],
)
def test_a_line_states_no_value(references: tuple[str, ...], text: str) -> None:
    assert [judge(Accuracy(), {"answer": one}, text).score for one in references] == [0.0] * len(
        references
    )


@pytest.mark.parametrize(
    ("answer", "references", "wrong"),
    [
        ("0.143 (approximately 14.3%)", ("0.143", "14.3%"), "14.4%"),
        ("0.143 (14.3%)", ("0.143", "14.3%"), "0.144"),
        ("1/4 (25%)", ("1/4", "0.25", "25%"), "26%"),
        ("25% (1/4)", ("1/4", "25%"), "24%"),
        ("approximately 0.142857 or 14.29%", ("0.142857",), "0.15"),
        (r"0.2272, or about 22.72\%", ("0.2272", "22.72%"), "22.8%"),
    ],
)
def test_a_number_may_stand_beside_itself_in_percent(
    answer: str, references: tuple[str, ...], wrong: str
) -> None:
    text = f"Therefore, the answer is {answer}."
    for reference in references:
        assert judge(Accuracy(), {"answer": reference}, text).reason == "equal"
    assert judge(Accuracy(), {"answer": wrong}, text).score == 0.0


@pytest.mark.parametrize(
    ("references", "answer"),
    [
        (("0.143", "15%"), "0.143 (about 15%)"),
        (("0.5", "5%"), "0.5 or 5%"),
        (("0.2", "0.25", "25%"), "0.2 or 25%"),
        (("12", "12000"), "the number is 12k or 12000"),
    ],
)
def test_another_percentage_is_another_answer(references: tuple[str, ...], answer: str) -> None:
    for reference in references:
        text = f"Therefore, the answer is {answer}."
        assert judge(Accuracy(), {"answer": reference}, text).score == 0.0


@pytest.mark.parametrize("piece", ["$x where y$ ", "\\(x as y\\), ", "is $5$ as ", "as x, "])
def test_asides_are_found_in_linear_time(piece: str) -> None:
    assert_linear(without_aside, piece, before="$a$ " * 1000)


@pytest.mark.parametrize("piece", ["5 apples after 3 days ", "so it is ", "a when 5 x "])
def test_numbers_are_placed_in_linear_time(piece: str) -> None:
    assert_linear(closing_result, piece)
