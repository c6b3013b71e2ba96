"""Completions that use the words of a hedge and give one answer, beside hedges.

The hedges are rows of `tests/data/attempts_without_an_answer.jsonl`; each class of them has honest
twins here, which must keep their reward.
"""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy

LABELLED = [
    # Several answers behind labels are a list; one answer behind all of them is one.
    ("5, 6", "Answer A: 5\nAnswer B: 6"),
    ("5", "Method A: 2+3=5\nMethod B: 3+2=5"),
    ("8", "Case 1: 3. Case 2: 5. The total is 8."),
    ("6", "Step 1: 5\nStep 2: 6"),
    ("B", "Option A: 5\nOption B: 6\nAnswer: B"),
    ("12", "Answer 2: 12"),
    ("7", "Apples: 3\nPears: 4\nTotal: 7"),
    ("5", "10/2\n5"),
    ("5", "x=10/2\nx=5"),
    ("30", "12\n+18\n=30"),
    ("C", "A.\nB.\nC.\nD.\nThe answer is C."),
]
LISTED = [
    ("6", "The average of 5 and 7 is 6."),
    ("7", "Possible values: 5, 6, 7. Only 7 is odd, so the answer is 7."),
    ("5, 6", "The possible values are 5 and 6."),
    ("2020", "It was on July 4, 2020."),
    ("5", "There are 3 boys and 5 girls, so 5"),
    ("4", "One leg is 3, the other 4."),
    (r"\pm 5", "plus or minus 5"),
    (r"\pm 5", "+/- 5"),
    (r"\pm 5", "So it is plus or minus 5."),
]
HIDDEN = [
    ("5", r"<!-- scratch: \boxed{7} -->\boxed{5}"),
    ("6", r"~~\boxed{5}~~ \boxed{6}"),
    ("6", "~~The answer is 5.~~ The answer is 6."),
    ("5", r"<del>\boxed{7}</del> \boxed{5}"),
    ("5", "% \\boxed{7}\n\\boxed{5}"),
    ("5", r"\cancel{\boxed{7}} \boxed{5}"),
    ("5", r"\boxed{5\phantom{0}}"),
    ("a<b", "a<b"),
    ("x<5", "x<5"),
    ("50%", "50%"),
    ("5", "<answer>5</answer>"),
    ("5", r"<del><b>\boxed{7}</b></del> \boxed{5}"),
    ("5", "<div hidden><div>7</div>8</div>The answer is 5."),
    ("5", r"<span style='color:red'>\boxed{5}</span>"),
    ("5", "<span style='background-color:white'>5</span>"),
    ("5", r"<span style='font-size:0.9em; opacity:0.5'>\boxed{5}</span>"),
    ("5", r"\color{red}\boxed{5}"),
    ("5", r"{\color{white}\boxed{7}} \boxed{5}"),
    ("5", "![7](plot.png)\n\\boxed{5}"),
    ("5", "It is [5](https://example.org/7)."),
    ("[1,2](3)", "[1,2](3)"),
    ("5", "[Answer]: 5"),
    ("5", r"\newcommand{\R}{\mathbb{R}} As $x \in \R$, $\boxed{5}$."),
    ("5", r"\href{https://example.org}{\boxed{5}}"),
    ("5", r"$\cancelto{0}{x}+5 = \boxed{5}$"),
    ("5", r"$x = 5 \iff 2x = 10$, so \boxed{5}"),
    ("5", "The answer is 5</s><|im_end|>"),
]
TAGS = [
    ("42", "<b>42</b>"),
    ("42", "<i>42</i>"),
    ("42", "<span style='color:red'>42</span>"),
    ("42", "**<u>42</u>**"),
    ("42", "<h3>Answer: 42</h3>"),
    ("42", "<code>42</code>"),
    ("42", "<div>So we get</div><div>42</div>"),
    ("42", "<p>The answer is <strong>42</strong>.</p>"),
    ("42", "<answer><b>42</b></answer>"),
    ("x^2", "x<sup>2</sup>"),
    ("x<5", "x &lt; 5"),
    ("-5", "&minus;5"),
]
TAKEN_BACK = [
    ("5", "The answer is 5. Wait, no, that is right."),
    ("5", "The answer is 5. Wait, let me check: 2 + 3 = 5. Yes."),
    ("5", "The answer is 5. No, it cannot be more."),
    ("5", r"\boxed{5}. Hmm, no other value fits."),
    ("5", "<answer>5</answer> Actually, no change is needed."),
    ("5", "#### 5\nSorry, I was slow."),
    ("No", "<answer>No</answer> It is wrong."),
    ("5", "The answer is 5. Some say 6; that is wrong."),
    ("5", "The answer is 5, not 6, which is wrong."),
    ("2.5", "The answer is 2.5, which is not an integer."),
    ("5", r"\boxed{5}. It is wrong to think that 6 works."),
    ("5", r"\boxed{5}. This is the correct answer."),
    ("5", r"\boxed{5}. It is not possible to do better."),
    ("5", r"\boxed{5}, but it is not 6."),
    ("5", r"The answer is \boxed{5}, not \boxed{6}."),
    ("5", r"It is not 6, so \boxed{5}"),
    ("5", r"Is it 6? No. \boxed{5}"),
    ("-5", r"-\boxed{5}"),
    ("False", "The answer is False. That is not true for 2."),
    ("False", r"\boxed{\text{False}}. It is false."),
    ("No", "The answer is No. It is not true."),
    ("0", "The probability is 0. It is impossible."),
    ("6", "It was 5. Actually the answer is 6."),
    ("6", "The answer is 5. Wait, the answer is 6."),
    ("6", "The preliminary answer is 5. The final answer is 6."),
    ("5", "The answer is 5. If that is wrong, please tell me."),
    ("5", "The answer is 5. If not told otherwise, we count in cm."),
    ("5", "The answer is 5. (Or, equally, 10/2.)"),
    ("6", "Answer: 5\nI forgot one.\nAnswer: 6"),
    ("5", "Answer: 5\nAnswer: 5.0"),
    ("7", "Everyone except 2 came, so 7"),
    ("5", "He lives above a shop with 5 rooms."),
    ("5", "It fell below 6, down to 5."),
    ("5", "No way around it: the answer is 5."),
    ("5", "Nobody else has a coin, so it is 5."),
    ("12", "It stays under 20, since it is 12"),
    ("5", "One says nothing, the other says 5"),
]
FORMULAS = [
    ("36\\pi", "The area is 36π."),
    ("36\\pi", "So the area is 36\\pi square cm."),
    (r"\frac{\sqrt3}{2}", "The height is √3/2."),
    ("x^2+2x", "Its integral gives x² + 2x"),
    ("-2x/3", "The tangent is -2/3x."),
    ("2^{10}", "The number of subsets is 2^10."),
    ("3:4", "The ratio of boys to girls is 3 to 4."),
    ("5", "The distance is 5m."),
    ("2015", "It lasted from 2010-2015"),
    ("5", "It is plan B - 5"),
    ("12", "The room has 3 * 4 = 12"),
    ("5", "The answer is 5 (2 + 3)."),
    ("5", "The answer is 5 (= 10/2)."),
    ("-30", "The answer is 5 (-6)."),
    ("42", "The answer is thus 42."),
    ("8", "Answer: **8** red balls"),
    ("8", "Answer: Tom has 8 of them."),
]
ASKED = [
    ("18", "Is the answer 18? Yes."),
    ("18", "Is the answer 18? Let me check: 9*2 = 18. So it is 18."),
    ("18", "Is it 17 or 18? It is 18."),
    ("18", "How many does he have? 18."),
    ("5", r"Is it \boxed{5}? Yes, as 2+3 = 5."),
    ("B", "It is (B)."),
    ("B", "(B) 12, as 3*4 is 12"),
    ("D", "The answer is (D) Both A and B"),
]
CHANGED = [
    ("5", "The answer is 5 after simplification."),
    ("5", "The answer is 5 after rounding."),
    ("5", "The answer is 5 once we simplify."),
    ("10", "The total is 10 after adding the tip."),
    ("50", "The price is 50 before adding tax."),
    ("12", "If we double it we get 12."),
    ("12", "When doubled it is 12."),
    ("5", r"\boxed{5 \text{ when rounded}}"),
    ("5", r"\boxed{5 \text{ with remainder 2}}"),
]
CONDITIONAL = [
    ("5", "The answer would be 5."),
    ("5", "So the answer would be 5, since x > 0."),
    ("5", "The answer is 5 if x > 0."),
    ("5", "If we add them, the answer is 5."),
    ("6", "If it were 5 it would be too small, so it is 6."),
    ("5", "Either way, the answer is 5."),
    ("5", "In either case we get 5."),
    ("5", "Suppose n = 3. Then the answer is 5."),
    ("5", "If n is odd the count is 5"),
    ("5", "The answer is 5. Another method gives 5 as well."),
    ("5 if n is odd, 6 otherwise", "5 if n is odd, 6 otherwise"),
    ("A", "A is correct, whatever n is."),
]
SETS = [
    (r"\{1,2,3\}", r"\boxed{\{3, 2, 1\}}"),
    (r"\{\{1\},\{2\}\}", r"\boxed{\{\{2\},\{1\}\}}"),
    (r"\{1\}, \{2\}, \{3\}", r"\boxed{\{1\}, \{3\}, \{2\}}"),
    ("5", r"\boxed{\{5\}}"),
    (r"\{5\}", "5"),
    (r"x \in \{1\}", "x = 1"),
]


