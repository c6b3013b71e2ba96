"""Names that runtimes ask for: of the source's file, and of the class to start."""

from __future__ import annotations

import re
from collections.abc import Mapping

# A declaration of a public type: "public final class Main".
_PUBLIC_TYPE = re.compile(
    rb"^\s*public\s+(?:(?:final|abstract|strictfp|sealed)\s+)*(?:class|enum|record|interface)\s+"
    rb"([A-Za-z_]\w*)",
    re.MULTILINE,
)
# A line of a module: "import fs from 'fs'", "export const a = 1".
_MODULE_LINE = re.compile(
    rb"^\s*(?:import\s+(?:[\w*{][^;'\"(]*\sfrom\s*)?['\"]|export\s+(?:default|const|function|\{))",
    re.MULTILINE,
)


def java_file(source: bytes) -> str:
    """The name that javac asks of a file: that of its public type."""
    found = _PUBLIC_TYPE.search(source)
    return f"{found[1].decode()}.java" if found else "Main.java"


def javascript_file(source: bytes) -> str:
    """The name by which Node.js tells a module from a script."""
    return "main.mjs" if _MODULE_LINE.search(source) else "main.js"


def main_class(source_name: str, classes: Mapping[str, bytes]) -> str:
    """The class to start: that of the file, or `Main`, or the first with a main method."""
    names = sorted(name.removesuffix(".class") for name in classes if name.endswith(".class"))
    preferred = (source_name.removesuffix(".java"), "MainKt", "Main")
    starts = [name for name in names if _has_main(classes[f"{name}.class"])]
    for simple in preferred:
        for name in starts:
            if name.rpartition("/")[2] == simple:
                return name.replace("/", ".")
    return (starts or list(preferred))[0].replace("/", ".")


def _has_main(compiled: bytes) -> bool:
    return b"\x00\x04main" in compiled and b"([Ljava/lang/String;)V" in compiled
