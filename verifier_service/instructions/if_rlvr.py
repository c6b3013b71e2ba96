"""The constraints that IF-RLVR (Tulu 3, open-instruct's IFEvalG) adds to those of IFEval."""

from __future__ import annotations

import re
from itertools import pairwise

from verifier_service.instructions.constraint import (
    CountRelation,
    Finding,
    Response,
    compared,
    constraint,
)
from verifier_service.instructions.ifeval import paragraphs_between
from verifier_service.instructions.spans import spans


def _is(followed: bool, found: str = "") -> Finding:
    return Finding(followed, found or ("as asked" if followed else "not as asked"))


@constraint("copy:copy", "copy:copying_simple", fewest_words=0)
def copy(response: Response, *, prompt_to_repeat: str) -> Finding:
    """The response is the prompt."""
    return _is(response.lower.strip() == prompt_to_repeat.strip().lower())


@constraint("copy:copying_multiple", fewest_words=0)
def copying_multiple(response: Response, *, prompt_to_repeat: str, N: int) -> Finding:
    """The response is the prompt N times, between six asterisks."""
    parts = [part.strip() for part in response.lower.split("******")]
    wanted = prompt_to_repeat.strip().lower()
    return _is(len(parts) == N and all(part == wanted for part in parts), f"{len(parts)} parts")


@constraint("new:copy_span_idx", fewest_words=0)
def copy_span_idx(
    response: Response, *, prompt_to_repeat: str, n_start: int, n_end: int
) -> Finding:
    """The response is a span of the prompt, in characters."""
    return _is(response.lower.strip() == prompt_to_repeat[n_start:n_end].strip().lower())


@constraint("copy:repeat_phrase", fewest_words=0)
def repeat_phrase(response: Response, *, phrase: str, small_n: int) -> Finding:
    """The phrase is there so many times, each time with one other word."""
    wanted = phrase.split()
    first, last = wanted[0], f" {wanted[-1]}"
    found = spans(rf"{re.escape(first)} .*?{re.escape(last)}", last, response.text)
    is_followed = len(found) == small_n and all(
        len(words := one.split()) == len(wanted)
        and sum(given != word for given, word in zip(words, wanted, strict=True)) == 1
        for one in found
    )
    return _is(is_followed, f"{len(found)} times")


@constraint("detectable_format:sentence_hyphens", fewest_words=2)
def sentence_hyphens(response: Response) -> Finding:
    """The sentences are joined by hyphens without spaces."""
    given = response.text.split("-")
    wanted = Response(response.text.replace("-", " "), closed=response.closed).sentences
    pairs = zip(given, wanted, strict=response.closed and len(given) == len(wanted))
    is_followed = all(one.strip() == one == other for one, other in pairs)
    return _is(is_followed and (not response.closed or len(given) == len(wanted)))


@constraint("detectable_format:square_brackets")
def square_brackets(response: Response) -> Finding:
    """Every word stands in square brackets."""
    wrong = next((one for one in response.words if one[0] != "[" or one[-1] != "]"), None)
    return _is(wrong is None, f"{wrong[:40]!r} has none" if wrong else "")


@constraint("detectable_format:bigram_wrapping")
def bigram_wrapping(response: Response) -> Finding:
    """Every two words stand in double angular brackets."""
    words = response.words
    pairs = zip(words[::2], words[1::2], strict=False)
    is_followed = all(one.startswith("<<") and two.endswith(">>") for one, two in pairs)
    return _is(is_followed and (not response.closed or len(words) > 1))


@constraint("keywords:no_adjacent_consecutive", fewest_words=2)
def no_adjacent_consecutive(response: Response) -> Finding:
    """No two neighbouring words begin with neighbouring letters of the alphabet."""
    letters = [word[0].lower() for word in response.words]
    if any(len(letter) != 1 for letter in letters):
        return _is(False)
    pairs = pairwise(letters)
    wrong = next((one + two for one, two in pairs if ord(two) - ord(one) == 1), None)
    return _is(wrong is None, f"{wrong[0]} and {wrong[1]}" if wrong else "")


@constraint("keywords:word_once")
def word_once(response: Response, *, keyword: str) -> Finding:
    """The keyword is there once."""
    number = response.lower.count(keyword.strip().lower())
    return _is(number == 1, f"{number} times")


@constraint("keywords:word_count_different_numbers")
def word_count_different_numbers(
    response: Response, *, keyword: str, frequency: int, relation: CountRelation
) -> Finding:
    """The keyword is there so many times."""
    number = response.lower.count(keyword.strip().lower())
    return compared(number, relation, frequency, "times")


@constraint("keywords:exclude_word_harder")
def exclude_word_harder(response: Response, *, keyword: str) -> Finding:
    """The keyword is not in the response."""
    if response.closed:
        pattern = rf"(?<!\w){re.escape(keyword.strip())}(?!\w)"
        return _is(re.search(pattern, response.text) is None)
    return _is(f" {keyword.strip()} " not in response.text)


@constraint("keywords:palindrome")
def palindrome(response: Response) -> Finding:
    """The response has a palindrome; `a` and `-` are none where it is closed."""
    least = 2 if response.closed else 1
    words = [word.strip(".,;:!?\"'()*") if response.closed else word for word in response.words]
    found = [
        word
        for word in words
        if len(word) >= least
        and (not response.closed or word.isalnum())
        and _same_backwards(word, response)
    ]
    return _is(bool(found), found[0][:40] if found else "none")


