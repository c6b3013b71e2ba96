"""Words around a value by which a completion denies, bounds, doubts or disowns it.

`withdrawn_answers` reads the text behind an answer, `offered_answers` values beside it, and
`rejected_options` the letters of options.
"""

from __future__ import annotations

import re

from verifier_service.mathematics.refused_numbers import is_refused_number
from verifier_service.mathematics.sentences_in_other_languages import is_bounded_elsewhere

MAX_DENIAL_CHARACTERS = 60
"""Longest text before the announcement of an answer in which a denial of it is sought."""


def is_disowned(announcement: re.Match[str]) -> bool:
    """Whether a denial stands before the announcement of an answer (`answer is`), in its line."""
    text, end = announcement.string, announcement.start()
    begin = max(0, end - MAX_DENIAL_CHARACTERS)
    begin = max(begin, text.rfind("\n", begin, announcement.end() - 1) + 1)
    if _REMAINING.search(text, begin, end) and _SEVERAL_WRONG.match(text, end):
        return True
    changing = _OF_THE_ANSWER if "answer" in announcement[0].lower() else _OF_THE_RESULT
    if changing.search(text, begin, end):
        return True
    is_denied = _DISOWNED.search(text, begin, end) is not None
    honest = (_COUNTED, _ASKED_FOR)
    return is_denied and not any(pattern.search(text, begin, end) for pattern in honest)


_CLAIM = (
    r"(?:say(?:ing)?|think|believe|claim|conclude|assume|agree|sure|certain|convinced|confident)"
)
# Doubt that is not denied itself: that of `I doubt`, not that of `no doubt`, `without a doubt`.
_DOUBT = r"(?<!no )(?<!without )(?<!without a )doubt"
# "Wrong" before a noun in other languages: `Неправильный ответ`, `गलत उत्तर`.
_WRONG_IN_OTHER_LANGUAGES = r"неправильн\w{1,2}|неверн\w{2}|невірн\w|хибн\w|falsche|गलत|ভুল|తప్పు"
# Words for another's answer, right before `answer is`: `The reference `, `The grader's `.
_NOT_OURS = r"reference|(?:grader|student|user|textbook|book|author)['’]s"
_ARTICLES = r"(?:[ ]+(?:the|an?|my|our|your|final))*"
# A denial or a condition right before `answer is 5`: `n't think that the ` in `I don't think that
# the answer is`, the `if the ` of `if the answer is`.
# Nothing that ends a clause may come between: `I am not sure, but the answer is 5` denies nothing.
DISOWNING = (
    rf"(?:\b(?:wrong|incorrect|naive|tempting|trap|{_NOT_OURS}|{_WRONG_IN_OTHER_LANGUAGES})"
    rf"|\b(?:wrong|incorrect|false)[ ]+(?:to[ ]+{_CLAIM}(?:[ ]+that)?|that){_ARTICLES}"
    rf"|\b{_DOUBT}(?:s|ed|ful)?(?:[ ]+that)?{_ARTICLES}"
    rf"|(?:\bnot|\bcannot|n['’]t)[ ]+(?:be[ ]+)?{_CLAIM}(?:[ ]+(?:that|if|whether))?{_ARTICLES}"
    rf"|\b(?:if|suppose|supposing|assume|assuming|imagine|pretend|whether|unless|say)"
    rf"(?:[ ]+that)?{_ARTICLES}"
    rf"|\b(?:nobody|no[ ]+one)[ ]+(?:(?:would|will|could|can|should)[ ]+)?{_CLAIM}s?"
    rf"(?:[ ]+that)?{_ARTICLES}"
    rf"|(?:\bnot|n['’]t)[ ]+(?:(?:true|correct|right|the[ ]+case)[ ]+)?that{_ARTICLES}"
    r"|(?:\b(?:is|was)[ ]+not|n['’]t|(?:^|[\n*❌])[ ]?not)[ ]+(?:the|my|our)"
    r"(?:[ ]+(?:final|right|correct))?)[ *_]+"
)
# Such a denial at the end of a text.
_DISOWNED = re.compile(DISOWNING + "$", re.IGNORECASE)
# Words that make another number of the answer: the `Twice the ` before `answer is 6`.
_OF_THE_ANSWER = re.compile(
    r"\b(?:twice|thrice|double|triple|half(?:[ ]of)?"
    r"|(?:square|cube|root|negative|opposite|reciprocal|inverse|digits?)[ ]of"
    r"|(?:integer|number)[ ](?:below|above|before|after)"
    r"|(?:more|less|fewer)[ ]than)[ ](?:the|my|our)[ ](?:final[ ])?\Z",
    re.IGNORECASE,
)
# The same before `result is 6`. Problems ask for roots, digits and squares of a result: `The sum of
# the digits of the result is 6` answers one.
_OF_THE_RESULT = re.compile(
    r"\b(?:twice|thrice|double|triple|half(?:[ ]of)?|integer[ ](?:below|above))[ ]the[ ]"
    r"(?:final[ ])?\Z",
    re.IGNORECASE,
)
# Another's answer that a conclusion or a count states: the `So the student's ` of `So the student's
# answer is 6`.
_ASKED_FOR = re.compile(
    r"(?:\b(?:so|thus|hence|therefore),?|\b(?:number|sum|value|total)[ ]of)[ ]the[ ]"
    r"(?:student|user|textbook|book|author)['’]s[ *_]+\Z",
    re.IGNORECASE,
)
# A word for all options but the answer, and what is said of them: `other `, `options: B is wrong`.
_REMAINING = re.compile(r"\b(?:other|remaining)[ *_]+$", re.IGNORECASE)
_SEVERAL_WRONG = re.compile(
    r"(?:option|choice|answer)s\b[^\n]{0,200}\b(?:wrong|incorrect|false|not|fails?|eliminated|ruled)\b",
    re.IGNORECASE,
)
# Words that count wrong answers and deny none: `number of wrong ` before `answers is 12`.
_COUNTED = re.compile(
    r"(?:\b(?:total|(?:number|count|fraction|percentage|proportion|probability|chance)s?[ ]+"
    r"(?:of|for|that))\b(?:(?!\b(?:is|are|so|but)\b)[^.,:;?!])*|\d[ *_]+)"
    r"\b(?:wrong|incorrect)[ *_]+$",
    re.IGNORECASE,
)


