"""`instruction_following`: agreement with published labels, and completions that game a check."""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import httpx
import pytest

from tests.growth import assert_linear
from tests.shared_data import shared_data
from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service.instructions import emoji_ends, english_words, languages
from verifier_service.instructions.constraint import CONSTRAINTS
from verifier_service.instructions.sentences import sentences, word_tokens
from verifier_service.instructions.visible import visible, without_markup
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.instruction_following import InstructionFollowing

DEFAULT, SOURCE = InstructionFollowing(), InstructionFollowing(mode="source")
pytest.importorskip("langdetect")
pytest.importorskip("emoji")
pytest.importorskip("lemminflect")
pytest.importorskip("syllapy")


def row(name: str, **arguments: Any) -> dict[str, Any]:
    return {"instructions": [{"id": name, "kwargs": arguments}]}


def score(verifier: InstructionFollowing, reference: dict[str, Any], text: str) -> float:
    return judge(verifier, reference, text).score


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["source", "default"])
@pytest.mark.parametrize("matching", ["strict", "loose"])
def test_labels_of_ifeval_are_met(mode: Any, matching: Any) -> None:
    """The labels of 1,668 that differ have a letter that is none, which Google's code replaces
    by a random one, a language that langdetect tells by chance, or two sentences of a hundred."""
    verifier = InstructionFollowing(mode=mode, matching=matching)
    differ, number = [], 0
    for one in shared_data("format/ifeval_labelled.jsonl.gz"):
        found = judge(verifier, one, one["response"]).details
        assert found is not None
        for finding, label in zip(found["instructions"], one[matching], strict=True):
            number += 1
            if finding["followed"] != label:
                differ.append(finding["id"])
    assert number == 1668
    assert len(differ) <= 6
    assert set(differ) <= {
        "keywords:letter_frequency",
        "length_constraints:number_sentences",
        "change_case:english_lowercase",
    }


FORBIDDEN = row("keywords:forbidden_words", forbidden_words=["marble"])
HIDING = [
    "<!-- {} -->The floor shines.",
    "The floor <!--\n{}\n--> shines.",
    "The floor shines.\n[//]: # ({})",
    "The floor shines.\n[comment]: <> ({})",
    "The floor shines. <!-- {}",
]
INSIDE = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u2062"]


@pytest.mark.parametrize("hiding", HIDING)
def test_a_hidden_keyword_is_none(hiding: str) -> None:
    text = hiding.format("marble")
    assert score(SOURCE, KEYWORD, text) == 1
    assert score(DEFAULT, KEYWORD, text) == 0
    assert score(DEFAULT, KEYWORD, text + "\n\nIt is marble.") == ("[" in text or "-->" in text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a <style>cat</style> b", "a  b"),
        ("a <SCRIPT type='x'>cat</script > b", "a  b"),
        ("<template>cat</template>b", "b"),
        ("<title>cat</title>b", "b"),
        (r"\phantom{a {cat}}b \hphantom {cat}", "b "),
        ("a \\iffalse cat \\fi b", "a  b"),
        ("a\n<style>cat", "a\n"),
        # What a reader does see: code, and the names of tags in prose.
        ("```html\n<title>cat</title>\n```", None),
        ("Write `<title>cat</title>`.", None),
        ("The <title> tag has the cat.", None),
        (r"\phantom{cat", None),
    ],
)
def test_words_that_no_reader_sees_are_struck(text: str, seen: str | None) -> None:
    assert visible(text) == (text if seen is None else seen)


@pytest.mark.parametrize(
    "text",
    ["<style>", "a <title>", "\\iffalse ", "\\phantom{", "```\n", "`<style>", "<style></style>"],
)
def test_what_no_reader_sees_is_struck_in_linear_time(text: str) -> None:
    assert_linear(visible, text)


@pytest.mark.parametrize("sign", INSIDE)
def test_a_forbidden_word_is_found_whatever_stands_inside(sign: str) -> None:
    text = f"The floor is of mar{sign}ble."
    assert score(SOURCE, FORBIDDEN, text) == 1
    assert score(DEFAULT, FORBIDDEN, text) == 0
    assert score(DEFAULT, FORBIDDEN, "The floor is of sto" + sign + "ne.") == 1


