"""Runners: other ways to run a language, such as its tests."""

from __future__ import annotations

import dataclasses
import re
from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from verifier_service.code.languages.go_tests import with_main
from verifier_service.code.languages.language import Language, LanguageName, RunnerName
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.toolchains.gcc import gdc
from verifier_service.code.toolchains.jvm import junit, kotlin_script
from verifier_service.sandbox.execution import Tools, ZygoteKind

_PYTEST = b"""
import sys, pytest
options = ["-p", "no:cacheprovider", "--no-header", "--basetemp=.pytest"]
sys.exit(pytest.main([*options, "test_main.py"]))
"""


def _like(language: LanguageName, runner: RunnerName, **changes: Any) -> Language:
    """The row of a runner, which is that of a language but for these changes."""
    own: dict[str, Any] = {"runner": runner, "tags": (), "aliases": (), "problems": [], "found": []}
    return dataclasses.replace(LANGUAGES[language], **own, **changes)


# The last lines of a pytest run ("==== 1 passed, 2 skipped in 61.20s (0:01:01) ===="), of Go's
# tests, of JUnit's console and of D's runtime, which writes none where no module has tests.
_PYTEST_END = re.compile(rb"^=+ [^\n]* in \d+\.\d+s (?:\([\d:]+\) )?=+$", re.MULTILINE)
_GO_END = re.compile(rb"PASS$", re.MULTILINE)
_JUNIT_END = re.compile(rb"^Test run finished after \d+ ms$", re.MULTILINE)
_D_TEST = re.compile(rb"\bunittest\b")
_D_END = re.compile(rb"\d modules passed unittests$", re.MULTILINE)

RUNNERS: dict[RunnerName, Language] = {
    "d_ut": _like(*("d", "d_ut"), find=gdc("-funittest"), end_of_tests=_D_END, has_tests=_D_TEST),
    "go_test": _like(
        *("go", "go_test"),
        rewrite=with_main,
        has_folder=True,
        end_of_tests=_GO_END,
        hello=b'package main\nimport "testing"\nfunc TestOne(t *testing.T) {}\n',
        hello_says=re.compile(rb"PASS\n"),
    ),
    "junit": _like(
        *("java", "junit"),
        find=junit,
        end_of_tests=_JUNIT_END,
        hello=b"import org.junit.jupiter.api.*; class OneTest { @Test void one() {} }\n",
        hello_says=re.compile(rb".*\[ +1 tests successful +\].*", re.DOTALL),
    ),
    "kotlin_script": _like(
        *("kotlin", "kotlin_script"),
        find=kotlin_script,
        hello=b"println(1)\n",
    ),
    "pytest": _like(
        *("python", "pytest"),
        packages=("pytest",),
        driver=_PYTEST,
        zygote_kind=ZygoteKind.TESTS,
        end_of_tests=_PYTEST_END,
    ),
}
"""The runners by their names, which only `/run_code` offers."""

RUNNABLE: Mapping[str, Language] = ChainMap(LANGUAGES, {row.key: row for row in RUNNERS.values()})
"""All that can be run, languages and runners, by name."""


def language_tools(name: str) -> Tools:
    """Tools of a language or runner, for the `Runner`. Raises ToolchainError."""
    return RUNNABLE[name].toolchain().tools
