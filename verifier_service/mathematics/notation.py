"""From the ways people and models write mathematics to one list of tokens.

LaTeX, Unicode symbols, Python syntax and plain text all end here, so that no later stage needs to
know how something was written. Reading is linear in the length of the text.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from verifier_service.mathematics.units import UNITS

MAX_TOKENS = 5_000


class Unreadable(Exception):
    """The text is not mathematics as this package reads it."""


class Kind(Enum):
    """What a token is."""

    NUMBER = auto()
    """Digits with an optional decimal part, as written."""
    LETTER = auto()
    """A variable or constant: a letter or the name of a Greek one."""
    FUNCTION = auto()
    """A named function or LaTeX command with arguments: sin, sqrt, frac."""
    SIGN = auto()
    """An operator, relation, bracket or separator."""
    WORD = auto()
    """A word of prose or a unit, lower case kept."""


class Token(NamedTuple):
    """A token; `spaced` says whether white space stands before it."""

    kind: Kind
    text: str
    spaced: bool = False


FUNCTIONS = frozenset(
    (
        "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp sqrt "
        "max min gcd lcm abs floor ceil arccot asin acos atan cosec"
    ).split()
)
GREEK = frozenset(
    (
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
        "sigma tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi "
        "Omega infty ell hbar mho aleph imath jmath square triangle star dagger wp"
    ).split()
)
_GREEK_COMMANDS = {"varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "varrho": "rho"}

_COMMANDS: dict[str, str] = {
    # command: what stands for it
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "pm": "±", "mp": "∓", "le": "<=",
    "leq": "<=", "leqslant": "<=", "leqq": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=",
    "geqq": ">=", "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "cup": "∪",
    "bigcup": "∪", "cupdot": "∪", "sqcup": "∪", "cap": "∩", "in": "∈",
    "to": "→", "rightarrow": "→", "implies": "→", "Rightarrow": "→", "mid": "mid", "vert": "|",
    "lvert": "|", "rvert": "|", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋",
    "lceil": "⌈", "rceil": "⌉", "lbrace": "\\{", "rbrace": "\\}", "lbrack": "[", "rbrack": "]",
    "circ": "°", "degree": "°", "textdegree": "°", "prime": "'", "colon": ":", "setminus": "∖",
    "backslash": "∖", "emptyset": "∅", "varnothing": "∅", "approx": "≈", "equiv": "≡", "sim": "~",
    "lor": "or", "vee": "or", "land": "and", "wedge": "and", "cdots": "…", "ldots": "…",
    "dots": "…", "dotsc": "…", "dotsb": "…", "vdots": "…", "choose": "choose", "percent": "%",
}  # fmt: skip
_IGNORED_COMMANDS = frozenset(
    (
        "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle "
        "displaystyle textstyle limits nolimits quad qquad thinspace enspace hfill newline "
        "nonumber boldsymbol mathstrut hline centering scriptstyle rm bf it"
    ).split()
)
_FONT_COMMANDS = frozenset(
    (
        "mathbf mathit mathsf mathcal mathfrak vec bm pmb large Large LARGE huge small "
        "mathbb underline"
    ).split()
)
"""Commands whose one argument is read as if they were not there."""
_TEXT_COMMANDS = frozenset(
    (
        "text mathrm textrm textbf textit textsf mbox hbox operatorname texttt textnormal emph"
    ).split()
)
FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"})
_BINOMIALS = frozenset({"binom", "dbinom", "tbinom"})
MATRICES = frozenset("matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix array".split())

_UNICODE = str.maketrans(
    {
        "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "∕": "/", "⁄": "/", "−": "-", "–": "-",
        "—": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-", "≤": "<=", "⩽": "<=", "≥": ">=",
        "⩾": ">=", "≠": "!=", "π": r"\pi ", "∞": r"\infty ", "√": r"\sqrt ", "′": "'", "’": "'",
        "‘": "'", "“": '"', "”": '"', "″": "''", "º": "°", "∘": "°", "˚": "°", "θ": r"\theta ",
        "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "λ": r"\lambda ", "μ": r"\mu ",
        "σ": r"\sigma ", "φ": r"\phi ", "ω": r"\omega ", "δ": r"\delta ", "ρ": r"\rho ",
        "½": r"\frac{1}{2}", "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}",
        "¾": r"\frac{3}{4}", "⅕": r"\frac{1}{5}", "⅛": r"\frac{1}{8}", "⅜": r"\frac{3}{8}",
        "∨": " or ", "∧": " and ", "（": "(", "）": ")", "，": ",", "、": ",", "：": ":", "；": ";",
        "。": ".", "％": "%", "＝": "=", "＋": "+", "\u00a0": " ", "\u2009": " ", "\u202f": " ",
        "\u200b": "", "\u2061": "", "\ufeff": "", "∣": "|", "〈": "⟨", "〉": "⟩",
        "ℝ": "R", "ℤ": "Z", "ℕ": "N", "ℚ": "Q", "𝑥": "x", "𝑦": "y",
    }
)  # fmt: skip
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˣ", "0123456789+-nx")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-")
_SUPERSCRIPT_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˣ]+")
_SUBSCRIPT_RUN = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋]+")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
"""Full-width, Arabic-Indic and other decimal digits."""

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n~]+ | \\[,;:!>\ ] | \\(?![a-zA-Z{}%$\\&_\#|]) )
    | (?P<number>
        (?:\d+(?:\.\d+|\.(?=\\overline|\\dot|\\bar))?|\.\d+)
        (?:[eE][+-]?\d{1,4}(?![0-9a-zA-Z.]))?
      )
    | (?P<row>\\\\(?![a-zA-Z]))
    | \\+(?P<command>[a-zA-Z]+)\*?
    | \\(?P<escaped>[{}%$&_\#|])
    | (?P<word>[^\W\d_]+(?:['-][^\W\d_]{2,})*)
    | (?P<sign><=|>=|!=|==|\*\*|->|=>|\.\.\.|''|[^\s])
    """,
    re.VERBOSE | re.ASCII,
)
_SIGN_SYNONYMS = {"==": "=", "**": "^", "->": "→", "=>": "→", "...": "…", "''": '"'}
"""Python's and typewriter signs."""