@pytest.mark.parametrize(
    "word",
    [
        "m\u0430rble",
        "marbl\u0435",
        "mar**ble**",
        "m_ar_ble",
        "\uff4d\uff41rble",
        "mar`b`le",
    ],
)
def test_a_forbidden_word_is_found_in_other_letters(word: str) -> None:
    assert score(DEFAULT, FORBIDDEN, f"The floor is of {word}.") == 0


EMPTY_MARKUP = ["<b></b>", "<br>", "&nbsp;", "&#8203;", "<i> </i>", '<span class="a b"></span>']


@pytest.mark.parametrize("markup", EMPTY_MARKUP)
@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("length_constraints:number_words", {"relation": "at least", "num_words": 3}, "One two {}"),
        (
            "length_constraints:number_sentences",
            {"relation": "at least", "num_sentences": 2},
            "It is. {}.",
        ),
        ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "One\n***\n{}"),
        ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* one\n* {}"),
        ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*one* *{}*"),
        ("detectable_format:title", {}, "<<{}>>\none"),
        ("detectable_format:json_format", {}, '{{"a": "{}"}}'),
        ("detectable_content:postscript", {"postscript_marker": "P.S."}, "One.\nP.S. {}"),
        ("combination:two_responses", {}, "One******{}"),
        ("startend:quotation", {}, '"{}"'),
        ("format:thesis", {}, "<i>{}</i> So."),
        ("punctuation:no_comma", {}, "{}"),
    ],
)
def test_markup_that_shows_nothing_is_no_word(
    name: str, arguments: dict[str, Any], text: str, markup: str
) -> None:
    markup = markup.replace('"', "'") if "json" in name else markup
    reference = row(name, **arguments)
    assert score(DEFAULT, reference, text.format(markup * 3)) == 0
    assert score(DEFAULT, reference, text.format(f"<b>word</b>{markup}")) == 1


def test_code_and_titles_keep_their_markup() -> None:
    words = row("length_constraints:number_words", relation="at least", num_words=3)
    assert score(DEFAULT, words, "```html\n<b></b>\n<br>\n```") == 1
    assert score(DEFAULT, row("detectable_format:title"), "<<b>>\none") == 1
    quoted = '{"a": "say &quot;hi&quot; &amp; <b>go</b>"}'
    assert score(DEFAULT, row("detectable_format:json_format"), quoted) == 1
    prompt = "Write <b>this</b> &amp; that"
    repeated = row("combination:repeat_prompt", prompt_to_repeat=prompt)
    assert score(DEFAULT, repeated, prompt + " So.") == 1


@pytest.mark.parametrize("piece", ["<b", "<b>", "&#1", "`", "<b ", "<<", "```\n", "&nbsp;"])
def test_markup_is_left_out_in_linear_time(piece: str) -> None:
    assert_linear(without_markup, piece, after="<b>")


@pytest.mark.parametrize("sign", INSIDE)
def test_signs_that_show_nothing_count_as_nothing(sign: str) -> None:
    """Thirty invisible words, sentences, bullets or placeholders are none."""
    assert (
        score(
            DEFAULT,
            row("length_constraints:number_words", num_words=5, relation="at least"),
            f"a{sign} " + f"{sign} " * 9,
        )
        == 0
    )
    assert (
        score(
            DEFAULT, row("detectable_format:number_bullet_lists", num_bullets=3), f"* {sign}\n" * 3
        )
        == 0
    )
    assert (
        score(
            DEFAULT,
            row("detectable_content:number_placeholders", num_placeholders=3),
            f"[{sign}] " * 3,
        )
        == 0
    )


