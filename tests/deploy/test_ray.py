"""Files of `deploy/ray`, for Ray and KubeRay. `tests/fleet` reads them with Ray's own schema."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.deploy.policies import POLICIES
from tests.deploy.test_kubernetes import ROOT, VERSIONS, num_bytes
from verifier_service import __version__
from verifier_service.fleet.settings import FleetSettings

RAY = ROOT / "deploy" / "ray"
SERVE = yaml.safe_load((RAY / "serve.yaml").read_text())
SERVICE = yaml.safe_load((RAY / "rayservice.yaml").read_text())
CLUSTER = SERVICE["spec"]["rayClusterConfig"]
JUDGES = CLUSTER["workerGroupSpecs"][0]
PODS = [CLUSTER["headGroupSpec"]["template"]["spec"], JUDGES["template"]["spec"]]


def options() -> dict[str, dict[str, int]]:
    [application] = SERVE["applications"]
    return {one["name"]: one["ray_actor_options"] for one in application["deployments"]}


def test_both_deploy_the_same_fleet() -> None:
    assert yaml.safe_load(SERVICE["spec"]["serveConfigV2"])["applications"] == SERVE["applications"]


def test_arguments_are_settings_and_deployments_those_of_the_fleet() -> None:
    [application] = SERVE["applications"]
    settings = FleetSettings(**application["args"])
    hosts = {f"sessions{number}" for number in range(settings.num_session_hosts)}
    assert set(options()) == {"gateway", *settings.kinds, *hosts}
    assert options()["sessions0"]["memory"] >= (settings.max_sessions_bytes or 0) + 2**30
    for kind in settings.kinds:
        assert options()[kind]["num_cpus"] == settings.num_workers(kind)
    assert options()["text"]["memory"] >= settings.workers * settings.item_memory_bytes
    assert options()["code"]["memory"] >= settings.code_workers * 2**30


def test_a_node_has_room_for_a_judge_of_each_kind_and_a_gateway() -> None:
    [container] = PODS[1]["containers"]
    limits = container["resources"]["limits"]
    assert int(limits["cpu"]) >= sum(one["num_cpus"] for one in options().values())
    assert num_bytes(limits["memory"]) >= sum(one.get("memory", 0) for one in options().values())


def test_ray_asks_for_its_token() -> None:
    assert CLUSTER["authOptions"] == {"mode": "token"}


def test_the_head_judges_nothing() -> None:
    assert CLUSTER["headGroupSpec"]["rayStartParams"] == {"num-cpus": "0"}


@pytest.mark.parametrize("pod", PODS, ids=["head", "judges"])
def test_pods_are_valid(pod: dict[str, Any]) -> None:
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ray"}, "spec": pod}
    kubernetes_validate.validate(manifest, VERSIONS[0], strict=True)
    images = [one["image"] for one in pod["containers"]]
    assert [image.rpartition(":")[2] for image in images] == [__version__]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("pod", PODS, ids=["head", "judges"])
def test_pods_keep_every_policy(pod: dict[str, Any], policy: str) -> None:
    assert list(POLICIES[policy](pod)) == []


def test_a_wrong_number_of_judges_is_named() -> None:
    with pytest.raises(ValueError, match="at least as many as `judges`, 2"):
        FleetSettings(judges=2, max_judges=1)


def test_the_judges_of_a_kind_serve_its_verifiers_alone() -> None:
    settings = FleetSettings(enabled=("accuracy", "format", "code"))
    assert settings.kinds == ("code", "text")
    assert settings.of_kind("code").enabled == ("code",)
    assert settings.of_kind("text").enabled == ("accuracy", "format")
