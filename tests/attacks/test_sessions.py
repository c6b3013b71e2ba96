"""No attack of the corpus succeeds in a session, and none reaches another session.

Each program of the corpus that reads standard input runs as a call of a new session. Meanwhile a
victim is open: a session with a secret in its memory and in a file. Afterwards the canaries are
looked for in all that the call answered, the victim must answer as before, and an honest session,
opened after the attack's has ended, must find nothing of it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.corpus import Attack, load
from tests.attacks.harness import ENVIRONMENT_CANARY, STDIN, World, descendants
from tests.processes import until_async
from verifier_service.http.drain import Drain
from verifier_service.sessions.open_sessions import OpenSessions
from verifier_service.sessions.session import Session, SessionCall
from verifier_service.sessions.wire import (
    CallReport,
    LostReason,
    SessionLimits,
    SessionRequest,
    SessionState,
)

ATTACKS = [attack for attack in load() if attack.kind == "stdio"]
PARTS = [
    pytest.param(0, 24, marks=pytest.mark.quick, id="some"),
    *(pytest.param(part, 2, marks=pytest.mark.slow, id=f"{part + 1} of 2") for part in range(2)),
]
"""Number of a part of the attacks, and how many parts there are. Each starts sandboxes of its own,
which takes seconds of CPU time."""
SHORT_SECONDS = 0.5
"""Limit of an attack's call, many times what it takes unless it is meant to meet the limit."""
ANSWER_SECONDS = 120.0
"""Longest time for a call to be answered, on a busy machine too."""
LIMITS = SessionLimits(seconds=60.0, file_bytes=8 * 2**20, memory_bytes=256 * 2**20)
IN_EVERY_SESSION = {"inherited_fds": ["marker"]}
"""Successes that are a session's own: it has a channel, and no other descriptor of the service."""
HONEST = "import os, math\nsorted(os.listdir('.')), math.sqrt(16), int('7') + abs(-1)"


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    monkeypatch.setenv(ENVIRONMENT_CANARY, f"CANARY-ENV-{secrets.token_hex(16)}")
    tmp_path.chmod(0o755)
    with World(tmp_path) as planted:
        yield planted


async def run(session: Session, code: str, *, seconds: float = 60.0) -> CallReport:
    async with asyncio.timeout(ANSWER_SECONDS):
        return await session.begin_call(SessionCall(code=code, seconds=seconds, files={}))


async def opened(sessions: OpenSessions) -> Session:
    request = SessionRequest(packages="scientific", limits=LIMITS)
    return await sessions.open(request, {}, None)


def said(report: CallReport) -> str:
    """Everything that a call answered."""
    return report.model_dump_json()


def lines(report: CallReport) -> list[str]:
    """The printed lines; a traceback may quote the source, where a marker stands too."""
    return f"{report.stdout}\n{report.stderr}".splitlines()


async def attempt(
    attack: Attack, sessions: OpenSessions, world: World, victim: Session
) -> list[str]:
    """Everything that went wrong while and after an attack ran."""
    session = await opened(sessions)
    await run(session, f"import io, sys\nsys.stdin = io.StringIO({STDIN!r})")
    world.remember()
    reports = [await run(session, world.fill_in(attack.source), seconds=SHORT_SECONDS)]
    seen = []
    if reports[0].outcome != "ran":
        seen.append(f"infra: {said(reports[0])}")
    await sessions.close(session, LostReason.CLOSED)
    if attack.success == "benign_sees":
        again = await opened(sessions)
        await run(again, f"import io, sys\nsys.stdin = io.StringIO({STDIN!r})")
        reports.append(await run(again, world.fill_in(attack.source), seconds=SHORT_SECONDS))
        await sessions.close(again, LostReason.CLOSED)
        if "PERSISTED" in lines(reports[1]):
            seen.append("benign_sees")
    for report in reports:
        if "PWNED" in lines(report):
            seen.append("marker")
        if len(said(report)) > 2**22:
            seen.append("outsize")
        seen += [
            f"canary:{name}"
            for name, canary in world.canaries.items()
            if canary in f"{report.stdout}{report.stderr}{report.value}"
        ]
    seen += world.changes(attack.success)
    kept = await run(victim, "open('victim.txt').read() == secret, len(ticks)")
    if kept.value != "(True, 3)":
        seen.append(f"victim_dead: {said(kept)}")
    return seen + await honest_failures(sessions)


async def honest_failures(sessions: OpenSessions) -> list[str]:
    """An honest session in the place of the attack's works, and finds an empty directory."""
    session = await opened(sessions)
    found = await run(session, HONEST)
    await sessions.close(session, LostReason.CLOSED)
    return [] if found.value == "([], 4.0, 8)" else [f"benign_tainted: {said(found)}"]


async def attempt_all(attacks: list[Attack], world: World) -> dict[str, list[str]]:
    """Run attacks one after the other; the successes of each."""
    found = {}
    left_by_others = ended_children()
    async with OpenSessions(8, Drain()) as sessions:
        victim = await opened(sessions)
        await run(
            victim,
            f"secret = {world.victims_secret!r}\nticks = [1, 2, 3]\n"
            "open('victim.txt', 'w').write(secret)",
        )
        for attack in attacks:
            found[attack.name] = await attempt(attack, sessions, world, victim)
        # A nursery collects a zygote a moment after it has ended.
        await until_async(lambda: ended_children() <= left_by_others)
    return found


