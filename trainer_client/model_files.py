"""The files of a model, read without torch: configuration, shapes of weights, tokenizer.

A local folder is in the form of `save_pretrained`. A model of the Hugging Face hub is read from the
hub's cache where it has been downloaded; otherwise the small files are fetched, and of the weights
their headers alone.

The header of a safetensors file (https://github.com/huggingface/safetensors): its length in 8
bytes, little endian, then JSON, tensor name -> `dtype`, `shape` and `data_offsets`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from huggingface_hub import (
    get_safetensors_metadata,
    hf_hub_download,
    try_to_load_from_cache,
)
from huggingface_hub.errors import (
    EntryNotFoundError,
    HFValidationError,
    LocalEntryNotFoundError,
    NotASafetensorsRepoError,
)

from trainer_client.config.run_config import ConfigError
from trainer_client.errors import first_line
from trainer_client.given_objects import given_object, is_given
from trainer_client.hub_reach import hub_obstacle

HUB_ERRORS = (OSError, httpx.HTTPError, HFValidationError, NotASafetensorsRepoError)
"""Errors of a model that the hub does not have, or that cannot be fetched."""
ADAPTER_CONFIG = "adapter_config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000
"""Longest header that safetensors itself reads."""

Shapes = Mapping[str, tuple[int, ...]]
"""The shape of each weight by its name."""

_OTHER_NAMES = {
    "hidden_size": ("n_embd", "d_model"),
    "num_hidden_layers": ("n_layer", "num_layers"),
    "num_attention_heads": ("n_head", "num_heads"),
    "intermediate_size": ("n_inner", "ffn_dim", "d_ff"),
    "max_position_embeddings": ("n_positions",),
}
"""Names that older models have for the numbers of their configuration."""


@dataclass(frozen=True)
class ModelFiles:
    """The files of one model. Methods raise ConfigError, whose message names the setting."""

    path: str
    """The setting's value: a folder, or a name of the hub."""
    setting: str
    folder: Path | None
    """None: the model is on the hub only."""

    def file(self, name: str) -> Path | None:
        """The local path of one of the small files; None: the model does not have it."""
        if self.folder is not None:
            path = self.folder / name
            return path if path.is_file() else None
        try:
            return Path(hf_hub_download(self.path, name))
        except LocalEntryNotFoundError as error:  # the network failed, not the name
            raise _not_fetched(self.path, self.setting, error) from error
        except EntryNotFoundError:
            return None
        except HUB_ERRORS as error:
            raise _not_fetched(self.path, self.setting, error) from error

    def config(self) -> dict[str, Any]:
        """The text model's part of `config.json`."""
        path = self.file("config.json")
        if path is None:
            raise ConfigError(f"{self.setting}: {self.path!r} has no config.json")
        found = _read_json(path, self.setting)
        text_config = found.get("text_config")
        return text_config if isinstance(text_config, dict) else found

    def max_tokens(self) -> int | None:
        """Longest sequence that the model was made for; None: it has no such limit."""
        config = self.config()
        names = ("max_position_embeddings", *_OTHER_NAMES["max_position_embeddings"])
        limits = (config[name] for name in names if isinstance(config.get(name), int))
        return next(limits, None)

    def shapes(self) -> Shapes:
        """The shapes of the weights; none where the model has no safetensors files."""
        if self.folder is not None:
            return {
                name: shape
                for path in _weight_files(self.folder, self.setting)
                for name, shape in _shapes_in(path, self.setting).items()
            }
        try:
            metadata = get_safetensors_metadata(self.path)
        except NotASafetensorsRepoError:
            return {}
        except HUB_ERRORS as error:
            raise _not_fetched(self.path, self.setting, error) from error
        tensors = (file.tensors.items() for file in metadata.files_metadata.values())
        return {name: tuple(info.shape) for items in tensors for name, info in items}

    def has_chat_template(self) -> bool:
        """Whether the tokenizer brings a chat template."""
        if self.file("chat_template.jinja") or self.file("chat_template.json"):
            return True
        path = self.file("tokenizer_config.json")
        return path is not None and bool(_read_json(path, self.setting).get("chat_template"))


def find_model(path: str, setting: str = "model.path") -> ModelFiles:
    """The files of a model, local or on the hub; raises ConfigError where there is none.

    Args:
        path: a folder, or a name of the hub.
        setting: the setting that holds the path; error messages name it.
    """
    if is_given(path):
        given_object(path, setting)
        raise ConfigError(f"{setting}: {path!r} has no files")
    folder = Path(path)
    if folder.is_dir():
        return ModelFiles(path, setting, _model_folder(folder, setting))
    if folder.exists():
        raise ConfigError(f"{setting}: {path!r} is a file, expected the model's folder")
    if names_local_folder(path):
        home = "; ~ is not expanded here" if path.startswith("~") else ""
        raise ConfigError(
            f"{setting}: there is no folder {path!r} (relative paths start at {Path.cwd()}{home})"
        )
    try:
        cached = try_to_load_from_cache(path, "config.json")
    except HFValidationError as error:
        raise _not_fetched(path, setting, error) from error
    if isinstance(cached, str) and _is_downloaded(Path(cached).parent):
        return ModelFiles(path, setting, Path(cached).parent)
    _reach_hub(path, setting)
    files = ModelFiles(path, setting, None)
    files.config()
    return files


