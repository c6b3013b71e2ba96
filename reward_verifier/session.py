"""Sessions for people: an interpreter of the service, for code that blocks and code that awaits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from reward_verifier.client import converse, converse_async
from reward_verifier.execution import ExecutionResult, OpenedSession, call_session
from reward_verifier.service_access import ServiceAccess


def call_of(
    code: str,
    seconds: float | None,
    files: Mapping[str, Any] | None,
    fetch: Sequence[str],
) -> dict[str, Any]:
    """A call in the form of the wire; what is not given is left to the service."""
    given = {"seconds": seconds, "files": files, "fetch": list(fetch) or None}
    return {"code": code, **{name: value for name, value in given.items() if value is not None}}


@dataclass
class Session:
    """An open session of code that blocks, see `Verifier.session`."""

    access: ServiceAccess
    http: httpx.Client
    opened: OpenedSession

    def run(
        self,
        code: str,
        *,
        seconds: float | None = None,
        files: Mapping[str, Any] | None = None,
        fetch: Sequence[str] = (),
    ) -> ExecutionResult:
        """Run code after all that ran before.

        Args:
            code: of the session's language.
            seconds: limit of this call; None: that of the session.
            files: files to write first: texts, or `{"base64": ...}`, by name.
            fetch: names of files to answer with.

        Returns:
            The result. Where the session is gone it is `failed`, with the reason `session_lost`.

        Raises:
            VerifierUnavailable: no attempt had a usable response.
            VerifierRejected: the service refused the request.
        """
        asked = call_of(code, seconds, files, fetch)
        result, self.opened = converse(call_session(self.access, self.opened, asked), self.http)
        return result


@dataclass
class AsyncSession:
    """An open session of code that awaits, see `Verifier.session_async`."""

    access: ServiceAccess
    http: httpx.AsyncClient
    opened: OpenedSession

    async def run(
        self,
        code: str,
        *,
        seconds: float | None = None,
        files: Mapping[str, Any] | None = None,
        fetch: Sequence[str] = (),
    ) -> ExecutionResult:
        """Run code after all that ran before; arguments and errors as of `Session.run`."""
        asked = call_of(code, seconds, files, fetch)
        conversation = call_session(self.access, self.opened, asked)
        result, self.opened = await converse_async(conversation, self.http)
        return result
