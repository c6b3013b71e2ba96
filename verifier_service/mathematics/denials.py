"""Values and options that a completion denies, doubts, takes back, or offers beside others."""

from __future__ import annotations

import re

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
_DISOWNING = (
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
_DISOWNED = re.compile(_DISOWNING + "$", re.IGNORECASE)
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
    r"|and[ ](?:more|up)(?=[.!*]|$))\b(?![ ]than\b)",
    re.IGNORECASE,
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
    r"|n['’]t|\b(?:wrong|incorrect|false)[ ]+(?:answer|value|result|solution)[ ]*(?:is|:|=)?"
    r"|\bdoubt[ ]+(?:that[ ]+)?(?:it|this|the[ ]+answer)[ ]+(?:is|equals)|不是|不等于"
    r"|≠|\\(?:neq?|neg|lnot|not[ ]*=)(?![a-zA-Z]))"
    r"(?:[ ]+(?:be|equal|is|equals|to|the|number|value|answer|option|t|likely|really)){0,4}"
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
    r"|\b(?:far|nowhere[ ]+near)[ ]+from)[ ]+[$*(\\\[]{0,4}[ ]?$",
    re.IGNORECASE,
)
# Words right behind a box that change its content: ` plus 1`, ` squared`.
_CHANGED_BEHIND = re.compile(
    r"[ $)\]\\]{0,4}[ ](?:(?:plus|minus|times|divided[ ]+by|multiplied[ ]+by)[ ]+[$\\]{0,2}\d"
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
    r"(?:^|[.!?]\s+)(?:(?:is|are|was|were|could|can|might|does|do|should|would)\b[^.!?]*"
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
    r"|\b(?:add|subtract)ing\s[^\s.]{1,20}\s(?:gives|yields)\sthe\sanswer\W{0,3}\Z",
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


# Words behind an answer that take it back: `Just kidding`, `I don't know.`
_TAKEN_BACK = re.compile(
    r"\bjust[ ]+kidding\b|\bI[ ]+(?:made[ ]+that[ ]+up|give[ ]+up|have[ ]+no[ ]+idea)\b"
    r"|\bI[ ]+(?:don['’]?t|do[ ]+not)[ ]+(?:really[ ]+|actually[ ]+)?know(?=\s*[.!]|\s*$)"
    r"|\bI[ ]+(?:retract|withdraw|take[ ]+back)[ ]+(?:this|that|it|my[ ]+answer)\b"
    r"|[.!\n][ ]*(?:please[ ]+)?(?:ignore|disregard)[ ]+(?:this|that|it|my[ ]+answer)"
    r"(?=\s*[.!]|\s*$)",
    re.IGNORECASE,
)
# A sentence behind an answer that says that none can be given: `Without data we cannot provide a
# definitive answer.`, `It is impossible to determine the answer.`
_REFUSING = re.compile(
    r"\b(?:(?:we|I|one)\s+(?:cannot|can\s+not|can['’]t|(?:am|are)\s+(?:not\s+able|unable)\s+to)"
    r"|(?:it\s+is|it['’]s)\s+(?:impossible|not\s+possible)\s+to)\s+"
    r"(?:(?:definitively|accurately|really|actually|correctly)\s+)?"
    r"(?:answer\s+(?:the|this)\s+question|(?:determine|provide|give|choose|select|identify|find|say|know)\s+"
    r"(?:(?:an?|the|this|any|which)\s+)?"
    r"(?:(?:correct|definitive|definite|final|right|specific)\s+){0,2}"
    r"(?:answer|option)(?:\s+letter)?(?:\s+is\s+(?:right|correct))?)"
    r"(?:\s+(?:based\s+on|from|with)\s+(?:(?:the|this|given|provided|available)\s+){1,2}"
    r"(?:data|information|context)(?:\s+(?:given|provided))?)?"
    r"(?=[ ]*(?:[.!;\n]|\Z))",
    re.IGNORECASE,
)
# The end of the text before a clause that gives a reason: the `as ` of `, as we cannot tell`.
_REASON = re.compile(r"\b(?:as|since|because)\s+\Z", re.IGNORECASE)
# An answer that says itself that there is none: `Not enough information`.
_SAYS_NONE = re.compile(
    r"\b(?:not|cannot|can['’]t|none|no|insufficient|unknown|impossible|indetermina\w+|undetermined)\b",
    re.IGNORECASE,
)
_MAX_NONE = 100
"""Most characters on either side of a position in which an answer says that there is none."""

# What is said of a value that solves nothing, up to the end of the clause: ` is impossible.`, ` is
# extraneous, so`.
_UNFIT = (
    r"(?:is|was|must\s+be)\s+(?:(?:clearly|obviously|also|an?)\s+){0,2}"
    r"(?:impossible|inadmissible|contradict(?:ion|ory)|absurd|extraneous(?:\s+(?:root|solution|value))?"
    r"|not\s+(?:possible|allowed|admissible|permitted"
    r"|an?\s+(?:(?:valid|real|possible|admissible)\s+)?(?:solution|root)))"
    r"(?=\s*(?:[.!;)\n]|\Z|,?\s(?:so|since|as|because|hence|thus|therefore)\b))"
)
# The same in the sentence of the value: `, which is impossible.`
_UNFIT_CLAUSE = re.compile(
    rf"(?:\bwhich|,\s*(?:and|but|though|yet)\s+(?:this|that|it))\s+{_UNFIT}", re.IGNORECASE
)
# A sentence whose subject is a value that solves nothing: `But $x = 5$ is extraneous.`
_UNFIT_SUBJECT = re.compile(
    r"(?:(?:but|so|thus|then|and|however|here|now),?\s+)?"
    r"(?P<value>\$[^$\n]{1,60}\$|[^\s$]{1,30}(?:\s=\s[^\s$]{1,30})?)"
    rf"\s+{_UNFIT}",
    re.IGNORECASE,
)
# A sign that a clause names several values: the `or` of `x = 5 or x = -5, which is impossible`.
_SEVERAL = re.compile(r"[,;]|\b(?:or|and)\b", re.IGNORECASE)
# An answer with at most a unit behind it: `$5$ apples`, `\boxed{5}$`.
_ALONE = re.compile(
    r"[\s:*(]{0,9}(?:\$[^$\n]{1,100}\$|\\boxed\{(?:[^{}\n]|\{[^{}\n]{0,50}\}){0,100}\}"
    r"|[^\s$]{1,60}(?:\s=\s[^\s$]{1,60})?)?[\s$)}\]*.\\]{0,12}\w{0,30}",
)
# A word behind which a clause gives the reason of a value: the `as` of `x = 5 as x = 4 fails`.
_GIVES_REASON = re.compile(r"\b(?:because|since|as|otherwise)\b", re.IGNORECASE)
# The nought and the empty set, whose being impossible is the reason: `0, since it is impossible.`
_NOUGHT = re.compile(
    r"(?<![\d.])0(?![\d.])|\b(?:no|none|never|zero|empty)\b|emptyset|varnothing|∅", re.IGNORECASE
)
_WRONG = (
    r"(?:['’]s|\s+(?:is|was|were|seems|looks|must\s+be|has\s+to\s+be))\s+"
    r"(?:(?:\w+ly|just|simply|all|of\s+course|a|an)\s+){0,2}"
    r"(?:wrong|incorrect|false|untrue|invalid|nonsense|lie|mistake|error"
    r"|not\s+(?:true|right|correct|so|it|the\s+(?:\w+\s+){0,2}(?:answer|one|case)))"
    r"(?=\s*(?:[.!,;:)*]|$))"
)
# A clause in the sentence of an answer that takes it back: ` which is wrong`, `, but it is false`.
_WRONG_CLAUSE = re.compile(
    rf"(?:\bwhich|[,(–—-]\s*(?:(?:and|but|though|although|however|yet),?\s+)?(?:this|that|it)|"
    rf"\s(?:but|though|although)\s+(?:this|that|it)){_WRONG}"
    r"|[\d$)}]\s+(?:is|was)n['’]t\s+(?:right|correct|it|true)(?=\s*(?:[.!)]|$))"
    r"|[\d$)}]\s+(?:is|was)\s+(?:wrong|incorrect|not\s+(?:the|an|my)\s+(?:\w+\s+)?answer)"
    r"(?=\s*(?:[.!)]|$))"
    r"|[\d$)}]\s*[(\[]\s*(?:this\s+is\s+)?"
    r"(?:wrong|incorrect|false|not\s+(?:really|true|correct))\s*[)\]]"
    r"|[\d$],\s+(?:not\s+really|or\s+not|or\s+(?:something|so)|or\s+whatever)(?=\s*(?:[.!]|$))",
    re.IGNORECASE,
)
# Signs between an answer and the sentence behind it: `.`, `)$`, `**.`
_BETWEEN = r"[\s.!?)*$\]\\]{0,12}"
# Words that begin a second thought: `Wait,`, `Hmm... actually,`, `No, hold on.`
_THOUGHT = (
    r"(?:(?:no|oh|but),?\s+)?(?:wait|hold\s+on|hang\s+on|hmm+|oops|sorry|actually"
    r"|on\s+(?:reflection|second\s+thoughts?))\b[\s,.!…—-]+"
)
# A sentence right behind that of an answer which takes it back: `This is wrong.`, `No, it is not.`
_WRONG_SENTENCE = re.compile(
    rf"{_BETWEEN}(?:{_THOUGHT}){{0,3}}(?:(?:no|but|and|however|well|oh),?\s+)?"
    rf"(?:(?:this|that|it|the\s+(?:above|previous|last)(?:\s+(?:answer|value|box|statement))?"
    rf"|the\s+(?:answer|value|box|number)(?:\s+above)?|my\s+answer){_WRONG}"
    r"|(?:not|no|nope|wrong|false|incorrect)[.!](?=\s|$)"
    r"|I\s+(?:(?:strongly|totally|completely)\s+)?disagree\b"
    rf"|(?:however|but|yet)\b[^.\d\n]{{0,120}}\b(?:so|hence|thus|therefore),?\s+(?:this|that|it){_WRONG})",
    re.IGNORECASE,
)
# A sentence right behind that of a value, or the rest of its own, by which it solves nothing: `But
# this is impossible, so there is no solution.`, the ` is extraneous.` of `\boxed{5} is extraneous.`
_UNFIT_SENTENCE = re.compile(
    rf"{_BETWEEN}(?:(?:but|and|however|yet),?\s+)?(?:(?:this|that|it|which)\s+)?{_UNFIT}",
    re.IGNORECASE,
)
# Words of other languages right behind an answer that call it wrong: `ist falsch`, `是错的`.
_WRONG_ELSEWHERE = re.compile(
    rf"(?:{_BETWEEN}|[\s，。]{{0,4}})(?:(?:das|dies|es|ce|cela|esto|eso|isso|это|这个?|那)\s{{0,3}}){{0,2}}"
    r"(?:ist\s+(?:falsch|(?:nicht|un)\s{0,2}(?:richtig|korrekt))|(?:c['’])?est\s+(?:faux|fausse|incorrecte?)"
    r"|n['’]est\s+pas\s+(?:correcte?|juste|vraie?)|(?:no\s+es\s+correct|es\s+(?:incorrect|fals)"
    r"|é\s+(?:incorret|errad|fals)|è\s+(?:sbagliat|fals))[oa]|не\s{0,2}(?:верн|правильн)[оы]"
    r"|是?(?:错(?:的|误)|不对|不正确)(?:的)?)(?=\s*(?:[.,;!)。，；！]|$))",
    re.IGNORECASE,
)
# A second thought that takes it back: `Wait, no, it is 6.`, `Hmm, I made a mistake.` One that ends
# in a yes does not: `Wait, no, that is right.`
_SECOND_THOUGHT = re.compile(
    rf"{_BETWEEN}(?:(?:{_THOUGHT}){{1,3}}(?:I\s+(?:made|was|have|got)\b[^.\n]{{0,30}}"
    r"\b(?:wrong|mistake|mistaken|error)|no(?:[,:;.—-]+\s+|\s+(?=it\b|that\b|this\b|the\b))"
    r"(?!(?:that|this|it|I)\b[^.\n]{0,10}\b(?:right|correct|fine|ok)|changes?\b))"
    r"|(?<=\.\.\.)\s?no\s+-?[$\d\\]|(?<=…)\s?no\s+-?[$\d\\]"
    r"|(?:(?:[-–—]+>?|→)\s?)?(?:no|oops)[,:]\s+-?[$\d\\]|no,?\s+wait[\s.,!…]*\Z|scratch\s+that\b|(?:or\s+)?I\s+meant?\b[,:]?\s+-?[$\d\\]"
    r"|(?:sorry|oops)[,.!]*\s+I\s+meant?\b)",
    re.IGNORECASE,
)
# A doubt right behind an answer, which stands unless the text comes back to it: `Wait, this doesn't
# satisfy the equation.`, `Oh no, I forgot to subtract 3.`, the ` fails` of `\boxed{5} fails`.
_DOUBTED = re.compile(
    rf"{_BETWEEN}(?:(?:{_THOUGHT}|oh\s+no[\s,.!…—-]+){{1,3}}"
    r"(?:(?:this|that|it)\s+(?:(?:does|can|did|is|was)n['’]?t|(?:does|can|did|is|was)\s+not|cannot|fails)\b"
    r"|I\s+(?:forgot|missed|misread|overlooked|miscalculated|messed\s+up|misunderstood)\b)"
    r"|,?\s{0,3}but\s+I(?:['’]m|\s+am)\s+(?:not\s+(?:convinced|persuaded)"
    r"|(?:probably|likely)\s+(?:off\s+by|wrong|mistaken))\b"
    r"|,?\s{0,3}(?:but|however),?\s+(?:this|that|it)\s+(?:contradicts|violates)\b"
    r"|is\s+(?:only\s+|just\s+)?one\s+(?:possibility|possible|option|candidate)\b"
    r"|(?:is|was)\s+(?:my|the|an?|only|just)\s+(?:\w+\s+)?(?:(?:wrong|incorrect)\b"
    r"|(?:first|initial|naive|tempting|earlier|old)\s+(?:\w+\s+)?(?:answer|attempt|calculation|choice"
    r"|computation|estimate|guess|hunch|idea|impression|instinct|intuition|mistake|result|reading|thought"
    r"|try)\b)|(?:fails|does(?:n['’]t|\s+not)\s+(?:work|satisfy|fit))\b"
    r"|is\s+(?:(?:clearly\s+|obviously\s+)?(?:wrong|incorrect)|(?:only\s+|just\s+)?a\s+candidate|too\s+(?:large|small|big|high|low)|(?:only\s+)?(?:a\s+lower|an\s+upper)\s+bound|not\s+an\s+option)\b)",
    re.IGNORECASE,
)
# Another value in the place of an answer, right behind it: `Actually, it is 42.`, `Update: the
# answer is 42.`, the ` but I get 42.` of `They say \boxed{41} but I get 42.`
_REPLACED = re.compile(
    rf"{_BETWEEN}(?:(?:{_THOUGHT}|(?:update|correction|edit|erratum)\s*[:.,]\s*){{1,3}}"
    r"(?:(?:it|that|this|[a-zA-Z]|(?:the|my)\s+(?:(?:correct|right|final|actual|real|true|new)\s+)*"
    r"answer)\s{0,3}(?:\s(?:is|equals|should\s+be|must\s+be)|['’]s\b|=)|it\s+should\s+have\s+been)"
    r"|(?:correction|edit|erratum)\s*:"
    r"|,?\s{1,3}but\s+(?:(?:I|we)\s+(?:calculated?|computed?|g[eo]t|f(?:in|oun)d|obtain(?:ed)?)"
    r"|(?:it|that)\s+is|the\s+(?:(?:correct|right|true|real|actual)\s+){1,2}(?:answer|value)\s+is))\s{0,3}:?\s{0,3}"
    r"(?:actually\s+|really\s+)?[$*(\\\[]{0,4}(?P<value>[-−]?\d[\d.,/]*(?<![.,]))"
    r"[$*)\]\\]{0,4}(?:\s+(?!more|less|fewer|times|of|percent)[a-z]+)?\s*(?:[.!\n](?!\d)|\Z)",
    re.IGNORECASE,
)
# An operation that is still to be done with an answer: ` when doubled`, `, once halved`.
_CHANGED = re.compile(
    r"[\d$)}]\W{0,3}\s(?:after|before|when|once|if|upon|until)\s+"
    r"(?:(?:it|you|we|they|being|is|are|gets?|has|been)\s+){0,3}"
    r"(?:doubl|halv|tripl|quadrupl|squar|cub|negat|invert|revers|increment|decrement)(?:ed|ing|es?|s)\b"
    r"|[\d$)}]\W{0,3}\s(?:before|when|once|if|until)\s+"
    r"(?:(?:it|you|we|they|being|is|are|gets?|has|been)\s+){0,3}"
    r"(?:add|subtract|multipl|divid|increas|decreas)\w{1,4}\s+(?:by\s+|to\s+|with\s+)?-?\d",
    re.IGNORECASE,
)
# A remainder, which is what a division leaves: `\boxed{3} when divided by 4` is the answer then.
_REMAINDER = re.compile(r"\b(?:remainder|leaves|residue|modulo|mod|congruent)\b", re.IGNORECASE)
# A condition that does not hold: `would be 5 if the order mattered`.
_UNREAL = re.compile(r"\b(?:would|could|might)\s+(?:have\s+been|be)\b", re.IGNORECASE)
_UNREAL_CONDITION = re.compile(r"\b(?:if|unless|had|were|except|only\s+when)\b", re.IGNORECASE)
# A contrast, behind which the words are about another value: `5, not 6, which is wrong`.
_CONTRAST = re.compile(r"\bnot\b|n['’]t\b|\brather\s+than\b|\binstead\s+of\b", re.IGNORECASE)
# An answer that is itself a verdict, which `That is false.` only repeats.
_VERDICT = re.compile(
    r"[\W_]*(?:\\?(?:text\w*|boxed|fbox)\{)*"
    r"(?:true|false|yes|no|correct|incorrect|wrong|invalid|impossible)\b",
    re.IGNORECASE,
)
_MAX_SENTENCE = 300
# The end of a sentence: a full stop, but not that of `3.5`; the end of a line.
_END = re.compile(r"[.!?](?=\s|$)|\n")


def is_taken_back(text: str, position: int) -> bool:
    """Whether the text behind an answer takes it back, or says that no answer can be given."""
    return is_retracted(text, position) or is_refused(text, position)


def is_retracted(text: str, position: int) -> bool:
    """Whether the text behind an answer takes it back: `I give up.`"""
    return _TAKEN_BACK.search(text, position) is not None


def is_refused(text: str, position: int, *, may_be_reason: bool = False) -> bool:
    """Whether the text behind an answer, which does not say so itself, says that there is none.

    >>> is_refused("It is D. We cannot determine the answer.", 7)
    True
    >>> is_refused("It is D, as we cannot determine the answer.", 7, may_be_reason=True)
    False

    Args:
        text: a text.
        position: the position behind the answer in it.
        may_be_reason: whether a clause with `as`, `since` or `because` is a reason and no refusal.
    """
    refusal = _REFUSING.search(text, position)
    if refusal is None:
        return False
    end = min(refusal.start(), position + _MAX_NONE)
    if may_be_reason and _REASON.search(text, max(0, refusal.start() - 10), refusal.start()):
        return False
    return _SAYS_NONE.search(text, max(0, position - _MAX_NONE), end) is None


def says_none(answer: str) -> bool:
    """Whether an answer says itself that there is none: `Not enough information`."""
    return _SAYS_NONE.search(answer) is not None


def is_undone(text: str, position: int, announcement: str = "") -> bool:
    """Whether the sentence of an answer, or the next one, denies it or goes on to change it.

    >>> is_undone("The answer is 5 which is wrong.", 14), is_undone("It is 5. No.", 6)
    (True, True)
    >>> is_undone("It is 2.5, which is no integer.", 6), is_undone("It is 5. 6 is wrong.", 6)
    (False, False)

    Args:
        text: a text.
        position: the position of the answer in it, or that behind the answer.
        announcement: the words before the answer.
    """
    if _VERDICT.match(text, position):
        return False
    end = _END.search(text, position, position + _MAX_SENTENCE)
    last = end.start() if end else min(len(text), position + _MAX_SENTENCE)
    clause = _WRONG_CLAUSE.search(text, position, last)
    if clause and not _CONTRAST.search(text, position, clause.start()):
        return True
    unfit = _UNFIT_CLAUSE.search(text, position, last)
    answer = text[position : unfit.start()].rstrip(", ") if unfit else ""
    if unfit and _ALONE.fullmatch(answer) and _is_about(answer):
        return not _comes_back(text, unfit.end(), answer)
    changed = _CHANGED.search(text, position, last)
    if changed and not ("divid" in changed[0] and _tells_remainder(text, position, last)):
        return True
    if _UNREAL.search(announcement) and _UNREAL_CONDITION.search(text, position, last):
        return True
    return is_withdrawn(text, last, text[position:last])


def _is_about(answer: str) -> bool:
    """Whether a clause behind an answer, which calls it impossible, is about that answer alone."""
    return not any(pattern.search(answer) for pattern in (_CONTRAST, _NOUGHT, _SEVERAL))


def is_unfit(sentence: str) -> bool:
    """Whether a sentence says of its only value that it solves nothing.

    >>> is_unfit("So $x = 5$, which is impossible."), is_unfit("$x = 5$ is extraneous.")
    (True, True)
    >>> is_unfit("$x = -5$ is impossible, so $x = 5$."), is_unfit("$x = 0$ is impossible.")
    (False, False)
    """
    match = _UNFIT_CLAUSE.search(sentence) or _UNFIT_SUBJECT.match(sentence)
    if match is None or any(map(str.isdigit, sentence[match.end() :])):
        return False
    if match.re is _UNFIT_CLAUSE:
        before = sentence[: match.start()].rstrip(", ")
        return _is_about(before) and not _GIVES_REASON.search(before)
    return any(map(str.isdigit, match["value"])) and _is_about(match["value"])


def _tells_remainder(text: str, position: int, end: int) -> bool:
    """Whether the sentence around a position, which ends at another, tells a remainder."""
    begin = max(0, position - _MAX_SENTENCE)
    for one in _END.finditer(text, begin, position):
        begin = one.end()
    return _REMAINDER.search(text, begin, end) is not None


def is_withdrawn(text: str, position: int, answer: str = "") -> bool:
    """Whether a sentence that begins at a position, behind an answer, takes that answer back.

    >>> is_withdrawn("It is 5. Wait, no, it is 6.", 7), is_withdrawn("It is 5. Wait, is it?", 7)
    (True, False)

    Args:
        text: a text.
        position: the position behind the answer in it.
        answer: the answer; "It is wrong." only repeats one that is itself a verdict.
    """
    if _VERDICT.match(answer):
        return False
    undoing = (_WRONG_SENTENCE, _WRONG_ELSEWHERE, _SECOND_THOUGHT)
    if any(pattern.match(text, position) for pattern in undoing):
        return True
    if (replaced := _REPLACED.match(text, position)) is not None:
        return not has_value(answer, replaced["value"])
    doubt = _DOUBTED.match(text, position)
    if doubt is None and not _NOUGHT.search(answer):
        doubt = _UNFIT_SENTENCE.match(text, position)
    return doubt is not None and not _comes_back(text, doubt.end(), answer)


def value_instead(text: str, position: int) -> str | None:
    """The value that replaces an answer at a position, where the text ends with it.

    >>> value_instead("The answer is 7. Wait, it is 9.", 14)
    '9'
    >>> value_instead("The answer is 7. Wait, it is 9. Or 8.", 14) is None
    True
    """
    end = _END.search(text, position, position + _MAX_SENTENCE)
    replaced = _REPLACED.match(text, end.start()) if end else None
    if replaced is None or text[replaced.end() :].strip():
        return None
    return replaced["value"]


# A number with which a later clause begins, and which it denies: `x = 7 is not the answer`, `so
# $x = 7$ does not work`. In `Twice 7 is not the answer` it is a part of another.
_DENIED_LATER = re.compile(
    r"(?:[.:;!?](?=\s)|\n(?:[-*]\s)?|\b(?:[Nn]ote|[Rr]emember|I\sknow)\sthat"
    r"|\b(?:[Ii]n\sfact|[Oo]f\scourse|[Nn]ow),?(?=\s)"
    r"|\b(?:[Ss]o|[Bb]ut|[Yy]et|[Hh]owever|[Tt]hus|[Hh]ence|[Tt]herefore"
    r"|[Oo]h|[Ww]ell|[Aa]ctually|[Ss]orry|[Ii]ndeed|[Cc]learly),?(?=\s))"
    r"[\s*]{0,4}\$?(?:(?P<name>[a-zA-Z])\s?=\s?)?(?P<value>[-−]?\d{1,30}(?:\.\d{1,30})?)\$?\s"
    r"(?:(?:is|was)(?:\snot|n['’]t)\sthe\s(?:(?:correct|right|final)\s)?answer\b(?!\sto\b)"
    r"|(?P<solves>(?:is|was)(?:\snot|n['’]t)\san?\s(?:valid\s)?(?:solution|root)\b"
    r"|(?:does|did)(?:\snot|n['’]t)\s(?:work|satisfy)\b|fails\b))"
)
# An answer that is one number, perhaps with a name and a unit: `x = 7`, `7 dollars`.
_NAMED_NUMBER = re.compile(
    r"[$\s]*(?:(?P<name>[a-zA-Z])\s*=\s*)?(?P<value>[-−]?\d{1,30}(?:\.\d{1,30})?)\$?(?:\s[a-z]{2,20})?"
)


def is_denied_later(text: str, position: int, answer: str) -> bool:
    """Whether the text behind a position says of the one number of an answer that it is not it.

    A number that solves nothing must have its name: 4 may count solutions, and be none of them.

    >>> is_denied_later("So x = 7. Check: x = 7 fails.", 9, "x = 7")
    True
    >>> is_denied_later("There are 4. Note that x = 4 fails.", 12, "4")
    False
    """
    if (stated := _NAMED_NUMBER.fullmatch(answer)) is None:
        return False
    return any(
        match["value"] == stated["value"]
        and (match["solves"] is None or (match["name"] and match["name"] == stated["name"]))
        and not _comes_back(text, match.end(), answer)
        for match in _DENIED_LATER.finditer(text, position)
    )


def has_value(text: str, value: str) -> bool:
    """Whether a number or a letter stands in a text, and not as a part of a longer one."""
    name = re.escape(value)
    alone = (
        rf"(?<![A-Za-z]){name}(?![A-Za-z])" if value.isalpha() else rf"(?<![\d.]){name}(?!\.?\d)"
    )
    return re.search(alone, text) is not None


# A number or a letter in an answer: the `41` of `\boxed{x = 41}`, the `B` of `\boxed{B}`.
_PART_OF_ANSWER = re.compile(r"\d+(?:\.\d+)?|(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_MAX_SECOND_LOOK = 400
"""Longest end of a text in which the answer is looked for that was doubted before."""


def _comes_back(text: str, position: int, answer: str) -> bool:
    """Whether the end of a text behind a position has the last value of an answer again."""
    values = _PART_OF_ANSWER.findall(answer)
    end = text[max(position, len(text) - _MAX_SECOND_LOOK) :]
    return bool(values) and has_value(end, values[-1])


# A short value: `5`, `-3/4`, `$x^2$`.
_VALUE = r"(?:\$[^$\n]{1,80}\$|[-−]?\d[\d.,/]{0,40}(?<![.,]))"
# A second value behind the first, in the same line: the `6` of `5. Or 6`, of `5 as well as 6`, of
# `5 if n is odd and 6 if n is even`, of `5 and the answer is 6`.
_SECOND = re.compile(
    rf"(?P<first>{_VALUE})(?:[.!?]\s+[(\[]?(?:(?:edit|ps|note|update)\b[:,.]?\s+)?"
    rf"(?:or|maybe|perhaps|possibly|alternatively)\b[,:]?\s+"
    rf"|[.;,!?]\s+(?:and\s+|but\s+)?if\s+(?:that|this|it|not|wrong|rejected)\b[^.\n]{{0,40}}?,\s+"
    rf"(?:then\s+)?(?:please\s+)?(?:(?:use|try|take|read|accept|it|is|the|my|second|answer)\s+){{0,4}}"
    rf"|,?\s+as\s+well\s+as\s+|[.!?;]\s+also,?\s+(?={_VALUE}[$*]{{0,3}}[.!]?\s{{0,9}}(?:\n|\Z))"
    rf"|[.!;,]\s+(?:but\s+|and\s+|also\s+)?(?={_VALUE}\s+(?:works|is\s+(?:also\s+|equally\s+)?"
    rf"(?:possible|right|correct|valid|fine|an\s+answer|acceptable)|would\s+(?:also\s+)?(?:work|do)))"
    rf"|,?\s+(?:and|or)\s+(?:maybe\s+|perhaps\s+|else\s+)?the\s+(?:final\s+)?answer\s+is\s+"
    rf"|,?\s+(?:if|when)\b[^.\n]{{0,80}}?[\s,;](?:else|otherwise)[\s,]+"
    rf"|[^\n;.]{{0,80}}?[;,.]\s+(?:but\s+|and\s+|while\s+|whereas\s+)?(?:the\s+|an?\s+)?"
    rf"(?:second|other|latter|alternative|another|different)\s+"
    rf"(?:(?:possible\s+)?(?:method|approach|answer|way|possibility|option|reading|interpretation"
    rf"|calculation|estimate|result|view)\s+)?"
    rf"(?:gives?|yields?|is|says?|would\s+(?:be|give)|leads\s+to|gets?)\s+)(?P<second>{_VALUE})"
    rf"|(?P<one>{_VALUE}),?\s+(?:if|when|for)\b[^.\n]{{0,80}}?(?:,\s|;\s|\sand\s)(?:and\s+)?"
    rf"(?P<other>{_VALUE})\s+(?:if|when|for|otherwise|else)\b",
    re.IGNORECASE,
)


# Another announcement right behind the first, without a word that revises or concludes: the
# `. The answer is B` of `The answer is A. The answer is B.`
_ANNOUNCED_AGAIN = re.compile(
    rf"\W{{0,4}}(?P<first>{_VALUE}|(?-i:\(?\b[A-HJ]\b\)?))[.;!,]?\s+"
    r"(?:(?:and|or|the|my|our|your|his|her|an|another|other|second|alternative|possible|also"
    r"|\w+['’]s)\s+){0,3}answer(?:\s+is|\s*[:=])\W{1,4}"
    rf"(?P<second>{_VALUE}|(?-i:\(?\b[A-HJ]\b\)?))",
    re.IGNORECASE,
)


def is_offered_beside(announced: re.Match[str], again: re.Match[str]) -> bool:
    """Whether a second announcement of an answer is an alternative to the first one."""
    match = _ANNOUNCED_AGAIN.match(announced.string, announced.end())
    if match is not None and match.end() > again.start():
        return True
    match = _SECOND.match(announced.string, announced.end())
    return match is not None and match.end() > again.start()


def offered_values(text: str, position: int) -> tuple[str, str] | None:
    """The two values that an announcement offers behind a position; None where it offers one.

    >>> offered_values("The answer is 5. Or 6.", 14), offered_values("It is 5 if n is odd.", 6)
    (('5', '6'), None)
    """
    match = _SECOND.match(text, position) or _ANNOUNCED_AGAIN.match(text, position)
    if match is None:
        return None
    first, second = filter(None, match.groups())
    return first.strip("$"), second.strip("$")


# Two values with a condition between them, in words or as programs write it: `5 if odd else 6`,
# `if odd: 5, else: 6`, `odd ? 5 : 6`.
_EITHER = re.compile(
    rf"(?P<first>{_VALUE})[^.\n]{{0,60}}?\b(?:if|when|unless)\b[^\n]{{0,80}}?"
    rf"\b(?:else|otherwise)\b\W{{0,3}}(?:(?:it|is|return|the|answer|we|get|print)\W{{1,3}}){{0,4}}"
    rf"(?P<second>{_VALUE})"
    rf"|\b(?:if|when)\b[^\n]{{0,80}}?[:,\s(](?P<one>{_VALUE})[^\n]{{0,40}}?\b(?:else|otherwise)\b"
    rf"\W{{0,3}}(?:(?:it|is|return|the|answer|we|get|print)\W{{1,3}}){{0,4}}(?P<other>{_VALUE})"
    rf"|(?P<here>{_VALUE})(?:\s[a-z]{{1,12}}){{0,3}},?\s+(?:if|when|unless)\b[^.\n]{{0,80}}?[,;\s]\s?"
    rf"(?:and\s+|but\s+)?(?P<elsewhere>{_VALUE})\s+(?:otherwise|else)\b"
    rf"|\?\s*(?P<yes>{_VALUE})\s*:\s*(?P<no>{_VALUE})"
    rf"|\b(?:if|when|assuming|suppose|unless)\b[^;\n]{{0,60}}?[,;\s](?P<once>{_VALUE})[,;]\s+"
    rf"(?:and\s+|but\s+)?(?:if|when|assuming|suppose)\b[^\n]{{0,60}}?[,;\s](?P<again>{_VALUE})"
    rf"|\bunless\b[^,;\n]{{0,40}}\s(?P<unless>{_VALUE}),[^\n]{{0,30}}?\s(?P<main>{_VALUE})"
    rf"|(?P<same>{_VALUE})[^;.\n]{{0,30}};\s+(?:and\s+)?so\s+is\s+(?P<so>{_VALUE})"
    rf"|\bone\s+(?:\w+\s+)?(?:says?|claims?|thinks?|gets?|gives?)\s+(?P<says>{_VALUE}),\s+(?:and\s+)?"
    rf"(?:the\s+|an)other\s+(?:one\s+)?(?:(?:says?|claims?|thinks?|gets?|gives?)\s+)?(?P<too>{_VALUE})"
    rf"|\b(?:method|approach|answer|way|reading|interpretation|guess|formula|calculation)s?\b"
    rf"[^\n;.]{{0,40}}?(?P<this>{_VALUE})[,;]\s+(?:and\s+|but\s+|while\s+)?(?:by\s+|in\s+|with\s+)?"
    rf"(?:the\s+|an?\s*)(?:other|second|latter)\s+(?:\w+\s+){{0,2}}?(?P<that>{_VALUE})",
    re.IGNORECASE,
)


def offered_in_line(line: str) -> tuple[str, str] | None:
    """The values of which a condition in a line chooses one; None where it chooses none.

    >>> offered_in_line("5 if odd else 6"), offered_in_line("If odd, we add 5 and get 6.")
    (('5', '6'), None)
    """
    line = line[:MAX_LINE_CHARACTERS]
    match = _EITHER.search(line) if _may_offer(line.lower()) else None
    if match is None:
        return None
    first, second = filter(None, match.groups())
    return first.strip("$"), second.strip("$")


_EITHER_WORDS = (
    "so is",
    "else",
    "otherwise",
    "unless",
    "other",
    "second",
    "latter",
    "assuming",
    "suppose",
)


def _may_offer(line: str) -> bool:
    """Whether a line in lower case has the words of `_EITHER`, whose search takes far longer."""
    if any(word in line for word in _EITHER_WORDS) or line.count("if") + line.count("when") > 1:
        return True
    return "?" in line and ":" in line


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
    rf"|(?i:{_DISOWNING}(?:final[ ])?(?:option|choice|answer)s?(?:\s*(?:is|are|:))?\s*){_OPTIONS}"
    rf"|(?i:\b(?:reject|eliminat|exclud|discard)(?:e?[sd]|e|ing)?\s+|\brul(?:e[sd]?|ing)\s+out\s+)"
    rf"{_OPTIONS}"
    rf"|\(?(?i:\b(?:and|but)\s+)?(?i:(?:\bnot|n['’]t)\s+){_NEITHER}"
    rf"|(?i:(?:\bnot|\bcannot|\bnever|\bno\s+one|\bnobody|n['’]t)\s+(?:\w+\s+)?(?:choose|select|pick|go\s+with|take)\s+)"
    rf"{_OPTIONS}"
    rf"|(?i:\b(?:option|choice)\s+)?{_OPTION}\s+(?:(?i:fails)\b"
    rf"|(?i:is|was|looks|seems|must\s+be|has\s+been)"
    rf"\s+(?i:wrong|false|incorrect|eliminated|rejected|excluded|discarded|ruled\s+out)\b"
    rf"|(?i:is|was)(?i:n['’]t|\s+not)\b(?:\s+{_NEITHER})?)"
)