# A supposition right before a number: `if it were `, `suppose n = `.
_SUPPOSED = re.compile(
    r"\b(?<!only )(?:if|suppose|supposing|assume|assuming|imagine|unless|whether)\s+"
    r"(?:for\s+(?:the\s+sake\s+of\s+)?(?:a\s+)?contradiction,?\s+)?(?:that\s+)?"
    r"(?:[\w$'’]+\s+){1,3}?(?:were|was|is|be|are|equals?|=|had|has|gives?|gave)\s+"
    r"(?:really\s+|actually\s+|only\s+)?[$*(]*$",
    re.IGNORECASE,
)
MAX_LINE_CHARACTERS = 400
"""Longest part of a line in which values with a condition between them are sought."""

# Words right before a number that bound it, deny it or doubt it: `fewer than `, `ruled out `. Not
# `at least`: `You need at least 5 coins.` answers how many one needs.
_WEAKENING = re.compile(
    r"(?:\b(?:(?:more|less|fewer|greater|smaller|larger|bigger|higher|lower)[ ]+than|exceeds?"
    r"|differs?[ ]+from|different[ ]+from|any(?:thing|[ ]+\w+)[ ]+but|all[ ]+but"
    r"|except|excepting|apart[ ]+from"
    r"|other[ ]+than|rather[ ]+than|instead[ ]+of|refuse[sd]?[ ]+to[ ]+\w+"
    r"|(?:is|are|lies?|stays?|remains?|falls?|be)[ ]+(?:\w+ly[ ]+|somewhere[ ]+|well[ ]+|just[ ]+)?"
    r"(?:below|above|under|over|beyond)"
    rf"|(?:no[ ]+way|hardly|unlikely|impossible|{_DOUBT}\w*"
    r"|(?:nobody|no[ ]+one)[ ]+\w{2,12})"
    r"(?:[ ]+(?:that|it|this|the|answer|value|result|could|can|would|be|is|to|believe|say|think"
    r"|equals?)(?:['’]s)?){1,8}"
    rf"|(?:not|[a-z]{{2,6}}n['’]t)[ ]+{_CLAIM}"
    r"(?:[ ]+(?:that|it|this|the|answer|value|result|could|can|would|be|is|equals?)(?:['’]s)?){1,8}"
    r"|never(?:[ ]+(?:be|is|equals?|gives?|gets?|says?))?"
    r"|(?:not|[a-z]{2,6}n['’]t)[ ]+(?:get|say|answer|obtain|find|have|reach|equal|make|give|yield"
    r"|produce|(?:come|amount|lead|add[ ]+up|work[ ]+out)[ ]+to)"
    r"|(?:is|are|was|be)[ ]+(?:hardly|scarcely)"
    r"|(?:far|nowhere[ ]+near)[ ]+from|contrary[ ]+to(?:[ ]+[^\s,;:]{1,12}){0,3}"
    r"|(?:false|untrue|a[ ]+lie)[ ]+(?:that|to[ ]+say)(?:[ ]+[^\s,;:]{1,12}){1,4}"
    r"|(?:rule[sd]?|ruling)[ ]+out|exclud(?:e[sd]?|ing)"
    r"|\b(?:we|I)[ ]+(?:can[ ]+|must[ ]+)?(?:eliminate|reject|discard)(?:e?d)?"
    r"|\A(?:above|below|under|over|beyond)|impossible[ ]+to[ ]+(?:get|be|have|reach)"
    r"|(?:might|could|may)[ ]+(?:also[ ]+)?be"
    r"|might[ ]+(?!need|expect|guess)[a-z]{2,12}|perhaps|maybe|possibly"
    r"|would[ ]+have[ ]+been|\bwere\b[^.\n]{0,40}\bwould[ ]+be"
    r"|between[ ]+\S{1,30}[ ]+and)[ ]+(?:the[ ]+number[ ]+)?[$*(]*)$"
    r"|(?:≠|\\neq?)[ ]?[$*(]*$"
    r"|(?:可能|也许|或许|大于|小于|多于|少于|超过|不足|低于|高于)(?:是|为|等于)?[\s$*(]{0,4}$",
    re.IGNORECASE,
)
# Words right before a number that call it what others get wrong: `A common mistake is to answer `,
# `It would be a mistake to say `, `Many students guess `, `The grader expects `.
_MISTAKEN = re.compile(
    r"\b(?:(?:common|typical|frequent|usual|classic|careless)[ ](?:mistake|error|trap|pitfall)s?[ ]"
    r"(?:is|was|would[ ]be|gives?|yields?|leads?[ ]to)[ ](?:to[ ]\w{2,12}[ ]|\w{2,12}ing[ ])?"
    r"|a[ ]mistake[ ]to[ ]\w{2,12}[ ](?:that[ ])?"
    r"|(?:many|some|most)[ ](?:students|people|solvers)[ ](?:\w{2,12}[ ])?"
    r"(?:answer(?:ed)?|guess(?:ed)?|say|said|think|thought|believed?|claim(?:ed)?)[ ](?:that[ ])?"
    r"|\b(?:grader|examiner|verifier|answer[ ]key|textbook)[ ](?:expects?|wants?|says|claims?)[ ]"
    r"(?:that[ ])?"
    r"|(?:naive|tempting|trap)[ ](?:guess|value|result)(?:[ ]is|:)[ ])"
    r"(?:(?:it|the[ ]answer)[ ]is[ ])?[$*(]*$",
    re.IGNORECASE,
)
# Words right behind a number that make it a bound of the value: ` or more`, `$ or fewer eggs`.
_OPEN_BEHIND = re.compile(
    r"(?<!,)[$*)]{0,4}(?:[ ][a-z]{2,12})?[ ](?:or[ ](?:less|fewer|above|below|over|under|greater"
    r"|higher|lower|more(?![ ](?:precisely|exactly|simply|generally))|so(?=[.!*]|$))"
    r"|and[ ](?:more|up)(?=[.!*]|$))\b(?![ ]than\b)"
    r"|[$*)]{0,4}[ ]would[ ](?:then[ ])?be[ ](?:the|an?|our|correct|right)\b"
    r"[^.\n]{0,60}\b(?:if|unless|had|were)\b",
    re.IGNORECASE,
)
# Words of a clause that calls what it says of a number impossible: `There's no way Lena has `.
_NO_WAY = re.compile(
    r"\b(?:no\s+way|(?:is|it['’]s|was)\s+(?:impossible|not\s+possible))\b"
    r"(?:(?!\b(?:so|but|thus|hence|therefore|unless|without|until|because|since)\b)[^.,;:?\n]){0,60}\Z",
    re.IGNORECASE,
)
# The rest of a sentence that makes another number of that before it: `, and Lena has half of that.`
_LEFT_TO_DO = re.compile(
    r"(?:\s[a-z]{1,20}){0,3},?\s(?:and|but|so)\s(?:[A-Za-z'’]{1,20}\s){1,4}"
    r"(?:half|twice|double|triple|thrice|(?:two|three|four|five)\stimes|an?\s(?:third|quarter|fifth))"
    r"\s(?:of\s)?(?:that|this|it)(?:\s(?:amount|number|much|many|sum))?\W{0,4}\Z"
)
# Words before a number whose bound is the value: the `needs ` of `She needs 42 or more points.`
_NEEDED = re.compile(
    r"\b(?:needs?|requires?|(?:must|ha(?:s|ve)[ ]to)[ ](?:score|get|sell|roll|earn|reach|win|buy))"
    r"(?:[ ](?:an?|the|total|score|grade|of|to|at|least|most|get|sell|earn|have)){0,6}"
    r"[ $*(]{0,4}\Z",
    re.IGNORECASE,
)
# Words right before a box that deny it or doubt it: `is not `, `anything but `, `Wrong answer: `.
_DENYING = re.compile(
    r"(?:\b(?:not|never|nicht|niet|не|cannot|isn|doesn|neither|nor|rather[ ]+than|instead[ ]+of"
    r"|anything[ ]+but|other[ ]+than|except|exclud(?:e|es|ed|ing)|rul(?:e|es|ed|ing)[ ]+out"
    r"|reject(?:s|ed|ing)?|discard(?:s|ed|ing)?)"
    r"|n['’]t|\b(?:no[ ]+(?:es|son)|non[ ]+(?:è|sono)|n[ãa]o[ ]+(?:é|são)|n['’]est[ ]+pas"
    r"|ne[ ]+vaut[ ]+pas)"
    r"|\b(?:wrong|incorrect|false)[ ]+(?:answer|value|result|solution)[ ]*(?:is|:|=)?"
    r"|\bdoubt[ ]+(?:that[ ]+)?(?:it|this|the[ ]+answer)[ ]+(?:is|equals)|不是|不等于"
    r"|≠|\\(?:neq?|neg|lnot|not[ ]*=)(?![a-zA-Z]))"
    r"(?:[ ]+(?:be|equal|is|equals|to|the|number|value|answer|option|t|likely|really|igual|égale?"
    r"|uguale|a|à)){0,4}"
    r"\W{0,6}$",
    re.IGNORECASE,
)
# Words right before a box that say that its content is not the answer, but a bound of it, a part
# or a supposition: `greater than `, `twice `, `If the answer were `.
_BOUNDING = re.compile(
    r"(?:\b(?:more|less|fewer|greater|smaller|larger|bigger|higher|lower)[ ]+than"
    r"|\b(?:twice|thrice|half(?:[ ]+of)?|double|triple|negative|minus"
    r"|(?:(?:square|cube)(?:[ ]+root)?|reciprocal|inverse|opposite)[ ]+of)"
    rf"|\b(?:if|suppose|supposing|assuming|unless)[ ][^.,;:\n]{{1,40}}[ ]were"
    r"|\bif[ ][^.;:\n]{1,30}\b(?:had|were)\b[^.;:\n]{0,30}[ ]would[ ](?:then[ ])?"
    r"(?:be|get|give|have[ ]been)"
    rf"|{_DOUBT}(?:s|ed|ful)?(?:[ ]+(?:that|it|is|was|the|answer|value)){{0,5}}"
    r"|\b(?:some|many|most|others)[ ]+(?:people[ ]+|students[ ]+)?"
    r"(?:might|may|could|would)[ ]+(?:\w+ly[ ]+)?"
    r"(?:get|say|think|answer|guess|find|obtain|conclude|write)"
    r"|\b(?:far|nowhere[ ]+near)[ ]+from)[ ]+[$*(\\\[]{0,4}[ ]?$",
    re.IGNORECASE,
)
# Words right behind a box that change its content: ` plus 1`, ` squared`.
_CHANGED_BEHIND = re.compile(
    r"[ $)\]\\]{0,4}[ ](?:(?:plus|minus|times|divided[ ]+by|multiplied[ ]+by)[ ]+[$\\]{0,2}\d"
    r"|(?:plus|minus)[ ]+the[ ]+(?:one|two|ones|number|first|last)\b"
    r"|(?:squared|cubed|doubled|tripled|halved)\b)"
    r"|[ $]{0,2}(?:≠|\\(?:neq?|not\s*=)(?![a-zA-Z]))",
    re.IGNORECASE,
)


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether words right before a box deny it, or a question that has it gets no yes.

    >>> is_denied("It is not 5.", 10, 11), is_denied("Is it 5? Hm.", 6, 7)
    (True, True)
    >>> is_denied("Is it 5? Yes.", 6, 7)
    False
    >>> is_denied("It is not 6, but 5.", 17, 18)
    False
    """
    before = text[max(0, start - MAX_DENIAL_CHARACTERS) : start].rpartition("\n")[2]
    if _DENYING.search(before) or _BOUNDING.search(before) or _CHANGED_BEHIND.match(text, end):
        return True
    return _ASKED.match(text, end) is not None and _QUESTION.search(before) is not None


# A question, up to the number in it: `Is the answer `, `... or `.
_QUESTION = re.compile(
    r"(?:^|[.!?]\s+)(?:(?:(?:hmm+|wait|but|so|and),?\s+)?(?:is|are|was|were|could|can|might|does|do|should|would)\b[^.!?]*"
    r"|[^.!?]*\bor\s+)$",
    re.IGNORECASE,
)
# The end of a question that nobody answers with yes: the `?` of `5?`, of `5? I cannot tell.`
_ASKED = re.compile(
    r"[$*)]{0,4}\?(?!.*\b(?:yes|ye[ap]h?|indeed|correct|right|exactly|sure|definitely|certainly"
    r"|of\s+course|it\s+is|match(?:es)?|works?|confirm(?:s|ed)?|true|so|thus|hence|therefore)\b)",
    re.IGNORECASE | re.DOTALL,
)


def is_no_statement(line: str, start: int, end: int) -> bool:
    """Whether a line bounds, denies, doubts, supposes or asks for the number between two positions.

    >>> is_no_statement("There are fewer than 5.", 21, 22), is_no_statement("Is it 5?", 6, 7)
    (True, True)
    >>> is_no_statement("There are 5 fewer than before.", 10, 11)
    False
    """
    before = line[max(0, start - MAX_DENIAL_CHARACTERS) : start]
    if _WEAKENING.search(before) or _SUPPOSED.search(before) or _MISTAKEN.search(before):
        return True
    if _OPEN_BEHIND.match(line, end) and _NEEDED.search(before) is None:
        return True
    if _NO_WAY.search(before) or _LEFT_TO_DO.match(line, end):
        return True
    if is_refused_number(line, start, end):
        return True
    if is_bounded_elsewhere(before, line[end : end + 20]):
        return True
    return _ASKED.match(line, end) is not None and _QUESTION.search(before) is not None


# The rest of a sentence in which nothing follows from what it says before.
_TO_THE_END = (
    r"(?:(?!\b(?:so|hence|thus|therefore|and|to(?!\s\d)|we|giv(?:es?|ing)|yields|leaves|makes)\b)"
    r"[^,:;\n]){0,60}(?:[,;][^\d\n]{0,60})?\Z"
)
# A sentence about another number than the answer: `The answer minus one is 9`, `The answer's last
# digit is 9`, `The answer has 9 digits`, `Multiply the answer by 9`.
_ABOUT_THE_ANSWER = re.compile(
    r"\b(?:the|my|our)\s(?:(?:final|correct)\s)?(?:answer|result)"
    r"(?:['’]s\s(?!(?:[a-z]{1,12}\s)?(?:value|form)\b)[^.,:\n]{1,40}?\s(?:is|are)"
    r"|\s(?:minus|plus|times)\s\w{1,12}\s(?:is|equals)"
    rf"|\s(?:squared|cubed|doubled|tripled|halved)\s(?:is|equals))\s{_TO_THE_END}"
    r"|\bthe\sanswer\s(?:has|starts\swith|ends\s(?:with|in)|begins\swith)\s(?:exactly\s)?"
    rf"(?=\d){_TO_THE_END}"
    r"|\b(?:multiply|divid|add|subtract)(?:e|ing)?\s(?:[^\s.]{1,20}\s(?:to|from)\s)?the\sanswer\b"
    rf"(?!\s(?:of|for|from|in|to(?!\s\d))\b){_TO_THE_END}"
    r"|\b(?:add|subtract)ing\s[^\s.]{1,20}\s(?:gives|yields)\sthe\sanswer\W{0,3}\Z"
    r"|\b(?:add|subtract)\s[^\s.]{1,20}\sto\s(?:get|obtain|find)\sthe\s(?:final\s)?answer\W{0,3}\Z"
    r"|\bis\s(?:half|twice|double|triple)\s(?:of\s)?(?:the|my|our)\sanswer\W{0,3}\Z",
    re.IGNORECASE,
)


def is_about_the_answer(sentence: str) -> bool:
    """Whether a sentence states a number that only has to do with the answer.

    >>> is_about_the_answer("The answer has 9 digits."), is_about_the_answer("So the answer is 9.")
    (True, False)
    """
    return _ABOUT_THE_ANSWER.search(sentence) is not None


def is_unstated(text: str, start: int, end: int) -> bool:
    """Whether a sentence bounds, denies, doubts or asks for the mathematics between two positions.

    >>> is_unstated("It is not $6$.", 10, 13), is_unstated("It is $6$.", 6, 9)
    (True, False)
    """
    if _NOTHING_BUT.search(text, max(0, start - MAX_DENIAL_CHARACTERS), start):
        return False
    return is_no_statement(text, start, end) or is_denied(text, start, end)


# Words that leave nothing but the value behind them: the `no solutions other than ` of `There are
# no solutions other than $(1,2)$.`
_NOTHING_BUT = re.compile(
    r"\b(?:no|none|nothing|never)\b[^.,;\n]{0,40}\s(?:other\s+than|except(?:\s+for)?|but|apart\s+from"
    r"|different\s+from)\s+[$*(]{0,3}\Z",
    re.IGNORECASE,
)
