"""Traces of calls for OpenTelemetry, by its usual variables of the environment.

    POST /v1/score            from the head of the call to the last byte of its response
      queue                   from the first task that waits for a worker until the last has one
      judge accuracy          from the first task that a worker has until the last one is judged

A trace holds no text of a request or a model. Its children sum up all tasks of the call, so that a
call of 65,536 completions has as many spans as one of two. Where no variable asks for traces,
nothing of OpenTelemetry is imported.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import verifier_service
from verifier_service.current_call import CallTimes, WorkSpan

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span as RecordedSpan

log = logging.getLogger(__name__)

TRACE_HEADERS = (b"traceparent", b"tracestate")
"""Headers of a caller that traces too (W3C Trace Context)."""
EXTRA = "pip install 'reward-verifier[otel]'"
EXPORTER_VARIABLE = "OTEL_TRACES_EXPORTER"
ASKING_VARIABLES = (
    EXPORTER_VARIABLE,
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
)
"""Variables of which one must be set for traces."""
EXPORTERS_GROUP = "opentelemetry_traces_exporter"
"""Group of entry points under which packages for OpenTelemetry register their exporters."""
CLOSE_SECONDS = 5.0
"""Longest time for the last spans to be sent when the service ends."""
ATTRIBUTES = {
    "request_id": "verifier.request_id",
    "method": "http.request.method",
    "path": "http.route",
    "status": "http.response.status_code",
    "key": "verifier.key",
    "completions": "verifier.completions",
    "error": "error.type",
}
"""Names of the fields of a call's line in the log, as attributes of its span."""


class CallTrace:
    """The span of a call under way."""

    def __init__(self, traces: Traces, span: RecordedSpan) -> None:
        self._traces = traces
        self._span = span
        self.times = CallTimes() if span.is_recording() else None

    def end(self, fields: Mapping[str, Any]) -> None:
        """End the span.

        Args:
            fields: of the call's line in the log.
        """
        if self.times is None:
            return
        self._span.update_name(f"{fields['method']} {fields['path']}")
        for name, attribute in ATTRIBUTES.items():
            if name in fields:
                self._span.set_attribute(attribute, fields[name])
        self._traces.end(self._span, self.times, is_error=fields["status"] >= 500)


class Traces:
    """The traces of a service, which a thread of OpenTelemetry sends.

    Args:
        provider: makes and sends the spans.
    """

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry import trace  # noqa: PLC0415  nothing where there are no traces
        from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415

        self._api = trace
        self._provider = provider
        self._tracer = provider.get_tracer("verifier_service", verifier_service.__version__)
        self._callers = tracecontext.TraceContextTextMapPropagator()

    def begin(self, headers: Mapping[bytes, bytes]) -> CallTrace:
        """Begin the span of a call, under that of its caller.

        Args:
            headers: those of TRACE_HEADERS that the call has.
        """
        given = {name.decode(): value.decode("latin-1") for name, value in headers.items() if value}
        caller = self._callers.extract(given)
        kind = self._api.SpanKind.SERVER
        return CallTrace(self, self._tracer.start_span("call", context=caller, kind=kind))

    def end(self, span: RecordedSpan, times: CallTimes, *, is_error: bool) -> None:
        """End the span of a call with its children.

        Args:
            span: of the call.
            times: of its tasks.
            is_error: whether the service is at fault for the status of the call.
        """
        parent = self._api.set_span_in_context(span)
        if times.queue is not None:
            self._add_child("queue", times.queue, parent)
        for verifiers, judging in times.judge.items():
            self._add_child(f"judge {verifiers}", judging, parent)
        if is_error:
            span.set_status(self._api.StatusCode.ERROR)
        span.end()

    def _add_child(self, name: str, span: WorkSpan, parent: Context) -> None:
        child = self._tracer.start_span(name, context=parent, start_time=span.start)
        child.set_attribute("verifier.tasks", span.num_pieces)
        child.set_attribute("verifier.task_seconds", span.nanoseconds / 1e9)
        child.end(end_time=span.end)

    async def close(self) -> None:
        """Send what is left, within a limit: a collector that is away must hold up no end."""
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        await asyncio.to_thread(closing.join, CLOSE_SECONDS)


def start_traces(environment: Mapping[str, str]) -> Traces | None:
    """The traces that the environment asks for; None where it asks for none.

    The log tells where it asks and they cannot be had: a service without them judges as well.
    """
    exporters = _exporters_in(environment)
    if not exporters:
        return None
    try:
        from opentelemetry.sdk.resources import (  # noqa: PLC0415
            OTELResourceDetector,
            Resource,
        )
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        log.warning("no traces, which the environment asks for with OTEL_...: %s", EXTRA)
        return None
    ours = {"service.name": "verifier-service", "service.version": verifier_service.__version__}
    # The variables of the environment come last, so that they can rename the service.
    resource = Resource.create(ours).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    for name in exporters:
        found = list(entry_points(group=EXPORTERS_GROUP, name=name))
        if not found:
            there = sorted(entry_points(group=EXPORTERS_GROUP).names)
            wanted = f"{EXPORTER_VARIABLE} asks for the exporter {name!r}"
            log.warning("%s; installed are %s (%s brings otlp)", wanted, there, EXTRA)
            continue
        provider.add_span_processor(BatchSpanProcessor(found[0].load()()))
    return Traces(provider)


def _exporters_in(environment: Mapping[str, str]) -> list[str]:
    """Names of the exporters that the environment asks for, as their packages register them."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    if not any(environment.get(name) for name in ASKING_VARIABLES):
        return []
    named = (environment.get(EXPORTER_VARIABLE) or "otlp").split(",")
    return [_registered(name.strip(), environment) for name in named if name.strip() != "none"]


def _registered(name: str, environment: Mapping[str, str]) -> str:
    if name != "otlp":
        return name
    protocol = (
        environment.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
        or environment.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        or "http/protobuf"
    )
    return "otlp_proto_grpc" if protocol.strip() == "grpc" else "otlp_proto_http"
