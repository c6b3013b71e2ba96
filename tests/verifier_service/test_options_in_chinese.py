"""Options that Chinese texts choose, and others that they offer beside them."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.option_letters import named_letters, offered_in_chinese
from verifier_service.verifiers.multiple_choice import MultipleChoice, MultipleChoiceReason

HEDGES = [
    "答案\uff1aB\uff0c但也可能是C",
    "答案\uff1aB\uff0c或者C",
    "答案\uff1aB\uff0c也可能选C",
    "答案是B。或者是C。",
    "答案\uff1aB\uff0cC也对",
    "选B\uff0c如果B不对就选C",
    "答案\uff1aB。备选答案\uff1aC",
    "答案是B\uff0c也许C",
    "答案\uff1aB\uff08或C\uff09",
    "答案\uff1aB\n或者C",
    "所以选B\uff0c也可以选C。",
    "答案\uff1aB\uff0cC同样正确。",
]


@pytest.mark.parametrize("text", HEDGES)
@pytest.mark.parametrize("right", ["B", "C"])
def test_a_hedge_is_paid_for_neither_option(right: str, text: str) -> None:
    found = judge(MultipleChoice(), {"answer": right}, text)
    assert (found.score, found.reason) == (0.0, MultipleChoiceReason.AMBIGUOUS_ANSWER)


HONEST = [
    "答案\uff1aB\uff0c不是C",
    "答案\uff1aB\uff0c而不是C",
    "选B\uff0c因为C错误",
    "答案\uff1aB\uff0cC也不对",
    "答案\uff1aB。解析\uff1a由A或C可知",
    "答案\uff1aB\uff0c可能有同学误选C",
    "答案\uff1aB\uff0c也可能是C\uff0c但C不满足条件",
    "答案\uff1aB。点C也可能在AB上",
    "因为可能是A或C的情况都不成立\uff0c所以选B",
    "答案\uff1a B 考查动词",
    "答案\uff1aB 本题考查\u2026",
    "答案\uff1aB 项正确",
]


@pytest.mark.parametrize("text", HONEST)
def test_an_option_with_its_reason_is_chosen(text: str) -> None:
    found = judge(MultipleChoice(), {"answer": "B"}, text)
    assert (found.score, found.reason) == (1.0, MultipleChoiceReason.EQUAL)


@pytest.mark.parametrize(
    "text",
    [
        "答案\uff1aB 不正确",
        "答案\uff1aB 项错误",
        "答案\uff1aB 或C",
        "答案\uff1aB 还是C\uff1f",
        "答案\uff1aA\uff0c可能有同学误选B",
    ],
)
def test_an_option_that_is_rejected_is_not_chosen(text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "B"}, text).score == 0.0


SIGNED = {"A": "+0.02 m", "B": "-0.02 m"}


@pytest.mark.parametrize(
    ("right", "text", "reason"),
    [
        ("B", "Answer: (B) -0.02 m", MultipleChoiceReason.EQUAL),
        ("A", "Answer: (A) -0.02 m", MultipleChoiceReason.AMBIGUOUS_ANSWER),
        ("B", "Answer: B - -0.02 m", MultipleChoiceReason.EQUAL),
    ],
)
def test_the_sign_behind_a_letter_is_one_of_its_text(
    right: str, text: str, reason: MultipleChoiceReason
) -> None:
    assert judge(MultipleChoice(), {"answer": right, "choices": SIGNED}, text).reason == reason


def test_spaces_around_a_comma_do_not_make_another_text() -> None:
    assert named_letters("B. Q, P", {"A": "Q,Q", "B": "Q,P"}) == {"B"}


VALUES = {"A": "$$22$$ ", "B": "$$21$$ "}


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("So $3+5+6+7=21$.", 1.0),
        ("所以\uff0c$$3+5+6+7=21$$\uff0e", 1.0),
        ("So it is $3 \\times 21$.", 0.0),
        ("So it is 22 or 21.", 0.0),
        ("It may be $21$.", 0.0),
        ("It is less than $21$.", 0.0),
        ("结果小于$21$", 0.0),
        ("它不等于$21$", 0.0),
    ],
)
def test_the_text_of_an_option_between_dollars_ends_a_line(text: str, score: float) -> None:
    assert judge(MultipleChoice(), {"answer": "B", "choices": VALUES}, text).score == score


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The answer is most likely B.", MultipleChoiceReason.EQUAL),
        ("The answer is probably B.", MultipleChoiceReason.EQUAL),
        ("The answer is most likely B or A.", MultipleChoiceReason.AMBIGUOUS_ANSWER),
        ("The answer is probably not B.", MultipleChoiceReason.NO_ANSWER),
    ],
)
def test_a_likely_option_is_chosen(text: str, reason: MultipleChoiceReason) -> None:
    assert judge(MultipleChoice(), {"answer": "B"}, text).reason == reason


@pytest.mark.parametrize(
    "piece", ["B\uff0c或者", "或", "\uff0c也可能是", "如果B", "备选", "答案", "B", " "]
)
def test_offers_are_found_in_linear_time(piece: str) -> None:
    assert_linear(offered_in_chinese, piece)
    assert_linear(lambda text: judge(MultipleChoice(), {"answer": "B"}, text), piece)
