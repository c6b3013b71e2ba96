"""YAML whose mappings have each key once.

YAML forbids a key twice, and PyYAML takes the last one without a word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

TWICE = "a key stands twice in a mapping"


def load(text: str | bytes, check: Callable[[yaml.Node | None], None] | None = None) -> Any:
    """The value of a YAML text, without objects of Python's.

    Args:
        text: YAML.
        check: is called with the text's node before any value is made.

    Raises:
        yaml.YAMLError: the text is no YAML, or a mapping in it has a key twice.

    >>> load("a: 1\\nb: {c: 2, c: 3}")
    Traceback (most recent call last):
    yaml.constructor.ConstructorError: a key stands twice in a mapping
      in "<unicode string>", line 2, column 11:
        b: {c: 2, c: 3}
                  ^
    """
    loader = _DistinctKeys(text)
    try:
        node = loader.get_single_node()
        if check is not None:
            check(node)
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


class _DistinctKeys(yaml.SafeLoader):
    """The safe loader, but for mappings that have a key twice."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Refuse a key that the mapping itself has twice, then add what `<<` merges into it."""
        known = set()
        for key, _ in node.value:
            written = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else key
            if written in known:
                raise yaml.constructor.ConstructorError(problem=TWICE, problem_mark=key.start_mark)
            known.add(written)
        super().flatten_mapping(node)
