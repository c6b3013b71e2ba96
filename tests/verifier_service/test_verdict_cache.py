"""The cache of verdicts: bounded, counted, and it forgets what was not used."""

from __future__ import annotations

from verifier_service.engine.verdict_cache import VerdictCache
from verifier_service.reason import EngineReason
from verifier_service.verdict import Outcome, Verdict, failed

EQUAL = Verdict(Outcome.SCORED, 1.0, "equal", 0.1)


def test_it_forgets_the_verdict_that_was_used_the_longest_ago() -> None:
    cache = VerdictCache(2)
    cache.keep(b"a", EQUAL)
    cache.keep(b"b", EQUAL)
    assert cache.look_up([b"a"]) == [EQUAL]
    cache.keep(b"c", EQUAL)
    assert cache.look_up([b"a", b"b", b"c"]) == [EQUAL, None, EQUAL]


def test_it_counts_hits_and_misses() -> None:
    cache = VerdictCache(2)
    cache.keep(b"a", EQUAL)
    cache.look_up([b"a", b"b", b"a"])
    assert (cache.num_hits, cache.num_misses) == (2, 1)


def test_it_keeps_no_failed_verdict() -> None:
    cache = VerdictCache(2)
    cache.keep(b"a", failed(EngineReason.DEADLINE))
    assert len(cache) == 0


def test_none_are_kept_when_the_bound_is_0() -> None:
    cache = VerdictCache(0)
    cache.keep(b"a", EQUAL)
    assert cache.look_up([b"a"]) == [None]
