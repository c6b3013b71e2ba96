"""`POST /v1/execute`: programs run by the workers of `code`, without a verdict on them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from verifier_service.code.plain_run import RunProgram, as_reference
from verifier_service.compat.judging import judging_of
from verifier_service.compat.route import StrictRoute
from verifier_service.compat.scheduling import NotNow, verdicts_of
from verifier_service.engine.chunks import VerdictsByKey
from verifier_service.engine.response_json import check_size
from verifier_service.errors import QueueFull
from verifier_service.executions.batch import GivenProgram, programs_of, report_of
from verifier_service.executions.reasons import RunOutcome
from verifier_service.executions.wire import (
    ExecutionsRequest,
    ExecutionsResponse,
    ExecutionStats,
    without_nulls,
)
from verifier_service.http.promised_errors import BODY_ERRORS, STRANGER_ERRORS, promised
from verifier_service.http.score_call import JSON_MEDIA_TYPE, NDJSON, wants_lines
from verifier_service.schemas import Group
from verifier_service.verdict import Verdict


class LinesRoute(StrictRoute):
    """A route whose response may be NDJSON."""

    has_lines = True


EXECUTE_ERRORS = {413: "the body, the number of programs or the response is over a limit"}
router = APIRouter(
    route_class=LinesRoute, responses=promised(STRANGER_ERRORS, BODY_ERRORS, EXECUTE_ERRORS)
)


@router.post(
    "/v1/execute",
    response_model=ExecutionsResponse,
    responses={
        200: {
            "description": "reports, in the order of the request; with `Accept: "
            "application/x-ndjson` a line for each program as it ends, with its `index`, and a "
            "last line with `stats`",
            "content": {NDJSON: {"schema": {"type": "string"}}},
        }
    },
)
async def execute(body: ExecutionsRequest, request: Request) -> Response:
    """Run programs, and report how each ended.

    Always 200, whatever the programs do. `failed` is our failure: nothing may be concluded from
    it, and asking again may help.
    """
    batch = _Batch(body, programs_of(body), request)
    if wants_lines(request):
        return await batch.streamed_response()
    reports: list[bytes] = [b""] * len(body.executions)

    def keep(index: int, report: bytes) -> None:
        reports[index] = report

    stats = await batch.run(keep)
    content = b'{"executions":[' + b",".join(reports) + b'],"stats":' + stats + b"}"
    return Response(content, media_type=JSON_MEDIA_TYPE)


OnReport = Callable[[int, bytes], None]
"""Called with the place of a program that ended, and its report in JSON."""


class _Batch:
    """The programs of one request."""

    def __init__(
        self, body: ExecutionsRequest, programs: list[GivenProgram], request: Request
    ) -> None:
        self._body = body
        self._request = request
        self._judging = judging_of(request)
        self._groups = [
            Group(reference=as_reference(options), completions=[source])
            for source, options in programs
        ]
        self._num_bytes = 0
        self._num_failed = 0

    async def run(self, on_report: OnReport, *, with_index: bool = False) -> bytes:
        """Run all programs; the stats in JSON. Raises RequestError, before the first report."""
        start = asyncio.get_running_loop().time()
        verifier = RunProgram()

        def on_verdicts(index: int, verdicts: VerdictsByKey) -> None:
            encoded = self._encoded(index, verdicts[verifier.key], with_index=with_index)
            on_report(index, encoded)

        limit = self._judging.limits.max_deadline_seconds
        try:
            await verdicts_of(
                self._request,
                self._groups,
                [verifier],
                deadline_seconds=self._body.deadline_seconds or limit,
                on_verdicts=on_verdicts,
            )
        except NotNow as error:
            raise QueueFull(str(error)) from error
        seconds = asyncio.get_running_loop().time() - start
        stats = ExecutionStats(
            executions=len(self._groups), failed=self._num_failed, seconds=round(seconds, 6)
        )
        return stats.model_dump_json().encode()

    def _encoded(self, index: int, verdict: Verdict, *, with_index: bool) -> bytes:
        """The report on a program in JSON. Raises ResponseTooLarge, QueueFull."""
        report = report_of(self._body.executions[index], verdict)
        self._num_failed += report.outcome is RunOutcome.FAILED
        fields = without_nulls(report)
        line = json.dumps({"index": index, **fields} if with_index else fields).encode()
        self._num_bytes += len(line)
        check_size(self._num_bytes)
        self._judging.hold(len(line))
        return line

    async def streamed_response(self) -> Response:
        """A response in lines. It begins with the first: until then it can be refused."""
        lines: asyncio.Queue[bytes] = asyncio.Queue()
        work = asyncio.create_task(
            self.run(lambda _index, line: lines.put_nowait(line + b"\n"), with_index=True)
        )
        try:
            first = await _next_line(lines, work)
        except BaseException:
            work.cancel()
            await asyncio.wait([work])
            raise
        return _LinesResponse(_rest(first, lines, work), work)


async def _next_line(lines: asyncio.Queue[bytes], work: asyncio.Task[bytes]) -> bytes | None:
    """The next line; None after the last. Raises the error that ended the work."""
    if lines.empty():
        line = asyncio.create_task(lines.get())
        try:
            await asyncio.wait([line, work], return_when=asyncio.FIRST_COMPLETED)
        finally:
            line.cancel()
        if line.done() and not line.cancelled():
            return line.result()
    if not lines.empty():
        return lines.get_nowait()
    work.result()
    return None


async def _rest(
    first: bytes | None, lines: asyncio.Queue[bytes], work: asyncio.Task[bytes]
) -> AsyncIterator[bytes]:
    """Every line, from the first to that of the stats."""
    line = first
    while line is not None:
        yield line
        line = await _next_line(lines, work)
    yield b'{"stats":' + work.result() + b"}\n"


class _LinesResponse(StreamingResponse):
    """NDJSON; the programs end with the last line or when the client is gone."""

    def __init__(self, lines: AsyncIterator[bytes], work: asyncio.Task[bytes]) -> None:
        super().__init__(lines, media_type=NDJSON)
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