SHORT_WORDS = frozenset(
    (
        "am an and are as at be but by can day days did do does for had has he her him his "
        "how if in is it its job man may me my new no nor not now odd of old on one or our "
        "out own red say see set she sky so sum ten the to too top two up us use was way we "
        "who why yes yet you six all any boy cat dog few got let men mon tue wed thu fri sat "
        "sun jan feb mar apr jun jul aug sep oct nov dec net non per pop run sea son tax tie "
        "toy via war win age art bag ban bar bat bed bee big bit box bus buy car cow cup cut "
        "egg end eye fan far fat fly fun gas god hat hit hot ice joe key kid lab leg lie lip "
        "lot low mad map mat mix mom mud nut oil pan pay pea pen pet pie pig pin pot ran ray "
        "rob rod row sad saw sea sim sit sum sun tea tim tom van wet zoo left bob ann amy eve "
        "ben dan don sue max min ted ray roy hen ham jam toe dna usa dne sq cu"
    ).split()
)
"""Words of two or three letters that are not products of variables."""


def tokenize(text: str) -> list[Token]:
    """The tokens of a text.

    Raises:
        Unreadable: more than MAX_TOKENS, or unbalanced `\\text{`.

    >>> [token.text for token in tokenize(r"\\dfrac{1}{2}x \\le 3\\text{ cm}")]
    ['frac', '{', '1', '}', '{', '2', '}', 'x', '<=', '3', 'cm']
    """
    tokens: list[Token] = []
    _scan(_plain(text), tokens)
    return tokens


def _plain(text: str) -> str:
    if not text.isascii():
        text = _SUPERSCRIPT_RUN.sub(lambda run: f"^{{{run[0].translate(_SUPERSCRIPTS)}}}", text)
        text = _SUBSCRIPT_RUN.sub(lambda run: f"_{{{run[0].translate(_SUBSCRIPTS)}}}", text)
        text = _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text).translate(_UNICODE)
    if "\f" in text or "\t" in text:
        # "\frac" and "\text" whose escape a careless JSON or Python writer has taken for a
        # control character.
        text = text.replace("\frac", "\\frac").replace("\text", "\\text")
    return text.replace("\\newline", " ")


def _scan(text: str, tokens: list[Token]) -> None:
    position, end, spaced = 0, len(text), False
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:  # a combining mark or a control character
            position += 1
            continue
        position = match.end()
        kind = match.lastgroup
        if kind == "space":
            spaced = True
            continue
        if len(tokens) > MAX_TOKENS:
            raise Unreadable("too long")
        found = match[kind or 0]
        if kind == "number":
            tokens.append(Token(Kind.NUMBER, found, spaced))
        elif kind == "row":
            tokens.append(Token(Kind.SIGN, "\\\\", spaced))
        elif kind == "command":
            position = _command(found, text, position, spaced, tokens)
        elif kind == "escaped":
            if found in "{}":
                tokens.append(Token(Kind.SIGN, "\\" + found, spaced))
            elif found == "|":
                tokens.append(Token(Kind.SIGN, "|", spaced))
            elif found in "%$&":
                tokens.append(Token(Kind.SIGN, found, spaced))
        elif kind == "word":
            _word(found, spaced, tokens)
        elif found != '"' or tokens:
            tokens.append(Token(Kind.SIGN, _SIGN_SYNONYMS.get(found, found), spaced))
        spaced = False


