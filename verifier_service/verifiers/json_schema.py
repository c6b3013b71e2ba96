"""`json_schema`: is the answer a JSON document that fits a schema?

Nothing is ever fetched: a schema can refer to itself and to the published meta-schemas only. Its
patterns are RE2's. No document makes judging slow, and none can choose to get no verdict.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from verifier_service.answer_text import (
    PART_DESCRIPTION,
    AnswerPart,
    SeveralAnswers,
    answer_part,
    without_announcement,
)
from verifier_service.code.extraction import last_block
from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.reference import bad, kind, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier, Unverifiable

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from verifier_service.schema_validation import BrokenRule

# Workers check a schema, the one in a request too: it would hold up the API process. So only
# workers import `schema_validation`.

JSON_TAGS = ("json", "jsonc", "json5")
"""Tags of the fenced blocks that hold a document."""
MAX_NUMBER_CHARACTERS = 300
"""Longest number, in digits: a longer one fits into no float, and jsonschema computes in floats."""
MAX_PROBLEM_CHARACTERS = 100


class JsonSchemaReason(Reason):
    """Reasons of `json_schema`."""

    VALID = "valid", "1: the document fits the schema."
    INVALID = (
        "invalid",
        "0: the document breaks a rule; `details` has the `keyword` and the `path` of the first.",
    )
    NOT_JSON = (
        "not_json",
        "0: the answer is not JSON, names a key twice, or has a number that no float can hold; "
        "`details.problem` says where.",
    )
    NO_ANSWER = "no_answer", "0: the part that should be a document is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the answer tags have different contents."


class JsonSchema(TextVerifier):
    """1 if the answer is JSON that fits the schema, else 0."""

    model_config = ConfigDict(serialize_by_alias=True)

    purpose: ClassVar[str] = (
        "1 if the answer, behind one line that may announce it, or the last fenced JSON block in "
        "it, is a JSON document that fits a JSON Schema (option `schema`, else reference.schema; "
        "draft 2020-12 unless it names another; patterns in RE2's syntax), else 0; a schema that "
        "is not valid makes the verdict unverifiable"
    )
    reasons: ClassVar[Iterable[Reason]] = JsonSchemaReason

    type: Literal["json_schema"] = "json_schema"
    document_schema: dict[str, Any] | bool | None = Field(
        default=None,
        alias="schema",
        description="default: the reference's schema; `$ref` to an address is never followed",
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @property
    def task_size(self) -> int:
        """A small task: a document takes about 0.1 ms."""
        return 64

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        validator = self._validator(reference)

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, JsonSchemaReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, JsonSchemaReason.NO_ANSWER)
            block = last_block(answer, JSON_TAGS)
            text = (without_announcement(answer) if block is None else block).strip()
            try:
                document = _parsed(text)
            except ValueError as error:
                problem = {"problem": str(error)[:MAX_PROBLEM_CHARACTERS]}
                return Judgement(0.0, JsonSchemaReason.NOT_JSON, text, problem)
            broken = _broken_rule(validator, document)
            if broken is None:
                return Judgement(1.0, JsonSchemaReason.VALID, text)
            return Judgement(0.0, JsonSchemaReason.INVALID, text, broken._asdict())

        return judge

    def _validator(self, reference: Mapping[str, Any]) -> Validator:
        """The validator of the option's schema, or of the reference's. Raises Unverifiable."""
        if self.document_schema is not None:
            try:
                return _validator(self.document_schema)
            except Unverifiable as error:
                message = error.message.removeprefix("reference.")
                raise Unverifiable(error.reason, f"option {message}") from error
        schema = reference.get("schema")
        if schema is None:
            raise missing("schema", reference)
        return _validator(schema)


def _validator(schema: Any) -> Validator:
    """Make the validator of a schema. Raises Unverifiable where no document could be judged."""
    from verifier_service.schema_validation import BadSchema, validator_of  # noqa: PLC0415

    if not isinstance(schema, dict | bool):
        raise bad("schema", f"found {kind(schema)}, expected a JSON Schema")
    if isinstance(schema, dict) and not isinstance(schema.get("$schema", ""), str):
        raise bad("schema", "its `$schema` is no text")
    try:
        return validator_of(schema)
    except BadSchema as error:
        raise bad("schema", str(error)) from error


def _broken_rule(validator: Validator, document: Any) -> BrokenRule | None:
    from verifier_service.schema_validation import first_broken_rule  # noqa: PLC0415

    return first_broken_rule(validator, document)


def _parsed(text: str) -> Any:
    """Read a document; raises ValueError where it is not JSON, or readers could differ on it."""
    return json.loads(
        text,
        object_pairs_hook=_object,
        parse_constant=_refuse,
        parse_int=_integer,
        parse_float=_float,
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        raise ValueError("a number that no float can hold")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number that no float can hold")
    return number
