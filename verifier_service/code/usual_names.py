"""Names that test code uses without an import, and modules that hold a program, by convention."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass
from typing import Any

INSTALLED = frozenset({"mpmath", "numpy", "sympy"})
"""Packages besides the standard library that tests may import: those of all programs, by
`sandbox.python_packages`, which takes longer to import."""

PROGRAM_MODULES = frozenset(
    {
        *("solution", "solutions", "main", "__main__", "submission", "candidate", "answer"),
        *("program", "exercise", "implementation", "solution_module", "module_name"),
        *("your_module", "your_solution", "your_script", "your_code", "your_program", "my_module"),
    }
)
"""Modules that data sets call the program. No package of these names is meant."""

_MODULE_ALIASES = {
    "ET": "xml.etree.ElementTree",
    "np": "numpy",
    "nx": "networkx",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "sns": "seaborn",
    "tf": "tensorflow",
    **{name: name for name in ("networkx", "pandas", "pytest", "scipy", "torch")},
}
_SURPRISES = frozenset({"antigravity", "this"})
"""Modules of the standard library whose import opens a browser or prints."""

_IMPORTED_FROM = {
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "copy": "deepcopy",
    "dataclasses": "asdict astuple dataclass is_dataclass",
    "datetime": "date datetime timedelta timezone",
    "decimal": "Decimal",
    "fractions": "Fraction",
    "functools": "cmp_to_key lru_cache partial reduce wraps",
    "heapq": "heapify heappop heappush heappushpop heapreplace nlargest nsmallest",
    "io": "BytesIO StringIO",
    "itertools": (
        "accumulate chain combinations combinations_with_replacement groupby islice "
        "pairwise permutations product starmap takewhile zip_longest"
    ),
    "math": (
        "acos asin atan atan2 ceil comb cos exp fabs factorial floor fsum gcd hypot inf "
        "isclose isfinite isinf isnan isqrt lcm log log10 log2 nan perm pi prod radians sin sqrt "
        "tan trunc"
    ),
    "pathlib": "Path",
    "pytest": "approx raises",
    "random": "choice choices randint randrange shuffle uniform",
    "statistics": "fmean harmonic_mean mean median multimode pstdev pvariance stdev variance",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation",
    "typing": (
        "Any Callable Dict FrozenSet Generator Iterable Iterator List Mapping Optional Sequence "
        "Set Tuple Union"
    ),
    "unittest": "TestCase",
}
_MODULE_OF = {name: module for module, names in _IMPORTED_FROM.items() for name in names.split()}


@dataclass(frozen=True)
class UsualName:
    """A module, or an object of a module, that everybody calls by the same name."""

    module: str
    attribute: str = ""
    """Name of the object; empty for the module itself."""

    @property
    def package(self) -> str:
        """The package to install for it."""
        return self.module.partition(".")[0]

    def load(self) -> Any:
        """The object. Raises ImportError: this Python lacks the module."""
        module = importlib.import_module(self.module)
        return getattr(module, self.attribute) if self.attribute else module


def is_there(package: str) -> bool:
    """Whether tests can import the package, on any machine: it is standard, or is installed."""
    if package not in sys.stdlib_module_names | INSTALLED:
        return False
    return package in sys.modules or importlib.util.find_spec(package) is not None


def usual_name(name: str, attributes: set[str]) -> UsualName | None:
    """The meaning of a name that nothing defines; None if it is no usual one.

    Args:
        name: the name.
        attributes: attributes that are asked of it; "" where it is used by itself.
    """
    for usual in _meanings(name):
        if usual.attribute or "" not in attributes:
            if not is_there(usual.package):
                return usual
            try:
                found = usual.load()
            except ImportError:  # such as tkinter, where the machine lacks its library
                continue
            if all(hasattr(found, attribute) for attribute in attributes - {""}):
                return usual
    return None


def _meanings(name: str) -> list[UsualName]:
    standard = name in sys.stdlib_module_names - _SURPRISES or name in INSTALLED
    module = _MODULE_ALIASES.get(name, name if standard and is_there(name) else "")
    found = [UsualName(module)] if module else []
    return [*found, UsualName(_MODULE_OF[name], name)] if name in _MODULE_OF else found
