"""Words that announce an answer, such as `The final answer is`, and the answers behind them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verifier_service.mathematics.closing_numbers import number_text
from verifier_service.mathematics.denials import (
    is_disowned,
)
from verifier_service.mathematics.reconsidered_answers import with_slashes
from verifier_service.mathematics.withdrawn_answers import (
    has_value,
)

# Words that announce an answer: `The final answer is`, `The answer (Yes or No) is`, `**Answer:**`,
# `Ответ:`.
PHRASE = re.compile(
    r"""(?:
        (?:\b(?:final|correct|right)[ ])?(?:answer|option|choice|result|solution)s?
            (?:[ ](?:to|for|of)[ ](?:(?!,[ ](?:so|as|since|because|hence|thus)\b)[^\n.:]){0,80}?)?
            (?:[ ]\([A-Za-z][A-Za-z ,]{1,40}\))?
            \**[ ]*(?:(?<![A-Za-z])(?:is|are|(?:would|must|should|will)[ ]be)\b[ ]*:?
                |=(?![=>])|[:：])\**
      | (?:^|\n)\**(?:A(?!\**[ ]*:[^\n]{0,200}[,;\n]\s{0,5}\**B\**[ ]*[:=])|Ans|Ans\.|答案)\**[ ]*:
      | \b(?:correct|right|true)[ ]statements?[ ](?:is|are)\b[ ]*:?
      | (?:^|\n)\**Ans\.\**[ ]*(?=[-\d$\\(])
      | \b(?:answer|ans\.?|result)\**[ ]*
            (?:[-=]{1,2}>|[→⟶⇒⟹↦]|\$?\\(?:to|(?:long)?rightarrow|Rightarrow|implies)\b\$?)
      | (?:^|\n)\**(?:final[ ])?answer\**[ ]+[–—-][ ]
      | (?:ответ|respuesta|réponse|antwort|risposta|resposta)[ ]*
            (?::|é|\bis\b|\best\b|\bist\b|\bes\b)
      | (?:答案|正确选项)(?:是|为|：|:|[】\]］]\**[ ]*[：:]?\**)
      | 最终答案(?:是|为)?
      | (?<![不未])正确的(?:选项|结论|说法|命题|序号)?(?:是|为|有)(?=[：:]?[ ]*[(（]?[A-J①-⑨])
      | (?:(?:^|\n)|(?<=[案故应此以则上述题是而知，,。；;：:]))(?:应)?选(?:择|项)?(?:选项)?
            [ ]*(?:[：:][ ]*)?(?=\(?[A-J]{1,6}(?![A-Za-z]))
      | (?:答え|정답|답|đáp[ ]án|odpowied[źz]|cevap|jawaban)\**[ ]*[：:]
      | (?:^|(?<=[\n*#>|,.:;!।۔،]))[ ]{0,9}
            (?:(?:отже|тому|इसलिए|अतः|সুতরাং|তাই|hivyo|إذن|لذا|پس)[ ])?
            (?:(?:правильна|остаточна|सही|अंतिम|সঠিক|చివరి|సరైన)[ ])?
            (?:jibu(?:[ ]sahihi)?|відповідь|উত্তর(?:[ ](?:হলো|হল|হচ্ছে))?|उत्तर(?:[ ]है)?
            |คำตอบ(?:คือ)?|సమాధానం|ال(?:إجابة|اجابة|جواب)(?:[ ]ه[يو])?|پاسخ)\**[ ]*[：:]\**
            (?-i:(?=[\s*(]{0,4}[A-J](?:[)\]*.।۔ \t]{0,6}(?:\n|\Z)
                |\**[).:][ ](?![^\n]{0,300}(?<![A-Za-z])[A-J](?![A-Za-z])))))
    )[ ]*[:：]?[ ]*""",
    re.VERBOSE | re.IGNORECASE,
)

# A word without which no line has such a phrase: `answer`, the `Ans` of `Ans: 5`, `A:`. It is found
# ten times faster: each alternative begins with a letter, of which the compiler makes a set.
KEYWORD = re.compile(
    "|".join(
        f"{first}(?i:{rest})"
        for letter, rest in (
            ("a", r"ns|ntwort|\**[ ]*:"),
            ("o", "ption|dpowied"),
            ("c", "hoice|evap"),
            ("r", "esult|espuesta|éponse|isposta|esposta"),
            ("о", "твет"),
            ("đ", "áp"),
            ("j", "awaban|ibu"),
            ("s", "olution|tatement"),
            ("в", "ідповідь"),
            ("উ", "ত্তর"),
            ("उ", "त्तर"),
            ("ค", "ำตอบ"),
            ("స", "మాధానం"),
            ("ا", "ل(?:إجابة|اجابة|جواب)"),
            ("پ", "اسخ"),
            ("答", "案|え"),
            ("정", "답"),
            ("답", r"\**[ ]*[：:]"),
            ("选", "择|选项|项|[ ：:(]*[A-J]"),
            ("正", "确(?:选项|的)"),
        )
        for first in sorted({letter, letter.upper()})
    )
)


def announcements(text: str, start: int, end: int) -> Iterable[re.Match[str]]:
    """The phrases that announce an answer in the line from start to end, or at its end."""
    start = max(start, end - _MAX_LINE)
    if KEYWORD.search(text, start, end) is None:
        return ()
    found = PHRASE.finditer(text, max(0, start - 1), end)
    return (one for one in found if not _is_heading(text, one.start()))


def _is_heading(text: str, start: int) -> bool:
    """Whether words that could announce an answer head options, a solution or a remark on one."""
    headings = (
        _LISTS_OPTIONS, _GOES_THROUGH_OPTIONS, _OTHER_OPTIONS, _HEADS_SOLUTION, _TELLS_HOW,
    )  # fmt: skip
    return any(heading.match(text, start) for heading in headings)


# A heading and the first words of a derivation: `Solution: Let x`, `Solution:\n2x = 6\nx`,
# `【答案】\n解:由题意`. But `Solution:\nx = 3\ny = 4` is an answer.
_HEADS_SOLUTION = re.compile(
    r"\W{0,4}(?i:solution)s?\**[ ]?[:：]\**(?:\s{0,9}\**(?:Let|We|First|Firstly|To|Given|Since"
    r"|Because|Suppose|Assume|Consider|Note|Notice|Observe|By|From|Using|Step|Start|Begin|Recall"
    r"|Define|Denote|According|Here|Now|If|As|For|Set|Call|Write)\b(?=[^\n]{0,200}[=$\d]|[^\n]{60})"
    r"|[ \t]{0,9}\n\s{0,9}(?![-*•]|\$?\$?[A-Za-z]\s?=[^=\n]{0,60}\n)"
    r"[^\n=]{1,100}=[^\n]{1,200}\n[ \t]{0,9}(?=[^\n]{0,200}[=\d])\S)"
    r"|\W{0,4}答案[】\]］]?\**[:：]?\**\s{0,9}解(?:[:：析法答](?!几何|式)|由|题|因)"
)
# A remark on the answer: `the final answer is an approximation, as ...`, `the answer is based on`.
_TELLS_HOW = re.compile(
    r"\W{0,4}(?i:(?:the\s+)?(?:final\s+|correct\s+)?answer\**\s+(?:is|was)\s+(?:only\s+|just\s+)?"
    r"(?:an?\s+)?(?:rough\s+|close\s+)?(?:approximation|approximate|estimate|estimation"
    r"|based\s+on|subject\s+to|derived\s+from)(?![^\n]{0,80}[:=≈]))\b"
)
_MAX_LINE = 20_000
"""Longest end of a line in which phrases are sought: each takes 30 microseconds."""
# The options of a question, which announce nothing: `Choices:\n(A) yes\n(B) no`.
_LISTS_OPTIONS = re.compile(
    r"\W{0,3}(?:answer[ ])?(?:options?|choices?)\**[ ]?:\**\s{0,9}"
    r"\(?A[).:][ ][^\n]{0,400}\s{1,9}\(?B[).:][ ]",
    re.IGNORECASE,
)
# A heading above lines that go through the options, of which the first is no answer:
# `Let's analyze each option:\n\n* **A. lead:** too heavy.\n* **B. tin:** fits.`
_LABEL_IN_LINE = r"\n[\s*#>•–-]{0,15}+(?:option\s|choice\s)?\(?"
_GOES_THROUGH_OPTIONS = re.compile(
    r"(?:\W{0,3}(?:answer[ ])?(?:options|choices)|(?:(?<=each\s)|(?<=every\s))(?:option|choice))\**"
    r"(?:[ ](?:for|of|to)[ ][^\n.:]{0,80}|[ ]are)?[ ]?:[ *]{0,9}"
    rf"(?={_LABEL_IN_LINE}(?P<first>[A-J])[).:*])[^\0]{{4,2000}}?"
    rf"{_LABEL_IN_LINE}(?!(?P=first))[A-J][).:*]",
    re.IGNORECASE,
)


# The options that are not chosen, which the words behind do not name: those of `The other options
# are less likely:`, not of `The other options are C and D`.
_OTHER_OPTIONS = re.compile(
    r"(?<=\bother\s)(?:options|choices)\**[ ]?"
    r"(?::[ *]{0,4}\n|are[ ](?![\s*$(\\:]{0,9}(?:[-−]?\d|[a-j]\b)))",
    re.IGNORECASE,
)


# A number that ends its sentence behind an announcement: the `41` of `The answer is **41** apples.`
_ANNOUNCED_NUMBER = re.compile(
    r"[\s*$(\\\[]{0,8}(?:\\boxed\{)?(?P<value>[-−]?\d[\d,]*(?:\.\d+)?(?:/\d+)?"
    r"|[-−]?\\[dt]?frac\{\d{1,9}\}\{\d{1,9}\})[)}\]$*\\]{0,6}"
    r"(?:[ ][a-z]{1,12}){0,2}"
    r"(?:[*.!]{0,4}[ ]{0,9}(?:\n|\Z)"
    r"|[*]{0,2}[.!][*]{0,2}[ ]{1,9}(?=[*A-Z])(?!However|But|Wait|No\b|That))",
    re.ASCII,
)
# Words of a line that does not say which answer the completion gives: `If twice were allowed, `,
# `Many students think that `.
_OTHER_CASE = re.compile(
    r"\b(?:if|unless|would|were|had|common|commonly|tempting|mistakenly|previous|old|earlier|wrong|naive|initial)\b"
    r"|\b(?:students?|people|some|many|others|one|you)\s(?:\w+\s){0,2}"
    r"(?:might|may|thinks?|says?|believes?|assumes?|guess(?:es)?|answers?|writes?)\b"
    r"|\b(?:case|part|when|where|for)\b(?!.*,\s(?:so|thus|hence|therefore)\b)",
    re.IGNORECASE,
)


def other_announced(text: str, end: int, inside: str) -> str | None:
    """The number that the text behind an answer announces in the place of that; else None.

    Args:
        text: a text.
        end: a position behind the answer in it.
        inside: the answer.
    """
    if len(text) - end < _FEWEST_ANNOUNCING or not any(map(str.isdigit, inside)):
        return None
    last = None
    if KEYWORD.search(text, end) is not None:
        for match in PHRASE.finditer(text, end):
            start = max(end, match.start() - _MAX_BEFORE_PHRASE)
            start = max(start, text.rfind("\n", start, match.end() - 1) + 1)
            if not is_disowned(match) and not _OTHER_CASE.search(text, start, match.end()):
                last = _ANNOUNCED_NUMBER.match(text, match.end()) or last
    if last is None and (hashes := text.rfind("####", end)) >= 0:
        last = _ANNOUNCED_NUMBER.match(text, hashes + 4)
    if last is None or has_value(with_slashes(inside), with_slashes(last["value"])):
        return None
    return number_text(last["value"])


_MAX_BEFORE_PHRASE = 200
"""Most characters of a line before a phrase in which another case is looked for."""
_FEWEST_ANNOUNCING = 6
"""Fewest characters behind a box that can announce another answer: `#### 4`."""
