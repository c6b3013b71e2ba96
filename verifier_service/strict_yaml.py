"""YAML whose mappings have each key once, read in linear time.

YAML forbids a key twice, and PyYAML takes the last one without a word. Its scanner takes quadratic
time in brackets, and its numbers may be of any length.

libyaml reads most texts in a tenth of PyYAML's time. The two differ at some texts, which are left
to PyYAML, and so is every text that libyaml refuses: PyYAML alone says what is no YAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import yaml

TWICE = "a key stands twice in a mapping"
MAX_BRACKETS = 100
"""Most brackets of which each is within the one before."""
MAX_NUMBER_CHARACTERS = 1_000


def load(text: str | bytes, check: Callable[[yaml.Node | None], None] | None = None) -> Any:
    """The value of a YAML text, without objects of Python's.

    Args:
        text: YAML.
        check: is called with the text's node before any value is made.

    Raises:
        yaml.YAMLError: the text is no YAML, a mapping in it has a key twice, or it is over the
            bounds above.

    >>> load("a: 1\\nb: {c: 2, c: 3}")
    Traceback (most recent call last):
    yaml.constructor.ConstructorError: a key stands twice in a mapping
      in "<unicode string>", line 2, column 11:
        b: {c: 2, c: 3}
                  ^
    """
    if isinstance(text, str) and _is_read_alike(text):
        with suppress(yaml.YAMLError):
            return _load(_LibyamlLoader, text, check)
    return _load(_PythonLoader, text, check)


# A tag, or the `|#` of a block with a comment that no space parts from it.
_READ_DIFFERENTLY = re.compile(r"!|[|>][-+0-9]*+#")


def _is_read_alike(text: str) -> bool:
    """Whether libyaml, if it is there, reads a text as PyYAML does, or refuses it.

    They differ at tabs, at characters that end lines in Unicode alone, at byte order marks, and at
    question marks in the words of a list or object in brackets.
    """
    if "?" in text and ("[" in text or "{" in text):
        return False
    is_plain = text.replace("\n", "").isprintable()
    return is_plain and yaml.__with_libyaml__ and not _READ_DIFFERENTLY.search(text)


def _load(
    loader_type: Any,
    text: str | bytes,
    check: Callable[[yaml.Node | None], None] | None,
) -> Any:
    loader = loader_type(text)
    try:
        node = loader.get_single_node()
        if check is not None:
            check(node)
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


_TAGS_OF_TEXTS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "merge", "value"))
"""Tags of keys that are the text as it is written; `<<` is one, and has no value."""


class _StrictConstructor(yaml.constructor.SafeConstructor):
    """The safe constructor, but for mappings that have a key twice."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Refuse a key that the mapping itself has twice, then add what `<<` merges into it."""
        known = set()
        for key, _ in node.value:
            name = self._name(key)
            if name in known:
                raise yaml.constructor.ConstructorError(problem=TWICE, problem_mark=key.start_mark)
            known.add(name)
        super().flatten_mapping(node)

    def _name(self, key: yaml.Node) -> Any:
        """A value that equal keys share: `1`, `0x1` and `1.0` are one key of a mapping."""
        if not isinstance(key, yaml.ScalarNode):
            return key
        if key.tag in _TAGS_OF_TEXTS:
            return key.tag, key.value
        return self.construct_object(key)


_READ_NUMBER = {
    "tag:yaml.org,2002:int": yaml.SafeLoader.construct_yaml_int,
    "tag:yaml.org,2002:float": yaml.SafeLoader.construct_yaml_float,
}


class _PythonLoader(_StrictConstructor, yaml.SafeLoader):
    """PyYAML's reader, with a bound on brackets."""

    def forward(self, length: int = 1) -> None:
        """Pass characters at once where none of them ends a line or takes no column.

        PyYAML looks at each character by itself, which is a third of the time of a document.
        """
        end = self.pointer + length
        if end + 1 < len(self.buffer) and self.buffer[self.pointer : end].isprintable():
            self.pointer = end
            self.index += length
            self.column += length
        else:
            super().forward(length)

    def need_more_tokens(self) -> bool | None:
        """Look for keys that have become stale only where a token may be a key."""
        if self.tokens and not self.possible_simple_keys:
            return False
        return super().need_more_tokens()

    def fetch_flow_collection_start(self, TokenClass: type[yaml.Token]) -> None:
        """Refuse a bracket within too many."""
        if self.flow_level >= MAX_BRACKETS:
            mark = self.get_mark()
            raise yaml.scanner.ScannerError(problem="too many brackets", problem_mark=mark)
        super().fetch_flow_collection_start(TokenClass)


class _LibyamlLoader(_StrictConstructor, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """libyaml's reader, which without a bound would use the stack of C for each level."""

    _depth = 0

    def descend_resolver(self, current_node: yaml.Node | None, current_index: Any) -> None:
        """Refuse a node that is within too many; the reader calls this before each node."""
        self._depth += 1
        if self._depth > MAX_BRACKETS:
            raise yaml.composer.ComposerError(problem="nested too deeply")
        super().descend_resolver(current_node, current_index)

    def ascend_resolver(self) -> None:
        """Leave a node."""
        self._depth -= 1
        super().ascend_resolver()


def _read_number(loader: Any, node: yaml.ScalarNode) -> Any:
    """The value of a number, unless it is too long to be read in no time."""
    if len(node.value) > MAX_NUMBER_CHARACTERS:
        raise yaml.constructor.ConstructorError(
            problem="a number is too long", problem_mark=node.start_mark
        )
    return _READ_NUMBER[node.tag](loader, node)


for _tag in _READ_NUMBER:
    _PythonLoader.add_constructor(_tag, _read_number)
    _LibyamlLoader.add_constructor(_tag, _read_number)
