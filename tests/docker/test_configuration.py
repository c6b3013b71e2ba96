"""compose.yaml as a whole, and the profiles that are not started here: checked by their formats."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docker.conftest import ROOT
from tests.docker.engine import Engine
from tests.docker.stack import Stack
from verifier_service.settings import Settings

pytestmark = pytest.mark.docker

MONITORING = ROOT / "docker" / "monitoring"
KEYS = "VERIFIER_API_KEY_HASHES"


def services(stack: Stack, *profiles: str) -> dict[str, Any]:
    """The services of the file with profiles, as compose reads them."""
    flags = [part for profile in profiles for part in ("--profile", profile)]
    found: dict[str, Any] = yaml.safe_load(stack.compose(*flags, "config"))["services"]
    return found


def test_one_command_starts_the_service_and_the_demonstration(stack: Stack) -> None:
    always = {name for name, one in services(stack).items() if not one.get("profiles")}
    assert always == {"verifier", "api", "trainer"}


def environment(folder: Path, added: str = "", **given: str) -> dict[str, str | None]:
    """The service's variables with lines added to verifier.env; no engine is asked."""
    shutil.copy(ROOT / "compose.yaml", folder)
    shutil.copytree(ROOT / "docker", folder / "docker", dirs_exist_ok=True)
    with (folder / "docker" / "verifier.env").open("a") as file:
        file.write(added)
    place = ("--project-directory", str(folder), "--file", str(folder / "compose.yaml"))
    config = yaml.safe_load(
        Engine("unix:///nowhere").compose(*place, "config", check=True, **given)
    )
    found: dict[str, str | None] = config["services"]["verifier"]["environment"]
    return found


def test_a_setting_of_the_file_is_not_overridden_but_for_the_workers(tmp_path: Path) -> None:
    """The file and the documentation say so, too."""
    names = {f"VERIFIER_{name.upper()}" for name in Settings.model_fields}
    found = environment(tmp_path, "".join(f"{name}=mine\n" for name in names))
    overridden = {name for name in names if found[name] != "mine"}
    assert overridden == {"VERIFIER_WORKERS", "VERIFIER_CODE_WORKERS"}
    for document in ("docker/verifier.env", "docs/deploy.md"):
        assert all(re.search(rf"\b{name}\b", (ROOT / document).read_text()) for name in overridden)


@pytest.mark.parametrize(
    ("dot_env", "given", "expected"),
    [("", {}, None), ("", {KEYS: "a,b"}, "a,b"), (f"{KEYS}=c\n", {}, "c")],
    ids=["nowhere", "environment", ".env"],
)
def test_hashes_of_keys_come_from_the_environment_too(
    tmp_path: Path, dot_env: str, given: dict[str, str], expected: str | None
) -> None:
    (tmp_path / ".env").write_text(dot_env)
    found = environment(tmp_path, **given)
    assert found.get(KEYS) == expected
    assert found[f"{KEYS}_FILE"] == "/etc/verifier/api-key-hashes"


def test_the_profile_gpu_adds_a_trainer_and_a_vllm_server_on_a_gpu(stack: Stack) -> None:
    found = services(stack, "gpu")
    for name in ("gpu", "vllm"):
        (device,) = found[name]["deploy"]["resources"]["reservations"]["devices"]
        assert device["capabilities"] == ["gpu"]
        assert set(found[name]["networks"]) == {"edge"}
    settings = dict(part.split("=", 1) for part in found["gpu"]["command"][2:])
    assert settings["rollout.engine"] == "vllm_server"
    assert settings["reward.url"] == "http://api:8080"


def test_with_every_profile_only_the_proxy_joins_the_judges_and_the_outside(stack: Stack) -> None:
    found = services(stack, "gpu", "monitoring")
    joins = {name for name, one in found.items() if {"judges", "edge"} <= set(one["networks"])}
    assert joins == {"api"}
    published = {name for name, one in found.items() if one.get("ports")}
    assert published == {"api", "grafana"}


def test_promtool_accepts_the_configuration(stack: Stack) -> None:
    recipe = (
        f"FROM {stack.settings['BASE_IMAGE']}\nWORKDIR /tools\n"
        "RUN apt-get update && apt-get download prometheus && dpkg -x prometheus_*.deb . "
        "&& rm -r /var/lib/apt/lists prometheus_*.deb\n"
    )
    image = f"{stack.name}/promtool"
    stack.engine.docker("build", "--tag", image, "-", stdin=recipe.encode())
    folder = ("--volume", f"{stack.folder}/docker/monitoring:/conf:ro")
    tool = (image, "/tools/usr/bin/promtool", "check", "config")
    run = ("run", "--rm", "--network", "none", *folder, *tool)
    assert "SUCCESS" in stack.engine.docker(*run, "/conf/prometheus.yml")
    assert "FAILED" in stack.engine.docker(*run, "/conf/datasource.yml", check=False)


def test_prometheus_looks_for_every_replica_of_the_service() -> None:
    (job,) = yaml.safe_load((MONITORING / "prometheus.yml").read_text())["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    assert (found["names"], found["type"], found["port"]) == (["verifier"], "A", 8080)


def test_grafana_is_given_what_exists(stack: Stack) -> None:
    grafana = services(stack, "monitoring")["grafana"]
    for mount in grafana["volumes"]:
        source = mount["source"] if isinstance(mount, dict) else mount.split(":")[0]
        assert not source.startswith("/") or Path(source).is_file()
    (source,) = yaml.safe_load((MONITORING / "datasource.yml").read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090"


def test_the_dashboard_asks_for_metrics_that_the_service_has(running: Stack) -> None:
    service, *_ = running.containers("verifier")
    code = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8080/metrics').read().decode())"
    families = set(re.findall(r"^# TYPE (\S+)", running.python(service, code), re.M))
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    asked = set(re.findall(r"\bverifier_\w+", " ".join(expressions(dashboard))))
    assert asked
    unknown = {
        name for name in asked if not {name, re.sub(r"_(bucket|sum|count)$", "", name)} & families
    }
    assert unknown == set()


def expressions(node: Any) -> list[str]:
    """Every query in a dashboard."""
    if isinstance(node, dict):
        own = [node["expr"]] if "expr" in node else []
        return own + [found for value in node.values() for found in expressions(value)]
    return [found for one in node for found in expressions(one)] if isinstance(node, list) else []
