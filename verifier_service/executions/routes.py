"""`POST /v1/execute`: programs run by the workers of `code`, without a verdict on them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from fastapi import APIRouter, Request, Response

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
from verifier_service.http.line_stream import NDJSON, wants_lines
from verifier_service.http.promised_errors import BODY_ERRORS, STRANGER_ERRORS, promised
from verifier_service.http.score_call import JSON_MEDIA_TYPE
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
    if not wants_lines(request):
        return Response(await batch.whole(), media_type=JSON_MEDIA_TYPE)
    stream_of = judging_of(request).lines
    if stream_of is None:
        return Response(await batch.all_lines(), media_type=NDJSON)
    lines = stream_of(request)
    return await lines.response(batch.add_lines(lines.add), on_sent=lambda _: None)


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

    async def whole(self) -> bytes:
        """Run all programs; the response in one JSON object. Raises RequestError."""
        reports: list[bytes] = [b""] * len(self._groups)

        def keep(index: int, report: bytes) -> None:
            self._hold(report)
            reports[index] = report

        stats = await self._run(keep)
        return b'{"executions":[' + b",".join(reports) + b'],"stats":' + stats + b"}"

    async def all_lines(self) -> bytes:
        """Run all programs; the lines of all. Raises RequestError."""
        lines: list[bytes] = []

        def keep(line: bytes) -> None:
            self._hold(line)
            lines.append(line)

        await self.add_lines(keep)
        return b"".join(lines)

    async def add_lines(self, add: Callable[[bytes], None]) -> None:
        """Run all programs; add a line for each as it ends, and the stats. Raises RequestError."""
        stats = await self._run(lambda _index, report: add(report + b"\n"), with_index=True)
        add(b'{"stats":' + stats + b"}\n")

    async def _run(self, on_report: OnReport, *, with_index: bool = False) -> bytes:
        """Run all programs; the stats in JSON. Raises RequestError."""
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
        """The report on a program in JSON."""
        report = report_of(self._body.executions[index], verdict)
        self._num_failed += report.outcome is RunOutcome.FAILED
        fields = without_nulls(report)
        return json.dumps({"index": index, **fields} if with_index else fields).encode()

    def _hold(self, report: bytes) -> None:
        """Count a report that is not sent yet. Raises ResponseTooLarge, QueueFull."""
        self._num_bytes += len(report)
        check_size(self._num_bytes)
        self._judging.hold(len(report))
