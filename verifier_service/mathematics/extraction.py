"""Extraction of the final answer from a completion.

Sources are tried in order; the first that finds a statement decides. Each takes time linear in the
length of the text. Statements are texts as the model wrote them: nothing is parsed here.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from verifier_service.answer_text import after_reasoning
from verifier_service.mathematics.answer_sources import MAX_ANSWER_CHARACTERS, SOURCES, Source
from verifier_service.mathematics.closing_words import stated_words
from verifier_service.mathematics.denials import (
    is_denied,
    is_disowned,
    is_no_statement,
    is_offered_beside,
    is_taken_back,
    is_undone,
    offered_in_line,
    offered_values,
)
from verifier_service.mathematics.labelled_answers import (
    labelled_answers,
    lone_values,
    repeated_answers,
)
from verifier_service.mathematics.markdown import (
    closing_line,
    listed_values,
    without_marks,
    without_opening,
)
from verifier_service.mathematics.notation import brace_pairs
from verifier_service.mathematics.option_letters import chosen_letters
from verifier_service.mathematics.plain_text import text_command_arguments
from verifier_service.mathematics.visible_text import visible_text

MAX_BARE_CHARACTERS = 120
"""Longest text or last line with words that can be an answer without anything around it."""
Joint = Literal["list", "or", "parts"]
"""Relation of several statements: a list, alternatives, or answers to questions in order."""


@dataclass(frozen=True)
class Extraction:
    """The final answer of a completion: mostly one statement, sometimes several."""

    source: Source
    statements: tuple[str, ...]
    joint: Joint = "list"
    sentence: str = ""
    """The sentence that states the answer in words; empty where the statement is no part of one."""

    @property
    def text(self) -> str:
        """The statements in one text, for people to read."""
        return (" or " if self.joint == "or" else ", ").join(self.statements)


def extract(
    text: str, sources: Sequence[Source] = SOURCES, tags: Sequence[str] = ("answer",)
) -> Extraction | None:
    """The final answer of a completion; None where it has none.

    Only what follows the reasoning counts: reasoning that never ends has no answer after it.

    >>> extract("<think>\\n1 + 1 = 3?\\n</think>\\n<answer>\\n2\\n</answer>").text
    '2'
    >>> extract("Half: \\\\boxed{\\\\frac{1}{2}}").text
    '\\\\frac{1}{2}'
    >>> extract("<think>Perhaps 3.") is None
    True

    Args:
        text: the completion.
        sources: where to look, in that order.
        tags: names of the tags that the source `answer_tag` looks for.
    """
    after = visible_text(after_reasoning(text) or "", tuple(tags)).strip(_BLANK)
    if not after:
        return None
    main = _without_notes(after)
    found = _first(main, sources, tags)
    if main != after and (found is None or found.source not in _ANNOUNCED):
        # The note holds the tag, the box or the phrase that the text before it lacks.
        in_note = _first(after, sources, tags)
        if found is None or (in_note is not None and in_note.source in _ANNOUNCED):
            found = in_note
    if found is None or not any(found.statements):
        return None
    if not all(found.statements):
        found = replace(found, statements=tuple(filter(None, found.statements)))
    return _in_words(found)


def _in_words(found: Extraction) -> Extraction:
    """The extraction with the words that its sentence states: `Yes` of `Yes, it is`."""
    sentence = found.statements[0]
    if len(found.statements) > 1 or " " not in sentence:
        return found
    words = stated_words(text_command_arguments(sentence))
    if words is None or words == sentence:
        return found
    return replace(found, statements=(words,), sentence=sentence)


def _first(text: str, sources: Sequence[Source], tags: Sequence[str]) -> Extraction | None:
    """The extraction of the first source that finds one.

    The sources after `answer_phrase` do not see values that are said not to be the answer.
    """
    for source in sources:
        found = _answer_tag(text, tags) if source == "answer_tag" else _FINDERS[source](text)
        if found is not None:
            return found
        if source == "answer_phrase":
            text = _behind_disowned(text)
    return None


# The beginning of a paragraph that checks the answer or comments on it: `**Check:**`, `Note`.
_CHECK = re.compile(r"\W*(?:check|verification|verify|note|hint)\b", re.IGNORECASE)


# A closing paragraph that only offers help: `Would you like me to explain the steps?`
_COURTESY = re.compile(
    r"\W*(?:(?:would|do|does|did|can|could|shall|may|want)\s+(?:you|that|this|it|i|me|we)\b"
    r"(?:(?!\b[A-J]\b)[^\d\n.!?]){0,150}\?"
    r"|(?:please\s+)?(?:let\s+me\s+know|feel\s+free|(?:i\s+)?hope\s+(?:this|that|it)|if\s+you\s+"
    r"(?:have|need|would|want)|happy\s+to)\b(?:(?!\b[A-J]\b)[^\d\n]){0,150})\W*",
    re.IGNORECASE,
)


def _without_notes(text: str) -> str:
    """The text without last paragraphs that check the answer, comment on it or offer help."""
    end = len(text)
    while (start := text.rfind("\n\n", 0, end)) >= 0 and (
        _CHECK.match(text, start + 2, end) or _COURTESY.fullmatch(text, start + 2, end)
    ):
        end = start
        while end > 0 and text[end - 1].isspace():
            end -= 1
    return text[:end]


_ANNOUNCED: frozenset[Source] = frozenset({"answer_tag", "boxed", "hashes", "answer_phrase"})
"""Sources whose answers are said to be answers."""
_NOTHING: tuple[str, ...] = ()
"""No statement: a source found the place of the answer, and no answer there."""
_BLANK = string.whitespace + "\u00a0\u200b\u200c\u200d\u2060\ufeff"


@lru_cache(maxsize=64)
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of a tag's content, closed or not: the `2` of `<answer>2</answer>`."""
    names = "|".join(map(re.escape, tags))
    return re.compile(rf"<({names})>(.*?)(?:</\1>|(?=<(?:{names})>)|\Z)", re.DOTALL)


