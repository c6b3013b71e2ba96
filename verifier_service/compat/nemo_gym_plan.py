"""A plan for a task of NeMo Gym: who judges what against which reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifier_service.profiles import Verifiers

GymTask = Mapping[str, Any]
"""The fields of a task."""
TaskPlan = tuple[Verifiers, dict[str, Any], str]
"""Verifiers, reference, and the part of the response that they judge."""


class OtherRule(ValueError):
    """The task has a field whose rule is not served here; the message names it."""