@pytest.mark.parametrize(
    ("reference", "completion"),
    LABELLED
    + LISTED
    + HIDDEN
    + TAGS
    + TAKEN_BACK
    + FORMULAS
    + ASKED
    + CHANGED
    + CONDITIONAL
    + SETS,
)
def test_a_completion_with_one_answer_keeps_its_reward(reference: str, completion: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, completion).reason == "equal"


# What stands behind the number with which a text closes is a part of the answer where it is a unit.
UNITS = [
    ("5 km", "The distance is 5 m.", "different"),
    ("5 km", "She walks $5$ m.", "different"),
    ("5 km", r"She walks \boxed{5} m.", "different"),
    ("5 km", "So $d = 5$ m.", "different"),
    ("5 km", "So $d = 5000$ m.", "equal"),
    ("0.2", r"It is \boxed{20}\%.", "equal"),
    ("5 km", "The distance is 5000 m.", "equal"),
    ("5 km", r"She walks $\boxed{5000}$ m.", "equal"),
    ("5", "She walks 5 m.", "equal"),
    ("1.5 hours", "The train needs 1.5 days.", "different"),
    ("1.5 hours", "It takes 1.5 km.", "different"),
    ("1.5 hours", "So the train needs **90 minutes**.", "equal"),
    ("1.5 hours", "It takes 1 hour and 30 minutes.", "equal"),
    ("10 minutes", "He needs 10 seconds", "different"),
    ("10 minutes", "It takes 10 minutes of his time.", "equal"),
    ("3 m/s", "The speed is 3 km/h.", "different"),
    ("3 m/s", "The speed is 10.8 km/h.", "equal"),
    ("$12", "It costs 12 euros.", "different"),
    ("$12", "It costs 12 dollars.", "equal"),
    ("$12", "It costs 1200 cents.", "equal"),
    ("20%", "It grew by 20 km.", "different"),
    ("20%", "It grew by 20 percent.", "equal"),
    ("12", "She bought 12 in May.", "equal"),
    ("7 years", "She is 7 years old.", "equal"),
]
# A decimal behind an exact value rounds it, and either may be the reference.
ROUNDED = [
    (r"\frac{5}{3}", r"\boxed{x = \frac{5}{3} \approx 1.67}", "equal"),
    (r"\frac{5}{3}", r"$\frac{5}{3} \approx 1.67$", "equal"),
    (r"\frac{5}{3}", r"The answer is $\frac{5}{3}$ (approximately 1.67).", "equal"),
    (r"\frac{5}{3}", "The answer is 5/3, or about 1.67.", "equal"),
    (r"\pi", r"$A = \pi \cdot 1^2 = \pi \approx 3.14$", "equal"),
    ("1.67", r"\boxed{x = \frac{5}{3} \approx 1.67}", "equal"),
    ("1.67", r"\boxed{\frac{5}{3} \approx 1.67}", "equal"),
    ("0.4", r"\boxed{\frac{1}{3} \approx 0.4}", "different"),
    ("0.1", "The answer is 0.05 (about 0.1).", "different"),
    ("5", "The answer is 5, or about 5.4.", "ambiguous_answer"),
    ("5.4", "The answer is 5, or about 5.4.", "ambiguous_answer"),
    ("38", r"\boxed{37.6 \approx 38}", "different"),
    ("5.4", r"\boxed{x = 5 \approx 5.4}", "different"),
    ("6", r"\boxed{x = 5 \approx 6}", "different"),
    ("5", r"\boxed{x = 5 \approx 6}", "different"),
    ("(-2, 3]", "x in (-2, 3]", "equal"),
    ("(-2, 3]", "x in (-2, 3)", "different"),
]


