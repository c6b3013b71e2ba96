"""The rollouts that NeMo Gym's servers recorded, with their rewards, beside `/verify`.

`make peers` clones the repository. The test prints the table of docs/integrations.md. Two more
servers are equal where the service has the extras `reasoning_gym` and `similarity`.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.interop
SERVERS = Path(os.environ.get("PEER_SOURCES", ".peers"), "Gym", "resources_servers")
EQUAL_SERVERS = 34


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; a line of something else is left out."""
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def question(row: dict[str, Any]) -> Any:
    """The user's last message, by which a rollout finds the task that it lacks fields of."""
    given = (row.get("responses_create_params") or {}).get("input")
    if not isinstance(given, list):
        return given
    texts = [one.get("content") for one in given if isinstance(one, dict)]
    return texts[-1] if texts else None


def task_of(row: dict[str, Any], tasks: list[dict[str, Any]]) -> dict[str, Any]:
    found = next((one for one in tasks if question(one) == question(row)), None)
    place = row.get("_ng_task_index")
    if found is None and isinstance(place, int) and place < len(tasks):
        found = tasks[place]
    return found or {}


def judged(client: httpx.Client, folder: Path) -> Counter[str]:
    """The outcomes of a server's rollouts."""
    tasks, found = list(lines(folder / "data" / "example.jsonl")), Counter[str]()
    for row in lines(folder / "data" / "example_rollouts.jsonl"):
        reward = row.pop("reward", None)
        if "response" not in row or not isinstance(reward, int | float):
            continue
        answer = client.post("/verify", json={**task_of(row, tasks), **row})
        assert answer.status_code in (200, 422), answer.text
        if answer.status_code == 422:
            found["refused"] += 1
        elif answer.json()["outcome"] != "scored":
            found["unverifiable"] += 1
        else:
            is_equal = answer.json()["reward"] == pytest.approx(reward, abs=1e-6)
            found["equal" if is_equal else "other"] += 1
    return found


@pytest.mark.skipif(not SERVERS.exists(), reason="`make peers` clones NeMo Gym")
def test_rollouts_have_the_rewards_of_their_servers(service_url: str) -> None:
    with httpx.Client(base_url=service_url, timeout=120) as client:
        table = {folder.name: judged(client, folder) for folder in sorted(SERVERS.iterdir())}
    write = sys.stdout.write
    for name, found in table.items():
        write(f"{name:48} {dict(found)}\n")
    write(f"{dict(sum(table.values(), Counter()))}\n")
    equal = [name for name, found in table.items() if found and set(found) == {"equal"}]
    write(f"{len(equal)} servers equal: {', '.join(equal)}\n")
    assert len(equal) >= EQUAL_SERVERS
