"""Options that a completion rejects: those that it calls wrong, excepts or rules out."""

from __future__ import annotations

import re

from verifier_service.mathematics.denials import DISOWNING

# The letter of an option: `(b)`, `B`, `[B]`.
_OPTION = r"(?:[(\[][A-Za-z][)\]]|[(\[]?\b[A-Z]\b[)\]]?)"
_NOUN = r"(?:(?i:option|choice|answer)s?\s+)?"
# An option further on in a list, unless a statement about it begins there: `C is` is none.
_NEXT = rf"{_NOUN}{_OPTION}(?![)\]]?\s+(?i:is|are|must|remains?|stands|looks|seems|has)\b)"
# A list of options, up to the one behind its `and`: the `A, C and D` of `A, C and D, option B`.
_OPTIONS = rf"{_NOUN}{_OPTION}(?:\s*,\s*{_NEXT})*(?:(?:\s*,)?\s+(?i:and|or)\s+{_NEXT})*"
_OPTION_ALONE = rf"{_NOUN}{_OPTION}"
# The options that `not` denies: one, or a list that ends with `or`. In `not A, B` B is chosen.
_NEITHER = rf"{_NOUN}{_OPTION}(?:(?:\s*,\s*{_NEXT})*(?:\s*,)?\s+(?i:n?or)\s+{_NEXT})?"
# An option in Chinese, whose signs are no border of a word: `B`, `(B)`.
_CHINESE_OPTION = r"\(?(?<![A-Za-z])[A-Z](?![A-Za-z])\)?"
# Options that Chinese words reject: `不选(B)`, `答案不是B和C`, `排除(B)`, `(B)不对`, `B是错误的`.
_REJECTED_IN_CHINESE = (
    r"(?:[不未没沒别別勿](?:能|可以?|[应應][该該]?|[该該]|要)?[选選][择擇项項]?"
    r"|不是|并非|不为|不為|排除|剔除|淘汰)(?:[选選][项項])?"
    rf"\s?{_CHINESE_OPTION}(?:\s?[、和与與,]\s?{_CHINESE_OPTION}){{0,9}}"
    rf"|{_CHINESE_OPTION}\s?(?:[选選]?[项項])?(?:[是为為]|被)?"
    r"(?:错误|錯誤|错|錯|不对(?!称)|不對(?!稱)|不正确|不正確|不成立|排除)的?"
)
# Words before an option that except or refuse it: `everything but `, `It is false that `, and those
# around one: `The claim that B is right is wrong`; and those that say who errs: `Many people choose
# `. `All but B are wrong` chooses B.
_EXCEPTED = (
    r"(?i:\b(?:every(?:thing|one)?|any(?:thing|one)?|all)(?:\s+(?!(?:but|are|is)\b)\w{1,12}){0,3}\s+"
    rf"(?:but|except(?:\s+for)?)\s+){_OPTIONS}"
    r"(?!(?i:[^.,;\n]{0,40}\b(?:wrong|false|incorrect|fail|eliminated|excluded|ruled)\b))"
    r"|(?i:\b(?:false|untrue|wrong|incorrect)\s+(?:that|to\s+(?:say|think|claim)(?:\s+that)?)\s+)"
    rf"{_OPTIONS}|(?i:\b(?:statement|claim|idea|belief|assumption)\s+that\s+){_OPTIONS}"
    r"(?=[^.\n]{1,60}\s(?i:is|was)\s+(?i:false|untrue|wrong|incorrect|mistaken)\b)"
    rf"|(?i:\b(?:people|students|others|candidates|idiots?|fools?|tempt(?:ing|ed)|mistake|error"
    r"|you\s+(?:might|may|could))\s+"
    rf"(?:(?!(?:I|we)\b)\w{{1,12}}\s+){{0,2}}(?:choose|pick|select|chose|answer|say)s?\s+){_OPTIONS}"
)
# What is said of an option that is not right: ` is only partially correct`, ` has to go`.
_NOT_RIGHT = (
    r"(?i:\s+(?:(?:is|was|looks|seems)\s+(?:half|(?:only\s+)?(?:partially|partly|partial)|incomplete"
    r"|out(?=[.,;]|\s{0,9}\Z)|off\s+by|close,?\s+but)|misses\s+the\s+point|can\s+be\s+(?:ruled\s+out"
    r"|excluded|discarded|eliminated)|has\s+to\s+go|goes\s+too\s+far|needs\s+more|used\s+to\s+be"
    r"|would\s+only\s+be\s+(?:right|correct|true|the\s+answer)"
    r"|(?:remains\s+to|has\s+to|must|needs\s+to)\s+be\s+(?:checked|examined|tested|verified))\b)"
)
# Words before an option that speak against it, or of others who choose it: `This contradicts `,
# `The trap is `, `Some would pick `.
_AGAINST = (
    r"(?i:\b(?:(?:contradict|refut|disprov|weaken|undermin|violat)(?:e?[sd]|ed|es|e|ing)?|avoid(?:s|ed|ing)?"
    r"|(?:incompatible|inconsistent|disagree[sd]?|conflict(?:s|ed)?|clash(?:es)?|at\s+odds|careful)\s+with"
    r"|(?:is|are|speaks?|argues?|evidence)\s+against|(?:differs?|different|far)\s+from|opposite\s+(?:of|to)"
    r"|unlike|without|wonder(?:ed)?\s+about|fails?\s+(?:for|with)"
    r"|(?:about|hard|tempted|wrong)\s+to\s+(?:pick|choose|select|go\s+with|believe|accept)"
    r"|(?:nothing|nobody|no\s+one)\s+(?:supports?|confirms?|suggests?|matches|picks|chooses|would\s+\w{2,12})"
    r"|(?:trap|distractor|decoy|runner-up|red\s+herring|second[- ]best)"
    r"(?:\s+(?:here|option|choice|one|answer))?"
    r"\s+(?:is|was|would\s+be)"
    r"|(?:(?:some|many|others)|an?\s+(?:careless|hasty|naive|weak)\s+\w{2,12})"
    r"\s+(?:(?:would|might|may|could|will)\s+)?(?:pick|choose|select|guess|say)s?)"
    rf"\s+(?:the\s+)?){_OPTIONS}"
    r"|(?i:(?:\b(?:not|never|cannot)|n['’]t)\s+(?:match|correspond|support|agree|fit|suit|be|say|mean|lead|point|imply"
    r"|equal|what|favou?r|explain|justify|suggest)(?:\s+(?:to|with|for|that|the)){0,2}"
    r"|\balmost\s+(?:chose|picked|said|selected)|\b(?:beginners|novices|amateurs)\s+(?:choose|pick|select|say)"
    r"|\bone\s+(?:would|might|may|could)\s+(?:expect|think|say|choose|guess)|\bleaves?\s+out)"
    rf"\s+{_OPTIONS}"
    rf"|{_OPTION}{_NOT_RIGHT}"
    r"|(?i:\b(?:consider|now\s+for|(?:look|looking)\s+at|(?:to|us|me)\s+(?:check|examine|test|compare[^.,;\n]{0,20}))"
    rf"\s+(?:the\s+)?){_OPTION_ALONE}(?=[\s.*]{{0,5}}\Z)"
)
# Options with the words that reject them: `ruling out A and C`, `not (B)`, `B is wrong`.
REJECTED_OPTION = re.compile(
    rf"{_REJECTED_IN_CHINESE}|{_EXCEPTED}|{_AGAINST}"
    rf"|(?i:{DISOWNING}(?:final[ ])?(?:option|choice|answer)s?(?:\s*(?:is|are|:))?\s*){_OPTIONS}"
    rf"|(?i:\b(?:reject|eliminat|exclud|discard)(?:e?[sd]|e|ing)?\s+|\brul(?:e[sd]?|ing)\s+out\s+)"
    rf"{_OPTIONS}"
    rf"|\(?(?i:\b(?:and|but)\s+)?(?i:(?:\bnot|\bcannot|n['’]t)\s+(?:(?:possibly\s+)?be\s+)?){_NEITHER}"
    rf"|(?i:(?:\bnot|\bcannot|\bnever|\bno\s+one|\bnobody|n['’]t)\s+(?:\w+\s+)?(?:choose|select|pick|go\s+with|take)\s+)"
    rf"{_OPTIONS}"
    rf"|(?i:\b(?:option|choice)\s+)?{_OPTION}\s+(?:(?i:fails)\b"
    rf"|(?i:is|was|looks|seems|must\s+be|has\s+been)"
    rf"\s+(?i:wrong|false|incorrect|eliminated|rejected|excluded|discarded|ruled\s+out)\b"
    rf"|(?i:is|was)(?i:n['’]t|\s+not)\b(?:\s+{_NEITHER})?)"
)

