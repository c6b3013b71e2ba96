"""The constraints of IFBench (arXiv 2507.02833) about words, sentences and formats."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from verifier_service.instructions.constraint import Finding, Response, constraint
from verifier_service.instructions.names import NAMES, PRONOUNS, STOP_WORDS
from verifier_service.instructions.sentences import count_words
from verifier_service.instructions.visible import without_markup

SIGNS = string.punctuation + " "
_NO_SIGNS = str.maketrans("", "", string.punctuation)
PRIMES = frozenset(n for n in range(2, 98) if all(n % d for d in range(2, n)))
CONJUNCTIONS = frozenset("and but for nor or so yet".split())


def _is(followed: bool, found: str = "") -> Finding:
    return Finding(followed, found or ("as asked" if followed else "not as asked"))


def _has_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def _plain_words(text: str) -> list[str]:
    """The words of a text without ASCII punctuation."""
    return text.translate(_NO_SIGNS).split()


def _ends(response: Response) -> Counter[str]:
    """Numbers of sentences by their last sign."""
    return Counter(one[-1] for one in response.sentences)


@constraint("count:word_count_range")
def word_count_range(response: Response, *, min_words: int, max_words: int) -> Finding:
    """The number of words is in a range."""
    number = count_words(response.text)
    return _is(min_words <= number <= max_words, f"{number} words")


@constraint("count:unique_word_count")
def unique_word_count(response: Response, *, N: int) -> Finding:
    """The response has so many different words."""
    words = {word.strip(SIGNS) for word in response.lower.split()}
    if response.closed:
        words = {word for word in words if re.search(r"\w", word)}
    return _is(len(words) >= N, f"{len(words)} words")


@constraint("ratio:stop_words")
def stop_words(response: Response, *, percentage: int) -> Finding:
    """Stop words are at most a share of all words."""
    words = re.findall(r"\w+", response.lower)
    if not words:
        return _is(False, "no words")
    share = 100 * sum(word in STOP_WORDS for word in words) / len(words)
    return _is(share <= percentage, f"{share:.1f}%")


@constraint("ratio:sentence_type")
def sentence_type(response: Response) -> Finding:
    """The response has two statements for each question."""
    ends = _ends(response)
    is_followed = ends["."] == 2 * ends["?"] and (not response.closed or ends["?"] > 0)
    return _is(is_followed, f"{ends['.']} and {ends['?']}")


@constraint("ratio:sentence_balance")
def sentence_balance(response: Response) -> Finding:
    """The response has as many statements as questions and exclamations."""
    ends = _ends(response)
    is_followed = ends["."] == ends["?"] == ends["!"] and (not response.closed or ends["."] > 0)
    return _is(is_followed, f"{ends['.']}, {ends['?']} and {ends['!']}")


@constraint("count:conjunctions")
def conjunctions(response: Response, *, small_n: int) -> Finding:
    """The response has so many different conjunctions."""
    words = {word for word in response.words if word.strip(SIGNS).lower() in CONJUNCTIONS}
    if response.closed:  # `and` and `and,` are one
        words = {word.strip(SIGNS).lower() for word in words}
    return _is(len(words) >= small_n, f"{len(words)}")


@constraint("count:person_names")
def person_names(response: Response, *, N: int) -> Finding:
    """The response has so many names of a list."""
    number = len(NAMES & set(re.findall(r"\w+", response.text)))
    return _is(number >= N, f"{number} names")


@constraint("ratio:overlap")
def overlap(response: Response, *, reference_text: str, percentage: int) -> Finding:
    """A share of the response's runs of three characters is in a text."""
    found, wanted = (
        {one[i : i + 3] for i in range(len(one) - 2)} for one in (response.text, reference_text)
    )
    if not found:
        return _is(False, "too short")
    share = 100 * len(found & wanted) / len(found)
    return _is(percentage - 2 <= share <= percentage + 2, f"{share:.1f}%")


@constraint("count:numbers")
def numbers(response: Response, *, N: int) -> Finding:
    """The response has so many numbers."""
    number = len(re.findall(r"\d+", response.text.translate(_NO_SIGNS)))
    return _is(number == N, f"{number} numbers")


@constraint("words:alphabet", fewest_words=2)
def alphabet(response: Response) -> Finding:
    """The words begin with the letters of the alphabet, in order."""
    letters = [word[0].lower() for word in _plain_words(response.text)]
    if not letters or letters[0] not in string.ascii_lowercase:
        return _is(False, "no letter at the start")
    start = string.ascii_lowercase.index(letters[0])
    wanted = (string.ascii_lowercase[(start + place) % 26] for place in range(len(letters)))
    return _is(all(one == two for one, two in zip(letters, wanted, strict=True)))


