"""Checkpoints in an object store, from which a run goes on where its own disk is gone.

A checkpoint is `URL/checkpoints/step_000050/...`. It is complete when its `manifest.json` is there,
which names its files with their sizes: object stores cannot rename a folder. Nodes need not share a
folder: each process sends the parts that it has written, and gets all that its node lacks.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from trainer_client.config.run_config import Config, ConfigError
from trainer_client.errors import TrainerError
from trainer_client.policy.sharding import OPTIMIZER_FOLDER
from trainer_client.processes import OtherProcessFailed, Processes
from trainer_client.run.checkpoint import Checkpoint, list_checkpoints
from trainer_client.run.console import say
from trainer_client.run.run_folder import checkpoint_folder, checkpoint_names

MANIFEST = "manifest.json"
RUN_FILES = ("config.yaml", "metrics.jsonl", "solve_rates.jsonl")
"""Files of a run beside its checkpoints that it goes on from."""
LOCAL_RANK = "LOCAL_RANK"
"""Variable of torchrun: the number of a process on its node."""

Sizes = dict[str, int]
"""Bytes of each file, by its path in the checkpoint's folder."""
T = TypeVar("T")


class StoreError(TrainerError):
    """The object store did not do as it was asked; the message names it."""


@dataclass(frozen=True)
class CheckpointStore:
    """The checkpoints of a run at an address. Every method is collective.

    Args:
        url: address that fsspec knows, such as `s3://bucket/run`, `gs://bucket/run` or a folder.
        run_dir: folder of the run on this node.
        processes: of the run.
    """

    url: str
    run_dir: Path
    processes: Processes

    @cached_property
    def _place(self) -> tuple[Any, str]:
        """The file system of the address, and the path in it. Raises ConfigError."""
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415  only a run with a store needs it

            found: tuple[Any, str] = url_to_fs(self.url, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise ConfigError(f"train.checkpoint_store {self.url!r}: {error}") from error
        return found

    def check(self) -> None:
        """Raise ConfigError where the address cannot be used."""
        self.processes.agree(lambda: self._place, ConfigError)

    def keep(self, checkpoint: Checkpoint) -> None:
        """Send a checkpoint; a store that refuses it is a warning, for the disk has it too."""
        folder = checkpoint.folder
        try:
            mine = self._agree(lambda: self._send(folder))
            parts = self.processes.gather(mine)
            sizes = {name: size for part in parts for name, size in part.items()}
            self._agree(lambda: self._complete(folder.name, sizes))
        except (StoreError, OtherProcessFailed) as error:
            say(f"warning: {folder.name} is not in {self.url}: {error}")
        if not self.processes.leads:  # parts in a folder that the first process does not see
            shutil.rmtree(folder.with_suffix(".partial"), ignore_errors=True)

    def restore(self) -> None:
        """Have each node hold the newest checkpoint that all of them can go on from.

        Raises:
            StoreError: it cannot be read.
            OtherProcessFailed: another process cannot read it.
        """
        stored = self.processes.gather(self._agree(self._newest))[0]
        held = {one.step for one in list_checkpoints(self.run_dir)}
        common = set.intersection(*self.processes.gather(held))
        step = max([*common, *([] if stored is None else [stored])], default=None)
        for checkpoint in list_checkpoints(self.run_dir):
            if step is None or checkpoint.step > step:
                say(f"{checkpoint.folder} is not whole on every node: set aside")
                _set_aside(checkpoint.folder)
        if step is None or (step in common and step != stored):
            return
        # One process of a node at a time; the first process may share its folder with others.
        leads = self.processes.leads
        self._agree(lambda: self._fetch(step) if leads else None)
        self._agree(lambda: self._fetch(step) if _leads_node() and not leads else None)

    def _agree(self, work: Callable[[], T]) -> T:
        """The result of work that asks the store. Raises StoreError, OtherProcessFailed."""

        def asked() -> T:
            try:
                return work()
            except Exception as error:  # each kind of store has errors of its own
                raise StoreError(f"{self.url}: {type(error).__name__}: {error}") from error

        return self.processes.agree(asked, StoreError)

    def _send(self, folder: Path) -> Sizes:
        """Send the files of the checkpoint that are this process's; their sizes."""
        own = f"{OPTIMIZER_FOLDER}/__{self.processes.rank}_"
        source = folder if folder.exists() else folder.with_suffix(".partial")
        sizes = {}
        for path in sorted(source.rglob("*")):
            name = path.relative_to(source).as_posix()
            is_part = name.startswith(f"{OPTIMIZER_FOLDER}/__")
            if path.is_file() and (name.startswith(own) if is_part else self.processes.leads):
                self._put(path, f"checkpoints/{folder.name}/{name}")
                sizes[name] = path.stat().st_size
        return sizes

    def _complete(self, name: str, sizes: Sizes) -> None:
        """Say that a checkpoint is complete, and remove those that the disk has no more."""
        if not self.processes.leads:
            return
        files, root = self._place
        for run_file in RUN_FILES:
            if (self.run_dir / run_file).exists():
                self._put(self.run_dir / run_file, run_file)
        files.pipe_file(f"{root}/checkpoints/{name}/{MANIFEST}", json.dumps(sizes).encode())
        held = {one.folder.name for one in list_checkpoints(self.run_dir)}
        for old in self._steps():
            if old not in held:
                files.rm_file(f"{root}/checkpoints/{old}/{MANIFEST}")
                files.rm(f"{root}/checkpoints/{old}", recursive=True)

    def _put(self, path: Path, name: str) -> None:
        files, root = self._place
        target = f"{root}/{name}"
        files.makedirs(target.rpartition("/")[0], exist_ok=True)
        files.put_file(str(path), target)

    def _steps(self) -> list[str]:
        """The names of the complete checkpoints, oldest first."""
        files, root = self._place
        found = files.glob(f"{root}/checkpoints/step_*/{MANIFEST}")
        return checkpoint_names(path.split("/")[-2] for path in found)

    def _newest(self) -> int | None:
        names = self._steps()
        return int(names[-1].removeprefix("step_")) if names else None

    def _fetch(self, step: int) -> None:
        """Get the files of a checkpoint and of the run that this node lacks."""
        files, root = self._place
        folder = checkpoint_folder(self.run_dir, step)
        source = f"{root}/checkpoints/{folder.name}"
        sizes: Sizes = json.loads(files.cat_file(f"{source}/{MANIFEST}"))
        partial = folder.with_suffix(".partial")
        if not folder.exists():
            shutil.rmtree(partial, ignore_errors=True)
        target = folder if folder.exists() else partial
        for name, size in sizes.items():
            if not _has_size(target / name, size):
                _get(files, f"{source}/{name}", target / name)
                if not _has_size(target / name, size):
                    raise OSError(f"{name} has not the {size} bytes that {MANIFEST} says")
        if target is partial:
            os.replace(partial, folder)
        for run_file in RUN_FILES:
            if not (self.run_dir / run_file).exists() and files.exists(f"{root}/{run_file}"):
                _get(files, f"{root}/{run_file}", self.run_dir / run_file)


def store_of(config: Config, processes: Processes) -> CheckpointStore | None:
    """The store of a run; None: it has none."""
    url = config.train.checkpoint_store
    return None if url is None else CheckpointStore(url, config.output_dir, processes)


def _get(files: Any, source: str, target: Path) -> None:
    """Get a file, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    arriving = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        files.get_file(source, str(arriving))
        os.replace(arriving, target)
    finally:
        arriving.unlink(missing_ok=True)


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


def _leads_node() -> bool:
    return os.environ.get(LOCAL_RANK, "0") == "0"


def _set_aside(folder: Path) -> None:
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    os.replace(folder, partial)
