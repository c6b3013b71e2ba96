"""YAML whose mappings have each key once.

YAML forbids a key twice, and PyYAML takes the last one without a word.
"""

from __future__ import annotations

from typing import Any

import yaml

TWICE = "a key stands twice in a mapping"


def load(text: str | bytes) -> Any:
    """The value of a YAML text, without objects of Python's.

    Raises:
        yaml.YAMLError: the text is no YAML, or a mapping in it has a key twice.

    >>> load("a: 1\\nb: {c: 2, c: 3}")
    Traceback (most recent call last):
    yaml.constructor.ConstructorError: a key stands twice in a mapping
      in "<unicode string>", line 2, column 11:
        b: {c: 2, c: 3}
                  ^
    """
    return yaml.load(text, _DistinctKeys)


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
