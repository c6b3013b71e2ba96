"""The typed configuration and its presets."""

from __future__ import annotations

import re
import typing
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from trainer_client.config.presets import PRESETS
from trainer_client.config.run_config import (
    Config,
    ConfigError,
    config_changes,
    dump_config,
    load_config,
    make_config,
    setting_names,
)
from trainer_client.config.trl_equivalents import EQUIVALENTS, NOT_AVAILABLE

MINIMAL_SERVED = (
    "output_dir: run\nmodel: {path: m}\ndataset: {path: d.jsonl}\n"
    "rollout: {engine: vllm_server}\nloss: {importance: {mode: token_truncate}}\n"
)
MINIMAL = "output_dir: run\nmodel: {path: m}\ndataset: {path: d.jsonl}\n"


def load(folder: Path, text: str, *overrides: str) -> Config:
    path = folder / "config.yaml"
    path.write_text(text)
    return load_config(path, list(overrides))


def test_overrides_win_over_the_file(tmp_path: Path) -> None:
    config = load(
        tmp_path, MINIMAL + "loss: {clip_low: 0.1}\n", "loss.clip_low=0.3", "train.seed=7"
    )
    assert (config.loss.clip_low, config.train.seed) == (0.3, 7)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["dataset.reference_columns={tests: t}"], {"tests": "t"}),
        (["dataset={reference_columns: {tests: t}}"], {"tests": "t"}),
        (["dataset.reference_columns.tests=t"], {"answer": "a", "tests": "t"}),
        (
            ["dataset.reference_columns={tests: t}", "dataset.reference_columns.goal=g"],
            {"tests": "t", "goal": "g"},
        ),
        (["dataset.split=test"], {"answer": "a"}),
    ],
)
def test_an_override_replaces_a_mapping_of_own_keys_and_merges_a_section(
    tmp_path: Path, overrides: list[str], expected: dict[str, str]
) -> None:
    text = MINIMAL.replace("d.jsonl}", "d.jsonl, reference_columns: {answer: a}}")
    assert load(tmp_path, text, *overrides).dataset[0].reference_columns == expected


def test_options_of_another_environment_do_not_stay(tmp_path: Path) -> None:
    text = MINIMAL + "rollout: {environment: {path: 'a.py:A', options: {level: 3}, max_turns: 2}}\n"
    override = "rollout.environment={path: functions, options: {paths: ['t.py:f']}}"
    environment = load(tmp_path, text, override).rollout.environment
    assert environment is not None
    assert (environment.options, environment.max_turns) == ({"paths": ["t.py:f"]}, 2)


@pytest.mark.parametrize("key", ["evaluation", "evaluation.0"])
def test_an_override_changes_the_evaluation_of_a_finished_run(tmp_path: Path, key: str) -> None:
    """Its file has a list of evaluations."""
    evaluation = "evaluation: {dataset: {path: e.jsonl}, num_samples: 20}\n"
    written = dump_config(load(tmp_path, MINIMAL + evaluation))
    config = load(tmp_path, written, f"{key}.num_samples=4", f"{key}.k=[1]")
    (only,) = config.evaluation
    assert (only.num_samples, only.k, only.dataset.path) == (4, (1,), "e.jsonl")


def test_an_override_changes_one_entry_of_a_list_by_its_number(tmp_path: Path) -> None:
    evaluation = "evaluation: [{name: a, dataset: {path: e}}, {name: b, dataset: {path: f}}]\n"
    config = load(tmp_path, MINIMAL + evaluation, "evaluation.1.num_samples=40")
    assert [item.num_samples for item in config.evaluation] == [10, 40]
    verifiers = "reward: {verifiers: [{type: accuracy}, {type: format, weight: 0.5}]}\n"
    config = load(tmp_path, MINIMAL + verifiers, "reward.verifiers.1.weight=0.1")
    assert [item.weight for item in config.reward.verifiers] == [1.0, 0.1]


