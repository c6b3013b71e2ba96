"""Extraction of the final answer of a completion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import assert_linear
from verifier_service.mathematics.answer_sources import SOURCES, Source
from verifier_service.mathematics.extraction import extract

REASON = "We restate the problem, substitute what is given and simplify.\n"


@pytest.mark.parametrize(
    ("text", "source", "statements"),
    [
        # <answer>
        ("<think>3</think><answer> 2 </answer>", "answer_tag", ["2"]),
        ("<answer>$x = 2$</answer>", "answer_tag", ["x = 2"]),
        (r"<answer>So \boxed{7}</answer>", "answer_tag", ["7"]),
        ("<answer>cut off 5", "answer_tag", ["cut off 5"]),
        ("<answer>The answer is 12.</answer>", "answer_tag", ["12"]),
        # boxes
        (r"It is \boxed{\frac{1}{\sqrt{2}}}.", "boxed", [r"\frac{1}{\sqrt{2}}"]),
        (r"\boxed 5 and \fbox{6}", "boxed", ["5", "6"]),
        (r"\boxed{\{1, 2\}}", "boxed", [r"\{1, 2\}"]),
        (r"So \boxed{2}. Wait, that is wrong. \boxed{3}", "boxed", ["3"]),
        (r"First \boxed{3}." + "\n" + REASON + r"So \boxed{4}.", "boxed", ["4"]),
        (r"\boxed{3}, \boxed{3}", "boxed", ["3"]),
        (r"\boxed{\boxed{3}}", "boxed", [r"\boxed{3}"]),
        (r"put it in \(\boxed{\)}: \[ \boxed{5} \]", "boxed", ["5"]),
        (r"$$\boxed{-\frac{9}{4}$$", "boxed", [r"-\frac{9}{4}"]),
        (r"(a) \boxed{6}" + "\n" + r"(b) \boxed{7}", "boxed", ["6", "7"]),
        # GSM8K
        ("9 * 2 = 18\n#### 18", "hashes", ["18"]),
        ("#### Step 1: add\nso\nThe answer is 31.", "answer_phrase", ["31"]),
        # phrases
        ("The answer is 5.", "answer_phrase", ["5"]),
        ("**Final Answer:** 3.5 km", "answer_phrase", ["3.5 km"]),
        ("The answer is 5 because 2 + 3 = 5.", "answer_phrase", ["5"]),
        ("The correct option is (C).", "answer_phrase", ["(C)"]),
        ("Answer: $x^2$", "answer_phrase", ["x^2"]),
        ("The final answer is 10:30 a.m. sharp", "answer_phrase", ["10:30 a.m. sharp"]),
        ("答案是 7。", "answer_phrase", ["7"]),
        ("Ответ: 18", "answer_phrase", ["18"]),
        # mathematics
        ("So it is $\\frac12$.", "math", [r"\frac12"]),
        ("We get $a = 1$. Hence $b = 2$.", "math", ["b = 2"]),
        ("The line is\n\\[\ny = 2x + 3\n\\]", "math", ["y = 2x + 3"]),
        ("\\begin{align*}\nS &= 1 + 2 \\\\\n&= 3.\n\\end{align*}", "math", ["3"]),
        ("We see that\n$$x = 1 + 2 = 3$$", "math", ["3"]),
        ("42", "math", ["42"]),
        ("It is 3.", "last_expression", ["3"]),
        # the last number
        ("She pays 12 dollars and has 1,250 left over then", "last_expression", ["1,250"]),
        ("The ratio of boys to girls is 3:4.", "last_expression", ["3:4"]),
        ("小明有 15 元。\n因此还剩下9元。", "last_expression", ["9"]),
        ("I am sure that it must be option B here", "last_expression", ["B"]),
    ],
)
def test_the_final_answer_is_found(text: str, source: str, statements: list[str]) -> None:
    found = extract(text)
    assert found is not None
    assert (found.source, list(found.statements)) == (source, statements)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\u200b\ufeff",
        "<think>The answer is 2",
        "<think>2</think>",
        "<think>a</think><answer></answer> 2",
        r"So the result is \boxed{",
        r"So the result is \boxed{128",
        r"\boxed{}",
        "The answer is",
        "THEN",
        "I don't know.",
        "Hence\n\\[\nx^2 = 25.\n\\]\nSubtracting the two equations, we find that",
        "Hence\n\\[\n\\frac{a}{b} = a^2 + a",
        "Step 3: set up the equation for the third friend",
        "there is no number in this text",
        "It is not option B.",
        "We can surely reject option (B) here",
        "I think that option B fails",
    ],
)
def test_a_completion_without_a_final_answer_has_none(text: str) -> None:
    assert extract(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The incorrect answer is 5.",
        "The wrong answer is 5.",
        "Incorrect answer: 5",
        "**Wrong answer:** $5$",
        "I don't think the answer is 5.",
        "I don\u2019t believe that the final answer is 5.",
        "I do not think that the result is $5$.",
        "I'm not sure the answer is 5",
        "We cannot conclude that the answer is 5.",
        "It is wrong that the answer is 5",
        "It would be incorrect to say that the correct answer is 5.",
        "It is not true that the answer is 5",
        "It is false that the answer is \n5",
        "The incorrect option is B.",
        "The wrong answer is 5.\nI cannot find the right one.",
        "The wrong answer is $5$.\nNobody knows the right one.",
        "<answer>The wrong answer is 5.</answer>",
        "The number is odd so the wrong answer is 5",
        "The number of cookies is 7 so the wrong answer is 5",
        "After the count of them I don't think that the answer is 5",
        "Given the total, the incorrect answer is 5",
    ],
)
def test_an_answer_that_is_disowned_is_none(text: str) -> None:
    assert extract(text) is None


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("A common wrong answer is 12.\nTherefore there are 5", "last_expression"),
        ("I don't think the answer is\n12\nIt must be $5$", "math"),
    ],
)
def test_what_follows_a_disowned_answer_is_read(text: str, source: str) -> None:
    found = extract(text)
    assert found is not None
    assert (found.source, found.text) == (source, "5")


@pytest.mark.parametrize(
    "text",
    [
        "The wrong answer is 3. The right answer is 5",
        "The answer is 5. A common wrong answer is 3.",
        "The answer is 5.\nI do not think that the answer is 3.",
        "Is that not the answer? The answer is 5",
        "That is not only hard: the answer is 5",
        "It's not hard to see that the answer is 5",
        "We can't simplify further. The answer is 5",
        "I am not sure, but the answer is 5",
        "I'm not sure but I think the answer is 5",
        "If I am not wrong the answer is 5",
        "12 is incorrect. Answer: 5",
        "Choice A is wrong\nAnswer: 5",
        "Choice A is wrong \nA: 5",
        "12 is not the answer: the answer is 5",
        "Whether we count it or not the answer is 5",
        "True or false? Answer: 5",
        "Do not forget that the answer is 5",
        "So the number of wrong answers is 5.",
        "The number of incorrect answers is $5$.",
        "**Number of wrong answers:** 5",
        "**Number of *wrong* answers:** 5",
        "Number of correct answers: 28\nNumber of incorrect answers: 5",
        "The total number of students with a wrong answer is 5.",
        "Total incorrect answers: 5",
        "So she gave 12 incorrect answers: 5",
        "The probability of a wrong answer is $5$.",
        "Thus the probability of choosing the wrong option is 5.",
        "The chance that he gives a wrong answer is 5",
    ],
)
def test_what_is_said_of_something_else_disowns_no_answer(text: str) -> None:
    found = extract(text)
    assert found is not None
    assert (found.source, found.text) == ("answer_phrase", "5")


@pytest.mark.parametrize(
    "text",
    [
        r"It is \boxed{3} or \boxed{4}.",
        r"\boxed{3}. If that is wrong, the answer is \boxed{4}.",
        r"\boxed{\boxed{3} or \boxed{4}}",
        "<answer>7</answer> or <answer>8</answer>",
        "The answer is 5 (or 6 if you count the end).",
        "It is a close call, but both (A) and (D) could be right",
    ],
)
def test_alternatives_in_the_closing_statement_are_told(text: str) -> None:
    found = extract(text)
    assert found is not None
    assert (found.joint, len(found.statements)) == ("or", 2)


@pytest.mark.parametrize("between", [r"\n(b) ", r". Part (b): ", r"\n**Part (b)** "])
def test_boxes_of_labelled_parts_are_one_answer(between: str) -> None:
    found = extract(rf"\boxed{{6}}{between}\boxed{{7}}".replace(r"\n", "\n"))
    assert found is not None
    assert (found.joint, found.statements) == ("parts", ("6", "7"))


def test_the_order_of_places_decides() -> None:
    text = r"\boxed{1} so the answer is 2"
    assert extract(text) == extract(text, ("boxed",))
    found = extract(text, ("answer_phrase", "boxed"))
    assert found is not None
    assert found.statements == ("2",)


def test_a_place_that_is_left_out_is_not_searched() -> None:
    assert extract("The answer is 2.", ("boxed",)) is None


@given(st.text())
def test_any_text_has_an_answer_or_none(text: str) -> None:
    found = extract(text)
    assert found is None or all(found.statements)


PIECES = (
    *(
        "<answer>",
        "</answer>",
        "<think>",
        "</think>",
        r"\boxed{",
        "{",
        "}",
        "$",
        "$$",
        r"\[",
        r"\]",
    ),
    *(
        "####",
        "the answer is ",
        "\n",
        ".",
        "1",
        "a b",
        "(A)",
        "####\n",
        r"\boxed",
        "**",
        "\\",
        " or ",
    ),
)
AMONG = (
    " ",
    "\t",
    "rather than ",
    "而",
    "\n\nnote ",
    "as ",
    " because ",
    ", not ",
    "( ",
    "see (",
    "1 : ",
    "- ",
    "wait ",
)
DENIALS = (
    *("wrong answer is ", "not ", "not sure the ", "I don't think the answer is ", "wrong\n"),
    *("wrong option ", "reject A, ", "not sure that the ", "A is not ", "(A) and "),
    *("not A or ", "not A, B or ", "isn't A, ", "A isn't B or ", "A, C and D, ", "A fails "),
    *("number of ", "number of wrong ", "the number of wrong answers is ", "12 ", "12 wrong "),
)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_length_and_no_faster(piece: str, source: Source) -> None:
    assert_linear(lambda text: extract(text, (source,)), piece)


@pytest.mark.parametrize("after", ["x", "1", "$", "$x$", " (or 2)"])
@pytest.mark.parametrize("before", ["1", "$a$", "Answer is ", "The answer is $x$, "])
@pytest.mark.parametrize("piece", AMONG)
def test_time_grows_no_faster_with_what_stands_between(piece: str, before: str, after: str) -> None:
    assert_linear(lambda text: extract(text, SOURCES), piece, before=before, after=after)


@pytest.mark.parametrize("piece", DENIALS)
def test_time_grows_no_faster_with_denials(piece: str) -> None:
    before = "I do not think that the wrong option "
    assert_linear(lambda text: extract(text, SOURCES), piece, before=before, after="5")
    assert_linear(lambda text: extract(text, ("last_expression",)), piece)
