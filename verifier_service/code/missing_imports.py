"""Names that a program uses and does not define, as judges of calls have imported them.

Data sets of calls run a program behind imports of their own: LeetCode's, LiveCodeBench's, and
HumanEval's prompt, which begins with `from typing import List`. A completion repeats the function
and leaves them out. Names of `typing` are given to every program, since they stand in annotations
alone; all that LeetCode has imported, and its nodes, to one that defines `class Solution`.
"""

from __future__ import annotations

import builtins
import collections
import dis
import importlib
import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any

from verifier_service.code.node_helpers import LIST_NODE, TREE_NODE

LEETCODE_CLASS = "Solution"
_LEETCODE_MODULES = (
    *("collections", "functools", "itertools", "heapq", "bisect", "math", "string", "operator"),
    *("re", "random", "copy", "datetime", "statistics", "json", "io", "sys"),
)
"""Modules of which LeetCode has every name; the first that has one decides."""
_LEETCODE_PACKAGES = {"SortedList": "sortedcontainers", "SortedDict": "sortedcontainers"}
_PACKAGES = {"np": "numpy", "numpy": "numpy", "sortedcontainers": "sortedcontainers"}
_NODES = {"ListNode": LIST_NODE, "TreeNode": TREE_NODE}
# Without `Counter` and the like, which are not for annotations alone.
_TYPING = frozenset(typing.__all__).difference(collections.__all__)
_READS = {"LOAD_NAME", "LOAD_GLOBAL"}


def give_usual_names(code: types.CodeType, namespace: dict[str, Any]) -> None:
    """Define, before a program runs, the usual names that it reads and nothing defines.

    >>> given: dict[str, Any] = {}
    >>> give_usual_names(compile("x: List = []; y = List[int]", "", "exec"), given)
    >>> list(given)
    ['List']
    """
    parts = list(_all_code(code))
    mentioned = {name for part in parts for name in part.co_names}
    if mentioned.isdisjoint(_TYPING) and LEETCODE_CLASS not in mentioned:
        return
    read, written = _names(parts)
    missing = sorted(read - written - namespace.keys() - vars(builtins).keys())
    is_leetcode = LEETCODE_CLASS in written
    for name in missing:
        found = _of_leetcode(name) if is_leetcode else {}
        if not found and name in _TYPING:
            found = {name: getattr(typing, name)}
        namespace.update(found)


def _names(parts: Iterable[types.CodeType]) -> tuple[set[str], set[str]]:
    """Names of the module that code reads, and those that it writes; the module's code is first."""
    read: set[str] = set()
    written: set[str] = set()
    for index, one in enumerate(parts):
        writes = {"STORE_GLOBAL"} if index else {"STORE_GLOBAL", "STORE_NAME"}  # else: of a class
        for instruction in dis.get_instructions(one):
            if instruction.opname in _READS:
                read.add(instruction.argval)
            elif instruction.opname in writes:
                written.add(instruction.argval)
    return read, written


def _all_code(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code itself, and that of all its functions and classes."""
    waiting = [code]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [inner for inner in one.co_consts if isinstance(inner, types.CodeType)]


def _of_leetcode(name: str) -> dict[str, Any]:
    """A name as LeetCode has it; empty where it has none, or this machine lacks its package."""
    if name in _NODES:
        nodes: dict[str, Any] = {"__name__": "solution"}
        exec(_NODES[name], nodes)
        return {name: nodes[name]}
    try:
        if name in _LEETCODE_MODULES or name in _PACKAGES:
            return {name: importlib.import_module(_PACKAGES.get(name, name))}
        if name in _LEETCODE_PACKAGES:
            return {name: getattr(importlib.import_module(_LEETCODE_PACKAGES[name]), name)}
    except ImportError:
        return {}
    for module in map(importlib.import_module, _LEETCODE_MODULES):
        if name in getattr(module, "__all__", ()) or (name[0] != "_" and hasattr(module, name)):
            return {name: getattr(module, name)}
    return {}