@pytest.mark.parametrize("override", ["evaluation.2.num_samples=4", "evaluation.num_samples=4"])
def test_an_override_that_names_no_entry_of_a_list_is_an_error(
    tmp_path: Path, override: str
) -> None:
    evaluation = "evaluation: [{name: a, dataset: {path: e}}, {name: b, dataset: {path: f}}]\n"
    with pytest.raises(ConfigError, match=r"evaluation has 2 entries: .*evaluation\.0\."):
        load(tmp_path, MINIMAL + evaluation, override)


def test_the_file_wins_over_its_preset(tmp_path: Path) -> None:
    config = load(tmp_path, MINIMAL + "preset: open_r1\nrollout: {group_size: 4}\n")
    assert (config.rollout.group_size, config.rollout.temperature) == (4, 0.6)


def test_a_configuration_survives_being_written_and_read(tmp_path: Path) -> None:
    config = load(tmp_path, MINIMAL + "preset: dapo\nevaluation: {dataset: {path: e.jsonl}}\n")
    assert load(tmp_path, dump_config(config)) == config


def test_a_setting_that_a_runs_version_did_not_have_has_not_changed(tmp_path: Path) -> None:
    """Its file has no line of it; of a table of the user's a line more is a change."""
    old = tmp_path / "old.yaml"
    old.write_text(
        "dataset: {path: d.jsonl, reference_columns: {answer: answer}}\nrollout: {group_size: 8}\n"
    )
    assert config_changes(old, load(tmp_path, MINIMAL)) == []
    columns = "dataset.reference_columns={answer: answer, tests: cases}"
    config = load(tmp_path, MINIMAL, columns, "rollout.group_size=4")
    assert config_changes(old, config) == [
        'dataset.reference_columns: {"answer": "answer"} -> {"answer": "answer", "tests": "cases"}',
        "rollout.group_size: 8 -> 4",
    ]


@pytest.mark.parametrize(
    ("text", "overrides", "message"),
    [
        (MINIMAL + "loss: {epsilon: 0.2}\n", (), "loss.epsilon: no such setting in loss"),
        ("model: {path: m}\n", (), "dataset: is required"),
        (MINIMAL, ("rollout.group_size=1",), r"rollout.group_size: .*equal to 2 \(found 1\)"),
        (MINIMAL, ("preset=gpro",), "preset: .*'deepseek_math'.*found 'gpro'"),
        (MINIMAL, ("loss.clip_low",), "not of the form section.key=value"),
        (
            MINIMAL,
            ("model.lora={rank: 8",),
            r"override 'model\.lora=\{rank: 8': the value is not valid YAML",
        ),
        (
            MINIMAL,
            ("reward.url=localhost:80",),
            "reward.url: expected an address with its scheme, such as http:",
        ),
        (
            MINIMAL,
            ("reward.url=http://localhost:80/v1/score",),
            "reward.url: .*the service's address alone, http://localhost:80",
        ),
        ("- 1\n", (), "must hold sections"),
        ("a: [", (), "not valid YAML"),
        (
            MINIMAL + "reward: {verifiers: [{type: format}, {type: format}]}\n",
            (),
            "two sources have the same name",
        ),
        (
            MINIMAL + "reward: {verifiers: [{type: format, weight: 0}]}\n",
            (),
            "nothing could be learnt",
        ),
        (
            MINIMAL + "evaluation: {dataset: {path: e}, num_samples: 4, k: [8]}\n",
            (),
            "pass@8 needs num_samples >= 8",
        ),
        (
            MINIMAL + "evaluation: {dataset: {path: e}, verifier: code}\n",
            (),
            "evaluation.verifier is 'code'",
        ),
        (
            MINIMAL + "reward: {verifiers: [{type: acuracy}]}\nevaluation: {dataset: {path: e}}\n",
            (),
            "not set, so completions pass by 'accuracy', but the verifiers are only .'acuracy'.*"
            "If 'acuracy' in reward.verifiers is a typing error, did you mean 'accuracy'?",
        ),
        (
            MINIMAL + "evaluation: {dataset: {path: e}, verifiers: [{type: format}]}\n",
            (),
            "only .'format'.. Set evaluation.verifier to one of them, or add 'accuracy' to eval",
        ),
    ],
)
def test_a_mistake_is_named(
    tmp_path: Path, text: str, overrides: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, text, *overrides)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*none\.yaml: No such file"):
        load_config(tmp_path / "none.yaml")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_valid_configuration_with_sources(name: str) -> None:
    config = make_config(
        {"preset": name, "output_dir": "r", "model": {"path": "m"}, "dataset": {"path": "d"}}
    )
    for key, (value, source) in PRESETS[name].values.items():
        section, field = key.split(".")
        actual = getattr(getattr(config, section), field)
        if key != "reward.verifiers":
            assert actual == value
        assert source


