"""Templates of the question to a model: TOML files, shipped ones in `templates/`, or one's own.

| key | meaning |
|---|---|
| `system`, `user` | messages; `{problem}`, `{references}`, `{answer}` are JSON, `{mark}` a code |
| `user_swapped` | the user's message with the answers swapped, for every other vote |
| `equal`, `different` | the replies that mean yes and no, whatever their case |
| `last_line` | beginning of the reply's last line, which alone decides; else the whole reply does |
| `max_tokens` | longest reply |
| `output` | `json_schema` has the endpoint allow only `{"verdict": ...}` of the replies |
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from verifier_service.model_judge.open_answer import OpenAnswer, quoted
from verifier_service.validation import did_you_mean, first_problem

SHIPPED = Path(__file__).with_name("templates")
MAX_FILE_BYTES = 2**16
# A place of a template that is filled: `{answer}`.
_PLACE = re.compile(r"\{(problem|references|answer|mark)\}")
# White space and signs around the one word of a reply: the `**` and `.` of `**Yes**.`.
_AROUND = " \t\r\n*_`'\".[]()"
_Labels = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]


class _Verdict(msgspec.Struct, forbid_unknown_fields=True):
    """A reply in the form `json_schema`."""

    verdict: str


class Template(BaseModel):
    """A template, as its file has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: str
    user: str
    user_swapped: str | None = None
    equal: _Labels
    different: _Labels
    last_line: str = ""
    max_tokens: Annotated[int, Field(gt=0, le=8192)] = 8
    output: Literal["text", "json_schema"] = "text"

    @model_validator(mode="after")
    def _can_be_asked_and_read(self) -> Self:
        for name in ("user", "user_swapped"):
            text = getattr(self, name)
            if text is None:
                continue
            for place in ("{references}", "{answer}"):
                if text.count(place) != 1:
                    raise ValueError(f"{name}: expected {place} once")
            if text.count("{mark}") < 2:
                raise ValueError(f"{name}: expected {{mark}} before and after {{answer}}")
        if set(map(_word, self.equal)) & set(map(_word, self.different)):
            raise ValueError("equal and different: expected replies that differ")
        return self

    @cached_property
    def version(self) -> str:
        """Eight digits of a hash of the template: another wording is another version."""
        content = self.model_dump_json(exclude_defaults=True)
        return hashlib.sha256(content.encode()).hexdigest()[:8]

    def messages(self, answer: OpenAnswer, *, mark: str, swapped: bool) -> list[dict[str, str]]:
        """The messages to the model.

        Args:
            answer: that is to be judged.
            mark: around the answer; nobody who writes an answer can know it.
            swapped: whether the answers come in the other order, where the template has one.
        """
        places = {
            "problem": quoted(answer.problem),
            "references": quoted(
                answer.references[0] if len(answer.references) == 1 else answer.references
            ),
            "answer": quoted(answer.answer),
            "mark": mark,
        }
        user = (self.user_swapped if swapped else None) or self.user
        # One pass: a place that is written in an answer stays text.
        return [
            {"role": role, "content": _PLACE.sub(lambda place: places[place[1]], text)}
            for role, text in (("system", self.system), ("user", user))
        ]

    @property
    def constraint(self) -> dict[str, Any]:
        """The fields of a call that constrain its reply."""
        if self.output == "text":
            return {}
        schema = {
            "type": "object",
            "properties": {"verdict": {"enum": [*self.equal, *self.different]}},
            "required": ["verdict"],
            "additionalProperties": False,
        }
        form = {"name": "verdict", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": form}}

    def decision(self, reply: str) -> bool | None:
        """Whether a reply says that the answers are equal; None if it says neither."""
        said = reply.rpartition("</think>")[2].strip()
        if self.output == "json_schema":
            try:
                said = msgspec.json.decode(said, type=_Verdict).verdict
            except msgspec.DecodeError:
                return None
        elif self.last_line:
            line = said.rpartition("\n")[2].strip(_AROUND)
            if not line.casefold().startswith(self.last_line.casefold()):
                return None
            said = line[len(self.last_line) :]
        word = _word(said)
        if word in map(_word, self.equal):
            return True
        return False if word in map(_word, self.different) else None


def _word(reply: str) -> str:
    return reply.strip(_AROUND).casefold()


def read_template(name: str) -> Template:
    """A shipped template by its name, or the one in a file.

    >>> read_template("yes_no").decision(" Yes. ")
    True

    Raises:
        ValueError: there is no such template, or the file is none.
    """
    shipped = {path.stem: path for path in SHIPPED.glob("*.toml")}
    path = shipped.get(name) or Path(name)
    if not path.is_file():
        nearest = did_you_mean(name, shipped)
        raise ValueError(
            f"no template and no file {name!r}; templates are {', '.join(sorted(shipped))}{nearest}"
        )
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"{path}: expected at most {MAX_FILE_BYTES} bytes")
    try:
        return Template.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise ValueError(f"{path}: {first_problem(error)}") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise ValueError(f"{path}: {error}") from error
