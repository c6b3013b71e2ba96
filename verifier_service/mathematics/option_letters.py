"""Letters of multiple-choice options: every way in which a text names an option by its letter.

`accuracy` knows no options: it takes a letter for one only where nothing else fits, from A to J.
`multiple_choice` knows that an option is asked for and takes any letter.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass

from verifier_service.mathematics.plain_text import text_key, unwrapped, without_text_commands
from verifier_service.mathematics.rejected_options import (
    REJECTED_OPTION,
    is_called_not_right,
    only_wonders,
)

MAX_LABELLED_CHARACTERS = 500
"""Longest text that `accuracy` takes for an option."""
MAX_LINES = 200
"""Most lines of a text that begins with its answer."""
MAX_STATEMENT_CHARACTERS = 1000
"""Longest statement in which `multiple_choice` looks for letters: the expressions below take
quadratic time at worst."""


# What `accuracy` reads


@dataclass(frozen=True)
class Option:
    """A multiple-choice option: `(B) 12`."""

    letter: str
    text: str
    """The text behind the letter; empty where the letter stands alone."""


def labelled_option(text: str) -> Option | None:
    """The option that a whole text is; None where it is none, or several.

    >>> labelled_option("(B) 12")
    Option(letter='B', text='12')
    >>> labelled_option("A bird") is None
    True
    """
    if len(text) > MAX_LABELLED_CHARACTERS:
        return None
    plain = unwrapped(without_text_commands(text))
    match = None if _NO_MARK.fullmatch(plain) else _OPTION.fullmatch(plain)
    if match is None or is_called_not_right(plain):
        return None
    behind = match["word"] or match["marked"] or match["bracketed"]
    if behind and _IS_RIGHT.fullmatch(behind):
        is_marked = match[1].isupper() or not match["word"]
        return Option(match[1].upper(), "") if is_marked else None
    if match["word"]:
        in_brackets = _TEXT_IN_BRACKETS.fullmatch(match["word"])
        return Option(match[1], in_brackets[1]) if in_brackets and match[1].isupper() else None
    rest = match["marked"] or match["bracketed"] or ""
    if _MORE_OPTIONS.search(rest):
        return None
    return Option(match[1].upper(), unwrapped(rest.strip(" }")))


# One option, with or without its text: `B`, `Answer: \text{(B)}`, `(B) 12`, `b. 12`. The group
# `word` is the text behind a bare letter: in `A bird` the letter is an article.
_OPTION = re.compile(
    r"(?:选项?|选择|option|choice|answer|answer is|the correct answer is|the answer is"
    r"|(?:so\s+)?I\s+(?:would\s+|will\s+)?(?:choose|pick|select|go\s+with)(?:\s+option|\s+answer)?)?\s*[:\s]*"
    r"(?:\\(?:text|textbf|mathrm|mathbf|textrm)\s*\{\s*)?[(\[]?\s*([A-Ja-j])\s*[)\]]?\s*\}?(?:\s*选?项)?"
    r"(?:\s*$|\s*[.:)\]}]\s*\}?\s*(?P<marked>.*)$|(?<=[)\]}])\s*(?P<bracketed>.*)$"
    r"|\s+(?P<word>\S.*)$)",
    re.DOTALL | re.IGNORECASE,
)
# A small letter that is no mark of an option, right before a point and digits, or as the name of a
# function: `h.5`, `g: x \mapsto 2x`.
_NO_MARK = re.compile(r"[a-j](?:\.\d|\s?:\s?[a-z]\s?(?:\\mapsto|↦)).*", re.DOTALL)
# The text of an option in brackets: the `(42)` of `B (42)`.
_TEXT_IN_BRACKETS = re.compile(r"\((\$?[-−]?\d[^()]{0,60})\)[\s.]*")
# Words behind an option that choose it: the `is correct` of `Option B is correct`.
_IS_RIGHT = re.compile(
    r"is\s+(?:the\s+)?(?:only\s+)?(?:correct|right|best|true)"
    r"(?:\s+(?:answer|option|choice|one|statement))?[\s.!}]*",
    re.IGNORECASE,
)
# Another option behind the first: the `and (C)` of `(A) and (C)`, the `, B: 2` of `A: 1, B: 2`, the
# `, or perhaps (C)` of `(B) 12, or perhaps (C)`, the next part `; (b) 7` of `(a) 5; (b) 7`.
_MORE_OPTIONS = re.compile(
    r"[,;\s]\s*(?:and\s+)?\(?[A-Ja-j]\)\s*\$?[-\d\\]|[,;]\s*(?:[A-J]\s*=|[A-Ja-j]\s*:)|^[\s,;)]*(?:and|or|&|/|\|)?[\s,;]*[(\[]?[A-J][)\]]?(?:[\s,;.]|$|and|or)"
    r"|(?:^|[,;.(])\s*(?:(?i:and|or|maybe|perhaps|possibly|alternatively|else|also|even|it|is|could"
    r"|might|be|either|option|choice)[\s,:]+){1,6}(?:[(\[][A-J][)\]]|[A-J](?=[\s.!)]*$))"
)


def several_letters(text: str) -> str:
    """The letters of a text that is nothing but several options, sorted; else empty.

    >>> several_letters("A, C"), several_letters("(C) and (A)"), several_letters("AC")
    ('AC', 'AC', 'AC')
    >>> several_letters("(C, A)"), several_letters("CA")  # a pair in order, a side of a triangle
    ('', '')
    """
    if len(text) > MAX_LABELLED_CHARACTERS:
        return ""
    text = _LATEX_SPACE.sub(" ", text) if "\\" in text else text
    text = text_key(text).upper().replace(" AND ", " and ") if "\\text" in text else unwrapped(text)
    if not _SEVERAL_LETTERS.fullmatch(text):
        return ""
    letters = [character for character in text if character in _OPTION_LETTERS]
    in_order = sorted(set(letters))
    if len(letters) < 2 or len(in_order) < len(letters):
        return ""
    is_list = letters == in_order or _SEPARATE_LETTERS.fullmatch(text)
    return "".join(in_order) if is_list else ""


# A space of LaTeX between letters: the `\;` of `A,\;C`.
_LATEX_SPACE = re.compile(r"\\(?:[,;: ]|quad(?![a-z]))")
_OPTION_LETTERS = "ABCDEFGHIJ"
_BETWEEN_LETTERS = r"\s*(?:,\s*and|,|;|、|&|and|和|与|\s)\s*"
_ANY_BRACKETS = r"[(\[]?[A-J][)\]]?"
_OWN_BRACKETS = r"(?:[A-J]|\([A-J]\)|\[[A-J]\])"
# Several letters, whatever their brackets: `A, C`, `(A, C)`, `(A) and (C)`, `AC`.
_SEVERAL_LETTERS = re.compile(
    rf"{_ANY_BRACKETS}(?:{_BETWEEN_LETTERS}{_ANY_BRACKETS})*|[A-J]{{2,6}}"
    r"|(?:\([A-J]\)\s*){2,6}"
)
# Several letters, each alone in its brackets: `C, A`, `(C) and (A)`.
_SEPARATE_LETTERS = re.compile(rf"{_OWN_BRACKETS}(?:{_BETWEEN_LETTERS}{_OWN_BRACKETS})+")


def chosen_letters(line: str) -> tuple[str, ...]:
    """The options that a sentence chooses and does not reject, each once.

    >>> chosen_letters("I rule out (A), so (B) or (C)")
    ('B', 'C')
    """
    if _CONDITIONAL.search(line):
        return ()
    if only_wonders(line):
        return ()
    kept = REJECTED_OPTION.sub("", line)
    return tuple(dict.fromkeys(map(_letter, _CHOSEN.finditer(kept))))


# An option in a condition: the `if B is` of `A is correct if B is wrong`.
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|when)\s+(?:option\s+|choice\s+|answer\s+)?(?-i:\(?[A-HJ]\)?)\s+"
    r"(?:is|was|were|fails|isn|wasn)\b",
    re.IGNORECASE,
)
# An option that a sentence names: `option B`, `pick (B)`, `(B)`, `选B`, `B is correct`.
_CHOSEN = re.compile(
    r"\b(?:option|choice|choose|select|pick|go\s+with)\s+\(?([A-J])\)?\b|\(([A-J])\)|(?<![不能没勿别误错])选[：:]?\s*([A-J])\b"
    r"|\b([A-J])\s+is\s+(?:the\s+)?(?:correct|right|best)\b"
    r"|(?:\A|[.!?]\s+)(?:(?:[Ss]o|[Tt]hus|[Hh]ence|[Tt]herefore),?\s+)?\(?([A-J])\)?\s+is\s+(?:the|my)\s+"
    r"(?:final\s+)?answer(?=[.!*]|\s{0,9}\Z)"
)


def _letter(match: re.Match[str]) -> str:
    """The letter that one of the groups of an expression holds."""
    letter: str = next(filter(None, match.groups()))
    return letter


# What `multiple_choice` reads


def named_letters(
    statement: str, choices: Mapping[str, str], *, is_announced: bool = True
) -> set[str]:
    r"""The options that a final answer names, by letter or by text; none if it is too long.

    >>> named_letters(r"\text{(B)}", {})
    {'B'}
    >>> sorted(named_letters("B or maybe C", {}))
    ['B', 'C']
    >>> named_letters("paris.", {"A": "London", "B": "Paris"})
    {'B'}
    >>> named_letters("A good question", {})
    set()

    Args:
        statement: the statement that should name an option.
        choices: texts of the options by letter; empty where they are not known.
        is_announced: whether a tag, a box or words say that the statement is the answer. In
            `(B) is not continuous` the denial is then the text of option B.
    """
    if len(statement) > MAX_STATEMENT_CHARACTERS:
        return set()
    plain = _plain(statement)
    if is_announced:
        plain = _PROBABLY.sub("", plain, count=1)
    named = _named_by_text(plain, choices)
    if named:
        return named
    none = _NONE_OF_THEM.search(plain)
    if none and not _LONE_LETTER.search(plain, 0, none.start()):
        return set()
    label = _LABEL.match(plain) if is_announced else None
    if label and _DENYING_TEXT.match(plain, label.end()):
        return {_upper(label), *_marked(REJECTED_OPTION.sub(" ", plain[label.end() :]))}
    kept, num_rejected = REJECTED_OPTION.subn(" ", plain)
    kept = kept.strip(" .,;") if num_rejected else kept
    kept = _OPENING.sub("", _CERTAIN.sub("", kept))
    listed = _LIST.fullmatch(_REASON.sub("", kept))
    if listed:
        letters = _LONE_LETTER.findall(_JOINING_WORD.sub(" ", listed[0]))
        return {*map(str.upper, letters), *map(_upper, _ALTERNATIVE.finditer(kept))}
    label = _LABEL.match(kept)
    if label is None and is_announced:
        label = _BEFORE_BRACKET.match(kept) or _label_before_chinese(kept)
    if label:
        rest = f" {kept[label.end() :]}"
        further = set(_FURTHER_LABEL.findall(rest))
        return {_upper(label), *_marked(rest), *(further if len(further) > 1 else ())}
    return _marked(kept)


# Words that choose no option: `none of the provided options (A, B, C, D) are correct`, but not
# `none of the other options fits, so B` nor `none of the options but B`.
_NONE_OF_THEM = re.compile(
    r"\bnone\s+of\s+the(?:se)?(?:\s+(?!other\b)\w{1,15}){0,3}\s+(?:options|choices|answers)\b"
    r"(?![^.\n]{0,80}\b(?:except|but|besides|so|therefore)\b)",
    re.IGNORECASE,
)


def alternatives(line: str) -> str:
    """The words of a line that offer another option and do not reject it.

    >>> alternatives(", or maybe C if you like. Not A.")
    ', or maybe C'
    """
    offered = _ALTERNATIVE.finditer(REJECTED_OPTION.sub(" ", line))
    return "".join(match[0] for match in offered)


def opening_letter(text: str) -> str | None:
    """The letter that is all of the first line, where the other lines name no other option.

    >>> opening_letter("**B**\\n\\nParis lies in France."), opening_letter("B\\nC\\nOr both.")
    ('B', None)
    """
    lines = [line for line in text.split("\n", MAX_LINES + 1) if line.strip()]
    if not 1 < len(lines) <= MAX_LINES or max(map(len, lines)) > MAX_STATEMENT_CHARACTERS:
        return None
    letter = single_letter(_plain(lines[0]))
    if letter is None:
        return None
    others = set().union(*(_marked(REJECTED_OPTION.sub(" ", line)) for line in lines[1:]))
    labels = any(single_letter(one) or _LABEL.match(one) for one in map(_plain, lines[1:]))
    is_withdrawn = any(
        _SECOND_THOUGHT.search(line) or letter in _NOT_THE_LETTER.findall(line)
        for line in lines[1:]
    )
    return None if labels or is_withdrawn or others - {letter} else letter


# Words of a later line that take back the letter of the first one, or give another: `Actually, `.
_SECOND_THOUGHT = re.compile(
    r"(?:^|[.!?]\s+)(?:(?:no|oh|hmm+)[,.\s]+)?(?:wait|actually|correction|sorry|hmm+)\b"
    r"|\bI\s+meant\b|\bfinal(?:\s+(?:answer|choice))?\s*[:=]|\b(?-i:[A-J])\s+is\s+better\b"
    r"|\b(?:that|this|it)\s+(?:is|was)\s+wrong\b",
    re.IGNORECASE,
)
# A letter that is denied: the `B` of `Not B.`
_NOT_THE_LETTER = re.compile(r"\b[Nn]ot\s+\(?([A-Z])\b")


def single_letter(text: str) -> str | None:
    """The letter of a text that is one letter, in upper case; None for any other text.

    >>> single_letter(" (b) "), single_letter("B."), single_letter("B or C")
    ('B', 'B', None)
    """
    match = _SINGLE_LETTER.fullmatch(text)
    return match[1].upper() if match else None


# A letter by itself, as references give it: `B`, `(B)`, `b.`.
_SINGLE_LETTER = re.compile(r"\s*\(?([A-Za-z])[).]?\s*")


def _named_by_text(plain: str, choices: Mapping[str, str]) -> set[str]:
    """The options with that text, and the letter beside the text where it is another one."""

    def named(text: str) -> set[str]:
        return {letter for letter, other in choices.items() if _folded(other) == _folded(text)}

    whole = named(plain)
    if whole and not _is_label(plain, choices, whole):
        return whole
    after = _LETTER_AFTER.search(plain)
    for label, text in (
        *(
            (one, plain[one.end() :])
            for one in (_LABEL.match(plain), _LETTER_BEFORE.match(plain))
            if one
        ),
        (after, plain[: after.start()] if after else ""),
    ):
        if label and (letters := named(text)):
            if text.startswith("=") and (_letter(label).islower() or _upper(label) not in choices):
                return letters  # `v = 30 m/s`
            return {_upper(label)} if _upper(label) in letters else {_upper(label), *letters}
    return set()


def _is_label(plain: str, choices: Mapping[str, str], named: set[str]) -> bool:
    """Whether a text is the capital letter of an option, and no text of one has that capital.

    Of the options `b`, `c` and `0.8c` the third is C, whatever the text of the second is.
    """
    label = _CAPITAL_ALONE.fullmatch(plain)
    return (
        label is not None
        and label[1] in choices
        and not any(label[1] in _plain(choices[letter]) for letter in named)
    )


# A capital by itself: `C`, `(C)`, `C.`
_CAPITAL_ALONE = re.compile(r"\(?([A-J])[).]{0,2}")


def _upper(match: re.Match[str]) -> str:
    return _letter(match).upper()


def _marked(text: str) -> set[str]:
    """The options that prose names."""
    several = "".join(_SEVERAL_OPTIONS.findall(text))
    found = map(_upper, (*_MARKED.finditer(text), *_ALTERNATIVE.finditer(text)))
    return {*found, *_CAPITAL.findall(several), *_first_of_last_or(text)}


# The first of letters with `or` between them: the `A` of `That leaves A or B.`
_BEFORE_OR = re.compile(r"\b([A-HJ])(?:\)?,?\s+or\s+(?:option\s+)?\(?[A-HJ]\b){1,9}(?!['\u2019])")
_ANY_OPTION = re.compile(r"\b[A-HJ]\b")


def _first_of_last_or(text: str) -> set[str]:
    """The first of the letters with `or` between them, where no letter behind them decides.

    >>> _first_of_last_or("That leaves A or B."), _first_of_last_or("Is it A or B? It is B.")
    ({'A'}, set())
    """
    pairs = list(_BEFORE_OR.finditer(text))
    return {pairs[-1][1]} if pairs and not _ANY_OPTION.search(text, pairs[-1].end()) else set()


# A letter of several options: the `A` of `options A and B`.
_CAPITAL = re.compile(r"\b[A-Z]\b")


def _plain(statement: str) -> str:
    """A statement without the LaTeX and Markdown around its letters."""
    return " ".join(_DECORATION.sub(" ", _STYLE.sub(" ", statement)).split())


def _folded(text: str) -> str:
    """A text without case and the signs around it, but for those of a number, as in `-.5%`."""
    folded = _plain(text.replace("\\%", "%")).casefold().strip(_AROUND)
    folded = _AROUND_COMMA.sub(",", folded)
    folded = folded.rstrip("-. ")
    return folded if _SIGNED.match(folded) else folded.lstrip("-. ")


_AROUND = "".join(set(string.punctuation) - set("-.%")) + " "
# A comma with the spaces around it: the `, ` of `3, 4`.
_AROUND_COMMA = re.compile(r"(?<!\s)\s?,\s?")
# The sign or the point of a number or a letter that begins a text: the `-` of `-1`, of `-x`, the
# `.` of `.5`.
_SIGNED = re.compile(r"-\s?\.?[\d\\]|\.\d|-[a-z](?![a-z])")


# A LaTeX command for the style of text, or for a space: `\textbf`, `\quad`, `\,`.
_STYLE = re.compile(
    r"\\(?:text|mathrm|mathbf|mathsf|mathit|textbf|textit|textrm|textsf|boxed|fbox|rm|bf|quad|qquad)"
    r"(?![A-Za-z])|\\[ ,;:!()\[\]]"
)
# Signs of LaTeX and Markdown: the stars and braces of `**{B}**`.
_DECORATION = re.compile(r"[*_${}~`]+")
_NOUN = r"(?:(?:option|choice|answer|letter)s?(?:\s*:)?\s*)?"
_BRACKETED_LETTER = r"[(\[]?\b[A-Za-z]\b[)\].]?"
# A word between letters that is none of them: the `or maybe` of `B or maybe C`.
_JOINING_WORD = re.compile(
    r"\b(?:or|and|maybe|perhaps|possibly|alternatively|else|otherwise|either|both|also)\b",
    re.IGNORECASE,
)
# Nothing but letters, one or several: `the answer: B`, `either (B) or C.`.
_LIST = re.compile(
    rf"(?:the\s+)?{_NOUN}(?:(?:either|both)\s+)?{_BRACKETED_LETTER}"
    rf"(?:[\s,/;&|]*(?:(?:or|and|maybe|perhaps|possibly|alternatively|else|otherwise|also)[\s,]+)*{_NOUN}{_BRACKETED_LETTER})*"
    r"[\s.!]*",
    re.IGNORECASE,
)
# Words that only open a sentence with options, in upper case: the `So it is` of `So it is C.`,
# the `I choose` of `I choose C.`, the `but` that is left of `Not A but C.`
_OPENING = re.compile(
    r"\A(?:(?:so|thus|hence|therefore|but),?\s+)?"
    r"(?:I\s+(?:think|believe)\s+(?:that\s+)?(?=it\b|(?-i:[A-Z]\b)))?(?:(?:it(?:\s+is|['’]s)"
    r"|I(?:['’]ll|['’]d|\s+would|\s+will)?\s+(?:choose|pick|select|say|go\s+with))\s+)?"
    r"(?:(?:definitely|certainly|clearly|surely|obviously|undoubtedly|absolutely|indeed"
    r"|without\s+(?:a\s+)?doubt),?\s+)?"
    r"(?=(?-i:[(\[]?[A-Z]\b[)\]]?)(?:[\s.!]*\Z|[\s,/]+(?:or|and|maybe|perhaps|possibly)\b))",
    re.IGNORECASE,
)
# Words before an announced letter that only say how sure it is: the `most likely ` of `most likely
# C, a bowling alley`.
_PROBABLY = re.compile(
    r"\A(?:(?:most|very|quite)\s)?(?:likely|probably)\s(?:to\sbe\s)?(?=(?-i:\(?[A-Z]\b))",
    re.IGNORECASE,
)
# Words behind a letter that only say how sure it is: the ` for sure` of `It is B for sure.`
_CERTAIN = re.compile(
    r"(?<=[A-Z)]),?\s(?:for\ssure|for\scertain|definitely|certainly|of\scourse|without\s(?:a\s)?doubt)"
    r"[ .!]{0,9}\Z",
    re.IGNORECASE,
)
# A letter that is a word: the `B` of `B, C`.
_LONE_LETTER = re.compile(r"\b[A-Za-z]\b")
# A letter that labels the text behind it: the `(B)` of `(B) 12`, the `B -` of `B - 12`.
_LABEL = re.compile(
    rf"{_NOUN}(?:[(\[]([A-Za-z])[)\]]|([A-Z])\s*[).:](?=\s|$)|([A-Z])\s+[-–—]\s)"
    r"(?:[\s:.,–—]|-(?![.\d\\]))*",
    re.IGNORECASE,
)
# The letter of another option of a list, of which it has two more: the `B. ` of `A. 1 B. 2 C. 3`.
_FURTHER_LABEL = re.compile(r"\s\(?([A-J])[).:、](?=\s|\W)")
# A letter before its text, where that is known: the `B,` of `B, Paris`.
_LETTER_BEFORE = re.compile(rf"{_NOUN}([A-Z])(?:[\s,:(\[–—]|-(?![.\d\\]))+", re.IGNORECASE)
# A letter before a text in brackets: the `B ` of `B (Paris)`.
_BEFORE_BRACKET = re.compile(r"([A-Z])\s+(?=\((?!\s*(?i:incorrect|wrong|false|not)\b))")
# A letter before a reason in Chinese: the `B.` of `B.本题考查副词`, the `B ` of `B 考查副词`.
_BEFORE_CHINESE = re.compile(
    r"\(?([A-Z])\)?(?:[.:](?=[一-鿿])|(?P<loose>(?:\s{1,3}|,\s?)(?=[一-鿿])(?![或和与及也都均]|还是)))"
)
# Another option that Chinese words reject: `因为C错误`, `但C不满足条件`, `误选C`.
_REJECTED_IN_CHINESE = re.compile(
    r"(?:因为|由于|不是|误选)\s?\(?(?P<named>[A-J])\)?(?![A-Za-z])\s?(?:选?项)?(?:错误?|不[^,。;]{1,9})?"
    r"|(?:但是?|然而|不过)?\s?(?P<denied>[A-J])\)?\s?(?:选?项)?[也都均]?"
    r"(?:不[符满对正成是]|错|被?排除)[^,。;A-J]{0,20}"
)
# Words that begin an explanation, in which a denial rejects no option: the `因为` of
# `因为它不是质数`.
_SUBJECT = re.compile(r"本题考查|考查|句意|因为|由于|根据|由|理由|解析|分析|点评")
# Words that reject the option before them, doubt it or go on to another: `无法推出`, `猜的`.
_NO_REASON = re.compile(r"[不错误违猜但或]|排除|无法|没有|否则")
# A letter of an option between Chinese words: the `C` of `加C`.
_OPTION_IN_CHINESE = re.compile(r"(?<![A-Za-z])[A-J](?![A-Za-z])")


def _label_before_chinese(text: str) -> re.Match[str] | None:
    """The letter before a reason in Chinese that rejects no letter and names no other.

    >>> bool(_label_before_chinese("B 考查副词")), bool(_label_before_chinese("B 加 C"))
    (True, False)
    """
    label = _BEFORE_CHINESE.match(text)
    if label is None or label["loose"] is None:
        return label
    reason = text[label.end() :]
    rejected = {one["named"] or one["denied"] for one in _REJECTED_IN_CHINESE.finditer(reason)}
    if label[1] in rejected:
        return None
    rest = _REJECTED_IN_CHINESE.sub("", reason)
    if set(_OPTION_IN_CHINESE.findall(rest)) - rejected - {label[1]}:
        return None
    return label if _SUBJECT.match(rest) or not _NO_REASON.search(rest) else None


# A denial that is the text of the option labelled before it: `is not continuous`.
_DENYING_TEXT = re.compile(
    r"(?:fails|(?:is|was)(?:\s+not|n['’]t))\s+"
    r"(?!(?:\w+\s+){0,2}(?:correct|right|true|valid|possible|best|answer|option|choice|solution|it)\b"
    r"|(?:so|because|since|as|but|and|or)\b|(?-i:[A-Z])\b)[a-z]",
    re.IGNORECASE,
)
# A letter behind its text, at the end: ` (B)` in `Paris (B)`, `, option B` in `12, option B`.
_LETTER_AFTER = re.compile(
    r"[\s,:–—-]+(?:[(\[](?:(?:option|choice)\s+)?([A-Za-z])[)\]]|(?:option|choice)\s+([A-Za-z]))[\s.!]*$",
    re.IGNORECASE,
)
# A reason behind letters: the `, because it is even` of `B, because it is even`.
_REASON = re.compile(r"[\s,;]+(?:because|since)\b.*", re.IGNORECASE)
# The end of a statement behind its letter: the `です。` of `Bです。`, the `, since` of `B, since`.
_NEUTRAL_END = r"(?=[)）\]]?\s*(?:です|입니다|이다|项|項|选项)?\s*(?:[.。!！,，;；(（【\n]|$))"
# The word for an answer before a letter, and no denial between them: `respuesta correcta es B`.
# It is not called wrong: `Неправильный ответ: B`.
_FOREIGN_ANSWER = (
    r"\b(?i:(?<!неправильный )(?<!неверный )(?<!falsche )"
    r"(?:respuesta|réponse|risposta|resposta|antwort|ответ|odpowiedź|jawaban|cevap))"
    r"(?:\s+(?!(?i:no|pas|nicht|non|não|не|nie|bukan|incorrect\w*|falsch\w*|fausse?|неверн\w*)\b)[^\W\d_]+){0,4}\s*[:：]?\s*[(（\[]?([A-Z])\b"
    rf"{_NEUTRAL_END}"
)
# The same in scripts without spaces: `答案是B`, `正解はB`, `选B`, `정답은 B`.
_EASTERN_ANSWER = (
    r"(?:(?:答案|正解|答え|정답)(?:应该|應該|应|應)?[】是为為はが은는：:\s]{0,4}[(（\[]?([A-Z])(?![A-Za-z])"
    r"|(?:(?:对应|正确|应选)的?|[，。；,;\s])选项(?:是|为|為|：|:)[：:\s]{0,3}[(（]?([A-Z])(?![A-Za-z])"
    r"|(?<![不未没沒别別勿误誤错錯])(?<![不未没沒][要该可能应應])[选選](?:择|擇)?[：:\s]{0,3}[(（]?([A-Z])(?![A-Za-z]))"
    rf"{_NEUTRAL_END}"
)
# Several options in a row: `options A and B`, `Choices A, C and D`.
_SEVERAL_OPTIONS = re.compile(
    r"\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer)s\s+\(?[A-Z]\)?(?:,\s?\(?[A-Z]\)?){0,9},?\s+"
    r"(?:and|or|&)\s+\(?[A-Z]\b"
)
# An option that prose names: `I choose b`, `answer is (B)`, `(B)`, `Option B.`, `B is correct`,
# `It is B.`.
_MARKED = re.compile(
    rf"{_FOREIGN_ANSWER}|{_EASTERN_ANSWER}|"
    r"\b(?i:it(?:\s+is|['’]s))\s+[(\[]?([A-Z])\b[)\]]?(?=\s*(?:[.!]|$))|"
    r"\b(?:(?i:choose|select|pick|answer\s+is)|options?|choices?)\s*:?\s*"
    r"(?:[(\[]([A-Za-z])[)\]]|[(\[]?([A-Z])\b)"
    r"|[(\[]([A-Z])[)\]]"
    r"|\b(?:Option|Choice)\s+[(\[]?([A-Z])\b[)\]]?(?=\s*(?:[.!]|$))"
    r"|(?:[(\[]([A-Za-z])[)\]]|\b([A-Z]))\s+(?i:is)\s+(?i:the\s+)?(?i:correct|right|best|true)\b"
)
# Another option that is offered behind the first: `, or maybe it could be C`.
_ALTERNATIVE = re.compile(
    r"(?:[\s,.;(]+(?i:or|maybe|perhaps|possibly|alternatively)|[\s,;(]+(?:else|otherwise))\b[\s,:(\[*]*"
    r"(?:(?:it|else|also|even|is|be|could|might|option|choice|maybe|perhaps|possibly)\b[\s,:(\[*]*)"
    r"{0,4}([A-Z])\b(?!['’])"
)
