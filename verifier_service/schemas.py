"""The wire: the requests and responses of the service's own API."""

from __future__ import annotations

import json
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from verifier_service.explanation import DecidingStage
from verifier_service.profiles import Verifiers
from verifier_service.reason import EngineReason, Reason
from verifier_service.reference_formats.reading import AUTO, FORMATS, unknown_format
from verifier_service.validation import FieldPlace, KnownNames
from verifier_service.verdict import Outcome
from verifier_service.verifier import reason_types
from verifier_service.verifiers import VERIFIERS

if TYPE_CHECKING:
    AnyReason = Reason
else:
    AnyReason = reduce(or_, reason_types(VERIFIERS.values())) | EngineReason
"""A reason of any verifier's closed set, or of the engine."""


MAX_TOKENS = 2**53
"""Largest `num_tokens`; the largest whole number that all readers of JSON have exactly."""


MAX_TOOL_CALLS = 1024


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ChatMessage(BaseModel):
    """One message of a chat; fields that other APIs add are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: str
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = Field(
        default=None,
        max_length=MAX_TOOL_CALLS,
        description="calls as in OpenAI's API; verifiers see each as JSON in <tool_call> behind "
        "the content",
    )

    @property
    def text(self) -> str:
        """The content, and behind it the calls in tags."""
        calls = [f"<tool_call>\n{_in_tags(call)}\n</tool_call>" for call in self.tool_calls or ()]
        return "\n".join([*([self.content] if self.content else []), *calls])


def _in_tags(call: dict[str, Any]) -> str:
    """The JSON of a call, without signs that could close the tag."""
    inside = call.get("function", call)
    return json.dumps(inside, ensure_ascii=False).replace("<", "\\u003c")


class CompletionObject(_Request):
    """A completion with the sampler's facts about it."""

    text: str
    num_tokens: int | None = Field(default=None, ge=0, le=MAX_TOKENS)
    truncated: bool | None = Field(default=None, description="it met the token limit")


def _model_speaks(messages: list[ChatMessage]) -> list[ChatMessage]:
    if all(message.role != "assistant" for message in messages):
        roles = sorted({message.role[:20] for message in messages})[:5]
        raise ValueError(
            f"no message has the role 'assistant', whose last one is judged; there are {roles}"
        )
    for index, message in enumerate(messages):
        if message.content is None and not message.tool_calls:
            raise ValueError(f"message {index} has no `content`, a text, and no `tool_calls`")
    return messages


ChatMessages = Annotated[list[ChatMessage], Field(min_length=1, fail_fast=True)]
Chat = Annotated[ChatMessages, AfterValidator(_model_speaks), Tag("list[ChatMessage]")]
"""A completion in messages. The tag stands for it in errors, see `validation.FORM_NAMES`."""


def _known_format(name: str) -> str:
    if name != AUTO and name not in FORMATS:
        raise ValueError(unknown_format(name))
    return name


FormatName = Annotated[
    str,
    AfterValidator(_known_format),
    WithJsonSchema({"type": "string", "enum": [AUTO, *FORMATS]}),
]
"""Name of a format of references; an unknown one is told the nearest."""


class Group(_Request):
    """One problem and its completions."""

    id: str | None = Field(
        default=None, description="comes back with the verdicts", examples=["p17"]
    )
    prompt: str | ChatMessages | None = Field(default=None, examples=["What is 2 + 2?"])
    reference: dict[str, Any] = Field(
        default={},
        description="what the verifiers need, such as `answer`; keys that none needs are ignored",
        examples=[{"answer": "4"}],
    )
    reference_format: FormatName | None = Field(
        default=None,
        description="the reference is a row as its data set ships it, in this format: a name of "
        "docs/datasets.md, or `auto` for the one that fits; null: it is what verifiers need",
        examples=[AUTO],
    )
    completions: Annotated[list[str | Chat | CompletionObject], FailFast()] = Field(
        description="texts, chats (the last assistant message is judged; one without is refused) "
        "or objects",
        examples=[["It is 4."]],
    )
    verifiers: Verifiers | None = Field(
        default=None,
        description="for this group, instead of the request's",
        examples=[[{"type": "accuracy"}]],
    )
    profile: str | None = Field(
        default=None, description="name of a list of verifiers for this group", examples=["math"]
    )

    @model_validator(mode="after")
    def _not_both(self) -> Group:
        if self.profile is not None and self.verifiers is not None:
            raise ValueError("give either `verifiers` or `profile`")
        return self


