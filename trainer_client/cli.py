"""The command line of the trainer.

Each command imports what it runs: torch and its kin take seconds, which nobody should wait for to
read that a file is missing.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from reward_verifier.errors import VerifierError
from trainer_client.config.presets import PRESETS
from trainer_client.config.reward_sections import EvaluationConfig
from trainer_client.config.run_config import Config, ConfigError, load_config, load_run
from trainer_client.demo.folder import DEFAULTS as DEMO_FOLDERS
from trainer_client.demo.folder import clear_folder
from trainer_client.errors import TrainerError, did_you_mean, writing
from trainer_client.run.console import CONSOLE, say

if TYPE_CHECKING:
    from trainer_client.evaluate import EvaluationResult


def _example(command: str) -> str:
    """The last lines of a help text; without the mark they are wrapped, and cannot be copied."""
    return f"\b\nExample:\n  {command}"


app = typer.Typer(
    help="A light GRPO trainer whose rewards come from a verifier service.",
    rich_markup_mode=None,  # plain text, in which commands can be copied from lines
    pretty_exceptions_enable=False,
    epilog=_example("trainer-client train examples/gsm8k.yaml train.steps=10"),
)

INTERACTIVE_ATTEMPTS = 2
"""Most requests of a command that somebody waits for."""
ConfigArgument = Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="the run's settings")]
OverridesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="SECTION.KEY=VALUE", help="settings that win over the file's"),
]


def run(arguments: list[str] | None = None) -> None:
    """Run the command line; without arguments the help is shown.

    An error that the user can mend ends the process with its message alone.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        app(args=arguments or ["--help"], prog_name="trainer-client")
    except (TrainerError, VerifierError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(getattr(error, "exit_status", 1))


def _show_version(asked: bool) -> None:
    if asked:
        CONSOLE.print(f"trainer-client {version_of('reward-verifier')}", highlight=False)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="show the version"),
    ] = False,
) -> None:
    pass


@app.command(epilog=_example("trainer-client train run.yaml optimizer.learning_rate=2e-6"))
def train(
    config: ConfigArgument,
    overrides: OverridesArgument = None,
    resume: Annotated[bool, typer.Option(help="go on from the newest checkpoint")] = False,
    resume_from: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="CHECKPOINT",
            help="with --resume: go back to best, last_good or the number of a step",
        ),
    ] = None,
) -> None:
    """Train a policy with GRPO against a verifier service.

    Begins with the checks of `trainer-client check`.
    """
    from trainer_client.check.check_run import check_before_training

    if resume_from is not None and not resume:
        raise ConfigError("--from needs --resume")
    settings = check_before_training(config, overrides, resume=resume)
    from trainer_client.train import train as run_training

    result = run_training(settings, resume=resume, resume_from=resume_from or "last")
    run_dir = settings.output_dir
    say(f"trained model: {result.model_dir}")
    say(f"curves and completions: trainer-client report {run_dir}")
    say(f'try it: trainer-client generate {run_dir} "PROBLEM"')


@app.command(epilog=_example("trainer-client check examples/gsm8k.yaml train.steps=10"))
def check(
    config: ConfigArgument,
    overrides: OverridesArgument = None,
    resume: Annotated[bool, typer.Option("--resume", help="check for `train --resume`")] = False,
) -> None:
    """Find mistakes in a configuration before a run.

    Looks at settings, data, model, memory and the service, in seconds and without torch. Lists all
    that is wrong; the status is 1 if the run could not start.
    """
    from trainer_client.check.check_run import check_run, problem_list

    findings = check_run(config, overrides, resume=resume)
    for line in [*findings.facts, *(f"warning: {one}" for one in findings.warnings)]:
        say(line)
    if findings.problems:
        raise ConfigError(problem_list(config, findings))
    but = ", with the warnings above" if findings.warnings else ""
    with_resume = " --resume" if resume else ""
    asked = shlex.join(["trainer-client", "train", str(config), *(overrides or [])])
    say(f"ok: `{asked}{with_resume}` can start{but}")


@app.command(epilog=_example("trainer-client sft sft.yaml"))
def sft(config: ConfigArgument, overrides: OverridesArgument = None) -> None:
    """Fine-tune on given completions.

    The policy then knows the format before GRPO.
    """
    settings = load_config(config, overrides)
    from trainer_client.sft import fine_tune

    say(f"model: {fine_tune(settings)}")


