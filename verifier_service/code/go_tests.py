"""Tests of Go as a program: what `go test` makes of a file whose tests the command cannot find."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Comments, strings and runes, to their end or that of the line or file: `"a"`, `/* b */`, `'c'`.
_LITERAL = re.compile(
    r"//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|`[^`]*(?:`|\Z)"
    r"|\"(?:[^\"\\\n]|\\[^\n])*\"?|'(?:[^'\\\n]|\\[^\n])*'?"
)
_CHARACTER = re.compile(r"[^\n]")
# The clause of the package: "package main".
_PACKAGE = re.compile(r"^[ \t]*package[ \t]+(\w+)", re.MULTILINE)
# A main function of the file's own: "func main()".
_MAIN = re.compile(r"^[ \t]*func[ \t]+main\b[ \t]*\(", re.MULTILINE)
# That function where it is made or called, and what a method or a field of its name stands after:
# "main()", ".main()", "(it thing) main()".
_CALL = re.compile(r"([.)][ \t]*)?\bmain(?=[ \t]*\()")
# A test: "func TestSum(t *testing.T)", where the package may have another name, or none.
_TEST = re.compile(
    r"\bfunc\s+(Test(\w?)\w*)\s*\(\s*(?:\w+\s+)?\*\s*(?:\w+\s*\.\s*)?T\s*(?:,\s*)?\)"
)

# `t.TempDir` makes its directory there, and a sandbox has no /tmp.
_TEMPORARY = 'if place, err := osOfFile.Getwd(); err == nil { osOfFile.Setenv("TMPDIR", place) }'


def with_main(source: bytes) -> bytes:
    r"""The source as a program that runs its tests, with its own lines before ours.

    >>> with_main(b"package sums\nimport \"testing\"\nfunc TestOne(t *testing.T) {}").splitlines()
    ... # doctest: +NORMALIZE_WHITESPACE
    [b'package main; import (osOfFile "os"; testingOfFile "testing")', b'import "testing"',
     b'func TestOne(t *testing.T) {}',
     b'func main() { if place, err := osOfFile.Getwd(); err == nil
     { osOfFile.Setenv("TMPDIR", place) };
     testingOfFile.Main(func(_, _ string) (bool, error) { return true, nil },
     []testingOfFile.InternalTest{{"TestOne", TestOne}}, nil, nil) }']
    """
    text = source.decode(errors="surrogateescape")
    code = _LITERAL.sub(_blank, text)
    changes: list[tuple[tuple[int, int], str]] = []
    if (package := _PACKAGE.search(code)) is not None:
        changes.append((package.span(1), 'main; import (osOfFile "os"; testingOfFile "testing")'))
    if _MAIN.search(code) is not None:
        calls = [found for found in _CALL.finditer(code) if not found[1]]
        changes += [(found.span(), "mainOfFile") for found in calls]
    text = _changed(text, sorted(changes))
    tests = ", ".join(
        f'{{"{found[1]}", {found[1]}}}' for found in _TEST.finditer(code) if not found[2].islower()
    )
    every = "func(_, _ string) (bool, error) { return true, nil }"
    call = f"testingOfFile.Main({every}, []testingOfFile.InternalTest{{{tests}}}, nil, nil)"
    return f"{text}\nfunc main() {{ {_TEMPORARY}; {call} }}\n".encode(errors="surrogateescape")


def _changed(text: str, changes: Sequence[tuple[tuple[int, int], str]]) -> str:
    """The text with others in these places, in their order."""
    parts, rest = [], 0
    for (start, end), new in changes:
        parts += [text[rest:start], new]
        rest = end
    return "".join([*parts, text[rest:]])


def _blank(literal: re.Match[str]) -> str:
    return _CHARACTER.sub(" ", literal[0])
