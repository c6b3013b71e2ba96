"""JSON Schema in bounded time: patterns by RE2, `uniqueItems` linear in the document.

`jsonschema` validates. Its patterns are those of `re`, which take exponential time on some texts,
and its search for equal items is quadratic where items have no order. Both are replaced here, so
that no document can make a schema slow that is quick otherwise. So is `multipleOf`, which divides
floats: 19.99 would be no multiple of 0.01.

Importing this module takes 0.1 s, and checking a schema takes as long for 14 kB. Only workers do.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from jsonschema import (
    Draft3Validator,
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
    _keywords,
    _legacy_keywords,
    _utils,
)
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, specification_with

from verifier_service.patterns import compiled

MAX_PATH = 200
"""Longest path that a verdict tells, in characters."""
MAX_PROBLEM = 100
"""Longest message about a schema besides the path, in characters."""
_DRAFTS: tuple[Any, ...] = (
    *(Draft3Validator, Draft4Validator, Draft6Validator),
    *(Draft7Validator, Draft201909Validator, Draft202012Validator),
)
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("if", "then", "else", "not")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class BadSchema(ValueError):
    """A schema cannot be used, whatever the document is; the message says why."""


def validator_of(schema: dict[str, Any] | bool) -> Validator:
    """Make the validator of a schema. Nothing is fetched.

    Raises:
        BadSchema: the schema is invalid, refers to anything outside it or to itself without end, or
            has a pattern that RE2 does not take. A schema that passes decides on every document.
    """
    draft: Any
    try:
        draft = validator_for(schema, default=Draft202012Validator)
        draft.check_schema(schema)
    except SchemaError as error:
        place = BrokenRule.at("", error.absolute_path).path
        told = f"{place}: {error.message}" if place else error.message
        raise BadSchema(f"it is no JSON Schema: {told[: MAX_PATH + MAX_PROBLEM]}") from error
    # Odd addresses raise the first two, endless nesting the last.
    except (ValueError, OverflowError, RecursionError) as error:
        raise BadSchema("it is no JSON Schema") from error
    try:
        _Walk().see(*_root(schema, draft))
    except Unresolvable as error:
        raise BadSchema("it refers to what is not in it; nothing is fetched") from error
    except RecursionError as error:
        raise BadSchema("it is nested too deeply") from error
    # The default registry would fetch addresses; this one has the published schemas only.
    validator: Validator = draft(schema, registry=REGISTRY)
    return validator


class BrokenRule(NamedTuple):
    """A rule of a schema that a document breaks."""

    keyword: str
    """`required`, `type`, ..."""
    path: str
    """Place in the document as a JSON pointer, `/items/0/price`, cut; empty for all of it."""

    @classmethod
    def at(cls, keyword: str, path: Iterable[str | int]) -> BrokenRule:
        """The rule that a value breaks to which a path leads."""
        keys = (str(key).replace("~", "~0").replace("/", "~1") for key in path)
        return cls(keyword, "".join(f"/{key}" for key in keys)[:MAX_PATH])


def first_broken_rule(validator: Validator, document: Any) -> BrokenRule | None:
    """The first rule that a document breaks; None where it breaks none."""
    error = next(iter(validator.iter_errors(document)), None)
    if error is None:
        return None
    return BrokenRule.at(str(error.validator), error.absolute_path)


def _root(schema: Any, draft: Any) -> tuple[Resource[Any], Any]:
    """The schema as a resource, and what finds the addresses in it."""
    dialect = draft.META_SCHEMA.get("$schema") or draft.META_SCHEMA.get("id", "")
    resource = specification_with(dialect, default=DRAFT202012).create_resource(schema)
    try:
        return resource, REGISTRY.resolver_with_root(resource)
    except ValueError as error:
        raise BadSchema("its address is none") from error


class _Walk:
    """A walk over all of a schema that a document can lead to."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._applied: set[int] = set()
        """Subschemas that apply to the place in the document at which the walk is."""

    def see(self, resource: Resource[Any], resolver: Any) -> None:
        """Check a schema and what it refers to. Raises BadSchema or Unresolvable."""
        schema = resource.contents
        if id(schema) in self._applied:
            raise BadSchema("it refers to itself without end")
        if not isinstance(schema, dict) or id(schema) in self._seen:
            return
        _check_patterns(schema)
        self._applied.add(id(schema))
        for target, found in _targets(schema, resource, resolver):
            self.see(target, found)
        in_place = {id(part) for part in _in_place(schema)}
        inner = list(resource.subresources())
        for part in inner:
            if id(part.contents) in in_place:
                self.see(part, resolver.in_subresource(part))
        self._applied.remove(id(schema))
        self._seen.add(id(schema))
        outside, self._applied = self._applied, set()
        for part in inner:
            if id(part.contents) not in in_place:
                self.see(part, resolver.in_subresource(part))
        self._applied = outside


