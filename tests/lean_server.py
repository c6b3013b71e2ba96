"""A stand-in for a server that runs Lean 4, with all its bad days.

It knows theorems that say that two sums of numbers are equal, and three proofs: `rfl`, `em`, which
takes classical axioms, and `native_decide`. Its answers have the shapes of Kimina's server and of
Lean's REPL.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.served_in_thread import served_in_thread

LeanMode = Literal[
    "works",
    "hangs",
    "fails",
    "rate_limited",
    "refuses",
    "breaks_off",
    "malformed",
    "huge",
    "times_out",
    "crashes",
    "has_no_environment",
    "says_nothing",
]
AXIOMS = {
    "rfl": [],
    "em": ["propext", "Classical.choice", "Quot.sound"],
    "native_decide": ["Lean.ofReduceBool"],
    "sorry": ["sorryAx"],
}
# A theorem: `theorem one : 1 + 1 = 2 := by rfl`, in which a proof may be in the next line.
_THEOREM = re.compile(r"theorem (\S+) : (.*?) :=\s*(?:by\s+)?(\S+)")
_LINE_OF_CHECK = re.compile(r"theorem (\S+) : type_of% @(\S+) := @(\S+)")
_PRINT = re.compile(r"#print axioms (\S+)")


def _is_true(statement: str) -> bool:
    sides = [sum(map(int, side.split("+"))) for side in statement.split("=")]
    return sides[0] == sides[1]


@dataclass
class Lean:
    """A server."""

    mode: LeanMode = "works"
    counts_imports: bool = True
    """Whether lines are counted from the first import; Kimina's older servers leave these out."""
    codes: list[str] = field(default_factory=list)
    """The files that were checked."""
    heads: list[str] = field(default_factory=list)

    def messages_on(self, code: str) -> list[dict[str, Any]]:
        """The messages on a file."""
        self.codes.append(code)
        lines = code.split("\n")
        num_imports = 0 if self.counts_imports else sum("import" in line for line in lines)
        found: list[dict[str, Any]] = []
        proved: dict[str, tuple[str, list[str]]] = {}
        for number, line in enumerate(lines, 1):
            joined = line + (f" {lines[number].strip()}" if number < len(lines) else "")
            for severity, data in _said(line, joined, proved):
                place = {"line": number - num_imports, "column": 0}
                found.append({"severity": severity, "pos": place, "endPos": None, "data": data})
        return found

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one call."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head.decode())
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            assert length is not None
            body = json.loads(await reader.readexactly(int(length[1])))
            if self.mode == "hangs":
                await asyncio.sleep(3600)
            status, content = self._response(body)
            start = f"HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {len(content)}"
            kept = content[: len(content) // 2] if self.mode == "breaks_off" else content
            writer.write(f"{start}\r\n\r\n".encode() + kept)
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # the client or the test is done
        finally:
            writer.close()

    def _response(self, body: dict[str, Any]) -> tuple[int, bytes]:
        """The status, and the content."""
        statuses = {"fails": 500, "rate_limited": 429, "refuses": 401}
        if self.mode in statuses:
            return statuses[self.mode], b"{}"
        if self.mode == "malformed":
            return 200, b'{"results": [{"custom_id": 7'
        if "cmd" in body:
            return 200, json.dumps(self._reply(body["cmd"])).encode()
        (code,) = body["codes"]
        result: dict[str, Any] = {"custom_id": code["custom_id"], "error": None, "response": None}
        if self.mode == "times_out":
            result["error"] = "Lean REPL command timed out in 1 seconds"
        elif self.mode == "crashes":
            result["error"] = "the REPL has ended"
        else:
            result["response"] = {**self._reply(code["proof"]), "time": 0.1}
        return 200, json.dumps({"results": [result]}).encode()

    def _reply(self, code: str) -> dict[str, Any]:
        if self.mode == "has_no_environment":
            return {"message": "Unknown environment."}
        if self.mode == "says_nothing":
            return {"env": 0}
        if self.mode == "huge":
            return {"env": 0, "messages": [{"data": "a" * 2**23}]}
        return {"env": 0, "messages": self.messages_on(code), "sorries": []}


def _said(
    line: str, joined: str, proved: dict[str, tuple[str, list[str]]]
) -> Iterator[tuple[str, str]]:
    """Severity and text of each message on a line."""
    if (check := _LINE_OF_CHECK.match(line)) is not None:
        name, wanted, given = check.groups()
        if given not in proved:
            yield "error", f"unknown identifier '{given}'"
        elif proved[given][0] != proved[wanted][0]:
            yield "error", f"type mismatch\n  @{given}\nis not of type {wanted}"
        else:
            proved[name] = proved[given]
    elif line.startswith("theorem") and (theorem := _THEOREM.match(joined)) is not None:
        name, statement, proof = theorem.groups()
        statement = statement.replace(" ", "")
        if proof == "loop":
            yield "error", "(deterministic) timeout at `whnf`, maximum number of heartbeats"
        elif proof not in AXIOMS or (proof != "sorry" and not _is_true(statement)):
            yield "error", "unsolved goals\n⊢ " + statement
        else:
            proved[name] = statement, AXIOMS[proof]
            if proof == "sorry":
                yield "warning", "declaration uses 'sorry'"
    elif (printed := _PRINT.match(line)) is not None:
        yield _listing(printed[1], proved)
    elif line.startswith("unknown"):
        yield "error", "unexpected identifier; expected command"


def _listing(name: str, proved: dict[str, tuple[str, list[str]]]) -> tuple[str, str]:
    if name not in proved:
        return "error", f"unknown constant '{name}'"
    axioms = ",\n  ".join(proved[name][1])
    if axioms:
        return "info", f"'{name}' depends on axioms: [{axioms}]"
    return "info", f"'{name}' does not depend on any axioms"


@contextmanager
def serving_lean(lean: Lean) -> Iterator[str]:
    """The URL of a server, which runs in another thread."""
    with served_in_thread(lean.serve) as url:
        yield url
