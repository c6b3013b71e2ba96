"""Tokens of the notations in which people and models write mathematics.

LaTeX, Unicode symbols, Python syntax and plain text become the same tokens, so that no later stage
needs to know how something was written. New commands and symbols belong here. Tokenizing takes time
linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from verifier_service.mathematics.units import GREEK_SIGNS, PRODUCT_UNITS, UNITS

MAX_TOKENS = 5_000
"""Most tokens of a text; longer ones are unreadable."""


class Unreadable(Exception):
    """The text is not mathematics as this package reads it."""


class Kind(Enum):
    """The kinds of tokens."""

    NUMBER = auto()
    """Digits with an optional decimal part, as written."""
    LETTER = auto()
    """A variable or constant: a letter or the name of a Greek one."""
    FUNCTION = auto()
    """A named function or LaTeX command with arguments: sin, sqrt, frac."""
    SIGN = auto()
    """An operator, relation, bracket or separator."""
    WORD = auto()
    """A word of prose or a unit, in the case in which it was written."""


class Token(NamedTuple):
    """A number, name, sign or word of a text."""

    kind: Kind
    text: str
    """The token in normal form: `<=` for `\\leq` and for `≤`."""
    spaced: bool = False
    """Whether white space stands before the token."""


FUNCTIONS = frozenset(
    # Functions and operators with a name of their own, in LaTeX (`\\sin`) or as a word (`sin`).
    (
        "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp sqrt "
        "max min gcd lcm abs floor ceil arccot asin acos atan cosec csch sech arccsc arcsec "
        "arcsinh arccosh arctanh arccoth arsinh arcosh artanh arcoth asinh acosh atanh acoth "
        "acot acsc asec arctg arcctg cbrt cis"
    ).split()
)
GREEK = frozenset(
    # LaTeX commands that are variables or constants.
    (
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
        "sigma tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi "
        "Omega infty ell hbar mho aleph imath jmath square triangle star dagger wp"
    ).split()
)
_GREEK_VARIANTS = {"varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "varrho": "rho"}
_SIGN_COMMANDS: dict[str, str] = {
    # command: the sign or the word that it stands for
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "pm": "±", "mp": "∓", "le": "<=",
    "leq": "<=", "leqslant": "<=", "leqq": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=",
    "geqq": ">=", "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "cup": "∪",
    "bigcup": "∪", "cupdot": "∪", "sqcup": "∪", "cap": "∩", "in": "∈",
    "to": "→", "rightarrow": "→", "implies": "→", "Rightarrow": "→", "mid": "mid", "vert": "|",
    "lvert": "|", "rvert": "|", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋",
    "lceil": "⌈", "rceil": "⌉", "lbrace": "\\{", "rbrace": "\\}", "lbrack": "[", "rbrack": "]",
    "circ": "°", "degree": "°", "textdegree": "°", "textcirc": "°", "prime": "'", "colon": ":",
    "setminus": "∖", "backslash": "∖", "emptyset": "∅", "varnothing": "∅", "approx": "≈",
    "equiv": "≡", "sim": "~", "cdots": "…", "ldots": "…", "dots": "…", "dotsc": "…", "dotsb": "…",
    "oslash": "∅", "vdots": "…", "choose": "choose", "percent": "%", "cr": "\\\\",
}  # fmt: skip
_WORD_COMMANDS = {"lor": "or", "vee": "or", "land": "and", "wedge": "and"}
_FUNCTION_COMMANDS: dict[str, str] = {
    # command: the function that it stands for
    "frac": "frac", "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "nicefrac": "frac",
    "sfrac": "frac", "binom": "binom", "dbinom": "binom", "tbinom": "binom", "boxed": "boxed",
    "fbox": "boxed", "tg": "tan", "ctg": "cot", "cotg": "cot", "arctg": "arctan",
    "arcctg": "arccot",
}  # fmt: skip
_COMMAND_TOKENS: dict[str, tuple[Kind, str]] = {
    **{name: (Kind.SIGN, sign) for name, sign in _SIGN_COMMANDS.items()},
    **{name: (Kind.WORD, word) for name, word in _WORD_COMMANDS.items()},
    **{name: (Kind.LETTER, name) for name in GREEK},
    **{name: (Kind.LETTER, letter) for name, letter in _GREEK_VARIANTS.items()},
    **{name: (Kind.FUNCTION, name) for name in FUNCTIONS},
    **{name: (Kind.FUNCTION, function) for name, function in _FUNCTION_COMMANDS.items()},
}
"""Kind and text of the token that a command stands for; any other command is a function."""
_IGNORED_COMMANDS = frozenset(
    # Spaces, sizes and styles: they say nothing.
    (
        "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle "
        "displaystyle textstyle limits nolimits quad qquad thinspace enspace hfill newline "
        "nonumber boldsymbol mathstrut hline centering scriptstyle rm bf it"
    ).split()
) | frozenset(
    # Fonts: their argument is read as if they were not there.
    (
        "mathbf mathit mathsf mathcal mathfrak vec bm pmb large Large LARGE huge small "
        "mathbb underline"
    ).split()
)
_TEXT_COMMANDS = frozenset(
    # Their argument is text, in which a single letter is a word.
    (
        "text mathrm textrm textbf textit textsf mbox hbox operatorname texttt textnormal emph"
    ).split()
)
_COMMANDS_IGNORED_WITH_ARGUMENT = frozenset("hspace vspace phantom label tag color".split())

_UNICODE = str.maketrans(
    {
        "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "∕": "/", "⁄": "/", "−": "-", "–": "-",
        "—": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-", "≤": "<=", "⩽": "<=", "≥": ">=",
        "⩾": ">=", "≠": "!=", "π": r"\pi ", "∞": r"\infty ", "√": r"\sqrt ",
        "∛": r"\sqrt[3] ", "Γ": r"\Gamma ", "′": "'", "’": "'",
        "‘": "'", "“": '"', "”": '"', "″": "''", "º": "°", "∘": "°", "˚": "°", "θ": r"\theta ",
        "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "λ": r"\lambda ", "μ": r"\mu ",
        "σ": r"\sigma ", "φ": r"\phi ", "ω": r"\omega ", "δ": r"\delta ", "ρ": r"\rho ",
        "½": r"\frac{1}{2}", "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}",
        "¾": r"\frac{3}{4}", "⅕": r"\frac{1}{5}", "⅛": r"\frac{1}{8}", "⅜": r"\frac{3}{8}",
        "∨": " or ", "∧": " and ", "（": "(", "）": ")", "，": ",", "、": ",", "：": ":", "；": ";",
        "\u2236": ":", "。": ".", "।": ".", "۔": ".",
        "％": "%", "＝": "=", "＋": "+", "\u00a0": " ", "\u2009": " ", "\u202f": " ",
        "\u200b": "", "\u2061": "", "\ufeff": "", "∣": "|", "〈": "⟨", "〉": "⟩",
        "\u03a9": r"\Omega ", "\u2126": r"\Omega ", "\u00b5": r"\mu ",
        "ℏ": r"\hbar ", "ℝ": "R", "ℤ": "Z", "ℕ": "N", "ℚ": "Q", "𝑥": "x", "𝑦": "y",
    }
)  # fmt: skip
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˣ", "0123456789+-nx")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-")
# Superscripts and subscripts in a row: the `⁻¹` of `x⁻¹`, the `₁₂` of `a₁₂`.
_SUPERSCRIPT_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˣ]+")
_SUBSCRIPT_RUN = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋]+")
# The minus of Japanese accounts: the `△` of `△391,726百万円`, but not of `△ABC`.
_TRIANGLE_FOR_MINUS = re.compile(r"(?<![^\s(（:：=])[△▲](?=[$¥￥]?\d)")
# A decimal digit that is not an ASCII one: Arabic-Indic `٣`, full-width ones.
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
# A backslash with the character after it, or a brace: tells `{` from `\{`.
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
# The end of a row before a letter: the `\\` of `x = 3 \\y = 4`. Where backslashes are escaped
# `\\sin` is a command, but where an environment begins with a single one it ends a row, too.
_ROW_BEFORE_LETTER = re.compile(r"(?<!\\)\\\\(?=[a-zA-Z](?![a-zA-Z]))")
_ROW_BEFORE_WORD = re.compile(r"(?<!\\)\\\\(?=[a-zA-Z])")
# The sign of the unit: `\AA`, `\mathring{A}`, `\overset{\circ}{\mathrm{A}}`, `Å`.
_ANGSTROM = re.compile(
    "(?<![^\\W\\d_])[\u00c5\u212b](?![^\\W\\d_])|"
    r"\\AA(?![a-zA-Z])|\\(?:mathring|overset\s*\{\s*\\circ\s*\})\s*\{(?:\\\w+\{A\}|A)\}"
)
# A letter under an accent that makes it another one, behind the command of the accent: the `{z}` of
# `\bar{z}`, which is not z, the ` x` of `\dot x`, the `\alpha` of `\overline\alpha`, and the
# `{\mathbf{z}}` of `\hat{\mathbf{z}}`, whose font says nothing.
_ACCENTED = re.compile(
    r"\s*(?:\{\s*\\(?:mathbf|boldsymbol|mathrm|bm|bf)(?![a-zA-Z])\s*(?P<group>\{)?\s*"
    r"(?:\\(?P<font_greek>[a-zA-Z]+)|(?P<font_letter>[a-zA-Z]))\s*(?(group)\}\s*)\}"
    r"|\{\s*(?:\\(?P<greek>[a-zA-Z]+)|(?P<letter>[a-zA-Z]))\s*\}"
    r"|\\(?P<bare_greek>[a-zA-Z]+)|(?P<bare>[a-zA-Z]))"
)
_ACCENTS = {
    "bar": "bar", "overline": "bar", "dot": "dot", "ddot": "ddot", "hat": "hat", "widehat": "hat",
}  # fmt: skip
# Commands around nothing but a sign, an operator or a degree: the braces of `3{:}45`, of
# `{\sin}^2 x` and of `25{}^\circ`.
_IDLE_BRACES = re.compile(
    r"(?<![\w}\]])\{(?P<name>\\(?:sin|cos|tan|cot|sec|csc|log|ln|lg))\}|(?<=\d)\{(?P<colon>:)\}(?=\d)"
    r"|(?<=[\s,;!~\d])\{\}(?=\s*\^\s*\{?\s*\\circ)"
)
# A relation that is denied: the `\\not=` of `x \\not= 5`, the `\\not\\in` of `x \\not\\in A`.
_DENIED = re.compile(
    r"\\not\s*\{?\s*(=|<|>|\\(?:in|leq?|geq?|lt|gt|equiv|approx)(?![a-zA-Z]))\s*\}?"
)
_DENIALS = {
    "=": r"\ne ", "<": r"\ge ", ">": r"\le ", r"\lt": r"\ge ", r"\gt": r"\le ", r"\le": ">",
    r"\leq": ">", r"\ge": "<", r"\geq": "<", r"\in": r"\notin ", r"\equiv": r"\ne ",
    r"\approx": r"\ne ",
}  # fmt: skip
"""The opposites of the relations, for real numbers."""
# One token. In `3.5\text{ cm} \le x^2`: number, command, sign, word, sign, space, command, ...
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n~]+ | \\[,;:!>\ ] | \\(?![a-zA-Z{}%$\\&_\#|]) )
    | (?P<number>  # 12, 3.5, .5, 1e-3; `0.` only before the period of a repeating decimal
        (?:\d+(?:\.\d+|\.(?=\\overline|\\dot|\\bar))?|\.\d+)
        (?:[eE][+-]?\d{1,4}(?![0-9a-zA-Z.]))?
      )
    | (?P<row>\\\\(?![a-zA-Z]))
    | \\+(?P<command>[a-zA-Z]+)\*?
    | \\(?P<escaped>[{}%$&_\#|])
    | (?P<word>[^\W\d_]+(?:['-][^\W\d_]{2,})*
      | [\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+
      | (?:шт(?:ук[аи]?)?|руб(?:л[ьяей]{1,2})?|см|мм|км|кг|мин|сек|час(?:а|ов)?|человека?)
        (?![\u0400-\u04ff]) )  # `个`, `шт`
    | (?P<sign><=|>=|!=|==|\*\*|->|=>|\.\.\.|''|[^\s])
    """,
    re.VERBOSE | re.ASCII,
)
_SIGN_SYNONYMS = {"==": "=", "**": "^", "->": "→", "=>": "→", "...": "…", "''": '"'}
"""Signs of Python and of typewriters, in normal form."""
_ESCAPED_SIGNS = {"{": "\\{", "}": "\\}", "|": "|", "%": "%", "$": "$", "&": "&"}
"""Signs after a backslash, in normal form; any other is left out."""

