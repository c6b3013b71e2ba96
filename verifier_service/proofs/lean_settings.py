"""Settings of the Lean server that `proof` asks: `VERIFIER_LEAN_...` and flags of commands."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from verifier_service.model_judge.endpoints import EndpointKey, read_endpoint

LeanProtocol = Literal["kimina", "repl"]


class LeanSettings(BaseSettings):
    """Settings of the server that checks proofs in Lean; without a URL there is none."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    lean_url: Annotated[tuple[str, ...], NoDecode] = ()
    """URLs of servers that run Lean 4, separated by commas, such as http://lean-1:8000;weight=2,
    see docs/proofs.md; default: none, proofs in Lean are unverifiable"""
    lean_protocol: LeanProtocol = "kimina"
    """protocol of these servers: kimina is that of the Kimina Lean server (POST /verify), repl the
    JSON of Lean's REPL, as LeanInteract has it, posted to the URL itself"""
    lean_key: EndpointKey | None = None
    """API key of these servers; give it as a variable, since flags can be read by other users"""
    lean_calls_at_once: Annotated[int, Field(ge=1, le=4096)] = 16
    """proofs that the servers check at the same time"""
    lean_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """longest time that checking a proof may take, with up to three calls"""

    @field_validator("lean_url", mode="before")
    @classmethod
    def _split_lean_urls(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(part.strip() for part in value.split(",") if part.strip())

    @field_validator("lean_url")
    @classmethod
    def _only_servers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for url in value:
            read_endpoint(url, field="lean_url")
        return value