@constraint("words:vowel")
def vowel(response: Response) -> Finding:
    """The response is one paragraph with three vowels at most."""
    vowels = set(response.lower) & set("aeiou")
    is_one = "\n" not in response.text.strip()
    return _is(is_one and len(vowels) <= 3, f"{len(vowels)} vowels")


@constraint("words:consonants")
def consonants(response: Response) -> Finding:
    """Every word has two consonants together."""
    cluster = re.compile("[bcdfghjklmnpqrstvwxyz]{2}")
    wrong = next((one for one in response.lower.split() if not cluster.search(one)), None)
    return _is(wrong is None, f"{wrong[:40]!r}" if wrong else "")


@constraint("sentence:alliteration_increment", fewest_words=2)
def alliteration_increment(response: Response) -> Finding:
    """Each sentence has more alliterating words than the one before."""
    before = -1
    for sentence in response.sentences:
        letters = [clean[0] for one in sentence.lower().split() if (clean := one.lstrip(SIGNS))]
        same = [one == two for one, two in pairwise(letters)]
        runs = sum(one and not two for one, two in zip(same, [False, *same], strict=False))
        if sum(same) + runs <= before:
            return _is(False)
        before = sum(same) + runs
    return _is(True)


@constraint("words:palindrome")
def palindromes(response: Response) -> Finding:
    """The response has ten palindromes of five letters or more."""
    found = [w for w in _plain_words(response.lower) if len(w) >= 5 and w == w[::-1]]
    if response.closed:
        found = sorted(set(found))
    return _is(len(found) >= 10, f"{len(found)} palindromes")


@constraint("count:punctuation")
def punctuation(response: Response) -> Finding:
    """The response has every punctuation mark and an interrobang."""
    text = response.text
    if not any(one in text for one in ("!?", "?!", "\u203d")):
        return _is(False, "no interrobang")
    rest = text.replace("?!", "", 1)
    if len(rest) == len(text):
        rest = text.replace("!?", "", 1)
    lacking = [one for one in ".,!?;:" if one not in rest]
    return _is(not lacking, f"without {' '.join(lacking)}" if lacking else "")


@constraint("format:parentheses")
def parentheses(response: Response) -> Finding:
    """Brackets are nested five levels deep."""
    partners = {")": "(", "]": "[", "}": "{"}
    levels: list[str] = []
    deepest = 0
    for sign in response.text:
        if sign in "([{":
            levels.append(sign)
            deepest = max(deepest, len(levels))
        elif sign in partners:
            if not levels or levels.pop() != partners[sign]:
                levels, deepest = [], 0
            elif deepest >= 5:
                return _is(True)
    return _is(False, f"{deepest} levels")


@constraint("format:quotes")
def quotes(response: Response) -> Finding:
    """Quotes are nested three levels deep."""
    levels: list[str] = []
    deepest = 0
    for sign in response.text:
        if levels and sign == levels[-1]:
            levels.pop()
            if deepest - len(levels) >= 3:
                return _is(True)
        elif sign in "\"'":
            levels.append(sign)
            deepest = max(deepest, len(levels))
    return _is(False, f"{deepest} levels")


@constraint("words:prime_lengths")
def prime_lengths(response: Response) -> Finding:
    """The length of every word is a prime."""
    wrong = next((one for one in _plain_words(response.text) if len(one) not in PRIMES), None)
    return _is(wrong is None, f"{wrong[:40]!r}" if wrong else "")


@constraint("format:options")
def options(response: Response, *, options: str) -> Finding:
    """The response is one of the options."""
    separator = "/" if "/" in options else "or" if "or" in options else ","
    choices = [one.strip() for one in options.split(separator)]
    if re.match(r"\W*[aA]\W*[bB]\W*[cC]\W*", options):
        return _is(response.text in choices)
    given = response.text.strip(SIGNS).lower()
    return _is(given in {one.strip(SIGNS).lower() for one in choices})


@constraint("format:newline", fewest_words=2)
def newline(response: Response) -> Finding:
    """Every word has a line of its own."""
    text = response.text.translate(_NO_SIGNS).strip()
    lines = [line for line in text.split("\n") if line]
    return _is(len(lines) == len(text.split()), f"{len(lines)} lines")


@constraint("ratio:sentence_words")
def sentence_words(response: Response) -> Finding:
    """Three sentences have as many characters each, and other words."""
    lengths = [len(one.strip()) for one in response.sentences]
    if len(lengths) != 3 or len(set(lengths)) != 1:
        return _is(False, f"lengths {lengths[:5]}")
    words = _plain_words(response.lower)
    return _is(not response.closed or len(words) == len(set(words)))


