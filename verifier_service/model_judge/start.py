"""The model that the settings ask for."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from verifier_service.model_judge.endpoints import read_endpoint
from verifier_service.model_judge.settings import JudgeSettings
from verifier_service.model_judge.templates import read_template

if TYPE_CHECKING:
    from verifier_service.model_judge.model_judge import ModelJudge


async def start_judge(settings: JudgeSettings, stack: AsyncExitStack) -> ModelJudge | None:
    """The judge of the settings, which ends with the stack; None where they name none."""
    if not settings.judge_url:
        return None
    # httpx takes 0.1 s to load, and most services have no judge.
    from verifier_service.model_judge.model_judge import (  # noqa: PLC0415
        JudgeOptions,
        ModelJudge,
    )

    assert settings.judge_model is not None, "settings with a URL have a model"
    key = settings.judge_key
    options = JudgeOptions(
        endpoints=tuple(map(read_endpoint, settings.judge_url)),
        model=settings.judge_model,
        template_name=settings.judge_template,
        template=read_template(settings.judge_template),
        key=key.get_secret_value() if key is not None else None,
        num_votes=settings.judge_votes,
        num_calls_at_once=settings.judge_calls_at_once,
        max_questions_per_request=settings.judge_questions_per_request,
        max_calls_per_minute=settings.judge_calls_per_minute,
        seconds=settings.judge_seconds,
    )
    return await stack.enter_async_context(ModelJudge(options))