SHORT_WORDS = frozenset(
    (
        "am an and are as at be but by can day did do for had has he her him his how if in "
        "is it its job man may me my new no nor not now odd of old on one or our out own red "
        "say see set she sky so sum ten the to too top two up us use was way we who why yes "
        "yet you six all any boy cat dog few got let men mon tue wed thu fri sat sun jan feb "
        "mar apr jun jul aug sep oct nov dec net non per pop run sea son tax tie toy via war "
        "win age art bag ban bar bat bed bee big bit box bus buy car cow cup cut egg end eye "
        "fan far fat fly fun gas god hat hit hot ice joe key kid lab leg lie lip lot low mad "
        "map mat mix mom mud nut oil pan pay pea pen pet pie pig pin pot ran ray rob rod row "
        "sad saw sim sit tea tim tom van wet zoo left bob ann amy eve ben dan don sue max "
        "min ted roy hen ham jam toe dna usa dne sq cu mod ant ape axe bin bow bun cam "
        "cap cod cop cot cub dad dam den dew dip dot ear elf elk elm fig fin fir fox fur gal "
        "gap gem gin gum gun guy hay hog hoe hub hut ink inn ivy jar jaw jet jug keg lap lid "
        "log mop mug nap nun oak oar oat owl pad pal paw peg pod pub pug pup rag ram rat rib "
        "rim rug rum rye sap shy ski soy spa tag tan tar tin tip tub urn vat vet wag wax web "
        "wig wok yak yam zip arc rpm rps"
    ).split()
)
"""Words of two or three letters; any others are products of variables: `xy`."""


