"""Last lines of prose: the number that they state, and lines that state none or several."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.closing_numbers import closing_result
from verifier_service.mathematics.extraction import extract
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
        ("42", "The minimum value is 42, attained at $x = 7$.", "7"),
        ("42", "The minimum is $42$, and it is achieved at $a=b=7$.", "7"),
        ("42", "The maximum of $f$ on $[0, 9]$ is $42$, occurring at $x = 7$.", "7"),
        ("42", "The minimum value, attained at $x = 7$, is 42.", "7"),
        ("42", "So 42 of the 70 students play chess.", "70"),
        ("42", "This means that exactly 42 of the 70 students play chess.", "70"),
        ("42", "So 42 out of the 70 marbles are red.", "70"),
        ("42", "So there are **42** ways to choose 2 items from 7.", "7"),
        ("6", "There are 6 divisors of 12.", "12"),
        ("42", "John has 42 dollars left after buying 3 apples at $2 each.", "2"),
        ("42", "There are 42 outfits in total (6 shirts × 7 pants).", "7"),  # noqa: RUF001
        ("42", "42 hours (84 miles ÷ 2 mph)", "2"),
        ("42", "42 (6 per wall)", "6"),
        ("42", "It takes her **42 minutes**, including 7 minutes at the shop.", "7"),
        ("42", "Result: $42$ minutes (including $7$ minutes in the shop).", "7"),
        ("42", "**Solution:** $x=42$ (the root $x=-7$ is extraneous)", "-7"),
        ("42", "$x = 42$ is the only valid solution, since $x=-7$ does not fit.", "-7"),
        ("42", "$x=42$ (checking: $2\\cdot 42=84$)", "84"),
        ("42", "Solving, we get $x = 42$. We can verify: $2(42) + 3 = 87$. ✓", "87"),
        ("30, 60", "The angles are 30° and 60°.", "60"),
        ("5", "There are 5 such numbers: 12, 24, 36, 48, 60.", "60"),
        ("12, 24, 36", "There are 3 such numbers: 12, 24, 36.", "36"),
        ("3", "So there are $3$ roots, namely $x = 1$, $x = 2$ and $x = 4$.", "4"),
        ("42", "We discard $x=-7$ and keep $x=42$.", "-7"),
        ("42", "$x=42$ or $x=-42$; since $x>0$, $x=42$.", "-42"),
        ("42", "She's 42 years old.", "2"),
        ("1/2", "There's a 50% chance.", "1/5"),
        ("42", "__Answer:__ 42", "2"),
        ("6", "There are 8 of them, of which 6 are odd.", "8"),
        ("5", "There are 5 real roots, including $x=0$.", "0"),
        ("x = 2", "So $x=2$, discarding $x=-3$.", "x = -3"),
        ("x=3, y=-2", "- $x = 3$\n- $y = -2$", "-2"),
        ("x=3, y=-2", "**Solution:**\n\nx = 3\ny = -2", "x=-2, y=3"),
        ("3", "Substitute.\n$x = 2$\n$y = 3$", "2"),
        ("42", "🎯 **42**", "2"),
        ("42", "r = 6\nA = 42", "6"),
        ("42", "The dimensions are:\n- $l = 6$\n- $w = 7$\n- $A = 42$", "6"),
        ("42", "$a_1 = 2$\n$a_{5} = 42$", "2"),
        ("42", "For 3 people, including Ann, he pays 42", "3"),
        ("42", "Total cost for 1 week: 42 dollars", "1"),
        ("39", "Sum of 3 numbers: 12, 13, 14 = 39", "3"),
        ("3", "She has 5 left after Monday and 3 left after Tuesday.", "5"),
        ("12", "There are 3 ways to do it so the total is 12.", "3"),
        ("42", "$x=42. \\blacksquare$", "2"),
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
        # A word that multiplies the number, and a unit before what it measures.
        ("1500000000", "The total revenue is $1,500 million.", "1500"),
        ("1200", "The company needs 1.2 thousand units.", "1.2"),
        ("12 m", "The hypotenuse is 12 m long.", "12 cm"),
        ("45 km/h", "The speed is \\(\\boxed{45}\\) km/h.", "45 mph"),
        ("75\u5343\u7c73", "\u7b54\uff1a\u5b83\u884c75\u5343\u7c73\u3002", "75\u7c73"),
        ("3.5", "It took 3\u00bd hours.", "3"),
        # A number that is an operand.
        ("20", "So the total is 4 \u00d7 5.", "5"),
        ("11", "It has 5 + 6 apples.", "6"),
        ("8", "The score is 16 - 8.", "16"),
        # Emphasis says nothing.
        ("3:4", "The ratio of boys to girls is **3 to 4**.", "4"),
        ("x^2-5x+6", "The quadratic is **x^2 - 5*x + 6**", "6"),
        # Remarks in brackets.
        ("6", "There are 3 \u00d7 2 = 6 outfits in total (3 shirts and 2 pants).", "2"),
        ("5", "x = 5 (reject x = -5 because lengths are positive)", "-5"),
        ("300 K", "The temperature is **300 K (27 \u00b0C)**.", "27 m"),
        ("160", "Answer: 160 minutes (2 hours and 40 minutes)", "40"),
        ("11", "The final answer is **n = 11** (the other root, n = -3, is rejected).", "-3"),
        ("(3, 4)", "The point is (3, 4)", "3"),
        # Contrasts.
        ("7", "It is 7, not 6 as one might think.", "6"),
        ("500", "The tension is 500 rather than 50.", "50"),
        ("500", "The tension is $T = 500$ rather than $50$.", "50"),
        ("500", "The tension is $500$, not $50$.", "50"),
        ("50", "The tension is $500$, not $5$ but $50$.", "500"),
        ("n\\pi", "$x=n\\pi$ for any integer $n$", "n"),
        # Numbers of somebody or something else.
        ("10", "It takes 10 days to climb out of the 6-foot well.", "6"),
        ("40", "She needs 40 more stickers to reach 100.", "100"),
        ("50", "Tom has 50 marbles, which is 10 more than Tim's 40.", "40"),
        ("42", "Tim has 40 marbles, which is 2 less than Tom, so Tom has 42.", "40"),
        ("40", "There are 40 pupils on each of the 3 buses.", "3"),
        ("10", "After counting, we find that there are **10** primes below **30**.", "30"),
        ("30", "It fell from 40 to 30 below the roof.", "40"),
        ("6", "The polygon is 6-sided.", "5"),
        ("5", "The answer is $5$ and not $6$.", "6"),
        ("5, 6", "The roots are $5$ and $6$, not $7$.", "7"),
        ("100000", "There are 100 000 of them.", "0"),
        ("300", "In 2020 there were 300 of them.", "2020300"),
        ("no solution", "\u65b9\u7a0b\u65e0\u89e3\u3002", "\u65e0"),
        ("6", "Given the symmetry we conclude $x=6$.", "5"),
        ("(1, 2)", "There are no solutions other than $(1,2)$.", "(2, 1)"),
        ("6", "There is a solution if and only if $k$ is $6$.", "k"),
        ("5", "It is $5$, and it cannot be $6$.", "6"),
        ("5", "The answer is $5$, not less than $6$.", "6"),
        # Results of plans and of suppositions.
        ("6", "We compute $2 \\cdot 3 = 6$.", "2"),
        ("6", "We find 6.", "5"),
        ("6", "Let x be the number. Then x = 6.", "5"),
        ("7", "Let $x = 6$, so $y = 7$.", "6"),
        ("11", "Let's find the total: 5 + 6 = 11.", "6"),
        ("36", "The square of 6 is 36.", "6"),
        ("5", "Twice the answer is 10, so the answer is 5.", "10"),
        ("7", "$6$ is wrong, and $7$ is right.", "6"),
        # Signs in words, names in a list, bounds and contrasts behind a value.
        ("-6", "The temperature fell to minus 6 degrees.", "6"),
        ("4", "10 minus 6 is 4.", "-6"),
        ("5, 6", "The roots are x = 5 and x = 6.", "6"),
        ("25 km", "So he walks 5 \u00d7 5 km.", "25 m"),
        ("25", "There are $25$ primes less than $100$.", "100"),
        ("5", "The remainder is $5$ upon division by $6$.", "6"),
        ("6", "It is not $5$ but $6$.", "5"),
        ("6", "The value cannot be $5$; thus it is $6$.", "5"),
        ("12", "Twice $6$ is $12$.", "6"),
        ("3", "The square root of $9$ is $3$.", "9"),
        ("24", "The product is always divisible by $24$.", "12"),
        ("5 cm^2", "The area is $5$ cm\u00b2.", "5 m^2"),
        ("150 minutes", "It takes 2.5 hours or 150 minutes.", "2.5 minutes"),
        ("6", "It increased from 5 to 6.", "5"),
        # Words of plans, denials, bounds and remarks that are none.
        ("60", "Given the discount she pays 60 dollars.", "6"),
        ("6", "Substituting $x=2$ results in $6$.", "2"),
        ("12", "So we must check 12 cases.", "1"),
        ("30", "The factory discarded 30 bulbs.", "3"),
        ("31", "In week 4 she sold the most books (31 books).", "4"),
        ("60", "He saves 20% (so $60).", "20%"),
        ("12", "He bought 2 boxes or 12 eggs.", "2"),
        ("500", "On day 3 500 people came.", "3"),
        ("20", "It increased from about 10 to 20 degrees.", "10"),
        ("25", "Tom has 20 apples, which is 5 less than Ann: 25.", "20"),
        ("15", "With 3 trips he needs a 15-gallon tank.", "3"),
        ("3", "Iterations:\n1. x = 1\n2. x = 2\n3. x = 3", "1"),
        ("5", "因此 $a=2$，$b=3$，和是 $5$。", "3"),  # noqa: RUF001
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
        (("2", "1+2"), "The function is f(x) = 1 + 2x for all real x."),
        (("6",), "All but 6 of them are prime."),
        (("17",), "The answer is therefore not $17$."),
        (("11",), "**Not the answer: 11**"),
        (("9", "11"), "There are **11** of them if zero is allowed, and **9** otherwise."),
        (("9", "11"), "The number of solutions is **11** if zero is allowed, and **9** otherwise."),
        (("9", "11"), "$11$ if zero is allowed, and $9$ otherwise."),
        (("2", "3"), "So:\n- x = 2\n- x = 3"),
        (("-1", "3"), "\u89e3\u4e3a $x=-1$ \u6216 $x=3$\u3002"),
        # What a sentence denies, bounds, asks for or changes, with and without dollar signs.
        (("6",), "It is not $6$."),
        (("6",), "We ruled out $6$."),
        (("6",), "The answer is less than $6$."),
        (("6",), "So there are fewer than $6$ of them."),
        (("2",), "$x$ must be greater than $2$."),
        (("6",), "Perhaps $6$."),
        (("6",), "Is it $6$?"),
        (("5", "6"), "It is $5$ plus $6$."),
        (("5", "6"), "The dimensions are $5$ by $6$."),
        (("6", "12"), "The answer is twice $6$."),
        (("6",), "The answer is the square of $6$."),
        (("6",), "It is half of 6."),
        (("6",), "The diagonal has length sqrt(6)."),
        (("5", "6"), "The fraction is 5 over 6."),
        (("5", "6"), "He needs 5 to 6 apples."),
        (("5", "6"), "He needs 5-6 apples."),
        # Sentences that plan, suppose or ask, with which a completion breaks off.
        (("6",), "Let $x = 6$."),
        (("6",), "Suppose that x = 6."),
        (("6",), "We need to compute $f$ at $6$."),
        (("6",), "Let's find how many of the 6 boys play."),
        (("6",), "How many of the 6 boys play?"),
        (("6",), "The answer depends on 6 variables."),
        (("6",), "Twice the answer is 6."),
        (("6",), "The square of the answer is $6$."),
        (("6",), "But $6$ is wrong."),
        (("6",), "$x = 6$ does not satisfy the equation."),
        (("6",), "We can eliminate $6$."),
        # One of two amounts.
        (("5", "6"), "It is $5$, or maybe $6$."),
        (("5", "6"), "It is $5$, but could be $6$."),
        (("5", "6"), "The answer is $5$, perhaps $6$."),
        (("5", "6"), "It is 5 apples or 6 apples."),
        (("5", "6"), "It takes 5 hours or 6 hours."),
        (("5", "6"), "He has 5 apples (6 if green ones count)."),
        # What only repeats the problem, and what is denied in another language.
        (("6",), "We are given that $r = 6$."),
        (("6",), "Given: radius 6."),
        (("6",), "Given $r=6$, find the area."),
        (("6",), "8 times 6 is a multiple of $6$."),
        (("6",), "❌ 6"),
        (("8",), "8 would be the answer if order mattered. It doesn't."),
        (("15", "16"), "La probabilidad no es $15$."),
        (("15",), "La probabilité n'est pas $15$."),
        (("15",), "La probabilità non è $15$."),
        (("6", "15"), "We get $x = 6$. We can verify: $2(6) + 3 = 16$, which is wrong."),
        (("42",), "If 42 of the 70 students play chess, we are done."),
        (("42",), "At least 42 of the 70 students play chess daily."),
        (("42",), "He gave 42 of the 70 apples to his friend."),
        (("42",), "The chance is 42 out of the 70 outcomes listed above."),
        (("x=3, y=4",), "We are given:\n- $x = 3$\n- $y = 4$"),
        (("x=3, y=4",), "Not a solution:\nx = 3\ny = 4"),
        (("x=5, y=6",), "First solution:\nx = 3\ny = 4\nSecond solution:\nx = 5\ny = 6"),
        (("3",), "There are 3 choices for the first digit and 4 for the second."),
        (("6",), "There are 6 outcomes of 36 favorable."),
        (("10",), "He had 10 apples left after the first day and ate 3 apples."),
        (("50",), "The price is 50, including 10 tax, 60 in all."),
        (("50",), "There are 50, including 5 extraneous ones."),
        (("6",), "So $x=6$. Check: $6+1=7$, a contradiction."),
        (("6",), "So $x=6$. Let's check: $2(6)+3=13$ ✗"),
        (("6",), "So $x=6$. Checking: we get $x=7$."),
        (("6",), "So $x=6$ (check fails, so $x=7$)"),
        (("6",), "$x=6$ is the only extraneous root, since $x=7$ works."),
        *((("6",), f"{sign} 6") for sign in "⛔👎🤷⚠✖☒😕"),
        # What revises a value, continues it or compares it.
        (("4", "60"), "There are 4 such numbers: 12, 24, 36, 48, 60."),
        (("3", "7"), "My 3 guesses: 5, 6, 7"),
        (("2",), "The roots of the 2 equations: 4, 5"),
        (("2",), "Take the 2 numbers: 6, 7"),
        (("3",), "At least 3 of them: 1, 2, 3"),
        (("3",), "There are at least 3 of them: 1, 2, 3"),
        (("3",), "There are 3 such numbers: 12, 24, 36, ..."),
        (("3",), "There are 3 more: 6, 9, 12"),
        (("5",), "There are 5 such numbers: 2, 3, 5, 7, 11. Their sum is 28."),
        (("3", "7"), "There are 3 possible answers: 5, 6, 7"),
        (("8",), "There are 8 (make that 6)."),
        (("8",), "There are 8 (6 after removing duplicates)."),
        (("8",), "The total is 8 (minus the 2 spares)."),
        (("160", "150"), "The answer is 160 dollars (actually it is 150)."),
        (("18",), "The average is $18$ divided by $3$."),
        (("18",), "The number of apples is $18$ more than $3$."),
        (("5",), "Thus $5$ is less than $6$."),
        (("7",), "It should be 7, not 6, I guess."),
        (("-2",), "The answer equals n minus 2."),
        (("3",), "He has 3 dogs and needs a 5-pound bag."),
        (("3",), "His 3 scores were all below 10"),
        (("1",), "# 1\n\nQuestion: What is 3+4?\n\nAnswer: 7"),
        (("5",), "$\\boxed{5}$\n\nI made a mistake, the answer is 6."),
        (("5",), "$\\boxed{5}$\n\nI might have erred; the answer is 6."),
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


@pytest.mark.parametrize(
    "piece",
    [
        *(" (a", " (5 b)", ", not 5", " rather than 5 a", "4 + ", "4 +", "x ^ ", "a - 5", "**a*b"),
        *(
            "5 if a, and ",
            "5 million ",
            ", which is 5 more than A",
            " than A's 5",
            "5-foot ",
            " ✅",
        ),
        *(
            "\n- x = 2",
            "$5$ if a, ",
            "或 $x$",
            "5米。",
            "(5 m (",
            "5½",
            " less than $6$",
            " 5 apples or 6",
        ),
        *(
            ", attained at $x$",
            " (the root $x$ is ",
            ". Check: $5$",
            ", including 5 a",
            " (5 a × 5 b",  # noqa: RUF001
        ),
        *(
            "有十五",
            "\n- $x = 5$\n$y = 2$",
            " of the 9 boys",
            " O(n)",
            " is May 5",
            "given $r$, find ",
        ),
    ],
)
def test_last_lines_are_read_in_linear_time(piece: str) -> None:
    assert_linear(extract, piece, before="It is 5", num_characters=20_000)


@pytest.mark.parametrize("piece", ["The answer is \\boxed{5}\n\n", "\\boxed{5}" + "\n" * 50])
def test_announced_boxes_are_read_in_linear_time(piece: str) -> None:
    assert_linear(extract, piece)