KEYWORD = row("keywords:existence", keywords=["marble"])
TWINS: list[tuple[dict[str, Any], str, str]] = [
    (row("detectable_format:number_bullet_lists", num_bullets=3), "* \n* \n* ", "* a\n* b\n* c"),
    (row("detectable_format:number_bullet_lists", num_bullets=3), "-\n-\n-", "- a\n- b\n- c"),
    (row("detectable_format:number_bullet_lists", num_bullets=2), "* .\n* .", "* yes\n* no"),
    (
        row("detectable_content:number_placeholders", num_placeholders=3),
        "[ ][ ][ ]",
        "[name] [city] [day]",
    ),
    (row("detectable_content:number_placeholders", num_placeholders=2), "[-][-]", "[a][b]"),
    (
        row("detectable_format:number_highlighted_sections", num_highlights=3),
        "*.* *-* *!*",
        "*a* *b* *c*",
    ),
    (row("detectable_format:number_highlighted_sections", num_highlights=1), "**...**", "**a**"),
    (
        row("detectable_format:multiple_sections", section_spliter="Section", num_sections=3),
        "Section 1 Section 2 Section 3",
        "Section 1\na\nSection 2\nb\nSection 3\nc",
    ),
    (row("detectable_format:title"), "<<.>>", "<<Joy>>"),
    (row("detectable_format:title"), "<<- ->>", "<<An ode>>"),
    (row("detectable_format:json_format"), '"all of it as one text"', '{"a": 1}'),
    (row("detectable_format:json_format"), "1", "[1]"),
    (row("detectable_format:json_format"), "null", '```json\n{"a": 1}\n```'),
    (
        row("detectable_format:constrained_response"),
        "My answer is yes. My answer is no. My answer is maybe.",
        "My answer is no.",
    ),
    (row("combination:two_responses"), "a ****** A.", "a ****** b"),
    (row("combination:two_responses"), ". ****** !", "Yes. ****** No."),
    (row("combination:two_responses"), "So be it\n******\n*So be it*", "One\n******\nTwo"),
    (row("detectable_content:postscript", postscript_marker="P.S."), "Hi.\nP.S.", "Hi.\nP.S. Bye."),
    (
        row("detectable_content:postscript", postscript_marker="P.P.S"),
        "Hi.\nP.P.S.",
        "Hi.\nP.P.S. Bye.",
    ),
    (row("startend:quotation"), '""', '"a"'),
    (row("startend:quotation"), '"..."', '"One word."'),
    (row("language:response_language", language="de"), "12345 67890", "Das ist ein Haus am See."),
    (row("language:response_language", language="hi"), "...", "यह एक सुंदर घर है।"),
    (row("punctuation:no_comma"), "red\uff0c green", "red and green"),
    (row("punctuation:no_comma"), "red\u060c green", "red; green"),
    (row("punctuation:no_comma"), "red\u3001 green", "red - green"),
    (row("punctuation:no_comma"), "red\u201a green", "red. green"),
    (row("punctuation:punctuation_dot"), "One\u3002 Two\u2024", "One! Two"),
    (row("punctuation:punctuation_dot"), "wait\u2026", "wait"),
    (row("punctuation:punctuation_exclamation"), "Go\uff01", "Go."),
    (row("punctuation:punctuation_exclamation"), "Go\u203c", "Go?"),
    (
        row("length_constraints:number_paragraphs", num_paragraphs=3),
        "a *** . *** b",
        "a *** c *** b",
    ),
    (row("paragraphs:paragraphs2"), "Text.\n\n-", "Text.\n\nMore."),
    (row("keywords:palindrome"), "This is a text", "He said level twice"),
    (row("keywords:palindrome"), "This - is one", "So level it is"),
    (row("keywords:exclude_word_harder", keyword="sun"), "The sun. It is (sun)", "The sunny day"),
    (row("keywords:start_end"), '"It is so"', "so it is so"),
    (row("count:count_unique"), "Word word", "Every word differs."),
    (row("count:conjunctions", small_n=3), "and and, and. and!", "and but so"),
    (row("count:unique_word_count", N=3), "- + = a", "one two three"),
    (
        row("words:palindrome"),
        "level " * 10,
        "level radar civic kayak refer rotor madam tenet sagas solos",
    ),
    (row("ratio:sentence_type"), "no end", "One. Two. Three?"),
    (row("ratio:sentence_balance"), "no end", "One. Two? Three!"),
    (row("ratio:sentence_words"), "It is. It is. It is.", "Red fox. Big dog. Sly cat."),
    (row("words:last_first"), "Only one sentence.", "I like tea. Tea is hot."),
    (row("sentence:increment", small_n=1), "Only one sentence.", "Go on. Go on now."),
    (row("format:line_indent"), "one line", "one\n two\n  three"),
    (row("format:sub-bullets"), "no bullets", "* a\n - b"),
    (row("format:quote_unquote"), "no quotes", 'He said "yes" and agreed'),
    (
        row("format:output_template"),
        "My Conclusion: My Answer: Future Outlook:",
        "My Answer: a\nMy Conclusion: b\nFuture Outlook: c",
    ),
    (row("detectable_format:bigram_wrapping"), "word", "<<I am>> <<at home>>"),
    (KEYWORD, '<p style="display: none">marble</p>Stone', "<p>marble</p>"),
    (KEYWORD, "<b hidden>marble</b>Stone", "<b>marble</b>"),
    (KEYWORD, '<i style="visibility:hidden">marble', "<i>marble"),
    (KEYWORD, "<!DOCTYPE marble> Stone", "A marble"),
    (KEYWORD, "Stone [](marble)", "Stone [marble](here)"),
    (FORBIDDEN, "Of mar<b></b>ble", "Of <b>stone</b>"),
    (FORBIDDEN, "Of &#109;arble", "Of &#115;tone"),
    (FORBIDDEN, "Of mar-\nble", "Of sto-\nne"),
    (row("words:prime_lengths"), "...", "two cat"),
    (row("words:repeats", small_n=1), "...", "one two"),
    (row("words:alphabet"), "a", "a big cat"),
    (row("words:no_consecutive"), "x", "one cat"),
    (row("words:vowel"), "...", "a cat"),
    (row("words:paragraph_last_first"), "x", "so it is so"),
    (row("words:paragraph_last_first"), "- -", "it was it"),
    (row("sentence:alliteration_increment"), "x", "One cat. Big bad cat."),
    (row("format:newline"), "...", "one\ntwo"),
    (row("format:list", sep="-"), "---", "one - two - three"),
    (row("format:parentheses"), "((((()))))", "(a [b {c (d [e])}])"),
    (row("format:thesis"), "<i>.</i>.", "<i>It is.</i> So."),
    (row("ratio:stop_words", percentage=10), "...", "cats sleep"),
    (row("count:words_japanese", N=2), "a", "a \u732b"),
    (row("keywords:no_adjacent_consecutive"), "x", "one cat"),
    (row("detectable_format:square_brackets"), "[] []", "[a] [cat]"),
    (row("detectable_format:sentence_hyphens"), "-", "One cat.-Two dogs."),
    (row("words:start_verb"), "Design: a new garden", "Design a new garden"),
    (row("words:start_verb"), "Love is patient", "Loving it is easy"),
    (row("words:start_verb"), "Zqxj the garden", "Went to the garden"),
    (row("words:odd_even_syllables"), "7 cat 7 dog", "happy cat sitting down"),
    (row("words:odd_even_syllables"), "one", "seven cats"),
    (row("words:odd_even_syllables"), "cat dog", "cat sitting dog"),
    (row("custom:date_format_list"), "1800-00-00", "1805-12-02, 1815-06-18"),
    (
        row("custom:csv_city"),
        "ID,Country,City,Year,Count\n" + ",,,,\n" * 7,
        "ID,Country,City,Year,Count\n" + "1,France,Paris,2000,5\n" * 7,
    ),
    (KEYWORD, "![marble](x.png)", "![x](x.png) marble"),
    (KEYWORD, "The [floor](marble.html).", "The [marble](floor.html)."),
    (KEYWORD, "The floor.\n\n[1]: https://marble.org", "The marble.\n\n[1]: https://x.org"),
    (KEYWORD, "<img alt='marble'> It shines.", "<b>marble</b> shines."),
    (KEYWORD, '<a title="marble">It</a> shines.', "If a < b, marble shines."),
    (row("detectable_format:json_format"), "{}", '{"a": 1}'),
    (row("detectable_format:json_format"), "```json\n[[], {}]\n```", "```json\n[[0]]\n```"),
    (row("detectable_format:json_format"), '{"answer": " "}', '{"answer": false}'),
    (row("detectable_format:number_bullet_lists", num_bullets=2), "---\n---", "- a\n- b"),
    (row("detectable_format:number_bullet_lists", num_bullets=2), "- ...\n- ...", "* 1\n* 2"),
    (row("punctuation:no_comma"), "one&#44; two", "one &amp; two"),
    (row("punctuation:no_comma"), "one&comma; two", "one. two"),
    (row("punctuation:no_comma"), "one\u2e41 two", "one; two"),
    (row("punctuation:no_comma"), "...", "so"),
    (row("punctuation:no_comma"), "\u3164 \u3164", "so"),
    (row("punctuation:punctuation_dot"), "!!!", "So!"),
    (FORBIDDEN, "...", "Stone."),
    (row("keywords:exclude_word_harder", keyword="sun"), "---", "The moon"),
    (row("keywords:frequency", keyword="x", frequency=5, relation="less than"), "?", "x and x"),
    (row("length_constraints:number_words", num_words=3, relation="less than"), "...", "So it"),
    (
        row("length_constraints:number_words", num_words=3, relation="at least"),
        "\u3164 \u115f \uffa0 one",
        "one two three",
    ),
    (row("length_constraints:number_sentences", num_sentences=2, relation="less than"), "!", "So."),
    (
        row(
            "change_case:capital_word_frequency", capital_frequency=3, capital_relation="less than"
        ),
        "...",
        "NASA and ESA",
    ),
    (row("letters:letter_counting", N=3, relation="less than"), "...", "so"),
    (row("count:lowercase_counting", N=5), "...", "It is so"),
    (row("count:numbers", N=0), "...", "none"),
    (row("format:no_whitespace"), "...", "so"),
    (row("format:title_case"), "...", "So It Is"),
    (row("detectable_format:json_format"), '{"a": NaN}', '{"a": null, "b": 1}'),
    (row("detectable_format:json_format"), '{"a": 1, "a": 2}', '{"a": 1, "b": 2}'),
    (KEYWORD, "<span style='opacity:0'>marble</span>Stone", "<b style='opacity:0.5'>marble</b>"),
    (KEYWORD, '<b style="font-size: 0px">marble</b>Stone', '<b style="font-size:0.9em">marble</b>'),
]


