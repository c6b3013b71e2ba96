"""The toolchain of Racket."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from verifier_service.code.toolchains.compiled_libraries import preloaded
from verifier_service.code.toolchains.interpreters import interpreter
from verifier_service.code.toolchains.toolchain import Toolchain

RACKET_SELF = Path(__file__).with_name("racket_self.c")


def racket() -> Toolchain:
    """The toolchain of Racket. Raises ToolchainError."""
    found = interpreter(
        *("racket", "racket"),
        arguments=("main.rkt",),
        input_name="main.rkt",
        readable=("/usr/lib/racket", "/usr/share/racket", "/etc/racket"),
    )()
    assert found.runtime is not None
    library = preloaded(RACKET_SELF)
    environment = {
        "LD_PRELOAD": str(library),
        "RACKET_SELF": found.runtime.arguments[0],
        "TMPDIR": ".",
    }
    return dataclasses.replace(
        found,
        runtime=dataclasses.replace(found.runtime, environment=environment),
        tools=dataclasses.replace(found.tools, readable=(*found.tools.readable, library)),
    )