# Words before an option with which a line only wonders about it: `Possibly (D).`, `What about D?`
_WONDERS = re.compile(
    r"(?i:\b(?:(?:could|might|may)\s+(?:also\s+|still\s+)?be|possibly|maybe|perhaps|what\s+about|why\s+not"
    r"|reconsider|is\s+it|(?:more|less|worse)\s+than|under\s+other\s+\w{2,15}|if\s[^.,;\n]{1,60}\b(?:were|had)\b[^.,;\n]{0,30},"
    r"(?:\s+then)?)\s+(?:it\s+is\s+)?)"
    rf"{_OPTION_ALONE}[\s.?!*]{{0,5}}\Z"
)


_OPTION_NOT_RIGHT = re.compile(rf"\s*{_OPTION}{_NOT_RIGHT}")


def is_called_not_right(text: str) -> bool:
    """Whether a text says of the option with which it begins that it is not right.

    >>> is_called_not_right("(D) is half right."), is_called_not_right("(D) is halved.")
    (True, False)
    """
    return _OPTION_NOT_RIGHT.match(text) is not None


def only_wonders(line: str) -> bool:
    """Whether a line ends with an option about which it only wonders.

    >>> only_wonders("Possibly (D)."), only_wonders("Maybe A, but it is (D).")
    (True, False)
    """
    return _WONDERS.search(line) is not None
