"""The sections `reward` and `evaluation`: the sources of scores and how they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.rollout_section import ADDRESS_PATTERN
from trainer_client.config.section import NonNegativeFloat, PositiveFloat, PositiveInt, Section

FUNCTION_PATTERN = r"^(given|.+\.py):\w+$"


class VerifierConfig(BaseModel):
    """One verifier of the service; further keys are its options, which the service checks.

    A text is a type without options.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str
    name: str | None = Field(default=None, description="key of its verdicts; default: the type")
    weight: float = Field(default=1.0, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: Any) -> Any:
        return {"type": given} if isinstance(given, str) else given

    @property
    def key(self) -> str:
        """The key of this verifier's verdicts and metrics."""
        return self.name or self.type

    @property
    def wire(self) -> dict[str, Any]:
        """The verifier in a request's body; the weight stays here, where rewards are computed."""
        return {"name": self.key, **self.model_dump(exclude={"weight", "name"})}


class RewardFunctionConfig(Section):
    """One of the user's Python functions (`trainer_client.reward.functions`).

    A text is its path.
    """

    path: str = Field(
        pattern=FUNCTION_PATTERN, description="file.py:function, or given:NAME of a script"
    )
    name: str | None = Field(default=None, description="name in metrics; default: the function's")
    weight: float = Field(default=1.0, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: Any) -> Any:
        return {"path": given} if isinstance(given, str) else given

    @property
    def key(self) -> str:
        """The key of this function's verdicts and metrics."""
        return self.name or self.path.rpartition(":")[2]


class RewardModelConfig(Section):
    """A sequence classifier with one output (`trainer_client.reward.model`)."""

    path: str = Field(description="Hugging Face model name or folder")
    name: str = Field(default="reward_model", description="name in metrics")
    weight: float = Field(default=1.0, allow_inf_nan=False)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    quantization: Literal["4bit"] | None = Field(
        default=None, description="needs CUDA and bitsandbytes"
    )
    batch_size: PositiveInt = Field(default=16, description="completions in one forward")

    @property
    def key(self) -> str:
        """The key of this model's verdicts and metrics."""
        return self.name


class EnvironmentRewardConfig(Section):
    """The sum of the numbers that the environment's steps call `reward`."""

    name: str = Field(default="environment", description="name in metrics")
    weight: float = Field(default=1.0, allow_inf_nan=False)

    @property
    def key(self) -> str:
        """The key of these verdicts and metrics."""
        return self.name


RewardSource = VerifierConfig | RewardFunctionConfig | RewardModelConfig | EnvironmentRewardConfig
"""A source that gives each completion one score; it has a `key` and a `weight`."""


class RewardConfig(Section):
    """The sources of scores, their weights, and how hard to try to reach the service."""

    url: str = Field(default="http://127.0.0.1:8080", pattern=ADDRESS_PATTERN)
    verifiers: tuple[VerifierConfig, ...] = (
        VerifierConfig(type="accuracy", weight=1.0),
        VerifierConfig(type="format", weight=0.1),
        VerifierConfig(type="tag_count", weight=0.05),
    )
    functions: tuple[RewardFunctionConfig, ...] = ()
    models: tuple[RewardModelConfig, ...] = ()
    environment: EnvironmentRewardConfig | None = Field(
        default=None, description="rewards of rollout.environment; null: they are not used"
    )
    profiles: dict[str, dict[str, Annotated[float, Field(allow_inf_nan=False)]]] = Field(
        default={},
        description="profiles of the service that data sets or rows name: profile -> verifier -> "
        "weight; the rewards are computed here",
    )
    timeout_seconds: PositiveFloat = Field(
        default=120.0, description="time limit of one HTTP request"
    )
    max_attempts: PositiveInt = Field(
        default=8, description="requests for one group, the first included"
    )
    backoff_seconds: PositiveFloat = Field(
        default=0.5, description="wait before the second request; doubles each time, at most 30"
    )

    @field_validator("url")
    @classmethod
    def _url_is_of_the_service(cls, url: str) -> str:
        address = url.removesuffix("/").removesuffix("/score").removesuffix("/v1")
        if address != url.removesuffix("/"):
            raise ValueError(f"give the service's address alone, {address}")
        return url

    @property
    def sources(self) -> tuple[RewardSource, ...]:
        """All sources; the reward is the weighted sum of their scores."""
        return (*self.verifiers, *self._local_sources)

    @property
    def _local_sources(self) -> tuple[RewardSource, ...]:
        """The sources in the trainer's process."""
        own = () if self.environment is None else (self.environment,)
        return (*self.functions, *self.models, *own)

    @property
    def main(self) -> RewardSource:
        """The source that says whether a problem is solved, see `main_source`."""
        return main_source(self.sources)

    def sources_with(
        self,
        verifiers: tuple[VerifierConfig, ...] | None,
        profile: str | None,
        weights: Mapping[str, float],
    ) -> tuple[RewardSource, ...]:
        """The sources of problems that have verifiers, a profile or weights of their own.

        Args:
            verifiers: used instead of the run's; None: these.
            profile: used instead of the run's verifiers; one of `profiles`.
            weights: other weights, by the keys of sources.
        """
        if profile is not None:
            stated = self.profiles[profile].items()
            verifiers = tuple(VerifierConfig(type=key, weight=weight) for key, weight in stated)
        elif verifiers is None:
            verifiers = self.verifiers
        sources: tuple[RewardSource, ...] = (*verifiers, *self._local_sources)
        return tuple(_reweighted(source, weights) for source in sources)

    @model_validator(mode="after")
    def _sources_can_teach(self) -> RewardConfig:
        check_sources(self.sources, "reward")
        return self


