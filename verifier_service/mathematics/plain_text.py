"""The text of an answer before it becomes tokens: unwrapped, rewritten, or turned into a key.

Delimiters, boxes, bold and the like say nothing and are taken off. Some ways of writing, such as
`3 out of 4` and `1,234`, are replaced by simpler ones that say the same.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from verifier_service.mathematics.derivatives import with_primes
from verifier_service.mathematics.interval_notation import with_usual_brackets
from verifier_service.mathematics.notation import FUNCTIONS, GREEK, SHORT_WORDS
from verifier_service.mathematics.number_notation import may_be_lakhs, with_plain_numbers
from verifier_service.mathematics.part_labels import with_letters_of_parts

MAX_REMARKED_CHARACTERS = 400
"""Longest text at whose end a remark is sought: the search takes quadratic time at worst."""
# Delimiters around a whole text: `$$2$$`, `$2$`, `\(2\)`, `\[2\]`.
_DELIMITED = re.compile(
    r"\s*(?:\$\$(?P<a>[^$]*)\$\$|\$(?P<b>[^$]*)\$|\\\((?P<c>.*)\\\)|\\\[(?P<d>.*)\\\])\s*",
    re.DOTALL,
)
# A dollar that is not escaped: both of `$2$`, but not that of `\$5`.
_DOLLAR = re.compile(r"(?<!\\)\$")
# The end of a row with the space behind it: `\\[4pt]`.
_ROW_WITH_SPACE = re.compile(
    r"\\\\\[\s{0,9}-?\d{1,3}(?:\.\d{1,3})?\s{0,9}(?:pt|em|ex|mm|cm|in)\s{0,9}\]"
)
# A command that says that its argument is text, with the argument: `\text{ cm}`.
_TEXT_COMMAND = re.compile(
    r"\\(?:text|mathrm|textrm|textbf|mathbf|textit|mbox|operatorname)\s*\{([^{}]*)\}"
)
# Capitals in text behind a number, a unit and no variables: the T of `5\text{ mT}`.
_SIGN_IN_TEXT = re.compile(
    r"\d(?:\\[,;: ]|[\s~])*\\(?:text|mathrm|textrm|mbox)\s*"
    r"\{\s*(?:[fpnmkMGT]?[A-Z]|[A-Z]{2,4})\s*\}"
)
# The ending of an ordinal number after its digits: the `th` of `5th` and of `5^{\text{th}}`.
_ORDINAL_ENDING = re.compile(
    r"(?<=\d)\s{0,3}(?:\^?\s{0,3}\{?\s{0,3}(?:\\(?:text|mathrm|textrm|textsuperscript)\s{0,3}\{\s{0,3})?"
    r"(?:st|nd|rd|th)\s{0,3}\}?\s{0,3}\}?)(?![a-zA-Z])"
)
# Digits in groups of three, after the first group: `1,234,567`, `12 000`, `1{,}234`, `1\,234`.
# Digits, points and commas before it, and an underscore (`x_1, 200`), make it something else.
_GROUPED = re.compile(
    r"(?<![\d.,])(?<!_)(\d{1,3})"
    r"((?:(?:\\[,!:; ]|(?:\{,\}|,\\!) ?|,|[ '’_\u202f\u2009\u00a0])\d{3})+)(?![\d])"
)
# A group of digits that begins with 0 is no element of a list: the `,000` of `1,000`.
_GROUP_WITH_ZERO = re.compile(r",0\d")
# The same without a plain comma or space, which separate elements in brackets: `(1\,000, 2\,000)`.
_GROUPED_IN_BRACKETS = re.compile(
    r"(?<![\d.,])(?<!_)(\d{1,3})"
    r"((?:(?:\\[,!:;]|(?:\{,\}|,\\!) ?|['’\u202f\u2009])\d{3})+)(?![\d])"
)
# A number in bold with spaces between its digits, as scanned solutions have it: `\mathbf{1 7}`.
_SPACED_DIGITS = re.compile(r"\\(?:math|text)bf\s?\{\d(?: [\d.,/]){1,12}\s?\}")
# Decimals in groups of three behind the point: `0.000\,001`, `3.141 592 654`.
_GROUPED_DECIMALS = re.compile(
    r"(?<![\d.,])(\d{1,20}\.\d{3})"
    r"((?:(?:\\[,:;]|[ \u202f\u2009])\d{3})+(?:(?:\\[,:;]|[\u202f\u2009])\d{1,2})?|"
    r"(?:\\[,:;]|[\u202f\u2009])\d{1,2})(?![\d.])"
)
# A separator of such groups: a comma or a space, each also as LaTeX writes it.
_GROUP_SEPARATOR = re.compile(r"\\[,!:; ]|\{,\}|,\\!|[, '’_\u202f\u2009\u00a0]")
_BRACKETS = ("(", "[", "{", "\\{", "\\left")

_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # A colour: `\color{red}`.
        (r"\\textcolor\s*\{[^{}]*\}|\\color\s*\{[^{}]*\}", ""),
        # A factorial before an equality sign: `5!=120`; `5 != 6` and `x_1!=2` are denied ones.
        (
            r"(?:(?<=\\cdot)|(?<=\\times)|(?<![\w^.{(]))(\d+)!=(?=\s*[-−\d\\({])",
            r"\1! =",
        ),
        # A root sign before a number without brackets: `√12`, `∛64`.
        (r"√\s*(\d+(?:\.\d+)?)", r"\\sqrt{\1}"),
        (r"∛\s*(\d+(?:\.\d+)?)", r"\\sqrt[3]{\1}"),
        # Two signs as words or signs of a keyboard: `plus or minus 3`, `+/- 3`.
        (r"(?<![a-zA-Z])(?:plus(?:\s+or\s+|\s*/\s*)minus)(?=\s*[\d\\($])|\+/[-−]", r"\\pm "),
        (r"(?<![a-zA-Z])(?:minus(?:\s+or\s+|\s*/\s*)plus)(?=\s*[\d\\($])|[-−]/\+", r"\\mp "),
        # A sign as a word: `negative 3`.
        (r"^(?:negative|minus)\s+(?=\S)", "-"),
        # A row of numbers turned into a column: `[1, 2]^T`.
        (
            r"^([\[(][^\[\]()]*,[^\[\]()]*[\])])\s*\^\s*\{?\s*"
            r"(?:T|\\top|\\intercal|\\(?:text|mathrm|mathsf)\{T\})\s*\}?$",
            r"\1",
        ),
        # A matrix or a list as a program prints it: `Matrix([[1, 2], [3, 4]])`.
        (
            r"^\s*(?:(?:sp|sympy|np|numpy)\.)?(?:Matrix|array|matrix)\(\s*(\[.{1,1000}\])\s*\)\s*$",
            r"\1",
        ),
        # The imaginary unit of a program: `2 + 3*I`.
        (r"^([-−]?[\d./]{1,20}\s*[-+−]\s*\d{1,20}(?:\.\d{1,20})?)\s*\*\s*I$", r"\1 i"),
        # A vector between signs of a keyboard: `<1, 2>`.
        (r"^<([^<>=]{1,200},[^<>=]{1,200})>$", r"\\langle \1\\rangle"),
        # Hours and minutes: `2h30`.
        (r"^(\d{1,3})\s?h\s?([0-5]\d)$", r"\1 h \2 min"),
        # A fraction as words: `3 out of 4`.
        (r"^\s*(\d+)\s+out of\s+(\d+)\s*$", r"\1/\2"),
        # A ratio as words: `3 to 4`.
        (r"^\s*(\d+)\s+to\s+(\d+)\s*$", r"\1:\2"),
        # The ending of an ordinal number: `5th`.
        (_ORDINAL_ENDING.pattern, ""),
        # The letter x as a sign of multiplication: `2 x 10^3`.
        (r"(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))", "*"),
    )
)

# The space or the end of a row before another equation, and the space between two numbers: the
# `\quad` of `x = 5 \quad y = 7`.
_BETWEEN_EQUATIONS = re.compile(
    r"(?<=[^\s,;:])\s*(?:\\q?quad|\\\\)\s*(?=(?:[a-zA-Z]|\\[a-z]{2,8})(?:_\{?\w+\}?)?\s*=)"
    r"|(?<=\d)\s*\\q?quad\s*(?=-?\d)"
)

# The name of the tangent or cotangent in eastern Europe and China: `\operatorname{tg}`.
_OTHER_TANGENT = re.compile(r"\\(?:operatorname|mathrm|text)\s*\{\s*(c|co)?tg\s*\}")
# Rows behind one brace: `\left\{\begin{array}{l} x = 1 \\ y = 2 \end{array}\right.` The
# point at the end is lost where a full stop is taken off.
_BRACED_ROWS = re.compile(
    r"\\left\s*\\(?:\{|lbrace)\s*\\begin\{(?P<name>array|matrix|aligned|align|split|gathered)\}"
    r"(?:\s*\{[lcr|\s]{1,9}\})?(?P<rows>.{1,1000}?)\\end\{(?P=name)\}\s*\\right\s*\.?",
    re.DOTALL,
)

# Punctuation at the end of a row: the comma of `x = 1, \\`.
_END_OF_ROW = re.compile(r"[,;.]\s{0,9}(?=\\\\|\Z)")

# Words that change what an answer says, so that they are no mere remark: `not`, `mod`, `million`.
_TELLING = (
    r"mod|modulo|base|binary|hex|not|no|none|never|or|nor|either|neither|perhaps|maybe|possibl[ey]|"
    r"might|could|may|wrong|incorrect|false|invalid|un\w+|unless|except\w*|exclud\w+|without|if|when|"
    r"where|for|but|both|and|also|too|other|others|another|alternativ\w+|instead|rather|else|"
    r"plus|minus|times|over|negative|positive|squared|cubed|half|twice|double|hundreds?|"
    r"thousands?|millions?|billions?|percent|dozens?|approx\w*|about|around|roughly|nearly|almost|"
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|zero|"
    r"sin|cos|tan|ln|log|sqrt|exp|per|less|more|least|most|than|sold|left|right|open|closed"
)
_LONE_REMARKS = (
    r"exact|verified|checked|proved|proven|simplified|reduced|minimum|maximum|minimal|maximal|only|"
    r"final|answer|solution|required|optimal|integer|constant|confirmed|correct"
)
# How often a root counts: `double root`, `with multiplicity 2`.
_MULTIPLICITY = (
    r"(?:an? )?(?:double|triple|repeated)(?:[ -](?:root|solution|zero))"
    r"|(?:with |of )?multiplicity (?:\d|two|three)"
)
_REMARK_WORDS = (
    rf"(?:{_MULTIPLICITY}|(?!(?:[a-z'’-]+[ ,]+)*(?:{_TELLING})\b)"
    rf"(?:[a-z'’-]{{2,}}(?:[ ,]+[a-z'’-]+)*[ ,]+[a-z'’-]{{2,}}|{_LONE_REMARKS}))"
)
_TEXT = r"\\(?:text|textrm|textbf|textit|mathrm|mbox)\s*\{\s*"
# A remark in brackets at the end of an answer, or a sign that ends a proof: `(as required)`,
# `\text{ (the only root)}`, `(\text{minimum})`, `\checkmark`.
_REMARK = re.compile(
    r"(?<=[^\s~])(?:\\[ ,;:]|\\q?quad|[\s~])*"
    rf"(?:(?P<brackets>[(\[])\s*(?:{_TEXT})?{_REMARK_WORDS}\s*\}}?\s*[)\]]"
    rf"|{_TEXT}[(\[]\s*{_REMARK_WORDS}\s*[)\]]\s*\}}"
    r"|(?:(?<=[^a-zA-Z\\])|(?<=quad))\\(?:checkmark|blacksquare|square|Box|qed)|[✓✔✅∎■])[\s.]*$"
)

# Another number in brackets, which the answer is said not to be: the ` (not 43)` of `42 (not 43)`.
_CONTRAST = re.compile(
    r"(?<=[\d}])\s*(?:\\text\s*\{\s*)?\(\s*(?:and\s+)?not\s+\$?[-−]?\d[\d.,/]*\$?\s*\)\s*\}?[\s.]*$"
)
# The end of a remark: `d)`, `city 2)`, `t})`, `d]}`, `\checkmark`, `✓`.
_REMARK_END = re.compile(r"(?:(?:[a-z]|city \d)\s*[)\]}]|mark|square|Box|qed|[✓✔✅∎■])[)\]}\s.]*$")

# Texts in which a rewriting of words may apply.
_MAY_HAVE_WORDS = re.compile(
    r"['’]s|choose|except|mapsto| (?:is|must be) (?:at|great|less|more)|\d over \d"
    r"|\d to \d|\\ne|≠|all real"
)
_BOUND = r"[-−]?\d{1,15}(?:[./]\d{1,15})?"
_WORD_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # The verb of a sentence without a subject, in short: `It's 5`.
        (r"^(?:[Ii]t|[Tt]hat|[Tt]his)['’]s\s+", "it is "),
        # A fraction as it is said: `7 over 24`.
        (r"^([-−]?\d{1,15}) over (\d{1,15})$", r"\1/\2"),
        # A bound of a variable as words: `x is at least 2`.
        (
            rf"^([a-zA-Z]) (?:is|must be) (?:at least|greater than or equal to) (?={_BOUND}$)",
            r"\1 \\ge ",
        ),
        (
            rf"^([a-zA-Z]) (?:is|must be) (?:at most|less than or equal to) (?={_BOUND}$)",
            r"\1 \\le ",
        ),
        (rf"^([a-zA-Z]) (?:is|must be) (?:greater|more) than (?={_BOUND}$)", r"\1 > "),
        (rf"^([a-zA-Z]) (?:is|must be) less than (?={_BOUND}$)", r"\1 < "),
        # A function by what it does with its variable: `f: x \mapsto 2x`.
        (r"^([a-zA-Z])\s*(?::|\\colon(?![a-z]))\s*([a-z])\s*\\mapsto(?![a-z])", r"\1(\2)="),
        (r"^([a-z])\s*(?:\\mapsto(?![a-z])|↦)(?=.*(?<![a-zA-Z\\])\1(?![a-zA-Z]))", r"f(\1)="),
        # A binomial coefficient as words: `10 choose 3`.
        (r"^\s*(\d+)\s+choose\s+(\d+)\s*$", r"\\binom{\1}{\2}"),
        # A set as words: `all real numbers except x = 2`.
        (
            r"^\s*(?:all\s+)?real(?:s|\s+(?:numbers|values))(?:\s+of\s+x)?\s+except(?:\s+for)?\s+"
            r"(?:x\s*=\s*)?([^,;=]{1,40})$",
            r"x \\ne \1",
        ),
        # An interval as words: `all real numbers greater than 2`.
        (rf"^all real numbers (?:x )?(?:greater|larger) than (?={_BOUND}$)", "x > "),
        (rf"^all real numbers (?:x )?less than (?={_BOUND}$)", "x < "),
        (rf"^all real numbers (?:x )?greater than or equal to (?={_BOUND}$)", r"x \\ge "),
        (rf"^all real numbers (?:x )?less than or equal to (?={_BOUND}$)", r"x \\le "),
        # Two values that a letter does not have: `x \ne 1, -1`.
        (
            rf"^([a-zA-Z])\s*(?:\\neq?(?![a-z])|≠)\s*({_BOUND})(?:\s*,(?!\d{{3}}(?!\d))\s*|\s+and\s+)({_BOUND})$",
            r"\1 \\ne \2, \1 \\ne \3",
        ),
        # A ratio of three numbers in words: `2 to 3 to 5`.
        (r"^(\d{1,9}) to (\d{1,9}) to (\d{1,9})$", r"\1:\2:\3"),
    )
)

# Texts in which a rewriting of money or of `log10(` may apply.
_MAY_HAVE_MONEY = re.compile(
    r"[$€£]\s?\d[\d.,]*\s?[kKMB]\b|€|EUR|uro|[Rr]s\.|pounds|sterling|log\d"
)
_MONEY_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # A decimal comma before or behind the sign of the euro: `€12,50`.
        (r"((?:€|EUR)\s*\d{1,9}),(\d\d)(?!\d)", r"\1.\2"),
        (r"(?<![\d.,])(\d{1,9}),(\d\d)(?=\s*(?:€|EUR|[Ee]uros?\b))", r"\1.\2"),
        # Thousands, millions and billions in short: `$3.5B`.
        (r"((?:\\?\$|€|£)\s?\d[\d.,]*)\s?[kK](?!\s?[\w^$])", r"\1 thousand"),
        (r"((?:\\?\$|€|£)\s?\d[\d.,]*)\s?M(?!\s?[\w^$])", r"\1 million"),
        (r"((?:\\?\$|€|£)\s?\d[\d.,]*)\s?B(?!\s?[\w^$])", r"\1 billion"),
        # A pound sign as a command, and rupees with their full stop: `Rs.500`.
        (r"\\(?:text)?(?:pounds|sterling)(?![a-zA-Z])", "£"),
        (r"\b([Rr]s)\.\s*(?=\d)", r"\1 "),
        # A logarithm with its base, as programs write it: `log10(5)`.
        (r"(?<![\\A-Za-z])log(2|10)(?=\()", r"\\log_{\1}"),
    )
)

# Commands that only size or set what follows, and dollars: `\left`, `\displaystyle`.
_DRESS = re.compile(r"\\(?:left|right|displaystyle|bigg?|Bigg?)(?![a-zA-Z])|\$")
# White space, also as LaTeX writes it: `\quad`, `\,`, `~`.
_SPACING = re.compile(r"\\(?:quad|qquad|[ ,;:!])|~|\s+")
# Signs of LaTeX whose arguments braces hold together: `x^{12}`. Elsewhere braces say nothing.
_BRACES_MATTER = re.compile(r"[\\^_]")
# Punctuation at the end of a word, and quotation marks around one: `"yes",`.
# `1, 2` and `1: 2` differ: between numbers and letters punctuation says something, and so it does
# behind a number that is asked, goes on or begins a ratio: `5?`, `5...`, `5:`.
_KEY_PUNCTUATION = re.compile(
    r"(?:(?<=[^\W\d_][^\W\d_])[,;:?]|[\"`“”]|(?<!\.)\.(?!\.))+(?=\s|$)|[,;]+(?=\s*$)|"
    r"(?<=\s)[\"`“”]+|^[\"`“”]+"
)
# An article before a word, but not before a variable: the `the` of `the circle`.
_ARTICLE = re.compile(
    r"(?<![^\s])(?:the|an?)\s+"
    rf"(?!\\?(?:{'|'.join(sorted(FUNCTIONS))})(?![a-z]))(?=[a-z]{{3}})",
    re.IGNORECASE,
)
# A word of at least three letters, whose case says nothing: `Circle`, but not `AB`.
_WORD = re.compile(r"[^\W\d_][^\W\d_'-]{2,}")
# Letters in pairs of the same letter: the genotype `AaBb`.
_GENOTYPE = re.compile(r"(?:([A-Za-z])(?i:\1)){2,}")
# White space of any length, which becomes one space.
_WHITE_SPACE = re.compile(r"\s+")


# Words with a sign of exclamation at their end: `Yes!`, `It is Paris!`.
_EXCLAMATION = re.compile(r"(?:[^\W\d_]+(?:['’-][^\W\d_]+)*,?\s+)*(?P<last>[^\W\d_]+)\s?!+")


def _is_exclamation(text: str) -> bool:
    """Whether the sign at the end of a text is no factorial, as it is behind variables: `xyz!`."""
    match = _EXCLAMATION.fullmatch(text)
    last = match["last"].lower() if match else ""
    return last in SHORT_WORDS or (len(last) > 3 and last not in GREEK)


@lru_cache(maxsize=16)  # one reading of a text asks several times
def unwrapped(text: str) -> str:
    """The text without its delimiters, box, bold and final full stop.

    >>> unwrapped(r"**$\\boxed{2}$**.")
    '2'
    """
    while True:
        before = text
        text = _without_stars(text.strip()).strip()
        if text.endswith(".") and not text.endswith("..") and "..." not in text[-4:]:
            text = text[:-1]
        if (match := _DELIMITED.fullmatch(text)) is not None:
            text = next(inside for inside in match.groups() if inside is not None)
        if text.startswith(("\\boxed{", "\\fbox{")) and text.endswith("}"):
            text = text[text.index("{") + 1 : -1]
        text = text.rstrip(",;^。．।۔")
        if text.endswith("!") and _is_exclamation(text):
            text = text.rstrip("!")
        if text == before:
            return text


def _without_stars(text: str) -> str:
    """A text without the stars of Markdown; the one of `5*` or of `R^*` is a sign."""
    if text.startswith("*") and text.endswith("*") and not text.endswith("^*"):
        return text.strip("*")
    return text.removeprefix("* ").removeprefix("**").removesuffix("**")


def without_delimiters(text: str) -> str:
    """The text without delimiters of mathematics inside it: `$2$ and $3$`."""
    if "\\\\[" in text:
        text = _ROW_WITH_SPACE.sub(r"\\\\ ", text)
    text = text.replace("\\(", " ").replace("\\)", " ").replace("\\[", " ").replace("\\]", " ")
    text = text.replace("\\\\$", "\\$")
    num_dollars = len(_DOLLAR.findall(text))
    if num_dollars == 0:
        return text
    # Delimiters come in pairs, so one of an odd number of dollars is money.
    return _DOLLAR.sub(" " if num_dollars % 2 == 0 else r"\\$", text)


def text_command_arguments(text: str) -> str:
    """The text with the arguments of `\\text` and the like in place of the commands."""
    return _TEXT_COMMAND.sub(r"\1", text)


def without_text_commands(text: str) -> str:
    """The text with spaces around the arguments of `\\text` in place of the commands."""
    if "\\" not in text:
        return text
    return _WHITE_SPACE.sub(" ", _TEXT_COMMAND.sub(r" \1 ", text)).strip()


def without_ordinal_endings(text: str) -> str:
    """The text with numbers in place of ordinal numbers: `March 5` for `March 5th`."""
    return _ORDINAL_ENDING.sub("", text)


# A line that gives a letter its value: `a = -6`.
_ASSIGNMENT = re.compile(r"\s*(?P<name>[a-zA-Z](?:_\w)?)\s*=(?P<value>[^=,;\n]+)[,;.\s]{0,9}")


def _with_commas_between_lines(text: str) -> str:
    """Lines that each give another letter its value as a list; any other text as it is."""
    lines = [_ASSIGNMENT.fullmatch(line) for line in text.strip().split("\n") if line.strip()]
    found = [line for line in lines if line is not None]
    names = {line["name"] for line in found}
    if len(found) < len(lines) or len(names) < len(found):
        return text
    return ", ".join(f"{line['name']} = {line['value'].strip(' .')}" for line in found)


def rewritten(text: str) -> str:
    """The text with simpler ways of writing in place of others that say the same.

    >>> rewritten("3 out of 4"), rewritten("1,234,567"), rewritten("2 x 10^3")
    ('3/4', '1234567', '2*10^3')
    """
    if "bf{" in text:
        text = _SPACED_DIGITS.sub(lambda number: number[0].replace(" ", ""), text)
    text = with_primes(_OTHER_TANGENT.sub(_as_tangent, without_remark(text)))
    words = without_text_commands(text)
    if "\\" not in words and not _SIGN_IN_TEXT.search(text):
        text = words
    if _MAY_HAVE_WORDS.search(text):
        for pattern, replacement in _WORD_REWRITES:
            text = pattern.sub(replacement, text)
    if "\\left" in text and "\\begin" in text:
        text = _BRACED_ROWS.sub(_as_environment, text)
    text = with_letters_of_parts(with_usual_brackets(with_plain_numbers(text)))
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    if "\n" in text:
        text = _with_commas_between_lines(text)
    if "\\q" in text or ("\\\\" in text and "\\begin" not in text):
        text = _BETWEEN_EQUATIONS.sub(", ", text)
    if _MAY_HAVE_MONEY.search(text):
        for pattern, replacement in _MONEY_REWRITES:
            text = pattern.sub(replacement, text)
    if "." in text:
        text = _GROUPED_DECIMALS.sub(_joined_groups, text)
    in_brackets = text.startswith(_BRACKETS)  # (3,100) is a pair
    return (_GROUPED_IN_BRACKETS if in_brackets else _GROUPED).sub(_joined_groups, text)


def _as_tangent(name: re.Match[str]) -> str:
    return r"\cot " if name[1] else r"\tan "


def _as_environment(braced: re.Match[str]) -> str:
    """The cases of a function, or the equations of a system: cells that end with `=` set those."""
    rows = _END_OF_ROW.sub("", braced["rows"])
    is_aligned = re.search(r"&\s*=|=\s*&", rows) is not None
    name = "aligned" if is_aligned else "cases"
    return rf"\begin{{{name}}}{rows}\end{{{name}}}"


def _joined_groups(number: re.Match[str]) -> str:
    """The digits of a number without the separators between its groups."""
    return number[1] + _GROUP_SEPARATOR.sub("", number[2])


# A number with a decimal comma, perhaps with points between groups of digits: `3,5`, `1.234,5`,
# `3{,}5`. In `1,2,3` and `1, 2` the commas separate elements.
_DECIMAL_COMMA = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d+)(?:,|\{,\})(\d+)(?![\d}]|[.,]\d|\{,\})"
)
# Digits in several groups with points between them: `1.234.567`.
_POINTED_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.,]\d|\d)")


def with_decimal_points(text: str) -> str:
    """The text with decimal points in place of decimal commas.

    >>> with_decimal_points("3,5"), with_decimal_points("1.234,5"), with_decimal_points("(3,5; 4)")
    ('3.5', '1234.5', '(3.5; 4)')
    >>> with_decimal_points("1,2,3"), with_decimal_points("1, 2")
    ('1,2,3', '1, 2')
    """
    text = _DECIMAL_COMMA.sub(lambda number: number[1].replace(".", "") + "." + number[2], text)
    return _POINTED_GROUPS.sub(lambda number: number[0].replace(".", ""), text)


def without_remark(text: str) -> str:
    """The text without a remark in brackets at its end that changes nothing of what it says.

    >>> without_remark("8 (the smallest such integer)"), without_remark(r"e \\text{ (exact)}")
    ('8', 'e')
    >>> without_remark("8 (mod 9)"), without_remark("8 (or nine)")
    ('8 (mod 9)', '8 (or nine)')
    """
    if len(text) > MAX_REMARKED_CHARACTERS:
        return text
    if "not" in text and (contrast := _CONTRAST.search(text)) is not None:
        return text[: contrast.start()]
    if not _REMARK_END.search(text, len(text) - 16):
        return text
    match = _REMARK.search(text)
    if match is None:
        return text
    before = text[: match.start()]
    return before if before.endswith("..") else before.removesuffix(".")


def has_grouped_digits(text: str) -> bool:
    """Whether a comma may separate groups of digits, or elements of a list: `1,234`."""
    if "," not in text or _GROUP_WITH_ZERO.search(text):
        return False
    return _GROUPED.search(text) is not None or may_be_lakhs(text)


def text_key(text: str) -> str:
    """A key of what a text says: two texts with one key differ only in how they are dressed.

    >>> text_key(r"\\text{Line segment,  and Circle.}") == text_key("line segment, and circle")
    True
    """
    text = _TEXT_COMMAND.sub(r" \1 ", _SPACING.sub(" ", unwrapped(text)))
    text = _LOGIC.sub(_as_logic, _DRESS.sub("", text))
    text = _NAMED_SIGN.sub(_as_command, text)
    if not _BRACES_MATTER.search(text):
        text = text.replace("{", "").replace("}", "")
    text = _ARTICLE.sub("", _KEY_PUNCTUATION.sub(" ", text))
    return " ".join(folded(word) if _is_word(word) else word for word in text.split())


# A sign of logic by any of its names: `\wedge` or `∧` for `\land`.
_LOGIC = re.compile(r"\\(?P<name>land|wedge|lor|vee|neg|lnot|to|rightarrow)(?![a-zA-Z])|[∧∨¬→]")
_LOGIC_SIGNS = {
    "land": "∧", "wedge": "∧", "lor": "∨", "vee": "∨", "neg": "¬", "lnot": "¬", "to": "→",
    "rightarrow": "→",
}  # fmt: skip


def _as_logic(sign: re.Match[str]) -> str:
    return f" {_LOGIC_SIGNS[sign['name']] if sign['name'] else sign[0]} "


# A sign of geometry, or the dots of a series, which have several names: `△`, `∥`, `\cdots`.
_NAMED_SIGN = re.compile(r"[△∥∠⊥⊙∀∃…]|\\[cld]?dots(?![a-zA-Z])|(?<=[-+,])\s?\.{3}")
_SIGN_NAMES = {
    "△": "triangle", "∥": "parallel", "∠": "angle", "⊥": "perp", "⊙": "odot",
    "∀": "forall", "∃": "exists",
}  # fmt: skip


def _as_command(sign: re.Match[str]) -> str:
    return f" \\{_SIGN_NAMES.get(sign[0], 'ldots')} "


def folded(word: str) -> str:
    """A word in small letters without accents; a genotype as it is, whose capitals say something.

    >>> folded("Circle"), folded("AaBb"), folded("São")
    ('circle', 'AaBb', 'sao')
    """
    if _GENOTYPE.fullmatch(word):
        return word
    if not word.isascii():
        word = _ACCENT.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", word).casefold()


# The accent of a Latin letter: that of the `ã` in `São`.
_ACCENT = re.compile(r"(?<=[A-Za-z])[\u0300-\u036f]+")


def _is_word(text: str) -> bool:
    """Whether the case of letters says nothing: `Circle`, `YES`, but not that of `XYZ` or `xyZ`."""
    if not _WORD.fullmatch(text):
        return False
    return len(text) > 3 or text.istitle() or text.lower() in SHORT_WORDS