# Every value that moves the mathematics or the size of a step is set, none left to our defaults.
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize(
    "key",
    [
        "rollout.group_size",
        "rollout.prompts_per_step",
        "rollout.temperature",
        "rollout.top_p",
        "rollout.max_completion_tokens",
        "advantage.scale",
        "advantage.std",
        "advantage.epsilon",
        "loss.type",
        "loss.kl_coefficient",
        "optimizer.learning_rate",
        "optimizer.max_grad_norm",
        "optimizer.schedule",
        "optimizer.warmup_steps",
        "train.epochs_per_rollout",
    ],
)
def test_a_preset_sets_every_value_of_the_recipe(name: str, key: str) -> None:
    assert key in PRESETS[name].values


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("open_r1", "loss.kl_estimator"),
        ("verifiable", "loss.kl_estimator"),
        ("verifiable", "loss.type"),
        ("unclipped", "loss.kl_estimator"),
        ("unclipped", "loss.type"),
    ],
)
def test_what_a_guide_does_not_state_is_named_as_ours(name: str, key: str) -> None:
    assert "this project's choice" in PRESETS[name].values[key][1]


def test_the_presets_of_guides_do_not_pass_for_the_recipes_they_teach() -> None:
    assert "guides" in PRESETS["open_r1"].values["loss.kl_coefficient"][1]
    assert "open-r1's own demonstration" in PRESETS["open_r1"].departures[0]


def test_the_presets_are_those_of_the_design() -> None:
    values = {name: preset.nested for name, preset in PRESETS.items()}
    assert values["deepseek_math"]["advantage"]["epsilon"] == 1e-8
    assert values["deepseek_math_paper"]["loss"]["kl_coefficient"] == 0.04
    assert values["open_r1"]["advantage"]["scale"] == "none"
    assert values["verifiable"]["loss"]["clip_high"] == 10.0
    assert values["trl"]["advantage"] == {"scale": "group_std", "std": "bessel", "epsilon": 1e-4}
    assert values["unclipped"]["loss"]["type"] == "unclipped"
    assert values["dapo"]["loss"]["clip_high"] == 0.28
    assert values["dr_grpo"]["loss"]["type"] == "dr_grpo"
    assert values["code"]["optimizer"]["max_grad_norm"] == 0.2


def test_a_run_with_the_preset_of_programs_is_judged_by_their_tests(tmp_path: Path) -> None:
    config = load(tmp_path, MINIMAL + "preset: code\n")
    assert [source.key for source in config.sources] == ["code", "code_format"]
    assert config.main.key == "code"
    assert config.loss.truncated == "mask"


def settings(section: type[BaseModel], prefix: str = "") -> set[str]:
    """The dotted names of all settings."""
    names = set()
    for name, field in section.model_fields.items():
        names.add(prefix + name)
        for part in [field.annotation, *typing.get_args(field.annotation)]:
            for kind in [part, *typing.get_args(part)]:
                if isinstance(kind, type) and issubclass(kind, BaseModel):
                    names |= settings(kind, f"{prefix}{name}.")
    return names


@pytest.mark.parametrize("key", EQUIVALENTS)
def test_a_key_of_another_project_gets_an_error_that_names_ours(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError, match="no such setting in the top level; here it is") as error:
        load(tmp_path, MINIMAL + f"{key}: 1\n")
    assert EQUIVALENTS[key] in str(error.value)


@pytest.mark.parametrize("key", NOT_AVAILABLE)
def test_a_key_that_nothing_here_takes_the_place_of_is_said_to_be_missing(
    tmp_path: Path, key: str
) -> None:
    with pytest.raises(ConfigError, match=f"{key}: no such setting in .* it is not available"):
        load(tmp_path, MINIMAL + f"{key}: 1\n")


