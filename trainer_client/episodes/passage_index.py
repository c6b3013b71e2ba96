"""Passages of a folder of documents, found by BM25 (the library `bm25s`, extra `search`).

Files are read in the order of their names: `.txt` and `.md` are a document each, of `.jsonl` each
line is one. The index is in memory and the same for the same files, on any machine.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MAX_PASSAGE_CHARACTERS = 800
"""Longest passage; a longer document is several, cut between words."""
TEXT_KEYS = ("text", "contents", "content", "passage")
"""Keys of a JSON line that may have the text, the first one that is there."""
SUFFIXES = (".txt", ".md", ".jsonl")
# A word, or one character of Chinese, Japanese or Thai, which put no spaces between words: `日`.
_WORD = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0e7f\u3040-\u9fff]+")


@dataclass(frozen=True)
class Passage:
    """A part of a document."""

    title: str
    """The document's `title`, or its `id`, or the path of its file below the folder."""
    text: str


class PassageIndex:
    """Ranks passages by the words that they share with a query.

    Args:
        passages: at least one.

    Raises:
        ValueError: there is no passage, or the library is not installed.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        if not passages:
            raise ValueError("there is no document to search")
        try:
            library = importlib.import_module("bm25s")
        except ImportError as error:
            raise ValueError(
                f"search_tool needs bm25s ({error}): pip install 'reward-verifier[search]'"
            ) from error
        self.passages = tuple(passages)
        # With another backend the scores could differ in their last bits.
        self._scorer: Any = library.BM25(backend="numpy")
        self._scorer.index(
            [words_in(f"{one.title}\n{one.text}") for one in passages], show_progress=False
        )

    def best(self, query: str, count: int) -> list[Passage]:
        """At most `count` passages that have a word of the query, the best first.

        Of two passages with one score the one that was read first comes first.
        """
        words = words_in(query)
        if not words:
            return []
        scores = self._scorer.get_scores(words)
        order = np.argsort(-scores, kind="stable")[:count]
        return [self.passages[index] for index in order.tolist() if scores[index] > 0]


def words_in(text: str) -> list[str]:
    """The words of a text in lower case; a script without spaces has words of one character.

    >>> words_in("BM25 ranks the 東京 pages.")
    ['bm25', 'ranks', 'the', '東', '京', 'pages']
    """
    return _WORD.findall(text.casefold())


def read_passages(folder: Path) -> list[Passage]:
    """The passages of a folder's files, or of one file.

    Raises:
        ValueError: a file cannot be read; the message has its name and line.
    """
    if not folder.exists():
        raise ValueError(f"there is no folder of documents {str(folder)!r}")
    files = [folder] if folder.is_file() else _files(folder)
    passages = [
        Passage(title, part)
        for file in files
        for title, text in _documents(file, folder)
        for part in _parts(text)
    ]
    if not passages:
        raise ValueError(
            f"{str(folder)!r} has no documents: expected files {', '.join(SUFFIXES)} with text"
        )
    return passages


def _files(folder: Path) -> list[Path]:
    found = (file for file in folder.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    return sorted(found, key=lambda file: file.relative_to(folder).as_posix())


def _documents(file: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Title and text of each document in a file."""
    name = file.name if file == folder else file.relative_to(folder).as_posix()
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the document {str(file)!r} cannot be read: {error}") from error
    if file.suffix != ".jsonl":
        yield name, content
        return
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            yield _json_document(line, f"{str(file)!r}, line {number}", f"{name}:{number}")


def _json_document(line: str, place: str, name: str) -> tuple[str, str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not valid JSON") from error
    row = row if isinstance(row, dict) else {}
    text = next((row[key] for key in TEXT_KEYS if isinstance(row.get(key), str)), None)
    if text is None:
        raise ValueError(f"{place}: expected an object with a text in one of {list(TEXT_KEYS)}")
    return str(row.get("title") or row.get("id") or name), text


def _parts(text: str) -> Iterator[str]:
    """Parts of at most MAX_PASSAGE_CHARACTERS, cut at white space where there is some."""
    begin = 0
    while begin < len(text):
        end = begin + MAX_PASSAGE_CHARACTERS
        if end < len(text):
            cut = max(text.rfind("\n", begin, end), text.rfind(" ", begin, end))
            end = cut if cut > begin else end
        part = text[begin:end].strip()
        if part:
            yield part
        begin = end
