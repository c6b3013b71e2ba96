"""Marks around an answer that say nothing: quotes, rules, hashes, empty boxes, full stops."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.extraction import extract
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.multiple_choice import MultipleChoice


def chosen(right: str, text: str, choices: list[str] | None = None) -> str:
    reference = {"answer": right} if choices is None else {"answer": right, "choices": choices}
    return str(judge(MultipleChoice(), reference, text).reason)


def reason(right: str, text: str) -> str:
    return str(judge(Accuracy(), {"answer": right}, text).reason)


# Options


@pytest.mark.parametrize(
    "text",
    [
        '**answer**: "B"',
        '**Answer:** "B"',
        'answer: "B. Both of them grow."',
        "答え\uff1a「B」",
        "答案\uff1a『B』",
        "So the rule holds. 'Answer: B'",
        'The second one fits.\n\nanswer": "B"',
        '```json\nanswer": "B"}\n```',
    ],
)
def test_quotes_around_an_option_say_nothing(text: str) -> None:
    assert chosen("B", text) == "equal"
    assert chosen("A", text) == "different"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('**answer**: "B" or "C"', "ambiguous_answer"),
        ("答え\uff1a「B」または「C」", "no_answer"),
        ('answer": "B"\nanswer": "C"', "different"),
        ("'Answer: C'", "different"),
        ('He said "B", but the answer is "C".', "different"),
    ],
)
def test_another_option_between_quotes_is_another_option(text: str, expected: str) -> None:
    assert chosen("B", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        'The format is "Answer: B".',
        'It is wrong to say "Answer: B".',
        'End your reply with "Answer: B" if the second one fits.',
        '"Answer: B" is what a careless reader would say.',
    ],
)
def test_an_announcement_between_quotes_inside_a_sentence_announces_nothing(text: str) -> None:
    assert chosen("B", text) == "no_answer"
    assert chosen("A", f"{text} Answer: A") == "equal"
    assert chosen("B", f'The second one fits. "Answer: B"\n{text}') != "different"


def test_a_text_behind_a_letter_between_quotes_counts() -> None:
    assert chosen("B", 'answer: "B. Oslo"', ["Bergen", "Oslo"]) == "equal"
    assert chosen("A", 'answer: "A. Oslo"', ["Bergen", "Oslo"]) == "ambiguous_answer"


@pytest.mark.parametrize("rule", ["---", "--------", "***", "___"])
def test_a_rule_behind_an_option_is_no_line_of_it(rule: str) -> None:
    assert chosen("B", f"Both grow, since x does.\n\n**B. Both grow**\n\n{rule}") == "equal"
    assert chosen("B", f"None grows.\n\n**C. None grows**\n{rule}\n") == "different"
    both = f"**B. Both grow**\n\n{rule}\n\n**C. None grows**\n{rule}\n"
    assert chosen("B", both) in ("ambiguous_answer", "different")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A\nB", "ambiguous_answer"),
        ("Both grow.\n\n**A**\n\n**B**\n\n---", "ambiguous_answer"),
        ("A\nC\nB", "ambiguous_answer"),
        ("B\nB", "equal"),
        ("A\nNo, both grow.\nB", "equal"),
        ("(A)\nB.", "ambiguous_answer"),
        ("B\n(B)", "equal"),
        ("The force is twice as large as\nV\nB", "equal"),
        ("We solve for\nx\nB", "equal"),
        ("A\nB\nAnswer: B", "equal"),
    ],
)
def test_letters_in_lines_of_their_own_choose_none_of_them(text: str, expected: str) -> None:
    assert chosen("B", text) == expected


@pytest.mark.parametrize(
    "announced",
    [
        "Jibu: {}",
        "**Jibu:** {}",
        "Jibu sahihi: **{}**",
        "উত্তর: **{}**",
        "সুতরাং, উত্তর হলো: **{}**।",
        "उत्तर: {}।",
        "คำตอบ: {}",
        "الإجابة: {}",
        "الجواب هو: ({})",
        "پاسخ: {}",
        "సమాధానం: {}",
        "Відповідь: {}",
        "Отже, правильна відповідь: {}",
        "सही उत्तर: {}",
        "Both grow.\n## इसलिए सही उत्तर: {}",
        "**Відповідь:** {}) Рим",
        "**Jibu:** {}. Roma",
    ],
)
def test_words_of_more_languages_announce_an_option(announced: str) -> None:
    assert chosen("B", announced.format("B")) == "equal"
    assert chosen("B", announced.format("C")) == "different"


@pytest.mark.parametrize(
    "wrong",
    [
        "Неправильна відповідь: A",
        "Можлива відповідь: A",
        "Неправильный ответ: A",
        "गलत उत्तर: A",
        "ভুল উত্তর: A",
        "తప్పు సమాధానం: A",
        "ليست الإجابة: A",
    ],
)
def test_words_for_a_wrong_answer_announce_none(wrong: str) -> None:
    assert chosen("A", wrong) != "equal"
    assert chosen("A", f"{wrong}\nB") == "different"
    assert chosen("B", f"{wrong}\nB") == "equal"


@pytest.mark.parametrize(
    "text",
    [
        "উত্তর: A (বা B)",
        "Jibu: A. Au labda B.",
        "Відповідь: A — неправильно",
        "उत्तर: A (या B)",
        "Jibu: A au B",
    ],
)
def test_an_option_of_more_languages_that_is_denied_or_one_of_two_is_none(text: str) -> None:
    assert chosen("A", text) == "no_answer"
    assert chosen("B", text) == "no_answer"


# Numbers


@pytest.mark.parametrize(
    "text",
    [
        "#### 72 ####",
        "#### 72####",
        "#### Answer: 70 + 2 = 72 ####",
        "So it is 72.\n#### **#### 72**",
        "#### $#### 72$",
        "#### 72 ####\n#### 72",
    ],
)
def test_hashes_beside_the_answer_of_a_line_say_nothing(text: str) -> None:
    assert reason("72", text) == "equal"
    assert reason("7", text) == "different"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#### 71 #### 72", "different"),
        ("#### 72 #### 71", "different"),
        ("#### 72 ####\n#### 71 ####", "ambiguous_answer"),
        ("#### Step 72 ####\nWe get 5.\n#### 5 ####", "different"),
    ],
)
def test_hashes_hide_no_other_answer(text: str, expected: str) -> None:
    assert reason("72", text) == expected


def test_a_box_with_an_empty_text_is_only_named() -> None:
    named = r"The answer goes within \(\boxed{\text{}}\):"
    assert reason("72", named + "\n\\[\\boxed{72}\\]") == "equal"
    assert reason("72", named + "\n\\[\\boxed{71}\\]") == "different"
    assert reason("72", named + " 72") == "equal"
    assert reason("72", r"The answer goes within \(\boxed{\text{71}}\): \(\boxed{72}\)") == (
        "ambiguous_answer"
    )


@pytest.mark.parametrize(
    "text", ["उत्तर: 50।", "উত্তর: ৫০।", "جواب: 50\u06d4", r"\boxed{50}।", "50।"]
)
def test_full_stops_of_hindi_and_urdu_end_a_sentence(text: str) -> None:
    assert reason("50", text) == "equal"
    assert reason("5", text) == "different"


@pytest.mark.parametrize(
    ("text", "right"),
    [("उत्तर: 3 सेब", "3"), ("**83 বাক্স**", "83"), ("উত্তর: 83 বাক্স", "83"), ("3 সেব", "3")],
)
def test_a_word_of_hindi_or_bengali_is_no_other_word_by_its_first_signs(
    text: str, right: str
) -> None:
    assert reason(right, text) == "equal"


@pytest.mark.parametrize(
    ("text", "right"),
    [("2 सौ", "2"), ("2 सौ रुपये", "2"), ("5 से कम", "5"), ("3 বা চার", "3")],
)
def test_words_that_change_or_bound_a_number_change_it(text: str, right: str) -> None:
    assert reason(right, f"<answer>{text}</answer>") == "different"


@pytest.mark.parametrize(
    "piece", ["#", "#### ", "**####", '"A. b', "'Answer: A", 'answer": "', "Jibu: B) ", ",* "]
)
def test_marks_take_linear_time(piece: str) -> None:
    assert_linear(extract, piece)
    assert_linear(lambda text: judge(MultipleChoice(), {"answer": "B"}, text), piece)
