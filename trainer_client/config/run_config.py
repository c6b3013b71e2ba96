"""The configuration of a run: one YAML file, typed, frozen, made once and passed down.

A setting's value comes from the last of these that states it: the section's default, the preset
that the file names, the file, a `section.key=value` override. An unknown key is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import ValidationError, field_serializer, field_validator, model_validator

from trainer_client.config import strict_yaml
from trainer_client.config.advantage_section import AdvantageConfig
from trainer_client.config.guard_section import GuardConfig
from trainer_client.config.loss_section import LossConfig
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.optimizer_section import OptimizerConfig
from trainer_client.config.presets import PRESETS
from trainer_client.config.reward_sections import (
    FUNCTION_PATTERN,
    EvaluationConfig,
    RewardConfig,
    RewardSource,
    main_source,
)
from trainer_client.config.rollout_section import (
    ADDRESS_PATTERN,
    ENVIRONMENT_PATTERN,
    SHIPPED_ENVIRONMENTS,
    RolloutConfig,
)
from trainer_client.config.section import Section
from trainer_client.config.sft_section import SftConfig
from trainer_client.config.train_section import TrainConfig
from trainer_client.config.training_dataset import (
    TrainingDatasetConfig,
    check_data_sets,
    evaluation_like_training,
)
from trainer_client.config.trl_equivalents import EQUIVALENTS, NOT_AVAILABLE
from trainer_client.errors import TrainerError, did_you_mean, first_line

FORMS = {
    ADDRESS_PATTERN: "an address with its scheme, such as http://127.0.0.1:8080",
    FUNCTION_PATTERN: "file.py:function",
    ENVIRONMENT_PATTERN: "file.py:name, package.module:name or one of "
    + ", ".join(SHIPPED_ENVIRONMENTS),
}
"""The forms that a text must have, by the patterns of the sections, in the words of a message."""


BoardName = Literal["tensorboard", "wandb", "trackio", "mlflow"]
"""A place that shows metrics (`trainer_client.run.boards`)."""


class ConfigError(TrainerError):
    """The configuration cannot be used; the message names the key and what was expected."""


class Config(Section):
    """The settings of a whole run."""

    output_dir: Path
    preset: Literal[tuple(PRESETS)] | None = None  # type: ignore[valid-type]
    model: ModelConfig
    dataset: tuple[TrainingDatasetConfig, ...]
    """One or several; in the file one may stand without a list."""
    rollout: RolloutConfig = RolloutConfig()
    reward: RewardConfig = RewardConfig()
    advantage: AdvantageConfig = AdvantageConfig()
    loss: LossConfig = LossConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    train: TrainConfig = TrainConfig()
    guards: GuardConfig = GuardConfig()
    evaluation: tuple[EvaluationConfig, ...] = ()
    sft: SftConfig = SftConfig()
    logging: tuple[BoardName, ...] = ("tensorboard",)
    """Places that show metrics and, but TensorBoard, rollouts, beside `metrics.jsonl`."""

    @property
    def num_updates(self) -> int:
        """Optimizer steps of the whole run, including any that will be skipped."""
        return self.train.steps * self.train.epochs_per_rollout * self.train.minibatches

    @property
    def needs_reference(self) -> bool:
        """Whether the start policy is needed, for the loss or to measure the KL."""
        return bool(self.loss.kl_coefficient or self.guards.measure_kl_every_steps)

    def measures_kl(self, step: int) -> bool:
        """Whether the KL of this step is measured apart from the loss."""
        every = self.guards.measure_kl_every_steps
        return every is not None and not self.loss.kl_coefficient and step % every == 0

    @property
    def is_mixed(self) -> bool:
        """Whether there are several data sets, which have metrics and warnings of their own."""
        return len(self.dataset) > 1

    @property
    def sources(self) -> tuple[RewardSource, ...]:
        """The sources of all data sets; of those with one name the first."""
        found: dict[str, RewardSource] = {}
        for data_set in self.dataset:
            for source in data_set.sources(self.reward):
                found.setdefault(source.key, source)
        return tuple(found.values())

    @property
    def main(self) -> RewardSource:
        """The source that says whether a problem is solved, by all data sets' sources."""
        return main_source(self.sources)

    @property
    def asks_own_verifiers(self) -> bool:
        """Whether a data set or an evaluation is judged by `reward.verifiers`."""
        return any(one.profile is None and one.verifiers is None for one in self.dataset) or any(
            one.profile is None and one.verifiers is None for one in self.evaluation
        )

    @model_validator(mode="before")
    @classmethod
    def _evaluations_read_rows_as_training_does(cls, values: Any) -> Any:
        data_sets, evaluations = (
            [one] if isinstance(one, dict) else one
            for one in (values.get("dataset"), values.get("evaluation"))
        )
        if not (isinstance(data_sets, list | tuple) and isinstance(evaluations, list | tuple)):
            return values
        if len(data_sets) != 1 or not isinstance(data_sets[0], dict):
            return values
        evaluations = [evaluation_like_training(one, data_sets[0]) for one in evaluations]
        return {**values, "evaluation": evaluations}

    @field_validator("evaluation", "dataset", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return [value] if isinstance(value, dict) else () if value is None else value

    @field_validator("logging", mode="before")
    @classmethod
    def _each_board_once(cls, value: Any) -> Any:
        listed = [value] if isinstance(value, str) else value
        return list(dict.fromkeys(listed)) if isinstance(listed, list | tuple) else listed

    @field_serializer("dataset")
    def _one_without_a_list(self, value: tuple[TrainingDatasetConfig, ...]) -> Any:
        dumped = [one.model_dump(mode="json") for one in value]
        return dumped[0] if len(dumped) == 1 else dumped

    @model_validator(mode="after")
    def _data_sets_can_be_judged(self) -> Config:
        check_data_sets(self.dataset, self.reward)
        return self

    @model_validator(mode="after")
    def _evaluation_verifiers_exist(self) -> Config:
        prefixes = [evaluation.prefix for evaluation in self.evaluation]
        if len(set(prefixes)) != len(prefixes):
            raise ValueError("several evaluations need different names")
        for evaluation in self.evaluation:
            asked = evaluation.verifiers or self.reward.sources
            keys = [source.key for source in asked]
            if evaluation.profile is None and evaluation.verifier not in keys:
                raise ValueError(_no_such_verdict(evaluation, keys))
        return self

    @model_validator(mode="after")
    def _environment_can_be_used(self) -> Config:
        if self.rollout.environment is None and self.reward.environment is not None:
            raise ValueError("reward.environment needs rollout.environment, which is null")
        return self

    @model_validator(mode="after")
    def _staleness_can_be_had(self) -> Config:
        staleness = self.train.max_staleness_steps
        if not staleness:
            return self
        setting = f"train.max_staleness_steps {staleness}"
        if self.rollout.engine != "vllm_server":
            raise ValueError(
                f"{setting} needs rollout.engine vllm_server, found {self.rollout.engine}: an "
                "engine in the trainer's process shares the weights and the processor with the "
                "update, so it samples between updates"
            )
        if self.loss.importance is None:
            raise ValueError(
                f"{setting} needs loss.importance, such as {{mode: token_truncate}}: completions "
                "are sampled with weights before the last update"
            )
        scores_here = self.reward.functions or self.reward.models
        if staleness == 1 and self.rollout.max_refills and scores_here:
            raise ValueError(
                f"{setting} with rollout.max_refills takes no reward.functions and no "
                "reward.models: they score in the main thread, once the refills are sampled; a "
                "staleness of 2 has no such limit"
            )
        return self

    @model_validator(mode="after")
    def _settings_agree(self) -> Config:
        if self.rollout.replay is not None and self.rollout.environment is not None:
            raise ValueError(
                "rollout.replay does not go with rollout.environment, whose episodes may begin "
                "differently each time"
            )
        if self.rollout.replay is not None and self.rollout.max_refills:
            raise ValueError(
                "rollout.replay does not go with rollout.max_refills: both take the place of "
                "groups that teach nothing"
            )
        if self.rollout.max_refills and self.advantage.zero_variance == "keep":
            raise ValueError("rollout.max_refills needs advantage.zero_variance drop")
        if self.model.quantization is not None and self.rollout.engine != "transformers":
            raise ValueError(
                f"model.quantization {self.model.quantization} needs rollout.engine transformers, "
                f"found {self.rollout.engine}: quantized weights cannot be sent to a sampler"
            )
        if self.train.minibatches > self.rollout.prompts_per_step:
            raise ValueError(
                f"train.minibatches {self.train.minibatches} is more than "
                f"rollout.prompts_per_step {self.rollout.prompts_per_step}"
            )
        if self.loss.teacher is not None and self.guards.measure_kl_every_steps is not None:
            raise ValueError(
                "guards.measure_kl_every_steps measures the KL to the start policy, in whose place "
                "loss.teacher stands"
            )
        if self.model.lora is not None and self.loss.reference_sync_steps is not None:
            raise ValueError(
                "loss.reference_sync_steps needs a reference of its own; under model.lora it is "
                "the base model"
            )
        return self


@dataclass(frozen=True)
class PartialConfig:
    """The usable settings of a configuration in which some may be wrong."""

    config: Config | None
    """Wrong settings have their defaults; None: too much is wrong."""
    wrong_sections: frozenset[str]
    """The sections that a wrong setting is in."""

    def usable(self, *sections: str) -> Config | None:
        """The configuration, if these sections of it are as the user has written them."""
        return None if self.wrong_sections.intersection(sections) else self.config


def _no_such_verdict(evaluation: EvaluationConfig, keys: Sequence[str]) -> str:
    """The error for an evaluation by a verdict that none of its verifiers gives.

    Args:
        evaluation: the evaluation.
        keys: the names of its verifiers.
    """
    name = evaluation.verifier
    if "verifier" in evaluation.model_fields_set:
        return f"evaluation.verifier is {name!r}, but its verifiers are only {keys}"
    place = "reward.verifiers" if evaluation.verifiers is None else "evaluation.verifiers"
    near = get_close_matches(name, keys, n=1)
    typo = f" If {near[0]!r} in {place} is a typing error, did you mean {name!r}?" if near else ""
    return (
        f"evaluation.verifier is not set, so completions pass by {name!r}, but the verifiers are "
        f"only {keys}. Set evaluation.verifier to one of them, or add {name!r} to {place}.{typo}"
    )


def load_config(path: Path, overrides: list[str] | None = None) -> Config:
    """The configuration in a YAML file.

    Args:
        path: the file.
        overrides: `section.key=value`, the value in YAML, such as `loss.kl_coefficient=0.04`. An
            entry of a list has its number, such as `evaluation.1.num_samples=4`; where there is
            one evaluation, it may be left out. A section is merged with the file's, and a mapping
            of the user's own keys, such as `dataset.reference_columns={tests: tests}`, replaced.

    Raises:
        ConfigError: file, key or value cannot be used.
    """
    values = _read_values(path, overrides or [])
    return make_config(values, source=str(path))


def read_config(path: Path, overrides: list[str] | None = None) -> tuple[PartialConfig, list[str]]:
    """The settings of a YAML file that can be used, and a line about each other one.

    Args:
        path: the file.
        overrides: see `load_config`.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or an override is not of its form.
    """
    values = _with_preset(_read_values(path, overrides or []))
    errors = _errors_in(values)
    if not errors:
        return PartialConfig(Config.model_validate(values), frozenset()), []
    wrong = frozenset(str(one["loc"][0]) for one in errors if one["loc"])
    rest = values
    for one in errors:
        rest = _without(rest, one["loc"])
    return _usable(rest, wrong), [_explain(one) for one in errors]


def _usable(values: dict[str, Any], wrong: frozenset[str]) -> PartialConfig:
    """The settings without the wrong ones, and without a section that does not go with the others.

    Args:
        values: the settings without the wrong ones.
        wrong: the sections that these were in.
    """
    optional = [name for name, field in Config.model_fields.items() if not field.is_required()]
    # Evaluations first: what they ask for is seldom why another section is as it is.
    for left_out in ((), ("evaluation",), *((name,) for name in optional)):
        left = {key: value for key, value in values.items() if key not in left_out}
        if not _errors_in(left):
            return PartialConfig(Config.model_validate(left), wrong.union(left_out))
    return PartialConfig(None, wrong)


def load_run(folder: Path, overrides: list[str] | None = None) -> Config:
    """The configuration of a finished run, with the trained model as its model.

    Raises:
        ConfigError: the folder is not that of a finished run.
    """
    if not (folder / "model").is_dir():
        raise ConfigError(
            f"{folder} holds no trained model; a finished run has {folder}/model. `trainer-client "
            f"export {folder} FOLDER --checkpoint last` takes that of a stopped run out, for "
            "transformers or model.path"
        )
    config = load_config(folder / "config.yaml", overrides)
    model = config.model.model_copy(update={"path": str(folder / "model"), "chat_template": None})
    return config.model_copy(update={"model": model})


def make_config(values: dict[str, Any], *, source: str = "configuration") -> Config:
    """The configuration from nested values; raises ConfigError, whose message names the source."""
    values = _with_preset(values)
    if errors := _errors_in(values):
        lines = (f"  {_explain(details)}" for details in errors)
        raise ConfigError("\n".join([f"{source} cannot be used:", *lines]))
    return Config.model_validate(values)


def dump_config(config: Config) -> str:
    """The configuration as YAML that `load_config` reads back to an equal one."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)


def config_changes(path: Path, config: Config) -> list[str]:
    """The settings in which a configuration differs from a file's, each `key: old -> new`."""
    old = yaml.safe_load(path.read_text()) if path.exists() else None
    return list(_differences(old, config)) if isinstance(old, dict) else []


def _differences(old: dict[str, Any], new: Section, prefix: str = "") -> Iterator[str]:
    for key, value in new.model_dump(mode="json").items():
        if key not in old:
            continue  # a setting that the version which wrote the file did not have
        before, section = old[key], getattr(new, key)
        if isinstance(section, tuple) and isinstance(value, dict):
            (section,) = section
        if isinstance(before, dict) and isinstance(section, Section):
            yield from _differences(before, section, f"{prefix}{key}.")
        elif before != value:
            yield f"{prefix}{key}: {json.dumps(before)} -> {json.dumps(value)}"


# A text among those of a list that pydantic tells: 'dapo' in "'grpo', 'dapo' or 'gspo'".
_TEXT = re.compile(r"'([^']*)'")


def _explain(details: Any) -> str:
    key = ".".join(str(part) for part in details["loc"]) or "(whole file)"
    if details["type"] == "extra_forbidden":
        section = ".".join(str(part) for part in details["loc"][:-1]) or "the top level"
        return f"{key}: no such setting in {section}{_hint(details['loc'])}"
    if details["type"] == "missing":
        return f"{key}: is required"
    message = details["msg"].removeprefix("Value error, ")
    if details["type"] == "string_pattern_mismatch":
        pattern = details["ctx"]["pattern"]
        message = f"expected {FORMS.get(pattern, f'a text of the form {pattern}')}"
        if pattern == ENVIRONMENT_PATTERN:
            message += did_you_mean(str(details["input"]), SHIPPED_ENVIRONMENTS)
    if details["type"] == "literal_error":
        message += did_you_mean(str(details["input"]), _TEXT.findall(details["ctx"]["expected"]))
    if isinstance(details["input"], dict | Section):  # a rule between settings, which it names
        return f"{key}: {message}"
    return f"{key}: {message} (found {details['input']!r})"[:500]


def _hint(location: tuple[int | str, ...]) -> str:
    """The place of an unknown setting here: under another name, in another section, or nowhere."""
    name = str(location[-1])
    if name in EQUIVALENTS:
        return f"; here it is {EQUIVALENTS[name]}"
    same = [path for path in setting_names(Config) if path.rpartition(".")[2] == name]
    if same:
        return f"; here it is {' or '.join(same)}"
    if name in NOT_AVAILABLE:
        reason = NOT_AVAILABLE[name]
        return f"; it is not available here{': ' if reason else ''}{reason}"
    return _names_like(location)


def setting_names(section: type[Section], prefix: str = "") -> Iterator[str]:
    """The dotted names of a section's settings; sections themselves are not named.

    >>> next(setting_names(LossConfig, "loss."))
    'loss.type'
    """
    for name, field in section.model_fields.items():
        inner = _section_in(field.annotation)
        if inner is None:
            yield prefix + name
        else:
            yield from setting_names(inner, f"{prefix}{name}.")


def _names_like(location: tuple[int | str, ...]) -> str:
    """A hint for an unknown setting: the one with the nearest name, or all of its section."""
    section: type[Section] | None = Config
    for part in location[:-1]:
        if isinstance(part, str) and section is not None:
            field = section.model_fields.get(part)
            section = None if field is None else _section_in(field.annotation)
    if section is None:
        return ""
    near = get_close_matches(str(location[-1]), section.model_fields, n=1)
    if near:
        return f"; did you mean {'.'.join(map(str, (*location[:-1], near[0])))}?"
    return f"; there are {', '.join(section.model_fields)}"


def _section_in(annotation: Any) -> type[Section] | None:
    """The section class in a field's annotation, which may be optional or a tuple of sections."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next(filter(None, map(_section_in, get_args(annotation))), None)


def _read_values(path: Path, overrides: list[str]) -> dict[str, Any]:
    """The values of a YAML file and of overrides; raises ConfigError."""
    try:
        values = strict_yaml.load(path.read_text(encoding="utf-8"))
    except OSError as error:
        where = "" if path.is_absolute() else f" (relative paths start at {Path.cwd()})"
        raise ConfigError(
            f"cannot read the configuration {path}: {error.strerror}{where}"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not a text in UTF-8, so it is no YAML file") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not valid YAML: {_yaml_problem(error)}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold sections such as `model:`, found {repr(values)[:80]}")
    if isinstance(values.get("evaluation"), dict):
        values = {**values, "evaluation": [values["evaluation"]]}
    return _merge(values, _parse_overrides(overrides))


def _yaml_problem(error: yaml.YAMLError) -> str:
    """The problem and its place on one line; PyYAML needs four."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or first_line(error)
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}" if mark else problem


