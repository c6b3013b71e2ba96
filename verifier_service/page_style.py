"""The style that pages of commands share, and hashes for their content security policies."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

STYLE = Path(__file__).with_name("page_style.css")


def read_template(path: Path) -> str:
    """A page's template with the shared style in the place of `/*STYLE*/`."""
    style = STYLE.read_text(encoding="utf-8")
    return path.read_text(encoding="utf-8").replace("/*STYLE*/\n", style)


def source_hash(inside: str) -> str:
    """The content of a script or style element as a source of a content security policy.

    >>> source_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'"
