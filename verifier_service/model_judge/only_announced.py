"""Answers that only announce one, and hold none: no model is asked about them."""

from __future__ import annotations

import re

# Words in LaTeX: `\text{Solution}`.
_IN_TEXT = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf)\s?\{([^{}]*)\}")
# What announces an answer and gives none: `Thought process:`, `Solution`, `Let's solve this step by
# step.`. Model judges have paid for each of these alone (arXiv 2507.08794).
_ANNOUNCEMENT = re.compile(
    r".{0,200}[:：]"
    r"|(?:the )?(?:final )?(?:answer|solution|thought process|reasoning|explanation|conclusion)"
    r"|let[’']?s (?:solve|think|work|go|break)\b[^.0-9=]{0,100}"
    r"|解答?|答案|解决方案|かいせつ|解説|답|풀이|respuesta|soluci[oó]n|r[ée]ponse|antwort|l[öo]sung",
    re.IGNORECASE,
)


def says_nothing(answer: str) -> bool:
    """Whether a cleaned answer holds no answer: nothing but signs, or an announcement of one.

    >>> says_nothing(":"), says_nothing("Thought process:"), says_nothing("Paris")
    (True, True, False)
    """
    if not any(map(str.isalnum, answer)):
        return True
    bare = _IN_TEXT.sub(r"\1", answer).rstrip(".!… ")
    return _ANNOUNCEMENT.fullmatch(bare) is not None
