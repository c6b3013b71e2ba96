"""YAML whose mappings have each key once: PyYAML takes the last of two without a word.

`verifier_service.strict_yaml` is the service's; the two packages are installed apart.
"""

from __future__ import annotations

from typing import Any

import yaml


def load(text: str) -> Any:
    """The value of a YAML text.

    Raises:
        yaml.YAMLError: the text is no YAML, or a mapping in it has a key twice.

    >>> load("train: {steps: 1, steps: 2}")
    Traceback (most recent call last):
    yaml.constructor.ConstructorError: the key 'steps' stands twice
      in "<unicode string>", line 1, column 19:
        train: {steps: 1, steps: 2}
                          ^
    """
    return yaml.load(text, _DistinctKeys)


class _DistinctKeys(yaml.SafeLoader):
    """The safe loader, which refuses a key that a mapping has twice."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Compare the mapping's own keys, then add what `<<` merges into it."""
        known = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in known:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {key.value!r} stands twice", problem_mark=key.start_mark
                )
            known.add(key.value)
        super().flatten_mapping(node)
