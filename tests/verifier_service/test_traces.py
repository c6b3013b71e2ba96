"""Traces by OpenTelemetry's usual variables, and nothing of it without them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from tests.processes import until
from trainer_client.service_process import running_service
from verifier_service import __version__
from verifier_service.app import create_app
from verifier_service.current_call import CallTimes
from verifier_service.http.traces import Traces, start_traces
from verifier_service.settings import Settings

ACCURACY = {
    "verifiers": [{"type": "accuracy"}, {"type": "format"}],
    "groups": [{"reference": {"answer": "2"}, "completions": [r"\boxed{2}", "the model's text"]}],
}
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector(BaseHTTPRequestHandler):
    """A stand-in for an OpenTelemetry collector, which takes spans over HTTP."""

    requests: list[ExportTraceServiceRequest]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    requests: list[ExportTraceServiceRequest] = []
    handler = type("Handler", (Collector,), {"requests": requests})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requests
        finally:
            server.shutdown()
            thread.join()


def spans_of(*requests: dict[str, Any], **provider: Any) -> list[ReadableSpan]:
    """The spans of calls to a service."""
    return asyncio.run(_spans_of(*requests, **provider))


async def _spans_of(*requests: dict[str, Any], **provider: Any) -> list[ReadableSpan]:
    exporter = InMemorySpanExporter()
    spans = TracerProvider(shutdown_on_exit=False, **provider)
    spans.add_span_processor(SimpleSpanProcessor(exporter))
    app = create_app(Settings(workers=1, enabled=("accuracy", "format")), traces=Traces(spans))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for request in requests:
                await client.request(**{"method": "POST", "url": "/v1/score", **request})
        return list(exporter.get_finished_spans())


@pytest.mark.slow
def test_a_call_has_a_span_with_children_for_queue_and_judges() -> None:
    headers = {"X-Request-Id": "step-7", "traceparent": CALLER}
    *children, call = spans_of({"json": ACCURACY, "headers": headers})
    assert call.name == "POST /v1/score"
    assert call.parent is not None
    assert call.parent.span_id == 0xB7AD6B7169203331
    assert call.attributes is not None
    assert dict(call.attributes) == {
        "verifier.request_id": "step-7",
        "http.request.method": "POST",
        "http.route": "/v1/score",
        "http.response.status_code": 200,
        "verifier.completions": 2,
    }
    assert sorted(one.name for one in children) == ["judge accuracy, format", "queue"]
    for child in children:
        assert child.parent is not None
        assert child.parent.span_id == call.context.span_id
        assert child.attributes is not None
        assert child.attributes["verifier.tasks"] == 1
        assert child.start_time is not None
        assert child.end_time is not None
        assert child.start_time <= child.end_time
    assert "model" not in str([one.to_json() for one in (*children, call)])


@pytest.mark.slow
def test_refused_calls_and_probes() -> None:
    refused = {"json": {"groups": 3}}
    unknown = {"method": "GET", "url": "/v2"}
    probes = [{"method": "GET", "url": path} for path in ("/", "/healthz", "/readyz", "/metrics")]
    found = spans_of(refused, unknown, *probes)
    assert [(one.name, (one.attributes or {})["error.type"]) for one in found] == [
        ("POST /v1/score", "invalid_request"),
        ("GET other", "not_found"),
    ]
    assert all(one.status.is_unset for one in found)  # the client's fault


@pytest.mark.slow
def test_calls_that_are_not_sampled_leave_nothing() -> None:
    assert spans_of({"json": ACCURACY}, sampler=ALWAYS_OFF) == []


def test_times_of_many_tasks_are_one_span() -> None:
    times = CallTimes()
    times.add("code", asked=5, started=7, ended=20)
    times.add("code", asked=4, started=9, ended=12)
    assert times.queue is not None
    assert (times.queue.start, times.queue.end, times.queue.nanoseconds) == (4, 9, 7)
    judge = times.judge["code"]
    assert (judge.start, judge.end, judge.nanoseconds, judge.num_pieces) == (7, 20, 16, 2)


@pytest.mark.slow
def test_a_service_sends_its_spans_to_the_collector_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collector() as (address, requests):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
        flags = ("--workers", "1", "--enabled", "format")
        with running_service(tmp_path / "log", *flags) as url:
            body = {**ACCURACY, "verifiers": [{"type": "format"}]}
            assert httpx.post(f"{url}/v1/score", json=body, timeout=600).status_code == 200
        # The service has ended: what was left was sent before.
        until(lambda: bool(requests))
    (resource,) = [group for request in requests for group in request.resource_spans]
    about = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert about["service.name"] == "verifier-service"
    assert about["service.version"] == __version__
    assert about["deployment.environment"] == "test"
    names = {span.name for scope in resource.scope_spans for span in scope.spans}
    assert names == {"POST /v1/score", "queue", "judge format"}


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_SERVICE_NAME": "verifier"},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"},
        {"OTEL_SDK_DISABLED": "TRUE", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"},
    ],
)
def test_nothing_asks_for_traces(environment: dict[str, str]) -> None:
    assert start_traces(environment) is None


@pytest.mark.parametrize(
    ("environment", "exporter"),
    [
        ({"OTEL_TRACES_EXPORTER": "jaegre"}, "'jaegre'"),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc",
            },
            "'otlp_proto_grpc'",
        ),
    ],
)
def test_an_exporter_that_is_not_there_is_named(
    environment: dict[str, str], exporter: str, caplog: pytest.LogCaptureFixture
) -> None:
    start_traces(environment)
    assert f"asks for the exporter {exporter}; installed are" in caplog.text


def test_without_the_extra_the_service_says_what_to_install(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("opentelemetry")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert start_traces({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}) is None
    assert "pip install 'reward-verifier[otel]'" in caplog.text


@pytest.mark.slow
def test_nothing_of_opentelemetry_is_imported_where_nobody_asks() -> None:
    script = (
        "import sys, fastapi\n"  # which imports it by itself, from 0.165 on
        "before = set(sys.modules)\n"
        "import verifier_service.server as s, verifier_service.http.traces as t\n"
        "assert t.start_traces({}) is None\n"
        "print([name for name in set(sys.modules) - before if name.startswith('opentelemetry')])"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"
