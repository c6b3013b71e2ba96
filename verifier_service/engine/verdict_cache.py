"""The cache of verdicts that past requests had; when it is full, the least recently used leaves."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from verifier_service.verdict import Outcome, Verdict


class VerdictCache:
    """Verdicts by the hash of options, reference and completion.

    Args:
        max_verdicts: most verdicts to keep; 0 keeps none.
    """

    def __init__(self, max_verdicts: int) -> None:
        self._max_verdicts = max_verdicts
        self._verdicts: OrderedDict[bytes, Verdict] = OrderedDict()
        self.num_hits = 0
        self.num_misses = 0

    @property
    def is_off(self) -> bool:
        """Whether it keeps nothing."""
        return self._max_verdicts == 0

    def __len__(self) -> int:
        return len(self._verdicts)

    def look_up(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        """The verdict of each key; None where the cache has none."""
        found = [self._verdicts.get(key) for key in keys]
        for key, verdict in zip(keys, found, strict=True):
            if verdict is not None:
                self._verdicts.move_to_end(key)
                self.num_hits += 1
        self.num_misses += found.count(None)
        return found

    def keep(self, key: bytes, verdict: Verdict) -> None:
        """Keep a verdict, unless it `failed`: the next try may succeed."""
        if verdict.outcome is Outcome.FAILED or self.is_off:
            return
        self._verdicts[key] = verdict
        self._verdicts.move_to_end(key)
        if len(self._verdicts) > self._max_verdicts:
            self._verdicts.popitem(last=False)