def _answer_tag(text: str, names: Sequence[str]) -> Extraction | None:
    if not any(f"<{name}>" in text for name in names):
        return None
    found_tags = _tag_pattern(tuple(names)).finditer(text)
    tags = [(tag.start(), tag.end(), tag[2].strip(_BLANK)) for tag in found_tags]
    statements, joint = _closing_statement(text, tags)
    if len(statements) != 1:
        return Extraction("answer_tag", statements, joint)
    inside = statements[0]
    for finder in (_boxed, _hashes, _answer_phrase):
        found = finder(inside)
        if found is not None:
            return Extraction("answer_tag", found.statements, found.joint)
    inside = _behind_disowned(inside)
    if "\n" in inside or len(inside) > MAX_BARE_CHARACTERS:
        for finder in (_math, _last_expression):
            found = finder(inside)
            if found is not None and _is_wordy(inside):
                return Extraction("answer_tag", found.statements, found.joint)
    return Extraction("answer_tag", (_sentence_math(inside) or without_marks(inside),))


# The beginning of a box: `\boxed{`, or the `\boxed` of `\boxed 5`.
_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s*(?:\{|(?=[\w\\-]))")
# The same, or a box whose backslash is lost or became `\x08` on the way: `boxed{5}`.
_DAMAGED_BOX = re.compile(
    rf"{_BOX.pattern}|(?<![A-Za-z\\])(?:boxed|\x08oxed)\{{(?=\s{{0,9}}[^\s}}])"
)
# A sign or factor before a box, in the same formula: the `-` of `$-\boxed{2}$`.
_FACTOR = re.compile(r"(?:(?:[$=(]|\\\[)\s*|^(?=\S*$))(-|−|-?\d+(?:\.\d+)?)\s*$")
# The content of a box without braces: the `5` of `\boxed 5`.
_BARE_BOX = re.compile(r"[ ]*(-?[\w.]+)")
# Words that take back what was said before them: `Wait,`, `that is wrong`.
_REVISION = re.compile(
    r"\b(?:wait|actually|correct(?:ion|ed)?|mistake|revis\w+|instead|re-?check\w*|hmm|oops|error|"
    r"wrong|sorry|let me|rather|however|but)\b|however|更正|不对",
    re.IGNORECASE,
)
# Words that keep an answer beside another: `If that is wrong`, `or else`.
_CONDITIONAL = re.compile(r"\bif\b[^.]{0,40}\b(?:wrong|incorrect|not)\b|\bor else\b", re.IGNORECASE)
# The label of the next part of a question, between two boxes: `(b)`, `. Part (b): `.
_PART = re.compile(r"[\s*$.,;\\()\]]*(?:Part\s*)?\(?(?:[b-h]|[2-8]|i[iv]|iii)\)[\s*$:(\\\[]*")
# The end of mathematics: `$`, `\]`, `\)`.
_END_OF_MATH = re.compile(r"\$|\\\]|\\\)")
# A word between two statements: the `and` of `\boxed{3} and \boxed{4}`.
_JOINT_WORDS = re.compile(r"[A-Za-z]+|或|和|或者")
# A word that offers an alternative: `or`, `perhaps`.
_OR = re.compile(
    r"\b(?:or|alternatively|either|maybe|perhaps|possibly|otherwise)\b|或", re.IGNORECASE
)
_CONNECTORS = frozenset(
    (
        "and or also alternatively either maybe perhaps possibly text quad qquad mathrm "
        "hspace cup otherwise as well it is could be can"
    ).split()
)


def _boxed(text: str) -> Extraction | None:
    boxes = _boxes(text)
    if boxes is None:
        return None
    boxes = [one for one in boxes if not is_denied(text, one[0], one[1])]
    if not boxes or _is_undone_box(text, *boxes[-1][:2]):
        return Extraction("boxed", _NOTHING)
    statements, joint = _closing_statement(text, boxes)
    if len(statements) == 1 and len(inner := _boxes(statements[0]) or []) > 1:
        statements, joint = _closing_statement(statements[0], inner)
    return Extraction("boxed", statements, joint)


def _is_undone_box(text: str, start: int, end: int) -> bool:
    """Whether the text behind a box takes it back; a few signs behind it cannot."""
    return len(text) - end > 4 and is_undone(text, max(start, end - 100))


def _closing_statement(
    text: str, found: Sequence[tuple[int, int, str]]
) -> tuple[tuple[str, ...], Joint]:
    """The last box or tag (start, end, content), and those that are offered with it."""
    filled = [one for one in found if _FILLED.search(one[2])]
    if not filled or filled[-1] is not found[-1]:
        return _NOTHING, "list"
    kept = [filled[-1]]
    gaps: list[str] = []
    for one in reversed(filled[:-1]):
        gap = text[one[1] : kept[-1][0]]
        if not _is_same_statement(gap):
            break
        kept.append(one)
        gaps.append(gap)
    statements = tuple(dict.fromkeys(inside for _, _, inside in reversed(kept)))
    if len(statements) > 1 and all(map(_PART.fullmatch, gaps)):
        return statements, "parts"
    is_or = len(statements) > 1 and any(_OR.search(gap) or not _is_joined(gap) for gap in gaps)
    return statements, "or" if is_or else "list"


# A sign that can be an answer: a letter, a digit, `∅`, `\{\}`.
_FILLED = re.compile(r"[^\W_]|[∅∞π]|\\\{\s{0,9}\\\}")


def _boxes(text: str) -> list[tuple[int, int, str]] | None:
    """Start, end and content of every box that closes; a box inside another is part of it.

    None where there is no box at all. Where no box closes, the first one is given: with the text up
    to the end of its mathematics, or without content where the text breaks off.
    """
    if "box" not in text and "oxed{" not in text:  # the patterns take far longer
        return None
    box = _DAMAGED_BOX if _has_damaged_box(text) else _BOX
    first = box.search(text)
    if first is None:
        return None
    found: list[tuple[int, int, str]] = []
    unclosed = None
    position = first.start()
    closing = brace_pairs(text, position)
    while (match := box.search(text, position)) is not None:
        position = match.end()
        if text[position - 1] == "{":
            end = closing.get(position - 1)
            if end is not None:  # a box that is cut off may hold boxes that are whole
                factor = _FACTOR.search(text, max(0, match.start() - 20), match.start())
                inside = (factor[1] if factor else "") + text[position:end].strip()
                found.append((match.start(), end + 1, inside))
                position = end + 1
            else:
                unclosed = unclosed or match
        elif (bare := _BARE_BOX.match(text, position)) is not None:
            position = bare.end()
            found.append((match.start(), position, bare[1]))
    if not found and unclosed is not None:
        end_of_math = _END_OF_MATH.search(text, unclosed.end())
        inside = text[unclosed.end() : end_of_math.start()] if end_of_math else ""
        return [(unclosed.start(), len(text), inside.strip())]
    return found or None


def _has_damaged_box(text: str) -> bool:
    start = text.find("oxed{")
    return start >= 0 and text.count("oxed{", start) > text.count("\\boxed{", max(0, start - 2))


def _is_same_statement(gap: str) -> bool:
    """Whether the text between two boxes leaves them in one closing statement."""
    if _CONDITIONAL.search(gap):
        return True
    if _REVISION.search(gap):
        return False
    if _PART.fullmatch(gap):
        return True
    words = _JOINT_WORDS.findall(gap)
    if all(word.lower() in _CONNECTORS for word in words):
        return True
    return "\n" not in gap.strip() and len(words) <= 12


def _is_joined(gap: str) -> bool:
    """Whether a gap says that both boxes belong to one answer: a comma, `and`, nothing at all."""
    if _PART.fullmatch(gap):
        return True
    words = _JOINT_WORDS.findall(gap)
    return all(word.lower() in _CONNECTORS for word in words)


# The rest of a line behind four hashes, as in GSM8K: the `72` of `#### 72`.
_HASHES = re.compile(r"####[ \t]*([^\n]*)")


def _hashes(text: str) -> Extraction | None:
    if "####" not in text:
        return None
    found = list(_HASHES.finditer(text))
    last = found[-1]
    line = last[1].strip()
    is_heading = line.startswith("#") or (
        bool(_WORD.match(line)) and bool(text[last.end() :].strip(_BLANK))
    )
    if is_heading:
        return None
    return Extraction("hashes", (_trimmed(line),) if line else _NOTHING)


# Words that announce an answer: `The final answer is`, `**Answer:**`, `Ответ:`.
_PHRASE = re.compile(
    r"""(?:
        (?:\b(?:final|correct|right)[ ])?(?:answer|option|choice|result|solution)s?
            (?:[ ](?:to|for|of)[ ](?:(?!,[ ](?:so|as|since|because|hence|thus)\b)[^\n.:]){0,80}?)?
            \**[ ]*(?:(?:is|are|would[ ]be|must[ ]be|should[ ]be|will[ ]be)\b[ ]*:?|=(?![=>])|:)\**
      | (?:^|\n)\**(?:A|Ans|Ans\.|答案)\**[ ]*:
      | \b(?:correct|right|true)[ ]statements?[ ](?:is|are)\b[ ]*:?
      | (?:^|\n)\**Ans\.\**[ ]*(?=[-\d$\\(])
      | \b(?:answer|ans\.?|result)\**[ ]*
            (?:[-=]{1,2}>|[→⟶⇒⟹↦]|\$?\\(?:to|(?:long)?rightarrow|Rightarrow|implies)\b\$?)
      | (?:^|\n)\**(?:final[ ])?answer\**[ ]+[–—][ ]
      | (?:ответ|respuesta|réponse|antwort|risposta|resposta)[ ]*
            (?::|é|\bis\b|\best\b|\bist\b|\bes\b)
      | 答案(?:是|为|：|:)
      | 最终答案
    )[ ]*:?[ ]*""",
    re.VERBOSE | re.IGNORECASE,
)

# A word without which no line has such a phrase: `answer`, the `Ans` of `Ans: 5`, `A:`. It is found
# ten times faster: each alternative begins with a letter, of which the compiler makes a set.
_KEYWORD = re.compile(
    "|".join(
        f"{first}(?i:{rest})"
        for letter, rest in (
            ("a", r"ns|ntwort|\**[ ]*:"),
            ("o", "ption"),
            ("c", "hoice"),
            ("r", "esult|espuesta|éponse|isposta|esposta"),
            ("s", "olution|tatement"),
            ("о", "твет"),
            ("答", "案"),
        )
        for first in sorted({letter, letter.upper()})
    )
)


def _announcements(text: str, start: int, end: int) -> Iterable[re.Match[str]]:
    """The phrases that announce an answer in the line from start to end."""
    if _KEYWORD.search(text, start, end) is None:
        return ()
    return _PHRASE.finditer(text, max(0, start - 1), end)


def _answer_phrase(text: str) -> Extraction | None:
    if labelled := labelled_answers(text):
        return Extraction("answer_phrase", labelled)
    if repeated := repeated_answers(text):
        return Extraction("answer_phrase", repeated, "or")
    end = len(text)
    has_disowned = False
    while end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        last = None
        for match in _announcements(text, start, end):
            if is_disowned(match):
                has_disowned = True
            elif last is None or not is_offered_beside(last, match):
                last = match
        if last is not None:
            return _announced(text, last)
        end = start
    if has_disowned and not _behind_disowned(text):
        return Extraction("answer_phrase", _NOTHING)
    return None


# A number that ends the text, which nothing can take back: the `18` of `The answer is 18.`
_LAST_NUMBER = re.compile(r"[ ]?(-?[0-9]+(?:\.[0-9]+)?)\.?")


def _announced(text: str, announcement: re.Match[str]) -> Extraction:
    """The answer behind its announcement; without statements where it is denied or taken back."""
    position = announcement.end()
    if (number := _LAST_NUMBER.fullmatch(text, position)) is not None:
        return Extraction("answer_phrase", (number[1],))
    if is_taken_back(text, position) or is_undone(text, position, announcement[0]):
        return Extraction("answer_phrase", _NOTHING)
    if (offered := offered_values(text, position)) is not None:
        return Extraction("answer_phrase", offered, "or")
    rest = _rest_behind(text, position)
    statement = _statement(rest) if rest and not _DENIED.match(rest) else ""
    if not statement:
        return Extraction("answer_phrase", _NOTHING)
    hedge = _HEDGE.fullmatch(statement)
    if hedge is not None:
        return Extraction("answer_phrase", (hedge[1].strip(), _without_reason(hedge[2])), "or")
    return Extraction("answer_phrase", (_number_of_sentence(_without_reason(statement)),))


# A sentence about one number, up to it: `It will take `, `Each of them pays exactly $`.
_BEFORE_NUMBER = re.compile(
    r"(?:[A-Z][\w'’]*\s+)(?:[\w'’]+\s+){0,12}?(?:is|are|was|were|be|takes?|took|has|have|had|needs?"
    r"|makes?|made|earns?|gets?|got|pays?|paid|costs?|spends?|spent|saves?|saved|buys?|bought|sells?"
    r"|sold|gives?|contains?|weighs?|runs?|ran|walks?|uses?|used)\s+"
    r"(?:(?:a\s+total\s+of|exactly|only|in\s+total)\s+)?[$*]*"
)


def _number_of_sentence(statement: str) -> str:
    """The one number in an announced sentence of prose: the `13` of `It will take 13 years`."""
    if statement.count(" ") < 2:
        return statement
    numbers = list(_NUMBER.finditer(statement))
    if len(numbers) != 1 or "\\" in statement or _REFUSED.search(statement):
        return statement
    start, end = numbers[0].span()
    if not _BEFORE_NUMBER.fullmatch(statement, 0, start) or is_no_statement(statement, start, end):
        return statement
    is_plain = _PLAIN_END.match(statement, end) is not None
    return numbers[0][0] if is_plain and offered_in_line(statement) is None else statement


# Words that may follow a number in a sentence, none of which changes it: ` years before he earns`.
_PLAIN_END = re.compile(
    r"\**(?:\s+(?!(?:or|and|but|if|unless|times|more|less|fewer|plus|minus|squared|cubed|hundred"
    r"|thousand|million|billion|dozen|percent|half|point)\b)[A-Za-z'’,]+){0,15}[.!*]*$",
    re.IGNORECASE,
)


def _behind_disowned(text: str) -> str:
    """The text behind the last value that is said not to be the answer; all of it without one."""
    end = len(text)
    while end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        disowned = [match for match in _announcements(text, start, end) if is_disowned(match)]
        if disowned:
            behind = text[disowned[-1].end() :].lstrip(" *:\n\t")
            return behind.partition("\n")[2].strip(_BLANK)
        end = start
    return text


def _rest_behind(text: str, end: int) -> str:
    """The text behind the announcement of an answer, without marks at the start of its line."""
    rest = text[end:].lstrip(" *:\n\t")
    marks = text[end : len(text) - len(rest)]
    if "**" in marks:
        rest = _END_OF_BOLD.sub("", rest, count=1)
    if "\n" in marks:
        rest = without_opening(rest)
    adverb = _ADVERB.match(rest)
    return rest[adverb.end() :] if adverb else rest


# The end of bold text before a word: the `**` of `18** apples`.
_END_OF_BOLD = re.compile(r"(?<=[^\s*])\*\*(?=\s+[A-Za-z])")
# A word before an answer that says nothing: the `therefore ` of `The answer is therefore 42.`
_ADVERB = re.compile(
    r"(?:therefore|thus|then|hence|simply|just|indeed|clearly|exactly|precisely|obviously|finally),?\s+"
    r"(?=[\d$\\(*-])",
    re.IGNORECASE,
)


# The beginning of a statement that gives no answer: `not known`, `unclear`.
_DENIED = re.compile(r"(?:not|wrong|incorrect|unknown|unclear|undetermined)\b", re.IGNORECASE)
# An alternative in brackets, behind the first one: `5 (or 6)`.
_HEDGE = re.compile(
    r"([^()]+)\(\s*(?:or|alternatively|maybe|perhaps|possibly)\s+(?:equivalently\s+)?([^()]+)\)"
)


_ENVIRONMENTS = ("align", "align*", "equation", "equation*", "gather", "gather*", "eqnarray")
# The beginning of mathematics: `$`, `\[`, `\begin{align}`.
_OPENING = re.compile(
    r"\$\$|(?<!\\)\$|(?<!\\)\\\[|(?<!\\)\\\(|\\begin\{(?:align|equation|gather)\*?\}|\\begin\{eqnarray\}"
)
_CLOSING = {"$$": "$$", "$": "$", "\\[": "\\]", "\\(": "\\)"} | {
    f"\\begin{{{name}}}": f"\\end{{{name}}}" for name in _ENVIRONMENTS
}


@dataclass(frozen=True)
class _Span:
    """Mathematics between delimiters: its start and end with them, its text without them."""

    start: int
    end: int
    inside: str


def _delimited(text: str) -> list[_Span]:
    """Mathematics between delimiters, in order, in time linear in the text.

    An opening sign that is never closed is looked for once: `unclosed` has such signs.
    """
    found: list[_Span] = []
    unclosed: set[str] = set()
    position = 0
    while (match := _OPENING.search(text, position)) is not None:
        opening = match[0]
        position = match.end()
        if opening in unclosed:
            continue
        end = text.find(_CLOSING[opening], position)
        if opening == "$" and end >= 0:
            line_end = text.find("\n", position, end)
            if line_end >= 0:  # the sign of money
                continue
        if end < 0:
            unclosed.add(opening)
        elif text[position:end].strip():
            found.append(_Span(match.start(), end + len(opening), text[position:end].strip()))
            position = end + len(opening)
    return found


def _without_spans(text: str, spans: Sequence[_Span]) -> str:
    parts, position = [], 0
    for span in spans:
        parts.append(text[position : span.start])
        position = span.end
    return " ".join([*parts, text[position:]])


# The end of a sentence, but neither the point of `3.5` nor that of `p. m.`.
_SENTENCE_END = re.compile(
    r"\n|(?<!\b[A-Za-z])(?<!\d)[.!?](?=\s)|(?<=\d)\.(?=\s|$)|(?<=\b[A-Za-z])\.(?=\s+[A-Z]|\s*$)|。"
)
# A reason or aside at the end of a sentence: `, since x > 0`, `(see above)`, `, not 3`.
_BECAUSE = re.compile(
    r"\((?:see|as|from|by|for|where|since|because)\b[^()]*\)\s*$"
    r"|,\s+(?:and\s+)?not\b.*"
    r"|(?:,|(?<!\s))\s+"
    r"(?:because|since|as we|which|so that|given|when rounded|after|if|in total)\b.*",
    re.IGNORECASE | re.DOTALL,
)


def _statement(rest: str) -> str:
    """The first sentence of a text, or the mathematics in it."""
    if rest.startswith(("\\[", "$$")) and (spans := _delimited(rest[:MAX_ANSWER_CHARACTERS])):
        return spans[0].inside
    line = _without_aside(rest.split("\n", 1)[0])
    end = _SENTENCE_END.search(line)
    if end is not None and line[: end.start()].strip() and not _is_time(line, end.start()):
        line = line[: end.start()]
    return _sentence_math(line) or _trimmed(line)


def _without_reason(statement: str) -> str:
    """A statement in prose without the reason behind it."""
    if "$" in statement:
        return statement
    if statement.endswith(")"):
        statement = _COMPUTATION.sub("", _ASIDE_IN_BRACKETS.sub("", statement))
    statement = _trimmed(_BECAUSE.sub("", statement))
    return statement[:-1] if _EXCLAIMED.search(statement) else statement


# A remark of three words or more behind a number: `7 (8 counts the empty set)`.
_ASIDE_IN_BRACKETS = re.compile(
    r"(?<=\d)\s+\((?![^()]*\b(?:or|either|maybe|perhaps|possibly|if|unless|not|but|mod|modulo|base"
    r"|also|too|otherwise|alternatively)\b)[^()]*?[A-Za-z]{2,}[^()]*?\s[A-Za-z]{2,}[^()]*?"
    r"\s[A-Za-z]{2,}[^()]*\)\s*$",
    re.IGNORECASE,
)
# A computation in brackets behind its result: the ` (6*7)` of `42 (6*7)`.
_COMPUTATION = re.compile(
    r"(?<=\d)\s+\((?:=[-−+*/×·÷=\d\s.,$]+"
    r"|(?:since|as|because|i\.e\.,?)?\s*\$?\d[\d\s.,$]*"
    r"(?:\s[-−/]\s|[-−+*/×·÷=]*[+*×·÷=])[-−+*/×·÷=\d\s.,$]*)\)\s*$"
)
# An exclamation mark behind a number at the end of a sentence in prose: no factorial.
_EXCLAIMED = re.compile(r"\d\**!$")


# The beginning of a clause that explains: `, since`, ` where`.
_ASIDE = re.compile(r",?\s(?:because|since|where|when|as|which|given|so\s+we)(?=\s)", re.IGNORECASE)


def _without_aside(line: str) -> str:
    """A sentence without the clause that explains it, if there is mathematics before that."""
    num_dollars, position = line.count("$"), 0
    for aside in _ASIDE.finditer(line):
        num_dollars -= line.count("$", position, aside.end())
        position = aside.end()
        if num_dollars % 2 == 0:  # it does not begin inside mathematics
            return line[: aside.start()] if "$" in line[: aside.start()] else line
    return line


# The half of the day, from the sign before its first point: ` a.m.`, `pm.`.
_HALF_OF_DAY = re.compile(r"\s?[ap]\.?m?\.", re.IGNORECASE)


def _is_time(line: str, position: int) -> bool:
    """Whether the point at a position belongs to a time of day."""
    return bool(_HALF_OF_DAY.match(line, max(0, position - 1)))


def _sentence_math(line: str) -> str:
    """The mathematics of a sentence, if the rest is prose that only surrounds it."""
    found = _delimited(line)
    if not found:
        return ""
    outside = _without_spans(line, found)
    if len(found) == 1:
        after = line[found[0].end :].strip(" .*")
        before = line[: found[0].start].strip(" *")
        if any(character.isdigit() for character in outside) or (
            after and len(after) < 30 and not before
        ):
            return _trimmed(line)
        return found[0].inside
    words = _JOINT_WORDS.findall(outside)
    if _CONCLUDES.search(line[found[-2].end : found[-1].start]):
        return found[-1].inside
    if any(word.lower() in ("and", "or") for word in words) or not words or _is_list(line, found):
        return line[found[0].start : found[-1].end]
    return found[-1].inside


def _is_list(line: str, spans: Sequence[_Span]) -> bool:
    """Whether mathematics is a list of three values or more: `$5$, $6$, $7$`."""
    gaps = [line[one.end : other.start] for one, other in pairwise(spans)]
    return (
        len(spans) > 2
        and not any("=" in one.inside for one in spans)
        and (all(gap.strip() == "," for gap in gaps))
    )


# A word that leads to a result: the `gives` of `$x = 2$ gives $y = 3$`.
_CONCLUDES = re.compile(
    r"\b(?:giving|gives?|so|thus|hence|therefore|then|yields?|get|is)\b", re.IGNORECASE
)


def _trimmed(line: str) -> str:
    """A line without Markdown, spaces, stars and full stops around it."""
    return without_marks(line.strip()).strip("*").strip().rstrip(".").strip()


def _math(text: str) -> Extraction | None:
    """The whole text where it is a bare answer; else the last mathematics between delimiters."""
    if _is_bare(text) or _is_block(text):
        line = text if "\n" in text else closing_line(text)
        bare = _sentence_math(_without_aside(line)) or _trimmed(_LEAD_IN.sub("", line))
        return Extraction("math", (bare,))
    if listed := listed_values(text) or lone_values(text):
        return Extraction("math", tuple(dict.fromkeys(listed)))
    found = _delimited(text)
    rest = text[found[-1].end :] if found else text
    if _has_open_display(rest) or (found and _breaks_off(rest)):
        return Extraction("math", _NOTHING)
    last_line = closing_line(text)
    if found and stated_words(last_line) is not None:
        return Extraction("math", (last_line,))
    if _is_bare(last_line) and not _OPENING.search(last_line) and not _DISPLAY_END.match(last_line):
        return Extraction("math", (_trimmed(last_line),))
    if not found:
        return None
    if any(character.isdigit() for character in rest):
        return None
    line_start = text.rfind("\n", 0, found[-1].start) + 1
    line = text[line_start:]
    if "\n" not in line and (main := _without_aside(line)) != line:
        return Extraction("math", (_final_side(_sentence_math(main)),))
    if any(span.start >= line_start for span in found[:-1]):
        return Extraction("math", (_final_side(_sentence_math(text[line_start : found[-1].end])),))
    return Extraction("math", (_final_side(found[-1].inside),))


# Words before a bare answer: `So it is `, `Hence, `.
_LEAD_IN = re.compile(
    r"(?:(?:[∴⇒⟹→➜]|=+>|\\(?:therefore|Rightarrow|implies|to)(?![a-z]))\s*)?(?:(?:so|thus|hence|therefore|then)\b,?\s*)?(?:(?:it|that|this)\s+(?:is|equals)\s+)?",
    re.IGNORECASE,
)
# The end of displayed mathematics at the start of a line: `\]`, `$$`.
_DISPLAY_END = re.compile(r"\s*(?:\\\]|\$\$|\\end\{)")
_MAX_WORDS_AFTER = 4
"""Most words that may follow the last mathematics without a full stop; longer text breaks off."""


def _has_open_display(rest: str) -> bool:
    opening = _OPENING.search(rest)
    return opening is not None and opening[0] != "$"


def _breaks_off(rest: str) -> bool:
    """Whether the text after its last mathematics ends in the middle of a sentence."""
    rest = rest.strip(_BLANK + "*")
    return (
        bool(rest)
        and rest[-1].isascii()
        and rest[-1].isalpha()
        and len(_LETTERS.findall(rest)) > _MAX_WORDS_AFTER
    )


def _final_side(statement: str) -> str:
    """The last row of several, and the end of a chain of equations."""
    if "\\begin" not in statement:
        rows = [row for row in statement.split("\\\\") if _FILLED.search(row)]
        if len(rows) > 1 and "&" in statement:
            statement = rows[-1].strip()
            if statement.startswith("&"):
                statement = statement.replace("&", " ").strip().removeprefix("=").strip()
        statement = statement.replace("&", " ")
    if statement.count("=") > 1 and "$" not in statement:
        return statement.rpartition("=")[2].strip()
    return _trimmed(statement)


# A word of ASCII letters: `apples`.
_WORD = re.compile(r"[A-Za-z]{2,}")
# A word, or one letter of another script: `apples`, `中`.
_LETTERS = re.compile(r"[A-Za-z]{2,}|[^\W\d_A-Za-z]")
# A LaTeX command: `\frac`.
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_MATH_WORDS = frozenset(
    (
        "or and sin cos tan log ln sqrt pi exp cm km mm kg mg ml am pm text frac dfrac left "
        "right boxed mathrm degrees degree hours minutes seconds meters dollars cents units"
    ).split()
)


def _is_bare(text: str) -> bool:
    """Whether a text is an answer without anything around it."""
    return (
        "\n" not in text.strip()
        and (len(text) <= MAX_BARE_CHARACTERS or is_formula(text))
        and bool(_FILLED.search(text))
        and not _is_wordy(text)
        and not _leads_to_a_number(text)
        and not _NO_ANSWER.match(text)
    )


# The first digit of a number: the `1` of `It is 12`.
_DIGIT = re.compile(r"\d")


def _leads_to_a_number(text: str) -> bool:
    """Whether words stand before the first number, which then is the answer."""
    digit = _DIGIT.search(text)
    words = _WORD.findall(_COMMAND.sub(" ", text[: digit.start()])) if digit else []
    return sum(word.lower() not in _MATH_WORDS for word in words) > 1


# The beginning of a refusal: `I don't know`.
_NO_ANSWER = re.compile(r"\W*I\s+(?:don['’]?t|do not|cannot|can['’]?t)\b", re.IGNORECASE)


def _is_wordy(text: str) -> bool:
    words = _LETTERS.findall(_COMMAND.sub(" ", text))
    return sum(word.lower() not in _MATH_WORDS for word in words) > 3 and not is_formula(text)


# The beginning of an environment that is an answer by itself: `\begin{pmatrix}`.
_ENVIRONMENT = re.compile(r"\\begin\{([a-zA-Z]{1,20}\*?)\}")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def _is_block(text: str) -> bool:
    """Whether a text in several lines is one environment, or one formula in brackets."""
    text = text.strip()
    if (environment := _ENVIRONMENT.match(text)) is not None:
        end = f"\\end{{{environment[1]}}}"
        is_display = environment[1] in _ENVIRONMENTS
        return not is_display and text.endswith(end) and text.count(environment[0]) == 1
    return text[-1:] == _BRACKETS.get(text[:1], "") != "" and is_formula(text)


# Letters that begin or end no factor: the `so` of `so 3 + 4`, the `the` of `to the left`.
_PROSE = re.compile(
    r"(?<![A-Za-z])[A-Za-z]{2,}(?=\s+\w|\s*[:;.!?\"'’])|\w\s+[A-Za-z]{2,}"
    r"|[A-Za-z]{4,}|[^\W\d_A-Za-zα-ωΑ-Ω]"
)
# A sign that only a formula has: `+`, `=`, `^`.
_OPERATOR = re.compile(r"[-+*/^=<>_,\\]")


def is_formula(text: str) -> bool:
    """Whether a text is a formula altogether, whatever its length: `4ab + 3cd + ... + 7ij`."""
    if len(text) > MAX_ANSWER_CHARACTERS or not _OPERATOR.search(text):
        return False
    return _PROSE.search(_NAME.sub(_without_name, text)) is None


# A command, or a word that may be the name of a function: `\cdot`, `sin`.
_NAME = re.compile(r"\\[a-zA-Z]+\*?|[A-Za-z]{2,}")


def _without_name(name: re.Match[str]) -> str:
    return "," if name[0][0] == "\\" or name[0].lower() in _MATH_WORDS else name[0]


# A number in prose: `1 3/4`, `10:30 a.m.`, `3:4`, `$1,250.50`, `-.5`, `20%`, `\frac{1}{2}`.
_NUMBER = re.compile(
    r"""(?<![A-Za-z0-9_.,])(?:±\s*|[-−])?[$€£]?[-−]?
        (?: \d+\s+\d+/\d+
          | \d{1,2}:\d\d(?:\s*[AaPp]\.?[Mm]\.?)
          | \d+(?:\s*:\s*\d+)+
          | \d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+(?:\.\d+)?)?
          | \.\d+ )
        (?:\s*(?:\\?%|percent))?(?![A-Za-z0-9_])
      | (?<![A-Za-z0-9_.,])[-−]?[$€£]?\d[\d,]*(?:\.\d+)?
      | \\d?frac\{-?\d+\}\{-?\d+\}""",
    re.VERBOSE,
)
# A word that refuses an answer or denies one: `cannot`, `is not`.
_REFUSED = re.compile(
    r"\b(?:cannot|can['’]t|could not|isn['’]t|is not|not|wrong|incorrect|unable"
    r"|no\s+es|non\s+è|não\s+é|n['’]est\s+pas|nicht|не|niet|inte|ikke)\b|不是|不等于|ではな|아니",
    re.IGNORECASE,
)
# The space between two sentences: behind the full stop of `So 2. Then`.
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
# A word that makes the number behind it a label: the `Step ` of `Step 3`.
_LABEL = re.compile(r"(?:step|case|equation|problem|question|figure|part)\s*$", re.IGNORECASE)


def _last_expression(text: str) -> Extraction | None:
    """The last number of the last line, or the option that the line names."""
    lines = [line for line in text.split("\n") if line.strip() and not _CHECK.match(line)]
    line = lines[-1] if lines else ""
    if "/" in line or "pm" in line or "minus" in line.lower():
        line = _TWO_SIGNS.sub("±", line)
    choices = _choices(line)
    if choices is None and stated_words(sentence := closing_line(line)) is not None:
        return Extraction("last_expression", (sentence,))
    if choices is not None or _REFUSED.search(line):
        return choices
    sentences = _SENTENCE.split(line)
    if len(sentences) > 1 and _breaks_off(sentences[-1]) and not _NUMBER.search(sentences[-1]):
        return None
    numbers = [
        match
        for match in _NUMBER.finditer(line)
        if not _LABEL.search(line, max(0, match.start() - 12), match.start())
    ]
    if not numbers:
        return None
    if _BOUND.fullmatch(line.strip()):
        return Extraction("last_expression", (line.strip().rstrip("."),))
    if is_no_statement(line, numbers[-1].start(), numbers[-1].end()):
        return None
    if (either := offered_in_line(line)) is not None:
        return Extraction("last_expression", either, "or")
    if (formula := _closing_formula(line, *numbers[-1].span())) is not None:
        return Extraction("last_expression", (formula,))
    listed = _listed_at_end(line, numbers)
    if len(listed) > 2 or (len(listed) == 2 and _LEADS_TO_LIST.search(line, 0, listed[0].start())):
        return Extraction("last_expression", tuple(_number_text(match[0]) for match in listed))
    kept = [numbers[-1]]
    for match in reversed(numbers[:-1]):
        between = line[match.end() : kept[-1].start()]
        if not _OR_BETWEEN.fullmatch(between.strip()):
            break
        kept.append(match)
    statements = dict.fromkeys(_number_text(match[0]) for match in reversed(kept))
    return Extraction("last_expression", tuple(statements), "or" if len(statements) > 1 else "list")


# A part of a formula in plain text: a number, a letter, a function, a root, an exponent, a bracket.
_FACTOR_OF_FORMULA = (
    r"(?:\d+(?:\.\d+)?(?!\d)|(?:sqrt|sin|cos|tan|ln|log|pi|exp|[a-zπθ])(?![A-Za-z])|√|[²³⁴⁵⁶⁷⁸⁹ⁿ]"
    r"|\\(?:pi|sqrt|d?frac|cdot|times)(?![A-Za-z])|[(){}!^])"
)
# A formula that ends a sentence in plain text, perhaps with a unit in words behind it: the `36π
# square units` of `The area is 36π square units.`, the `3 to 4` of `The ratio is 3 to 4.`
_CLOSING_FORMULA = re.compile(
    r"(?:\b(?:is|are|equals?|be|becomes|get|obtain|gives?|yields?|to)\s+|[=≈]\s*|:\s+)"
    rf"(?P<formula>[-−+±]?\s?{_FACTOR_OF_FORMULA}+(?:\s?(?:[-−+*/·×÷]|\*\*)\s?{_FACTOR_OF_FORMULA}+)*)"
    r"(?P<words>(?:\s+(?:square|cubic|units?|cm|m|km|mm|in|ft|inch(?:es)?|feet|(?:centi|kilo)?met(?:er|re)s?"
    r"|miles?|radians?)(?:\^?[23]|[²³])?){0,3})[.!]?\s*$"
    r"|\b(?:ratio|odds)\b[^.]*\s(?:is|are|=)\s+(?P<ratio>\d+\s+to\s+\d+)[.!]?\s*$"
)
# A sign that only a formula has; a letter behind a number alone may be a unit: `5m`.
_OF_FORMULA = re.compile(
    r"[π√^²³⁴⁵⁶⁷⁸⁹ⁿ]|(?<![A-Za-z])(?:sqrt|pi)(?![A-Za-z])|[xyznab](?![A-Za-z])"
)
_MAX_FORMULA = 100
"""Most characters of a formula at the end of a line of prose."""


_BEFORE_FACTOR = frozenset("-−+*/^√(·×÷=πxto")
_BEHIND_FACTOR = frozenset("-−+*/^√()·×÷π²³⁴⁵⁶⁷⁸⁹ⁿxyznab\\s")


def _closing_formula(line: str, start: int, end: int) -> str | None:
    """The formula with which a line of prose ends; None where it ends with a mere number.

    Args:
        line: a line.
        start: the start of its last number.
        end: the end of that.
    """
    before, behind = line[:start].rstrip()[-1:], line[end:].lstrip()[:1]
    if before not in _BEFORE_FACTOR and behind not in _BEHIND_FACTOR:
        return None
    match = _CLOSING_FORMULA.search(line, max(0, len(line) - _MAX_FORMULA))
    if match is None:
        return None
    if match["ratio"]:
        return str(match["ratio"])
    formula = match["formula"]
    return f"{formula}{match['words']}" if _OF_FORMULA.search(formula) else None


# Two signs for one number: the `plus or minus` of `It is plus or minus 5`.
_TWO_SIGNS = re.compile(
    r"\b(?:plus|minus)\s*(?:or|/)\s*(?:plus|minus)\b|\+\s?/\s?[-−]|\\pm\b", re.IGNORECASE
)
# A bound, which is no value: `at least 5`.
_BOUND = re.compile(
    r"(?:at\s+(?:least|most)|(?:more|less|fewer|greater|smaller)\s+than|up\s+to)\s+\S+",
    re.IGNORECASE,
)
# Words or a bracket before a list of two numbers: `values are `, `average of `, `choice([`.
_LEADS_TO_LIST = re.compile(
    r"(?:[:(\[{]|\b(?:are|were|is|be|both|either|neither|values?|answers?|options?|numbers?|roots?"
    r"|solutions?|candidates?|possibilities|choose|pick|say|of|equals?|try)\b[:*]*)[\s*$]*$",
    re.IGNORECASE,
)
# The text between two numbers of a list: `, `, ` and `, `, and `.
_LISTED = re.compile(r"[,;&]|(?:,\s*)?and", re.IGNORECASE)


def _listed_at_end(line: str, numbers: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The numbers of the list with which a line ends: those of `Possible values: 5, 6, 7`."""
    listed = [numbers[-1]]
    for match in reversed(numbers[:-1]):
        # The pattern of a number takes a comma behind it: the `5,` of `5, 6`.
        between = line[match.start() + len(match[0].rstrip(",")) : listed[-1].start()].strip()
        if not _LISTED.fullmatch(between):
            break
        listed.append(match)
    return listed[::-1]


# The `or` between two numbers, in any language: `3, or 4`.
_OR_BETWEEN = re.compile(
    r"(?:,\s*)?(?:or|oder|ou|o|u|или|либо|lub|of|eller|veya|atau|hoặc|或者?|还是|または|もしくは|또는|혹은)",
    re.IGNORECASE,
)


def _number_text(text: str) -> str:
    return text.strip().rstrip(",").replace("−", "-")


def _choices(line: str) -> Extraction | None:
    """The options that a line without numbers names, and does not reject."""
    if _NUMBER.search(line):
        return None
    chosen = chosen_letters(line)
    return Extraction("last_expression", chosen, "or") if chosen else None


_FINDERS: dict[str, Callable[[str], Extraction | None]] = {
    "boxed": _boxed,
    "hashes": _hashes,
    "answer_phrase": _answer_phrase,
    "math": _math,
    "last_expression": _last_expression,
}