@pytest.mark.parametrize(("reference", "gaming", "honest"), TWINS)
def test_a_check_is_met_by_its_words_alone(
    reference: dict[str, Any], gaming: str, honest: str
) -> None:
    assert score(DEFAULT, reference, honest) == 1
    assert score(DEFAULT, reference, gaming) == 0
    assert score(SOURCE, reference, honest) == 1


@pytest.mark.parametrize("text", ["...", "???\n\n***", "\u3164\u3164", "\U0001f600"])
@pytest.mark.parametrize(
    "reference", [row("copy:copy", prompt_to_repeat="{}"), row("punctuation:no_comma")]
)
def test_signs_are_a_response_where_they_are_to_be_copied(
    reference: dict[str, Any], text: str
) -> None:
    (asked,) = reference["instructions"]
    arguments = {key: value.format(text) for key, value in asked["kwargs"].items()}
    is_seen = text != "\u3164\u3164"
    expected = float(asked["id"] == "copy:copy" and is_seen)
    assert score(DEFAULT, row(asked["id"], **arguments), text) == expected


def test_lines_may_end_as_on_windows() -> None:
    reference = row(
        "length_constraints:nth_paragraph_first_word",
        num_paragraphs=2,
        nth_paragraph=2,
        first_word="bye",
    )
    assert score(DEFAULT, reference, "Hi.\r\n\r\nBye.") == 1
    assert score(DEFAULT, reference, "Hi.\r\nBye.") == 0