class ScoreRequest(_Request):
    """Groups to score with each verifier of the request, of a profile, or of the group's own."""

    verifiers: Verifiers = Field(
        default=[],
        description="either these or `profile`, unless every group has its own",
        examples=[[{"type": "accuracy"}]],
    )
    profile: str | None = Field(
        default=None,
        description="name of a list of verifiers, see GET /v1/profiles",
        examples=["math"],
    )
    groups: Annotated[list[Group], FailFast()] = Field(
        examples=[[{"reference": {"answer": "4"}, "completions": ["It is 4."]}]]
    )
    deadline_seconds: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="what is not judged by then is `failed` with reason `deadline`; more than the "
        "service's maximum, which is the default too, is lowered to it",
        examples=[60],
    )
    explain: bool = Field(
        default=False,
        description="give each verdict an `explanation`; for at most 1,024 verdicts at once",
        examples=[True],
    )

    @model_validator(mode="after")
    def _verifiers_or_profile(self) -> ScoreRequest:
        has_verifiers = "verifiers" in self.model_fields_set
        if self.profile is not None and has_verifiers:
            raise ValueError("give either `verifiers` or `profile`")
        choosing = self.choosing_groups
        is_chosen = bool(choosing) and len(choosing) == len(self.groups)
        if self.profile is None and not has_verifiers and not is_chosen:
            raise ValueError(
                "give either `verifiers` or `profile`, here or in every group, such as "
                '"verifiers": [{"type": "accuracy"}]'
            )
        return self

    @cached_property
    def choosing_groups(self) -> list[int]:
        """The indices of the groups that name verifiers or a profile of their own."""
        return [
            index
            for index, group in enumerate(self.groups)
            if group.verifiers is not None or group.profile is not None
        ]

    @property
    def num_completions(self) -> int:
        """Completions in all groups."""
        return sum(len(group.completions) for group in self.groups)

    @property
    def num_verdicts(self) -> int:
        """Verdicts on the completions of all groups."""
        if not self.choosing_groups:
            return self.num_completions * len(self.verifiers)
        return sum(len(group.completions) * len(self.chosen_for(group)) for group in self.groups)

    def chosen_for(self, group: Group) -> Verifiers:
        """The verifiers of a group: its own, else the request's. Profiles have been looked up."""
        return self.verifiers if group.verifiers is None else group.verifiers


_REQUEST: dict[FieldPlace, type[_Request]] = {(): ScoreRequest, ("groups", None): Group}
_NEEDS = sorted({need for verifier in VERIFIERS.values() for need in verifier.needs})


def _example(model: type[_Request], name: str) -> Any:
    return (model.model_fields[name].examples or [None])[0]


REQUEST_NAMES = KnownNames(
    verifiers=VERIFIERS,
    fields={place: tuple(model.model_fields) for place, model in _REQUEST.items()}
    | {("groups", None, "reference"): _NEEDS},
    examples={
        (*place, name): json.dumps(_example(model, name))
        for place, model in _REQUEST.items()
        for name in model.model_fields
    }
    | {
        (): json.dumps({name: _example(ScoreRequest, name) for name in ("verifiers", "groups")}),
        ("groups", None): json.dumps(_example(ScoreRequest, "groups")[0]),
    },
)
"""The fields of a request with a right value of each, for messages about others."""


class PlaceResponse(BaseModel):
    """Part of a completion: characters (Unicode code points) from start to before end."""

    start: int
    end: int


class ReadingResponse(BaseModel):
    """A text that was compared, and how it was read."""

    text: str
    read: list[str] = Field(default=[], description="readings in normal form; none: not readable")


class ExplainedTestResponse(BaseModel):
    """A test of a program."""

    index: int = Field(description="position among the tests, from 0")
    reason: str = Field(description="a reason of `code`; `failed` of a later failure of calls")
    given: str | None = Field(default=None, description="standard input, or the call of a function")
    expected: str | None = None
    received: str | None = Field(default=None, description="output, returned value or error")
    cpu_seconds: float | None = None
    wall_seconds: float | None = None
    peak_memory_bytes: int | None = None


class ExplanationResponse(BaseModel):
    """The way from a completion to its verdict; texts are cut at 300 characters."""

    stage: DecidingStage = Field(description="the stage of judging that decided")
    spans: list[PlaceResponse] = Field(
        default=[],
        description="where the text that was judged stands in the completion; of a chat, in its "
        "last assistant message",
    )
    answer: ReadingResponse | None = Field(default=None, description="the completion's answer")
    references: list[ReadingResponse] = Field(
        default=[], description="the first 8 acceptable answers"
    )
    tests: list[ExplainedTestResponse] = Field(
        default=[], description="of a program: the first 50 that were run, and the first failure"
    )
    cpu_seconds: float | None = Field(default=None, description="of a program in all tests")
    peak_memory_bytes: int | None = Field(default=None, description="of a program")


class VerdictResponse(BaseModel):
    """The verdict of one verifier on one completion."""

    outcome: Outcome
    score: float | None = Field(description="null unless the outcome is `scored`")
    reason: AnyReason = Field(description="of the closed set that GET /v1/verifiers lists")
    extracted: str | None = Field(
        default=None, description="what was compared with the reference, at most 1000 characters"
    )
    details: dict[str, Any] | None = Field(
        default=None,
        description="numbers behind the reason; of an `unverifiable` verdict a `message` that says "
        "what is missing or wrong in the data",
    )
    explanation: ExplanationResponse | None = Field(
        default=None,
        description="with `explain`; missing where no worker has judged to the end, as for "
        "`too_slow` and `deadline`, or that took long",
    )
    seconds: float = Field(description="wall seconds spent judging")

    @model_validator(mode="after")
    def _score_belongs_to_scored(self) -> VerdictResponse:
        if (self.score is not None) != (self.outcome is Outcome.SCORED):
            raise ValueError("a score is there if and only if the outcome is `scored`")
        return self


