"""`citations`: does the answer cite what it should, in the wanted form?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service import patterns
from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.completion import Completion
from verifier_service.instructions.visible import visible
from verifier_service.reason import Reason
from verifier_service.reference import bad, check_names, kind, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier

MAX_IDS = 10_000
MAX_SHOWN_IDS = 8
MAX_SHOWN_CHARACTERS = 60
MAX_ANSWER_CHARACTERS = 200_000
FORMS = {
    "cite_xml": ("<cite>", "</cite>"),
    "claim_wrap_xml": ('<cite index="', '">'),
    "ascii_brackets": ("[", "]"),
    "fullwidth_brackets": ("【", "】"),
    "ref_colon": ("[ref:", "]"),
    "double_angle": ("<<", ">>"),
    "web_brackets": ("[web:", "]"),
    "paren_part": ("(", ")"),
    "markdown_footnote": ("[^", "]"),
    "curly_double": ("{{", "}}"),
    "angle_pipe": ("<ref|", ">"),
}
"""The text before and after an id, by the name of the form."""
_NAMES = (
    "form",
    "id_pattern",
    "attempt_pattern",
    "valid",
    "expected",
    "slack",
    "min",
    "wanted",
)
"""Names of the rules in `reference.citations`; a data set may have others beside them."""
_SEVERAL = ("cite_xml", "claim_wrap_xml")
"""Forms that take several ids, with commas between them."""
_CLAIM_END = "</cite>"
# A tag of a citation, in whatever case and with whatever attributes: `<Cite id=3>`, `</cite >`.
_TAG = re.compile(r"</?cite\b", re.IGNORECASE)
# A letter or digit: the `I` of `_ It`.
_LETTER = re.compile(r"[^\W_]")


class CitationsReason(Reason):
    """Reasons of `citations`."""

    CITED = "cited", "1: the answer cites what it should; nothing, where no citation is wanted."
    MISSING = (
        "missing_citation",
        "0: a wanted source is not cited, or fewer than `min`; `details` has the numbers.",
    )
    INVENTED = "invented", "0: the answer cites an id that is not among the valid ones."
    TOO_MANY = "too_many", "0: the answer cites more than the wanted sources and `slack`."
    MALFORMED = "malformed", "0: an id, or a tag of a citation, stands outside the wanted form."
    UNWANTED = "unwanted", "0: the answer cites, and no citation is wanted."
    NO_CLAIM = "no_claim", "0: the answer has citations and no words."
    TOO_LONG = "too_long", f"0: the answer has more than {MAX_ANSWER_CHARACTERS} characters."
    NO_ANSWER = "no_answer", "0: the part that should hold the answer is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the answer tags have different contents."


@dataclass(frozen=True)
class _Sources:
    """The part of a reference that completions are compared with."""

    form: str
    citation: Any
    """The pattern of a citation; its first group has the ids."""
    attempt: Any
    """The pattern of an id, or of what is meant to be one."""
    valid: frozenset[str]
    expected: frozenset[str] | None
    minimum: int
    slack: int
    is_wanted: bool


class Citations(TextVerifier):
    """1 if the answer cites the sources that it should in the wanted form, else 0."""

    purpose: ClassVar[str] = (
        "1 if the answer cites sources of reference.citations, {form, id_pattern, valid}, in the "
        "wanted form and no others, else 0; `expected` has those that must be cited, `slack` how "
        "many more may be, `min` the fewest, and `wanted: false` wants none. Whether the cited "
        "source says so is not judged"
    )
    needs: ClassVar[tuple[str, ...]] = ("citations",)
    reasons: ClassVar[Iterable[Reason]] = CitationsReason

    type: Literal["citations"] = "citations"
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        sources = _sources(reference)

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, CitationsReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, CitationsReason.NO_ANSWER)
            if len(answer) > MAX_ANSWER_CHARACTERS:
                return Judgement(0.0, CitationsReason.TOO_LONG)
            return _judgement(visible(answer), sources)

        return judge


def _judgement(answer: str, sources: _Sources) -> Judgement:
    """The judgement of an answer without its comments, in which a reader sees no citation."""
    cited, rest = _read(answer, sources)
    shown = ", ".join(one[:MAX_SHOWN_CHARACTERS] for one in cited[:MAX_SHOWN_IDS])
    is_malformed = patterns.first(sources.attempt, rest) is not None or _has_tag(rest)
    if not sources.is_wanted:
        is_free = not cited and not is_malformed
        reason = CitationsReason.CITED if is_free else CitationsReason.UNWANTED
        return Judgement(float(is_free), reason, shown)
    invented = [one for one in cited if one not in sources.valid]
    found = set(cited) - set(invented)
    expected = sources.expected or frozenset()
    missed = len(expected - found)
    details = {"cited": len(found), "invented": len(invented), "missed": missed}
    if _LETTER.search(rest) is None:
        return Judgement(0.0, CitationsReason.NO_CLAIM, shown, details)
    if is_malformed:
        return Judgement(0.0, CitationsReason.MALFORMED, shown, details)
    if invented and not found:
        return Judgement(0.0, CitationsReason.INVENTED, shown, details)
    if missed or len(found) < sources.minimum:
        return Judgement(0.0, CitationsReason.MISSING, shown, details)
    if invented:
        return Judgement(0.0, CitationsReason.INVENTED, shown, details)
    if sources.expected is not None and len(found) > len(expected) + sources.slack:
        return Judgement(0.0, CitationsReason.TOO_MANY, shown, details)
    return Judgement(1.0, CitationsReason.CITED, shown, details)


def _read(answer: str, sources: _Sources) -> tuple[list[str], str]:
    """The cited ids, each once, and the text without citations; of a claim the words stay."""
    ids: list[str] = []
    rest: list[str] = []
    end = 0
    for start, after, cited in patterns.groups(sources.citation, answer):
        if start < end:
            continue
        claim = ""
        if sources.form == "claim_wrap_xml":
            closing = answer.find(_CLAIM_END, after)
            if closing < 0:
                break
            claim = answer[after:closing]
            if not claim.strip() or _has_tag(claim):
                continue
            after = closing + len(_CLAIM_END)
        elif sources.form == "ascii_brackets" and answer[after : after + 1] == "(":
            continue  # a link, whose brackets hold its words
        ids += cited.split(",")
        rest += [answer[end:start], claim, " "]
        end = after
    return list(dict.fromkeys(ids)), "".join([*rest, answer[end:]])


def _has_tag(text: str) -> bool:
    return "<" in text and _TAG.search(text) is not None


def _sources(reference: Mapping[str, Any]) -> _Sources:
    """The sources of a reference. Raises Unverifiable."""
    given = reference.get("citations")
    if given is None:
        raise missing("citations", reference)
    if not isinstance(given, Mapping):
        raise bad("citations", f"found {kind(given)}, expected an object with `form` and `valid`")
    check_names("citations", given, _NAMES)
    form = given.get("form")
    if form not in FORMS:
        raise bad("citations", f"`form` is one of {', '.join(FORMS)}")
    pattern = given.get("id_pattern")
    if not isinstance(pattern, str) or not pattern:
        raise bad("citations", "`id_pattern` is the pattern of an id, such as citation_[0-9]+")
    expected = given.get("expected")
    is_wanted = given.get("wanted", True)
    if not isinstance(is_wanted, bool):
        raise bad("citations", "`wanted` is true or false")
    try:
        citation, attempt = _patterns(form, pattern, given.get("attempt_pattern", pattern))
    except ValueError as error:
        raise bad("citations", str(error)[:200]) from error
    sources = _Sources(
        form=form,
        citation=citation,
        attempt=attempt,
        valid=_ids(given.get("valid"), "valid"),
        expected=None if expected is None else _ids(expected, "expected"),
        minimum=_number(given, "min", 1),
        slack=_number(given, "slack", 1),
        is_wanted=is_wanted,
    )
    if is_wanted:
        _check_possible(sources, pattern)
    return sources


def _check_possible(sources: _Sources, pattern: str) -> None:
    """Raise Unverifiable where no answer can cite what is wanted."""
    expected = sources.expected or frozenset()
    if unknown := sorted(expected - sources.valid):
        raise bad("citations", f"`expected` names {unknown[0][:60]!r}, which `valid` has not")
    compiled = patterns.compiled(pattern)
    if strange := [one for one in sorted(expected) if compiled.fullmatch(one) is None]:
        raise bad("citations", f"`expected` names {strange[0][:60]!r}, which `id_pattern` has not")
    most = len(sources.valid) if sources.expected is None else len(expected) + sources.slack
    if sources.minimum > min(most, len(sources.valid)):
        raise bad("citations", f"`min` is {sources.minimum}, and at most {most} can be cited")


def _patterns(form: str, pattern: str, attempt: object) -> tuple[Any, Any]:
    """The patterns of a citation and of an id. Raises ValueError."""
    if not isinstance(attempt, str):
        raise ValueError("`attempt_pattern` is a pattern")
    before, after = map(re.escape, FORMS[form])
    ids = f"(?:{pattern})(?:,(?:{pattern}))*" if form in _SEVERAL else f"(?:{pattern})"
    for one in (pattern, attempt):
        if patterns.compiled(one).search("") is not None:
            raise ValueError("a pattern of ids matches no empty text")
    return patterns.compiled(f"{before}({ids}){after}"), patterns.compiled(attempt)


def _ids(value: Any, name: str) -> frozenset[str]:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if not is_list or len(value) > MAX_IDS or not all(isinstance(one, str) for one in value):
        raise bad("citations", f"`{name}` is a list of at most {MAX_IDS} ids")
    return frozenset(value)


def _number(given: Mapping[str, Any], name: str, default: int) -> int:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise bad("citations", f"`{name}` is a whole number from 0")
    return value
