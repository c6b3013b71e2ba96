"""The language of a text, as the package langdetect tells it; its chance is seeded.

It is an extra (`pip install verifier-service[instructions]`), and takes 0.3 s to load.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from verifier_service.instructions.constraint import MissingPackage

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
    detector_factory._factory.seed = 0
    return detector_factory._factory


def language_of(text: str) -> str | None:
    """The language as a code such as `en`; None where the text has no words to tell it by.

    Raises:
        NoLanguages: the package is not installed.
    """
    factory = _detector_factory()
    detector = factory.create()
    detector.append(text[:MAX_CHARACTERS])
    from langdetect.lang_detect_exception import LangDetectException  # noqa: PLC0415

    try:
        found: str = detector.detect()
    except LangDetectException:
        return None
    return None if found == "unknown" else found
