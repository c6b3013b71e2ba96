"""Settings of the models that verifiers ask: a judge, and a reward model."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from verifier_service.model_judge.endpoints import EndpointKey, read_endpoint
from verifier_service.model_judge.protocols import Protocol
from verifier_service.model_judge.templates import (
    read_pair_template,
    read_rubric_template,
    read_template,
)

MAX_VOTES = 15


class JudgeSettings(BaseSettings):
    """Settings of the models that judge what rules leave open; without a URL there is none."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    judge_url: Annotated[tuple[str, ...], NoDecode] = ()
    """URLs of OpenAI-compatible endpoints that serve the judge, separated by commas, such as
    http://gpu-1:8000/v1;weight=2, see docs/judges.md; default: none, answers that rules leave open
    are unverifiable"""
    judge_model: Annotated[str | None, Field(validate_default=True)] = None
    """name of the judge at its endpoints"""
    judge_key: EndpointKey | None = None
    """API key of the endpoints; give it as a variable, since flags can be read by other users"""
    judge_template: str = "yes_no"
    """wording of the question about an answer: yes_no, yes_no_json, yes_no_logprobs, xverify,
    compass_verifier, general_verifier, or a TOML file"""
    judge_rubric_template: str = "yes_no"
    """wording of the question about an item of a rubric: yes_no, yes_no_logprobs, or a TOML file"""
    judge_pairwise_template: str = "a_b_tie"
    """wording of the question which of two responses is better: a_b_tie, or a TOML file"""
    judge_votes: Annotated[int, Field(ge=1, le=MAX_VOTES)] = 1
    """votes on an answer, or on an item of a rubric, an odd number; more than half decide"""
    judge_calls_at_once: Annotated[int, Field(ge=1, le=4096)] = 64
    """calls to the endpoints at the same time"""
    judge_questions_per_request: Annotated[int, Field(ge=0)] = 4096
    """answers of one request that the judge is asked about; more are failed"""
    judge_calls_per_minute: Annotated[int | None, Field(ge=1)] = None
    """calls to the endpoints in a minute; those beyond it fail; default: any number"""
    judge_seconds: Annotated[float, Field(gt=0, le=600)] = 30.0
    """longest time that a vote may take, with up to three calls"""
    reward_model_url: Annotated[tuple[str, ...], NoDecode] = ()
    """whole URLs at which a reward model is served, separated by commas, each with the judge's
    bounds on calls, such as http://gpu-2:8000/classify; default: none"""
    reward_model_protocol: Protocol = "vllm_classify"
    """protocol of the reward model"""
    reward_model_name: str | None = None
    """name of the reward model at vLLM; default: the one that is served"""
    reward_model_key: EndpointKey | None = None
    """API key of the reward model; give it as a variable, since flags can be read by others"""

    @field_validator("judge_url", "reward_model_url", mode="before")
    @classmethod
    def _split_urls(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(part.strip() for part in value.split(",") if part.strip())

    @field_validator("judge_url", "reward_model_url")
    @classmethod
    def _only_endpoints(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for url in value:
            read_endpoint(url, field=str(info.field_name))
        return value

    @field_validator("judge_template")
    @classmethod
    def _readable_template(cls, value: str) -> str:
        read_template(value)
        return value

    @field_validator("judge_rubric_template")
    @classmethod
    def _readable_rubric_template(cls, value: str) -> str:
        read_rubric_template(value)
        return value

    @field_validator("judge_pairwise_template")
    @classmethod
    def _readable_pair_template(cls, value: str) -> str:
        read_pair_template(value)
        return value

    @field_validator("judge_votes")
    @classmethod
    def _no_tie(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError("expected an odd number, so that more than half decide")
        return value

    @field_validator("judge_model")
    @classmethod
    def _named_beside_a_url(cls, value: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("judge_url") and not value:
            raise ValueError("VERIFIER_JUDGE_URL needs the name of the model that it serves")
        return value
