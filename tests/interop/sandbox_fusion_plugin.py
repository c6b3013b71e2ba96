"""A pytest plugin under which SandboxFusion's own tests ask a running service.

    SERVICE_URL=... SUITE_REPORT=... pytest -p tests.interop.sandbox_fusion_plugin <a clone>/sandbox

Its tests call its application in their process. Here the application is empty, and the client of
the tests is one of HTTP. Tests of data sets read rows from its database; here the rows of its own
sample files are posted with the request, where the service takes rows of their kind. Its runners,
database and configuration are not imported; its messages and helpers are.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import sys
import types
from collections.abc import Generator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import httpx
import pytest

URL = os.environ.get("SERVICE_URL", "")
"""Address of the service; empty where pytest imports this module for its doctests."""
REPORT = Path(os.environ.get("SUITE_REPORT", os.devnull))
TABLES = {
    "mbpp": "code_eval_mbpp",
    "code_contests": "code_eval_code_contests",
    "cruxeval": "code_eval_cruxeval",
    "live_code_bench_v1": "code_eval_live_code_bench_v1",
    "shadow_humaneval_python": "code_eval_shadow_humaneval_python",
}
"""Sample files, by the data sets whose rows the service takes."""
ROW_PATHS, ROWS_PATHS = {"/get_prompt_by_id", "/submit"}, {"/get_prompts", "/list_ids"}
answers: list[str] = []
"""The answers of the service to the test that runs."""


def rows_of(table: str) -> list[dict[str, Any]]:
    """The rows of a sample file; a column that is a list or an object is the JSON text of it."""
    path = next(Path(path, "sandbox") for path in sys.path if Path(path, "sandbox/tests").exists())
    lines = (path / "tests" / "datasets" / "samples" / f"{table}.jsonl").read_text().splitlines()
    return sorted(map(json.loads, lines), key=lambda row: str(row["id"]))


async def row_of(request: Any, table: str, columns: Any = None) -> dict[str, Any]:
    """SandboxFusion's `get_row_by_id_in_table`."""
    return row_with(request.id, rows_of(table))


def row_with(row_id: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The row with an id; fails the test where the sample file has none."""
    found = [row for row in rows if row["id"] == row_id]
    assert found, f"the sample file has no row {row_id!r}"
    return found[0]


class ServiceClient:
    """fastapi's `TestClient`, of which the tests use two calls."""

    def __init__(self, _app: Any) -> None:
        self._http = httpx.Client(base_url=URL, timeout=600)

    def get(self, path: str) -> httpx.Response:
        """Get a path of the service."""
        return self._noted(self._http.get(path))

    def post(self, path: str, json: dict[str, Any]) -> httpx.Response:
        """Post a body to the service, with rows where its data set has some."""
        config = json.get("config")
        if config and config.get("provided_data") is None and json["dataset"] in TABLES:
            rows = rows_of(TABLES[json["dataset"]])
            if path in ROWS_PATHS:
                config["provided_data"] = sorted(rows, key=lambda row: row["id"])
            elif path in ROW_PATHS:
                config["provided_data"] = row_with(json["id"], rows)
        return self._noted(self._http.post(path, json=json))

    def _noted(self, response: httpx.Response) -> httpx.Response:
        answers.append(f"{response.status_code} {response.text[:2000]}")
        return response


def module(name: str, **names: Any) -> None:
    """Put a module in the place of one of SandboxFusion's."""
    made = types.ModuleType(name)
    made.__dict__.update(names)
    sys.modules[name] = made


def unlimited(_num: int) -> Any:
    """SandboxFusion's `max_concurrency`, which leaves a function as it is here."""
    return lambda function: function


async def run_in_service(request: Any) -> Any:
    """SandboxFusion's `run_code_in_sandbox`."""
    response = ServiceClient(None).post("/run_code", json=request.model_dump())
    api = importlib.import_module("sandbox.server.sandbox_api")
    return api.RunCodeResponse(**response.json())


def pytest_configure(config: pytest.Config) -> None:
    """Put the modules in place before the first test is imported."""
    for name in ("structlog", "structlog.stdlib", "psutil", "databases", "transformers"):
        sys.modules[name] = MagicMock()
    vars(importlib.import_module("fastapi.testclient"))["TestClient"] = ServiceClient
    source = next(path for path in map(Path, config.args) if path.name in ("runners", "datasets"))
    sys.path.insert(0, str(source.parents[2]))
    module("sandbox.configs.run_config", RunConfig=MagicMock())
    module("sandbox.server.server", app=None)
    types_of_runs = importlib.util.spec_from_file_location(
        "sandbox.runners.types", source.parents[1] / "runners" / "types.py"
    )
    assert types_of_runs is not None
    assert types_of_runs.loader is not None
    messages = importlib.util.module_from_spec(types_of_runs)
    sys.modules["sandbox.runners.types"] = messages
    types_of_runs.loader.exec_module(messages)
    public = {name: value for name, value in vars(messages).items() if name[0] != "_"}
    module("sandbox.runners", CODE_RUNNERS={}, run_jupyter=None, types=messages, **public)
    module("sandbox.registry", **{name: MagicMock() for name in REGISTRY})
    module("sandbox.database", get_row_by_id_in_table=row_of, get_rows_in_table=None)
    module("sandbox.utils.execution", max_concurrency=unlimited)
    clients = ("run_code_in_sandbox", "run_code_in_sandbox_w_retry")
    module("sandbox.utils.sandbox_client", **dict.fromkeys(clients, run_in_service))
    for name in ("summary_result", "SummaryMapping", "RunCodeRequest"):
        setattr(sys.modules["sandbox.utils.sandbox_client"], name, MagicMock())
    data_sets = importlib.import_module("sandbox.datasets.types")
    tables = {f"{name}": table for name, table in TABLES.items()}
    data_sets.CodingDataset.get_table_name = classmethod(
        lambda _cls, name: tables.get(name, f"code_eval_{name}")
    )


REGISTRY = ("get_all_dataset_ids", "get_coding_class_by_dataset", "get_coding_class_by_name")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    answers.clear()
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note how a test ended, and what the service had answered."""
    report = yield
    if report.when == "call" or report.outcome == "skipped":
        error = str(call.excinfo.value)[:500] if call.excinfo else ""
        line = {"test": item.nodeid, "outcome": report.outcome, "error": error, "answers": answers}
        with REPORT.open("a") as file:
            file.write(json.dumps(line) + "\n")
    return report
