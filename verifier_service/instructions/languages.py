"""The language of a text, as the package langdetect tells it; its chance is seeded.

It is an extra (`pip install verifier-service[instructions]`), and takes 0.3 s to load.
"""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any

from verifier_service.instructions.constraint import MissingPackage

if TYPE_CHECKING:
    import numpy as np

MAX_CHARACTERS = 10_000
"""Characters of a text that are looked at: langdetect looks at so many itself."""


class NoLanguages(MissingPackage):
    """The package langdetect is not installed."""


@cache
def _detector_factory() -> Any:
    try:
        from langdetect import detector_factory  # noqa: PLC0415
    except ImportError as error:
        raise NoLanguages from error
    detector_factory.init_factory()
    factory = copy(detector_factory._factory)
    factory.seed = 0
    factory.word_lang_prob_map = factory.word_lang_prob_map.copy()  # its lists become arrays
    return factory


@cache
def _detector_class() -> Any:
    """langdetect's detector with arrays for its loops over the languages, half of its time.

    They do the same operations on floats in the same order, so that every probability is the same
    to the last bit.
    """
    import numpy as np  # noqa: PLC0415  a service that asks for no language starts without it
    from langdetect.detector import Detector  # noqa: PLC0415

    class ArrayDetector(Detector):  # type: ignore[misc]
        def _init_probability(self) -> np.ndarray:
            return np.array(super()._init_probability())

        def _update_lang_prob(self, prob: np.ndarray, word: str, alpha: float) -> None:
            shares = self.word_lang_prob_map[word]
            if isinstance(shares, list):  # the word's first time in this process
                shares = self.word_lang_prob_map[word] = np.array(shares)
            prob *= alpha / self.BASE_FREQ + shares

        def _normalize_prob(self, prob: np.ndarray) -> float:
            prob /= sum(prob.tolist())
            return float(prob.max())

    return ArrayDetector


def language_of(text: str) -> str | None:
    """The language as a code such as `en`; None where the text has no words to tell it by.

    Raises:
        NoLanguages: the package is not installed.
    """
    factory = _detector_factory()  # before others import the package: it says that it is missing
    detector = _detector_class()(factory)
    detector.append(text[:MAX_CHARACTERS])
    from langdetect.lang_detect_exception import LangDetectException  # noqa: PLC0415

    try:
        found: str = detector.detect()
    except LangDetectException:
        return None
    return None if found == "unknown" else found
