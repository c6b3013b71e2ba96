"""open-instruct's own tests of its code API, and its CodeVerifier, against the service.

They need a clone of github.com/allenai/open-instruct (`make peers`): the package brings torch and
vLLM. Its tests of code run in its own process; here each run is a call of the service.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import dataclasses
import json
import os
import pickle
import re
import sys
import types
import unittest
import weakref
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import requests

SOURCE = Path(os.environ.get("PEER_SOURCES", ".peers"), "open-instruct", "open_instruct")
pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(not SOURCE.exists(), reason=f"needs a clone at {SOURCE}: make peers"),
]

BLOCKED_BY_NAME = "its guard refuses a program for a word in it; here it runs, confined"
GUARD = (
    "its guard puts None in the place of `exit`; here it stays, and ends nothing but the program"
)
NO_FOLDER = "a program without files has no folder to write to"
KNOWN = {
    "test_builtins_modifications": GUARD,
    "test_file_operations_sandboxed": NO_FOLDER,
    "test_working_directory_sandboxed": NO_FOLDER,
    "test_dangerous_imports_with_networking": BLOCKED_BY_NAME,
    "test_dangerous_imports_blocked": BLOCKED_BY_NAME,
    "test_os_system_blocked": BLOCKED_BY_NAME,
    "test_file_deletion_blocked": BLOCKED_BY_NAME,
}
"""Causes of the tests that do not pass."""


class ServiceInsteadOfServer:
    """`APITestServer`, whose server is the service under test."""

    base_url = health_url = ""

    def __enter__(self) -> ServiceInsteadOfServer:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def peer_tests(service_url: str) -> Iterator[Callable[[str], types.ModuleType]]:
    """Loads a file of its tests, which then ask the service."""

    def asked(program: str, tests: list[Any], max_execution_time: float = 1.0) -> Any:
        body: dict[str, Any] = {
            "program": program,
            "tests": tests,
            "max_execution_time": max_execution_time,
        }
        found = requests.post(f"{service_url}/test_program", json=body, timeout=300).json()
        return found["results"], found["runtimes"]

    def asked_stdio(program: str, tests: list[Any], max_execution_time: float = 1.0) -> Any:
        body: dict[str, Any] = {
            "program": program,
            "tests": tests,
            "max_execution_time": max_execution_time,
        }
        found = requests.post(f"{service_url}/test_program_stdio", json=body, timeout=300).json()
        return found["results"], found["runtimes"]

    code_utils = types.SimpleNamespace(
        get_successful_tests_fast=asked,
        get_successful_tests_stdio=asked_stdio,
        decode_tests=lambda tests: json.loads(tests) if isinstance(tests, str) else tests,
    )
    names = {
        "open_instruct": types.SimpleNamespace(logger_utils=MagicMock(), utils=MagicMock()),
        "open_instruct.code_utils": types.SimpleNamespace(code_utils=code_utils),
        "parameterized": types.SimpleNamespace(
            parameterized=types.SimpleNamespace(expand=_expanded)
        ),
    }
    before = {name: sys.modules.get(name) for name in names}
    sys.modules.update(names)  # type: ignore[arg-type]

    def load(name: str) -> types.ModuleType:
        module = types.ModuleType(name)
        module.__file__ = str(SOURCE / "code_utils" / f"{name}.py")
        exec(Path(module.__file__).read_text(), module.__dict__)
        ServiceInsteadOfServer.base_url = service_url
        ServiceInsteadOfServer.health_url = f"{service_url}/health"
        module.__dict__["APITestServer"] = ServiceInsteadOfServer
        return module

    yield load
    for name, module in before.items():
        del sys.modules[name]
        if module is not None:
            sys.modules[name] = module


def _expanded(cases: list[tuple[Any, ...]]) -> Callable[[Any], Any]:
    """`parameterized.expand`: one test that runs each of the cases."""

    def decorate(test: Any) -> Any:
        def run_each(self: unittest.TestCase) -> None:
            for case in cases:
                with self.subTest(case[0]):
                    test(self, *case)

        return run_each

    return decorate


def failures_of(module: types.ModuleType) -> tuple[int, set[str]]:
    """The number of tests of a module, and the names of those that fail."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TestResult()
    suite.run(result)
    failed = {
        getattr(test, "test_case", test)._testMethodName
        for test, _ in [*result.failures, *result.errors]
    }
    return result.testsRun, failed


def test_its_tests_of_the_api_pass(peer_tests: Callable[[str], types.ModuleType]) -> None:
    num_tests, failed = failures_of(peer_tests("test_api"))
    assert (num_tests, failed) == (4, set())


def test_its_tests_of_code_pass_or_have_a_known_cause(
    peer_tests: Callable[[str], types.ModuleType],
) -> None:
    num_tests, failed = failures_of(peer_tests("test_code_utils"))
    assert num_tests > 15
    assert failed <= KNOWN.keys()


def test_its_code_verifier_gets_the_share_of_passed_tests(service_url: str) -> None:
    """Tests as a list, as JSON, and packed, which is how its data sets have them."""
    text = (SOURCE / "ground_truth_utils.py").read_text()
    wanted = {"VerifierConfig", "CodeVerifierConfig", "VerificationResult", "VerifierFunction"}
    nodes = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name in wanted | {"CodeVerifier"}
    ]
    namespace: dict[str, Any] = {
        "asyncio": asyncio,
        "re": re,
        "requests": requests,
        "weakref": weakref,
        "Any": Any,
        "dataclasses": dataclasses,
        "logger": MagicMock(),
        "ABC": object,
        "abstractmethod": lambda function: function,
        "__name__": "ground_truth_utils",
    }
    sys.modules["ground_truth_utils"] = types.ModuleType("ground_truth_utils")
    exec(compile(ast.Module(body=list(nodes), type_ignores=[]), "x", "exec"), namespace)
    config = types.SimpleNamespace(
        code_api_url=f"{service_url}/test_program",
        code_max_execution_time=1.0,
        code_pass_rate_reward_threshold=0.0,
        code_apply_perf_penalty=False,
    )
    verifier = namespace["CodeVerifier"](config)
    tests = ["assert add(1, 2) == 3", "assert add(0, 0) == 1"]
    answer = "Here:\n```python\ndef add(a, b):\n    return a + b\n```"
    packed = base64.b64encode(zlib.compress(pickle.dumps(tests))).decode()
    for label in (tests, json.dumps(tests), packed):
        assert asyncio.run(verifier.async_call([], answer, label)).score == 0.5
