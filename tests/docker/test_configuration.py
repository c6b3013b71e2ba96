"""compose.yaml as a whole, and the profiles that are not started here: checked by their formats."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docker.conftest import ROOT
from tests.docker.stack import Stack

pytestmark = pytest.mark.docker

MONITORING = ROOT / "docker" / "monitoring"


def services(stack: Stack, *profiles: str) -> dict[str, Any]:
    """What compose makes of the file with profiles."""
    flags = [part for profile in profiles for part in ("--profile", profile)]
    found: dict[str, Any] = yaml.safe_load(stack.compose(*flags, "config"))["services"]
    return found


def test_one_command_starts_the_service_and_the_demonstration(stack: Stack) -> None:
    always = {name for name, one in services(stack).items() if not one.get("profiles")}
    assert always == {"verifier", "api", "trainer"}


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
