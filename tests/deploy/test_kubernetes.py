"""The manifests in `deploy/kubernetes`: valid for the cluster's API, and right for the service."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from tests.deploy.kustomization import Manifest, containers_of, pod_of, render
from trainer_client.config.run_config import load_config
from verifier_service import __version__
from verifier_service.settings import Settings
from verifier_service.worker_pools import PROGRAM_MEMORY_BYTES

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
SERVICES = ("base", "overlays/trial", "overlays/cluster")
FOLDERS = (*SERVICES, "trainer", "overlays/gpu-training", "overlays/multi-node-training")
VERSIONS = ("1.33", "1.37")
"""The oldest version of Kubernetes that has every field used, and the newest with a schema."""
# The hash that kustomize adds to the name of a ConfigMap: `proxy-2t4h4hdgtf`.
HASH = re.compile(r"-[a-z0-9]{10}$")
UNITS = {"Mi": 2**20, "Gi": 2**30}
DEPLOY_PAGE = (ROOT / "docs" / "deploy.md").read_text()

NAME = {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"}
LABELS = {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1}
SECRET_KEY = {
    "type": "object",
    "required": ["name", "key"],
    "properties": {"name": NAME, "key": NAME},
    "additionalProperties": False,
}
SERVICE_MONITOR = {
    "type": "object",
    "required": ["selector", "endpoints"],
    "additionalProperties": False,
    "properties": {
        "selector": {
            "type": "object",
            "required": ["matchLabels"],
            "additionalProperties": False,
            "properties": {"matchLabels": LABELS},
        },
        "endpoints": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "port": NAME,
                    "path": {"type": "string", "pattern": "^/"},
                    "interval": {"type": "string", "pattern": r"^\d+s$"},
                    "authorization": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"type": {"type": "string"}, "credentials": SECRET_KEY},
                    },
                },
            },
        },
    },
}
"""The fields used of the operator's `ServiceMonitor`, which Kubernetes has no schema for."""


def named(folder: str, kind: str, name: str) -> Manifest:
    [found] = [
        one
        for one in render(KUBERNETES / folder)
        if (one["kind"], one["metadata"]["name"]) == (kind, name)
    ]
    return found


def all_of(folder: str, kind: str) -> list[Manifest]:
    return [one for one in render(KUBERNETES / folder) if one["kind"] == kind]


def judge_container(folder: str) -> dict[str, Any]:
    pod = pod_of(named(folder, "Deployment", "verifier"))
    assert pod is not None
    [container] = containers_of(pod)
    return container


def num_bytes(text: str) -> int:
    return int(text[:-2]) * UNITS[text[-2:]]


def without_hashes(node: Any) -> Any:
    """kubectl's manifests, with the names that its generators had."""
    if isinstance(node, dict):
        changed = {key: without_hashes(value) for key, value in node.items()}
        if node.get("kind") == "ConfigMap":
            changed["metadata"]["name"] = HASH.sub("", node["metadata"]["name"])
        if "configMap" in node:
            changed["configMap"]["name"] = HASH.sub("", node["configMap"]["name"])
        return changed
    return [without_hashes(one) for one in node] if isinstance(node, list) else node


def by_name(manifests: list[Manifest]) -> dict[tuple[str, str], Manifest]:
    return {(one["kind"], one["metadata"]["name"]): one for one in manifests}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