def tokenize(text: str, *, words_as_letters: bool = False) -> list[Token]:
    """The tokens of a text.

    Args:
        text: mathematics, perhaps with words.
        words_as_letters: whether to read short words as products of variables where they stand as
            operands: `ma`, `ab-cd`, but not the `cm` of `5 cm` or the `or` of `1 or 2`.

    Raises:
        Unreadable: there are more than MAX_TOKENS, or a `\\text{` never closes.

    >>> [token.text for token in tokenize(r"\\dfrac{1}{2}x \\le 3\\text{ cm}")]
    ['frac', '{', '1', '}', '{', '2', '}', 'x', '<=', '3', 'cm']
    """
    tokens: list[Token] = []
    _scan(_plain(text), tokens, words_as_letters=words_as_letters)
    if words_as_letters:  # the `g` of `2 g h` is no unit either
        return [one._replace(spaced=False) if one.kind is Kind.LETTER else one for one in tokens]
    return tokens


def _plain(text: str) -> str:
    """The text with LaTeX and ASCII for Unicode symbols: `x^{2}` for `x²`, `\\pi` for `π`."""
    if not text.isascii():
        text = _TRIANGLE_FOR_MINUS.sub("-", text)
        text = text.replace("=\u0338", r"\ne ").replace("∈\u0338", r"\notin ")
        text = _SUPERSCRIPT_RUN.sub(lambda run: f"^{{{run[0].translate(_SUPERSCRIPTS)}}}", text)
        text = _SUBSCRIPT_RUN.sub(lambda run: f"_{{{run[0].translate(_SUBSCRIPTS)}}}", text)
        text = _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text).translate(_UNICODE)
    if "\f" in text or "\t" in text:
        # JSON and Python read the \f of "\frac" as a form feed and the \t of "\text" as a tab.
        # Without this, answers of writers who forget to escape them are unreadable.
        text = text.replace("\frac", "\\frac").replace("\text", "\\text")
    if "\\\\" in text:
        is_escaped_twice = "\\begin" not in text or "\\\\begin" in text
        text = (_ROW_BEFORE_LETTER if is_escaped_twice else _ROW_BEFORE_WORD).sub(r"\\\\ ", text)
    if "{" in text:
        text = _IDLE_BRACES.sub(r"\g<name>\g<colon>", text)
    if "\\AA" in text or "{A}" in text or not text.isascii():
        text = _ANGSTROM.sub(r"\\text{Å}", text)
    if "\\not" in text:
        text = _DENIED.sub(lambda denied: _DENIALS[denied[1]], text)
    return text.replace("\\newline", " ")


