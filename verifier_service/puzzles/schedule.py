"""A schedule: events within their windows of time, none beside another."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeGuard

from verifier_service.puzzles.finding import PuzzleChecker, PuzzleFinding
from verifier_service.puzzles.reading import UnreadableSolution, last_value, plain
from verifier_service.reference import bad, check_names, kind, missing

MAX_EVENTS = 500
MAX_MINUTES = 10_000
DAY_MINUTES = 24 * 60
_TIMES = ("earliest", "latest", "start")
"""Names of the times that an event of a reference may have."""
# A time of day: `9:05`, `13:00`, `9 am`, `12:30pm`.
_TIME = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?\s*([ap]m)?", re.IGNORECASE)


@dataclass(frozen=True)
class EventWindow:
    """An event that is wanted: its length, and where it may lie, in minutes of the day."""

    duration: float
    earliest: int
    latest: int
    start: int | None
    """The only start that is right, where there is one."""

    def holds(self, begin: float, duration: float) -> bool:
        """Whether an event that begins then, and is that long, is the wanted one."""
        is_inside = self.earliest <= begin and begin + duration <= self.latest
        return is_inside and duration == self.duration and self.start in (None, begin)

    @property
    def is_possible(self) -> bool:
        """Whether any event is the wanted one."""
        return self.holds(self.earliest if self.start is None else self.start, self.duration)


def minutes_of(text: Any) -> int | None:
    """The minutes of a time of day since midnight; None where it is none.

    >>> minutes_of("9:05"), minutes_of("12:30pm"), minutes_of("12am"), minutes_of("25:00")
    (545, 750, 0, None)
    """
    found = _TIME.fullmatch(text.strip()) if isinstance(text, str) and len(text) < 20 else None
    if found is None or not (found[2] or found[3]):
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found[3].lower() == "pm")
    return hour * 60 + minute if hour * 60 + minute <= DAY_MINUTES and minute < 60 else None


def schedule(reference: Mapping[str, Any]) -> PuzzleChecker:
    """The checker of schedules: a list of objects with `event_id`, `start_time` and `duration`.

    The share is that of the events which lie right, 0 where two overlap or one is missing.
    """
    windows = _windows(reference)

    def check(text: str) -> PuzzleFinding:
        given = _events(last_value(text))
        if given.keys() != windows.keys():
            return PuzzleFinding(0.0)
        spans = sorted((begin, begin + duration) for begin, duration in given.values())
        if any(one[1] > two[0] for one, two in pairwise(spans)):
            return PuzzleFinding(0.0)
        right = sum(windows[name].holds(*event) for name, event in given.items())
        return PuzzleFinding(right / len(windows))

    return check


def _windows(reference: Mapping[str, Any]) -> dict[str, EventWindow]:
    events = reference.get("events")
    if not events:
        raise missing("events", reference)
    if not isinstance(events, Sequence) or isinstance(events, str) or len(events) > MAX_EVENTS:
        raise bad("events", f"found {kind(events)}, expected a list of 1 to {MAX_EVENTS} objects")
    found = dict(_window(f"events.{index}", event) for index, event in enumerate(events))
    if len(found) != len(events):
        raise bad("events", "two have the same `id`")
    return found


def _window(place: str, event: Any) -> tuple[str, EventWindow]:
    if not isinstance(event, Mapping) or not isinstance(event.get("id"), str | int):
        raise bad(place, "expected an object with `id` and `duration`")
    _check_event_names(place, event)
    duration = event.get("duration")
    if (
        isinstance(duration, bool)
        or not isinstance(duration, int)
        or not 0 < duration <= MAX_MINUTES
    ):
        raise bad(f"{place}.duration", "expected minutes, from 1")
    times = {}
    for name in _TIMES:
        times[name] = minutes_of(event.get(name))
        if times[name] is None and event.get(name) is not None:
            raise bad(f"{place}.{name}", 'expected a time of day such as "9:30" or "2pm"')
    earliest, latest = times["earliest"], times["latest"]
    window = EventWindow(
        duration,
        0 if earliest is None else earliest,
        DAY_MINUTES if latest is None else latest,
        times["start"],
    )
    if not window.is_possible:
        raise bad(
            place, "its window of time is too short for its `duration`, or has not its `start`"
        )
    return plain(event["id"]), window


def _check_event_names(place: str, event: Mapping[str, Any]) -> None:
    """Raise Unverifiable for a misspelt name, without which an event may lie anywhere."""
    if "start_time" in event and "start" not in event:  # an answer's name for it
        raise bad(place, "no name 'start_time'; did you mean 'start'?")
    check_names(place, event, ("id", "duration", *_TIMES))


def _is_duration(value: Any) -> TypeGuard[float]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value <= MAX_MINUTES


def _events(value: Any) -> dict[str, tuple[float, float]]:
    """The begin and the duration of each event. Raises UnreadableSolution."""
    found: dict[str, tuple[float, float]] = {}
    if not isinstance(value, list) or len(value) > MAX_EVENTS:
        raise UnreadableSolution("no list of events at the end")
    for event in value:
        if not isinstance(event, dict):
            raise UnreadableSolution("an event that is no object")
        begin, duration = minutes_of(event.get("start_time")), event.get("duration")
        if begin is None or not _is_duration(duration):
            raise UnreadableSolution("an event without `start_time` or `duration`")
        name = plain(event.get("event_id"))
        if name in found:
            raise UnreadableSolution("an event twice")
        found[name] = (begin, float(duration))
    return found
