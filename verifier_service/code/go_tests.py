"""Tests of Go as a program: what `go test` makes of a file whose tests the command cannot find."""

from __future__ import annotations

import re

# Comments, strings and runes, to their end or that of the line or file: `"a"`, `/* b */`, `'c'`.
_LITERAL = re.compile(
    rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|`[^`]*(?:`|\Z)"
    rb"|\"(?:[^\"\\\n]|\\[^\n])*\"?|'(?:[^'\\\n]|\\[^\n])*'?"
)
_CHARACTER = re.compile(rb"[^\n]")
# The clause of the package: "package main".
_PACKAGE = re.compile(rb"^[ \t]*package[ \t]+(\w+)", re.MULTILINE)
# A main function of the file's own: "func main()".
_MAIN = re.compile(rb"^[ \t]*func[ \t]+(main)\b[ \t]*\(", re.MULTILINE)
# A test: "func TestSum(t *testing.T)".
_TEST = re.compile(
    rb"^[ \t]*func[ \t]+(Test(?:[^\Wa-z]\w*)?)[ \t]*\([ \t]*\w+[ \t]+\*testing\.T[ \t]*\)",
    re.MULTILINE,
)


def with_main(source: bytes) -> bytes:
    r"""The source as a program that runs its tests, with its own lines before ours.

    >>> with_main(b"package sums\nimport \"testing\"\nfunc TestOne(t *testing.T) {}").splitlines()
    ... # doctest: +NORMALIZE_WHITESPACE
    [b'package main', b'import "testing"', b'func TestOne(t *testing.T) {}',
     b'func main() { testing.Main(func(_, _ string) (bool, error) { return true, nil },
     []testing.InternalTest{{"TestOne", TestOne}}, nil, nil) }']
    """
    code = _LITERAL.sub(_blank, source)
    tests = b", ".join(b'{"%s", %s}' % (name, name) for name in _TEST.findall(code))
    changes = [(_PACKAGE.search(code), b"main"), (_MAIN.search(code), b"mainOfFile")]
    spans = [(found.span(1), new) for found, new in changes if found is not None]
    for (start, end), new in sorted(spans, reverse=True):
        source = source[:start] + new + source[end:]
    every = b"func(_, _ string) (bool, error) { return true, nil }"
    call = b"testing.Main(%s, []testing.InternalTest{%s}, nil, nil)" % (every, tests)
    return b"%s\nfunc main() { %s }\n" % (source, call)


def _blank(literal: re.Match[bytes]) -> bytes:
    return _CHARACTER.sub(b" ", literal[0])
