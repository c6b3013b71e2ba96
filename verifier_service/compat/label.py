"""References from what other frameworks call label, gold, solution or ground truth.

These are posted as JSON; `verifier_adapters.reference` makes them from columns of a data set.
"""

from __future__ import annotations

from typing import Any

import pydantic_core

from verifier_service import strict_json
from verifier_service.compat.completions import UnusableReference
from verifier_service.compat.rule_fields import rule_fields
from verifier_service.strict_json import FlawedJson

OTHER_RULES = (
    "rubric",
    "max_dist",
    "match_type",
    "n_needles",
    "extraction_mode",
    "instruction_id_list",
)
"""Fields that make an `answer` something else than what a completion's answer must equal."""
_READ = frozenset({*OTHER_RULES, "tests", "schema", "pattern"})
"""Fields of a `reference` that may name a rule, and that verifiers read."""


def reference_of(label: Any) -> dict[str, Any] | UnusableReference:
    """The `reference` for a label.

    | label | reference |
    |---|---|
    | text, number, list of texts | `{"answer": label}` |
    | object of tests: with `inputs` and `outputs`, or `type` and `cases` or `code` | \
`{"tests": label}` |
    | any other object | the object itself |
    | JSON text of an object with keys (`{}` is an answer, the empty set) | the object's |
    | None | `{}` |
    | JSON text of an object that readers may take for different ones | none that is usable |
    | object with a field of a rule that no verifier reads, such as `tolerance` | \
none that is usable |
    | object with an `answer` and a field of another verifier's rule, such as `rubric` | \
none that is usable |

    >>> reference_of("1/2")
    {'answer': '1/2'}
    >>> reference_of('{"inputs": ["3"], "outputs": ["9"]}')
    {'tests': {'inputs': ['3'], 'outputs': ['9']}}
    """
    if isinstance(label, str):
        try:
            label = _object_in(label) or label
        except FlawedJson as error:
            return UnusableReference(str(error))
    if label is None:
        return {}
    if not isinstance(label, dict):
        return {"answer": label}
    is_tests = label.keys() >= {"inputs", "outputs"} or (
        "type" in label and bool(label.keys() & {"cases", "code"})
    )
    if is_tests and "answer" not in label:
        return {"tests": label}  # their reader refuses the fields that it does not read
    other = [name for name in OTHER_RULES if label.get(name) is not None]
    if other and "answer" in label:
        return UnusableReference(f"{other} name a rule that comparing with `answer` is not")
    unread = rule_fields(label, _READ)
    if unread:
        return UnusableReference(f"{unread[:5]} name a rule that no verifier reads")
    return {"tests": label} if is_tests else label


def _object_in(text: str) -> dict[str, Any] | None:
    """The object that a JSON text holds; None for another text. Raises FlawedJson."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = pydantic_core.from_json(text)
    except ValueError:
        return None
    strict_json.check(text)
    return found if isinstance(found, dict) else None
