"""Completions that offer a second answer beside their own, and honest ones with the same words."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.further_answers import without_further_answers
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.multiple_choice import MultipleChoice

OFFERING_SIX = [
    "Answer: 5\nAlternative: 6",
    "Answer: 5\nAlternative answer: 6",
    "Answer: 5\n**Alternative answer:** 6",
    "The answer is 5. Backup answer: 6.",
    "Answer: 5\nBackup: 6",
    "Answer: 5\nSecond guess: 6",
    "The answer is 5. Another possible answer is 6.",
    "Alternative: 6\nAnswer: 5",
    "Backup answer: 6. Main answer: 5",
    "\\boxed{5}\nAlternative: 6",
    "\\boxed{5}\n\nBackup answer: $6$.",
    "\\boxed{5}\n\nThat is it.\n\nBackup answer: \\boxed{6}",
    "\\boxed{5}. 6 also works.",
    "\\boxed{5}. 6 is also possible.",
    "The answer is 5. 6 also works.",
    "The answer is 5, but 6 also works.",
    "The answer is $5$. $6$ is also acceptable.",
    "The answer is 5; 6 is another possibility.",
    "So x = 5. 6 works as well.",
    "So x = 5. It could also be 6.",
    "5 (or 6 if you count zero)",
    "The answer is 5 (6 if you count zero).",
    "The answer is 5 (if you count zero, 6).",
    "\\boxed{5} (6 if you count zero)",
    "\\boxed{5} (or 6.0, about 120% of it)",
    "\\boxed{5}\nIf that is wrong: 6",
    "\\boxed{5}\n\nIf not, then 6.",
    "\\boxed{5}\nElse 6.",
    "\\boxed{5}\n\nOtherwise, use 6.",
    "Answer: 5\nIf that's wrong, 6.",
    "<answer>5</answer>\nAlternative: 6",
    "<answer>5</answer> or 6",
    "\\boxed{5} — or 6",
    "\\boxed{5}\n\n6 is my backup.",
    "\\boxed{5}\n\nIn case that is wrong: 6",
    "\\boxed{5}. The value 6 also works.",
    "Answer: 5\nAlternative: 6 (less likely)",
    "Answer: 5\nAlternatives: 6, 7",
    "Answer: 5\nOther answers: 6, 7",
    "Alternative: 6\n\nAnswer: 5",
    "\\boxed{5}\nAlternative: 5+1",
    "\\boxed{5}, alternative: 6",
    "\\boxed{5}\nRunner-up: 6",
    "The answer is 5. 6 would be fine too.",
    "#### 5\nAlternative: 6",
    "#### 5\nBackup answer: 6",
    "#### 5\nOr maybe:\n6",
    "Final answer:\n5\nor\n6",
    "Final answer:\n5\nPossibly 6",
    "The answer is 5.\n\nMaybe it is 6.",
    "The answer is 5.\n\nActually, 6.",
    "The answer is 5. Hmm, or 6?",
    "\\boxed{5}\nWait, 6.",
    "\\boxed{5}\nNo, it is 6.",
    "Answer: 5\nWait, actually 6.",
    "Answer: 5\nHmm, wait. It should be 6.",
    "The answer is 5.\n\nCorrection: 6\nDone.",
    "#### 5\nSorry, 6.",
    "Answer: 5\nActually, I think 6.",
    "Answer: 5\nOr possibly: 6",
    "Answer: 5\nOther option: 6",
    "Answer: 5\nNote: 6 is also possible.",
    "Answer: 5\nNote: 6 is also possible.",
    "The answer is 5 (and 6 if zero counts).",
    "\\boxed{5}\n\nVerification: 2 + 4 = 6, so the answer is 6.",
    "\\boxed{5}\n\nVerification: 2 + 4 = 6, so the answer is \\boxed{6}.",
    "\\boxed{5}.\n\nCheck: the problem asks for 2 + 4 = 6, so the correct answer is 6.",
    "The final answer is $\\boxed{5}$\n\nThe final answer is $\\boxed{6}$",
    "The answer is \\boxed{5}. I hope it is correct.\n\nFinal Answer: \\boxed{6}",
    "So \\boxed{5}. The final answer is $6$. I hope it is correct.",
    "We get \\boxed{5}. Final Answer: The final answer is **6**. Thank you.",
    "\\boxed{5}. The answer is 6! Done.",
]


@pytest.mark.parametrize("text", OFFERING_SIX)
@pytest.mark.parametrize("reference", ["5", "6"])
def test_two_answers_are_none(text: str, reference: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 0


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("5", "Answer: 5\n\nAlternative method: 2+3=5."),
        ("5", "\\boxed{5}\n\nAlternatively, we can compute $2+3=5$."),
        ("5", "The answer is 5. Another way to see this: 2 + 3 = 5."),
        ("1/2", "Answer: 1/2\nAlternative: 0.5"),
        ("5", "\\boxed{5}\n\n**Alternative solution:** $2x = 10$, so $x=5$."),
        ("5", "\\boxed{5}\n\nAlternative: $2x = 10$, so $x=5$."),
        ("5", "\\boxed{5}\n\nAlternative: 2+3=5."),
        ("5", "\\boxed{5}\n\nOther values: 6 and 7 fail."),
        ("5", "\\boxed{5}\n\nIn case that is not clear: 2 + 3 = 5."),
        ("5", "\\boxed{5} \u2013 or, in words, five"),
        ("5", "The answer is 5. 5 also works."),
        ("3/4", "Final Answer: $\\boxed{\\dfrac{3}{4}}$ (or 0.75, 75%)"),
        ("5", "The answer is 5. 6 also works, but 5 is smaller."),
        ("5", "The answer is 5. 6 also works. But 5 is the smallest."),
        ("5", "\\boxed{5} (6 if we counted zero, but we do not)"),
        ("5", "\\boxed{5}\n\nIf that is wrong, tell me."),
        ("5", "\\boxed{5}. Otherwise, 6 would be left over."),
        ("5", "Another option is to add 2 and 3.\nThe answer is 5."),
        ("5", "6 also works for the first equation.\nAnswer: 5"),
        ("5", "First we get 6. Alternatively 7. So the answer is 5."),
        ("5", "\\boxed{5}\n\nOr, in words, five."),
        ("0.5", "\\boxed{0.5}\nor 1/2"),
        ("6", "We compare. The second option is 6."),
        ("6", "Another possibility is 6."),
        ("12", "\\boxed{12}\n\nIf this is not clear, see step 3."),
        ("5", "Is 6 also possible? No. \\boxed{5}"),
        ("5", "\\boxed{5}. (Note: 6 is also a root of the other factor.)"),
        ("5, 6", "First answer: 5. Second answer: 6."),
        ("5", "The answer is 5.\n\nActually, 5."),
        ("5", "\\boxed{5}\nOh wait, it is 5."),
        ("6", "Answer: 5\nWait, actually 6.\nAnswer: 6"),
        ("6", "It could be 5.\nActually, it is 6."),
        ("5", "Answer: 5\nNo 6 is among them."),
        ("5", "\\boxed{5}\nSorry, 6 is wrong."),
        ("8", "The total is 7.\n\nWait, that's 8.\n\nSo 8."),
        ("5", "Is it 5? Or 6? The answer is 5."),
        ("5", "Maybe 6? No: the answer is 5."),
        ("5", "Hmm, 6? Let me check. So \\boxed{5}"),
        ("5", "Perhaps 6.\nBut 6 is even, so the answer is 5."),
        ("5", "Actually, 6 is too large. \\boxed{5}"),
        ("5", "#### 5\n\nPossibly 5 apples."),
        ("5", "\\boxed{5}\n\nVerification: 2 + 3 = 5, so the answer is 5."),
        ("5", "\\boxed{5}\n\nNote: if zero counted, the answer would be 6."),
        ("5", "\\boxed{5}\n\nNote: many students think that the answer is 6."),
        ("6", "We get \\boxed{5}.\n\nThen 5 + 1 = 6, and the final answer is \\boxed{6}"),
        ("6", "The answer is \\boxed{5}. That misses one.\n\nThe final answer is \\boxed{6}"),
        ("5", "The answer is \\boxed{5}\n\nThe final answer is \\boxed{5}"),
        ("5", "\\boxed{5}. The final answer is $5$. I hope it is correct."),
        ("5", "\\boxed{5}. Some think that the answer is 6. They count zero."),
        ("5", "\\boxed{5}. At first sight the answer is 6. However, zero does not count."),
    ],
)
def test_the_words_of_an_offer_may_offer_nothing(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 1


@pytest.mark.parametrize(
    "text",
    [
        "A.\nSecond choice: B",
        "A\nAlternative: B",
        "A\nOr B",
        "A.\nB is my second choice.",
        "Answer: A\nAlternative: B",
        "Answer: A\nBackup: B",
        "\\boxed{A}\nFallback: B",
        "The answer is A. B also works.",
        "The answer is A. B is also acceptable.",
        "First choice: A\nSecond choice: B",
        "Definitely A or B",
    ],
)
@pytest.mark.parametrize("reference", ["A", "B"])
def test_two_options_are_none(text: str, reference: str) -> None:
    assert judge(MultipleChoice(), {"answer": reference}, text).score == 0


@pytest.mark.parametrize(
    "text",
    [
        "Definitely A",
        "Clearly, A.",
        "It's definitely A.",
        "It is A for sure",
        "I think A",
        "I'd say A.",
        "<b>A</b>",
        "<p>A</p>",
        "Ａ",  # noqa: RUF001
        "（Ａ）",  # noqa: RUF001
        "选Ａ",
        "答案：Ａ",  # noqa: RUF001
        "\\boxed{Ａ}",  # noqa: RUF001
        "The answer is A.\nSecond, we check B.",
        "A\n\nThe second choice is wrong because it is false.",
        "Answer: A\nThe alternative, B, is false.",
        "Answer: A\nThe other options: B is wrong, C is wrong.",
        "The second choice: A",
        "Answer: A\nOtherwise B would hold.",
    ],
)
def test_an_option_is_read_among_such_words(text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "A"}, text).score == 1
    assert judge(MultipleChoice(), {"answer": "B"}, text).score == 0


@pytest.mark.parametrize(
    "text", ["Definitely not A", "Definitely A good question", "<s>A</s>", "I think A good one"]
)
def test_no_option_is_read_from_other_words(text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "A"}, text).score == 0


@pytest.mark.parametrize(
    "piece",
    [
        "Alternative: 6 ",
        "5 (if you ",
        "If that ",
        "* _ > ",
        "; or ",
        "\nNo, it is ",
        "\nNo, 6.\n",
        "Or A ",
        "6 is also ",
        " (6 if ",
    ],
)
def test_offers_are_found_in_linear_time(piece: str) -> None:
    assert_linear(without_further_answers, piece)
