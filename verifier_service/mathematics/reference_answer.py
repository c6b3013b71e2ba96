"""The answer in a reference. Data sets ship it alone, or at the end of a whole worked solution."""

from __future__ import annotations

import re

from verifier_service.mathematics.answer_sources import Source
from verifier_service.mathematics.extraction import extract
from verifier_service.mathematics.plain_text import unwrapped
from verifier_service.mathematics.program_values import Lists, answers_in_value
from verifier_service.mathematics.units import unit_named

MAX_ENTRY_CHARACTERS = 60
"""Longest entry that says that there is no final answer."""
MAX_WORDS = 40
"""Most words of an answer in prose: a text with more is a solution."""
_SOURCES: tuple[Source, ...] = ("boxed", "hashes", "answer_phrase")
_NO_ANSWERS = frozenset({"notfound", "not found", "see solution", "omitted"})
"""Entries of data sets for problems that have no final answer."""
NO_SHORT_ANSWER = (
    "such a task can be judged by proof (a formal statement), rubric (graded items) or "
    "answer_judge (an answer in words)"
)
"""Advice for tasks that ask for a proof."""
# An entry for a problem that asks for a proof: `Proof omitted`, `see the proof below`, `Q.E.D.`.
_IS_PROOF = re.compile(
    r"(?:see )?(?:the |a )?proof(?: (?:below|above|omitted|problem|question|required|only))?"
    r"|(?:hence |thus )?prove[dn]|prove it|q\.? ?e\.? ?d"
    r"|证明(?:略|过程略|见解析|题)?|见证明|见解析|略",
    re.IGNORECASE,
)
# Signs around such an entry: `[proof]`, `$\\text{proof}$`.
_WRAPPING = re.compile(r"\\(?:text|textbf|mathrm|textit)\b|[\s$\[\](){}.。]+")
# The beginning or the end of a proof: `Proof. Let`, `as required. \\blacksquare`.
_PROOF_BEGINS = re.compile(r"\W*proof\b\W*?[.:]\W*\w", re.IGNORECASE)
_PROOF_ENDS = re.compile(
    r"(?:∎|\\blacksquare|\bq\.?e\.?d\.?|\b(?:hence|thus) prove[dn])[\s.$}]*\Z", re.IGNORECASE
)
MIN_WORDS_OF_PROOF = 3
"""Fewest words of a text that begins or ends as a proof."""
# Mathematics, whose letters are no prose: `$x + y$`, `\[ ... \]`, `\text{if } x`.
_MATHEMATICS = re.compile(
    r"\$[^$]*\$|\\\[.*?\\\]|\\\(.*?\\\)|\\[A-Za-z]+(?:\{[^{}]*\})?", re.DOTALL
)
# A word of prose, of two letters or more: the `then` of `then x`.
_WORD = re.compile(r"[^\W\d_]{2,}")
# A text in which no answer can be announced, as most references are: `42`, `(1,2)`, `x^2/3`.
_BARE = re.compile(r"[-+0-9A-Za-z.,/^()]+")
# The end of a sentence that another follows, but no abbreviation: `is even. Then`, not `Mr. X`.
_NEXT_SENTENCE = re.compile(r"(?:\$|\b[a-z]{3,})[.!?:]\s+[A-Z$\\]|\n\s*\n")
MAX_WORDS_OF_SENTENCES = 8
"""Most words of an answer in several sentences, such as `Yes, it is. See below.`"""


# A number with what it counts in brackets, as data sets of word problems write it: `9 (apples)`,
# `62 (push-ups)`; but no words that change the number: `5 (or six)`, `2 (mod 5)`, `5 (million)`.
_COUNTED_IN_BRACKETS = re.compile(
    r"(?P<number>[-−+]?\d[\d.,/]*)\s{1,3}\((?P<what>[gmshL]|(?!(?:or|and|mod|modulo|base|not|but|is"
    r"|if|in|when|to|plus|minus|negative|squared|cubed|hundred|thousand|[mb]illion|trillion)\b)"
    r"[A-Za-z][A-Za-z.'’-]{1,20}(?:[ /][A-Za-z.'’-]{1,20}){0,5})\)"
)


# A decimal below one with a blank in it, as scanned books have it: the `0. ` of `0. 98`, `-$0. 5$`.
_BLANK_IN_DECIMAL = re.compile(r"\A([-−$\s]{0,4}0\.)\s(?=\d+\s?(?:\\?%)?\$?\Z)")


# What is left of four hashes before a number in some data sets: the `# ` of `# 138`.
_MARK_BEFORE = re.compile(r"\A#{1,3}\s{1,3}(?=[-−$]{0,2}\d)")


class NoAnswer(ValueError):
    """A reference has no final answer; the message says what it is."""


def answers_of_reference(text: str, lists: Lists = "auto") -> list[str]:
    """The acceptable answers in a reference: several where it is a JSON list of alternatives.

    A number with what it counts in brackets is acceptable with the brackets too.

    >>> answers_of_reference('["\\\\\\\\frac12", "0.5"]')
    ['\\\\frac12', '0.5']
    >>> answers_of_reference("9 (apples)")
    ['9', '9 (apples)']

    Raises:
        NoAnswer: as `answer_of_reference`.
    """
    found = []
    for one in answers_in_value(text, lists):
        found.append(answer_of_reference(one))
        if _COUNTED_IN_BRACKETS.fullmatch(one.strip()):
            found.append(one.strip())
    return found