def _scan(text: str, tokens: list[Token], *, words_as_letters: bool = False) -> None:
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
            if found in _ESCAPED_SIGNS:
                tokens.append(Token(Kind.SIGN, _ESCAPED_SIGNS[found], spaced))
        elif kind == "word":
            is_operand = words_as_letters and _is_operand(found, text, position, spaced, tokens)
            if _is_greek_factor(found, text, position, tokens):
                tokens.append(Token(Kind.LETTER, found, spaced))
            elif is_operand or _has_exponent(found, text, position):
                _letters(found, spaced, tokens)
            else:
                _word(found, spaced, tokens)
        elif found != '"' or tokens:  # inches, but not an opening quotation mark
            tokens.append(Token(Kind.SIGN, _SIGN_SYNONYMS.get(found, found), spaced))
        spaced = False


def _command(name: str, text: str, position: int, spaced: bool, tokens: list[Token]) -> int:
    """Add the tokens of a LaTeX command; return the position after it and its argument."""
    if name in _COMMAND_TOKENS:
        kind, stands_for = _COMMAND_TOKENS[name]
        tokens.append(Token(kind, stands_for, spaced))
        return position
    if name in _IGNORED_COMMANDS:
        is_invisible = name in ("left", "right") and text[position : position + 1] == "."
        return position + is_invisible
    if name in _TEXT_COMMANDS:
        return _text_argument(text, position, spaced, tokens)
    if name in ("begin", "end"):
        return _environment(name, text, position, spaced, tokens)
    if name in _COMMANDS_IGNORED_WITH_ARGUMENT:
        return _skip_group(text, position)
    if name in _ACCENTS and (letter := _ACCENTED.match(text, position)) is not None:
        found = next(part for part in letter.groups() if part and part != "{")
        found = _GREEK_VARIANTS.get(found, found)
        if len(found) == 1 or found in GREEK:
            tokens.append(Token(Kind.LETTER, f"{_ACCENTS[name]} {found}", spaced))
            return letter.end()
    tokens.append(Token(Kind.FUNCTION, name, spaced))
    return position


