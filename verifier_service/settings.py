"""The service's settings: environment variables `VERIFIER_...` and flags of `serve`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from verifier_service.compat import PROTOCOLS
from verifier_service.engine.admission import PendingBounds
from verifier_service.engine.request_limits import RequestLimits
from verifier_service.http.api_keys import UNNAMED, ApiKey, is_hash
from verifier_service.http.hosts_and_origins import (
    Sites,
    check_allowed_host,
    check_allowed_origin,
    known_sites,
)
from verifier_service.http.key_files import check_distinct, read_hashes, read_keys
from verifier_service.logs import LogFormat
from verifier_service.model_judge.settings import JudgeSettings
from verifier_service.plugins import VARIABLE as PLUGINS_VARIABLE
from verifier_service.profiles import read_profiles
from verifier_service.proofs.lean_settings import LeanSettings
from verifier_service.sandbox.execution import Layer
from verifier_service.usable_resources import usable_cores
from verifier_service.validation import did_you_mean
from verifier_service.verdict_store.records import StoredTexts
from verifier_service.verdict_store.store import StoreOptions, check_folder
from verifier_service.verifiers import VERIFIERS

COMPOSE_VARIABLES = ("VERIFIER_CPUS", "VERIFIER_MEMORY")
"""Variables with the prefix of settings that compose.yaml reads."""
MIN_RESEMBLANCE = 0.6
"""Similarity, from 0 to 1, above which an unknown variable counts as a misspelt setting."""


class EngineSettings(JudgeSettings, LeanSettings):
    """Settings of the workers, and the limits on judging; they need no server."""

    model_config = SettingsConfigDict(
        env_prefix="VERIFIER_",
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        cli_kebab_case=True,
        hide_input_in_errors=True,  # a wrong hash may be the API key itself
        allow_inf_nan=False,  # `inf` lifts a limit, and no JSON hands it to the store's process
    )

    workers: Annotated[int, Field(gt=0, default_factory=usable_cores)]
    """worker processes; default: the usable CPU cores"""
    code_workers: Annotated[int, Field(gt=0, default_factory=usable_cores)]
    """programs that run at the same time; up to eight times as many are under way, which loop or
    sleep, as far as there is 1 GiB of memory for each; default: the usable CPU cores"""
    unsafe_code_without: Annotated[tuple[Layer, ...], NoDecode] = ()
    """layers that the sandbox of programs may lack, see docs/security.md, separated by commas, of:
    namespaces, root, user, rlimits, capabilities, no_new_privs, landlock, seccomp; default: none"""
    enabled: Annotated[tuple[str, ...], NoDecode] = tuple(VERIFIERS)
    """verifiers that judge, separated by commas; default: all"""
    profiles: Path | None = None
    """YAML file with more profiles, lists of verifiers by name, see docs/configuration.md; default:
    only the shipped ones"""
    item_cpu_seconds: Annotated[float, Field(gt=0)] = 2.0
    """CPU seconds that judging one completion may take; beyond them it is `too_slow`, with score 0
    or that of a wrong completion where it is less"""
    item_memory_bytes: Annotated[int, Field(ge=256 * 2**20)] = 2**30
    """bytes of memory that judging one completion may take, with the worker's own memory; beyond
    them it is `too_large`, score 0"""
    max_cached_verdicts: Annotated[int, Field(ge=0)] = 65_536
    """verdicts kept for later requests; 0 keeps none"""

    @field_validator("enabled", "unsafe_code_without", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return _split_at_commas(value)

    @field_validator("enabled")
    @classmethod
    def _known_verifiers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        unknown = sorted(set(value) - set(VERIFIERS))
        if unknown or not value:
            near = did_you_mean(unknown[0], VERIFIERS) if unknown else ""
            raise ValueError(
                f"no such verifier: {unknown}{near or f'; there are {sorted(VERIFIERS)}'}"
            )
        return value

    @field_validator("profiles")
    @classmethod
    def _readable_profiles(cls, value: Path | None, info: ValidationInfo) -> Path | None:
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
    """severity from which messages are logged"""
    log_format: LogFormat = "text"
    """format of a line of the log; json: an object"""
    api_key_hashes: Annotated[tuple[str, ...], NoDecode] = ()
    """hashes of API keys, as `verifier-service new-key` prints them, separated by commas; default:
    no key"""
    api_key_hashes_file: Path | None = None
    """file with more hashes, one in each line; # begins a comment"""
    api_keys_file: Path | None = None
    """YAML file with more API keys, each with a name, its hash and limits, see docs/deploy.md"""
    require_api_key: bool = False
    """whether the service refuses to start while it has no API key"""
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """names, beside addresses and localhost, under which the service may be asked, separated by
    commas; *.example.com: all names below; *: every name; default: with API keys every name,
    without any the host and, where others reach it, the machine's own name, see docs/deploy.md"""
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = ()
    """origins of web pages that may ask the service, separated by commas, such as
    https://app.example.com; *: all; default: only pages of the service itself"""
    max_connections: Annotated[int, Field(gt=0)] = 4096
    """most open connections; one beyond them gets 503; half of the files that the service may open
    is the bound where that is less"""
    compat: Annotated[tuple[str, ...], NoDecode] = PROTOCOLS
    """protocols of other frameworks to speak, separated by commas; empty: none; default: all"""
    max_body_bytes: Annotated[int, Field(gt=0)] = 64 * 2**20
    """largest request body in bytes, before and after decompression; a larger one gets 413"""
    body_seconds: Annotated[float, Field(gt=0)] = 60.0
    """longest time that a request body may take to arrive; a slower one gets 408, and its
    connection is closed"""
    max_completions: Annotated[int, Field(gt=0)] = 65_536
    """most completions in one request; a request with more gets 413"""
    max_sessions: Annotated[int, Field(ge=0)] = 256
    """most open sessions, see docs/execute.md; one beyond them gets 503; an idle one takes 6 to 9
    MiB and eight open files; 0: none"""
    max_sessions_bytes: Annotated[int | None, Field(ge=2**26)] = None
    """most memory of all sessions together, in bytes; one opened beyond it gets 503, and where open
    ones grow beyond it the largest is ended; default: half of the machine's or container's"""
    max_pending_completions: Annotated[int, Field(gt=0)] = 131_072
    """most completions accepted and not yet answered; a request beyond it gets 503"""
    max_pending_bytes: Annotated[int, Field(gt=0)] = 256 * 2**20
    """most bytes of bodies, and of responses until they are read; a request beyond it gets 503;
    responses to accepted requests may take as many bytes again"""
    max_deadline_seconds: Annotated[float, Field(gt=0)] = 600.0
    """longest time that a request may take; a longer `deadline_seconds` is lowered to it, which is
    also its default"""
    drain_seconds: Annotated[float, Field(ge=0)] = 25.0
    """longest time that calls under way may take to end after SIGTERM"""
    store: Path | None = None
    """folder that keeps every verdict, in Parquet files, see docs/store.md; default: none are
    kept"""
    store_texts: StoredTexts = "hashes"
    """form in which the store keeps completions and references; text: also what was written"""
    store_max_bytes: Annotated[int, Field(gt=0)] = 10 * 2**30
    """most bytes of the store; beyond them its oldest files are deleted"""
    store_max_days: Annotated[float | None, Field(gt=0)] = None
    """days after which the store's files are deleted; default: they are kept"""
    store_max_rate: Annotated[float, Field(gt=0)] = 50_000.0
    """most verdicts that are stored in a second, on average; more are dropped and counted"""
    store_flush_seconds: Annotated[float, Field(gt=0)] = 10.0
    """longest time that a verdict waits for its file to be written"""

    @field_validator("api_key_hashes", "allowed_hosts", "allowed_origins", "compat", mode="before")
    @classmethod
    def _split_more(cls, value: object) -> object:
        return _split_at_commas(value)

    @field_validator("host")
    @classmethod
    def _without_brackets(cls, value: str) -> str:
        """The address of `[::1]`, as URLs have it."""
        return value[1:-1] if value.startswith("[") and value.endswith("]") else value

    @field_validator("api_key_hashes")
    @classmethod
    def _only_hashes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(is_hash, value)):
            raise ValueError("each must be the 64 hexadecimal digits of new-key, not a key itself")
        return value

    @field_validator("api_key_hashes_file")
    @classmethod
    def _readable_hashes(cls, value: Path | None) -> Path | None:
        if value is not None:
            read_hashes(value)
        return value

    @field_validator("api_keys_file")
    @classmethod
    def _readable_keys(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if value is not None:
            hashes = info.data.get("api_key_hashes", ())
            check_distinct(_all_keys(hashes, info.data.get("api_key_hashes_file"), value))
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def _only_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for host in value:
            check_allowed_host(host)
        return value

    @field_validator("allowed_origins")
    @classmethod
    def _only_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for origin in value:
            check_allowed_origin(origin)
        return value

    @field_validator("store")
    @classmethod
    def _usable_folder(cls, value: Path | None) -> Path | None:
        if value is not None:
            check_folder(value)
        return value

    @property
    def store_options(self) -> StoreOptions | None:
        """The options of the store of verdicts; None where there is none."""
        if self.store is None:
            return None
        return StoreOptions(
            self.store.resolve(),
            self.store_texts,
            max_bytes=self.store_max_bytes,
            max_days=self.store_max_days,
            max_rate=self.store_max_rate,
            flush_seconds=self.store_flush_seconds,
        )

    @property
    def api_keys(self) -> tuple[ApiKey, ...]:
        """The API keys of the settings and of the files; a hash stands once."""
        return _all_keys(self.api_key_hashes, self.api_key_hashes_file, self.api_keys_file)

    @property
    def sites(self) -> Sites:
        """The hosts under which the service may be asked, and the pages that may ask."""
        return known_sites(
            listening_on=self.host,
            allowed_hosts=self.allowed_hosts,
            allowed_origins=self.allowed_origins,
            has_keys=bool(self.api_keys),
        )

    @property
    def request_limits(self) -> RequestLimits:
        """Limits on one request."""
        return RequestLimits(
            enabled=self.enabled,
            max_body_bytes=self.max_body_bytes,
            max_completions=self.max_completions,
            max_deadline_seconds=self.max_deadline_seconds,
        )

    @property
    def pending_bounds(self) -> PendingBounds:
        """Bounds on the pending work of all requests."""
        return PendingBounds(self.max_pending_completions, self.max_pending_bytes)

    @model_validator(mode="after")
    def _some_key(self) -> Self:
        if self.require_api_key and not self.api_keys:
            raise ValueError(
                "VERIFIER_REQUIRE_API_KEY is set, and there is no API key: "
                "`verifier-service new-key` makes one"
            )
        return self

    @field_validator("compat")
    @classmethod
    def _known_protocols(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted(set(value) - set(PROTOCOLS)):
            raise ValueError(f"no such protocol: {unknown}; there are {sorted(PROTOCOLS)}")
        return value


def _split_at_commas(value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


def unknown_variables(
    names: Iterable[str], model: type[Settings] = Settings
) -> dict[str, str | None]:
    """Variables that have the prefix of settings but name none, each with the nearest setting.

    Args:
        names: of the variables.
        model: the settings that there are.

    >>> unknown_variables(["VERIFIER_PORT", "VERIFIER_ITEM_CPU_SECOND", "VERIFIER_URL", "HOME"])
    {'VERIFIER_ITEM_CPU_SECOND': 'VERIFIER_ITEM_CPU_SECONDS', 'VERIFIER_URL': None}
    """
    settings = [field.upper() for field in model.model_fields]
    settings.append(PLUGINS_VARIABLE.removeprefix("VERIFIER_"))
    unknown = {}
    for name in names:
        prefix, found, setting = name.upper().partition("VERIFIER_")
        is_ours = found and not prefix and name not in COMPOSE_VARIABLES
        if is_ours and setting not in settings:
            near = get_close_matches(setting, settings, n=1, cutoff=MIN_RESEMBLANCE)
            unknown[name] = f"VERIFIER_{near[0]}" if near else None
    return unknown


def _all_keys(
    hashes: tuple[str, ...], hashes_file: Path | None, keys_file: Path | None
) -> tuple[ApiKey, ...]:
    """The API keys of the settings and of the files. Raises ValueError."""
    if hashes_file is not None:
        hashes += read_hashes(hashes_file)
    named = () if keys_file is None else read_keys(keys_file, VERIFIERS)
    return (*(ApiKey(UNNAMED, one) for one in dict.fromkeys(hashes)), *named)
