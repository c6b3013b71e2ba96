"""The metrics that Prometheus reads at `GET /metrics`."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from verifier_service.engine.admission import Admission
from verifier_service.engine.scheduler import CountedPool
from verifier_service.engine.verdict_cache import VerdictCache
from verifier_service.large_requests.launcher import RequestProcesses
from verifier_service.model_judge.models import Models
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verdict_store.store import VerdictStore
from verifier_service.verifiers.answer_judge import AnswerJudge
from verifier_service.workers.tasks import TaskResult

VERDICT_SECONDS = (
    *(0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01),
    *(0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
REQUEST_SECONDS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0),
)


class Metrics:
    """Counters and histograms, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.verdict_counts: Counts[tuple[str, str, str]] = Counts()
        """Verdicts given to clients by verifier type, outcome and reason."""
        self._verdict_seconds: dict[str, _Distribution] = {}
        self.registry.register(_Live(self._verdict_metrics))
        self.num_decided_by_rules = 0
        """Scores of `answer_judge` that rules decided."""
        self._task_seconds = Histogram(
            "verifier_task_seconds",
            "Seconds from when a task asked for a worker until its verdicts were there, for each "
            "verifier of the task.",
            ["verifier"],
            buckets=REQUEST_SECONDS,
            registry=self.registry,
        )
        self._verdicts = Counter(
            "verifier_verdicts",
            "Verdicts given to clients.",
            ["verifier", "outcome", "reason"],
            registry=self.registry,
        )
        self._requests = Counter(
            "verifier_requests",
            "Responses by path and status.",
            ["path", "status"],
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "verifier_request_seconds",
            "Seconds from the request line to the last byte of the answer.",
            ["path"],
            buckets=REQUEST_SECONDS,
            registry=self.registry,
        )
        self._key_requests = Counter(
            "verifier_key_requests",
            "Answers by API key, as the settings name it, and status.",
            ["key", "status"],
            registry=self.registry,
        )
        self._key_completions = Counter(
            "verifier_key_completions",
            "Completions judged by POST /v1/score, by API key.",
            ["key"],
            registry=self.registry,
        )
        self.connections = Gauge(
            "verifier_connections", "Open connections.", registry=self.registry
        )
        self._rejected = Counter(
            "verifier_rejected",
            "Connections and requests refused, or given up by their client, by cause.",
            ["cause"],
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "verifier_requests_in_flight", "Requests under way.", registry=self.registry
        )

    def count_judged(self, verifier: str, found: Iterable[TaskResult], seconds: float) -> None:
        """Count a verifier of a task.

        Args:
            verifier: its type.
            found: its verdicts and open questions.
            seconds: wall time from when the task asked for a worker until it ended.
        """
        self._task_seconds.labels(verifier).observe(seconds)
        times = [one.seconds for one in found if isinstance(one, Verdict)]
        self._verdict_seconds.setdefault(verifier, _Distribution()).add(times)
        if verifier == AnswerJudge.model_fields["type"].default:
            self.num_decided_by_rules += sum(
                isinstance(one, Verdict) and one.outcome is Outcome.SCORED for one in found
            )

    def _verdict_metrics(self) -> Iterable[Metric]:
        seconds = HistogramMetricFamily(
            "verifier_verdict_seconds",
            "Seconds that a worker took for one verdict; cached and repeated ones take none.",
            labels=["verifier"],
        )
        longest = GaugeMetricFamily(
            "verifier_verdict_seconds_max",
            "The longest time that one verdict took since the start.",
            labels=["verifier"],
        )
        for verifier, distribution in self._verdict_seconds.items():
            seconds.add_metric([verifier], distribution.buckets, distribution.total)
            longest.add_metric([verifier], distribution.longest)
        yield from (seconds, longest)

    def count_verdicts(self, counts: Mapping[tuple[str, str, str], int]) -> None:
        """Count the verdicts of a response, given by verifier type, outcome and reason."""
        self.verdict_counts.update(counts)
        for labels, number in counts.items():
            self._verdicts.labels(*labels).inc(number)

    def count_response(self, path: str, status: int, seconds: float) -> None:
        """Count a response and the wall seconds that its call took."""
        self._requests.labels(path, str(status)).inc()
        self._request_seconds.labels(path).observe(seconds)

    def count_key(self, name: str, status: int, num_completions: int) -> None:
        """Count the response to a call with an API key of that name, and its completions."""
        self._key_requests.labels(name, str(status)).inc()
        self._key_completions.labels(name).inc(num_completions)

    def count_refusal(self, kind: str) -> None:
        """Count a request that was refused, or given up by its client."""
        self._rejected.labels(kind).inc()

    def watch(
        self,
        admission: Admission,
        cache: VerdictCache,
        pools: Mapping[str, CountedPool],
        processes: Sequence[RequestProcesses],
    ) -> None:
        """Read queue, cache, workers and processes whenever metrics are asked for."""
        self.registry.register(_Live(lambda: _queue_metrics(admission)))
        self.registry.register(_Live(lambda: _cache_metrics(cache)))
        self.registry.register(_Live(lambda: _worker_metrics(pools)))
        self.registry.register(_Live(lambda: _process_metrics(processes)))

    def watch_models(self, models: Models | None) -> None:
        """Read who decided, and the models' calls and tokens, whenever metrics are asked for."""
        self.registry.register(_Live(lambda: _judge_metrics(self.num_decided_by_rules, models)))

    def watch_store(self, store: VerdictStore) -> None:
        """Read what became of verdicts to be stored whenever metrics are asked for."""
        self.registry.register(_Live(lambda: _store_metrics(store)))

    def encode(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class _Distribution:
    """A histogram of many values at once; prometheus_client's takes microseconds for each."""

    def __init__(self) -> None:
        self.total = 0.0
        self.longest = 0.0
        self._counts = [0] * (len(VERDICT_SECONDS) + 1)

    def add(self, seconds: Iterable[float]) -> None:
        """Count values."""
        for value in seconds:
            self._counts[bisect_left(VERDICT_SECONDS, value)] += 1
            self.total += value
            self.longest = max(self.longest, value)

    @property
    def buckets(self) -> list[tuple[str, float]]:
        """The upper bound of each bucket, and how many values are not over it."""
        bounds = [*map(str, VERDICT_SECONDS), "+Inf"]
        return list(zip(bounds, accumulate(self._counts), strict=True))


class _Live(Collector):
    """Metrics that are read when they are asked for."""

    def __init__(self, read: Callable[[], Iterable[Metric]]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        return self._read()


def _process_metrics(processes: Sequence[RequestProcesses]) -> Iterable[Metric]:
    yield CounterMetricFamily(
        "verifier_request_process_deaths",
        "Processes of large requests that died, or did not start.",
        value=sum(one.num_deaths for one in processes),
    )


def _judge_metrics(num_decided_by_rules: int, models: Models | None) -> Iterable[Metric]:
    decided = CounterMetricFamily(
        "verifier_judge_decided", "Scores of answer_judge, by who decided.", labels=["by"]
    )
    decided.add_metric(["rules"], num_decided_by_rules)
    decided.add_metric(["model"], 0 if models is None else models.num_decided)
    calls = CounterMetricFamily(
        "verifier_model_calls", "Calls of models by result.", labels=["model", "result"]
    )
    tokens = CounterMetricFamily(
        "verifier_model_tokens", "Tokens, as the endpoints count them.", labels=["model", "kind"]
    )
    for name, asking in ({} if models is None else models.asking).items():
        for family, numbers in ((calls, asking.num_calls), (tokens, asking.num_tokens)):
            for label, number in numbers.items():
                family.add_metric([name, label], number)
    audited = CounterMetricFamily(
        "verifier_judge_audited",
        "Answers that rules decided and the model was asked about too, by what rules found.",
        labels=["rules", "result"],
    )
    if models is not None:
        for labels, number in models.audits.counts.items():
            audited.add_metric(labels, number)
    yield from (decided, calls, tokens, audited)


def _store_metrics(store: VerdictStore) -> Iterable[Metric]:
    verdicts = CounterMetricFamily(
        "verifier_store_verdicts",
        "Verdicts to be stored, by what became of them; all but written are lost.",
        labels=["result"],
    )
    for result, number in store.num_verdicts.items():
        verdicts.add_metric([result], number)
    yield verdicts
    yield GaugeMetricFamily(
        "verifier_store_bytes", "Size of the store's files.", value=store.stored_bytes
    )


def _queue_metrics(admission: Admission) -> Iterable[Metric]:
    state = admission.state
    for name, text in (
        ("pending_completions", "Completions accepted and not yet answered."),
        ("max_pending_completions", "The bound on them."),
        ("pending_bytes", "Bytes of bodies, and of answers until they are read."),
        ("max_pending_bytes", "The bound on them for a new request; twice that with answers."),
    ):
        yield GaugeMetricFamily(f"verifier_{name}", text, value=state[name])


def _cache_metrics(cache: VerdictCache) -> Iterable[Metric]:
    yield CounterMetricFamily("verifier_cache_hits", "Verdicts found.", value=cache.num_hits)
    yield CounterMetricFamily(
        "verifier_cache_misses", "Verdicts not found.", value=cache.num_misses
    )
    yield GaugeMetricFamily("verifier_cache_verdicts", "Verdicts kept.", value=len(cache))


def _worker_metrics(pools: Mapping[str, CountedPool]) -> Iterable[Metric]:
    running = GaugeMetricFamily("verifier_workers", "Workers running.", labels=["kind"])
    busy = GaugeMetricFamily("verifier_workers_busy", "Workers at a task.", labels=["kind"])
    waiting = GaugeMetricFamily(
        "verifier_tasks_waiting", "Tasks that wait for a worker.", labels=["kind"]
    )
    restarts = CounterMetricFamily(
        "verifier_worker_restarts", "Workers replaced, by why.", labels=["kind", "cause"]
    )
    for kind, pool in pools.items():
        running.add_metric([kind], pool.num_running)
        busy.add_metric([kind], pool.num_busy)
        waiting.add_metric([kind], pool.num_waiting)
        for cause, number in pool.restarts.items():
            restarts.add_metric([kind, cause], number)
    yield from (running, busy, waiting, restarts)
