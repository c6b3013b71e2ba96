"""Answers to other questions: the 42 of `In the example the answer is 42. Here it is 7.`

A model that has not learnt to stop goes on behind its answer with a question of its own, which it
answers, too. What stands behind the heading of such a question is no part of the completion.
"""

from __future__ import annotations

import re

# Words without which no text names another question.
_WORDS = tuple(
    "xample|ample |revious|arlier|receding|rior |he old |ormer |he last |ifferent |ther q".split(
        "|"
    )
)
_OTHER = (
    r"(?:(?:previous|preceding|earlier|prior|former|old|other|different|sample|example)"
    r"\s){1,2}"
)
_QUESTION = r"(?:question|problem|exercise|example|task|sample|case\sabove|one)"
_NAME = (
    rf"(?:the|an?|that|your)\s(?:{_OTHER}{_QUESTION}|example"
    r"|last\s(?:question|problem|exercise))"
)
# A value that ends its clause: ` 42.`, ` \boxed{42},`.
_VALUE = (
    r"\s[*_$]{0,3}(?:\\boxed\{[^{}\n]{1,60}\}|\$?[^\s$]{1,40}?)[*_$]{0,3}"
    r"(?=[.,;!]?(?:\s|\Z))(?:\s[a-z]{1,12}){0,2}"
)
# A clause about another question: `The answer to the previous question was 42`, `In the example,
# the answer is 42`, `The sample answer is 42`.
_CLAUSE = re.compile(
    rf"(?:\A|(?<=[\n.!?;])\s?|(?<=[\n.!?;]\s)|(?<=\*\*))(?:(?:note\sthat|recall\sthat|we\sknow\sthat)\s)?(?:"
    rf"(?:in|for|from|to|as\sin)\s{_NAME}(?:\sabove)?,?\s(?:we\s(?:had|got|have|get|found)|it\s(?:is|was)"
    rf"|the\s(?:final\s|correct\s)?(?:answer|result|solution)\s(?:is|was)|(?:answer|result)\s(?:is|was))"
    rf"|the\s(?:final\s|correct\s)?(?:answer|result|solution)\s(?:to|of|for|in|from)\s{_NAME}(?:\sabove)?\s(?:is|was)"
    r"|previously,?\sthe\s(?:answer|result)\swas"
    rf"|{_NAME}['\u2019]s\s(?:final\s|correct\s)?(?:answer|result|solution)\s(?:is|was)"
    r"|the\s(?:(?:(?:example|old)\s(?:answer|result|solution)|sample\sanswer)\s(?:is|was)"
    r"|(?:previous|preceding|earlier|prior|former)\s(?:answer|result|solution)\swas)"
    rf"){_VALUE}[.,;!]?",
    re.IGNORECASE,
)


def without_other_questions(text: str) -> str:
    """The text without clauses that give the answer to another question.

    >>> without_other_questions("The answer to the previous question was 42. Here it is 7.")
    ' Here it is 7.'
    >>> without_other_questions("In this example the answer is 42.")
    'In this example the answer is 42.'
    """
    if not any(map(text.__contains__, _WORDS)):
        return text
    return _CLAUSE.sub("", text)


# The heading of a question at the beginning of a line: `Question:`, `**Problem:**`, `Q:`. One with
# a number is a part.
_HEADING = re.compile(
    r"(?:\A|\n)[ \t]{0,9}(?:#{1,4}[ ]|\*\*)?(?:(?:(?:Next|New)[ ])?(?:Question|Problem|Exercise)|Q"
    r"|Instruction)(?:\*\*)?[ ]?:"
)
# The beginning of a turn of a user: `Human:` at the beginning of a line, `<|im_start|>user`.
_TURN = re.compile(
    r"(?:\A|\n)[ \t]{0,9}(?:#{1,4}[ ]|\*\*)?(?:Human|User)(?:\*\*)?[ ]?:"
    r"|<\|im_start\|>\s?user|<\|start_header_id\|>\s?user|\[INST\]"
)
_HEADING_SIGNS = (
    *("Question", "Problem", "Exercise", "Human", "User", "Instruction"),
    *("Q:", "Q :", "Q**", "<|", "[INST]"),
)
"""Signs without which no text has such a heading or turn."""
# An answer that is announced: `The answer is (B)`, `**Answer:** 5`, `\boxed{5}`, `#### 5`; neither
# that of a part or an example nor `I will answer this: see below.`
_ANNOUNCED = re.compile(
    r"(?:^[\W_]{0,9}(?:(?:so|thus|hence|therefore),?\s)?"
    r"|\b(?:the|final|my|our|correct|right|best)\s[*_]{0,3})(?:answer|ans)\b"
    r"[^\n.]{0,40}?(?:\bis\b|:|=)\W{0,9}(?!(?:see|below|given|found|explained)\b)[^\W_]|\\boxed\s?\{\s{0,3}[^\s}]"
    r"|####[ ]?\S|</answer>|(?:答案|选)[是为:：]?\W{0,3}\w",
    re.IGNORECASE,
)
# The end of a sentence about a part of the question: the `For part one ` before `the answer is 4`.
_OF_A_PART = re.compile(r"\b(?:part|first|example)\b[^.!?\n]{0,200}\Z", re.IGNORECASE)
_MAX_CLOSING_LINE = 600
"""Longest end of the line before a heading in which an announced answer is sought."""


def without_next_question(text: str) -> str:
    """The text up to the question with which it goes on right behind its answer.

    Any turn of a user may be that question; of headings, such as `Question:`, the first one alone.

    >>> without_next_question("The answer is (B).\\n\\nQuestion: What else? The answer is (A).")
    'The answer is (B).'
    >>> without_next_question("Question: What else? The answer is (A).")
    'Question: What else? The answer is (A).'
    """
    if not any(map(text.__contains__, _HEADING_SIGNS)):  # the pattern takes far longer
        return text
    heading = _HEADING.search(text)
    starts = [turn.start() for turn in _TURN.finditer(text)]
    for start in sorted(starts if heading is None else [*starts, heading.start()]):
        if _has_answered(text[max(0, start - _MAX_CLOSING_LINE) : start].rstrip()):
            return text[:start].rstrip()
    return text


# A text that is nothing but an answer: `20`, `**$5.50**`, `(B)`.
_ONLY_ANSWER = re.compile(
    r"[\s*_$(]{0,9}(?:[-−]?[$€£]?\d(?:[\d,./]{0,20}\d)?%?(?:\s[a-z]{1,15}){0,2}|[A-J])[)$*\s]{0,6}"
)


def _has_answered(text: str) -> bool:
    """Whether the last line of a text announces an answer that is none to a part.

    A text that is nothing but an answer needs no announcement.
    """
    if _ONLY_ANSWER.fullmatch(text):
        return True
    line = text[text.rfind("\n") + 1 :]
    announced = _ANNOUNCED.search(line)
    return announced is not None and _OF_A_PART.search(line, 0, announced.start()) is None
