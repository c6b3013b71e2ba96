"""SandboxFusion's own tests: those that pass, and a cause for each other one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.interop.sandbox_fusion_suite import run_suite, table

pytestmark = pytest.mark.interop

SOURCE = Path(os.environ.get("PEER_SOURCES", ".peers"), "SandboxFusion")
HERE = {"test_python.py", "test_cpp.py", "test_humaneval_python.py", "test_jupyter.py"}
"""Files whose tests all pass, but for causes that are named."""


@pytest.mark.skipif(not SOURCE.exists(), reason=f"needs a clone at {SOURCE}: make peers")
def test_each_of_its_tests_passes_or_has_a_known_cause(service_url: str) -> None:
    results = run_suite(SOURCE, service_url)
    assert len(results) > 250, table(results)
    unknown = [one.test for one in results if not one.passed and one.cause is None]
    assert unknown == [], table(results)
    files = {one.test.partition("::")[0] for one in results if one.passed}
    assert files >= HERE, table(results)
