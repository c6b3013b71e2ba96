"""The process that compiles a Python program and does not run it."""

from __future__ import annotations

import marshal

from verifier_service.sandbox.entries import (
    MAX_COMPILED_BYTES,
    PROGRAM_FILE,
    EntryContext,
    compile_program,
)


def compile_only(context: EntryContext) -> None:
    """Sandbox entry. The result is a payload for the entry `compiled`; empty if it is too large."""
    compiled_code = marshal.dumps(compile_program(context, PROGRAM_FILE))
    assert context.result is not None
    with open(context.result, "wb") as file:
        file.write(compiled_code if len(compiled_code) <= MAX_COMPILED_BYTES else b"")
