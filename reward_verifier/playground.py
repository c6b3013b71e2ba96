"""Links to the page of a service, which fill its form with a problem and its completions."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any


def playground_link(
    url: str,
    completions: Sequence[str],
    reference: Mapping[str, Any],
    *,
    verifier: str | Mapping[str, Any] = "accuracy",
    profile: str | None = None,
) -> str:
    """The link that opens the page of a service with a problem in its form, to see why.

    It holds the whole input behind `#`, which browsers send to nobody. Opening it judges nothing.

    >>> playground_link("http://127.0.0.1:8080", ["It is 5."], {"answer": "5"})[:34]
    'http://127.0.0.1:8080/#input=eyJ2Z'

    Args:
        url: of the service.
        completions: texts to judge.
        reference: of the problem.
        verifier: a type, or a mapping with `type` and options.
        profile: a profile of the service in place of the verifier.
    """
    options: dict[str, Any] = {} if isinstance(verifier, str) else dict(verifier)
    kind = verifier if isinstance(verifier, str) else options.pop("type")
    fields = {
        "verifier": f"verifier:{kind}" if profile is None else f"profile:{profile}",
        "reference": json.dumps(dict(reference), ensure_ascii=False, indent=2),
        "options": json.dumps(options, ensure_ascii=False),
        "completions": list(completions),
    }
    text = json.dumps(fields, ensure_ascii=False).encode()
    return f"{url.rstrip('/')}/#input={base64.urlsafe_b64encode(text).decode().rstrip('=')}"