@pytest.mark.parametrize(
    ("key", "places"),
    [
        ("gradient_checkpointing", "train.gradient_checkpointing"),
        ("split", "dataset.split or evaluation.dataset.split"),
        ("packing", "train.packing"),
    ],
)
def test_a_key_of_a_section_is_found_from_the_top_level(
    tmp_path: Path, key: str, places: str
) -> None:
    with pytest.raises(ConfigError, match=f"top level; here it is {re.escape(places)}$"):
        load(tmp_path, MINIMAL + f"{key}: 1\n")


def test_no_key_is_listed_as_missing_that_is_a_setting_or_has_a_place_here() -> None:
    ours = {path.rpartition(".")[2] for path in setting_names(Config)}
    assert not NOT_AVAILABLE.keys() & (ours | EQUIVALENTS.keys())


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("reward.api_key=x", "reward.api_key: no such setting in reward; here it is the variable "),
        ("preset=verifable", "; did you mean 'verifiable'?"),
        ("loss.type=gsop", "; did you mean 'gspo'?"),
        ("reward.ulr=x", "reward.ulr: no such setting in reward; did you mean reward.url?"),
        ("rewards.url=x", "rewards: no such setting in the top level; did you mean reward?"),
        ("model.lora={rnk: 3}", "model.lora.rnk: no such setting in model.lora; did you mean "),
        ("evaluation={dataset: {paht: x}}", "; did you mean evaluation.0.dataset.path?"),
        ("rollout.n=8", "rollout.n: no such setting in rollout; here it is rollout.group_size"),
        ("actor_rollout_ref={}", "here it is model, rollout, loss and optimizer"),
        ("dataset.answer_column=x", "here it is dataset.reference_columns {answer: COLUMN}"),
        ("rollout.environment={path: pythontool}", "; did you mean 'python_tool'? (found 'python"),
        ("rollout.environment={path: mine}", "functions, verifier_feedback, openenv, verifiers (f"),
        ("sft.zzz=3", "sft.zzz: no such setting in sft; there are completion_column, correct_"),
    ],
)
def test_a_key_that_does_not_exist_gets_a_near_name_or_those_that_there_are(
    tmp_path: Path, override: str, message: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, MINIMAL, override)
    assert message in str(raised.value)


def test_mixed_precision_of_trl_is_autocast_and_never_the_type_of_the_weights(
    tmp_path: Path,
) -> None:
    """`bf16: true` there keeps float32 weights; in bfloat16 most updates would be lost."""
    with pytest.raises(ConfigError, match=r"here it is model\.autocast bfloat16"):
        load(tmp_path, MINIMAL + "bf16: true\n")


ANSWERS = EQUIVALENTS | NOT_AVAILABLE