def names_local_folder(path: str) -> bool:
    """Whether a path that does not exist cannot be meant as a name of the hub.

    >>> names_local_folder("./qwen"), names_local_folder("Qwen/Qwen2.5-0.5B")
    (True, False)
    """
    parts = Path(path).parts
    marked = path.startswith(("/", "./", "../", "~")) or path.endswith("/") or "\\" in path
    return marked or len(parts) > 2 or (len(parts) == 2 and Path(parts[0]).is_dir())


def number_of(config: Mapping[str, Any], name: str) -> int:
    """A number of a model's configuration, under any of its names; raises ConfigError."""
    for one in (name, *_OTHER_NAMES.get(name, ())):
        if isinstance(config.get(one), int):
            return int(config[one])
    if name == "intermediate_size":  # models without it have four times the hidden size
        return 4 * number_of(config, "hidden_size")
    raise ConfigError(f"model.path: config.json has no {name}, so memory cannot be estimated")


def _model_folder(folder: Path, setting: str) -> Path:
    """The folder, if it holds a model; raises ConfigError."""
    if (folder / "config.json").is_file():
        return folder
    if (folder / ADAPTER_CONFIG).exists():
        raise ConfigError(
            f"{setting}: {str(folder)!r} holds an adapter ({ADAPTER_CONFIG}), expected a whole "
            "model. Merge it first: a run's checkpoint with `trainer-client export RUN_DIR FOLDER`"
        )
    if (folder / "model" / "config.json").is_file():
        raise ConfigError(
            f"{setting}: {str(folder)!r} is the folder of a run; its model is {folder / 'model'}"
        )
    raise ConfigError(
        f"{setting}: {str(folder)!r} has no config.json; expected a folder as save_pretrained "
        "writes it, with config.json, weights and tokenizer"
    )


def _is_downloaded(folder: Path) -> bool:
    return (folder / WEIGHTS).exists() or (folder / INDEX).exists()


def _weight_files(folder: Path, setting: str) -> list[Path]:
    """The safetensors files of a folder; none where its weights are in another format."""
    if (folder / INDEX).is_file():
        weight_map = _read_json(folder / INDEX, setting).get("weight_map", {})
        paths = [folder / name for name in sorted(set(weight_map.values()))]
        if missing := [path.name for path in paths if not path.is_file()]:
            raise ConfigError(
                f"{setting}: {str(folder)!r} lacks {', '.join(missing)}, which {INDEX} names: the "
                "download is not complete"
            )
        return paths
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if any(folder.glob("*.safetensors")) or any(folder.glob("pytorch_model*.bin*")):
        return []
    raise ConfigError(f"{setting}: {str(folder)!r} holds no weights, expected {WEIGHTS}")


def _shapes_in(path: Path, setting: str) -> dict[str, tuple[int, ...]]:
    """The shapes in one file, whose length is checked; raises ConfigError."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        encoded = file.read(length) if length < MAX_HEADER_BYTES else b""
    try:
        header = json.loads(encoded)
        tensors = {name: one for name, one in header.items() if name != "__metadata__"}
        shapes = {name: tuple(one["shape"]) for name, one in tensors.items()}
        ends = [one["data_offsets"][1] for one in tensors.values()]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ConfigError(
            f"{setting}: {path} is no safetensors file; is it a Git LFS pointer (`git lfs pull`) "
            "or a download that was cut off?"
        ) from error
    expected = LENGTH_BYTES + length + max(ends, default=0)
    if path.stat().st_size < expected:
        raise ConfigError(
            f"{setting}: {path} has {path.stat().st_size} bytes, expected {expected}: the download "
            "was cut off"
        )
    return shapes


def _read_json(path: Path, setting: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{setting}: {path} is not valid JSON: {first_line(error)}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{setting}: {path} must hold an object, found {str(found)[:60]}")
    return found


def _reach_hub(path: str, setting: str) -> None:
    """Raise ConfigError where there is no way to the hub: its library would try for a minute."""
    obstacle = hub_obstacle()
    if obstacle is not None:
        raise _not_fetched(path, setting, obstacle) from obstacle


def _not_fetched(path: str, setting: str, error: Exception) -> ConfigError:
    return ConfigError(
        f"{setting}: {path!r} is no folder here, and the Hugging Face hub does not give it "
        f"({first_line(error)}). Set {setting} to a local folder, check the name, or download it "
        f"where there is a network: `hf download {path}`"
    )
