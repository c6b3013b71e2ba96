"""Imports go one way: between modules, between folders, and down the layers of the service."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LAYERS = (
    # the words that everything else is said in
    (
        "completion",
        "explanation",
        "reason",
        "verdict",
        "verifier",
        "reference",
        "answer_text",
        "current_call",
        "difference",
        "errors",
        "validation",
        "strict_json",
        "strict_yaml",
        "largest_matching",
    ),
    (
        "frames",
        "frame_stream",
        "plugins",
        "logs",
        "patterns",
        "page_style",
        "usable_resources",
        "chinese_words",
        "plain_pickle",
    ),
    ("verdict_store",),
    ("query_result",),
    (
        "schema_validation",
        "containment",
        "text_similarity",
        "sqlite_queries",
        "duckdb_queries",
        "sql_dialects",
    ),
    ("reference_formats",),
    ("puzzles", "gym_scorers"),
    # judging one completion
    ("mathematics", "sandbox", "instructions", "tool_calls", "structures", "model_judge"),
    ("code",),
    ("proofs",),
    ("verifiers",),
    ("profiles",),
    ("schemas",),
    # judging requests
    ("workers",),
    ("engine",),
    ("large_requests", "file_scoring"),
    # calls
    ("http",),
    ("compat",),
    ("executions", "sessions"),
    ("call_process",),
    # what is started
    ("settings", "settings_options", "console"),
    ("worker_pools",),
    ("app",),
    ("server",),
    ("inspection", "fleet", "history", "audit"),
    ("commands",),
    ("cli",),
    ("__main__",),
)
"""The modules and folders of `verifier_service`, the lowest first. Each imports from its own row
and from the rows before it."""


def modules(package: str) -> dict[str, Path]:
    """The files of a package by the names of their modules."""
    found = {}
    for path in (ROOT / package).rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported_at_run_time(node: ast.AST, *, in_functions: bool) -> Iterator[str]:
    """The names that a piece of source imports; those for types only are left out."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "an import names its package"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif in_functions or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for child in run_time_children(node):
            yield from imported_at_run_time(child, in_functions=in_functions)


def run_time_children(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return node.orelse
    # An expression imports nothing.
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


@cache
def import_graph(package: str, *, in_functions: bool) -> dict[str, set[str]]:
    """The modules of a package that run when each of its modules is imported."""
    files = modules(package)
    graph: dict[str, set[str]] = {}
    for module, path in files.items():
        graph[module] = set()
        tree = ast.parse(path.read_text())
        for name in imported_at_run_time(tree, in_functions=in_functions):
            target = name if name in files else name.rpartition(".")[0]
            # A folder's `__init__` runs before its modules do, if the import comes from elsewhere.
            while target in files and not f"{module}.".startswith(f"{target}."):
                graph[module].add(target)
                target = target.rpartition(".")[0]
    return graph


def part_of(module: str) -> str:
    """The folder of a module, or the module itself if it stands at the top of its package."""
    return module.split(".")[1]


def parts_graph(package: str) -> dict[str, set[str]]:
    """The folders and top modules from which each folder and each top module imports."""
    graph: defaultdict[str, set[str]] = defaultdict(set)
    for module, targets in import_graph(package, in_functions=True).items():
        if module != package:
            graph[part_of(module)] |= {part_of(one) for one in targets} - {part_of(module)}
    return graph


def cycle_in(graph: dict[str, set[str]]) -> list[str] | None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return None


@pytest.mark.parametrize(
    ("package", "in_functions"), [("verifier_service", True), ("trainer_client", False)]
)
def test_no_modules_import_each_other(package: str, in_functions: bool) -> None:
    """Each module can be imported alone, whichever comes first."""
    assert cycle_in(import_graph(package, in_functions=in_functions)) is None


def test_no_folders_of_the_service_import_each_other() -> None:
    assert cycle_in(parts_graph("verifier_service")) is None


def test_every_part_of_the_service_has_a_layer() -> None:
    listed = [part for layer in LAYERS for part in layer]
    assert sorted(listed) == sorted(parts_graph("verifier_service"))


def test_the_service_imports_down_its_layers_only() -> None:
    height = {part: index for index, layer in enumerate(LAYERS) for part in layer}
    upward = [
        f"{part} imports {target}"
        for part, targets in parts_graph("verifier_service").items()
        for target in sorted(targets)
        if height[target] > height[part]
    ]
    assert upward == []


def test_importing_the_service_imports_nothing_else_of_it() -> None:
    assert import_graph("verifier_service", in_functions=True)["verifier_service"] == set()


def test_an_import_for_types_only_makes_no_cycle() -> None:
    source = "if TYPE_CHECKING:\n    import a\nelse:\n    import b\ndef f():\n    import c\n"
    tree = ast.parse(source)
    assert list(imported_at_run_time(tree, in_functions=True)) == ["b", "c"]
    assert list(imported_at_run_time(tree, in_functions=False)) == ["b"]
    assert cycle_in({"a": {"b"}, "b": {"a"}}) is not None
