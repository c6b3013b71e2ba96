"""The errors that routes promise in the OpenAPI document: statuses, meanings and bodies.

A route promises those that it can give: of strangers where it needs a key, of bodies where it has
one, and its own.
"""

from __future__ import annotations

from typing import Any

from verifier_service.schemas import ErrorResponse

STRANGER_ERRORS = {
    401: "an API key is needed, and missing",
    403: "a page of another site asks",
    421: "the service is not known under this host",
    429: "the API key has used up what it may have now; try again after `Retry-After`",
}
"""Errors of every route but those of `open_paths`."""
MALFORMED = "the request is malformed; the message names the field"
BODY_ERRORS = {
    408: "the body did not arrive in time",
    413: "the body is over a limit",
    415: "the body is compressed in a way that this route does not know, or is not JSON",
    422: MALFORMED,
    503: "too much work is waiting, or the service is ending; try again later",
}
"""Errors of a route of ours that takes a body."""


def promised(*errors: dict[int, str]) -> dict[int | str, dict[str, Any]]:
    """The responses of a route with these errors; a later meaning of a status wins."""
    return {
        status: {"model": ErrorResponse, "description": meaning}
        for some in errors
        for status, meaning in some.items()
    }


def with_own_validation_errors(document: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI document with our body of an error in the place of FastAPI's.

    FastAPI promises a 422 for each route with a body or a parameter. A route whose parameters are
    texts of any form has none.

    Args:
        document: is changed.
    """
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    own = {"$ref": f"#/components/schemas/{ErrorResponse.__name__}"}
    content = {"application/json": {"schema": own}}
    for operation in (one for path in document["paths"].values() for one in path.values()):
        responses = operation["responses"]
        if responses.get("422", {}).get("description") != "Validation Error":
            continue
        if "requestBody" in operation or any(map(_can_be_wrong, operation["parameters"])):
            responses["422"] = {"description": MALFORMED, "content": content}
        else:
            del responses["422"]
    return document


def _can_be_wrong(parameter: dict[str, Any]) -> bool:
    """Whether a parameter has to be there or to have a form; a part of the path is always there."""
    if parameter.get("required", False) and parameter["in"] != "path":
        return True
    schema: dict[str, Any] = parameter["schema"]
    return schema.keys() - {"title", "default"} != {"type"}
