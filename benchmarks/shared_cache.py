"""The cost of a cache of verdicts that gateways share: an actor of Ray, and Redis or Valkey.

A gateway looks up the keys of a task before it has it judged, and keeps the verdicts after it. Its
own cache is a dictionary. A shared one answers over a socket, for which the gateway and the cache
take CPU time for each completion, found or not. It pays where another gateway's verdict is found so
often that the judging which is saved is more than that.

    python benchmarks/shared_cache.py

Run it in .venv-fleet, which `make test-fleet` makes; Redis is measured where the package `redis`
and a server, `redis-server` or `valkey-server`, are installed. CPU is that of both sides.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import ray

from benchmarks._ray_fleet import start_ray
from benchmarks.fleet_simulation import cpu_seconds
from verifier_service.engine.verdict_cache import VerdictCache
from verifier_service.reason import EngineReason
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.code import Code

NUM_KEPT, NUM_BATCHES, ROUNDS = 50_000, 200, 5
JUDGING = {"mathematics": (256, 80e-6), "programs of HumanEval": (Code().task_size, 12e-3)}
"""Completions of a task, whose keys are looked up together, and CPU seconds of a completion."""
VERDICT = Verdict(Outcome.SCORED, 1.0, EngineReason.TOO_SLOW, 0.001, r"\frac{1}{2}")

LookUp = Callable[[Sequence[bytes]], Sequence[Verdict | None]]
_decode = msgspec.json.Decoder(Verdict).decode


class CacheActor:
    """A dictionary of encoded verdicts."""

    def __init__(self) -> None:
        self._verdicts: dict[bytes, bytes] = {}

    def keep(self, keys: list[bytes], verdict: bytes) -> int:
        """Keep a verdict under each key; returns the process."""
        self._verdicts |= dict.fromkeys(keys, verdict)
        return os.getpid()

    def look_up(self, keys: list[bytes]) -> list[bytes | None]:
        """The verdict of each key."""
        return list(map(self._verdicts.get, keys))


@contextmanager
def own_cache(keys: Sequence[bytes]) -> Iterator[tuple[LookUp, list[int]]]:
    """The cache of a gateway alone."""
    cache = VerdictCache(2 * NUM_KEPT)
    for key in keys:
        cache.keep(key, VERDICT)
    yield cache.look_up, []


@contextmanager
def actor_cache(keys: Sequence[bytes]) -> Iterator[tuple[LookUp, list[int]]]:
    """A cache in an actor."""
    actor: Any = ray.remote(CacheActor).options(num_cpus=0).remote()
    process = ray.get(actor.keep.remote(list(keys), msgspec.json.encode(VERDICT)))

    def look_up(some: Sequence[bytes]) -> list[Verdict | None]:
        found = ray.get(actor.look_up.remote(list(some)))
        return [None if one is None else _decode(one) for one in found]

    yield look_up, [process]
    ray.kill(actor)


@contextmanager
def redis_cache(keys: Sequence[bytes]) -> Iterator[tuple[LookUp, list[int]]]:
    """A cache in Redis or Valkey, over a Unix socket, which is the cheapest way to it."""
    import redis  # noqa: PLC0415  optional

    server = shutil.which("valkey-server") or shutil.which("redis-server")
    if server is None:
        raise ModuleNotFoundError("neither redis-server nor valkey-server is installed")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/socket"
        command = [server, "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            while not Path(path).exists():
                time.sleep(0.01)
            client: Any = redis.Redis(unix_socket_path=path)
            encoded = msgspec.json.encode(VERDICT)
            for start in range(0, len(keys), 1000):
                client.mset(dict.fromkeys(keys[start : start + 1000], encoded))

            def look_up(some: Sequence[bytes]) -> list[Verdict | None]:
                return [None if one is None else _decode(one) for one in client.mget(some)]

            yield look_up, [process.pid]
        finally:
            process.terminate()
            process.wait()


def microseconds(look_up: LookUp, others: list[int], keys: Sequence[bytes], batch: int) -> float:
    """CPU microseconds of a key, of this process and others.

    Args:
        look_up: asks the cache.
        others: processes of the cache.
        keys: of which some are asked.
        batch: keys of a call.
    """
    found = []
    for _ in range(ROUNDS):
        start = time.process_time() + cpu_seconds(others)
        for number in range(NUM_BATCHES):
            first = number * batch % (len(keys) - batch)
            look_up(keys[first : first + batch])
        seconds = time.process_time() + cpu_seconds(others) - start
        found.append(seconds / (NUM_BATCHES * batch) * 1e6)
    return median(found)


def main() -> None:
    """Print the table."""
    kept, missing = ([os.urandom(16) for _ in range(NUM_KEPT)] for _ in range(2))
    start_ray()
    costs: dict[tuple[str, str], float] = {}
    for name, cache in (("own", own_cache), ("actor", actor_cache), ("redis", redis_cache)):
        with contextlib.ExitStack() as stack:
            try:
                look_up, others = stack.enter_context(cache(kept))
            except ModuleNotFoundError as error:
                print(f"{name}: {error}")
                continue
            for kind, (batch, seconds) in JUDGING.items():
                hit = microseconds(look_up, others, kept, batch)
                miss = microseconds(look_up, others, missing, batch)
                # A miss costs the look-up, and later about as much to keep the verdict.
                share = 2 * miss / (seconds * 1e6 + miss - hit)
                print(
                    f"{name}, {batch} keys a call: found {hit:.1f} us of CPU, missing {miss:.1f}; "
                    f"pays for {kind} from {share:.1%} found",
                    flush=True,
                )
                costs[name, kind] = hit
    ratio = costs["actor", "mathematics"] / costs["own", "mathematics"]
    print(f"ratio {ratio:.0f} (actor : own, CPU of a found key, mathematics)")
    ray.shutdown()


if __name__ == "__main__":
    main()