def test_what_the_source_takes_is_one_option_away() -> None:
    """More than half of the gaming completions have the full score by the source's own rules."""
    taken = [score(SOURCE, reference, gaming) for reference, gaming, _ in TWINS]
    assert sum(taken) > len(TWINS) / 2


@pytest.mark.parametrize(
    "reference",
    [
        {"instructions": [{"id": "punctuation:no_comma"}]},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": '[{"num_words": null}]'},
        {"instruction_id_list": '["punctuation:no_comma"]', "kwargs": [None]},
        {"ground_truth": "[{'instruction_id': ['punctuation:no_comma'], 'kwargs': [None]}]"},
        {"ground_truth": '["{\\"instruction_id\\": [\\"punctuation:no_comma\\"]}"]'},
        {"answer": [{"instruction_id": ["punctuation:no_comma"], "kwargs": [None]}]},
    ],
)
def test_rows_are_read_as_their_data_sets_ship_them(reference: dict[str, Any]) -> None:
    assert score(DEFAULT, reference, "none") == 1
    assert score(DEFAULT, reference, "one, two") == 0


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({}, "reference.instructions is needed"),
        (row("keywords:nothing"), "there is no constraint 'keywords:nothing'"),
        (row("punctuation:no_commas"), "did you mean 'punctuation:no_comma'?"),
        (row("words:start_verbs"), "did you mean 'words:start_verb'?"),
        (row("keywords:existence"), "keywords:existence: keywords is missing"),
        (row("keywords:existence", keywords=[]), "expected a list of 1 to"),
        (row("keywords:existence", keywords=[1]), "expected a text"),
        (
            row("length_constraints:number_words", num_words=3, relation="at most"),
            "expected one of",
        ),
        (row("length_constraints:number_words", num_words=-1, relation="at least"), "whole number"),
        (
            row("length_constraints:number_words", num_words=1.5, relation="at least"),
            "whole number",
        ),
        (
            row("length_constraints:number_words", num_words=float("inf"), relation="at least"),
            "whole number",
        ),
        (
            {
                "ground_truth": '[{"instruction_id": ["count:numbers"], "kwargs": [{"N": NaN}]}]',
            },
            "N: expected a whole number",
        ),
        (
            row("length_constraints:number_words", num_words=0, relation="less than"),
            "no count is less than 0",
        ),
        ({"instructions": []}, "expected a list of 1 to 64 constraints"),
        ({"instructions": "__import__('os')"}, "a text that is no JSON"),
        (
            {"instruction_id_list": ["punctuation:no_comma"], "kwargs": []},
            "expected a list of 1 to 64",
        ),
        ({"ground_truth": "plain words"}, "a text that is no JSON"),
    ],
)
def test_a_wrong_reference_is_named(reference: dict[str, Any], message: str) -> None:
    with pytest.raises(Unverifiable, match=r"^reference") as error:
        judge(DEFAULT, reference, "text")
    assert message in error.value.message