@pytest.mark.parametrize(("reference", "completion", "reason"), UNITS + ROUNDED)
def test_units_and_roundings_belong_to_their_answers(
    reference: str, completion: str, reason: str
) -> None:
    assert judge(Accuracy(), {"answer": reference}, completion).reason == reason


@pytest.mark.parametrize("completion", ["It takes 1.5 hours.", "So we need $1.5$ h."])
def test_a_unit_that_is_required_may_stand_in_a_sentence(completion: str) -> None:
    verifier = Accuracy(units="require")
    assert judge(verifier, {"answer": "1.5 hours"}, completion).reason == "equal"
    assert judge(verifier, {"answer": "1.5 hours"}, "It takes 1.5.").reason == "different"


@pytest.mark.parametrize(
    ("reference", "completion", "reason"),
    [
        ("6", "Answer A: 5\nAnswer B: 6", "ambiguous_answer"),
        ("6", "Plan A: 5\nPlan B: 6", "ambiguous_answer"),
        ("6", "Even n: 5\nOdd n: 6", "ambiguous_answer"),
        ("6", "$5$\n$6$", "ambiguous_answer"),
        ("B", "A\nB", "ambiguous_answer"),
        ("7", "The average of 5 and 7", "ambiguous_answer"),
        ("6", "random.choice([5, 6])", "ambiguous_answer"),
        ("6", "n % 2 ? 5 : 6", "different"),
        ("6", "One method gives 5, the other 6.", "ambiguous_answer"),
        ("6", "The answer is 5. The answer is 6.", "ambiguous_answer"),
        ("5", "The answer is 5. But 6 works too.", "ambiguous_answer"),
        ("5", r"<!-- \boxed{5} -->", "no_answer"),
        ("5", r"~~\boxed{5}~~", "no_answer"),
        ("5", r"\boxed{5}. This is wrong.", "no_answer"),
        ("5", "The answer is 5. Wait, no, it is 6.", "no_answer"),
        ("5", "The answer is 5. Hold on, that is wrong.", "no_answer"),
        ("5", "The answer is 5. No wait.", "no_answer"),
        ("5", "The answer is 5. Oops, I made a mistake.", "no_answer"),
        ("5", r"\boxed{5} Hmm, wait. No, it is 6.", "no_answer"),
        ("5", "<answer>5</answer> Sorry, this is wrong.", "no_answer"),
        ("5", "#### 5\nWait, no: 6", "ambiguous_answer"),
        ("5", "The answer is 5. Scratch that, 6.", "no_answer"),
        ("5", "The answer is 5. I mean, 6.", "no_answer"),
        ("5", r"The answer is not \boxed{5}.", "no_answer"),
        ("5", "The answer is 5 when doubled.", "no_answer"),
        ("5", "The answer would be 5 if n were odd.", "no_answer"),
        ("5", r"<del><b>\boxed{5}</b></del>", "no_answer"),
        ("5", r"\newcommand{\five}{\boxed{5}}", "no_answer"),
        ("5", "![5](plot.png)", "no_answer"),
        ("6", "Answer: 5\nAnswer: 6", "ambiguous_answer"),
        ("6", "The answer is 5. If that is rejected, use 6.", "ambiguous_answer"),
        ("6", "5 is my answer; so is 6.", "ambiguous_answer"),
        ("36", "The area is 36π.", "different"),
        ("2", "Its integral gives x² + 2x", "different"),
        ("4", "The ratio of boys to girls is 3 to 4.", "different"),
        ("5", "Answer: The half of it is 5 times less", "different"),
        ("5", "Answer: It is less than 5", "different"),
        ("5", "Anything except 5", "no_answer"),
        ("5", "The answer lies below 5.", "no_answer"),
        ("5", r"\boxed{5_x}", "different"),
        ("12", r"\boxed{12_{hex}}", "different"),
        ("12", r"\boxed{\#\{12\}}", "different"),
        ("6", "If it were 6, it would be too large.", "no_answer"),
        ("5", r"\boxed{5 \text{ if odd, else } 6}", "different"),
        ("5", r"\boxed{5 \text{ with a minus sign}}", "different"),
        (r"\{1,2,3\}", r"\boxed{\{1\}, \{2\}, \{3\}}", "different"),
        ("(1, 2)", r"\boxed{(\{1\}, \{2\})}", "different"),
    ],
)
def test_a_completion_without_one_answer_is_refused_for_its_reason(
    reference: str, completion: str, reason: str
) -> None:
    assert judge(Accuracy(), {"answer": reference}, completion).reason == reason


