"""Namespaces that a program of modern .NET uses without naming them, for Mono's compiler.

The list is that of `<ImplicitUsings>` for console programs, without `System.Net.Http`, whose
library Mono's compiler is not given. A source is changed only after it did not compile, so one that
names its namespaces is compiled as it stands, and none of its names becomes ambiguous.
"""

from __future__ import annotations

import re

_USINGS = b"".join(
    b"using %s; " % name
    for name in (
        b"System",
        b"System.Collections.Generic",
        b"System.IO",
        b"System.Linq",
        b"System.Threading",
        b"System.Threading.Tasks",
    )
)
# A name, a type, a method, a type with arguments or a method for a query that is not found: "error
# CS0103: The name `Console' does not exist", "error CS0308: The non-generic type `IEnumerable'".
_NOT_FOUND = re.compile(rb"error CS(?:0103|0246|0308|1061|1935):")
# What stands before all usings: white space, comments, "#define X", "extern alias Y;". Without the
# possessive repeats, the places to try again would take a hundred times the memory of the source.
_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|//[^\n]*\n|/\*(?:[^*]++|\*(?!/))*+\*/"
    rb"|#[ \t]*(?:define|undef|pragma|nullable|region|endregion)[^\n]*\n"
    rb"|extern\s+alias\s+\w+\s*;)*+"
)


def with_usings(source: bytes, messages: bytes) -> bytes | None:
    r"""The source with the usings, numbers of lines as before; None if it lacks no name.

    Args:
        source: source of a program that did not compile.
        messages: messages of the compiler.

    >>> with_usings(b"class P { }", b"main.cs(1,9): error CS1525: Unexpected symbol")
    >>> found = with_usings(b"#define X\nclass P { }", b"main.cs(2,9): error CS0103: The name")
    >>> found.splitlines()[0], found.splitlines()[2:]
    (b'#define X', [b'#line 2', b'class P { }'])
    """
    if not _NOT_FOUND.search(messages):
        return None
    head = _HEAD.match(source)
    assert head is not None  # it matches nothing, too
    end = head.end()
    line = source.count(b"\n", 0, end) + 1
    return b"%s%s\n#line %d\n%s" % (source[:end], _USINGS, line, source[end:])
