"""Options that a closing sentence speaks against, and options with a paragraph below them."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.rejected_options import REJECTED_OPTION, only_wonders
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.explained_option import with_letter_alone
from verifier_service.verifiers.multiple_choice import MultipleChoice

RATES = ["The rate doubles", "The rate is halved", "The rate quadruples", "The rate is unchanged"]
SPEEDS = ["10 m/s", "20 m/s", "30 m/s", "40 m/s"]
AGAINST = [
    "This clearly contradicts option C.",
    "The measured value violates option C.",
    "This is incompatible with option C.",
    "The given facts disagree with choice C.",
    "Nothing supports option C.",
    "The evidence is against option C.",
    "This makes it hard to go with option C.",
    "We should be careful with option C.",
    "I wonder about option C.",
    "The trap here is option C.",
    "Some would select option C.",
    "A careless reader would pick C.",
    "I was about to pick C.",
    "Let me look at option C.",
    "Next, consider option C.",
    "It fails for option C.",
    "It is the opposite of option C.",
    "It differs from option C.",
    "I'd avoid option C.",
    "We still have to check option C.",
    "The distractor is option C.",
    "That leaves us without option C.",
    "The runner-up is (C).",
    "This doesn't match (C).",
    "The value does not correspond to (C).",
    "This isn't what option (C) says.",
    "This cannot be (C).",
    "This leaves out (C).",
    "One would expect (C).",
    "I almost chose (C).",
    "Beginners choose (C).",
    "If it were acidic, then (C).",
    "Under other conditions (C).",
    "Let me reconsider (C).",
    "What about (C)?",
    "Possibly (C).",
    "It could be (C).",
    "Worse than (C).",
    "(C) is half right.",
    "(C) is only partially correct.",
    "(C) misses the point.",
    "(C) is off by a factor of 2.",
    "(C) is close, but not exact.",
    "(C) used to be right.",
    "(C) can be ruled out.",
    "(C) has to go.",
    "(C) is out.",
    "(C) must be checked next.",
]
CHOSEN = [
    "This contradicts option B, so C.",
    "The trap is option B; option C is right.",
    "Some would pick B. I pick C.",
    "The evidence is against option A. It is option C.",
    "Unlike option A, option C fits. So the answer is C.",
    "I was tempted to pick B, but the answer is C.",
    "The answer is C. B is the distractor.",
    "This corresponds to option C.",
    "Looking at option C, it fits all. The answer is C.",
    "Hence C is the answer.",
    "(C) is halved.",
    "(C) is outside the circle.",
    "(C) needs no catalyst.",
    "(B) can be ruled out, so (C).",
    "This supports (C).",
]
NOT_CALLED = [
    "C is the answer to part one; B to part two.",
    "If C is the answer, then x = 2.",
    "I doubt C is the answer.",
    "C is the answer? No.",
    "Nobody thinks C is the answer.",
    "They say C is the answer.",
    "C is the answer or D is the answer.",
    "C is the answer. D is the answer.",
]


@pytest.mark.parametrize("text", AGAINST)
def test_an_option_that_is_spoken_against_is_not_chosen(text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "C"}, text).score == 0.0
    assert judge(Accuracy(), {"answer": "C"}, text).score == 0.0


@pytest.mark.parametrize("text", CHOSEN)
def test_an_option_beside_it_is_chosen(text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "C"}, text).score == 1.0


def test_an_option_that_is_called_the_answer_is_it() -> None:
    assert judge(Accuracy(), {"answer": "C"}, "Hence C is the answer.").score == 1.0


@pytest.mark.parametrize("text", NOT_CALLED)
def test_an_option_that_a_part_or_a_doubt_calls_so_is_not(text: str) -> None:
    assert judge(Accuracy(), {"answer": "C"}, text).score == 0.0


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("C. The rate quadruples\n\nThe order is two.", True),
        ("**C. The rate quadruples**\n\nA holds for order one, D for order zero.", True),
        ("C. The rate quadruples\n\nThis is wrong.", False),
        ("C. The rate quadruples\n\nThat option is incorrect, since the order is one.", False),
        ("C. The rate quadruples\n\nActually the rate doubles, so A.", False),
        ("C. The rate quadruples\n\nThis holds for order two, but here it doubles: A.", False),
        ("C. The rate quadruples\n\nNot for a first-order reaction.", False),
        ("C. The rate quadruples\n\nOn second thought, A.", False),
        ("C. The rate quadruples\n\nHmm, no.", False),
        ("C. The rate quadruples\n\nCould be, but the order is unknown.", False),
        ("C. The rate quadruples\n\nThe correct option is A.", False),
        ("C. The rate quadruples\n\nLet me check each option.", False),
        ("C. The rate quadruples\n\nLooks good at first, yet the order is one.", False),
        ("C. The rate quadruples\nD. The rate is unchanged", False),
    ],
)
def test_an_option_above_a_paragraph_is_chosen(text: str, is_right: bool) -> None:
    found = judge(MultipleChoice(), {"answer": "C", "options": RATES}, text)
    assert (found.score == 1.0) is is_right


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("v = 30 m/s", True),
        ("30 meters per second", True),
        ("v = 40 m/s", False),
        ("v > 30 m/s", False),
        ("30 m/s or 40 m/s", False),
        ("not 30 m/s", False),
        ("30 m", False),
        ("-30 m/s", False),
        ("B = 30 m/s", False),
        ("between 20 m/s and 30 m/s", False),
    ],
)
def test_a_bare_value_is_that_of_one_option(text: str, is_right: bool) -> None:
    found = judge(MultipleChoice(), {"answer": "C", "options": SPEEDS}, text)
    assert (found.score == 1.0) is is_right


def test_a_root_without_braces_is_the_value_of_an_option() -> None:
    options = [r"$\frac{1}{2}$", r"$\frac{\sqrt{3}}{2}$", "$1$", r"$\sqrt{3}$"]
    judged = judge(MultipleChoice(), {"answer": "B", "options": options}, r"$\frac{\sqrt3}{2}$")
    assert judged.score == 1.0
    judged = judge(MultipleChoice(), {"answer": "B", "options": options}, r"$\sqrt3$")
    assert judged.score == 0.0


@pytest.mark.parametrize(
    "text", ["(B), or possibly (C)", "B, but it could be C", "Nothing matches B.", "Perhaps B."]
)
def test_a_doubt_beside_an_option_chooses_none(text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "B"}, text).score == 0.0


@pytest.mark.parametrize("text", ["B (or C)", "B (maybe C)", "B (or possibly C)"])
def test_a_letter_in_brackets_is_offered(text: str) -> None:
    assert judge(MultipleChoice(), {"answer": "B"}, text).score == 0.0


def test_an_announced_option_keeps_its_letter_before_a_sentence() -> None:
    text = "The correct option is D: the reaction is exothermic."
    assert judge(MultipleChoice(), {"answer": "D"}, text).score == 1.0
    text = "The correct option is C: D is exothermic."
    assert judge(MultipleChoice(), {"answer": "D"}, text).score == 0.0


@pytest.mark.parametrize("piece", ["a careless ", "nobody ", "to compare ", "trap ", "x "])
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(REJECTED_OPTION.findall, piece)
    assert_linear(only_wonders, piece)
    assert_linear(only_wonders, "if it were ")
    choices = dict(zip("ABCD", RATES, strict=True))
    assert_linear(lambda text: with_letter_alone(text, choices), piece, before="A. The rate\n\n")