def test_each_constraint_has_a_finding() -> None:
    reference = {
        "instruction_id_list": ["punctuation:no_comma", "keywords:existence"],
        "kwargs": [{}, {"keywords": ["a", "zebra"]}],
    }
    found = judge(DEFAULT, reference, "a text")
    assert (found.score, found.reason.value) == (0.5, "partly_followed")
    assert found.details == {
        "instructions": [
            {"id": "punctuation:no_comma", "followed": True, "found": "none"},
            {"id": "keywords:existence", "followed": False, "found": "without ['zebra']"},
        ]
    }
    every = InstructionFollowing(scoring="all")
    assert judge(every, reference, "a text").score == 0
    assert judge(every, reference, "a zebra").score == 1


def test_loose_leaves_out_lines_and_asterisks() -> None:
    reference = row("startend:end_checker", end_phrase="The end.")
    text = "Sure!\nOnce. *The end.*\nAnything else?"
    assert score(DEFAULT, reference, text) == 0
    assert score(InstructionFollowing(matching="loose"), reference, text) == 1


def test_the_reasoning_is_no_part_of_the_response() -> None:
    reference = row("punctuation:no_comma")
    assert score(DEFAULT, reference, "<think>one, two</think> none") == 1
    assert judge(DEFAULT, reference, "<think>one").reason.value == "no_answer"


