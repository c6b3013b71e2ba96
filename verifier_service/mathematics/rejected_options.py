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
# Options with the words that reject them: `ruling out A and C`, `not (B)`, `B is wrong`.
REJECTED_OPTION = re.compile(
    rf"{_REJECTED_IN_CHINESE}|{_EXCEPTED}"
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