def _environment(name: str, text: str, position: int, spaced: bool, tokens: list[Token]) -> int:
    """Add `begin pmatrix` for `\\begin{pmatrix}`; return the position after it."""
    stop = text.find("}", position)
    if text[position : position + 1] != "{" or stop < 0:
        raise Unreadable(f"\\{name} without a name")
    token = f"{name} {text[position + 1 : stop].rstrip('*')}"
    tokens.append(Token(Kind.FUNCTION, token, spaced))
    stop += 1
    if token == "begin array" and text[stop : stop + 1] == "{":  # the columns: {c|c}
        stop = text.find("}", stop) + 1 or stop
    return stop


def _skip_group(text: str, position: int) -> int:
    """The position after the group that begins here, or the same position if none does."""
    if text[position : position + 1] != "{":
        return position
    end = matching_brace(text, position)
    return len(text) if end is None else end + 1


def _text_argument(text: str, position: int, spaced: bool, tokens: list[Token]) -> int:
    """Add the tokens of the argument of `\\text` and the like; return the position after it."""
    while text[position : position + 1] == " ":
        position += 1
    if text[position : position + 1] != "{":
        return position
    end = matching_brace(text, position)
    if end is None:
        raise Unreadable("\\text{ without }")
    inside = text[position + 1 : end].replace("$", "")
    if inside.strip() in _FUNCTION_COMMANDS:  # \operatorname{tg}
        tokens.append(Token(Kind.FUNCTION, _FUNCTION_COMMANDS[inside.strip()], spaced))
        return end + 1
    before = len(tokens)
    _scan(inside, tokens)
    fewest = 2 if before else 3  # two words that begin a text may be choices: \text{A C}
    if len(tokens) - before >= fewest and _are_units(tokens[before:]):
        tokens[before:] = [_as_word(one) for one in tokens[before:]]
    tokens[before:] = _with_signs_joined(tokens[before:])
    if spaced and len(tokens) > before:
        tokens[before] = tokens[before]._replace(spaced=True)
    if inside.strip().lower() in ("infinity", "pi"):
        return end + 1
    if inside.strip() in ("i", "e") and text[max(0, position - 6) : position] == "mathrm":
        return end + 1
    follows_number = before > 0 and tokens[before - 1].kind is Kind.NUMBER
    if follows_number and _CAPITALS.fullmatch(inside.strip()):  # a unit that nobody listed: AU
        tokens[before:] = [Token(Kind.WORD, inside.strip(), spaced or inside[:1] == " ")]
    elif inside.strip().isalpha() and len(tokens) == before + 1 and inside.strip() not in FUNCTIONS:
        # A single letter in \text is a word, not a variable: a choice, a unit.
        word = _CHINESE_JOINTS.get(inside.strip(), inside.strip())
        tokens[before] = Token(Kind.WORD, word, spaced or inside[:1] == " ")
    return end + 1


