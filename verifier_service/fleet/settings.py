"""The settings of a fleet: those of the service, and how many replicas it has.

`fleet.application` tells Ray at which load to add or remove one.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import SettingsConfigDict

from verifier_service.settings import Settings
from verifier_service.verifiers import VERIFIERS
from verifier_service.worker_pools import PROGRAMS_PER_PROCESSOR


class FleetSettings(Settings):
    """Settings of a fleet, as the service has them: environment variables, flags, or `args`."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    workers: Annotated[int, Field(gt=0)] = 1
    """worker processes of each judge of texts"""
    code_workers: Annotated[int, Field(gt=0)] = 1
    """programs that run at the same time in each judge of programs"""
    max_connections: Annotated[int, Field(gt=0)] = 4096
    """most open connections of a gateway at `direct_port`; one beyond them gets 503; without that
    port Ray Serve's proxy holds the connections, and has no such bound"""
    gateways: Annotated[int, Field(gt=0)] = 1
    """replicas that answer calls"""
    session_hosts: Annotated[int, Field(gt=0, le=256)] = 1
    """replicas that have sessions, of which each has up to `max_sessions`"""
    judges: Annotated[int, Field(gt=0)] = 1
    """least replicas that judge texts, and least that judge programs"""
    max_judges: Annotated[int, Field(gt=0, validate_default=True)] = 8
    """most replicas that judge texts, and most that judge programs"""
    direct_port: Annotated[int | None, Field(ge=1, le=65535)] = None
    """port at which each gateway listens itself, beside the proxies of Ray Serve; gateways of one
    machine share it; default: none"""

    @field_validator("max_judges")
    @classmethod
    def _ordered(cls, most: int, info: ValidationInfo) -> int:
        least = info.data.get("judges", 1)
        if most < least:
            raise ValueError(f"expected at least as many as `judges`, {least}")
        return most

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of workers that the enabled verifiers need."""
        return tuple(sorted({VERIFIERS[name].workers for name in self.enabled}))

    def num_workers(self, kind: str) -> int:
        """The workers of one judge of a kind."""
        return self.code_workers if kind == "code" else self.workers

    def num_tasks(self, kind: str) -> int:
        """The tasks that one judge of a kind may have under way: programs also loop and sleep."""
        per_worker = PROGRAMS_PER_PROCESSOR if kind == "code" else 1
        return per_worker * self.num_workers(kind)

    def of_kind(self, kind: str) -> FleetSettings:
        """The settings of the judges of a kind, which serve no verifier of another."""
        enabled = tuple(name for name in self.enabled if VERIFIERS[name].workers == kind)
        return self.model_copy(update={"enabled": enabled})

    @property
    def num_session_hosts(self) -> int:
        """The replicas that have sessions; 0 where sessions are off."""
        return self.session_hosts if self.max_sessions and "code" in self.enabled else 0

    @property
    def of_gateways(self) -> FleetSettings:
        """The settings of the gateways, which have no sessions."""
        return self.model_copy(update={"max_sessions": 0})

    @property
    def of_session_hosts(self) -> FleetSettings:
        """The settings of the session hosts, which judge nothing."""
        judging = {"store": None, "judge_url": (), "reward_model_url": (), "lean_url": ()}
        return self.model_copy(update=judging)
