"""The head of a report: the one number, the facts of the run, and sentences on how it went.

Everything is compared between the first evaluation and the last. Metrics of training are noisy, so
theirs are means over the first and the last steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from trainer_client.config.run_config import Config
from trainer_client.run.logged_run import LoggedRun

WINDOW = 5
"""Steps at the beginning, and at the end, over which metrics of training are averaged."""


def headline(run: LoggedRun) -> dict[str, Any]:
    """The one number: its `name`, `before`, `after` (None: not yet) and a `note` on both.

    It is the first pass@k of the first evaluation; without one, the mean score of the main source.
    """
    if run.config.evaluation:
        evaluation = run.config.evaluation[0]
        name = f"{evaluation.prefix}/pass@{evaluation.k[0]}"
        values = run.values(name)
        shown = f"held-out {name.removeprefix('evaluation/')}"
        if not values:
            return {"name": shown, "before": None, "after": None, "note": "not measured yet"}
        first, last = min(values), max(values)
        problems = run.values(f"{evaluation.prefix}/problems").get(last)
        counted = f"{problems:,.0f} problems, " if problems else ""
        samples = f"{counted}{_count(evaluation.num_samples, 'completion')} each"
        if first == last:
            again = "not again yet" if run.stop is None else "not again"
            note = f"{samples}; evaluated at step {first}, {again}"
            return {"name": shown, "before": values[first], "after": None, "note": note}
        note = f"{samples}; at step {first} and at step {last}{_best(values)}"
        return {"name": shown, "before": values[first], "after": values[last], "note": note}
    before, after, window = ends(list(run.values(f"reward/{run.config.main.key}").values()))
    note = f"mean of the first {_count(window, 'step')} and of the last; nothing was held out"
    name = f"{run.config.main.key} in training"
    return {"name": name, "before": before, "after": after, "note": note}


def _best(values: Mapping[int, float]) -> str:
    best = max(values, key=lambda step: values[step])
    return (
        "" if values[best] <= values[max(values)] else f"; best at step {best}: {values[best]:.3f}"
    )


def ends(values: Sequence[float]) -> tuple[float | None, float | None, int]:
    """The means of the first and of the last values, and of how many; None where there are too few.

    >>> ends([1.0, 2.0, 3.0, 4.0])
    (1.5, 3.5, 2)
    >>> ends([1.0])
    (1.0, None, 1)
    """
    if not values:
        return None, None, 0
    window = max(1, min(WINDOW, len(values) // 2))
    first, last = values[:window], values[-window:]
    return sum(first) / window, None if len(values) == 1 else sum(last) / window, window


def facts(run: LoggedRun) -> list[tuple[str, str]]:
    """Name and value of each fact about the run; the latest start tells machine and version."""
    config = run.config
    rollout = config.rollout
    per_step = f"{_count(rollout.prompts_per_step, 'problem')} of {rollout.group_size} completions"
    found = [
        ("Model", _model(run)),
        ("Data", _data(config)),
        ("Reward", " + ".join(_weighted(one.key, one.weight) for one in config.sources)),
        ("Recipe", _recipe(config)),
        ("Steps", f"{run.last_step:,} of {config.train.steps:,}, each {per_step}"),
        ("Duration", _duration(run)),
    ]
    return [*found, *_machine_facts(run.starts), ("Seed", str(config.train.seed))]


def _model(run: LoggedRun) -> str:
    model = run.config.model
    parts = [model.path]
    if model.lora is not None:
        parts.append(f"LoRA of rank {model.lora.rank}")
    if run.starts:
        parts.append(f"{_large(run.starts[-1]['trained_weights'])} weights trained")
    return ", ".join([*parts, model.dtype])


def _data(config: Config) -> str:
    held_out = [one.dataset for one in config.evaluation]
    trained, kept = (", ".join(one.place for one in group) for group in (config.dataset, held_out))
    return trained + (f"; held out: {kept}" if held_out else "")


def _weighted(key: str, weight: float) -> str:
    return f"{weight:g} {key}"


def _recipe(config: Config) -> str:
    loss = config.loss
    kl = f"KL coefficient {loss.kl_coefficient:g}" if loss.kl_coefficient else "no KL in the loss"
    preset = f"preset {config.preset}" if config.preset else "no preset"
    return f"{preset}; {loss.type}, {kl}, learning rate {config.optimizer.learning_rate:g}"


def _duration(run: LoggedRun) -> str:
    seconds = sum(row.get("time/step", 0) + row.get("time/evaluation", 0) for row in run.history)
    return f"{duration(seconds)} in steps and evaluations"


def duration(seconds: float) -> str:
    """A length of time in its two largest units.

    >>> duration(71.4), duration(7300), duration(3.2)
    ('1 min 11 s', '2 h 1 min', '3.2 s')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours:,} h {minutes_left} min" if hours else f"{minutes} min {rest} s"


