"""No text of a model but its numbers is ever compiled or executed, whatever it says.

Python reports every compilation of source to audit hooks (PEP 578). A child process for each answer
judges it under one, with a CPU limit, since some never end.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.verifier_service.poison import HOSTILE

SHORT = {name: text for name, text in HOSTILE.items() if len(text) < 20_000}

CHILD = r"""
import json, os, resource, signal, sys
from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy
import verifier_service.workers.text_worker as text_worker

# These compile source of their own, made from names and counts of the library's: data classes,
# annotations, and operations on exponents of polynomials in so many variables.
TEMPLATES = ("/dataclasses.py", "/typing.py", "/collections/__init__.py", "/polys/monomials.py")
# A module that is imported for the first time is compiled too, from its file in the installation.
IMPORTS, INSTALLED = "<frozen importlib", (sys.prefix, sys.base_prefix)
verifier = Accuracy(mode=sys.argv[1])
text_worker._warm_up()
for answer in json.load(sys.stdin):
    read, write = os.pipe()
    if os.fork() == 0:
        def hook(event, arguments):
            if event == "compile":
                caller = sys._getframe(1).f_code.co_filename
                source = arguments[0]
                text = source.decode() if isinstance(source, bytes) else str(source)
                file = arguments[1].decode() if isinstance(arguments[1], bytes) else arguments[1]
                imported = caller.startswith(IMPORTS) and str(file).startswith(INSTALLED)
                if not imported and not caller.endswith(TEMPLATES):
                    os.write(write, json.dumps([event, text[:2000]]).encode() + b"\n")
            elif event in ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn"):
                os.write(write, json.dumps([event, repr(arguments)[:2000]]).encode() + b"\n")
        sys.addaudithook(hook)
        signal.setitimer(signal.ITIMER_PROF, 0.2)  # SIGPROF ends it
        resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for reference, text in (("2", "\\boxed{" + answer + "}"), (answer, "\\boxed{2}")):
            try:
                judge(verifier, {"answer": reference}, text)
            except (Unverifiable, MemoryError, RecursionError):
                pass
        os._exit(0)
    os.close(write)
    with open(read, "rb") as events:
        print(json.dumps([json.loads(line) for line in events.read().splitlines()]), flush=True)
    os.wait()
"""


def events_of(answers: list[str], mode: str) -> list[list[list[str]]]:
    """The texts compiled or executed while each answer was judged."""
    result = subprocess.run(
        [sys.executable, "-c", CHILD, mode],
        input=json.dumps(answers),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[Any] = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(found) == len(answers)
    return found


# What sympy makes of digits, signs and brackets before it evaluates them.
NUMBERS_ONLY = re.compile(
    r"from sympy import \*|(?:Integer|Float|Rational|'[\d.e+-]+'|[\d\s.,()+*/-])*"
)

INJECTIONS = [
    r"\operatorname{__import__}('os').system('touch pwned')",
    r"\mathrm{exec}(1)",
    r"\variable{__import__('os').system('touch pwned')}",
    r"\text{__import__('os').system('touch pwned')}",
    r"1__import__('os').system('touch pwned')",
    r"\frac{__import__('os')}{2}",
    r"x_{__import__('os')}",
    "1+1",
    r"\sum_{k=1}^{n} k",
]


SLOW = [pytest.param(mode, marks=pytest.mark.slow) for mode in ("math_verify", "open_r1")]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["default", *SLOW])
def test_numbers_are_all_that_is_ever_evaluated(mode: str) -> None:
    found = [
        event for events in events_of([*SHORT.values(), *INJECTIONS], mode) for event in events
    ]
    assert [event for event, _ in found if event != "compile"] == []
    assert [text for _, text in found if not NUMBERS_ONLY.fullmatch(text)] == []


@pytest.mark.slow
def test_our_own_reader_evaluates_nothing_at_all() -> None:
    # 3x = 3x is decided without math-verify, which would have sympy evaluate the numbers.
    assert events_of(["3x+1", "1+1", r"\frac{1}{2}"], "default") == [[], [], []]


@pytest.mark.slow
def test_the_hook_sees_what_sympy_evaluates() -> None:
    (found,) = events_of(["1+1"], "math_verify")
    assert found != []