@app.command(
    name="evaluate",
    epilog=_example("trainer-client evaluate runs/demo/grpo --k 1 --k 8"),
)
def evaluate_command(
    source: Annotated[
        Path, typer.Argument(metavar="RUN_DIR|CONFIG.yaml", help="a finished run, or a config")
    ],
    overrides: OverridesArgument = None,
    k: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            metavar="N",
            help="measure pass@N instead of evaluation.k, with N completions of each problem at "
            "least; may be repeated",
        ),
    ] = None,
    solve_rates: Annotated[
        Path | None,
        typer.Option(help="append a line per problem, for dataset.solve_rates", metavar="FILE"),
    ] = None,
) -> None:
    """Measure pass@k on held-out problems, without bias.

    The model is that of a finished run, or the start model of a configuration. It samples with
    train.seed: the same command gives the same figures on the same machine.
    """
    config = _with_evaluation(source, overrides, k)
    if solve_rates is not None:
        with writing(solve_rates), solve_rates.open("a"):
            pass  # sampling takes minutes, and must not be lost
    import torch

    from trainer_client.data_sets import load_held_out, questions_of
    from trainer_client.episodes.episode_engine import in_environment
    from trainer_client.evaluate import evaluate
    from trainer_client.policy.policy import load_policy
    from trainer_client.prompts import PromptReader
    from trainer_client.reward.group_scoring import open_scorer
    from trainer_client.rollout.engines import transformers_engine

    torch.manual_seed(config.train.seed)
    reader = PromptReader.of(config.model)
    policy = load_policy(config.model)
    engine = transformers_engine(policy, config.rollout)
    sampler = in_environment(engine, policy, config)
    held_out = [
        reader.fitting(load_held_out(one, config.reward), one.dataset) for one in config.evaluation
    ]
    with open_scorer(config.reward, questions_of(config, [], held_out)) as scorer:
        for evaluation, problems in zip(config.evaluation, held_out, strict=True):
            result = evaluate(sampler, scorer, problems, config.rollout, evaluation)
            _print_result(result, evaluation, config.model.path)
            if solve_rates is not None:
                name = evaluation.dataset.name_in_metrics
                label = {"dataset": name} if len(held_out) > 1 else {}
                with solve_rates.open("a") as file:
                    file.writelines(
                        json.dumps({**label, **rate.row}) + "\n" for rate in result.solve_rates
                    )


def _print_result(result: EvaluationResult, evaluation: EvaluationConfig, model: str) -> None:
    for k, value in result.pass_at_k.items():
        say(f"{evaluation.prefix}/pass@{k} {value:.4f}")
    say(
        f"{result.num_problems} problems, {evaluation.num_samples} completions each, "
        f"{result.unjudged_fraction:.2%} of them not judged; model {model}"
    )


def _with_evaluation(source: Path, overrides: list[str] | None, k: list[int] | None) -> Config:
    """The configuration of a run or a file, measuring k if given.

    Raises:
        ConfigError: there is no such configuration, or it has no evaluation.
    """
    if not source.exists():
        raise ConfigError(
            f"there is no folder of a run and no configuration {source} (relative paths start at "
            f"{Path.cwd()})"
        )
    config = load_run(source, overrides) if source.is_dir() else load_config(source, overrides)
    if not config.evaluation:
        raise ConfigError(
            f"{source} has no section `evaluation`; name the held-out problems, here or in it: "
            "'evaluation={dataset: {path: held_out.jsonl}, num_samples: 4, k: [1]}'"
        )
    if not k:
        return config
    try:
        measured = tuple(one.with_k(k) for one in config.evaluation)
    except ValueError as error:
        raise ConfigError(f"--k: {error}") from error
    return config.model_copy(update={"evaluation": measured})


LabelOption = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL",
        help="of several data sets the one whose system prompt and verifiers are used; "
        "default: the first",
    ),
]


