"""`deploy/ray/serve.yaml` as Ray Serve reads it, and the application that it names."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import yaml
from ray.serve.schema import ServeDeploySchema

from verifier_service.fleet.settings import FleetSettings

pytestmark = pytest.mark.fleet

SERVE = Path(__file__).parents[2] / "deploy" / "ray" / "serve.yaml"


def test_ray_serve_takes_the_file() -> None:
    schema = ServeDeploySchema.parse_obj(yaml.safe_load(SERVE.read_text()))
    [application] = schema.applications
    module, _, name = application.import_path.partition(":")
    fleet = getattr(import_module(module), name)(application.args)
    assert type(fleet).__name__ == "Application"
    named = {one.name for one in application.deployments}
    settings = FleetSettings(**application.args)
    hosts = {f"sessions{number}" for number in range(settings.num_session_hosts)}
    assert named == {"gateway", *settings.kinds, *hosts}


def test_a_wrong_argument_is_named() -> None:
    module = import_module("verifier_service.fleet.application")
    with pytest.raises(ValueError, match=r"max_judge\n"):
        module.application({"max_judge": 3})
