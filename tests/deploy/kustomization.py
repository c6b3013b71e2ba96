"""The part of kustomize that `deploy/kubernetes` uses, so that tests need no kubectl.

`test_it_renders_as_kubectl_does` compares both where kubectl is installed.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]
KNOWN = {
    *("apiVersion", "kind", "namespace", "resources", "components", "configMapGenerator"),
    *("images", "patches"),
}
CONTAINERS = ("containers", "initContainers")


def render(folder: Path) -> list[Manifest]:
    """The manifests of a folder with a `kustomization.yaml`, without the hashes in their names."""
    return _render(folder, [])


def _render(folder: Path, before: list[Manifest]) -> list[Manifest]:
    """The manifests of a folder, after those that a component is added to."""
    plan = yaml.safe_load((folder / "kustomization.yaml").read_text())
    if unknown := set(plan) - KNOWN:
        raise ValueError(f"{folder}: the renderer of the tests does not know {sorted(unknown)}")
    found = list(before)
    for name in plan.get("resources", []):
        found += _resource(folder / name)
    for name in plan.get("components", []):
        found = _render((folder / name).resolve(), found)
    found += [_config_map(folder, one) for one in plan.get("configMapGenerator", [])]
    for patch in plan.get("patches", []):
        _patch(found, patch)
    for manifest in found:
        _set_images(manifest, plan.get("images", []))
        _set_namespace(manifest, plan.get("namespace"))
    return found


def _resource(path: Path) -> list[Manifest]:
    if path.is_dir():
        return render(path.resolve())
    return list(yaml.safe_load_all(path.read_text()))


def _config_map(folder: Path, plan: dict[str, Any]) -> Manifest:
    data = {name: (folder / name).read_text() for name in plan["files"]}
    head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": plan["name"]}}
    return {**head, "data": data}


def _patch(manifests: list[Manifest], patch: dict[str, Any]) -> None:
    target = patch["target"]
    chosen = [
        one
        for one in manifests
        if one["kind"] == target["kind"] and one["metadata"]["name"] == target["name"]
    ]
    if not chosen:
        raise ValueError(f"a patch finds no {target}")
    for manifest in chosen:
        for operation in yaml.safe_load(patch["patch"]):
            _apply(manifest, operation)


def _apply(manifest: Manifest, operation: dict[str, Any]) -> None:
    """Apply an operation of a JSON Patch (RFC 6902): `add` or `replace`."""
    *path, last = [
        part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
    ]
    node: Any = manifest
    for part in path:
        node = node[int(part)] if isinstance(node, list) else node[part]
    value = deepcopy(operation["value"])
    if operation["op"] == "add" and isinstance(node, list):
        assert last == "-"
        node.append(value)
    elif operation["op"] == "replace" and isinstance(node, list):
        node[int(last)] = value
    elif operation["op"] == "add" or (operation["op"] == "replace" and last in node):
        node[last] = value
    else:
        raise ValueError(f"cannot apply {operation}")


def pod_of(manifest: Manifest) -> dict[str, Any] | None:
    """The specification of the pods that a manifest makes; None if it makes none."""
    template = manifest.get("spec", {}).get("template")
    return None if template is None else template["spec"]


def containers_of(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """The containers of a pod, those that run before the others included."""
    return [one for kind in CONTAINERS for one in pod.get(kind, [])]


def _set_images(manifest: Manifest, images: list[dict[str, str]]) -> None:
    for container in containers_of(pod_of(manifest) or {}):
        for image in images:
            if container["image"].partition(":")[0] == image["name"]:
                container["image"] = f"{image['newName']}:{image['newTag']}"


def _set_namespace(manifest: Manifest, namespace: str | None) -> None:
    if namespace is not None and manifest["kind"] != "Namespace":
        manifest["metadata"]["namespace"] = namespace