@pytest.mark.parametrize("folder", FOLDERS)
def test_it_renders_as_kubectl_does(folder: str) -> None:
    text = subprocess.run(
        ["kubectl", "kustomize", str(KUBERNETES / folder)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    expected = without_hashes(list(yaml.safe_load_all(text)))
    assert by_name(render(KUBERNETES / folder)) == by_name(expected)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_manifest_is_valid(folder: str, version: str) -> None:
    for manifest in render(KUBERNETES / folder):
        if manifest["kind"] == "ServiceMonitor":
            jsonschema.validate(manifest["spec"], SERVICE_MONITOR)
        else:
            kubernetes_validate.validate(manifest, version, strict=True)


def test_a_misspelt_field_is_no_valid_manifest() -> None:
    manifest = named("base", "Deployment", "verifier")
    manifest["spec"]["template"]["spec"]["dnsPolice"] = "None"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest, VERSIONS[0], strict=True)


@pytest.mark.parametrize("component", ["monitoring", "queue-depth", "user-namespaces"])
def test_every_component_is_valid_on_the_base(component: str, tmp_path: Path) -> None:
    plan = {
        "resources": [str(KUBERNETES / "base")],
        "components": [str(KUBERNETES / "components" / component)],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(plan))
    found = by_name(render(tmp_path))
    assert found != by_name(render(KUBERNETES / "base"))
    for manifest in found.values():
        if manifest["kind"] != "ServiceMonitor":
            kubernetes_validate.validate(manifest, VERSIONS[0], strict=True)


@pytest.mark.parametrize("folder", FOLDERS)
def test_images_have_the_version_of_the_project(folder: str) -> None:
    pods = [pod for one in render(KUBERNETES / folder) if (pod := pod_of(one))]
    images = [one["image"] for pod in pods for one in containers_of(pod)]
    assert {image.rpartition(":")[2] for image in images} == {__version__}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_key_is_in_the_tree_and_each_secret_that_is_needed_is_documented(folder: str) -> None:
    assert all_of(folder, "Secret") == []
    text = json.dumps(render(KUBERNETES / folder))
    # `"secretName": "verifier-key-hashes"`, `"secretKeyRef": {"name": "verifier-key", ...`
    secrets = re.findall(
        r'"(?:secretName|secretKeyRef|credentials)": (?:{"name": )?"([^"]+)"', text
    )
    assert secrets
    assert [name for name in secrets if f"create secret generic {name} " not in DEPLOY_PAGE] == []


@pytest.mark.parametrize("folder", SERVICES)
def test_judges_have_no_way_out_and_answer_no_stranger(folder: str) -> None:
    policies = {one["metadata"]["name"]: one["spec"] for one in all_of(folder, "NetworkPolicy")}
    assert policies["nothing"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    judges = policies["verifier"]
    assert judges["egress"] == []
    assert "Egress" in judges["policyTypes"]
    labels = named(folder, "Deployment", "verifier")["spec"]["selector"]
    assert judges["podSelector"] == labels
    first = judges["ingress"][0]["from"]
    assert first == [{"podSelector": policies["proxy"]["podSelector"]}]
    # A rule without `from` would let everybody in.
    assert all(rule.get("from") and rule.get("ports") for rule in judges["ingress"])


@pytest.mark.parametrize("folder", SERVICES)
def test_selectors_find_the_pods_and_ports_of_deployments(folder: str) -> None:
    templates = [one["spec"]["template"] for one in all_of(folder, "Deployment")]
    found = {json.dumps(one["metadata"]["labels"], sort_keys=True): one for one in templates}
    for service in all_of(folder, "Service"):
        pod = found[json.dumps(service["spec"]["selector"], sort_keys=True)]["spec"]
        ports = {port["name"] for one in containers_of(pod) for port in one["ports"]}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    budgets = [
        one["spec"]["selector"]["matchLabels"] for one in all_of(folder, "PodDisruptionBudget")
    ]
    assert sorted(json.dumps(one, sort_keys=True) for one in budgets) == sorted(found)
    for deployment in all_of(folder, "Deployment"):
        selector = deployment["spec"]["selector"]
        assert deployment["spec"]["template"]["metadata"]["labels"] == selector["matchLabels"]
        spread = deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]
        assert [one["labelSelector"] for one in spread] == [selector] * len(spread)


@pytest.mark.parametrize("folder", SERVICES)
def test_no_budget_holds_up_the_drain_of_a_node(folder: str) -> None:
    budgets = [one["spec"] for one in all_of(folder, "PodDisruptionBudget")]
    assert [one["maxUnavailable"] for one in budgets] == [1, 1]


@pytest.mark.parametrize("folder", SERVICES)
def test_the_autoscaler_owns_the_number_of_judges(folder: str) -> None:
    scaler = named(folder, "HorizontalPodAutoscaler", "verifier")["spec"]
    deployment = named(folder, "Deployment", "verifier")
    target = scaler["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", "verifier")
    assert "replicas" not in deployment["spec"]
    configuration = (KUBERNETES / "base" / "haproxy.cfg").read_text()
    places = re.search(r"server-template verifier (\d+) ", configuration)
    assert places
    assert scaler["minReplicas"] <= scaler["maxReplicas"] <= int(places[1])


@pytest.mark.parametrize("folder", SERVICES)
def test_variables_are_settings_of_the_service(folder: str) -> None:
    names = {one["name"] for one in judge_container(folder)["env"]}
    assert names <= {f"VERIFIER_{name.upper()}" for name in Settings.model_fields} | {
        "VERIFIER_API_KEY_HASHES_FILE"
    }


@pytest.mark.parametrize("folder", SERVICES)
def test_memory_is_enough_at_the_worst(folder: str) -> None:
    """The bound of docs/deploy.md, "How large", with one program under way for each worker."""
    settings = Settings()
    limits = judge_container(folder)["resources"]["limits"]
    num_workers = int(limits["cpu"])
    worst_bytes = (
        num_workers * (settings.item_memory_bytes + PROGRAM_MEMORY_BYTES)
        + 2 * settings.max_pending_bytes
    )
    assert num_bytes(limits["memory"]) >= worst_bytes


@pytest.mark.parametrize("folder", SERVICES)
def test_requests_of_judges_are_their_limits(folder: str) -> None:
    resources = judge_container(folder)["resources"]
    for name in ("cpu", "memory"):
        assert resources["requests"][name] == resources["limits"][name]


@pytest.mark.parametrize("folder", SERVICES)
def test_a_judge_has_time_to_finish_what_it_has_accepted(folder: str) -> None:
    pod = pod_of(named(folder, "Deployment", "verifier"))
    assert pod is not None
    assert pod["terminationGracePeriodSeconds"] > Settings().drain_seconds
    proxy = pod_of(named(folder, "Deployment", "proxy"))
    assert proxy is not None
    stop = re.search(r"hard-stop-after (\d+)s", (KUBERNETES / "base" / "haproxy.cfg").read_text())
    assert stop
    waits = containers_of(proxy)[0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert proxy["terminationGracePeriodSeconds"] > int(stop[1]) + waits


@pytest.mark.parametrize("folder", SERVICES)
def test_probes_are_patient(folder: str) -> None:
    """A busy container counts as dead after 30 s, three times, as in compose."""
    container = judge_container(folder)
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    for probe in ("startupProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] == "/healthz"
    liveness = container["livenessProbe"]
    assert liveness["timeoutSeconds"] * liveness["failureThreshold"] >= 90


def other_lines(path: Path) -> list[str]:
    """A proxy's configuration without the comments, the name server and the names of its site."""
    own = re.compile(
        r"\s*#|resolvers |\s+nameserver |\s+parse-resolv-conf|\s+http-request set-header Host"
        r"|\s+default-server |\s+server-template "
    )
    return [line for line in path.read_text().splitlines() if not own.match(line)]


def test_the_proxy_is_that_of_compose() -> None:
    ours = KUBERNETES / "base" / "haproxy.cfg"
    assert other_lines(ours) == other_lines(ROOT / "docker" / "haproxy.cfg")
    assert "    balance leastconn" in other_lines(ours)


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="haproxy is not installed")
def test_haproxy_takes_the_configuration(tmp_path: Path) -> None:
    text = (KUBERNETES / "base" / "haproxy.cfg").read_text()
    file = tmp_path / "haproxy.cfg"
    file.write_text(text.replace("/etc/verifier/", f"{ROOT}/docker/"))
    found = subprocess.run(
        ["haproxy", "-c", "-f", str(file)],
        env={**os.environ, "REPLICAS": "verifier-replicas.verifier.svc.cluster.local"},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr


def test_the_monitor_finds_the_port_and_the_metric_is_the_service_s() -> None:
    monitor = named("overlays/cluster", "ServiceMonitor", "verifier")["spec"]
    service = named("overlays/cluster", "Service", "verifier-replicas")
    assert monitor["selector"]["matchLabels"] == service["metadata"]["labels"]
    ports = {port["name"] for port in service["spec"]["ports"]}
    assert {one["port"] for one in monitor["endpoints"]} <= ports
    scaling = (KUBERNETES / "components" / "queue-depth" / "kustomization.yaml").read_text()
    [metric] = re.findall(r"metric: {name: (\w+)}", scaling)
    assert metric in (ROOT / "docker" / "monitoring" / "dashboard.json").read_text()


def test_the_trainer_has_a_valid_configuration_and_asks_the_service() -> None:
    config = load_config(KUBERNETES / "trainer" / "train.yaml", [])
    service = named("base", "Service", "verifier")
    port = service["spec"]["ports"][0]["port"]
    assert config.reward.url == f"http://{service['metadata']['name']}:{port}"


@pytest.mark.parametrize(("has_begun", "flags"), [(False, ""), (True, " --resume")])
def test_the_trainer_resumes_a_run_that_has_begun(
    tmp_path: Path, has_begun: bool, flags: str
) -> None:
    pod = pod_of(named("trainer", "Job", "trainer"))
    assert pod is not None
    [container] = containers_of(pod)
    [script] = container["args"]
    command = tmp_path / "trainer-client"
    command.write_text('#!/bin/sh\necho "$@"\n')
    command.chmod(0o755)
    if has_begun:
        (tmp_path / "runs" / "gsm8k").mkdir(parents=True)
        (tmp_path / "runs" / "gsm8k" / "config.yaml").touch()
    found = subprocess.run(
        [*container["command"], script.replace("/runs/", f"{tmp_path}/runs/")],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout == f"train /etc/trainer/train.yaml{flags}\n"
