"""open-r1's package `codeforces` for Piston: a submission, a test and perhaps a checker.

The package's script runs the submission and prints 1 or 0. Here the submission is judged by `code`,
and can print what it likes: the package's answer is made from the verdict.
"""

from __future__ import annotations

import math
from typing import Any

from fastapi import Request

from verifier_service.code.languages.language import LanguageName
from verifier_service.code.plain_run import DEFAULT_MEMORY_BYTES
from verifier_service.code.reasons import CodeReason
from verifier_service.compat.completions import rewarded
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.code import Code

LANGUAGES_OF_PACKAGE: dict[str, LanguageName] = {
    "cf_python3": "python",
    "cf_cpp17": "cpp",
    "c++17": "cpp",
}
"""Languages by the package's names; `c++17` is the package's where there is a `grader_config`."""
CONFIG_FILE = "grader_config"
DEFAULT_SECONDS, MAX_SECONDS = 2.0, 20.0
_SAID: dict[str, str] = {
    CodeReason.TIME_LIMIT_EXCEEDED: "Time limit exceeded",
    CodeReason.MEMORY_LIMIT_EXCEEDED: "Memory limit exceeded",
    CodeReason.WRONG_ANSWER: "Output isn't correct",
}


async def judged_submission(
    request: Request, language: LanguageName, files: dict[str, str], *, deadline_seconds: float
) -> tuple[bool, str, Verdict]:
    """Whether a submission is right, words on it, and the verdict.

    Raises:
        ValueError: a file is missing, or asks for what is not done here.
        RequestError: as `rewarded`.
    """
    source, tests, verifier = _asked(language, files)
    reference = {"tests": tests}
    judged = await rewarded(
        request, [(source, reference)], [verifier], deadline_seconds=deadline_seconds
    )
    verdict = judged[0].first
    if verdict.outcome is not Outcome.SCORED:
        said = (verdict.details or {}).get("message", "")
        raise ValueError(f"the test cannot be judged: {verdict.reason} {said}")
    shown = str((verdict.details or {}).get("output", ""))
    words = _SAID.get(verdict.reason, f"{verdict.reason}\n{shown}")
    passed = verdict.reason == CodeReason.PASSED
    return passed, "" if passed else words, verdict


def _asked(language: LanguageName, files: dict[str, str]) -> tuple[str, dict[str, Any], Code]:
    """The source, its tests and how it is judged. Raises ValueError."""
    config = dict(line.split("=", 1) for line in files[CONFIG_FILE].splitlines() if "=" in line)
    if config.get("INPUT_MODE", "stdio") not in ("stdio", "None", ""):
        raise ValueError(f"INPUT_MODE is {config['INPUT_MODE'][:20]!r}; expected stdio")
    for name in ("input.txt", "correct_output.txt"):
        if name not in files:
            raise ValueError(f"there is no file {name}; the package judges one test at a time")
    sources = [text for name, text in files.items() if name.startswith("main.")]
    if len(sources) != 1:
        raise ValueError(f"{len(sources)} files are called main.*; expected the submission")
    case = {"stdin": files["input.txt"], "stdout": files["correct_output.txt"]}
    checker = files.get("checker.py")
    asked = "tokens" if checker is None else {"source": checker, "convention": "cms"}
    seconds = min(_number(config, "TIME_LIMIT", DEFAULT_SECONDS), MAX_SECONDS)
    megabytes = _number(config, "MEMORY_LIMIT", DEFAULT_MEMORY_BYTES / 2**20)
    verifier = Code(
        part="completion",
        weight=1.0,
        language=language,
        cpu_seconds=seconds,
        total_cpu_seconds=seconds,
        memory_bytes=min(max(int(megabytes * 2**20), 2**24), 2**33),
        output_bytes=2**23,
    )
    return sources[0], {"type": "stdio", "cases": [case], "checker": asked}, verifier


def _number(config: dict[str, str], name: str, default: float) -> float:
    """A positive number of the configuration. Raises ValueError."""
    text = config.get(name, "")
    if text in ("", "None"):
        return default
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and found > 0):
        raise ValueError(f"{name} is {text[:20]!r}; expected a positive number")
    return found
