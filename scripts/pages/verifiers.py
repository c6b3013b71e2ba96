"""The page of the verifiers, made from what `GET /v1/verifiers` answers."""

from __future__ import annotations

from typing import Any

from scripts.pages.json_schema import type_in
from scripts.pages.markdown import code, page, prose, session, table, value

Described = dict[str, Any]
"""One verifier of `GET /v1/verifiers`."""

COMMON_OPTIONS = ("type", "name", "weight")
COMMON_REASONS = "Reasons of every verifier"
SHOWN = "exact_match"


def verifiers_page(verifiers: list[Described], *, options_shown: str) -> str:
    """Every option, default and reason with its meaning.

    Args:
        verifiers: of the response.
        options_shown: the output of `verifier-service verifiers exact_match`.
    """
    common = _common_reasons(verifiers)
    return page(
        "# Verifiers",
        session(f"verifier-service verifiers {SHOWN}", options_shown),
        "A request names verifiers with their options. What is not named has the default:",
        '```json\n{"verifiers": [{"type": "accuracy", "weight": 1.0, "rounding": 3}, '
        '{"type": "format", "weight": 0.1}],\n "groups": [...]}\n```',
        "`GET /v1/verifiers` gives this page as JSON, with the verifiers of your own packages. "
        "[Scoring](scoring.md) has requests and responses, [Accuracy](accuracy.md) and "
        "[Programs](code.md) how those two judge.",
        table(
            ("verifier", "score"),
            ((f"[`{one['type']}`](#{one['type']})", prose(one["purpose"])) for one in verifiers),
        ),
        "## Options of every verifier",
        _options(verifiers[0], ("name", "weight")),
        f"## {COMMON_REASONS}",
        "`failed` and `unverifiable` verdicts have no score.",
        _reasons(common),
        *(_section(one, common) for one in verifiers),
    )


def _common_reasons(verifiers: list[Described]) -> list[dict[str, str]]:
    first, *others = (one["reasons"] for one in verifiers)
    return [reason for reason in first if all(reason in reasons for reasons in others)]


def _section(verifier: Described, common: list[dict[str, str]]) -> str:
    low, high = verifier["score_range"]
    needs = ", ".join(f"`reference.{key}`" for key in verifier["needs"]) or "no reference"
    options = [name for name in verifier["options"]["properties"] if name not in COMMON_OPTIONS]
    return "\n\n".join(
        part
        for part in (
            f"## {verifier['type']}",
            f"{prose(verifier['purpose'])}.",
            f"Score: {low:g} to {high:g}. Needs: {needs}.",
            _options(verifier, tuple(options)),
            _reasons([one for one in verifier["reasons"] if one not in common]),
        )
        if part
    )


def _options(verifier: Described, names: tuple[str, ...]) -> str:
    properties = verifier["options"]["properties"]
    required = verifier["options"].get("required", [])
    return table(
        ("option", "type", "default", "meaning"),
        (
            (
                code(name),
                type_in(properties[name]),
                "required" if name in required else value(properties[name].get("default")),
                prose(properties[name].get("description", "")),
            )
            for name in names
        ),
    )


def _reasons(reasons: list[dict[str, str]]) -> str:
    return table(
        ("reason", "meaning"), ((code(one["reason"]), prose(one["meaning"])) for one in reasons)
    )
