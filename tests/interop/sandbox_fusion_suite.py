"""SandboxFusion's own tests against a service: how many pass, and why each other one does not.

    SERVICE_URL=http://127.0.0.1:8080 python -m tests.interop.sandbox_fusion_suite <a clone>

A clone of github.com/bytedance/SandboxFusion is needed; nothing of it is part of this repository.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Causes by what a failed test is called, said, and was answered: the first that is found. A cause
# names what the pattern has in brackets.
CAUSES = (
    (r"test_(cuda|python_gpu|torch_op)\b", "asks for a GPU"),
    (r"language '(\w+)' is not served", r"a language that is not served: \1"),
    (r"test_isolation\.py::test_isolation_network_external", "asks for the outside network"),
    (r"No module named '([\w.]+)'", r"a package that programs do not have: \1"),
    (r"could not import (github\S+)", r"a package that programs do not have: \1"),
    (r"package (org\.javatuples) does not exist", r"a package that programs do not have: \1"),
    (r"Cannot find module '(\w+)'", r"a package that programs do not have: \1"),
    (r"module '(luaunit)' not found", r"a package that programs do not have: \1"),
    (r"Can't locate (\S+)\.pm", r"a package that programs do not have: \1"),
    (r"fork: Operation not permitted|test_lua_timeout", "a command, which programs cannot start"),
    (r"test_isolation\.py", "asks for a private network, which the machine does not permit"),
    (r"test_python_fetch_files", "writes outside its working directory"),
    (r"unknown_data_set|test_repobench", "a kind of data sets that is not served"),
    (r"no_rows", "rows of its database"),
    (r"the sample file has no row", "rows of its database"),
    (r"get_metrics_function", "asks for code of the server"),
    (r"custom_extract_logic", "sends code for the server to run"),
    (r"config\.is_fewshot", "asks for few-shot examples"),
    (r"other languages than python are part of the program", "tests inside the program"),
    (r"multiple definition", "defines `exit` again; C++ is linked statically"),
    (r"multiple storage|libtorch|torch|boost", "a library that programs do not have"),
    (r"plt|matplotlib", "a package that programs do not have: matplotlib"),
    (
        r'"compile_result":\{"status":"TimeLimitExceeded"',
        "a compiler that took longer than the test permits",
    ),
    (r"then start the service again", "a toolchain that is not installed"),
)


@dataclass(frozen=True)
class SuiteResult:
    """The end of one test."""

    test: str
    passed: bool
    cause: str | None
    """Why it did not pass; None if nobody knows."""


def run_suite(source: Path, url: str) -> list[SuiteResult]:
    """Run the tests of a clone against the service at a URL."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.jsonl")
        report.touch()
        tests = [str(source / "sandbox" / "tests" / part) for part in ("runners", "datasets")]
        subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-p", "tests.interop.sandbox_fusion_plugin"),
                *("-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull, "--noconftest"),
                *("-q", "--tb=no", "--no-header", "--continue-on-collection-errors"),
                *(f"--ignore={tests[0]}/samples", *tests),
            ],
            cwd=ROOT,
            env={**os.environ, "SERVICE_URL": url, "SUITE_REPORT": str(report)},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        return [_result(json.loads(line)) for line in report.read_text().splitlines()]


def _result(line: dict[str, object]) -> SuiteResult:
    test = str(line["test"]).rpartition("/")[2]
    passed = line["outcome"] == "passed"
    told = "\n".join([test, str(line["error"]), *map(str, line["answers"])])  # type: ignore[call-overload]
    found = ((re.search(pattern, told), cause) for pattern, cause in CAUSES)
    cause = next((match.expand(cause) for match, cause in found if match), None)
    return SuiteResult(test, passed, None if passed else cause)


def table(results: list[SuiteResult]) -> str:
    """The number of tests, of those that pass, and of each cause."""
    causes = Counter(one.cause for one in results if not one.passed).most_common()
    lines = [f"{len(results)} tests, {sum(one.passed for one in results)} passed"]
    return "\n".join([*lines, *(f"{number:4} {cause}" for cause, number in causes)])


if __name__ == "__main__":
    found = run_suite(Path(sys.argv[1]), os.environ["SERVICE_URL"])
    print(table(found))  # noqa: T201
    for one in found:
        if not one.passed and (one.cause is None or "--all" in sys.argv):
            print(one.test, one.cause)  # noqa: T201
