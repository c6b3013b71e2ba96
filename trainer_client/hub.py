"""Exported models on the Hugging Face hub, or at another address that speaks its protocol."""

from __future__ import annotations

from pathlib import Path

import yaml
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError

from trainer_client.config.run_config import Config, ConfigError, load_config
from trainer_client.given_objects import is_given
from trainer_client.run.json_lines import read_lines

CARD = "README.md"

# Which HTTP library the hub's client uses depends on its version. Its own error is a kind of that
# library's, so this is what a connection that fails raises, too.
_ERRORS: tuple[type[Exception], ...] = (
    *(kind for kind in HfHubHTTPError.__bases__ if issubclass(kind, Exception)),
    HFValidationError,
    OSError,
)


def push_model(folder: Path, name: str, run_dir: Path, step: int, *, public: bool) -> str:
    """Upload a model folder with a card about its run; returns the address of the repository.

    The account is that of `hf auth login` or HF_TOKEN, the address that of HF_ENDPOINT.

    Args:
        folder: an exported model; it gets the card.
        name: OWNER/NAME; the repository is made where there is none.
        run_dir: folder of the run.
        step: step of the checkpoint.
        public: whether all can see a repository that is made here.

    Raises:
        ConfigError: the hub refused it, or cannot be reached. The folder stays.
    """
    config = load_config(run_dir / "config.yaml")
    (folder / CARD).write_text(model_card(config, name, run_dir, step))
    api = HfApi()
    try:
        address = api.create_repo(name, private=not public, exist_ok=True)
        api.upload_folder(
            repo_id=name, folder_path=folder, commit_message=f"Step {step} of {run_dir.name}"
        )
    except _ERRORS as error:
        raise ConfigError(
            f"--push-to-hub {name}: {' '.join(str(error).split())}. The model is in {folder}; log "
            f"in with `hf auth login`, then `hf upload {name} {folder}` goes on"
        ) from error
    return str(address)


def model_card(config: Config, name: str, run_dir: Path, step: int) -> str:
    """The text of the model's README.md: what it was trained from, on and for, and how far."""
    start = config.model.path
    head = {"library_name": "transformers", "pipeline_tag": "text-generation", "tags": ["grpo"]}
    # A path on this machine, or an object of a script, names nothing on the hub.
    if not Path(start).exists() and not is_given(start):
        head["base_model"] = start
    rows = {int(row["step"]): row for row in read_lines(run_dir / "metrics.jsonl")}
    results = [
        f"| `{key}` | {_value(rows.get(0, {}).get(key))} | {_value(rows.get(step, {}).get(key))} |"
        for evaluation in config.evaluation
        for key in (f"{evaluation.prefix}/pass@{k}" for k in evaluation.k)
    ]
    sources = ", ".join(f"{one.weight:g} {one.key}" for one in config.sources)
    lines = [
        "---",
        yaml.safe_dump(head, sort_keys=False).strip(),
        "---",
        f"# {name.rpartition('/')[2]}",
        "",
        f"`{Path(start).name if Path(start).exists() else start}`, trained for {step} steps with "
        f"{config.loss.type}; reward: {sources}.",
        "",
    ]
    if results:
        lines += ["| held out | before | after |", "|---|---|---|", *results, ""]
    return "\n".join(lines)


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
