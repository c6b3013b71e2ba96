"""Pods of `deploy/kubernetes` keep the policies, and a pod that breaks one is found."""

from __future__ import annotations

from typing import Any

import pytest

from tests.deploy.kustomization import pod_of, render
from tests.deploy.policies import POLICIES
from tests.deploy.test_kubernetes import FOLDERS, KUBERNETES

CONTAINER = "containers.0"
SECURITY = f"{CONTAINER}.securityContext"
DIGEST = "registry.example.com:5000/service@sha256:" + "0" * 64


def changed(path: str, value: Any) -> dict[str, Any]:
    """The pod of a judge with one value changed."""
    pod = judge()
    node: Any = pod
    *parts, last = path.split(".")
    for part in parts:
        node = node[int(part)] if isinstance(node, list) else node[part]
    if isinstance(node, list):
        node.append(value)
    else:
        node[last] = value
    return pod


def judge() -> dict[str, Any]:
    [found] = [
        pod_of(one)
        for one in render(KUBERNETES / "base")
        if (one["kind"], one["metadata"]["name"]) == ("Deployment", "verifier")
    ]
    assert found is not None
    return found


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_pod_keeps_every_policy(folder: str, policy: str) -> None:
    pods = [pod for one in render(KUBERNETES / folder) if (pod := pod_of(one))]
    assert pods
    assert [broken for pod in pods for broken in POLICIES[policy](pod)] == []


@pytest.mark.parametrize(
    ("policy", "path", "value"),
    [
        ("limits", f"{CONTAINER}.resources", {}),
        ("limits", f"{CONTAINER}.resources.limits", {"cpu": "1"}),
        ("limits", "initContainers", [{"name": "first", "image": "busybox:1"}]),
        ("limits", f"{CONTAINER}.resources.limits.memory", "0"),
        ("fixed_images", f"{CONTAINER}.image", "reward-verifier/service"),
        ("fixed_images", f"{CONTAINER}.image", "reward-verifier/service:latest"),
        ("no_root", "securityContext.runAsUser", 0),
        ("no_root", "securityContext.runAsNonRoot", False),
        ("no_root", f"{SECURITY}.runAsUser", 0),
        ("no_root", f"{SECURITY}.runAsNonRoot", False),
        ("no_root", "securityContext.runAsGroup", 0),
        ("no_root", "securityContext.supplementalGroups", [0]),
        ("read_only_root", f"{SECURITY}.readOnlyRootFilesystem", False),
        ("no_privileges", f"{SECURITY}.capabilities", {"drop": ["ALL"], "add": ["SYS_ADMIN"]}),
        ("no_privileges", f"{SECURITY}.allowPrivilegeEscalation", True),
        ("no_privileges", f"{SECURITY}.privileged", True),
        ("no_privileges", f"{SECURITY}.procMount", "Unmasked"),
        ("seccomp", "securityContext.seccompProfile", {"type": "Unconfined"}),
        ("seccomp", f"{SECURITY}.seccompProfile", {"type": "Unconfined"}),
        ("nothing_of_the_host", "hostNetwork", True),
        ("nothing_of_the_host", "volumes.-", {"name": "root", "hostPath": {"path": "/"}}),
        ("nothing_of_the_host", f"{CONTAINER}.ports.-", {"containerPort": 1, "hostPort": 1}),
        ("no_cluster_credentials", "automountServiceAccountToken", True),
        ("no_service_links", "enableServiceLinks", True),
        ("bounded_memory_volumes", "volumes.-", {"name": "more", "emptyDir": {}}),
    ],
)
def test_a_pod_that_breaks_a_policy_is_found(policy: str, path: str, value: Any) -> None:
    assert list(POLICIES[policy](changed(path, value)))


def test_a_digest_is_a_fixed_image() -> None:
    """A registry's port is no tag."""
    assert list(POLICIES["fixed_images"](changed(f"{CONTAINER}.image", DIGEST))) == []