@app.command(epilog=_example("trainer-client generate runs/demo/grpo '7+8+9=?' --answer 24"))
def generate(
    run_dir: Annotated[Path, typer.Argument(help="a finished run")],
    prompt: Annotated[str, typer.Argument(help='such as "Solve: 3x - 5 = 10"')],
    overrides: OverridesArgument = None,
    answer: Annotated[
        str | None, typer.Option(help="the right answer: have the completions scored")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=JSON",
            help="what the verifiers judge by, where it is no answer: tests='[...]'",
        ),
    ] = None,
    num: Annotated[int, typer.Option(min=1, help="number of completions")] = 1,
    temperature: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="0: the likeliest tokens; default: 0, and with --num above 1 the run's "
            "rollout.temperature",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="of the sampling")] = 0,
    dataset: LabelOption = None,
) -> None:
    """Complete a prompt with a trained model, and score it if wanted.

    One completion is greedy: the likeliest token at each place. Several are sampled.
    """
    config = _with_few_attempts(load_run(run_dir, overrides))
    from trainer_client.generate import data_set_named, parse_reference, reward_line
    from trainer_client.generate import generate as generate_completions
    from trainer_client.generate import score as score_completions

    judged_by = parse_reference(reference or [], answer)
    posed_as = data_set_named(config, dataset)
    asked = {entry.partition("=")[0].strip() for entry in overrides or []}
    if temperature is None and num == 1 and "rollout.temperature" not in asked:
        temperature = 0.0
    group = generate_completions(
        config,
        prompt,
        posed_as,
        num_completions=num,
        seed=seed,
        temperature=temperature,
        reference=judged_by,
    )
    for number, rollout in enumerate(group.rollouts, 1):
        heading = f"completion {number}: " if num > 1 else ""
        say(f"{heading}{rollout.text}")
    if not judged_by:
        return
    scored = score_completions(config, group, judged_by, posed_as)
    for number, verdicts in enumerate(scored.verdicts, 1):
        which = f" of completion {number}:" if num > 1 else ""
        line = f"-> reward{which} {reward_line(verdicts, posed_as.sources(config.reward))}"
        say(line)


def _with_few_attempts(config: Config) -> Config:
    """The configuration for a command that does not wait for a service as a run does."""
    attempts = min(INTERACTIVE_ATTEMPTS, config.reward.max_attempts)
    reward = config.reward.model_copy(update={"max_attempts": attempts})
    return config.model_copy(update={"reward": reward})


@app.command(epilog=_example("trainer-client report runs/demo/grpo --serve"))
def report(
    run_dir: Annotated[Path, typer.Argument(help="a run, finished or not")],
    output: Annotated[
        Path | None, typer.Option(help="the page; default: RUN_DIR/report.html")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="show it in a browser, live while the run trains")
    ] = False,
    host: Annotated[str, typer.Option(help="with --serve: address to listen at")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="with --serve: 0 is any free one")
    ] = 8081,
) -> None:
    """Write a page about a run: curves, reasons, rollouts, warnings.

    The page is one self-contained HTML file. With --serve nothing is written: the page follows the
    run until Ctrl+C.
    """
    if serve:
        if output is not None:
            raise ConfigError("--output and --serve exclude each other: what is served is not kept")
        from trainer_client.run.report_server import serve_report

        serve_report(run_dir, host, port)
        return
    from trainer_client.run.report import write_report

    path = output or run_dir / "report.html"
    summary = write_report(run_dir, path)
    for line in summary:
        say(line)
    say(f"report: {path}")


@app.command(epilog=_example("trainer-client export runs/demo/grpo exported --checkpoint best"))
def export(
    run_dir: Annotated[Path, typer.Argument(help="a run with a checkpoint")],
    output: Annotated[Path, typer.Argument(help="a folder that does not exist")],
    checkpoint: Annotated[
        str, typer.Option(help="last, best, last_good or the number of a step")
    ] = "last",
    dtype: Annotated[
        Literal["float32", "bfloat16"] | None,
        typer.Option(help="of the weights; default: as trained"),
    ] = None,
    push_to_hub: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/NAME",
            help="upload the folder with a model card to a private repository of the Hugging Face "
            "hub; log in with `hf auth login` or HF_TOKEN",
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="with --push-to-hub: a repository that all can see")
    ] = False,
) -> None:
    """Write a checkpoint as a model folder.

    An adapter is merged into its base model.
    """
    if public and push_to_hub is None:
        raise ConfigError("--public needs --push-to-hub OWNER/NAME")
    from trainer_client.export import export as export_checkpoint

    chosen = export_checkpoint(run_dir, output, checkpoint=checkpoint, dtype=dtype)
    say(f"step {chosen.step}: {output}")
    if push_to_hub is not None:
        from trainer_client.hub import push_model

        address = push_model(output, push_to_hub, run_dir, chosen.step, public=public)
        say(f"uploaded: {address}")