@pytest.mark.parametrize("text", ["", " ", "<!-- all -->", "\u200b\u200b"])
def test_an_empty_response_follows_nothing(text: str) -> None:
    assert judge(DEFAULT, row("punctuation:no_comma"), text).reason.value == "no_answer"


TEXTS = (".", "a", "\n\n\n", "***", "[" * 999, "\x00", "\U0001f600", "- " * 99)


@pytest.mark.parametrize("name", sorted(CONSTRAINTS))
def test_no_text_breaks_a_check(name: str) -> None:
    arguments = dict.fromkeys(("N", "n", "m", "small_n", "percentage", "num_words", "n_start"), 1)
    arguments |= dict.fromkeys(("n_end", "n_sent", "n_words", "min_words", "frequency"), 2)
    arguments |= dict.fromkeys(
        (
            "num_sentences",
            "num_paragraphs",
            "nth_paragraph",
            "num_placeholders",
            "num_bullets",
            "num_highlights",
            "num_sections",
            "let_frequency",
            "capital_frequency",
            "max_words",
        ),
        2,
    )
    texts = (
        "keyword",
        "keyword1",
        "keyword2",
        "keyword3",
        "keyword4",
        "keyword5",
        "word",
        "letter",
        "first_word",
        "last_word",
        "phrase",
        "prompt_to_repeat",
        "end_phrase",
        "language",
        "section_spliter",
        "postscript_marker",
        "reference_text",
        "options",
        "sep",
    )
    whole: dict[str, Any] = {**arguments, **dict.fromkeys(texts, "a (b"), "keywords": ["a"]}
    whole |= {"forbidden_words": ["+"], "relation": "at least", "let_relation": "less than"}
    whole |= {"capital_relation": "at least"}
    for verifier, text in product((DEFAULT, SOURCE), TEXTS):
        assert 0 <= judge(verifier, row(name, **whole), f"{text}b").score <= 1


LONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "", "["),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "", " "),
    ("detectable_content:postscript", {"postscript_marker": "Note"}, "", "\n"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "", "\n"),
    ("detectable_format:title", {}, "", "<"),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "", "* "),
    ("copy:repeat_phrase", {"phrase": "a quick fox", "small_n": 1}, "", "a b "),
    ("format:thesis", {}, "", "<i>"),
    ("custom:mcq_count_length", {}, "Question 1. ", "\n"),
    ("custom:csv_special_character", {}, "ProductID,Category,Brand,Price,Stock\n" * 14 + '"', "!"),
    ("length_constraints:number_sentences", {"num_sentences": 1, "relation": "at least"}, "", "."),
    ("count:count_unique", {}, "Mr.", " "),
    ("keywords:existence", {"keywords": ["cat"]}, "", "\u043a"),
    ("words:start_verb", {}, "", "a"),
    ("keywords:existence", {"keywords": ["cat"]}, "", "<b hidden>"),
    ("keywords:existence", {"keywords": ["cat"]}, "", "<b hidden></b>"),
    ("keywords:existence", {"keywords": ["cat"]}, "<b", " display:"),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "", "[]("),
    ("words:odd_even_syllables", {}, "", "cat happy "),
    ("words:odd_even_syllables", {}, "cat ", "a-"),
]


