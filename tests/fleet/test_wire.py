"""The wire tests of the service, each request asked of a fleet and of a single service."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

from tests.verifier_service import (
    test_compat_data_sets,
    test_compat_programs,
    test_compat_rewards,
    test_errors,
    test_explain,
    test_mixed_groups,
    test_poison,
    test_reference_formats,
    test_score,
    test_streaming,
)

pytestmark = pytest.mark.fleet

MODULES = (
    test_compat_data_sets,
    test_compat_programs,
    test_compat_rewards,
    test_errors,
    test_explain,
    test_mixed_groups,
    test_poison,
    test_reference_formats,
    test_score,
    test_streaming,
)


def wire_tests(module: ModuleType) -> type:
    """A class of those tests of a module that ask a service, which the fixture `http` is here."""
    tests = {
        name: staticmethod(function)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("test_") and set(inspect.signature(function).parameters) & {"http"}
    }
    assert tests, module.__name__
    title = "".join(part.title() for part in module.__name__.rpartition(".")[2].split("_"))
    return type(title, (), dict(tests))


globals().update({one.__name__: one for one in map(wire_tests, MODULES)})