def _reweighted(source: RewardSource, weights: Mapping[str, float]) -> RewardSource:
    weight = weights.get(source.key, source.weight)
    return source.model_copy(update={"weight": weight})


def main_source(sources: Sequence[RewardSource]) -> RewardSource:
    """The source that says whether a problem is solved: `accuracy`, else the heaviest."""
    named = [source for source in sources if source.key == "accuracy" and source.weight]
    return named[0] if named else max(sources, key=lambda source: source.weight)


def check_sources(sources: Sequence[RewardSource], where: str) -> None:
    """Raise ValueError where two sources have one name, or none has a weight.

    Args:
        sources: the sources that judge a completion.
        where: the section that names them.
    """
    keys = [source.key for source in sources]
    if len(set(keys)) != len(keys):
        raise ValueError(f"{where}: two sources have the same name in {keys}; give one a `name`")
    if not any(source.weight for source in sources):
        raise ValueError(
            f"{where}: no verifier has a weight other than 0, so nothing could be learnt"
        )


def _check_not_alike(temperature: float | None, num_samples: int) -> None:
    """Raise ValueError where several completions of a problem would be the same."""
    if temperature == 0 and num_samples > 1:
        raise ValueError(
            "at temperature 0 all completions of a problem are alike: set num_samples to 1 and k "
            f"to [1], found {num_samples} completions"
        )


class EvaluationConfig(Section):
    """Unbiased pass@k on held-out problems; where a run has several, each needs a name."""

    name: str | None = Field(
        default=None, pattern=r"^\w[\w.-]*$", description="in metrics: evaluation/NAME/pass@1"
    )
    dataset: DatasetConfig
    every_steps: PositiveInt | None = Field(
        default=None, description="null: only before and after training"
    )
    num_samples: PositiveInt = Field(default=10, description="completions of each problem, n")
    k: tuple[PositiveInt, ...] = (1, 10)
    verifier: str = Field(
        default="accuracy", description="a completion passes by the score of this verdict"
    )
    profile: str | None = Field(
        default=None, description="profile of the service, used instead of reward.verifiers"
    )
    verifiers: tuple[VerifierConfig, ...] | None = Field(
        default=None, description="used instead of reward.verifiers"
    )
    temperature: NonNegativeFloat | None = Field(
        default=None,
        description="0: the likeliest token at each place, of one completion each (num_samples 1); "
        "null: the rollout section's",
    )
    top_p: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="null: the rollout section's"
    )
    max_completion_tokens: PositiveInt | None = Field(
        default=None, description="null: the rollout section's"
    )

    @property
    def prefix(self) -> str:
        """The beginning of the names of this evaluation's metrics."""
        return f"evaluation/{self.name}" if self.name else "evaluation"

    def with_k(self, k: Sequence[int]) -> EvaluationConfig:
        """The evaluation that measures these k, with as many completions as the largest takes.

        Raises:
            ValueError: it samples at temperature 0, and a k is over 1.
        """
        num_samples = max(self.num_samples, *k)
        _check_not_alike(self.temperature, num_samples)
        return self.model_copy(update={"k": tuple(k), "num_samples": num_samples})

    @model_validator(mode="after")
    def _enough_samples(self) -> EvaluationConfig:
        if not self.k:
            raise ValueError("k is empty; [1] measures pass@1")
        if max(self.k) > self.num_samples:
            raise ValueError(f"pass@{max(self.k)} needs num_samples >= {max(self.k)}")
        return self

    @model_validator(mode="after")
    def _not_alike(self) -> EvaluationConfig:
        _check_not_alike(self.temperature, self.num_samples)
        return self

    @model_validator(mode="after")
    def _one_selection(self) -> EvaluationConfig:
        if self.profile is not None and self.verifiers is not None:
            raise ValueError("an evaluation has a profile or verifiers, not both")
        if self.verifiers == ():
            raise ValueError("verifiers is empty; null uses those of the section reward")
        return self
