"""The scorers of the package reasoning-gym, an optional one.

Nine of its scorers give the answer to Python's `eval` or sympy's `parse_expr`, which uses it, and
two give a part of the reference to `eval`. Here these functions are readers of `expressions`. The
scorers of one version were read for this, so that no other version is used.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import sympy

from verifier_service.gym_scorers.closed import OWN, GymEntry, GymScorer, without_nan
from verifier_service.gym_scorers.expressions import (
    read_integer_expression,
    read_literal,
    read_symbolic,
)
from verifier_service.gym_scorers.silence import without_warnings
from verifier_service.puzzles.arithmetic import read_arithmetic

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "reasoning-gym"
VERSION = "0.1.25"
EXTRA = "reasoning_gym"
"""Extra of this project that installs the package."""
REFUSED = ("composite",)
"""Data sets that are refused: an entry of `composite` names the data set that it is of."""


def can_score() -> bool:
    """Whether the package is installed, in the version whose scorers were read."""
    return _installed_version(PACKAGE) == VERSION


@cache
def _installed_version(package: str) -> str | None:
    """The version of a package, for which a millisecond goes to files; None where it is missing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _value_of(expression: str) -> Any:
    return read_arithmetic(expression).value


def _is_bitwise_solution(problem: str, answer: str) -> bool:
    """The value of a problem is the answer, which may be in base 2, 8, 10 or 16."""
    try:
        return read_integer_expression(problem) == int(answer, 0)
    except ValueError:
        return False


_SYMPY = SimpleNamespace(
    Symbol=sympy.Symbol, diff=sympy.diff, simplify=sympy.simplify, parse_expr=read_symbolic
)
_REPLACED: Mapping[str, Mapping[str, Any]] = {
    "binary_matrix": {"eval": read_literal},
    "spiral_matrix": {"eval": read_literal},
    "string_insertion": {"eval": read_literal},
    "n_queens": {"eval": read_literal},
    "number_sorting": {"eval": read_literal},
    "bitwise_arithmetic": {"verify_solution": _is_bitwise_solution},
    "countdown": {"parse_expr": _value_of},
    "polynomial_multiplication": {"sp": _SYMPY},
    "simple_integration": {"sympy": _SYMPY},
    "intermediate_integration": {"sympy": _SYMPY},
}
"""Names that a data set's scorer uses, and the readers that they are here."""


def load_package() -> None:
    """Import the package, which takes a second, in a process that does nothing else but judge.

    Warnings of scorers are about answers, so they are nobody's there.
    """
    _data_sets()
    warnings.simplefilter("ignore")


@cache
def data_set_names() -> tuple[str, ...]:
    """The names of the data sets whose scorers are served."""
    return tuple(sorted(set(_data_sets()) - set(REFUSED)))


@lru_cache(maxsize=128)
def scorer_of(data_set: str) -> GymScorer:
    """The scorer of a data set, which may raise anything at an answer that it cannot read."""
    if data_set in OWN:
        return OWN[data_set]
    data_set_class, config_class = _data_sets()[data_set]
    with without_warnings():
        instance = data_set_class(config=config_class())
    method = data_set_class.score_answer
    if data_set in _REPLACED:
        method = _with_names(method, _REPLACED[data_set])
    score = MethodType(method, instance)

    def scorer(answer: str, entry: GymEntry) -> float:
        with without_warnings():
            return float(score(answer, entry))

    return without_nan(scorer) if data_set == "complex_arithmetic" else scorer


def reads_the_answer_only(data_set: str) -> bool:
    """Whether a data set's scorer reads nothing of its entry but the answer, which is a text."""
    from reasoning_gym.dataset import ProceduralDataset  # noqa: PLC0415  of an extra

    method = _data_sets()[data_set][0].score_answer
    return data_set not in OWN and method is ProceduralDataset.score_answer


def _with_names(function: FunctionType, names: Mapping[str, Any]) -> FunctionType:
    """A copy of a function for which some global names are other things."""
    copied = FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    return copied


def with_tuples(data_set: str, entry: GymEntry) -> GymEntry:
    """The entry as the package makes it: JSON made lists of an ARC grid's tuples."""
    if data_set not in ("arc_agi", "rearc"):
        return entry
    output = tuple(tuple(row) for row in entry["metadata"]["output"])
    return {**entry, "metadata": {**entry["metadata"], "output": output}}


def _graph_colors(metadata: GymEntry) -> str:
    return json.dumps(metadata["possible_answer"])


PROBES: Mapping[str, Callable[[GymEntry], str]] = {
    "graph_color": _graph_colors,
    "propositional_logic": lambda metadata: str(metadata["example_answer"]),
    "rubiks_cube": lambda metadata: str(metadata["example_correct_answer"]),
    "boxnet": lambda _metadata: "{}",
    "rush_hour": lambda _metadata: " ",
}
"""An answer that scores more than 0, for data sets whose entries have none."""


@cache
def _data_sets() -> Mapping[str, Any]:
    with warnings.catch_warnings(), _without_plots():
        warnings.simplefilter("ignore")  # old ways of writing in the packages that it needs
        from reasoning_gym.factory import DATASETS  # noqa: PLC0415  it takes a second
    found: Mapping[str, Any] = DATASETS
    return found


@contextmanager
def _without_plots() -> Iterator[None]:
    """Keep cellpylib out, which loads matplotlib, which writes files; only generators need it."""
    name = "cellpylib"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        del sys.modules[name]
