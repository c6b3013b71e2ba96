"""Tests of Go as a program: what `go test` makes of a file whose tests the command cannot find."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Comments, strings and runes, to their end or that of the line or file: `"a"`, `/* b */`, `'c'`.
# The repeats are possessive: the places to try again would take a hundred times the source's
# memory.
_LITERAL = re.compile(
    r"//[^\n]*|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|`[^`]*(?:`|\Z)"
    r"|\"(?:[^\"\\\n]++|\\[^\n])*+\"?|'(?:[^'\\\n]++|\\[^\n])*+'?"
)
_CHARACTER = re.compile(r"[^\n]")
# The clause of the package: "package main".
_PACKAGE = re.compile(r"^[ \t]*package[ \t]+(\w+)", re.MULTILINE)
# A main function of the file's own: "func main()".
_MAIN = re.compile(r"^[ \t]*func[ \t]+main\b[ \t]*\(", re.MULTILINE)
# That function where it is made or called, and what a method or a field of its name stands after:
# "main()", ".main()", "(it thing) main()".
_CALL = re.compile(r"([.)][ \t]*)?\bmain(?=[ \t]*\()")
# A test, "func TestSum(t *testing.T)", where the package may have another name, or none; a fuzz
# test, which `go test` runs on its own examples; and "func TestMain(m *testing.M)".
_TEST = re.compile(
    r"\bfunc\s+((Test|Fuzz)(\w?)\w*)\s*"
    r"\(\s*(?:\w+\s+)?\*\s*(?:\w+\s*\.\s*)?([TFM])\s*(?:,\s*)?\)"
)
_IMPORTS = 'osOfFile "os"; reflectOfFile "reflect"; testdepsOfFile "testing/internal/testdeps"'
# `t.TempDir` makes its directory in TMPDIR, and a sandbox has no /tmp. The flag is what `go test`
# gives to a test, so that one that ends the process with 0 fails.
_START = (
    'if place, err := osOfFile.Getwd(); err == nil { osOfFile.Setenv("TMPDIR", place) }; '
    'osOfFile.Args = append(osOfFile.Args, "-test.paniconexit0"); '
    "m := testingOfFile.MainStart(testdepsOfFile.TestDeps{}, "
)
_RUN = "osOfFile.Exit(m.Run())"
# A TestMain that returns has run the tests. `go test` reads their exit code in this field as well.
_RUN_BY_MAIN = (
    'TestMain(m); osOfFile.Exit(int(reflectOfFile.ValueOf(m).Elem().FieldByName("exitCode").Int()))'
)


def with_main(source: bytes) -> bytes:
    r"""The source as a program that runs its tests, with its own lines before ours.

    >>> made = with_main(b"package sums\nimport \"testing\"\nfunc TestOne(t *testing.T) {}")
    >>> made.splitlines()[1:3]
    [b'import "testing"', b'func TestOne(t *testing.T) {}']
    >>> b'[]testingOfFile.InternalTest{{"TestOne", TestOne}}' in made.splitlines()[3]
    True
    """
    text = source.decode(errors="surrogateescape")
    code = _LITERAL.sub(_blank, text)
    changes: list[tuple[tuple[int, int], str]] = []
    if (package := _PACKAGE.search(code)) is not None:
        imports = f'main; import ({_IMPORTS}; testingOfFile "testing")'
        changes.append((package.span(1), imports))
    if _MAIN.search(code) is not None:
        calls = [found for found in _CALL.finditer(code) if not found[1]]
        changes += [(found.span(), "mainOfFile") for found in calls]
    text = _changed(text, sorted(changes))
    names: dict[str, list[str]] = {"TestT": [], "FuzzF": [], "TestM": []}
    for found in _TEST.finditer(code):
        if not found[3].islower():
            names.setdefault(found[2] + found[4], []).append(found[1])
    tests = f"[]testingOfFile.InternalTest{{{_pairs(names['TestT'])}}}"
    fuzz_tests = f"[]testingOfFile.InternalFuzzTarget{{{_pairs(names['FuzzF'])}}}"
    run = _RUN_BY_MAIN if "TestMain" in names["TestM"] else _RUN
    main = f"func main() {{ {_START}{tests}, nil, {fuzz_tests}, nil); {run} }}"
    used = "var _ = reflectOfFile.ValueOf"
    return f"{text}\n{main}; {used}\n".encode(errors="surrogateescape")


def _pairs(names: list[str]) -> str:
    return ", ".join(f'{{"{name}", {name}}}' for name in names)


def _changed(text: str, changes: Sequence[tuple[tuple[int, int], str]]) -> str:
    """The text with others in these places, in their order."""
    parts, rest = [], 0
    for (start, end), new in changes:
        parts += [text[rest:start], new]
        rest = end
    return "".join([*parts, text[rest:]])


def _blank(literal: re.Match[str]) -> str:
    return _CHARACTER.sub(" ", literal[0])
