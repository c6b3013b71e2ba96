"""The 25 constraints of IFEval (arXiv 2311.07911), with the semantics of Google's checks.

Where a response is `closed`, it must also have what the constraint's words ask for: bullets with
text in them, two responses that differ in words, a language that can be told.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

from verifier_service import strict_json
from verifier_service.instructions.constraint import (
    CountRelation,
    Finding,
    Response,
    compared,
    constraint,
)
from verifier_service.instructions.languages import language_of
from verifier_service.instructions.sentences import count_words
from verifier_service.instructions.spans import spans
from verifier_service.instructions.visible import joined, latin

CHOICES = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
# Commas of other scripts, and signs that look like one.
_COMMAS = re.compile(
    "[,\uff0c\u060c\u3001\u201a\ufe50\u055d\uff64\u1802\u2e32\u2e34\u2e41\u2e4c\ua4fe]"
)
_WORD = re.compile(r"\w")
# Marks of emphasis inside a word: the asterisks of `for*bid*den`.
_EMPHASIS_IN_WORD = re.compile(r"(?<=[^\W_])[*_`~]+(?=[^\W_])")


def _has_word(text: str) -> bool:
    return _WORD.search(text) is not None


@constraint("keywords:existence")
def existence(response: Response, *, keywords: list[str]) -> Finding:
    """Each keyword is in the response."""
    text = response.read
    lacking = [one for one in keywords if one.strip().lower() not in text]
    return Finding(not lacking, f"without {lacking[:5]}" if lacking else "all keywords")


@constraint("keywords:frequency")
def frequency(
    response: Response, *, keyword: str, frequency: int, relation: CountRelation
) -> Finding:
    """The keyword is there so many times."""
    number = response.read.count(keyword.strip().lower())
    return compared(number, relation, frequency, "times")


@constraint("keywords:forbidden_words")
def forbidden_words(response: Response, *, forbidden_words: list[str]) -> Finding:
    """None of the words is in the response."""
    text = response.text
    if response.closed:
        # Other letters, emphasis, tags and entities would hide a word from the check alone.
        text = f"{text}\n{_EMPHASIS_IN_WORD.sub('', latin(joined(text)))}"
    found = [
        one
        for one in forbidden_words
        if re.search(rf"\b{re.escape(one.strip())}\b", text, re.IGNORECASE)
    ]
    return Finding(not found, f"has {found[:5]}" if found else "none of them")


@constraint("keywords:letter_frequency", "letters:letter_counting2")
def letter_frequency(
    response: Response, *, letter: str, let_frequency: int, let_relation: CountRelation
) -> Finding:
    """The letter is there so many times."""
    number = response.lower.count(letter.strip().lower()[:1])
    return compared(number, let_relation, let_frequency, "times")


@constraint("language:response_language")
def response_language(response: Response, *, language: str) -> Finding:
    """The response is in the language."""
    found = language_of(response.text)
    if found is None:
        return Finding(not response.closed, "no language")
    return Finding(found == language.strip(), found)


@constraint("length_constraints:number_sentences")
def number_sentences(response: Response, *, num_sentences: int, relation: CountRelation) -> Finding:
    """The response has so many sentences."""
    return compared(len(response.sentences), relation, num_sentences, "sentences")


@constraint("length_constraints:number_words")
def number_words(response: Response, *, num_words: int, relation: CountRelation) -> Finding:
    """The response has so many words."""
    return compared(count_words(response.text), relation, num_words, "words")


@constraint("length_constraints:number_paragraphs")
def number_paragraphs(response: Response, *, num_paragraphs: int) -> Finding:
    """The response has so many paragraphs between lines of ***."""
    return paragraphs_between(response, r"\s?\*\*\*\s?", num_paragraphs)


def paragraphs_between(response: Response, divider: str, wanted: int) -> Finding:
    """The response has so many paragraphs; only the first and the last may be empty."""
    paragraphs = re.split(divider, response.text)
    number = len(paragraphs)
    for index, paragraph in enumerate(paragraphs):
        if not paragraph.strip():
            if index not in (0, len(paragraphs) - 1):
                return Finding(False, "an empty paragraph")
            number -= 1
        elif response.closed and not _has_word(paragraph):
            return Finding(False, "a paragraph without a word")
    return Finding(number == wanted, f"{number} paragraphs")


@constraint("length_constraints:nth_paragraph_first_word")
def nth_paragraph_first_word(
    response: Response, *, num_paragraphs: int, nth_paragraph: int, first_word: str
) -> Finding:
    """The response has so many paragraphs, and one of them begins with a word."""
    paragraphs = response.text.split("\n\n")
    number = sum(1 for one in paragraphs if one.strip())
    if not 1 <= nth_paragraph <= number or not paragraphs[nth_paragraph - 1].strip():
        return Finding(False, f"{number} paragraphs")
    start = paragraphs[nth_paragraph - 1].split()[0].lstrip("'").lstrip('"')
    word = re.split(r"[.,?!'\"]", start)[0].lower()
    is_followed = number == num_paragraphs and word == first_word.strip().lower()
    return Finding(is_followed, f"{number} paragraphs, {word[:40]!r}")


@constraint("detectable_content:number_placeholders")
def number_placeholders(response: Response, *, num_placeholders: int) -> Finding:
    """The response has at least so many placeholders such as [address]."""
    found = spans(r"\[.*?\]", "]", response.text)
    if response.closed:
        found = [one for one in found if _has_word(one)]
    return compared(len(found), "at least", num_placeholders, "placeholders")


@constraint("detectable_content:postscript")
def postscript(response: Response, *, postscript_marker: str) -> Finding:
    """The response has a postscript that begins with the marker."""
    marker = postscript_marker.strip()
    pattern = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(marker)
    pattern = pattern or re.escape(marker.lower())
    found = re.search(pattern, response.lower)
    if found is None:
        return Finding(False, "no postscript")
    if response.closed and not _has_word(response.lower[found.end() :]):
        return Finding(False, "an empty postscript")
    return Finding(True, "a postscript")


@constraint("detectable_format:number_bullet_lists")
def number_bullet_lists(response: Response, *, num_bullets: int) -> Finding:
    """The response has exactly so many bullets."""
    lines = re.findall(r"^[^\S\n]*+(?:\*[^*].*$|-.*$)", response.text, re.MULTILINE)
    number = len(lines)
    if response.closed and any(re.fullmatch(r"\s*[*-]\W*", line) for line in lines):
        return Finding(False, "an empty bullet")
    return Finding(number == num_bullets, f"{number} bullets")


@constraint("detectable_format:constrained_response")
def constrained_response(response: Response) -> Finding:
    """The response has one of three answers."""
    found = [one for one in CHOICES if one in response.text]
    is_followed = len(found) == 1 if response.closed else bool(found)
    return Finding(is_followed, f"{found}" if found else "none of the options")


@constraint("detectable_format:number_highlighted_sections")
def number_highlighted_sections(response: Response, *, num_highlights: int) -> Finding:
    """The response has at least so many parts between asterisks."""
    single = re.findall(r"\*[^\n*]*\*", response.text)
    double = re.findall(r"\*\*[^\n*]*\*\*", response.text)
    found = [one for one in single + double if one.strip("*").strip()]
    if response.closed:
        found = [one for one in found if _has_word(one)]
    return compared(len(found), "at least", num_highlights, "highlights")


@constraint("detectable_format:multiple_sections")
def multiple_sections(response: Response, *, section_spliter: str, num_sections: int) -> Finding:
    """The response has at least so many sections such as `Section 1`."""
    splitter = re.escape(section_spliter.strip())
    sections = re.split(rf"\s?{splitter}\s?\d+\s?", response.text)[1:]
    if response.closed:
        sections = [one for one in sections if _has_word(one)]
    return compared(len(sections), "at least", num_sections, "sections")


@constraint("detectable_format:json_format")
def json_format(response: Response) -> Finding:
    """The response is JSON, which may stand in a fence."""
    text = response.text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    text = text.removesuffix("```").strip()
    try:
        found = strict_json.loads(text) if response.closed else json.loads(text)
    except (ValueError, RecursionError):
        return Finding(False, "no JSON")
    if response.closed and not (isinstance(found, dict | list) and _holds_something(found)):
        return Finding(False, "JSON that wraps nothing")
    return Finding(True, "JSON")


def _holds_something(value: Any) -> bool:
    """Whether a value of JSON has anything but empty texts, lists and objects."""
    left = [value]  # and no recursion: a text may nest values as deep as the parser goes
    while left:
        one = left.pop()
        if isinstance(one, dict | list):
            left += one.values() if isinstance(one, dict) else one
        elif one is not None and not (isinstance(one, str) and not one.strip()):
            return True
    return False


@constraint("detectable_format:title")
def title(response: Response) -> Finding:
    """The response has a title such as <<poem of joy>>."""
    titles = spans(r"<<.+>>", ">>", response.text)
    found = [one.lstrip("<").rstrip(">") for one in titles]
    has = any(_has_word(one) if response.closed else one.strip() for one in found)
    return Finding(has, "a title" if has else "no title")


@constraint("combination:two_responses")
def two_responses(response: Response) -> Finding:
    """The response has two different parts between six asterisks."""
    parts = response.text.split("******")
    if any(not part.strip() for part in parts[1:-1]):
        return Finding(False, "an empty response")
    given = [part.strip() for part in parts if part.strip()]
    if len(given) != 2:
        return Finding(False, f"{len(given)} responses")
    if response.closed:
        given = [" ".join(re.findall(r"\w+", part.lower())) for part in given]
    is_followed = given[0] != given[1] and (not response.closed or all(given))
    return Finding(is_followed, "two responses" if is_followed else "the same response twice")


@constraint("combination:repeat_prompt", fewest_words=0)
def repeat_prompt(response: Response, *, prompt_to_repeat: str) -> Finding:
    """The response begins with the prompt, which some prompts want alone."""
    is_followed = response.lower.strip().startswith(prompt_to_repeat.strip().lower())
    return Finding(is_followed, "the prompt" if is_followed else "another beginning")


@constraint("startend:end_checker")
def end_checker(response: Response, *, end_phrase: str) -> Finding:
    """The response ends with a phrase."""
    text = response.text.strip().strip('"').lower()
    is_followed = text.endswith(end_phrase.strip().lower())
    return Finding(is_followed, "the phrase" if is_followed else "another end")


@constraint("startend:quotation")
def quotation(response: Response) -> Finding:
    """The response stands in double quotes."""
    text = response.text.strip()
    is_followed = len(text) > 1 and text[0] == text[-1] == '"'
    if response.closed and not _has_word(text):
        return Finding(False, "no words")
    return Finding(is_followed, "in quotes" if is_followed else "not in quotes")


@constraint("change_case:capital_word_frequency")
def capital_word_frequency(
    response: Response, *, capital_frequency: int, capital_relation: CountRelation
) -> Finding:
    """The response has so many words in capital letters."""
    number = sum(1 for word in response.tokens if word.isupper())
    return compared(number, capital_relation, capital_frequency, "words in capitals")


@constraint("change_case:english_capital")
def english_capital(response: Response) -> Finding:
    """The response is English in capital letters."""
    return _english(response, response.text.isupper(), "not in capitals")


@constraint("change_case:english_lowercase")
def english_lowercase(response: Response) -> Finding:
    """The response is English in small letters."""
    return _english(response, response.text.islower(), "not in small letters")


def _english(response: Response, is_case: bool, otherwise: str) -> Finding:
    if not is_case:
        return Finding(False, otherwise)
    found = language_of(response.text)
    if found is None:
        return Finding(not response.closed, "no language")
    return Finding(found == "en", found)


@constraint("punctuation:no_comma")
def no_comma(response: Response) -> Finding:
    """The response has no comma."""
    text = html.unescape(response.text) if response.closed else response.text
    found = _COMMAS.search(text) if response.closed else "," in text
    return Finding(not found, "a comma" if found else "none")