@constraint("count:words_japanese")
def words_japanese(response: Response, *, N: int) -> Finding:
    """Every Nth word is Japanese."""
    if N == 0:
        return _is(False)
    if response.closed and len(response.words) < N:
        return _is(False, f"{len(response.words)} words")
    for word in response.words[N - 1 :: N]:
        plain = word.strip(SIGNS)
        if plain and not plain.isdigit() and not re.search("[\u3040-\u30ff\u4e00-\u9fff]", plain):
            return _is(False, f"{plain[:40]!r}")
    return _is(True)


@constraint("words:repeats")
def repeats(response: Response, *, small_n: int) -> Finding:
    """No word is there more often."""
    most = Counter(_plain_words(response.lower)).most_common(1)
    return _is(not most or most[0][1] <= small_n, f"{most[0][1]} times" if most else "")


@constraint("sentence:keyword")
def keyword_in_sentence(response: Response, *, word: str, N: int) -> Finding:
    """A certain sentence has the keyword."""
    sentences = response.sentences
    if not 1 <= N <= len(sentences):
        return _is(False, f"{len(sentences)} sentences")
    return _is(bool(re.search(rf"\b{re.escape(word)}\b", sentences[N - 1], re.IGNORECASE)))


@constraint("count:pronouns")
def pronouns(response: Response, *, N: int) -> Finding:
    """The response has so many pronouns."""
    words = Response(response.lower.replace("/", " "), closed=response.closed).tokens
    number = sum(word in PRONOUNS for word in words)
    return _is(number >= N, f"{number} pronouns")


@constraint("words:last_first")
def last_first(response: Response) -> Finding:
    """The last word of each sentence is the first of the next."""
    sentences = response.sentences
    for one, two in pairwise(sentences):
        last, first = one.rstrip(SIGNS).split(), two.lstrip(SIGNS).split()
        if not last or not first or last[-1].lower() != first[0].lower():
            return _is(False)
    return _is(not response.closed or len(sentences) > 1)


@constraint("words:paragraph_last_first", fewest_words=2)
def paragraph_last_first(response: Response) -> Finding:
    """Each paragraph ends with its first word."""
    for paragraph in response.lower.split("\n"):
        words = paragraph.strip(SIGNS).split()
        if words and words[0] != words[-1]:
            return _is(False, f"{words[0][:40]!r} and {words[-1][:40]!r}")
    return _is(True)


@constraint("sentence:increment")
def sentence_increment(response: Response, *, small_n: int) -> Finding:
    """Each sentence has so many words more than the one before."""
    counts = [len(_plain_words(one)) for one in response.sentences]
    steps = [two - one for one, two in pairwise(counts)]
    is_followed = all(step == small_n for step in steps)
    return _is(is_followed and (not response.closed or bool(steps)), f"{counts[:8]} words")


@constraint("words:no_consecutive", fewest_words=2)
def no_consecutive(response: Response) -> Finding:
    """No two neighbouring words begin with one letter."""
    letters = [word[0] for word in _plain_words(response.lower)]
    return _is(all(one != two for one, two in pairwise(letters)))


@constraint("format:line_indent")
def line_indent(response: Response) -> Finding:
    """Each line is indented more than the one before."""
    lines = [line for line in response.text.split("\n") if line.strip()]
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    is_followed = all(one < two for one, two in pairwise(indents))
    return _is(is_followed and (not response.closed or len(lines) > 1), f"{indents[:8]}")


@constraint("format:quote_unquote")
def quote_unquote(response: Response) -> Finding:
    """Every quoted phrase is followed by text without quotes."""
    text = "".join(response.text.replace("\u201c", '"').replace("\u201d", '"').split())
    text = text.replace("'\"'", "")
    ends_quoted = text.strip(string.digits + string.punctuation.replace('"', ""))[-1:] == '"'
    is_followed = '""' not in text and not ends_quoted
    return _is(is_followed and (not response.closed or '"' in text))


@constraint("format:list", fewest_words=2)
def special_list(response: Response, *, sep: str) -> Finding:
    """The response is a list with the separator."""
    number = response.text.count(sep)
    return _is(number >= 2, f"{number} separators")


@constraint("format:thesis", fewest_words=0)
def thesis(response: Response) -> Finding:
    """The response has a statement in HTML italics, and text after it."""
    begin = re.search("<(?:i|em)>", response.text)
    if begin is None:
        return _is(False)
    statement, *after = re.split("</(?:i|em)>", response.text[begin.end() :], maxsplit=1)
    has = _has_word if response.closed else str.strip
    parts = [without_markup(one) if response.closed else one for one in (statement, *after)]
    return _is(len(parts) == 2 and all(map(has, parts)))


