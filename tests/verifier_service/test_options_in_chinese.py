"""Options that Chinese texts choose, and others that they offer beside them."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.option_letters import named_letters
from verifier_service.mathematics.options_in_chinese import (
    called_right_in_chinese,
    offered_in_chinese,
)
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


OTHERS_CALLED_RIGHT_OR_WRONG_IN_A_REASON = [
    "A正确,C也正确,D也正确,故选B",
    "A项正确,B项错误,C项也正确,D项正确。故选:B。",
    "【答案】B\n【解析】A项正确;B项错误;C项也正确;D项正确",
    "其他选项:A、C、D都不符合。答案是B",
    "答案是B。其他选项:A错,C错",
    "\\boxed{B}\n其他选项:A错误",
    "如果不是A,就是B。已知不是A。所以选B",
    "若A错,则C错,矛盾,故选B",
    "\\boxed{B}\n若A不对,则C不对。",
    "若A说真话,则C也成立,矛盾;故选B",
    "A也可能,但不必然;故选B",
    "答案:B。有同学认为C也对,其实不对。",
    "答案是B。另一个选项:C有误",
]


@pytest.mark.parametrize("text", OTHERS_CALLED_RIGHT_OR_WRONG_IN_A_REASON)
@pytest.mark.parametrize("comma", [",", "\uff0c"])
def test_a_reason_offers_no_other_option(text: str, comma: str) -> None:
    found = judge(MultipleChoice(), {"answer": "B"}, text.replace(",", comma))
    assert (found.score, found.reason) == (1.0, MultipleChoiceReason.EQUAL)


OFFERS_OF_ANOTHER_OPTION = [
    "答案\uff1aB\uff0c但也可能是C",
    "答案\uff1aB\uff0c或者C",
    "答案是B。C也对。",
    "答案:B。备选答案:C",
    "答案:B。如果不对就选C",
    "**答案是B,或者C**",
    "答案是B(C也可以)",
    "答案是B,但C也有可能",
]
REASONING = "由题意可知,该命题的证明需要用到数学归纳法和柯西不等式,再利用单调性得到结论。" * 8


@pytest.mark.parametrize("text", OFFERS_OF_ANOTHER_OPTION)
@pytest.mark.parametrize("before", ["", REASONING, REASONING + "\n"])
def test_an_offer_is_found_behind_any_reasoning(before: str, text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "B"}, before + text).score == 0.0


def test_a_second_option_in_a_later_line_is_not_the_first() -> None:
    text = "答案:B\n备选答案:C"
    assert judge(MultipleChoice(), {"answer": "B"}, text).score == 0.0


BEFORE_ANOTHER_OPTION_OR_A_DENIAL = [
    "\\boxed{B,但也可能是C}",
    "<answer>B,但也可能是C</answer>",
    "<answer>B,还可能是C</answer>",
    "<answer>B, 但是C更好</answer>",
    "\\boxed{B 要么 C}",
    "\\boxed{B 还有 C}",
    "\\boxed{B 可能 C}",
    "\\boxed{B 之外C也对}",
    "答案:B 抑或 C",
    "答案:B 否则 C",
    "答案:B 加 C",
    "答案:B 跟 C",
    "答案:B 显然不对",
    "答案:B 说法错误",
    "答案:B 可以排除",
    "答案:B 这个选项不对",
    "答案:B 违反题意",
    "答案:B 无法推出",
    "\\boxed{B,猜的}",
]


@pytest.mark.parametrize("text", BEFORE_ANOTHER_OPTION_OR_A_DENIAL)
@pytest.mark.parametrize("comma", [",", "\uff0c"])
def test_a_letter_before_another_option_or_a_denial_is_no_answer(text: str, comma: str) -> None:
    assert judge(MultipleChoice(), {"answer": "B"}, text.replace(",", comma)).score < 1.0


@pytest.mark.parametrize(
    ("right", "text"),
    [
        ("C", "答案\uff1a C 考查副词"),
        ("B", "答案\uff1aB 本题考查定语从句"),
        ("B", "\\boxed{B 本题考查定语从句}"),
        ("B", "答案\uff1aB 考查不定代词"),
        ("B", "答案\uff1aB 因为它不是质数"),
        ("B", "答案\uff1aB 根据牛顿第一定律,合力为零时速度不变"),
    ],
)
def test_a_letter_before_the_subject_of_a_question_is_read(right: str, text: str) -> None:
    assert judge(MultipleChoice(), {"answer": right}, text).score == 1.0


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
    "text",
    [
        "因此,$x=2$,选项B正确。",
        "解得x=2。所以选项B是正确的。",
        "由图可知x=2,故选项B是正确答案。",
        "因此,正确答案是选项B,它在区间$[-3,3]$上是偶函数。",
    ],
)
def test_an_option_that_the_end_calls_right_is_chosen(text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "B"}, text).reason == "equal"
    assert judge(MultipleChoice(), {"answer": "A"}, text).reason == "different"


@pytest.mark.parametrize(
    "text",
    [
        "题目要求找错误的说法。A项错误。因此,选项B正确。",
        "因此,选项B不正确。",
        "因此,选项B正确。选项C也正确。",
        "若x=2,选项B正确。",
        "小明认为x=2,选项B正确。",
        "不能说x=2,选项B正确。",
        "所以,选项B正确?",
        "没有证据表明,选项B正确。",
        "本题选错误的一项。所以,选项B正确。",
        "题目问哪个是错误的。经分析,选项B正确。",
        "A、B都对,故选项B正确。",
    ],
)
def test_an_option_that_is_one_of_several_judged_or_supposed_is_not_chosen(text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "B"}, text).score == 0.0


@pytest.mark.parametrize(
    "piece",
    [
        "B\uff0c或者",
        "或",
        "\uff0c也可能是",
        "如果B",
        "备选",
        "答案",
        "B",
        " ",
        "C也对,",
        "选项B正确,选",
        "备选答案:C、",
    ],
)
def test_offers_are_found_in_linear_time(piece: str) -> None:
    assert_linear(offered_in_chinese, piece)
    assert_linear(lambda text: called_right_in_chinese(f"{text},选项B正确"), piece)
    assert_linear(lambda text: judge(MultipleChoice(), {"answer": "B"}, text), piece)
