"""Numbers in announced sentences, in quotation marks, and beside words of other scripts."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from verifier_service.mathematics.counts_in_other_scripts import with_plain_words
from verifier_service.mathematics.extraction import extract
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.multiple_choice import MultipleChoice

RIGHT = [
    # The only number of a sentence, behind any verb.
    ("42", "Answer: Nora ate 42 plums."),
    ("42", "Answer:\nTogether they grew 42 melons in all."),
    ("42", "Answer: In total, 42 figs were picked."),
    ("42", "Answer: 42 more chairs can be put in the hall."),
    ("42", "Answer: Nora cut 42 more tulips than those she gave away."),
    ("42", "Answer: The last temperature is 42°C."),
    ("42", "Answer: 42 pupils did not come to the party."),
    ("42", "Answer: There were 42 pears that were not ripe."),
    ("42", "Answer: Step 3: Nora went to 42 concerts in all."),
    ("42", "Answer: Nora picked 42 plums in the second half of the year."),
    ("1490", "Answer: The number of boars in the wood after a year is 1490."),
    ("34", "Answer: Max's weight after the race = 34 kg"),
    ("42", "Réponse: Nora gagne 42 $ chaque jour au marché."),
    ("42", "答案:这位老师一共花了 42 美元。"),
    # Of several numbers, the one behind the verb.
    ("6", "Answer: Fay can make 6 rows with 5 pens in each row."),
    ("8", "Answer: The team can be split into 8 groups of 4."),
    ("310", "Answer: Max needs a total of 310 grams of sugar to make 8 cakes and 2 pies."),
    ("5", "Answer: It will take Max 5 hours to return at a speed of 6 miles per hour."),
    ("70", "Answer: The price for Max after taking the 30% discount is $70."),
    ("45", "Answer: Total stamps = x + y + z = 16 + 19 + 10 = 45"),
    ("2", "Answer: Number of white t-shirts in a pack = 56 / 28 = 2 t-shirts"),
    # A price, a place and a point, at the end of any text.
    ("102.66", "Nora needs $102.66 to buy 5 rakes and 7 brooms."),
    ("64", "So Max has to pay $64 for 16 cups."),
    ("15", "There are 15 birds on 3 wires."),
    ("5", "The value is 5 when x is 3."),
    # Behind words that end in `is`.
    ("42", "The answer to this question is 42."),
    # A sum behind its word.
    ("326.5", "First we add.\nSo, 313.9 + 12.6 = 326.5."),
    # In three quotation marks.
    ("18", 'Then 9 * 2 = 18.\n\n>> FINAL ANSWER:\n"""\n18\n"""'),
    ("18", 'FINAL ANSWER: """18 dollars"""'),
    ("18", '>> FINAL ANSWER:\n"""\nNora makes $18 every day at the market.\n"""'),
    # Behind a tag that is only named.
    ("81", "<answer>81</answer>\nIt is an integer, wrapped in <answer> tags."),
    ("81", "I shall use <answer></answer> tags.\n<answer>81</answer>"),
    # Beside words of other scripts.
    ("9", "<answer>9 días</answer>"),
    ("360", "\\boxed{360 pêches}"),
    ("6", "\\boxed{6 уток}"),
    ("18", "\\boxed{18美元}"),
    ("20000", "Answer: 20,000 ドル"),
    # A value that is named like Euler's number.
    ("\\frac{1}{2}", "\\boxed{e = \\frac{1}{2}}"),
    ("\\frac{\\sqrt{66}}{6}", "\\boxed{e=\\sqrt{\\dfrac{11}{6}}=\\dfrac{\\sqrt{66}}{6}}"),
    ("2", "$e = \\frac{c}{a} = 2$"),
    ("e", "\\boxed{e}"),
    # Letters of options with spaces of LaTeX between them.
    ("ACD", "\\boxed{A,\\;C,\\;D}"),
    # A number right behind a verb that says how much, in several languages.
    ("42", "Answer: Nora ate 42 sweets."),
    ("12", "Answer: It takes Bob 12 days."),
    ("42", "Answer: Nora gave Max 42 plums."),
    ("42", "Answer: Nora has to pay $42."),
    ("42", "Answer: Nora has 42 plums left."),
    ("42", "Answer: Nora will have 42 plums after work."),
    ("12", "Respuesta: Nora tiene 12 ciruelas."),
    ("12", "Réponse: Nora mange 12 prunes."),
    ("12", "Antwort: Nora hat 12 Pflaumen."),
    ("12", "Ответ: Иван съел 12 слив."),
    ("12", "答案:小红吃了12个苹果。"),
    ("12", "答え: 花子は12個のりんごを食べました。"),
    ("12", "Answer: แดงกินแอปเปิ้ล 12 ลูก"),
    ("12", "Answer: মিনা 12টি আপেল খেয়েছে।"),
    ("12", "Answer: Nora alikula matofaa 12."),
    ("12", "Answer: నోరా 12 ఆపిల్స్ తింటుంది."),
    ("12", "Answer: 12 guests did not like the cake."),
    ("18", 'FINAL ANSWER: """18 dollars"""'),
    ("7", "My answer is in <answer></answer> tags.\n<answer>7</answer>"),
    ("13", "Answer: Nora needs 13 bags of rice.\n\nCheck: 13 bags of 4 kg hold 52 kg."),
    ("18", "Answer: Nora started with 18 plums."),
    ("18", "Answer: In May Nora had 18 plums."),
]


@pytest.mark.parametrize(("reference", "text"), RIGHT)
def test_the_number_is_found(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).reason == "equal"


WRONG = [
    # Words that change, bound, doubt or deny the number.
    ("42", "Answer: Nora ate twice 42 plums."),
    ("42", "Answer: The result is half of 42."),
    ("42", "Answer: Nora ate 42 plums plus two more."),
    ("42", "Answer: Nora has 42 dozen eggs in 2 boxes."),
    ("42", "Answer: It is at least 42 meters long."),
    ("42", "Answer: Nora ate 42 more than Max."),
    ("42", "Answer: Nora has not got 42 plums."),
    ("42", "Answer: 42 is not right."),
    ("42", "Answer: Nora ate 42 plums, maybe 43."),
    ("42", "Answer: She thought she ate 42 plums but she was wrong."),
    ("42", "Answer: Is it true that Nora ate 42 plums?"),
    ("42", "Antwort: Nora hat nicht 42 Pflaumen."),
    ("42", "Réponse: Nora paie 42 ou 60 euros par mois."),
    ("42", "答案:他没有42个苹果。"),
    ("42", "Answer: 42 too many."),
    ("42", "Answer: It is a multiple of 42."),
    # Sentences that tell what to do, and labels.
    ("42", "Answer: We need to find 42 numbers."),
    ("42", "Answer: See the solution in step 42 above."),
    ("42", "Answer: Highway 42 is longer."),
    # The beginning of a solution.
    ("42", "Answer: Nora grew 42 plums in May. Then she grew 4 more. So it is 46."),
    # Two numbers of which either may be the answer.
    ("42", "Answer: Nora ate 42 plums and 4 pears."),
    ("4", "Answer: Nora ate 42 plums and 4 pears."),
    ("42", "Answer: Max is 42 years older than Nora, who is 9."),
    ("42", "Answer: Nora drove 42 of 60 miles."),
    ("42", "Answer: The ratio is 42 to 3."),
    # The numbers that only place the stated one.
    ("5", "Answer: Fay can make 6 rows with 5 pens in each row."),
    ("7", "Nora needs $102.66 to buy 5 rakes and 7 brooms."),
    ("16", "So Max has to pay $64 for 16 cups."),
    ("3", "There are 15 birds on 3 wires."),
    ("3", "The value is 5 when x is 3."),
    # Quotation marks with two answers, and those of a program.
    ("10", 'FINAL ANSWER:\n"""\n10 or 11\n"""'),
    ("42", 'def f():\n    """\n    42\n    """\n    return 7\n\nThe answer is 7.'),
    # A tag with another answer.
    ("81", "<answer>82</answer>\nI wrapped it in <answer> tags, not 81."),
    # Words that change a number, and other things than those that are asked for.
    ("5", "\\boxed{5 тысяч}"),
    ("5", "\\boxed{5万}"),
    ("5 км", "\\boxed{5 м}"),
    ("15", "\\boxed{1,5 mètres}"),
    # Equations that Euler's number is a part of.
    ("3", "\\boxed{e = 2 = 3}"),
    ("2", "\\boxed{e^x = 2}"),
    ("2", "\\boxed{e = 2x}"),
    ("ACD", "\\boxed{A,\\;C}"),
    # No verb that says how much right before it, or a bound, a part, a scale, a doubt, a denial.
    ("12", "Answer: Set aside 12 plums."),
    ("12", "Answer: Put 12 plums aside."),
    ("12", "Answer: A set of 12 plums."),
    ("12", "Answer: A box with room for 12 plums."),
    ("12", "Answer: The plums that Nora ate in 12 days."),
    ("12", "Answer: We add 12 to it."),
    ("12", "Answer: Then multiply it by 12."),
    ("12", "Answer: The product of 12 factors."),
    ("12", "Answer: Nora had less than 12 plums."),
    ("12", "Answer: Nora has room for 12 plums at most."),
    ("12", "Answer: Nora paid 12 lakh rupees."),
    ("12", "Answer: Nora ate 12 tenths of a pie."),
    ("12", "Answer: Nora might have 12 plums."),
    ("12", "Answer: It is unknown whether Nora has 12 plums."),
    ("12", "Answer: Nora ate 12 plums and Max ate none."),
    ("12", "Answer: The ancestor of Theorem 12."),
    ("12", "Answer: Nora starts with 12 plums. She loses eight, so she has four."),
    ("12", "Answer: The room is 12 meters by 4 meters."),
    ("12", "Answer: {number of the 12 plums}"),
    ("12", "Respuesta: Nora tiene casi 12 ciruelas."),
    ("12", "Respuesta: Nora no tiene 12 ciruelas."),
    ("12", "Respuesta: Nora tiene 12 mil ciruelas."),
    ("12", "Réponse: Nora mange au plus 12 prunes."),
    ("12", "Réponse: Nora ne mange pas 12 prunes."),
    ("12", "Réponse: On ignore le prix des 12 prunes."),
    ("12", "Antwort: Nora hat fast 12 Pflaumen."),
    ("12", "Antwort: Nora kennt den Preis der 12 Pflaumen."),
    ("12", "Antwort: Nora hat mehr als 12 Pflaumen."),
    ("12", "Ответ: Иван съел почти 12 слив."),
    ("12", "Ответ: Иван съел часть из 12 слив."),
    ("12", "Ответ: Иван не съел 12 слив."),
    ("12", "答案:小红吃了超过12个苹果。"),
    ("12", "答案:不知道小红吃了12个苹果。"),
    ("12", "答案:小红吃了12个或更多苹果。"),
    ("12", "答え: 花子は12個のりんごを食べませんでした。"),
    ("12", "答え: 花子は12個以上のりんごを食べました。"),
    ("12", "Answer: แดงไม่กินแอปเปิ้ล 12 ลูก"),
    ("12", "Answer: แดงกินแอปเปิ้ลเกือบ 12 ลูก"),
    ("12", "Answer: মিনা প্রায় 12টি আপেল খেয়েছে।"),
    ("12", "Answer: Nora alikula karibu matofaa 12."),
    ("12", "Answer: Nora hana matofaa 12."),
    ("12", "Answer: నోరా 12 ఆపిల్స్ తిన్నది."),
    ("12", "Answer: నోరా దాదాపు 12 ఆపిల్స్ తింటుంది."),
    ("12", "Antwort: Nora kauft zwischen 12 Pflaumen."),
    ("12", "Answer: Her son comes nearly 12 times."),
    ("12", "Answer: She gave him some of her 12 plums."),
    ("12", "Answer: Nora pays the price of 12 plums."),
    ("12", "Answer: Nora ate 12 plums too many."),
    ("12", "Respuesta: Nora come algunas de sus 12 ciruelas."),
    ("12", "Antwort: Nora hat einige ihrer 12 Pflaumen."),
    ("12", "Antwort: Man muss das Ergebnis durch 12 teilen."),
    ("12", "Resposta: Nora tem mais de 12 ameixas."),
    ("12", "Risposta: Nora ha quasi 12 prugne."),
    ("12", "Risposta: Nora mangia fino a 12 prugne."),
    ("12", "Đáp án: Nora có ít hơn 12 quả mận."),
    ("12", "Resposta: Nora comeu quase 12 ameixas."),
    ("12", "Resposta: Nora não comeu 12 ameixas."),
    ("12", "답: 노라는 사과를 12개 미만 먹었다."),
    ("12", "Answer: 12 plums do not suffice."),
    ("12", "Answer: 12 thousand guests did not come."),
    ("20", "Answer: Wheels = 5 carts x 4 = 20 hundred"),
    ("5", 'The final answer: """5""" is what Max wrote, but I get 6.'),
    ("5", "The <answer></answer> tags hold 5"),
    ("5", "\\boxed{5以下}"),
    ("5", "\\boxed{5 más}"),
    ("5", "\\boxed{5 से कम}"),
    ("5", "\\boxed{5 أقل}"),
    ("5", "\\boxed{5 శాతం}"),
    ("5", "\\boxed{5 tisíc korun}"),
    ("5", "\\boxed{5多个}"),
    ("42", "Answer: Nora never ate 42 plums."),
    ("42", "Answer: Her son had nearly 42 plums."),
    ("42", "Answer: Nora asked for 42 plums."),
    ("42", "Answer: Nora has a maximum of 42 plums."),
    ("42", "Answer: Nora ate some of the 42 plums."),
    ("42", "Answer: Nora is older than 42."),
    ("42", "Answer: The mean of 42 numbers."),
]


@pytest.mark.parametrize(("reference", "text"), WRONG)
def test_another_number_is_not_paid(reference: str, text: str) -> None:
    assert judge(Accuracy(), {"answer": reference}, text).score == 0.0


def test_a_sentence_that_repeats_the_reference_is_right() -> None:
    reference = {"answer": "Nora ate 42 plums"}
    assert judge(Accuracy(), reference, "Answer: Nora ate 42 plums.").reason == "equal"


def test_a_translation_behind_the_sentence_keeps_its_number() -> None:
    text = "Answer: Nora trinkt am Tag 26 Tassen.\n(Nora drinks 26 cups a day.)"
    assert judge(Accuracy(), {"answer": "26"}, text).reason == "equal"


@pytest.mark.parametrize(
    ("right", "choices", "text"),
    [
        ("C", ["2c", "c", "0.8c", "0.5c"], "Answer: C"),
        ("B", ["2c", "c", "0.8c", "0.5c"], "Answer: c"),
        ("B", ["b", "c", "a", "d"], "<answer>(B)</answer>"),
        ("A", ["b", "c", "a", "d"], "<answer>b</answer>"),
        ("B", ["in", "out"], "The answer to this question is B) out. The sky is blue."),
    ],
)
def test_a_capital_is_the_letter_of_its_option(right: str, choices: list[str], text: str) -> None:
    reference = {"answer": right, "choices": choices}
    assert judge(MultipleChoice(), reference, text).score == 1.0
    others = [letter for letter in "ABCD"[: len(choices)] if letter != right]
    for other in others:
        reference = {"answer": other, "choices": choices}
        assert judge(MultipleChoice(), reference, text).score == 0.0


@pytest.mark.parametrize(
    ("before", "piece"),
    [
        ("Answer: ", "Nora has a 5 with "),
        ("Answer: ", "grew to be a "),
        ("", 'FINAL ANSWER: """'),
        ("Answer: ", "\u4e8c\u4e00a"),
        ("Answer: x = ", "5 + "),
        ("Nora needs $5 to buy ", "3 rakes and "),
        ("", "<answer></answer> tag"),
        ("Answer: Nora buys 5 plums. ", "seven"),
        ("", 'answer: """5""" '),
    ],
)
def test_long_texts_take_linear_time(before: str, piece: str) -> None:
    assert_linear(extract, piece, before=before)


def test_long_counts_take_linear_time() -> None:
    assert_linear(with_plain_words, "\u00e9 ", before="5 ")