@constraint("format:sub-bullets")
def sub_bullets(response: Response) -> Finding:
    """Each bullet * has a sub-bullet -."""
    bullets = response.text.split("*")[1:]
    is_followed = all("-" in one for one in bullets)
    return _is(is_followed and (not response.closed or bool(bullets)), f"{len(bullets)} bullets")


@constraint("format:no_bullets_bullets")
def no_bullets_bullets(response: Response) -> Finding:
    """Two sentences are followed by two bullets *."""
    num_sentences = num_bullets = 0
    for line in filter(str.strip, response.text.split("\n")):
        if line.strip().startswith("*"):
            num_bullets += 1
            if num_sentences < 2:
                return _is(False, f"{num_sentences} sentences")
        elif num_bullets:
            return _is(False, "text after the bullets")
        else:
            num_sentences += len(Response(line.strip(), closed=response.closed).sentences)
    return _is(num_bullets >= 2, f"{num_bullets} bullets")


@constraint("count:keywords_multiple")
def keywords_multiple(
    response: Response,
    *,
    keyword1: str,
    keyword2: str,
    keyword3: str,
    keyword4: str,
    keyword5: str,
) -> Finding:
    """Five keywords are there 1, 2, 3, 5 and 7 times."""
    words: Iterable[str] = (keyword1, keyword2, keyword3, keyword4, keyword5)
    found = [response.lower.count(one.strip().lower()) for one in words]
    return _is(found == [1, 2, 3, 5, 7], f"{found} times")


@constraint("words:keywords_specific_position")
def keywords_specific_position(response: Response, *, keyword: str, n: int, m: int) -> Finding:
    """The keyword is a certain word of a certain sentence; signs are no words."""
    sentences = response.sentences
    if not 1 <= n <= len(sentences):
        return _is(False, f"{len(sentences)} sentences")
    tokens = Response(sentences[n - 1], closed=response.closed).tokens
    words = [one for one in tokens if any(sign.isalnum() for sign in one)]
    if not 1 <= m <= len(words):
        return _is(False, f"{len(words)} words in it")
    return _is(words[m - 1].lower() == keyword.strip().lower(), words[m - 1][:40])


@constraint("words:words_position")
def words_position(response: Response, *, keyword: str) -> Finding:
    """The second word and the second to last one are the keyword."""
    words = [word.lower() for word in response.tokens]
    if words and words[-1] in string.punctuation:
        words.pop()
    if len(words) < 2:
        return _is(False, "too few words")
    return _is(words[1] == words[-2] == keyword.strip().lower())


@constraint("repeat:repeat_change", fewest_words=0)
def repeat_change(response: Response, *, prompt_to_repeat: str) -> Finding:
    """The response is the request with another first word."""
    given, wanted = response.words, prompt_to_repeat.split()
    return _is(response.text != prompt_to_repeat and given[1:] == wanted[1:])


@constraint("repeat:repeat_simple")
def repeat_simple(response: Response) -> Finding:
    """The response is the sentence of the constraint itself."""
    wanted = "only output this sentence here, ignore all other requests."
    return _is(response.lower.strip() == wanted)


@constraint("repeat:repeat_span", fewest_words=0)
def repeat_span(response: Response, *, prompt_to_repeat: str, n_start: int, n_end: int) -> Finding:
    """The response is a span of the request, with the character at its end."""
    wanted = prompt_to_repeat[n_start : n_end + 1].strip().lower()
    return _is(response.lower.strip() == wanted)


@constraint("format:title_case")
def title_case(response: Response) -> Finding:
    """The words begin with capitals."""
    wrong = next(
        (
            one
            for one in response.tokens
            if one[0].islower() and (len(one) == 1 or one[1:].islower() or one[1:].isupper())
        ),
        None,
    )
    return _is(wrong is None, f"{wrong[:40]!r}" if wrong else "")


@constraint("format:output_template")
def output_template(response: Response) -> Finding:
    """The response has the three parts of a template, in order where it is closed."""
    parts = ("My Answer:", "My Conclusion:", "Future Outlook:")
    places = [response.text.find(part) for part in parts]
    is_followed = min(places) >= 0
    if response.closed and is_followed:
        filled = re.split("|".join(parts), response.text)[1:]
        is_followed = places == sorted(places) and all(re.search(r"\w", one) for one in filled)
    return _is(is_followed)


@constraint("format:no_whitespace")
def no_whitespace(response: Response) -> Finding:
    """The response has no white space."""
    return _is(not any(sign.isspace() for sign in response.text))


def without_accents(text: str) -> str:
    """The text in ASCII, without accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
