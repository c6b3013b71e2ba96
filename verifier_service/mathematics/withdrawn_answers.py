"""Answers that the text behind them takes back, denies, doubts or replaces."""

from __future__ import annotations

import re

from verifier_service.mathematics.reconsidered_answers import is_another_number, reconsidered

# Words behind an answer that take it back: `Just kidding`, `I don't know.`
_TAKEN_BACK = re.compile(
    r"\bjust[ ]+kidding\b"
    r"|\bso[ ]+(?:my|the[ ]+boxed|the(?=[ ]+answer[ ]+above))[ ]+answer[ ]+(?:above[ ]+)?"
    r"is[ ]+(?:wrong|incorrect)\b"
    r"|\bI[ ]+(?:made[ ]+that[ ]+up|give[ ]+up|have[ ]+no[ ]+idea)\b"
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
    rf"(?:\bwhich|[,;(–—-]\s*(?:(?:and|but|though|although|however|yet),?\s+)?(?:this|that|it)|"
    rf"\s(?:but|though|although)\s+(?:this|that|it)){_WRONG}"
    r"|[\d$)}]\s+(?:is|was)n['’]t\s+(?:right|correct|it|true)(?=\s*(?:[.!)]|$))"
    r"|[\d$)}]\s+(?:is|was)\s+(?:wrong|incorrect|not\s+(?:the|an|my)\s+(?:\w+\s+)?answer)"
    r"(?=\s*(?:[.!)]|$))"
    r"|[\d$)}]\s*[(\[]\s*(?:this\s+is\s+)?"
    r"(?:wrong|incorrect|false|not\s+(?:really|true|correct))\s*[)\]]"
    r"|[\d$],\s+(?:not\s+really|or\s+not|or\s+(?:something|so)|or\s+whatever)(?=\s*(?:[.!]|$))"
    r"|[\d$)}]\s+only\s+(?:in|for)\s+(?:the\s+)?(?:first|second|third|special|one|trivial|easy)\b"
    r"|[\d$)}*]\s?[,(–—-]+\s{0,3}(?:no,?\s+)?wait,?\s+(?:that|this|it)(?:['’]s|\s+is)\s+"
    r"(?:only\s+|just\s+)?the\s+(?!answer\b|right\b|correct\b|final\b|same\b)",
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
_I_ERRED = (
    r"I\s+(?:forgot|missed|misread|overlooked|miscalculated|miscounted|messed\s+up|misunderstood)\b"
    r"(?!\s+to\s+(?:say|mention|note|write|state|(?:add|include)\s+(?:that|the\s+unit))\b)"
)
# A doubt right behind an answer, which stands unless the text comes back to it: `Wait, this doesn't
# satisfy the equation.`, `Oh no, I forgot to subtract 3.`, the ` fails` of `\boxed{5} fails`.
_DOUBTED = re.compile(
    rf"{_BETWEEN}(?:(?:{_THOUGHT}|oh\s+no[\s,.!…—-]+){{1,3}}"
    r"(?:(?:this|that|it)\s+(?:(?:does|can|did|is|was)n['’]?t|(?:does|can|did|is|was)\s+not|cannot|fails)\b"
    r"|(?:that|this|it)['’]s\s+off\b"
    rf"|{_I_ERRED})"
    rf"|(?:but|however|update|edit)[,:]?\s+{_I_ERRED}"
    r"|,?\s{0,3}but\s+I(?:['’]m|\s+am)\s+(?:not\s+(?:convinced|persuaded)"
    r"|(?:probably|likely)\s+(?:off\s+by|wrong|mistaken))\b"
    r"|,?\s{0,3}(?:but|however),?\s+(?:this|that|it)\s+(?:contradicts|violates)\b"
    r"|would\s+be\s+(?:the|my|an?)\s+(?:\w+\s+)?answer,?\s+(?:if|had|were|unless)\b"
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
    if answer and (instead := reconsidered(text, position)) is not None:
        return is_another_number(answer, instead)
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
    if end is None:
        return None
    replaced = _REPLACED.match(text, end.start())
    if replaced is None or text[replaced.end() :].strip():
        return reconsidered(text, end.start())
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
