"""The service's settings: environment variables `VERIFIER_...` and flags of `serve`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from verifier_service.compat import ROUTERS
from verifier_service.http.api_keys import is_hash
from verifier_service.logs import LogFormat
from verifier_service.profiles import read_profiles
from verifier_service.sandbox.execution import Layer
from verifier_service.verifiers import VERIFIERS

COMPOSE_VARIABLES = ("VERIFIER_CPUS", "VERIFIER_MEMORY")
"""Read by compose.yaml."""
MIN_RESEMBLANCE = 0.6
"""Of a name to that of a setting, from 0 to 1, above which it is meant to be that setting."""


def usable_cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0))


class EngineSettings(BaseSettings):
    """What judges, and within which limits: settings that need no server."""

    model_config = SettingsConfigDict(
        env_prefix="VERIFIER_",
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        cli_kebab_case=True,
        hide_input_in_errors=True,  # where a hash is expected, it may be a key
    )

    workers: Annotated[int, Field(gt=0, default_factory=usable_cores)]
    """worker processes; default: the usable CPU cores"""
    code_workers: Annotated[int, Field(gt=0, default_factory=usable_cores)]
    """processes that run programs, one at a time each; default: the usable CPU cores"""
    unsafe_code_without: Annotated[tuple[Layer, ...], NoDecode] = ()
    """layers that the sandbox of programs may do without, separated by commas, of: namespaces,
    root, user, rlimits, capabilities, no_new_privs, landlock, seccomp; default: none"""
    enabled: Annotated[tuple[str, ...], NoDecode] = tuple(VERIFIERS)
    """verifiers to serve, separated by commas; default: all"""
    profiles: Path | None = None
    """YAML file with more profiles, lists of verifiers by name; default: only the shipped ones"""
    item_cpu_seconds: Annotated[float, Field(gt=0)] = 2.0
    """CPU time that judging one completion may take"""
    item_memory_bytes: Annotated[int, Field(ge=256 * 2**20)] = 2**30
    """memory that judging one completion may take, its worker's own included"""
    max_cached_verdicts: Annotated[int, Field(ge=0)] = 65_536
    """verdicts kept for later requests; 0 keeps none"""

    @field_validator("enabled", "unsafe_code_without", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return _parts(value)

    @field_validator("enabled")
    @classmethod
    def _exist(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        unknown = sorted(set(value) - set(VERIFIERS))
        if unknown or not value:
            raise ValueError(f"no such verifier: {unknown}; there are {sorted(VERIFIERS)}")
        return value

    @field_validator("profiles")
    @classmethod
    def _can_be_read(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        read_profiles(value, info.data.get("enabled", VERIFIERS))
        return value


class Settings(EngineSettings):
    """Settings of the service. A flag wins over the environment, which wins over the default."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    host: str = "127.0.0.1"
    """address to listen on; 0.0.0.0 for every interface"""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8080
    """port to listen on; 0 takes a free one and logs it"""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """least severe message to log"""
    log_format: LogFormat = "text"
    """json: an object for each line"""
    api_key_hashes: Annotated[tuple[str, ...], NoDecode] = ()
    """hashes of API keys, separated by commas, see `verifier-service new-key`; default: no key"""
    api_key_hashes_file: Path | None = None
    """file with more of them, one in a line; what follows # is a comment"""
    compat: Annotated[tuple[str, ...], NoDecode] = tuple(ROUTERS)
    """protocols of other frameworks to speak, separated by commas; empty for none; default: all"""
    max_body_bytes: Annotated[int, Field(gt=0)] = 64 * 2**20
    """largest request body; a larger one is answered 413"""
    max_completions: Annotated[int, Field(gt=0)] = 65_536
    """most completions in one request; more are answered 413"""
    max_pending_completions: Annotated[int, Field(gt=0)] = 131_072
    """most completions accepted and not yet answered; a request over it is answered 503"""
    max_pending_bytes: Annotated[int, Field(gt=0)] = 256 * 2**20
    """most bytes of bodies, and of answers until they are read; a request over it is answered 503;
    answers to those accepted may go beyond, to twice as many"""
    max_deadline_seconds: Annotated[float, Field(gt=0)] = 600.0
    """longest that a request may take; also the default of `deadline_seconds`"""
    drain_seconds: Annotated[float, Field(ge=0)] = 25.0
    """at SIGTERM, how long calls that are under way may take to end"""

    @field_validator("api_key_hashes", "compat", mode="before")
    @classmethod
    def _split_more(cls, value: object) -> object:
        return _parts(value)

    @field_validator("api_key_hashes")
    @classmethod
    def _are_hashes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(is_hash, value)):
            raise ValueError("each must be the 64 hexadecimal digits of new-key, not a key itself")
        return value

    @field_validator("api_key_hashes_file")
    @classmethod
    def _has_hashes(cls, value: Path | None) -> Path | None:
        if value is not None:
            _read_hashes(value)
        return value

    @property
    def all_api_key_hashes(self) -> tuple[str, ...]:
        """Those of the setting and those of the file."""
        file = self.api_key_hashes_file
        return self.api_key_hashes + (_read_hashes(file) if file is not None else ())

    @field_validator("compat")
    @classmethod
    def _are_spoken(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted(set(value) - set(ROUTERS)):
            raise ValueError(f"no such protocol: {unknown}; there are {sorted(ROUTERS)}")
        return value


def _parts(value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


def unknown_variables(names: Iterable[str]) -> dict[str, str | None]:
    """Variables that are named as settings are and are none, with the setting that each resembles.

    >>> unknown_variables(["VERIFIER_PORT", "VERIFIER_ITEM_CPU_SECOND", "VERIFIER_URL", "HOME"])
    {'VERIFIER_ITEM_CPU_SECOND': 'VERIFIER_ITEM_CPU_SECONDS', 'VERIFIER_URL': None}
    """
    settings = [field.upper() for field in Settings.model_fields]
    unknown = {}
    for name in names:
        prefix, found, setting = name.upper().partition("VERIFIER_")
        is_ours = found and not prefix and name not in COMPOSE_VARIABLES
        if is_ours and setting not in settings:
            near = get_close_matches(setting, settings, n=1, cutoff=MIN_RESEMBLANCE)
            unknown[name] = f"VERIFIER_{near[0]}" if near else None
    return unknown


def _read_hashes(path: Path) -> tuple[str, ...]:
    """Raises ValueError, which does not tell what the file has."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {type(error).__name__}") from error
    stripped = [line.partition("#")[0].strip() for line in lines]
    for number, line in enumerate(stripped, 1):
        if line and not is_hash(line):
            raise ValueError(f"{path}: line {number} is not the hash that new-key prints")
    return tuple(line for line in stripped if line)
