"""`structured_output`: is the answer a document with the wanted form, or the wanted value?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from verifier_service import strict_json
from verifier_service.answer_text import (
    PART_DESCRIPTION,
    AnswerPart,
    SeveralAnswers,
    answer_part,
    without_announcement,
)
from verifier_service.code.extraction import last_block
from verifier_service.completion import Completion
from verifier_service.difference import REVEAL_EXPECTED_DESCRIPTION, difference, without_wanted
from verifier_service.reason import Reason
from verifier_service.reference import bad, kind, missing
from verifier_service.structures.comparison import (
    MAX_ROWS,
    at,
    first_difference,
    first_row_difference,
    has_same_rows,
    is_same,
    leaves,
    share_of_fields,
    typed_by_schema,
)
from verifier_service.structures.reading import (
    TEXT_FORMATS,
    BadDocument,
    DocumentFormat,
    read_document,
)
from verifier_service.verifier import Judge, Judgement, TextVerifier

if TYPE_CHECKING:
    from verifier_service.schema_validation import BrokenRule

TAGS: dict[DocumentFormat, tuple[str, ...]] = {
    "json": ("json", "jsonc", "json5"),
    "yaml": ("yaml", "yml"),
    "toml": ("toml",),
    "xml": ("xml",),
    "csv": ("csv",),
    "markdown_table": ("markdown", "md"),
}
"""Tags of the fenced blocks that hold a document."""


class StructuredOutputReason(Reason):
    """Reasons of `structured_output`."""

    MATCHED = "matched", "1: the document fits the schema and has the wanted value."
    DIFFERENT = (
        "different",
        "Below 1: the document has another value; `details.difference` has the first field.",
    )
    INVALID = (
        "invalid",
        "0: the document breaks the schema; `details` has the rule's `keyword` and the `path`.",
    )
    NOT_A_DOCUMENT = (
        "not_a_document",
        "0: the answer is no document of the format, says two things, or is over the bounds; "
        "`details.problem` says what is wrong.",
    )
    NO_ANSWER = "no_answer", "0: the part that should be a document is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the answer tags have different contents."


class StructuredOutput(TextVerifier):
    """1 if the answer is a document with the wanted form and value, else 0 or a share."""

    purpose: ClassVar[str] = (
        "1 if the answer, or the last fenced block in it, is a document of the format that fits "
        "reference.schema (a JSON Schema, or its text) and equals reference.value (a value, or a "
        "text with a document of the same format); one of the two is needed. Else 0, or the share "
        "of fields that are equal"
    )
    reasons: ClassVar[Iterable[Reason]] = StructuredOutputReason

    type: Literal["structured_output"] = "structured_output"
    format: DocumentFormat = Field(
        default="json",
        description="format of the document. In xml, elements are keys, those that repeat are "
        "lists, and attributes begin with @; csv and markdown_table are lists of rows by column",
    )
    scoring: Literal["all", "fields"] = Field(
        default="all", description="fields: the share of the fields of either that are equal"
    )
    tolerance: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="largest difference of equal numbers, as a share of the reference's",
    )
    row_order: bool = Field(
        default=True, description="whether the items of a list that is the whole document have one"
    )
    paths: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="only these parts of the value are compared, such as a.0.b",
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)
    reveal_expected: bool = Field(default=False, description=REVEAL_EXPECTED_DESCRIPTION)

    @property
    def task_size(self) -> int:
        """A small task: YAML takes milliseconds."""
        return 32

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        has_value = "value" in reference
        if not has_value and reference.get("schema") is None:
            raise missing("schema", reference, instead="value")
        broken_rule = _broken_rule(reference.get("schema"), texts=self._texts)
        wanted = self._wanted(reference["value"]) if has_value else None
        if has_value and self._must_fit and (broken := broken_rule(wanted)) is not None:
            raise bad("value", f"it breaks the rule `{broken.keyword}` of reference.schema")

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, StructuredOutputReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, StructuredOutputReason.NO_ANSWER)
            block = last_block(answer, TAGS[self.format])
            text = (self._document_in(answer) if block is None else block).strip()
            try:
                found = read_document(text, self.format)
            except BadDocument as error:
                problem = {"problem": str(error)}
                return Judgement(0.0, StructuredOutputReason.NOT_A_DOCUMENT, text, problem)
            broken = broken_rule(found)
            if broken is not None:
                return Judgement(0.0, StructuredOutputReason.INVALID, text, broken._asdict())
            score = self._score(found, wanted) if has_value else 1.0
            if score == 1:
                return Judgement(score, StructuredOutputReason.MATCHED, text)
            details = self._difference(found, wanted)
            if not self.reveal_expected:
                details = without_wanted(details)
            return Judgement(score, StructuredOutputReason.DIFFERENT, text, details)

        return judge

    def _document_in(self, answer: str) -> str:
        """An answer without the line that announces its document; YAML has such lines itself."""
        return without_announcement(answer) if self.format in ("json", "xml") else answer

    @property
    def _must_fit(self) -> bool:
        """Whether only a document that equals the whole wanted value can be right."""
        return not self._texts and self.paths is None and self.tolerance == 0

    @property
    def _texts(self) -> bool:
        return self.format in TEXT_FORMATS

    def _wanted(self, value: Any) -> Any:
        """The wanted value of a reference. Raises Unverifiable."""
        if isinstance(value, str):
            try:
                value = read_document(value, self.format)
            except BadDocument as error:
                raise bad("value", f"a text that is no document: {error}") from error
        if not self.row_order and (not isinstance(value, list) or len(value) > MAX_ROWS):
            message = f"found {kind(value)}, expected a list of at most {MAX_ROWS} rows"
            raise bad("value", message)
        for path in self.paths or ():
            try:
                at(value, path)
            except KeyError as error:
                raise bad("value", f"it has nothing at the path {path}") from error
        return value

    def _score(self, found: Any, wanted: Any) -> float:
        if self.paths is not None:
            equal = [self._is_equal_at(found, wanted, path) for path in self.paths]
            share = sum(equal) / len(equal)
            return share if self.scoring == "fields" else float(share == 1)
        is_equal = (
            is_same(found, wanted, self.tolerance, texts=self._texts)
            if self.row_order
            else has_same_rows(found, wanted, self.tolerance, texts=self._texts)
        )
        if is_equal or self.scoring == "all":
            return float(is_equal)
        share = share_of_fields(found, wanted, self.tolerance, texts=self._texts)
        return min(share, 1 - 1e-9)  # values whose fields are equal may differ in what holds them

    def _difference(self, found: Any, wanted: Any) -> dict[str, Any]:
        """Details with the first field, row or path that is another one."""
        for path in self.paths or ():
            if not self._is_equal_at(found, wanted, path):
                return self._difference_at(found, wanted, path)
        if self.row_order:
            return first_difference(found, wanted, self.tolerance, texts=self._texts)
        return first_row_difference(found, wanted, self.tolerance, texts=self._texts)

    def _difference_at(self, found: Any, wanted: Any, path: str) -> dict[str, Any]:
        expected, parts = at(wanted, path), tuple(path.split("."))
        try:
            given = at(found, path)
        except KeyError:
            return difference(parts, expected)
        return first_difference(given, expected, self.tolerance, texts=self._texts, path=parts)

    def _is_equal_at(self, found: Any, wanted: Any, path: str) -> bool:
        try:
            given = at(found, path)
        except KeyError:
            return False
        return is_same(given, at(wanted, path), self.tolerance, texts=self._texts)


def _broken_rule(schema: Any, *, texts: bool) -> Callable[[Any], BrokenRule | None]:
    """The function that finds the rule of a schema that a value breaks. Raises Unverifiable."""
    from verifier_service.schema_validation import (  # noqa: PLC0415  it takes 0.1 s to load
        BadSchema,
        first_broken_rule,
        validator_of,
    )

    if schema is None:
        return lambda _value: None
    if isinstance(schema, str):
        try:
            schema = strict_json.loads(schema)
        except (ValueError, RecursionError) as error:
            raise bad("schema", "a text that is no JSON") from error
    if not isinstance(schema, dict | bool):
        raise bad("schema", f"found {kind(schema)}, expected a JSON Schema")
    try:
        validator = validator_of(schema)
    except BadSchema as error:
        raise bad("schema", str(error)) from error
    if texts:
        return lambda value: first_broken_rule(validator, typed_by_schema(value, schema))
    return lambda value: _number_of_no_json(value) or first_broken_rule(validator, value)


def _number_of_no_json(document: Any) -> BrokenRule | None:
    """The `type` of the first number that JSON has not, which would be within all bounds."""
    from verifier_service.schema_validation import BrokenRule  # noqa: PLC0415  as above

    for path, value in leaves(document):
        if isinstance(value, float) and not math.isfinite(value):
            return BrokenRule.at("type", path)
    return None