def _with_preset(values: dict[str, Any]) -> dict[str, Any]:
    """The values on top of those of the preset that they name."""
    preset = values.get("preset")
    known = isinstance(preset, str) and preset in PRESETS
    return _merge(PRESETS[str(preset)].nested, values) if known else values


def _errors_in(values: dict[str, Any]) -> list[Any]:
    """The errors of values as pydantic lists them; none where they are a configuration."""
    try:
        Config.model_validate(values)
    except ValidationError as error:
        return [_as_written(details, values) for details in error.errors()]
    return []


def _as_written(details: Any, values: dict[str, Any]) -> Any:
    """An error without the number of the one data set that stands without a list."""
    section, *rest = details["loc"] or ("",)
    if section == "dataset" and isinstance(values.get(section), dict) and rest[:1] == [0]:
        return {**details, "loc": (section, *rest[1:])}
    return details


def _without(values: dict[str, Any], location: tuple[int | str, ...]) -> dict[str, Any]:
    """Values without the setting at a location; a list is removed whole."""
    if not location or location[0] not in values:
        return values
    first, rest = str(location[0]), location[1:]
    inner = values[first]
    if rest and isinstance(inner, dict) and rest[0] in inner:
        return {**values, first: _without(inner, rest)}
    return {key: value for key, value in values.items() if key != first}