def ended_children() -> set[int]:
    """Processes of this test run that have ended and that nobody has collected."""
    return {one.pid for one in descendants(os.getpid()) if one.state == "Z"}


@pytest.mark.parametrize(("part", "num_parts"), PARTS)
def test_no_attack_succeeds_in_a_session(part: int, num_parts: int, world: World) -> None:
    attacks = ATTACKS[part::num_parts]
    found = asyncio.run(attempt_all(attacks, world))
    assert len(found) == len(attacks)
    succeeded = {name: seen for name, seen in found.items() if seen}
    assert succeeded == {name: IN_EVERY_SESSION[name] for name in found if name in IN_EVERY_SESSION}


@pytest.mark.slow
def test_a_session_has_its_channel_and_no_other_descriptor() -> None:
    async def descriptors() -> str | None:
        async with OpenSessions(1, Drain()) as sessions:
            code = """
import os
found = []
for number in range(3, 4096):
    try:
        os.fstat(number)
        found.append(number)
    except OSError:
        pass
found"""
            return (await run(await opened(sessions), code)).value

    assert asyncio.run(descriptors()) == "[5]"


# State of one session is not that of another

TRACES = {
    "a variable": ("leak = 1", "'leak' in globals()"),
    "a file": ("open('leak', 'w').write('1')", "__import__('os').path.exists('leak')"),
    "a module": ("import math; math.leak = 1", "hasattr(__import__('math'), 'leak')"),
    "a builtin": ("__builtins__.leak = 1", "hasattr(__import__('builtins'), 'leak')"),
    "the environment": (
        "import os; os.environ['LEAK'] = '1'",
        "'LEAK' in __import__('os').environ",
    ),
    "a package": ("import numpy; numpy.leak = 1", "hasattr(__import__('numpy'), 'leak')"),
    "the working directory": (
        "import os; os.makedirs('leak'); os.chdir('leak')",
        "'leak' in __import__('os').getcwd()",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("trace", TRACES)
def test_a_trace_is_seen_in_its_own_session_and_in_no_other(trace: str) -> None:
    leave, look = TRACES[trace]

    async def look_everywhere() -> list[str | None]:
        async with OpenSessions(8, Drain()) as sessions:
            beside, leaving = await opened(sessions), await opened(sessions)
            assert (await run(leaving, leave)).reason == "completed"
            own = await run(leaving, look)
            await sessions.close(leaving, LostReason.CLOSED)
            after = await opened(sessions)
            others = [await run(one, look) for one in (beside, after)]
            return [own.value, *(one.value for one in others)]

    own, *others = asyncio.run(look_everywhere())
    assert others == ["False", "False"]
    assert own == "True"


@pytest.mark.slow
def test_the_random_numbers_of_sessions_differ() -> None:
    async def draw() -> set[str | None]:
        async with OpenSessions(8, Drain()) as sessions:
            code = "import random, numpy; random.random(), numpy.random.rand()"
            return {(await run(await opened(sessions), code)).value for _ in range(4)}

    assert len(asyncio.run(draw())) == 4


@pytest.mark.slow
def test_a_session_of_another_session_s_attack_is_not_ended() -> None:
    """Bombs in many sessions at the same time, and an honest one among them."""
    bombs = [
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "held = []\nwhile True: held.append(bytearray(2**20))",
        "import threading\nwhile True:\n    try: threading.Thread(target=print).start()\n"
        "    except RuntimeError: pass",
        "while True: print('x' * 60_000)",
        "n = 0\nwhile True:\n    n += 1\n    open(str(n), 'w').write('x' * 10_000)",
    ]

    async def bombard() -> list[CallReport]:
        async with OpenSessions(8, Drain()) as sessions:
            honest = await opened(sessions)
            attackers = [await opened(sessions) for _ in bombs]
            under_way = [
                asyncio.create_task(run(one, bomb, seconds=SHORT_SECONDS))
                for one, bomb in zip(attackers, bombs, strict=True)
            ]
            answers = [await run(honest, "6 * 7") for _ in range(5)]
            reports = [await one for one in under_way]
            assert {one.outcome for one in reports} == {"ran"}
            return answers

    answers = asyncio.run(bombard())
    assert [(one.value, one.session) for one in answers] == [("42", SessionState.IDLE)] * 5


@pytest.mark.slow
def test_a_session_does_not_see_how_it_was_started() -> None:
    """Neither the order to its zygote nor a name of a frame below its own has its configuration."""
    code = """
import gc, sys
found = []
frame = sys._getframe()
while frame is not None:
    for value in list(frame.f_locals.values()):
        found += [str(value)[:10_000], *map(str, getattr(value, "__dict__", {}).values())]
    frame = frame.f_back
mark = "verifier-" + "sessions-"
sum(mark in text for text in found)"""

    async def look() -> str | None:
        async with OpenSessions(1, Drain()) as sessions:
            return (await run(await opened(sessions), code)).value

    assert asyncio.run(look()) == "0"
