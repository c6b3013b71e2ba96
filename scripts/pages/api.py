"""The reference of the API, made from the OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scripts.pages.json_schema import Schema, plain_name, type_in
from scripts.pages.markdown import code, page, prose, table, value
from scripts.pages.verifiers import COMMON_REASONS

Document = dict[str, Any]
"""The OpenAPI document, as `json.loads` reads it."""

EXAMPLE = r"""```
$ curl -s http://127.0.0.1:8080/v1/score -H 'Content-Type: application/json' -d '
{"verifiers": [{"type": "exact_match"}],
 "groups": [{"reference": {"answer": "B"}, "completions": ["<answer>B</answer>"]}]}'
```

```json
{"groups": [{"completions": [
    {"reward": 1.0, "verdicts": {
        "exact_match": {"outcome": "scored", "score": 1.0, "reason": "equal", "seconds": 0.0001,
                        "extracted": "B"}}}]}],
 "stats": {"completions": 1, "deduplicated": 0, "seconds": 0.004}}
```"""

HEAD = """
The same document for programs is [openapi.json](openapi.json), and a service gives its own at
`/openapi.json` (`verifier-service openapi` without one). With API keys a call has the header
`Authorization: Bearer KEY`. In the first section a status other than 200 comes with an
[ErrorResponse](#errorresponse). [Scoring](scoring.md) explains requests and responses,
[Integrations](integrations.md) the protocols of other frameworks."""


def api_page(document: Document) -> str:
    """Every route with its parameters, bodies and statuses, then every type."""
    links = _Links(document)
    tags: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            (tag,) = operation.get("tags", ["The service"])
            tags.setdefault(tag, []).append(_operation(method, path, operation, links))
    schemas = document["components"]["schemas"]
    types = [_schema(name, schemas[name], links) for name in sorted(schemas) if links.is_here(name)]
    sections = [f"## {tag}\n\n" + "\n\n".join(parts) for tag, parts in tags.items()]
    return page("# API", EXAMPLE, HEAD, *sections, "## Types", *types)


class _Links:
    """Page that describes a type: that of the verifiers for their options and reasons."""

    def __init__(self, document: Document) -> None:
        schemas = document["components"]["schemas"]
        verifiers = schemas["ScoreRequest"]["properties"]["verifiers"]["items"]
        named = verifiers["discriminator"]["mapping"].items()
        self._elsewhere = {plain_name(reference): name for name, reference in named}
        self._elsewhere |= {f"{key}Reason": name for key, name in self._elsewhere.items()}
        self._elsewhere["EngineReason"] = COMMON_REASONS.lower().replace(" ", "-")

    def is_here(self, name: str) -> bool:
        """True for a type that this page describes."""
        return name not in self._elsewhere

    def __call__(self, reference: str) -> str:
        name = plain_name(reference)
        if self.is_here(name):
            return f"[{name}](#{name.lower()})"
        if name.endswith("Reason"):
            return "[a reason](verifiers.md)"
        return "[a verifier](verifiers.md)"


def _operation(method: str, path: str, operation: dict[str, Any], links: _Links) -> str:
    parts = [f"### {method.upper()} {path}", _paragraphs(operation.get("description", ""))]
    parts.append(
        table(
            ("parameter", "type", "default", "meaning"),
            (
                (
                    code(one["name"]),
                    type_in(one["schema"], links),
                    _default(one["schema"], required=one.get("required", False)),
                    prose(one.get("description", "")),
                )
                for one in operation.get("parameters", [])
            ),
        )
    )
    if "requestBody" in operation:
        parts.append("Body: " + _content(operation["requestBody"]["content"], links) + ".")
    parts.append(table(("status", "body", "meaning"), _responses(operation["responses"], links)))
    return "\n\n".join(part for part in parts if part)


def _responses(responses: dict[str, Any], links: _Links) -> Iterator[tuple[str, str, str]]:
    for status, response in sorted(responses.items()):
        meaning = response["description"]
        yield (
            status,
            _content(response.get("content", {}), links),
            "" if meaning == "Successful Response" else prose(meaning),
        )


def _content(content: dict[str, Any], links: _Links) -> str:
    return " or ".join(
        type_in(one["schema"], links) + ("" if kind == "application/json" else f" (`{kind}`)")
        for kind, one in content.items()
    )


def _schema(name: str, schema: Schema, links: _Links) -> str:
    rows = (
        (
            code(key),
            type_in(field, links),
            _default(field, required=key in schema.get("required", [])),
            prose(field.get("description", "")),
        )
        for key, field in schema.get("properties", {}).items()
    )
    parts = [f"### {name}", _paragraphs(schema.get("description", ""))]
    if "enum" in schema:
        parts.append("One of " + ", ".join(map(value, schema["enum"])) + ".")
    parts.append(table(("field", "type", "default", "meaning"), rows))
    return "\n\n".join(part for part in parts if part)


def _default(schema: Schema, *, required: bool) -> str:
    if required:
        return "required"
    return value(schema["default"]) if "default" in schema else ""


def _paragraphs(text: str) -> str:
    return "\n\n".join(prose(part) for part in re.split(r"\n\s*\n", text) if part.strip())