def sign_of_unit(tokens: Sequence[Token]) -> str | None:
    """The sign of a unit that letters make together, with its prefix: the kΩ of `k\\Omega`."""
    if not all(map(_goes_on, tokens, tokens[1:])):
        return None
    sign = "".join(GREEK_SIGNS.get(token.text, token.text) for token in tokens)
    return sign if sign in UNITS or sign in PRODUCT_UNITS else None


def _with_signs_joined(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of text, in which letters beside each other that are the sign of a unit are one.

    The letters of `\\text{mV}` are no product, those of `\\text{m V}` are two units.
    """
    found: list[Token] = []
    start = 0
    while start < len(tokens):
        end = start + 1
        while end < len(tokens) and _goes_on(tokens[end - 1], tokens[end]):
            end += 1
        run = tokens[start:end]
        is_sign = run[0].kind is Kind.LETTER and (len(run) > 1 or run[0].text == "Omega")
        sign = sign_of_unit(run) if is_sign else None
        found += [run[0]._replace(kind=Kind.WORD, text=sign)] if sign else run
        start = end
    return found


def _goes_on(before: Token, token: Token) -> bool:
    """Whether a letter is part of the sign that the one before it begins, as after `\\mu `."""
    kinds = {before.kind, token.kind}
    return kinds <= {Kind.LETTER, Kind.WORD} and (not token.spaced or before.text == "mu")


# A word with nothing but capitals: `AU`.
_CAPITALS = re.compile(r"[A-Z]{2,4}")
_BETWEEN_UNITS = frozenset("/ * ^ { } ( ) - .".split())


def _are_units(tokens: Sequence[Token]) -> bool:
    """Whether text is nothing but a product or quotient of units: `m/s`, `m s^{-1}`."""
    names = [one.text for one in tokens if one.kind in (Kind.LETTER, Kind.WORD)]
    signs = {one.text for one in tokens if one.kind is Kind.SIGN}
    return (
        bool(names)
        and all(name in UNITS or (len(name) > 2 and name.lower() in UNITS) for name in names)
        and signs <= _BETWEEN_UNITS
        and (bool(signs & {"/", "*", "^"}) or all(one.spaced for one in tokens[1:]))
    )


def _as_word(token: Token) -> Token:
    return token._replace(kind=Kind.WORD) if token.kind is Kind.LETTER else token


def matching_brace(text: str, start: int) -> int | None:
    """Position of the brace that closes the group opened at `start`; None if none closes it.

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
    """Positions of the braces of each group: the closing one by the opening one."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACE.finditer(text, start):
        found = match[0]
        if found == "{":
            opened.append(match.start())
        elif found == "}" and opened:
            pairs[opened.pop()] = match.start()
    return pairs


_CHINESE_JOINTS = {
    **dict.fromkeys(("和", "与", "及", "且", "并且"), "and"),
    **dict.fromkeys(("或", "或者"), "or"),
}
"""Words between the elements of a list, and what they mean."""


def _word(word: str, spaced: bool, tokens: list[Token]) -> None:
    """Add the tokens of a run of letters: a function, a product of variables, or a word."""
    lower = word.lower()
    if not word.isascii():
        tokens.append(Token(Kind.WORD, _CHINESE_JOINTS.get(word, word), spaced))
    elif len(word) == 1:
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


def _letters(word: str, spaced: bool, tokens: list[Token]) -> None:
    """Add the letters of a word as variables, and the minus signs between its parts."""
    for index, character in enumerate(word):
        kind = Kind.SIGN if character == "-" else Kind.LETTER
        tokens.append(Token(kind, character, spaced and index == 0))


MAX_LETTERS = 6
"""Most letters of a word that may be a product of variables."""
# Short runs of letters, perhaps with minus signs between them: `ma`, `ab-cd`.
_LETTERS = re.compile(rf"[A-Za-z]{{1,{MAX_LETTERS}}}(?:-[A-Za-z]{{1,{MAX_LETTERS}}}){{0,20}}")
# What may follow an operand behind white space: an operator, a bracket that closes, the end.
_NO_OPERAND_AHEAD = re.compile(
    r"\s*(?:[-+*/=<>,;:.)\]}!|&]|$|\\(?:[,;:!\\}]|(?:cdot|times|div|pm|mp|leq?|geq?|neq?|lt|gt|"
    r"approx|right|quad|qquad)(?![a-zA-Z])))"
)

# A function of LaTeX, which multiplies what stands before it: the `\sin` of `mg \sin x`.
_FACTOR_AHEAD = re.compile(r"\s{1,9}\\(?:sin|cos|tan|cot|d?frac|sqrt|ln|log|exp|left)(?![a-zA-Z])")


def _is_operand(word: str, text: str, end: int, spaced: bool, tokens: list[Token]) -> bool:
    """Whether letters may be a product: no other operand stands beside them behind white space."""
    if not _LETTERS.fullmatch(word) or (len(word) > 2 and word.isupper()):
        return False
    is_last = _NO_OPERAND_AHEAD.match(text, end) is not None
    if (
        not is_last
        and _FACTOR_AHEAD.match(text, end) is None
        and (text[end : end + 1].isspace() or word.lower() in FUNCTIONS)
    ):
        return False
    if not spaced or not tokens or not _ends_operand(tokens[-1]):
        return True
    return text[end : end + 1] == "^" and word not in UNITS  # \frac{1}{2} at^2, but 5 cm^2


_GREEK_WORDS = frozenset(
    "gamma delta epsilon zeta eta kappa mu nu xi rho sigma tau phi chi psi omega Gamma Delta Sigma "
    "Phi Psi Omega hbar".split()
)
"""Names of letters that are words or products elsewhere: the gamma of `gamma rays`."""
# What stands behind a factor: the `*` of `gamma*B`, the `_` of `mu_0`.
_BEHIND_FACTOR = re.compile(r"\s*(?:\*|/|\^)|_")


def _is_greek_factor(word: str, text: str, end: int, tokens: list[Token]) -> bool:
    """Whether a word is a letter of Greek in a formula of a program: `gamma*B`, `12*hbar/25`."""
    before = tokens[-1] if tokens else None
    is_pressure = word == "psi" and before is not None and before.kind is Kind.NUMBER  # 30 psi/2
    if word not in _GREEK_WORDS or is_pressure:
        return False
    is_behind = before is not None and before.kind is Kind.SIGN and before.text in ("*", "/")
    return word == "hbar" or is_behind or _BEHIND_FACTOR.match(text, end) is not None


def _has_exponent(word: str, text: str, end: int) -> bool:
    """Whether an exponent makes a short word a product: the `Be` of `Be^{-x}`; no unit's does."""
    is_short = 1 < len(word) <= 3 and word.lower() not in FUNCTIONS and word not in UNITS
    return is_short and text[end : end + 1] == "^" and word.isascii()


def _ends_operand(token: Token) -> bool:
    if token.kind is Kind.SIGN:
        return token.text in (")", "]", "}", "\\}", "|", "!", "'", "°", "%")
    return token.kind is not Kind.FUNCTION


_NAMES_OF_QUANTITIES = frozenset({"pH", "pOH", "pKa", "pKb"})
"""Names of quantities that would be products otherwise."""


def _is_product(word: str) -> bool:
    """Whether letters next to each other are variables, as in `xy`."""
    if (
        len(word) > 2 and word.isupper()
    ) or word in _NAMES_OF_QUANTITIES:  # a triangle, three choices
        return False
    return len(word) <= 3 and word.lower() not in SHORT_WORDS and word not in UNITS