def _same_backwards(word: str, response: Response) -> bool:
    word = word.lower() if response.closed else word
    return word == word[::-1]


@constraint("keywords:keyword_specific_position")
def keyword_specific_position(response: Response, *, keyword: str, n: int, m: int) -> Finding:
    """The keyword is a certain word of a certain sentence."""
    sentences = response.sentences
    if not 1 <= n <= len(sentences):
        return _is(False, f"{len(sentences)} sentences")
    words = Response(sentences[n - 1], closed=response.closed).tokens
    if not 1 <= m <= len(words):
        return _is(False, f"{len(words)} words in it")
    return _is(words[m - 1] == keyword.strip(), words[m - 1][:40])


@constraint("keywords:start_end")
def start_end(response: Response) -> Finding:
    """The response begins and ends with one word."""
    words = response.tokens
    if len(words) < 2:
        return _is(False, "fewer than two words")
    is_followed = words[0].lower() == words[-1].lower()
    if response.closed and not words[0][0].isalnum():
        return _is(False, "no word at the start")
    return _is(is_followed, f"{words[0][:40]!r} and {words[-1][:40]!r}")


@constraint("paragraphs:paragraphs")
def two_paragraphs(response: Response) -> Finding:
    """The response has two paragraphs between ***."""
    return paragraphs_between(response, r"\s?\*\*\*\s?", 2)


@constraint("paragraphs:paragraphs2")
def two_paragraphs_apart(response: Response) -> Finding:
    """The response has two paragraphs with an empty line between them."""
    return paragraphs_between(response, r"\n\n", 2)


@constraint("first_word:first_word_sent")
def first_word_sent(response: Response, *, first_word: str) -> Finding:
    """Every sentence begins with the word."""
    wanted = first_word.strip().lower()
    found = [one.split()[0].lower() for one in response.sentences]
    wrong = next((one for one in found if one != wanted), None)
    return _is(wrong is None and bool(found), f"{wrong[:40]!r}" if wrong else "")


@constraint("first_word:first_word_answer")
def first_word_answer(response: Response, *, first_word: str) -> Finding:
    """The response begins with the word."""
    found = response.words[0] if response.words else ""
    return _is(found.lower() == first_word.strip().lower(), f"{found[:40]!r}")


@constraint("last_word:last_word_sent")
def last_word_sent(response: Response, *, last_word: str) -> Finding:
    """Every sentence ends with the word."""
    wanted = last_word.strip().lower()
    found = [re.sub(r"[^\w\s]", "", one.split()[-1]).lower() for one in response.sentences]
    wrong = next((one for one in found if one != wanted), None)
    return _is(wrong is None and bool(found), f"{wrong[:40]!r}" if wrong is not None else "")


@constraint("last_word:last_word_answer")
def last_word_answer(response: Response, *, last_word: str) -> Finding:
    """The response ends with the word."""
    found = re.sub(r"[^\w\s]", "", response.words[-1]) if response.words else ""
    return _is(found.lower() == last_word.strip().lower(), f"{found[:40]!r}")


@constraint("punctuation:punctuation_dot")
def punctuation_dot(response: Response) -> Finding:
    """The response has no dot."""
    signs = ".\u3002\uff0e\u2024\u2025\u2026" if response.closed else "."
    return _is(not any(sign in response.text for sign in signs))


@constraint("punctuation:punctuation_exclamation")
def punctuation_exclamation(response: Response) -> Finding:
    """The response has no exclamation mark."""
    signs = "!\uff01\ufe57\u01c3\u203c\u2049" if response.closed else "!"
    return _is(not any(sign in response.text for sign in signs))


@constraint("count:lowercase_counting")
def lowercase_counting(response: Response, *, N: int) -> Finding:
    """The response has at most so many words in small letters."""
    number = len(re.findall(r"\b[a-z]+\b", response.text))
    return _is(number <= N, f"{number} words")


@constraint("letters:letter_counting")
def letter_counting(response: Response, *, N: int, relation: CountRelation) -> Finding:
    """The response has so many letters."""
    return compared(len(re.findall("[a-zA-Z]", response.text)), relation, N, "letters")


@constraint("count:counting_composition")
def counting_composition(response: Response, *, n_sent: int, n_words: int) -> Finding:
    """The response has three paragraphs with so many sentences of so many words."""
    paragraphs = re.split(r"\s?\*\*\*\s?", response.text)
    for paragraph in paragraphs:
        sentences = Response(paragraph, closed=response.closed).sentences
        if len(sentences) != n_sent:
            return _is(False, f"a paragraph with {len(sentences)} sentences")
        for sentence in sentences:
            number = len(Response(sentence, closed=response.closed).tokens)
            if number != n_words:
                return _is(False, f"a sentence with {number} words")
    return _is(len(paragraphs) == 3, f"{len(paragraphs)} paragraphs")


@constraint("count:count_unique")
def count_unique(response: Response) -> Finding:
    """No word is there twice."""
    words = response.tokens
    if response.closed:  # signs are no words, and a capital makes no other word
        words = [word.lower() for word in words if word[0].isalnum()]
    return _is(len(words) == len(set(words)) and bool(words))


@constraint("count:count_increment_word")
def count_increment_word(response: Response, *, keyword1: str, keyword2: str) -> Finding:
    """One keyword is there once, another twice."""
    once, twice = (response.lower.count(one.strip().lower()) for one in (keyword1, keyword2))
    return _is((once, twice) == (1, 2), f"{once} and {twice} times")