class CompletionResponse(BaseModel):
    """The verdicts on one completion, by verifier name."""

    reward: float | None = Field(
        description="weighted sum of the scores; null unless each verifier with a weight other "
        "than 0 has scored, and where every weight is 0"
    )
    verdicts: dict[str, VerdictResponse]


class GroupResponse(BaseModel):
    """The completions of a group, in the order of the request."""

    id: str | None = None
    completions: list[CompletionResponse]


class ProfileStats(BaseModel):
    """Numbers about the groups that one profile judged."""

    completions: int
    rewarded: int = Field(description="completions with a reward; the others' is null")
    mean_reward: float | None = Field(description="null where no completion has a reward")


class Stats(BaseModel):
    """Numbers about the request as a whole."""

    completions: int
    deduplicated: int = Field(
        description="completions that equal another one with an equal reference"
    )
    seconds: float
    profiles: dict[str, ProfileStats] | None = Field(
        default=None, description="by name, where a group names its own profile"
    )


class ScoreResponse(BaseModel):
    """Groups in the order of the request."""

    groups: list[GroupResponse]
    stats: Stats


class ErrorBody(BaseModel):
    """An error: its type, a message, and details for programs."""

    type: str
    message: str
    details: list[dict[str, Any]] | dict[str, Any] | None = None
    request_id: str | None = None
    """The header X-Request-Id, by which the log tells of the call."""


class ErrorResponse(BaseModel):
    """The body of every response that is not 200."""

    error: ErrorBody


class ReasonDescription(BaseModel):
    """One reason of a verifier."""

    reason: str
    meaning: str


class VerifierDescription(BaseModel):
    """One verifier that the service serves."""

    type: str
    purpose: str
    needs: list[str] = Field(description="keys of `reference` it cannot do without")
    score_range: tuple[float, float]
    options: dict[str, Any] = Field(description="JSON Schema of its entry in `verifiers`")
    reasons: list[ReasonDescription]


class LanguageDescription(BaseModel):
    """A language of programs."""

    language: str = Field(description="as `language` of the verifier `code`")
    aliases: list[str] = Field(description="other names, which routes of other protocols take")
    tags: list[str] = Field(description="tags of fenced blocks")
    available: bool = Field(description="whether this machine has its toolchain")
    version: str = Field(description="of the toolchain; empty where there is none")
    problem: str | None = Field(description="what is missing and how to install it")


class ProverDescription(BaseModel):
    """A proof checker."""

    language: str = Field(description="as `language` of the verifier `proof`")
    available: bool = Field(description="whether the service has it")
    version: str = Field(description="of Coq on this machine; empty for Lean, a server's")
    problem: str | None = Field(description="what is missing and how to get it")


class VerifiersResponse(BaseModel):
    """The verifiers that the service serves, the languages of programs, and proof checkers."""

    verifiers: list[VerifierDescription]
    languages: list[LanguageDescription]
    provers: list[ProverDescription] = Field(default=[])


class ProfileDescription(BaseModel):
    """One list of verifiers that a request can ask for by name."""

    name: str
    verifiers: list[dict[str, Any]] = Field(
        description="as they stand in a request; options that have their default are left out"
    )


class ProfilesResponse(BaseModel):
    """The profiles that the service serves."""

    profiles: list[ProfileDescription]


class WorkersState(BaseModel):
    """The workers of one kind."""

    running: int
    busy: int
    waiting: int = Field(description="tasks that wait for a worker")


class VerdictCount(BaseModel):
    """Verdicts with one reason since the start."""

    verifier: str = Field(description="its type")
    outcome: Outcome
    reason: str
    count: int


class StateResponse(BaseModel):
    """The state of the service."""

    name: str
    version: str
    ready: bool
    problem: str | None = Field(description="why it is not ready")
    workers: dict[str, WorkersState] = Field(description="by kind: `text`, `code`")
    pending_completions: int = Field(description="accepted and not yet answered")
    max_pending_completions: int
    verdicts: list[VerdictCount] = Field(description="given to clients since the start")


class HealthResponse(BaseModel):
    """The status, `ok`."""

    status: str


class ReadinessResponse(HealthResponse):
    """The status, `ok`, the version of the service, its workers, and what it lacks."""

    version: str
    workers: dict[str, int] = Field(
        description="running workers by kind, `text` and `code`; of a fleet, those of its judges"
    )
    missing: list[str] = Field(
        default=[],
        description="proof checkers that the service lacks: such proofs are unverifiable",
    )