def _targets(
    schema: dict[str, Any], resource: Resource[Any], resolver: Any
) -> Iterator[tuple[Resource[Any], Any]]:
    for name in _REFERENCES:
        address = schema.get(name)
        if isinstance(address, str):
            try:
                found = resolver.lookup(address)
            except ValueError as error:
                raise BadSchema("an address in it is none") from error
            specification = resource._specification
            yield specification.create_resource(found.contents), found.resolver


def _in_place(schema: dict[str, Any]) -> Iterator[Any]:
    """The parts of a schema that apply to the same place in the document as it does."""
    for name in _IN_PLACE_LISTS:
        parts = schema.get(name)
        yield from parts if isinstance(parts, list) else ()
    yield from (schema[name] for name in _IN_PLACE if name in schema)
    for name in ("dependentSchemas", "dependencies"):
        parts = schema.get(name)
        yield from parts.values() if isinstance(parts, dict) else ()


def _check_patterns(schema: dict[str, Any]) -> None:
    patterns = [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
    named = schema.get("patternProperties")
    patterns += named if isinstance(named, dict) else ()
    if len(patterns) > 1:  # `additionalProperties` asks for all at once
        patterns.append("|".join(patterns))
    for pattern in patterns:
        try:
            compiled(pattern)
        except ValueError as error:
            raise BadSchema(f"RE2 does not take the pattern {pattern[:60]!r}") from error


@lru_cache(maxsize=64)
def _search_of(pattern: str) -> Any:
    return compiled(pattern).search


def _search(pattern: str, text: str) -> Any:
    """Search as `re.search` does. RE2 reads UTF-8, in which a lone surrogate has no place."""
    return _search_of(pattern)(text.encode("utf-8", "replace").decode())


def _has_unique_items(items: list[Any]) -> bool:
    """Whether no two items are equal, in time linear in their size."""
    known: dict[int, str] = {}
    return len({_fingerprint(item, known) for item in items}) == len(items)


def _fingerprint(value: Any, known: dict[int, str]) -> str:
    """A text that equal values of JSON share, and others do not: 1 and 1.0 do, 1 and true not.

    Args:
        value: value of JSON.
        known: fingerprints of lists and objects by `id`.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, list | dict):
        return f"{type(value).__name__} {value!r}"
    if id(value) not in known:
        if isinstance(value, list):
            parts = [_fingerprint(item, known) for item in value]
        else:
            parts = sorted(f"{key!r}: {_fingerprint(item, known)}" for key, item in value.items())
        text = f"{type(value).__name__} {len(parts)} " + ", ".join(parts)
        known[id(value)] = hashlib.blake2b(text.encode()).hexdigest()
    return known[id(value)]


def _multiple_of(
    validator: Validator, divisor: float, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    """The error of a number that is no multiple, by the decimals in which both are written."""
    if not validator.is_type(instance, "number"):
        return
    if not _is_finite(instance) or _exact(instance) % _exact(divisor):
        yield ValidationError(f"{instance!r} is not a multiple of {divisor!r}")


def _is_finite(number: float) -> bool:
    """Whether a number is one of JSON's; YAML and TOML have infinity, too."""
    return isinstance(number, int) or math.isfinite(number)


def _exact(number: float) -> Fraction:
    return Fraction(number if isinstance(number, int) else repr(number))


def _replace(module: Any, name: str, old: Any, new: Any) -> None:
    """Replace a name of jsonschema. Raises ImportError where this version lacks it."""
    if getattr(module, name, None) is not old:
        raise ImportError(f"this version of jsonschema has no {module.__name__}.{name}")
    setattr(module, name, new)


for _module in (_keywords, _legacy_keywords, _utils):
    _replace(_module, "re", re, SimpleNamespace(search=_search))
_replace(_keywords, "uniq", _utils.uniq, _has_unique_items)
for _draft in _DRAFTS:
    _draft.VALIDATORS.update(
        {
            name: _multiple_of
            for name, function in _draft.VALIDATORS.items()
            if function is _keywords.multipleOf
        }
    )