@pytest.mark.parametrize(("name", "arguments", "before", "piece"), LONG)
def test_time_grows_with_the_length_and_no_faster(
    name: str, arguments: dict[str, Any], before: str, piece: str
) -> None:
    reference = row(name, **arguments)
    assert_linear(lambda text: judge(DEFAULT, reference, text), piece, before=before, after="x")


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[[a] [b\nc] [d] ["),
        ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Done.\n\n  p. s. Bye"),
        ("detectable_content:postscript", {"postscript_marker": "Note"}, "Done.\nNOTE: bye"),
        ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "So:\n\n \n * a\n\n- b\n"),
        ("detectable_format:title", {}, "<< <<a song>> <<"),
        ("copy:repeat_phrase", {"phrase": "a quick fox", "small_n": 2}, "a red fox, a big fox. a"),
        ("format:thesis", {}, "<em>\nIt is so.</i> For it is. <i>"),
    ],
)
def test_a_mark_may_stand_within_others(name: str, arguments: dict[str, Any], text: str) -> None:
    assert score(DEFAULT, row(name, **arguments), text) == 1
    assert score(SOURCE, row(name, **arguments), text) == 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Mr. Smith met Dr. Who. They left.", 2),
        ("It cost 3.50 dollars. Really?! Yes.", 3),
        ("See e.g. the table. Then go.", 2),
        ("Wait... what? No.", 2),
        ('He said "no." Then left.', 2),
        ("1. One thing. 2. Two things.", 4),  # as Punkt counts them
        ("J. R. R. Tolkien wrote. I read.", 2),
    ],
)
def test_sentences_end_where_readers_end_them(text: str, number: int) -> None:
    assert len(sentences(text)) == number


def test_words_are_split_as_treebank_does() -> None:
    assert word_tokens('I cannot say "it\'s (so)".') == [
        "I", "can", "not", "say", "``", "it", "'s", "(", "so", ")", "''", ".",
    ]  # fmt: skip


def test_workers_judge_what_needs_a_package(http: httpx.Client) -> None:
    verifier = {"type": "instruction_following"}
    found = verdicts(
        http,
        verifier,
        "Das ist ein Haus am See.",
        "This is a house at the lake.",
        instructions=[{"id": "language:response_language", "kwargs": {"language": "de"}}],
    )
    assert [one["score"] for one in found] == [1, 0]
    found = verdicts(http, verifier, "Hi \U0001f600", "Hi", instructions=[{"id": "format:emoji"}])
    assert [one["score"] for one in found] == [1, 0]
    words = [{"id": "words:start_verb"}, {"id": "words:odd_even_syllables"}]
    found = verdicts(http, verifier, "See happy cats", "The cat", instructions=words)
    assert [one["score"] for one in found] == [1, 0]


MISSING: list[tuple[str, list[Any], str]] = [
    (
        "langdetect",
        [languages._detector_factory, languages._detector_class],
        "change_case:english_lowercase",
    ),
    ("emoji", [emoji_ends._emoji], "format:emoji"),
    ("lemminflect", [english_words._lemmas], "words:start_verb"),
    ("syllapy", [english_words._syllable_counter], "words:odd_even_syllables"),
]


@pytest.mark.parametrize(("package", "loaders", "name"), MISSING)
def test_a_missing_package_is_named(
    package: str, loaders: list[Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = {module for module in sys.modules if module.startswith(f"{package}.")} | {package}
    for module in hidden:
        monkeypatch.setitem(sys.modules, module, None)
    for loader in loaders:
        loader.cache_clear()
    with pytest.raises(Unverifiable) as error:
        judge(DEFAULT, row(name), "two texts")
    assert error.value.reason.value == "missing_package"
    assert "reward-verifier[instructions]" in error.value.message


@pytest.mark.parametrize(
    "text",
    [
        "The cat sat on the mat, and it was glad.",
        "Der Hund läuft über die Straße.",
        "Привет, как дела?",
        "これは文です。",
        "ok",
        "taxi radio hotel",
        "Name: Ada\nCity: Paris, ville de lumière, y también Madrid",
    ],
)
def test_a_language_has_the_probability_of_langdetect(text: str) -> None:
    from langdetect.detector import Detector  # noqa: PLC0415  an extra

    factory = languages._detector_factory()
    found = []
    for detector in (Detector(factory), languages._detector_class()(factory)):
        detector.append(text)
        found.append({one.lang: float(one.prob) for one in detector.get_probabilities()})
    assert found[0] == pytest.approx(found[1], rel=1e-12)
