"""The verifiers of the service, one file each, and those of installed packages."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from verifier_service.plugins import plugins
from verifier_service.verifier import Verifier
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.answer_judge import AnswerJudge
from verifier_service.verifiers.citations import Citations
from verifier_service.verifiers.code import Code
from verifier_service.verifiers.code_format import CodeFormat
from verifier_service.verifiers.cosine_length import CosineLength
from verifier_service.verifiers.exact_match import ExactMatch
from verifier_service.verifiers.format import Format
from verifier_service.verifiers.instruction_following import InstructionFollowing
from verifier_service.verifiers.json_schema import JsonSchema
from verifier_service.verifiers.length import Length
from verifier_service.verifiers.multiple_choice import MultipleChoice
from verifier_service.verifiers.pairwise import Pairwise
from verifier_service.verifiers.proof import Proof
from verifier_service.verifiers.puzzle import Puzzle
from verifier_service.verifiers.reasoning_gym import ReasoningGym
from verifier_service.verifiers.reasoning_steps import ReasoningSteps
from verifier_service.verifiers.regex import Regex
from verifier_service.verifiers.repetition import Repetition
from verifier_service.verifiers.reward_model import RewardModel
from verifier_service.verifiers.rubric import Rubric
from verifier_service.verifiers.soft_overlong import SoftOverlong
from verifier_service.verifiers.sql import Sql
from verifier_service.verifiers.string_similarity import StringSimilarity
from verifier_service.verifiers.structured_output import StructuredOutput
from verifier_service.verifiers.tag_count import TagCount
from verifier_service.verifiers.tool_calls import ToolCalls
from verifier_service.verifiers.tool_use import ToolUse

_SHIPPED: dict[str, type[Verifier]] = {
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
    "instruction_following": InstructionFollowing,
    "tool_calls": ToolCalls,
    "tool_use": ToolUse,
    "structured_output": StructuredOutput,
    "string_similarity": StringSimilarity,
    "citations": Citations,
    "sql": Sql,
    "puzzle": Puzzle,
    "reasoning_gym": ReasoningGym,
    "soft_overlong": SoftOverlong,
    "cosine_length": CosineLength,
    "length": Length,
    "repetition": Repetition,
    "answer_judge": AnswerJudge,
    "proof": Proof,
    "rubric": Rubric,
    "pairwise": Pairwise,
    "reward_model": RewardModel,
}

PLUGINS = plugins(_SHIPPED)
"""Verifiers of other packages by their type."""

VERIFIERS: dict[str, type[Verifier]] = _SHIPPED | {
    name: plugin.verifier for name, plugin in PLUGINS.items()
}
"""Every verifier by its type, plugins included."""

if TYPE_CHECKING:
    AnyVerifier = Verifier
else:
    AnyVerifier = Annotated[reduce(or_, VERIFIERS.values()), Field(discriminator="type")]
"""Type of a verifier in a request: a union that the field `type` tells apart."""
