"""The environment `search_tool`: a search in documents of a folder.

    rollout:
      stop: ["</tool_call>"]
      environment: {path: search_tool, options: {documents: corpus}}

A message has queries in calls of the tool `search` (`form: calls`) or between `<search>` and
`</search>` (`form: tags`, as in Search-R1). A message without a query is the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from trainer_client.episodes.environment import Message
from trainer_client.episodes.passage_index import PassageIndex, read_passages
from trainer_client.episodes.tool_calls import MAX_CALLS, calls_in
from trainer_client.problems import Problem

QueryForm = Literal["calls", "tags"]

MAX_QUERY_CHARACTERS = 1000
"""Longest query that is searched for; a longer one is answered with an error."""
_OPENING, _CLOSING = "<search>", "</search>"

TOOL = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search the documents. The result is the passages that fit best.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "words to look for"}},
            "required": ["query"],
        },
    },
}
"""JSON schema of the tool, for chat templates."""


class SearchTool:
    """An episode in which the policy may search; a message without a query ends it.

    Args:
        index: the passages, which all episodes share.
        form: where queries stand in a message.
        num_results: most passages that answer one query.
        max_output_characters: longest answer to one query; a longer one is cut off.
    """

    def __init__(
        self,
        index: PassageIndex,
        *,
        form: QueryForm = "calls",
        num_results: int = 3,
        max_output_characters: int = 2000,
    ) -> None:
        if form not in ("calls", "tags"):
            raise ValueError(f"form must be calls or tags, found {form!r}")
        for name, value in {
            "num_results": num_results,
            "max_output_characters": max_output_characters,
        }.items():
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a positive integer, found {value!r}")
        self.role = "tool" if form == "calls" else "user"
        self.tools = [TOOL] if form == "calls" else []
        self._form = form
        self._index = index
        self._num_results = num_results
        self._max_characters = max_output_characters

    @classmethod
    def of(cls, documents: str, **options: Any) -> SearchTool:
        """The environment over a folder of documents, which is read once in a process."""
        return cls(_index_of(str(Path(documents).absolute())), **options)

    def reset(self, problem: Problem) -> Sequence[Message]:
        """See `Environment`."""
        return problem.messages

    def step(self, message: Message) -> tuple[Any, bool, Mapping[str, float]]:
        """See `Environment`; counts `calls` and `failed_calls`."""
        queries = self._queries(message["content"])
        if not queries:
            return None, True, {}
        answers = [self._answer(query) for query in queries]
        failed = sum(isinstance(query, Exception) for query in queries)
        observation = [{"role": self.role, "content": text} for text in answers]
        if self._form == "tags":
            joined = "\n".join(f"<information>{text}</information>" for text in answers)
            observation = [{"role": self.role, "content": joined}]
        return observation, False, {"calls": len(queries), "failed_calls": failed}

    def _queries(self, text: str) -> list[str | Exception]:
        """The queries of a message, or the errors that answer them."""
        if self._form == "tags":
            return _tagged(text)
        return [_called(one.name, one.arguments, one.error) for one in calls_in(text)]

    def _answer(self, query: str | Exception) -> str:
        if isinstance(query, Exception):
            return f"error: {query}"
        found = self._index.best(query, self._num_results)
        shown = (f"[{n}] {one.title}\n{one.text}" for n, one in enumerate(found, start=1))
        return "\n\n".join(shown)[: self._max_characters] or "no document has these words"


@cache
def _index_of(documents: str) -> PassageIndex:
    return PassageIndex(read_passages(Path(documents)))


def _called(name: str, arguments: Mapping[str, Any], error: str | None) -> str | Exception:
    """The query of a call, or the error that answers the call."""
    if error is not None:
        return ValueError(error)
    if name != "search":
        return ValueError(f"there is no tool {name[:80]!r}, only search")
    if not isinstance(arguments.get("query"), str):
        return ValueError("the tool search needs the argument query, a text")
    return _query(arguments["query"])


def _query(text: str) -> str | Exception:
    if len(text) > MAX_QUERY_CHARACTERS:
        return ValueError(f"a query has at most {MAX_QUERY_CHARACTERS} characters")
    if not text.strip():
        return ValueError("the query is empty")
    return text


def _tagged(text: str) -> list[str | Exception]:
    """The queries between tags; an error ends them at a tag that is not closed, or at the limit."""
    found: list[str | Exception] = []
    end = 0
    while (opening := text.find(_OPENING, end)) >= 0:
        closing = text.find(_CLOSING, opening)
        if closing < 0:
            return [*found, ValueError(f"a {_OPENING} is not closed with {_CLOSING}")]
        if len(found) == MAX_CALLS:
            return [*found, ValueError(f"only {MAX_CALLS} queries of a message are run")]
        found.append(_query(text[opening + len(_OPENING) : closing]))
        end = closing + len(_CLOSING)
    return found
