"""Wording of a question to a model: messages with places for quoted texts, and allowed replies.

| key | meaning |
|---|---|
| `system`, `user` | messages with places such as `{problem}` and `{mark}` |
| `last_line` | beginning of the reply's last line, which alone decides; else the whole reply does |
| `max_tokens` | longest reply |
| `output` | `json_schema`: the endpoint allows only `{"verdict": ...}` of the replies |
|  | `logprobs`: the likeliest first token decides, whatever was sampled |
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Literal, Self

import msgspec
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from verifier_service.model_judge.replies import JudgeReply, Said
from verifier_service.model_judge.reply_probabilities import likeliest

TOP_LOGPROBS = 20
"""First tokens whose log-probabilities are asked for; most that OpenAI and vLLM give."""
# A place of a template: `{answer}`.
_PLACE = re.compile(r"\{(\w+)\}")
# White space and signs around the one word of a reply: the `**` and `.` of `**Yes**.`.
_AROUND = " \t\r\n*_`'\".[]()"

Labels = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
"""Replies with one meaning."""


class _Verdict(msgspec.Struct, forbid_unknown_fields=True):
    """A reply in the form `json_schema`."""

    verdict: str


class Wording(BaseModel):
    """A template, as its file has it; a subclass for each kind of question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decisions: ClassVar[tuple[str, ...]]
    """Fields with the replies of one meaning each."""
    user_places: ClassVar[Mapping[str, tuple[str, ...]]]
    """Places that each user's message needs once, by the field of the message."""
    num_quoted: ClassVar[int] = 1
    """Quotations of what a policy wrote, each between two marks."""

    system: str
    user: str
    last_line: str = ""
    max_tokens: Annotated[int, Field(gt=0, le=8192)] = 8
    output: Literal["text", "json_schema", "logprobs"] = "text"
    _name: str = PrivateAttr("")

    def named(self, name: str) -> Self:
        """This template, with the name under which it was found."""
        self._name = name
        return self

    @cached_property
    def label(self) -> str:
        """The name and the version, as verdicts tell them."""
        return f"{self._name}@{self.version}"

    @model_validator(mode="after")
    def _can_be_asked_and_read(self) -> Self:
        for name, places in self.user_places.items():
            text = getattr(self, name)
            if text is not None:
                self._check_places(name, text, places)
        words = [word for name in self.decisions for word in set(map(_word, getattr(self, name)))]
        if len(words) != len(set(words)):
            raise ValueError(f"{' and '.join(self.decisions)}: expected replies that differ")
        return self

    def _check_places(self, name: str, text: str, places: tuple[str, ...]) -> None:
        for place in places:
            if text.count(f"{{{place}}}") != 1:
                raise ValueError(f"{name}: expected {{{place}}} once")
        if text.count("{mark}") < 2 * self.num_quoted:
            raise ValueError(f"{name}: expected {{mark}} before and after {{{places[-1]}}}")

    @cached_property
    def version(self) -> str:
        """Eight digits of a hash of the template: another wording is another version."""
        content = self.model_dump_json(exclude_defaults=True)
        return hashlib.sha256(content.encode()).hexdigest()[:8]

    def filled(self, user: str, places: Mapping[str, str]) -> list[dict[str, str]]:
        """The messages to the model, with the system's first.

        Args:
            user: text of the user's message.
            places: texts by the name of their place.
        """
        return [
            {"role": role, "content": _filled(_pieces(text), places)}
            for role, text in (("system", self.system), ("user", user))
        ]

    @cached_property
    def constraint(self) -> Mapping[str, Any]:
        """The fields of a call that constrain its reply."""
        if self.output == "text":
            return {}
        if self.output == "logprobs":
            return {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        labels = [label for name in self.decisions for label in getattr(self, name)]
        return json_schema_constraint("verdict", {"enum": labels})

    def said(self, reply: JudgeReply) -> Said | None:
        """The decision of a reply; None if it is none of those allowed."""
        if self.output == "logprobs":
            return likeliest(
                reply.first_logprobs, self.decisions, lambda token: self._meanings.get(_word(token))
            )
        if reply.is_cut_off:
            return None
        text = reply.text.rpartition("</think>")[2].strip()
        if self.output == "json_schema":
            try:
                text = msgspec.json.decode(text, type=_Verdict).verdict
            except msgspec.DecodeError:
                return None
        elif self.last_line:
            line = text.rpartition("\n")[2].strip(_AROUND)
            if not line.casefold().startswith(self.last_line.casefold()):
                return None
            text = line[len(self.last_line) :]
        decision = self._meanings.get(_word(text))
        return None if decision is None else Said(decision)

    @cached_property
    def _meanings(self) -> Mapping[str, str]:
        """The decision of each allowed word."""
        return {_word(one): name for name in self.decisions for one in getattr(self, name)}


@lru_cache(maxsize=64)
def _pieces(text: str) -> tuple[str, ...]:
    """A template's text cut at its places: text, name of a place, text, ..., text."""
    return tuple(_PLACE.split(text))


def _filled(pieces: tuple[str, ...], places: Mapping[str, str]) -> str:
    """The text with what belongs in its places; a place written in an answer stays text."""
    filled = list(pieces)
    for index in range(1, len(pieces), 2):
        name = pieces[index]
        filled[index] = places.get(name, f"{{{name}}}")
    return "".join(filled)


def json_schema_constraint(name: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a call whose reply is a JSON object with one key."""
    whole = {
        "type": "object",
        "properties": {name: schema},
        "required": [name],
        "additionalProperties": False,
    }
    form = {"name": name, "strict": True, "schema": whole}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def _word(reply: str) -> str:
    return reply.strip(_AROUND).casefold()
