"""Profiles: lists of verifiers with weights that a request asks for by name.

A YAML file adds more, or replaces one that is shipped:

    my_math:
      - {type: accuracy, weight: 1.0}
      - {type: repetition, weight: 0.2, ngram_size: 4}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from verifier_service import strict_json, strict_yaml
from verifier_service.errors import UnknownProfile
from verifier_service.validation import KnownNames, did_you_mean, first_problem
from verifier_service.verifier import Verifier
from verifier_service.verifiers import VERIFIERS, AnyVerifier
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.code import Code
from verifier_service.verifiers.code_format import CodeFormat
from verifier_service.verifiers.format import Format
from verifier_service.verifiers.tag_count import TagCount


def _names_are_unique(verifiers: list[Verifier]) -> list[Verifier]:
    keys = [verifier.key for verifier in verifiers]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"verifiers with the same name {twice}; give each its own `name`")
    return verifiers


MAX_VERIFIERS = 32
Verifiers = Annotated[
    list[AnyVerifier],
    Field(min_length=1, max_length=MAX_VERIFIERS),
    AfterValidator(_names_are_unique),
]
"""The verifiers that a request or a profile asks for."""
ProfileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]

SHIPPED: dict[str, Verifiers] = {
    "accuracy": [Accuracy(weight=1.0)],
    "math": [Accuracy(weight=1.0), Format(weight=0.1), TagCount(weight=0.05)],
    "code": [Code(weight=1.0), CodeFormat(weight=0.1)],
}

_KNOWN = KnownNames(verifiers=VERIFIERS, profiles=SHIPPED)
_list: TypeAdapter[Verifiers] = TypeAdapter(Verifiers)
_file: TypeAdapter[dict[str, Verifiers]] = TypeAdapter(dict[ProfileName, Verifiers])


def read_profiles(path: Path | None, enabled: Iterable[str]) -> dict[str, Verifiers]:
    """The profiles by name: the shipped ones that enabled verifiers can serve, and the file's.

    Args:
        path: of a YAML file with more profiles, or None.
        enabled: types of the verifiers that the service serves.

    Raises:
        ValueError: the file cannot be read, is not made of profiles, or asks for a verifier that is
            not enabled; the message says where.
    """
    usable = set(enabled)
    shipped = {name: every for name, every in SHIPPED.items() if _types(every) <= usable}
    if path is None:
        return shipped
    own = _profiles_in(path)
    for name, verifiers in own.items():
        if missing := sorted(_types(verifiers) - usable):
            raise ValueError(
                f"{path}: {name} asks for {missing}, which VERIFIER_ENABLED leaves out"
            )
    return shipped | own


def verifiers_from_arguments(arguments: Iterable[str | dict[str, Any]]) -> Verifiers:
    """Verifiers, each by its type or by its object in a request.

    Raises:
        ValueError: an argument is no verifier; the message names what is wrong.
    """
    items = [{"type": one} if isinstance(one, str) else one for one in arguments]
    try:
        return _list.validate_python(items)
    except ValidationError as error:
        raise ValueError(f"verifier {first_problem(error, known=_KNOWN)}") from error


@lru_cache(maxsize=1024)
def stored_verifier(options: str) -> Verifier | None:
    """The verifier with the options that a store has, in JSON.

    None where this version has no such verifier or option.
    """
    try:
        [verifier] = verifiers_from_arguments([strict_json.loads(options)])
    except ValueError:
        return None
    return verifier


def profile_named(name: str, profiles: Mapping[str, Verifiers]) -> Verifiers:
    """The verifiers of a profile. Raises UnknownProfile."""
    if name not in profiles:
        nearest = did_you_mean(name, profiles)
        known = ", ".join(map(repr, sorted(profiles)))
        raise UnknownProfile(f"no profile {name[:100]!r}; there are {known}{nearest}")
    return profiles[name]


def profiles_to_json(profiles: Mapping[str, Verifiers]) -> bytes:
    """The profiles for another process, with the options that are set: some exclude others."""
    found = {
        name: [{"type": one.type, **one.model_dump(exclude_unset=True)} for one in verifiers]
        for name, verifiers in profiles.items()
    }
    return json.dumps(found).encode()


def profiles_from_json(encoded: bytes) -> dict[str, Verifiers]:
    """The profiles from another process."""
    return _file.validate_json(encoded)


def _profiles_in(path: Path) -> dict[str, Verifiers]:
    try:
        found = strict_yaml.load(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {error}") from error
    try:
        return _file.validate_python(found)
    except ValidationError as error:
        problem = first_problem(error, known=_KNOWN)
        if not isinstance(found, dict):
            problem = f"the file: {problem}; expected names with lists of verifiers"
        raise ValueError(f"{path}: {problem}") from error


def _types(verifiers: Iterable[Verifier]) -> set[str]:
    return {verifier.type for verifier in verifiers}
