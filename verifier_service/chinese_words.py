"""Words of Chinese text, which has no spaces between them: split by jieba, an optional package."""

from __future__ import annotations

import importlib.util
import re
import warnings
from functools import lru_cache
from typing import Any

PACKAGE = "jieba"
EXTRA = "chinese"
"""Extra of this project that installs the package."""


def can_split() -> bool:
    """Whether the package that splits Chinese text is installed."""
    return importlib.util.find_spec(PACKAGE) is not None


def load_dictionary() -> None:
    """Read jieba's dictionary, which takes about a second of CPU time; once in a process."""
    _tokenizer()


def chinese_words(text: str) -> list[str]:
    """The words of a text in order; white space and punctuation marks are words of their own."""
    cut = _tokenizer().cut
    return [word for piece in _PIECES.findall(text) for word in cut(piece)]


MAX_RUN = 2_000
"""Longest run of signs without white space or punctuation that jieba gets: it takes quadratic time
for one, and a longer run is split where it has so many."""
# Such a run, or what stands between two, as jieba tells them: `这个`, `。 `.
_PIECES = re.compile(
    rf"[\u4e00-\u9fd5a-zA-Z0-9+#&._%-]{{1,{MAX_RUN}}}|[^\u4e00-\u9fd5a-zA-Z0-9+#&._%-]+"
)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old ways of writing in jieba's source
        import jieba  # noqa: PLC0415
    tokenizer = jieba.Tokenizer()
    # jieba would look for a dictionary that it once wrote into the folder for temporary files, and
    # unmarshal it. Whoever may write there could put anything in its place.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer
