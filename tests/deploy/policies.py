"""Rules that every pod of `deploy/kubernetes` keeps; each says how a pod breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.deploy.kustomization import containers_of

Pod = dict[str, Any]
RESOURCES = {"cpu", "memory", "ephemeral-storage"}
# A version or a digest behind the last slash: `registry.example.com:5000/name:0.2.0`.
FIXED_IMAGE = re.compile(r"(?:[^\s@]+/)?[^\s:@/]+(?::(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})")
HOST_FLAGS = ("hostNetwork", "hostPID", "hostIPC")
MIN_USER = 10_000


def _limits(pod: Pod) -> Iterator[str]:
    for container in containers_of(pod):
        for kind in ("requests", "limits"):
            given = container.get("resources", {}).get(kind, {})
            # A limit of 0 is none.
            if missing := RESOURCES - {name for name in given if str(given[name]) != "0"}:
                yield f"{container['name']}: no {kind} of {sorted(missing)}"


def _fixed_images(pod: Pod) -> Iterator[str]:
    for container in containers_of(pod):
        if not FIXED_IMAGE.fullmatch(container["image"]):
            yield f"{container['name']}: {container['image']} names no version"


def _no_root(pod: Pod) -> Iterator[str]:
    for context in (pod.get("securityContext", {}), *_contexts(pod, "runAsUser")):
        if context.get("runAsUser", 0) < MIN_USER:
            yield f"user {context.get('runAsUser')}"
    for context in (pod.get("securityContext", {}), *_contexts(pod, "runAsNonRoot")):
        if context.get("runAsNonRoot") is not True:
            yield "runAsNonRoot is not true"
    for context in (pod.get("securityContext", {}), *_contexts(pod, "runAsGroup")):
        if 0 in (context.get("runAsGroup", 0), *context.get("supplementalGroups", ())):
            yield "the group of root"


def _contexts(pod: Pod, key: str) -> list[dict[str, Any]]:
    """The security contexts of containers that say something about a key."""
    contexts = [one.get("securityContext", {}) for one in containers_of(pod)]
    return [one for one in contexts if key in one]


def _read_only_root(pod: Pod) -> Iterator[str]:
    for container in containers_of(pod):
        if container.get("securityContext", {}).get("readOnlyRootFilesystem") is not True:
            yield f"{container['name']}: the root can be written"


def _no_privileges(pod: Pod) -> Iterator[str]:
    for container in containers_of(pod):
        context = container.get("securityContext", {})
        if context.get("capabilities") != {"drop": ["ALL"]}:
            yield f"{container['name']}: capabilities {context.get('capabilities')}"
        if context.get("allowPrivilegeEscalation") is not False or context.get("privileged"):
            yield f"{container['name']}: may gain privileges"
        if context.get("procMount", "Default") != "Default":
            yield f"{container['name']}: sees all of /proc"


def _seccomp(pod: Pod) -> Iterator[str]:
    contexts = (pod.get("securityContext", {}), *_contexts(pod, "seccompProfile"))
    for context in contexts:
        if context.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            yield f"seccomp: {context.get('seccompProfile')}"


def _nothing_of_the_host(pod: Pod) -> Iterator[str]:
    yield from (flag for flag in HOST_FLAGS if pod.get(flag))
    for volume in pod.get("volumes", []):
        if "hostPath" in volume:
            yield f"volume {volume['name']} is the host's"
    for container in containers_of(pod):
        if any("hostPort" in port for port in container.get("ports", [])):
            yield f"{container['name']}: a port of the host"


def _no_cluster_credentials(pod: Pod) -> Iterator[str]:
    if pod.get("automountServiceAccountToken") is not False:
        yield "a token of the cluster's API is mounted"


def _no_service_links(pod: Pod) -> Iterator[str]:
    """Variables such as VERIFIER_PORT, which Kubernetes makes of a Service's name."""
    if pod.get("enableServiceLinks") is not False:
        yield "variables for every Service, VERIFIER_PORT among them"


def _bounded_memory_volumes(pod: Pod) -> Iterator[str]:
    for volume in pod.get("volumes", []):
        if "emptyDir" in volume and "sizeLimit" not in volume["emptyDir"]:
            yield f"volume {volume['name']} has no size"


POLICIES: dict[str, Callable[[Pod], Iterator[str]]] = {
    "limits": _limits,
    "fixed_images": _fixed_images,
    "no_root": _no_root,
    "read_only_root": _read_only_root,
    "no_privileges": _no_privileges,
    "seccomp": _seccomp,
    "nothing_of_the_host": _nothing_of_the_host,
    "no_cluster_credentials": _no_cluster_credentials,
    "no_service_links": _no_service_links,
    "bounded_memory_volumes": _bounded_memory_volumes,
}