@pytest.mark.parametrize(
    "near",
    [
        r"\sqrt2+10^{-90}",
        r"\sqrt2+10^{-900}",
        r"\sqrt2+10^{-9000}",
        r"\sqrt2\cos(10^{-45})",
        r"\sqrt2\cos(10^{-100})",
        r"\sqrt2\cos(10^{-900})",
        r"\sqrt{2+10^{-90}}",
        r"2^{\frac12+10^{-90}}",
        r"\sqrt2+\frac{1}{100!}",
        r"\sqrt2+e^{-300}",
        r"\frac{\sqrt2\cdot10^{90}+1}{10^{90}}",
        r"\sqrt2+(2-\sqrt3)^{160}",
    ],
)
def test_a_constant_that_is_too_small_for_fixed_digits_is_seen(near: str) -> None:
    assert judge(Accuracy(), {"answer": r"\sqrt2"}, rf"\boxed{{{near}}}").reason == "different"
    assert judge(Accuracy(), {"answer": near}, r"\boxed{\sqrt2}").reason == "different"


@pytest.mark.parametrize(
    ("reference", "same"),
    [
        (r"\sqrt2+10^{-90}", r"10^{-90}+\sqrt2"),
        (r"\sqrt2+10^{90}-10^{90}", r"\sqrt2"),
        (r"10^{-90}\sqrt2", r"\frac{\sqrt2}{10^{90}}"),
        (r"e^{-100}\pi", r"\frac{\pi}{e^{100}}"),
        (r"\sqrt2+\sqrt3", r"\sqrt{5+2\sqrt6}"),
        ("0", r"\sin\pi"),
        (
            r"\frac{(2+\sqrt{3})^{2016}+(2-\sqrt{3})^{2016}}{2}",
            r"\frac{1}{2}\left((2+\sqrt{3})^{2016}+(2-\sqrt{3})^{2016}\right)",
        ),
    ],
)
def test_equal_values_with_such_constants_are_equal(reference: str, same: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, rf"\boxed{{{same}}}").reason == "equal"


