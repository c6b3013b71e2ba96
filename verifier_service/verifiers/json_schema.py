"""`json_schema`: is the answer a JSON document that fits a schema?

Nothing is ever fetched: a schema can refer to itself and to the published meta-schemas.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.code.extraction import last_block
from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.reference import bad, kind, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

# Checking a schema takes long enough to hold up the API process (14 kB: 0.1 s), which is why it is
# done in workers, as for one in a reference; only they import jsonschema.

MAX_NUMBER_CHARACTERS = 300
"""Longer ones do not fit into a float, which jsonschema turns numbers into."""


class JsonSchemaReason(Reason):
    """Reasons of `json_schema`."""

    VALID = "valid", "1: the document fits the schema."
    INVALID = "invalid", "0: it does not; `details.keyword` is the first rule that it breaks."
    NOT_JSON = (
        "not_json",
        "0: the answer is not JSON, names a key twice, or has a number that no float can hold.",
    )
    NO_ANSWER = "no_answer", "0: the part that should be a document is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: there are answer tags with different contents."


class JsonSchema(TextVerifier):
    """1 if the answer is JSON that fits the schema, else 0."""

    model_config = ConfigDict(serialize_by_alias=True)

    purpose: ClassVar[str] = (
        "1 if the answer, or the last fenced JSON block in it, is a JSON document that fits a JSON "
        "Schema (option `schema`, else reference.schema; draft 2020-12 unless it names another), "
        "else 0; a schema that is not valid makes the verdict unverifiable"
    )
    reasons: ClassVar[Iterable[Reason]] = JsonSchemaReason

    type: Literal["json_schema"] = "json_schema"
    document_schema: dict[str, Any] | bool | None = Field(
        default=None,
        alias="schema",
        description="default: that of the reference; `$ref` to an address is never followed",
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @property
    def task_size(self) -> int:
        """See `Verifier`: a document takes some 0.1 ms."""
        return 64

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `Verifier`."""
        schema = self.document_schema
        if schema is None:
            schema = reference.get("schema")
        if schema is None:
            raise missing("schema", reference)
        validator = _validator(schema)

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, JsonSchemaReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, JsonSchemaReason.NO_ANSWER)
            block = last_block(answer, ("json",))
            text = (answer if block is None else block).strip()
            try:
                document = _parsed(text)
            except ValueError:
                return Judgement(0.0, JsonSchemaReason.NOT_JSON, text)
            keyword = _broken_rule(validator, document)
            if keyword is None:
                return Judgement(1.0, JsonSchemaReason.VALID, text)
            return Judgement(0.0, JsonSchemaReason.INVALID, text, {"keyword": keyword})

        return judge


def _validator(schema: Any) -> Validator:
    """Raises Unverifiable where it is no schema, or refers to what is not in it or to itself."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415
    from jsonschema.validators import validator_for  # noqa: PLC0415
    from jsonschema_specifications import REGISTRY  # noqa: PLC0415

    if not isinstance(schema, dict | bool):
        raise bad("schema", f"found {kind(schema)}, expected a JSON Schema")
    if isinstance(schema, dict) and not isinstance(schema.get("$schema", ""), str):
        raise bad("schema", "its `$schema` is no text")
    draft: Any
    try:
        draft = validator_for(schema, default=Draft202012Validator)
        draft.check_schema(schema)
        validator: Validator = draft(
            schema, registry=REGISTRY
        )  # one that fetches nothing, unlike the default
    # The last three are what odd addresses and patterns, and endless nesting, raise.
    except (SchemaError, ValueError, OverflowError, RecursionError) as error:
        raise bad("schema", "it is no JSON Schema") from error
    try:
        _broken_rule(validator, None)
    except RecursionError as error:  # of so simple a document: the schema never ends
        raise bad("schema", "it refers to itself without end") from error
    return validator


def _broken_rule(validator: Validator, document: Any) -> str | None:
    """The keyword of the first rule that a document breaks; None if it fits."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    try:
        error = next(iter(validator.iter_errors(document)), None)
    except (Unresolvable, ValueError) as problem:  # the latter: an address that is none
        raise bad("schema", "it refers to what is not in it; nothing is fetched") from problem
    return None if error is None else str(error.validator)


def _parsed(text: str) -> Any:
    """Raises ValueError where it is not JSON, or could mean different things to its readers."""
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
        raise ValueError("a key is there twice")
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
