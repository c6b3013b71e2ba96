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


# The heading of a question at the beginning of a line, or a token that begins the turn of a user:
# `Question:`, `**Problem:**`, `Q:`, `Human:`, `<|im_start|>user`. One with a number is a part.
_HEADING = re.compile(
    r"(?:\A|\n)[ \t]{0,9}(?:#{1,4}[ ]|\*\*)?(?:(?:(?:Next|New)[ ])?(?:Question|Problem|Exercise)|Q"
    r"|Human|User|Instruction)(?:\*\*)?[ ]?:"
    r"|<\|im_start\|>\s?user|<\|start_header_id\|>\s?user|\[INST\]"
)
_HEADING_SIGNS = (
    *("Question", "Problem", "Exercise", "Human", "User", "Instruction"),
    *("Q:", "Q :", "Q**", "<|", "[INST]"),
)
"""Signs without which no text has such a heading."""
# An answer that is announced: `The answer is (B)`, `**Answer:** 5`, `\boxed{5}`, `#### 5`.
_ANNOUNCED = re.compile(
    r"\b(?:answer|ans)\b[^\n.]{0,40}?(?:\bis\b|:|=)\W{0,9}[^\W_]|\\boxed\s?\{\s{0,3}[^\s}]"
    r"|####[ ]?\S|</answer>|(?:答案|选)[是为:：]?\W{0,3}\w",
    re.IGNORECASE,
)
_MAX_CLOSING_LINE = 600
"""Longest end of the line before a heading in which an announced answer is sought."""


def without_next_question(text: str) -> str:
    """The text up to the heading of a question with which it goes on right behind its answer.

    >>> without_next_question("The answer is (B).\\n\\nQuestion: What else? The answer is (A).")
    'The answer is (B).'
    >>> without_next_question("Question: What else? The answer is (A).")
    'Question: What else? The answer is (A).'
    """
    if not any(map(text.__contains__, _HEADING_SIGNS)):  # the pattern takes far longer
        return text
    heading = _HEADING.search(text)
    if heading is None:
        return text
    before = text[: heading.start()].rstrip()
    start = max(before.rfind("\n") + 1, len(before) - _MAX_CLOSING_LINE)
    return before if _ANNOUNCED.search(before, start) else text