def answer_of_reference(text: str) -> str:
    """The answer in a reference: of a solution the last box, `####` or answer phrase, else all.

    >>> answer_of_reference("We add 1 and 1. Thus $x = \\\\boxed{2}$.")
    '2'
    >>> answer_of_reference("1 + 1 = 2\\n#### 2")
    '2'
    >>> answer_of_reference("no solution")
    'no solution'
    >>> answer_of_reference("9 (apples)"), answer_of_reference("350 (g)")
    ('9', '350 g')
    >>> answer_of_reference("# 138")
    '138'
    >>> answer_of_reference("0. 98"), answer_of_reference("1. 5")  # the latter is item 1 of a list
    ('0.98', '1. 5')

    Raises:
        NoAnswer: the text is a solution without an answer, or says that there is none.
    """
    text = text.strip()
    _refuse_entries(text)
    if _BARE.fullmatch(text):
        return text
    text = _BLANK_IN_DECIMAL.sub(r"\1", text, count=1)
    text = _MARK_BEFORE.sub("", text, count=1)
    if counted := _COUNTED_IN_BRACKETS.fullmatch(text):
        unit = unit_named(counted["what"].rstrip("."))
        return counted["number"] if unit is None else f"{counted['number']} {counted['what']}"
    found = extract(text, _SOURCES)
    if found is not None:
        _refuse_entries(found.text)
        return found.text
    if _is_solution(text) or _is_proof(text):
        raise NoAnswer(f"it is a text without a box, `####` or `The answer is`; {NO_SHORT_ANSWER}")
    return _without_environment(text) if "\\begin" in text else text


def _refuse_entries(text: str) -> None:
    """Raise NoAnswer for an entry that says that there is no final answer."""
    is_short = len(text) <= MAX_ENTRY_CHARACTERS
    if is_short and _IS_PROOF.fullmatch(_WRAPPING.sub(" ", text).strip()):
        raise NoAnswer(f"{text[:20]!r} is no answer; {NO_SHORT_ANSWER}")
    if text.lower().rstrip(".") in _NO_ANSWERS:
        raise NoAnswer(f"{text[:20]!r} is no answer")


def _is_proof(text: str) -> bool:
    """Whether a text without an announced answer begins or ends as a proof."""
    if not (_PROOF_BEGINS.match(text) or _PROOF_ENDS.search(text)):
        return False
    prose = _MATHEMATICS.sub(" ", text)
    return len(_WORD.findall(prose)) >= MIN_WORDS_OF_PROOF


# An environment that only sets its rows: `\begin{align} x &= 1 \\ y &= 2 \end{align}`.
_ENVIRONMENT = re.compile(
    r"\\begin\{(?P<name>(?:align|aligned|equation|gather|gathered|split|eqnarray|multline)\*?)\}"
    r"(?P<rows>.*)\\end\{(?P=name)\}",
    re.DOTALL,
)
# A command for the number of a row: `\tag{1}`, `\nonumber`.
_NUMBERING = re.compile(r"\\(?:tag\*?|label)\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])")
# The end of a row, perhaps with the space below it: `\\`, `\\[2pt]`.
_ROW_END = re.compile(r"\\\\(?:\s*\[[\d.]+\s*[a-z]{2}\])?")


def _without_environment(text: str) -> str:
    """The formulas that an environment sets; of a chain in several rows its two ends."""
    environment = _ENVIRONMENT.fullmatch(unwrapped(text))
    if environment is None:
        return text
    formulas: list[tuple[str, str]] = []
    for row in _ROW_END.split(_NUMBERING.sub("", environment["rows"])):
        left, _, right = (part.strip() for part in row.partition("&"))
        right = right.replace("&", " ")
        if not left and formulas:
            formulas[-1] = (formulas[-1][0], right or formulas[-1][1])
        elif left or right:
            formulas.append((left, right))
    rows = [f"{left} {right}".strip().rstrip(",.;") for left, right in formulas]
    joined = rows[-1] if _is_derivation(rows) else ", ".join(rows)
    return _without_environment(joined) if joined.startswith("\\begin") else joined


# An equation that is solved for a letter: `x = 3`.
_SOLVED = re.compile(r"\s*([A-Za-z])\s*=\s*([^=]+)")


def _is_derivation(rows: list[str]) -> bool:
    """Whether rows solve an equation for the letter of the last one: `2x + 4 = 10`, `x = 3`."""
    solved = _SOLVED.fullmatch(rows[-1])
    if solved is None or len(rows) < 2 or solved[1] in solved[2]:
        return False
    for row in rows[:-1]:
        letters = set(_LETTER.findall(_LATEX_COMMAND.sub(" ", row)))
        if "=" not in row or letters != {solved[1]} or _SOLVED.fullmatch(row):
            return False
    return True


# A letter, and a command of LaTeX, whose letters are none: `x`, `\\frac`.
_LETTER = re.compile(r"[A-Za-z]")
_LATEX_COMMAND = re.compile(r"\\[A-Za-z]+")


def _is_solution(text: str) -> bool:
    prose = _MATHEMATICS.sub(" ", text)
    # Names are no prose: data sets list many for one thing, `Paris/City of Paris/...`.
    num_words: int = sum(word.islower() for word in _WORD.findall(prose))
    has_sentences = _NEXT_SENTENCE.search(text) is not None
    max_words = MAX_WORDS_OF_SENTENCES if has_sentences else MAX_WORDS
    return num_words > max_words