@pytest.mark.parametrize("key", ANSWERS)
def test_what_the_table_of_other_projects_keys_names_exists(key: str) -> None:
    sections = "model|dataset|rollout|reward|advantage|loss|optimizer|train|evaluation"
    named = re.findall(rf"\b(?:{sections})\.[a-z_.]*[a-z_]", ANSWERS[key])
    assert set(named) <= settings(Config)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"loss": {"type": "cispo"}}, "cispo needs loss.ratio_cap"),
        ({"loss": {"type": "cispo", "ratio_cap": 0.9}}, "ratio_cap: .*greater than or equal to 1"),
        ({"loss": {"reference_sync_steps": 5}}, "needs a kl_coefficient other than 0"),
        ({"rollout": {"max_refills": 1}}, "max_refills needs advantage.zero_variance drop"),
        (
            {
                "advantage": {"zero_variance": "drop"},
                "loss": {"importance": {"mode": "token_mask"}},
                "reward": {"functions": [{"path": "rewards.py:judge"}]},
                "rollout": {"engine": "vllm_server", "max_refills": 1},
                "train": {"max_staleness_steps": 1},
            },
            "max_staleness_steps 1 with rollout.max_refills takes no reward.functions and no",
        ),
        ({"optimizer": {"betas": [0.9, 1.5]}}, "optimizer.betas.1: .*less than 1"),
        ({"optimizer": {"learning_rate": float("inf")}}, "learning_rate: .*finite number"),
        ({"optimizer": {"learning_rate": float("nan")}}, "learning_rate: .*finite number"),
        ({"train": {"seed": 10**20}}, "train.seed: .*less than 2147483648"),
        (
            {"loss": {"importance": {"mode": "token_mask", "low": 4, "high": 3}}},
            "importance.low 4 is above importance.high 3",
        ),
        (
            {"loss": {"covariance": {"mode": "clip", "low": 5, "high": 5}}},
            "covariance.low 5 is not below high 5",
        ),
        ({"train": {"minibatches": 9}}, "minibatches 9 is more than rollout.prompts_per_step 8"),
        (
            {
                "model": {"path": "m", "lora": {}},
                "loss": {"kl_coefficient": 0.1, "reference_sync_steps": 5},
            },
            "under model.lora it is the base model",
        ),
        (
            {
                "model": {"path": "m", "lora": {}, "quantization": "4bit"},
                "rollout": {"engine": "vllm_server"},
            },
            "quantization 4bit needs rollout.engine transformers, found vllm_server",
        ),
        ({"dataset": {"path": "d", "solve_rate_range": [0.1, 0.9]}}, "needs solve_rates"),
        (
            {"evaluation": [{"dataset": {"path": "e"}}, {"dataset": {"path": "f"}}]},
            "several evaluations need different names",
        ),
        (
            {"evaluation": {"dataset": {"path": "e"}, "verifiers": []}},
            "evaluation.0: verifiers is empty; null uses those of the section reward",
        ),
        (
            {"evaluation": {"dataset": {"path": "e"}, "profile": "math", "verifiers": []}},
            "a profile or verifiers, not both",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_named(values: dict[str, Any], message: str) -> None:
    minimal = {"output_dir": "r", "model": {"path": "m"}, "dataset": {"path": "d"}}
    with pytest.raises(ConfigError, match=message):
        make_config({**minimal, **values})


def test_held_out_rows_are_read_and_prompted_as_those_of_training(tmp_path: Path) -> None:
    data = "dataset: {path: d.jsonl, problem_column: q, reference_columns: {answer: a}, %s}\n"
    text = "output_dir: run\nmodel: {path: m}\n" + data % "system_prompt: null"
    config = load(tmp_path, text + "evaluation: {dataset: {path: h.jsonl}, k: [1]}\n")
    (held_out,) = (one.dataset for one in config.evaluation)
    assert (held_out.problem_column, held_out.reference_columns) == ("q", {"answer": "a"})
    assert held_out.system_prompt is None
    assert load(tmp_path, dump_config(config)) == config


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("problem_column: problem", ("problem", {"answer": "a"}, None)),
        ("reference_format: auto", ("q", {"answer": "answer"}, "auto")),
        ("reference_columns: {tests: t}", ("q", {"tests": "t"}, None)),
    ],
)
def test_settings_of_held_out_rows_win(tmp_path: Path, own: str, expected: object) -> None:
    data = "dataset: {path: d.jsonl, problem_column: q, reference_columns: {answer: a}}\n"
    text = "output_dir: run\nmodel: {path: m}\n" + data
    config = load(tmp_path, text + f"evaluation: {{dataset: {{path: h, {own}}}, k: [1]}}\n")
    (held_out,) = (one.dataset for one in config.evaluation)
    found = (held_out.problem_column, held_out.reference_columns, held_out.reference_format)
    assert found == expected


def test_several_data_sets_give_held_out_rows_nothing(tmp_path: Path) -> None:
    data = "dataset: [{path: d, problem_column: q}, {path: e, problem_column: q}]\n"
    text = "output_dir: run\nmodel: {path: m}\n" + data
    config = load(tmp_path, text + "evaluation: {dataset: {path: h}, k: [1]}\n")
    assert config.evaluation[0].dataset.problem_column == "problem"


@pytest.mark.parametrize(("before", "now"), [("true", 1), ("false", 0)])
def test_runs_of_0_2_can_be_read(tmp_path: Path, before: str, now: int) -> None:
    config = load(tmp_path, MINIMAL_SERVED + f"train: {{one_step_off: {before}}}\n")
    assert config.train.max_staleness_steps == now