@pytest.mark.parametrize(
    ("reference", "completion"),
    [
        ("B", "Option B is correct."),
        ("B", "B is correct."),
        ("B", "(B) is the correct answer."),
        ("B", r"\boxed{\text{Option B is correct}}"),
        ("B", "So choice B is right."),
        ("(B)", "B is the best option."),
        (r"\emptyset", r"\boxed{\{\}}"),
        (r"\emptyset", r"\{\}"),
        ("no solution", r"$\{ \}$"),
        ("8", "Answer -> 8"),
        ("8", "Answer → 8"),
        ("8", "Answer => 8"),
        ("8", "**Answer** → **8**"),
        ("8", r"Answer $\rightarrow$ 8"),
        ("8", "Final answer — 8"),
        ("7", "Ans. 7"),
        ("7", "Ans. 7 (8 counts the empty set)"),
    ],
)
def test_another_way_of_announcing_an_answer_is_read(reference: str, completion: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, completion).reason == "equal"


def test_a_remark_behind_an_announced_answer_is_not_the_answer() -> None:
    found = judge(Accuracy(), {"answer": "8"}, "Ans. 7 (8 counts the empty set)")
    assert found.reason == "different"


SOLVES_NOTHING = [
    "We get $x=5$. But this is impossible, so there is no solution.",
    "We get x = 5. But this is impossible, so there is no solution.",
    "\\boxed{5} is impossible.",
    "\\boxed{5}. This is extraneous.",
    "$\\boxed{5}$ is not a solution.",
    "We find $x = \\boxed{5}$, which is impossible.",
    "The answer is 5, which is impossible.",
    "The answer is 5. But that is a contradiction.",
    "x = 5, which is impossible.",
    "$x=5$ is extraneous.",
    "So $x=5$, which is not a valid solution.",
    "<answer>5</answer> is extraneous.",
    "The answer is 5. Without data we cannot provide a definitive answer.",
    "\\boxed{5}. It is impossible to determine the answer.",
    "If it is 3 + 2, it is 5. Without the numbers, it is impossible to say.",
]