def _parse_overrides(overrides: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for override in overrides:
        key, separator, text = override.partition("=")
        if not separator or not key.strip():
            raise ConfigError(f"override {override!r} is not of the form section.key=value")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ConfigError(
                f"override {override!r}: the value is not valid YAML: {error}"
            ) from error
        parts = key.strip().split(".")
        value = _with_whole_mappings({parts[-1]: value})
        for part in reversed(parts[:-1]):
            value = {part: value}
        values = _merge(values, value)
    return values


class _WholeMapping(dict[str, Any]):
    """A mapping that takes the place of another one, where sections are merged key by key."""


def _with_whole_mappings(value: Any) -> Any:
    """An override's value, with the mappings marked whose keys are the user's own."""
    if not isinstance(value, dict):
        return value
    own = set(_mapping_names(Config))
    return {
        key: _WholeMapping(one)
        if key in own and isinstance(one, dict)
        else _with_whole_mappings(one)
        for key, one in value.items()
    }


def _mapping_names(section: type[Section]) -> Iterator[str]:
    """The names of settings that are mappings of any keys, such as `reference_columns`."""
    for name, field in section.model_fields.items():
        if get_origin(field.annotation) is dict:
            yield name
        elif (inner := _section_in(field.annotation)) is not None:
            yield from _mapping_names(inner)


def _merge(below: dict[str, Any], above: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Nested values, the second ones winning; the path of the section is for error messages."""
    merged = type(below)(below)
    for key, value in above.items():
        under = merged.get(key)
        if isinstance(value, _WholeMapping):
            pass
        elif isinstance(under, dict) and isinstance(value, dict):
            value = _merge(under, value, f"{path}{key}.")
        elif isinstance(under, list) and under and isinstance(value, dict):
            value = _merge_list(under, value, f"{path}{key}")
        merged[key] = value
    return merged


def _merge_list(items: list[Any], changes: dict[str, Any], path: str) -> list[Any]:
    """A list with changed entries, each under its number, as in `evaluation.0.num_samples=4`.

    The number may be left out where there is one entry.
    """
    numbers = [str(number) for number in range(len(items))]
    if len(items) == 1 and changes.keys().isdisjoint(numbers):
        changes = {"0": changes}
    if unknown := [key for key in map(str, changes) if key not in numbers]:
        example = f"{path}.0.{unknown[0]}"
        raise ConfigError(
            f"{path} has {len(items)} entries: an override needs the number of one, from 0 to "
            f"{len(items) - 1}, such as {example}, found {path}.{unknown[0]}"
        )
    by_number = {str(number): change for number, change in changes.items()}
    entries = _merge(dict(zip(numbers, items, strict=True)), by_number, f"{path}.")
    return list(entries.values())
