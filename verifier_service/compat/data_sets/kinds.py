"""Kinds of data sets: how a row becomes a prompt, and how a completion is judged by it.

SandboxFusion appends the tests to the program and believes its exit code, so a program that ends
early is right there. Here tests in Python are judged as by `code`: in a process of their own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request

from verifier_service.compat.data_sets.common_oj import common_prompts, evaluate_common
from verifier_service.compat.data_sets.cruxeval import crux_prompts, evaluate_crux
from verifier_service.compat.data_sets.humaneval import evaluate_humaneval, humaneval_prompts
from verifier_service.compat.data_sets.live_code_bench import evaluate_live, live_prompts
from verifier_service.compat.data_sets.mbpp import evaluate_mbpp, mbpp_prompts
from verifier_service.compat.data_sets.messages import (
    DataSetConfig,
    DataSetPrompt,
    DataSetRow,
    Evaluation,
    SubmitRequest,
)

Prompts = Callable[[DataSetRow, DataSetConfig], list[DataSetPrompt]]
Evaluate = Callable[[Request, SubmitRequest, DataSetRow], Awaitable[Evaluation]]


@dataclass(frozen=True)
class DataSetKind:
    """A kind of data sets."""

    data_sets: tuple[str, ...]
    """Data sets that are of this kind by their name."""
    prompts: Prompts
    """The prompts of a row. Raises ApiError: the row or the configuration does not permit it."""
    evaluate: Evaluate
    """The judgement of a completion. Raises RequestError, and NotNow for lack of room."""


KINDS: dict[str, DataSetKind] = {
    "HumanEvalDataset": DataSetKind(
        ("humaneval_python", "shadow_humaneval_python"), humaneval_prompts, evaluate_humaneval
    ),
    "MBPPDataset": DataSetKind(("mbpp",), mbpp_prompts, evaluate_mbpp),
    "CommonOJDataset": DataSetKind(("code_contests",), common_prompts, evaluate_common),
    "LiveCodeBenchDataset": DataSetKind(("live_code_bench_v1",), live_prompts, evaluate_live),
    "CruxEvalDataset": DataSetKind(("cruxeval",), crux_prompts, evaluate_crux),
}
"""The kinds by the name that a request gives them."""
