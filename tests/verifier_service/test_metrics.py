"""GET /metrics: what an operator needs to see."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from trainer_client.service_process import running_service

DASHBOARD = Path(__file__).parents[2] / "docker" / "monitoring" / "dashboard.json"
Samples = dict[str, float]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service that nobody else asks."""
    log = tmp_path_factory.mktemp("metrics") / "service.log"
    flags = ("--workers", "1", "--enabled", "accuracy,format", "--item-cpu-seconds", "0.3")
    with running_service(log, *flags) as url, httpx.Client(base_url=url, timeout=600) as client:
        yield client


def samples(http: httpx.Client) -> Samples:
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        f"{sample.name}{json.dumps(sample.labels, sort_keys=True)}": sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def name(metric: str, **labels: str) -> str:
    return f"{metric}{json.dumps(labels, sort_keys=True)}"


def change(before: Samples, after: Samples, metric: str, **labels: str) -> float:
    key = name(metric, **labels)
    return after[key] - before.get(key, 0.0)


def post(http: httpx.Client, *texts: str, **fields: object) -> httpx.Response:
    group = {"reference": {"answer": "2"}, "completions": texts}
    body = {"verifiers": [{"type": "accuracy"}], "groups": [group], **fields}
    return http.post("/v1/score", json=body)


@pytest.mark.slow
def test_verdicts_are_counted_by_reason_and_timed(own: httpx.Client) -> None:
    before = samples(own)
    post(own, *(rf"{text} \boxed{{{n}}}" for text, n in (("a", 2), ("b", 2), ("a", 2), ("c", 3))))
    after = samples(own)
    labels = {"verifier": "accuracy", "outcome": "scored"}
    assert change(before, after, "verifier_verdicts_total", reason="equal", **labels) == 3
    assert change(before, after, "verifier_verdicts_total", reason="different", **labels) == 1
    assert change(before, after, "verifier_verdict_seconds_count", verifier="accuracy") == 3
    assert after[name("verifier_verdict_seconds_max", verifier="accuracy")] > 0
    assert name("verifier_verdict_seconds_bucket", verifier="accuracy", le="0.01") in after


@pytest.mark.slow
def test_hits_of_the_cache_are_counted(own: httpx.Client) -> None:
    post(own, "a text that is asked twice: 2")
    before = samples(own)
    post(own, "a text that is asked twice: 2", "and one that is not: 2")
    after = samples(own)
    assert change(before, after, "verifier_cache_hits_total") == 1
    assert change(before, after, "verifier_cache_misses_total") == 1


@pytest.mark.slow
def test_replaced_workers_are_counted_by_cause(own: httpx.Client) -> None:
    before = samples(own)
    assert post(own, r"\boxed{\sum_{n=1}^{10^9} n^{n^{9^{9}}}}").status_code == 200
    group = {"reference": {"answer": "2"}, "completions": [r"$\gcd(9^{9^{9^{9}}}, 2)$"]}
    verifiers = [{"type": "accuracy", "mode": "math_verify"}]
    own.post("/v1/score", json={"verifiers": verifiers, "groups": [group]})
    after = samples(own)
    labels = {"kind": "text", "cause": "too_slow"}
    assert change(before, after, "verifier_worker_restarts_total", **labels) >= 1


@pytest.mark.slow
def test_refusals_are_counted_by_cause(own: httpx.Client) -> None:
    before = samples(own)
    post(own, "2", verifiers=[])
    after = samples(own)
    assert change(before, after, "verifier_rejected_total", cause="invalid_request") == 1
    assert change(before, after, "verifier_requests_total", path="/v1/score", status="422") == 1


@pytest.mark.slow
def test_every_kind_of_refusal_is_counted(own: httpx.Client) -> None:
    """A path that there is not, and a body of another protocol."""
    before = samples(own)
    assert own.get("/v2").status_code == 404
    assert own.post("/get_reward", json={"query": 7}).status_code == 422
    after = samples(own)
    assert change(before, after, "verifier_rejected_total", cause="not_found") == 1
    assert change(before, after, "verifier_rejected_total", cause="invalid_request") == 1


@pytest.mark.slow
def test_an_idle_service_has_nothing_pending(own: httpx.Client) -> None:
    post(own, "2")
    found = samples(own)
    assert found[name("verifier_pending_completions")] == 0
    assert found[name("verifier_pending_bytes")] == 0
    assert found[name("verifier_workers", kind="text")] == 1
    assert found[name("verifier_workers_busy", kind="text")] == 0
    assert found[name("verifier_requests_in_flight")] == 1  # this one


@pytest.mark.slow
def test_unknown_paths_do_not_become_labels(own: httpx.Client) -> None:
    own.get("/some/unknown/path")
    assert "/some/unknown/path" not in own.get("/metrics").text


@pytest.mark.slow
def test_the_dashboard_asks_for_metrics_that_there_are(own: httpx.Client) -> None:
    post(own, "2")
    text = own.get("/metrics").text
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    assert len(asked) >= 10
    for expression in asked:
        for metric in re.findall(r"verifier_\w+", expression):
            assert f"# TYPE {re.sub('_(bucket|sum|count|total)$', '', metric)}" in text.replace(
                "_total ", " "
            ), metric