@app.command(epilog=_example("trainer-client memory examples/gsm8k.yaml --gpu 24GiB"))
def memory(
    config: ConfigArgument,
    overrides: OverridesArgument = None,
    prompt_tokens: Annotated[
        int, typer.Option(min=1, help="assumed length of a prompt", metavar="N")
    ] = 256,
    gpu: Annotated[
        str | None,
        typer.Option(help="size of a GPU: which settings make the run fit", metavar="24GiB"),
    ] = None,
) -> None:
    """Estimate the memory that a run takes.

    The model is not loaded.
    """
    settings = load_config(config, overrides)
    from trainer_client.memory_estimate import estimate_memory
    from trainer_client.memory_fit import fit_lines, fits_of, gpu_bytes

    if gpu is not None:
        found = fits_of(config, overrides or [], gpu_bytes(gpu), prompt_tokens=prompt_tokens)
        for line in fit_lines(found):
            say(line)
        raise typer.Exit(not found[-1].fits)

    estimate = estimate_memory(settings, prompt_tokens=prompt_tokens)
    table = Table("part", "GiB")
    for name, size in estimate.parts.items():
        table.add_row(name, f"{size / 2**30:.3f}")
    table.add_section()
    table.add_row("generating", f"{estimate.generating / 2**30:.3f}")
    table.add_row("updating", f"{estimate.updating / 2**30:.3f}")
    CONSOLE.print(table)
    if settings.rollout.engine == "vllm":
        share = settings.rollout.vllm.gpu_memory_utilization
        say(f"vLLM takes {share:.0%} of the GPU beside this while it samples; --gpu counts it")
    say(
        f"for prompts of {prompt_tokens} tokens (--prompt-tokens); `trainer-client check` counts "
        "those of the data"
    )


@app.command(epilog=_example("trainer-client presets dapo"))
def presets(
    name: Annotated[str | None, typer.Argument(help="show this recipe alone")] = None,
) -> None:
    """List the recipes that `preset:` names, or one of them.

    Each value has its source; departures from the published recipe are named.
    """
    if name is not None and name not in PRESETS:
        asked = did_you_mean(name.lower(), PRESETS)
        raise ConfigError(f"no preset {name!r}; there are {', '.join(PRESETS)}{asked}")
    for one, preset in PRESETS.items():
        if name not in (None, one):
            continue
        table = Table("setting", "value", "source", title=f"{one}: {preset.summary}")
        for key, (value, source) in preset.values.items():
            shown = (
                ", ".join(f"{item['type']} {item['weight']}" for item in value)
                if isinstance(value, list)
                else str(value)
            )
            table.add_row(key, shown, source)
        CONSOLE.print(table)
        for departure in preset.departures:
            CONSOLE.print(f"  departs: {departure}")
        CONSOLE.print()


@app.command(epilog=_example("trainer-client demo tools --seed 7 --output runs/seed7"))
def demo(
    task: Annotated[
        Literal["sums", "tools"],
        typer.Argument(help="sums: the model learns to add; tools: to call Python"),
    ] = "sums",
    output: Annotated[
        Path | None,
        typer.Option(help="folder of the run; default: runs/demo, or runs/demo_tools"),
    ] = None,
    seed: Annotated[int, typer.Option(help="of data, model and sampling")] = 0,
    url: Annotated[
        str | None, typer.Option(help="a service that runs already; otherwise one is started")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="remove an earlier demonstration in the folder")
    ] = False,
    lying_tool: Annotated[
        bool,
        typer.Option(
            "--lying-tool", help="of tools: each result is wrong, and calls are unlearned"
        ),
    ] = False,
) -> None:
    """Train a tiny model against the real service.

    Makes the model and a task, starts the service, and shows the reward rising.
    """
    if lying_tool and task != "tools":
        raise ConfigError("--lying-tool is of the demonstration tools: trainer-client demo tools")
    folder = DEMO_FOLDERS[task] if output is None else output
    clear_folder(folder, replace=replace)
    from trainer_client.demo.demo_task import LYING_TOOLS, SUMS, TOOLS
    from trainer_client.demo.run_demo import run_demo

    chosen = {"sums": SUMS, "tools": LYING_TOOLS if lying_tool else TOOLS}[task]
    run_demo(folder, seed=seed, url=url, task=chosen)