@pytest.mark.parametrize("text", SOLVES_NOTHING)
def test_a_value_that_solves_nothing_is_no_answer(text: str) -> None:
    assert judge(Accuracy(), {"answer": "5"}, text).score == 0


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("no solution", SOLVES_NOTHING[0]),
        ("no solution", SOLVES_NOTHING[1]),
        ("0", "The probability is \\boxed{0}. It is impossible."),
        ("0", "The answer is 0. This is impossible."),
        ("5", "$x = \\boxed{5}$. ($x=-5$ is extraneous.)"),
        ("5", "$x = \\boxed{5}$ ($x=-5$ is extraneous)"),
        ("5", "$x = \\boxed{5}$. It is impossible to do better."),
        ("5", "The answer is 5, not 6, which is impossible."),
        ("5", "$x=-5$ is impossible, so $x=5$."),
        ("5", "If $x=-5$, which is impossible. So the answer is 5."),
        ("5", "\\boxed{5}. But this is impossible if $n>5$."),
        ("3", "If n is odd, $x=5$, which is impossible. If n is even, $x=3$."),
        ("5", "We cannot determine the answer directly, so we compute. The answer is 5."),
        ("cannot be determined", "The answer: cannot be determined. We cannot find the answer."),
        ("impossible", "The answer is impossible. It is impossible."),
    ],
)
def test_another_value_may_solve_nothing(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 1


@pytest.mark.parametrize(
    "text",
    [
        r"Thus the answer is \boxed{5} because otherwise the sum would be odd, which is "
        "impossible.",
        r"So the minimum is $\boxed{5}$ because with 4 colors two neighbours would agree, "
        "which is a contradiction.",
        r"We conclude $n = \boxed{5}$ as $n=4$ gives $2=3$ which is impossible.",
        "The answer is $5$ since the value $-5$ is a root which is extraneous.",
        "The answer is 5. Without a calculator we cannot give an exact answer.",
        r"\boxed{5} Remark: by hand we cannot find the answer without the formula.",
        "The answer is 5. (One cannot give the answer without the table.)",
    ],
)
def test_a_remark_about_something_else_takes_no_answer_back(text: str) -> None:
    assert judge(Accuracy(), {"answer": "5"}, text).reason == "equal"


@pytest.mark.parametrize(
    "text",
    [
        r"We find $x = \boxed{5}$ which is impossible.",
        r"The answer is $\boxed{5}$, which is a contradiction.",
        "The answer is $x = 5$, which is extraneous.",
        "The answer is 5 apples, which is impossible.",
        "The answer is **5**, which is impossible.",
        "The answer is 5. Without data we cannot provide a definitive answer.",
        "The answer is 5. We cannot determine the answer from the given information.",
        r"\boxed{5}. It is impossible to say which answer is right.",
    ],
)
def test_a_remark_about_the_answer_takes_it_back(text: str) -> None:
    assert judge(Accuracy(), {"answer": "5"}, text).reason == "no_answer"


@pytest.mark.parametrize("reference", ["5", "6"])
def test_a_value_that_is_also_announced_is_an_alternative(reference: str) -> None:
    found = judge(Accuracy(), {"answer": reference}, "The answer is 5. Also 6.")
    assert found.reason == "ambiguous_answer"
    assert judge(Accuracy(), {"answer": "5"}, "The answer is 5. Also 6 is even.").score == 1


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("The answer is 5.\n\n**Final Answer:**", 1),
        ("The answer is 5. Hence the final answer is", 1),
        ("The answer is ... 5", 1),
        ("There are 5 of them.\nThe answer is", 0),
        ("The answer is 6.\n\n**Final Answer:**", 0),
    ],
)
def test_an_announcement_at_the_end_of_a_text_says_nothing(text: str, score: int) -> None:
    assert judge(Accuracy(), {"answer": "5"}, text).score == score


@pytest.mark.parametrize("piece", ["is impossible ", "which ", "5 is ", "we cannot give ", "not "])
def test_what_solves_nothing_is_found_in_linear_time(piece: str) -> None:
    assert_linear(lambda text: judge(Accuracy(), {"answer": "5"}, text), piece, before="$x=5$ ")