def _machine_facts(starts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    if not starts:
        return [("Machine", "not recorded: an older version wrote this run")]
    first, last = starts[0], starts[-1]
    gpus = last["gpus"]
    counted = [_times(gpus.count(name), name) for name in dict.fromkeys(gpus)]
    memory = f"{last['memory_bytes'] / 2**30:.3g} GiB"
    parts = [last["processor"], _count(last["cores"], "core"), memory, *(counted or ["no GPU"])]
    if last["processes"] > 1:
        parts.append(f"{last['processes']} processes")
    version = f"{last['version']}; Python {last['python']}, torch {last['torch']}"
    begun = f"{datetime.fromisoformat(first['time']):%Y-%m-%d %H:%M} UTC"
    resumed = f", resumed {_count(len(starts) - 1, 'time')}" if len(starts) > 1 else ""
    return [("Machine", ", ".join(parts)), ("Version", version), ("Begun", begun + resumed)]


def summarise_run(run: LoggedRun) -> list[str]:
    """Sentences on steps, evaluations, scores, advantage std, and KL."""
    config = run.config
    sentences = [f"{run.last_step} of {config.train.steps} steps."]
    if run.stop is not None:
        sentences.append(f"{run.stop[0].upper()}{run.stop[1:]}.")
    for evaluation in config.evaluation:
        for k in evaluation.k:
            name = f"{evaluation.prefix}/pass@{k}"
            sentences += _evaluation_sentences(name, run.values(name), is_over=run.stop is not None)
    if not run.steps:
        return sentences
    main = f"reward/{config.main.key}"
    sentences += _training_sentences(main, list(run.values(main).values()))
    stds = list(run.values("advantage/std").values())
    if stds:
        sentences.append(f"Mean std of a step's advantages: {sum(stds) / len(stds):.3f}.")
    kls = list(run.values("policy/kl_divergence").values())
    return [*sentences, _kl_sentence(kls, config.guards.warn_if_kl_above)]


def _evaluation_sentences(
    name: str, values: Mapping[int, float], *, is_over: bool
) -> Iterable[str]:
    if not values:
        return
    shown = f"Held-out {name.removeprefix('evaluation/')}"
    first, last = min(values), max(values)
    if first == last:
        again = "not evaluated again" if is_over else "not evaluated again yet"
        yield f"{shown}: {values[first]:.3f} at step {first}, {again}."
        return
    change = values[last] - values[first]
    yield (
        f"{shown}: {values[first]:.3f} at step {first}, {values[last]:.3f} at step {last} "
        f"({change:+.3f})."
    )


def _training_sentences(name: str, values: Sequence[float]) -> Iterable[str]:
    before, after, window = ends(values)
    if before is None:
        return
    if after is None:
        yield f"{name}: {before:.3f} in the only step."
        return
    steps = "step" if window == 1 else f"{window} steps"
    yield (
        f"{name}: {before:.3f} in the first {steps}, {after:.3f} in the last "
        f"({after - before:+.3f})."
    )


def _kl_sentence(kls: Sequence[float], limit: float | None) -> str:
    if not kls:
        return "KL was not measured: loss.kl_coefficient and guards.measure_kl_every_steps are 0."
    most = f"at most {max(kls):.4f} nats per token."
    if limit is None:
        return f"KL was {most}"
    return f"KL {'stayed' if max(kls) < limit else 'did not stay'} below {limit:g}: {most}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _times(number: int, name: str) -> str:
    return name if number == 1 else f"{number} x {name}"


def _large(number: float) -> str:
    """A number in thousands, millions or billions, with four digits.

    >>> _large(1009280), _large(494032768), _large(512)
    ('1.009 million', '494 million', '512')
    """
    for size, word in ((1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if number >= size:
            return f"{number / size:.4g} {word}"
    return str(number)