def _command(name: str, text: str, position: int, spaced: bool, tokens: list[Token]) -> int:
    """Add what a LaTeX command stands for; return where reading goes on."""
    if name in _TEXT_COMMANDS:
        return _text_argument(text, position, spaced, tokens)
    if name in ("begin", "end"):
        start, stop = text.find("{", position), text.find("}", position)
        if start != position or stop < 0:
            raise Unreadable(f"\\{name} without a name")
        tokens.append(Token(Kind.FUNCTION, f"{name} {text[start + 1 : stop].rstrip('*')}", spaced))
        stop += 1
        if tokens[-1].text == "begin array" and text[stop : stop + 1] == "{":
            stop = text.find("}", stop) + 1 or stop
        return stop
    if name in _IGNORED_COMMANDS:
        if name in ("left", "right") and text[position : position + 1] == ".":
            position += 1
        return position
    if name in _FONT_COMMANDS:
        return position
    if name in FRACTIONS:
        tokens.append(Token(Kind.FUNCTION, "frac", spaced))
    elif name in _BINOMIALS:
        tokens.append(Token(Kind.FUNCTION, "binom", spaced))
    elif name in FUNCTIONS or name in ("overline", "boxed", "fbox", "dot", "bar"):
        tokens.append(Token(Kind.FUNCTION, "boxed" if name == "fbox" else name, spaced))
    elif name in GREEK or name in _GREEK_COMMANDS:
        tokens.append(Token(Kind.LETTER, _GREEK_COMMANDS.get(name, name), spaced))
    elif name in _COMMANDS:
        sign = _COMMANDS[name]
        kind = Kind.WORD if sign in ("or", "and") else Kind.SIGN
        tokens.append(Token(kind, sign, spaced))
    elif name == "textcirc":
        tokens.append(Token(Kind.SIGN, "°", spaced))
    elif name in ("hspace", "vspace", "phantom", "label", "tag", "color"):
        return _skip_group(text, position)
    else:
        tokens.append(Token(Kind.FUNCTION, name, spaced))
    return position


def _skip_group(text: str, position: int) -> int:
    if text[position : position + 1] != "{":
        return position
    end = matching_brace(text, position)
    return len(text) if end is None else end + 1


def _text_argument(text: str, position: int, spaced: bool, tokens: list[Token]) -> int:
    while text[position : position + 1] == " ":
        position += 1
    if text[position : position + 1] != "{":
        return position
    end = matching_brace(text, position)
    if end is None:
        raise Unreadable("\\text{ without }")
    inside = text[position + 1 : end].replace("$", "")
    before = len(tokens)
    _scan(inside, tokens)
    if spaced and len(tokens) > before:
        tokens[before] = tokens[before]._replace(spaced=True)
    if inside.strip().lower() in ("infinity", "pi"):
        return end + 1
    if inside.strip() in ("i", "e") and text[max(0, position - 6) : position] == "mathrm":
        return end + 1
    if inside.strip().isalpha() and len(tokens) == before + 1 and inside.strip() not in FUNCTIONS:
        # One word in \text is a word, even a single letter: a choice, a unit.
        tokens[before] = Token(Kind.WORD, inside.strip(), spaced or inside[:1] == " ")
    return end + 1


def matching_brace(text: str, start: int) -> int | None:
    """Where the group closes that opens at `text[start] == "{"`; None if it does not.

    >>> matching_brace(r"\\frac{1}{\\sqrt{2}}", 8)
    17
    """
    depth = 0
    for match in _BRACE.finditer(text, start):
        found = match[0]
        if found == "{":
            depth += 1
        elif found == "}":
            depth -= 1
            if depth == 0:
                return match.start()
    return None


def brace_pairs(text: str, start: int = 0) -> dict[int, int]:
    """Where each group opens, and where it closes."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACE.finditer(text, start):
        found = match[0]
        if found == "{":
            opened.append(match.start())
        elif found == "}" and opened:
            pairs[opened.pop()] = match.start()
    return pairs


_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def _word(word: str, spaced: bool, tokens: list[Token]) -> None:
    """Add a run of letters: a function, the product of a few variables, or a word."""
    lower = word.lower()
    if len(word) == 1:
        tokens.append(Token(Kind.LETTER, word, spaced))
    elif lower in FUNCTIONS and lower not in ("max", "min"):
        tokens.append(Token(Kind.FUNCTION, lower, spaced))
    elif lower in ("pi", "theta", "alpha", "beta", "infty", "lambda"):
        tokens.append(Token(Kind.LETTER, lower, spaced))
    elif lower in ("infinity", "inf", "oo"):
        tokens.append(Token(Kind.LETTER, "infty", spaced))
    elif _is_product(word):
        for index, letter in enumerate(word):
            tokens.append(Token(Kind.LETTER, letter, spaced and index == 0))
    else:
        tokens.append(Token(Kind.WORD, word, spaced))


def _is_product(word: str) -> bool:
    if len(word) > 2 and word.isupper():  # a triangle, three choices
        return False
    return len(word) <= 3 and word.lower() not in SHORT_WORDS and word not in UNITS
