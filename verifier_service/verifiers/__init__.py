"""The verifiers that the service ships, one file each."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from verifier_service.verifier import Verifier
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.code import Code
from verifier_service.verifiers.code_format import CodeFormat
from verifier_service.verifiers.cosine_length import CosineLength
from verifier_service.verifiers.exact_match import ExactMatch
from verifier_service.verifiers.format import Format
from verifier_service.verifiers.json_schema import JsonSchema
from verifier_service.verifiers.length import Length
from verifier_service.verifiers.multiple_choice import MultipleChoice
from verifier_service.verifiers.reasoning_steps import ReasoningSteps
from verifier_service.verifiers.regex import Regex
from verifier_service.verifiers.repetition import Repetition
from verifier_service.verifiers.soft_overlong import SoftOverlong
from verifier_service.verifiers.tag_count import TagCount

AnyVerifier = Annotated[
    Accuracy
    | Code
    | Format
    | TagCount
    | ReasoningSteps
    | CodeFormat
    | ExactMatch
    | MultipleChoice
    | Regex
    | JsonSchema
    | SoftOverlong
    | CosineLength
    | Length
    | Repetition,
    Field(discriminator="type"),
]
"""The typed union of a request."""

VERIFIERS: dict[str, type[Verifier]] = {
    "accuracy": Accuracy,
    "code": Code,
    "format": Format,
    "tag_count": TagCount,
    "reasoning_steps": ReasoningSteps,
    "code_format": CodeFormat,
    "exact_match": ExactMatch,
    "multiple_choice": MultipleChoice,
    "regex": Regex,
    "json_schema": JsonSchema,
    "soft_overlong": SoftOverlong,
    "cosine_length": CosineLength,
    "length": Length,
    "repetition": Repetition,
}
