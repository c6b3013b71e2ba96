"""Final answers as models write them, each kind with a twin that must not be paid."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from tests.verifier_service.judging import judge
from verifier_service.mathematics.extraction import extract
from verifier_service.verifiers.accuracy import Accuracy

LONG = (
    "x^9 - 3x^8 + 12x^7y - 44x^6y^2 + 131x^5y^3 - 17x^4y^4 + 9x^3y^5 - 251x^2y^6 + 12xy^7 - 55y^8 "
    "+ 1000y^9 - 12x^3 + 4x^2 - 17x + 1"
)
PRODUCTS = (
    "4ab + 3cd - 5ef + 6gh - 7ij + 8ac - 9bd + 10ce - 11df + 12eg - 13fh + 14gi - 15hj + 16ad - "
    "17be + 18cf - 19dg"
)
MATRIX = "\\begin{pmatrix}\n1 & 2 \\\\\n3 & 4\n\\end{pmatrix}"


def reason(reference: str, completion: str) -> str:
    return str(judge(Accuracy(), {"answer": reference}, completion).reason)


@pytest.mark.parametrize(
    ("reference", "completion"),
    [
        (LONG, LONG),
        (LONG, f"f(x, y) = {LONG}"),
        (LONG, f"Expanding the product gives:\n{LONG}"),
        (LONG, f"<think>Expand.</think>{LONG}."),
        (LONG.replace("^", "**"), LONG.replace("^", "**")),
        (PRODUCTS, PRODUCTS),
        (PRODUCTS, f"<answer>{PRODUCTS}</answer>"),
        (PRODUCTS, f"It is this:\n{PRODUCTS}"),
        ("4ab + 3cd + 5ef + 6gh + 7ij", "4ab + 3cd + 5ef + 6gh + 7ij"),
        ("(" + ", ".join(map(str, range(60))) + ")", "(" + ", ".join(map(str, range(60))) + ")"),
        (MATRIX.replace("\n", ""), MATRIX),
        ("[[1,2],[3,4]]", "[\n  [1, 2],\n  [3, 4]\n]"),
    ],
)
def test_a_formula_of_any_length_is_an_answer(reference: str, completion: str) -> None:
    assert reason(reference, completion) == "equal"


@pytest.mark.parametrize(
    ("reference", "completion"),
    [
        (LONG, LONG.replace("251", "252")),
        (LONG, f"{LONG} = 0 = 1"),
        (PRODUCTS, PRODUCTS.replace("17be", "18be")),
        ("1", LONG),
        ("19", PRODUCTS),
        ("59", "(" + ", ".join(map(str, range(60))) + ")"),
        ("59", " or ".join(map(str, range(60)))),
        ("59", ", ".join(map(str, range(60)))),
        ("4", MATRIX),
    ],
)
def test_no_part_of_a_long_formula_is_the_answer(reference: str, completion: str) -> None:
    assert reason(reference, completion) != "equal"


@pytest.mark.parametrize("word", ["Note", "Check", "Verify", "Hint", "**Verification**"])
@pytest.mark.parametrize(
    "completion",
    [
        "We add 3 and 4.\n\n{} that the sum is 5, so the answer is 5.",
        "We find $x = 2$.\n\n{}: with it we get \\boxed{{5}}",
        "Both cases work out.\n\n{} that $x = 2$. Final answer: 5",
        "It is 7.\n\n{} the last step.\n#### 5",
        "We try 3.\n\n{}: it fails.\n\n{} it once more: <answer>5</answer>",
        "The answer is 5.\n\n{}: if it were allowed twice, it would be 6.",
        "So \\boxed{{5}}.\n\n{}: if it were allowed, then \\boxed{{6}}",
    ],
)
def test_a_note_is_read_where_the_text_before_it_announces_nothing(
    word: str, completion: str
) -> None:
    text = completion.replace("{}", word).replace("{{", "{").replace("}}", "}")
    assert reason("5", text) == "equal"
    assert [other for other in "234678" if reason(other, text) == "equal"] == []


@pytest.mark.parametrize(
    ("reference", "completion"),
    [
        ("no", "boxed{no}"),
        ("7", "The result is boxed{7}."),
        (r"\frac12", r"So we get $boxed{\frac{1}{2}}$"),
        ("5", "We get \x08oxed{5}"),
        ("5", "Put the answer in boxed{}. It is boxed{5}"),
        ("no solution", "boxed{no solution}"),
        ("5", r"First boxed{4}. Wait, that is wrong: \boxed{5}"),
    ],
)
def test_a_box_without_its_backslash_is_a_box(reference: str, completion: str) -> None:
    assert reason(reference, completion) == "equal"


@pytest.mark.parametrize(
    "completion",
    [
        "boxed{5} or boxed{6}",
        r"\boxed{5} or boxed{6}",
        "It is boxed{6}, or maybe boxed{5}",
        "unboxed{5}",
        "boxed{5",
    ],
)
def test_alternatives_in_such_boxes_are_not_paid(completion: str) -> None:
    assert reason("5", completion) != "equal"
    assert reason("6", completion) != "equal"


REMARKS = (
    *(r" \text{ (as required)}", " (as required)", r"\ (\text{the only root})", r"\text{ (exact)}"),
    *(r"\quad\text{(exact value)}", r"\text{ [checked by substitution]}", r"\;(\text{minimum})"),
    *(" (the smallest such integer)", r" \quad \checkmark", r" \blacksquare", " ✓"),
    *(r" \text{, as required}", r" \text{ since } x>0"),
)
TELLING_REMARKS = (
    *(" (not the answer)", r" \text{ (or six)}", r"\text{ (wrong answer)}", r"\text{ (and six)}"),
    *(r" \text{ (perhaps also six)}", " (in base two)", r"\text{ (plus a constant)}"),
    *(" (times two)", r" \text{ million}", r" \text{ (in thousands)}", r"\text{ (negative)}"),
    *(r"\text{ (squared)}", " (six is possible)", " (another is six)", " (6 works as well)"),
)


@pytest.mark.parametrize("remark", REMARKS)
@pytest.mark.parametrize("answer", ["5", r"\frac{1}{2}", "x = 5", r"2\sqrt{3}", "(1, 2)"])
def test_a_remark_behind_an_answer_changes_nothing(answer: str, remark: str) -> None:
    assert reason(answer, rf"\boxed{{{answer}{remark}}}") == "equal"
    assert reason("7", rf"\boxed{{{answer}{remark}}}") != "equal"


@pytest.mark.parametrize("remark", TELLING_REMARKS)
def test_a_remark_that_changes_the_answer_counts(remark: str) -> None:
    assert reason("5", rf"\boxed{{5{remark}}}") != "equal"
    assert reason("6", rf"\boxed{{5{remark}}}") != "equal"


TABLE = "| item | price |\n|:--|--:|\n| tea | 20 |\n| **Total** | %s |"
MARKED = (
    *("> **%s**", "__%s__", "_%s_", "***%s***", "### %s", "# **%s**", "`%s`", "1. %s", "* %s"),
    *("```\n%s\n```", "```text\n%s\n```", "~~~\n%s\n~~~", "The total:\n\n```\n%s\n```"),
    *("Total = `%s`", "Total: **%s**", "Total = **%s**", "x = `%s`", "`x = %s`", "**%s** apples"),
    *(TABLE, TABLE.replace("%s", "**%s**"), "The total is as follows:\n" + TABLE),
    *("**Final answer**\n> %s", "**Final answer**\n\n> **%s**", "So we get:\n- %s", "So:\n## %s"),
    *("Answer: __%s__", "**Answer**: `%s`", "Answer:\n```\n%s\n```", "Answer:\n\n### %s"),
    *("Answer:\n> %s", "The answer is\n\n- %s", "<answer>__%s__</answer>", "<answer># %s</answer>"),
    *("<answer>\n```\n%s\n```\n</answer>", "#### **%s**", "#### `%s`", r"\boxed{**%s**}"),
)


@pytest.mark.parametrize("marked", MARKED)
def test_markdown_around_an_answer_says_nothing(marked: str) -> None:
    paid = [one for one in ("42", "-42", "20", "43") if reason(one, marked % 42) == "equal"]
    assert paid == ["42"]
    assert reason("-42", marked.replace("* %s", "*%s") % "-42") == "equal"


@pytest.mark.parametrize(
    "completion",
    [
        "- 42\n- 43",
        "1. 42\n2. 43",
        "* **42**\n* **43**",
        "The candidates:\n- 43\n- 42",
        "`42` or `43`",
        "**42** or **43**",
        "__42__ / __43__",
        "Total = `42` or `43`",
        "```python\n42\n```",
        "| 43 | 42 |",
    ],
)
def test_markdown_around_several_answers_pays_none(completion: str) -> None:
    assert reason("42", completion) != "equal"
    assert reason("43", completion) != "equal"


def test_a_sign_before_a_lone_number_is_no_markdown() -> None:
    assert reason("-42", "- 42") == "equal"
    assert reason("42", "- 42") == "different"
    assert reason("42", "> 42") == "different"
    assert reason("42", "The answer is - 42.") == "different"
    assert reason("x**2 + y**2", "x**2 + y**2") == "equal"
    assert reason("(x)**2 + (y)**2 + x_1*y_1", "(x)**2 + (y)**2 + x_1*y_1") == "equal"


@pytest.mark.parametrize(
    ("reference", "completion"),
    [
        ("no solution", "The equation has no solution."),
        ("no solution", "Therefore, the equation $x^2 = -1$ has no solution."),
        (r"\emptyset", "So the system has no real solutions."),
        ("no solutions", "There are no integer solutions."),
        ("all real numbers", "The inequality holds for all real numbers."),
        ("infinitely many solutions", "The system has infinitely many solutions."),
        ("does not exist", "The limit does not exist."),
        ("diverges", "The series diverges."),
        ("Saturday", "The day is Saturday."),
        ("Saturday", "We count on. So the day is **Saturday**."),
        ("Saturday", "The day is Saturday"),
        ("Paris", "Therefore, the capital must be Paris."),
        ("Alice and Bob", "The winners are Alice and Bob."),
        ("False", "The statement is false."),
        ("three", "The number of dogs is three."),
        ("right triangle", "It is a leap year. The figure is a right triangle."),
        ("Saturday", "<answer>The day is Saturday.</answer>"),
        ("Saturday", r"\boxed{\text{The day is Saturday.}}"),
        ("Saturday", "The answer is that the day is Saturday."),
        ("Yes", "Yes, it is."),
        ("Yes", "Yes."),
        ("yes", "Yes, because every square is a rectangle."),
        ("No", "No, it is not."),
        ("No", "No, this cannot happen."),
        ("Yes", "<answer>Yes, it is.</answer>"),
        ("Yes", r"\boxed{\text{Yes, it is.}}"),
        ("No", "Answer: No, it is odd."),
        ("The sky is blue", "The sky is blue."),
        (r"\text{f is even}", r"\boxed{\text{f is even}}"),
        ("x is a multiple of 3 and y is odd", "x is a multiple of 3 and y is odd"),
    ],
)
def test_a_closing_sentence_states_an_answer_in_words(reference: str, completion: str) -> None:
    assert reason(reference, completion) == "equal"


@pytest.mark.parametrize(
    "completion",
    [
        "The day is not Saturday.",
        "The day isn't Saturday.",
        "The day is never Saturday.",
        "The day is anything but Saturday.",
        "The day is Saturday or Sunday.",
        "The day is either Saturday or Sunday.",
        "The day is Saturday, Sunday.",
        "The day is Saturday and Sunday.",
        "It is Saturday/Sunday.",
        "The day might be Saturday.",
        "The day is possibly Saturday.",
        "I think the day is Saturday, maybe Sunday.",
        "I am not sure that the day is Saturday.",
        "Is the day Saturday?",
        "If we start on Monday, the day is Saturday.",
        "The wrong day is Saturday.",
        "The day before it is Saturday.",
        "It is false that the day is Saturday.",
        "The day is Saturday. The day is Sunday.",
        "The day is Saturday. Or Sunday.",
        "The day is Saturday (or Sunday).",
        "Saturday. Sunday.",
        "Saturday or Sunday.",
        "The day is not Sunday but Saturday or Monday.",
        "<answer>The day is Saturday or Sunday.</answer>",
        r"\boxed{\text{The day is not Saturday}}",
    ],
)
def test_a_sentence_that_denies_or_hedges_states_none(completion: str) -> None:
    assert reason("Saturday", completion) != "equal"
    assert reason("Sunday", completion) != "equal"


@pytest.mark.parametrize(
    "completion",
    [
        *("Yes and no.", "Yes. No.", "Yes, no.", "No, yes.", "Yes or no.", "Yes, it is not."),
        *("No, it is.", "Yes, maybe.", "Yes, unless it is odd.", "No, but yes.", "It is no yes."),
        "<answer>Yes, it is. No, it is not.</answer>",
    ],
)  # fmt: skip
def test_yes_beside_no_is_neither(completion: str) -> None:
    assert reason("Yes", completion) != "equal"
    assert reason("No", completion) != "equal"


@pytest.mark.parametrize(
    "completion",
    [
        "The equation has no other solution.",
        "There is no further solution, only 5.",
        "The equation has no solution unless it is odd.",
        "It is not true that the equation has no solution.",
        "$x = 5$ is the only root, and the other equation has no solution.",
        "The first case gives $x = 5$ and the second has no solution.",
        "It may be that the equation has no solution.",
        "No one knows whether there is no solution.",
    ],
)
def test_no_solution_is_not_read_out_of_another_sentence(completion: str) -> None:
    assert reason("no solution", completion) != "equal"


WAYS = (
    *MARKED,
    "%s",
    "It is %s.",
    "The result is %s",
    r"\boxed{%s \text{ (as required)}}",
    "boxed{%s}",
    "So.\n\nNote that the answer is %s.",
)
JOINTS = (
    "%s or %s",
    "%s, or maybe %s",
    "%s (or %s)",
    "either %s or %s",
    "%s or else %s",
    "%s / %s",
)


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("way", WAYS)
def test_two_answers_are_not_paid_for_both(way: str, joint: str) -> None:
    """Whatever is wrapped round them, two words or two numbers are right for one at most."""
    for pair in itertools.permutations(("41", "42")), itertools.permutations(("Anna", "Otto")):
        for two in pair:
            completion = way % (joint % two)
            paid = [one for one in two if reason(one, completion) == "equal"]
            assert len(paid) < 2, completion


def test_the_sentence_is_kept_beside_its_words() -> None:
    found = extract("The day is Saturday.")
    assert found is not None
    assert (found.text, found.sentence) == ("Saturday", "The day is Saturday.")


DOCUMENT = Path(__file__).parents[2] / "docs" / "accuracy.md"
CELL = re.compile(r"(?<!\\)\|")


def documented() -> list[tuple[str, str, str]]:
    section = DOCUMENT.read_text().partition("\n## Answers as models write them\n")[2]
    rows = []
    for line in section.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in CELL.split(line)[1:-1]]
        if len(cells) == 4 and cells[0].startswith("`"):
            reference, completion = (
                cell.strip("`").strip().replace(r"\|", "|").replace(r"\n", "\n")
                for cell in cells[:2]
            )
            rows.append((reference, completion, cells[2]))
    return rows


@pytest.mark.parametrize(("reference", "completion", "expected"), documented())
def test_the_document_says_what_is_accepted(reference: str, completion: str, expected: str) -> None:
    assert reason(reference, completion) == expected


def test_the_document_has_a_row_for_each_kind() -> None:
    assert len(documented()) >= 15


@pytest.mark.parametrize(
    ("reference", "completion"),
    [
        ("5", "So there are 5 fewer than before: the answer is 5."),
        ("5", "There are 5 apples left."),
        ("5", "That is more than 4, so she has 5."),
        ("17", "That is 16.66...%, which rounds up to 17."),
        ("7", "The candy had 175 calories, which means that he ate 7 bars?"),
        ("6", "The answer is 5 if n is odd and 6 if n is even. As n is even, the answer is 6."),
        ("1/2", "The answer is 1/2. Or 0.5."),
        ("5", "The answer is 5. Nobody would say 6."),
        ("5", "The answer is 5 if we round 4.7."),
        ("5", "I don't know a shorter way, but the answer is 5."),
        ("5", "The answer is 5. I don't know why others get 6."),
    ],
)
def test_words_of_doubt_elsewhere_do_not_touch_the_answer(reference: str, completion: str) -> None:
    assert reason(reference, completion) == "equal"


@pytest.mark.parametrize(
    ("refused", "paid"),
    [
        ("I don't think it is 12.", "I don't think it is hard: it is 12."),
        ("I don't believe that's 12.", "I believe that's 12."),
        ("We do not think the answer equals 12.", "We think the answer equals 12."),
        ("I doubt it's 12.", "No doubt: 12."),
        ("It will never be 12.", "It never stops; after that it is 12."),
        ("It isn't 12; it is 13.", "It isn't 13; it is 12."),
        ("The answer is not 12 but 13.", "The answer is not 13 but 12."),
        ("The answer is not 13, it is 12 or 14.", "The answer is not 13, it is 12."),
        ("The answer is 12, ...", "The answer is 12..."),
        ("• 12 or 13", "• 12"),
        ("I don't get 12.", "I get 12."),
        ("We don\u2019t obtain 12.", "We don\u2019t get 13, we obtain 12."),
        ("You won't get 12.", "I got 12."),
        ("It doesn't equal 12.", "It doesn't change: 12."),
        ("I doubt that the answer is 12.", "There is no doubt that the answer is 12."),
        ("It isn't even, so it cannot be 12.", "It isn't odd, so it is 12."),
        ("I cannot solve it, so I say 12.", "We do not count it, so there are 12 ways."),
        ("It is not 12, so there is no answer.", "Without a doubt it is 12."),
    ],
)
def test_a_denial_belongs_to_the_value_behind_it(refused: str, paid: str) -> None:
    found = [judge(Accuracy(), {"answer": "12"}, text) for text in (refused, paid)]
    assert [one.score for one in found] == [0.0, 1.0], found


@pytest.mark.parametrize("way", ["{}", "#### {}", "The solutions are {}", "<answer>{}</answer>"])
def test_dots_behind_a_list_say_that_it_goes_on(way: str) -> None:
    texts = [way.format("2, 3, ..."), way.format("2, 3.")]
    assert [judge(Accuracy(), {"answer": "2, 3"}, text).score for text in texts] == [0.0, 1.0]
