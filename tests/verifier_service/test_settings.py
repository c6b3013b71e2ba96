"""Settings from the environment and from flags."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

import verifier_service.commands.serve
import verifier_service.server
from verifier_service.app import create_app
from verifier_service.cli import make_app, run
from verifier_service.fleet.session_host import no_pools
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer
from verifier_service.settings import Settings
from verifier_service.verifiers import VERIFIERS


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The command line's message about bad arguments."""
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_the_defaults_are_those_of_the_design() -> None:
    settings = Settings()
    assert (settings.host, settings.port) == ("127.0.0.1", 8080)
    assert (settings.max_body_bytes, settings.max_completions) == (64 * 2**20, 65_536)
    assert (settings.item_cpu_seconds, settings.item_memory_bytes) == (2.0, 2**30)
    assert settings.enabled == tuple(VERIFIERS)


@pytest.mark.parametrize(("host", "address"), [("[::1]", "::1"), ("::1", "::1"), ("", "")])
def test_an_address_may_stand_in_brackets_as_in_a_url(host: str, address: str) -> None:
    assert Settings(host=host).host == address


@pytest.mark.parametrize("value", ["inf", "nan"])
@pytest.mark.parametrize(
    "name", ["item_cpu_seconds", "drain_seconds", "judge_seconds", "store_flush_seconds"]
)
def test_a_limit_is_a_finite_number(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"VERIFIER_{name.upper()}", value)
    with pytest.raises(ValueError, match=f"{name}\\n +Input should be a finite number"):
        Settings()


def test_the_environment_sets_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIFIER_WORKERS", "3")
    monkeypatch.setenv("VERIFIER_ENABLED", "format, accuracy")
    settings = Settings()
    assert (settings.workers, settings.enabled) == (3, ("format", "accuracy"))


def test_a_flag_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIFIER_ENABLED", "accuracy")
    monkeypatch.setenv("VERIFIER_MAX_COMPLETIONS", "1")
    served: list[Settings] = []
    monkeypatch.setattr(verifier_service.server, "serve", served.append)
    monkeypatch.setattr(verifier_service.commands.serve, "hide_process", lambda: None)
    with pytest.raises(SystemExit) as ended:
        run(["serve", "--enabled", "format"])
    assert ended.value.code == 0
    listed, refused = asyncio.run(answers_of(create_app(served[0], start=no_pools)))
    enabled = [verifier["type"] for verifier in listed.json()["verifiers"]]
    assert enabled == ["format"]  # the flag
    assert refused.status_code == 413  # the environment, where there is no flag


async def answers_of(app: FastAPI) -> list[httpx.Response]:
    """The list of verifiers, and the answer to a request with two completions."""
    body = {"verifiers": [{"type": "format"}], "groups": [{"completions": ["x", "y"]}]}
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
    ):
        return [await http.get("/v1/verifiers"), await http.post("/v1/score", json=body)]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--port", "many"], "--port / VERIFIER_PORT: Input should be a valid integer"),
        (["--item-cpu-seconds", "0"], "--item-cpu-seconds / VERIFIER_ITEM_CPU_SECONDS: "),
        (["--enabled", "acuracy"], "no such verifier: ['acuracy']; did you mean 'accuracy'?"),
        (["--wrokers", "3"], "No such option: --wrokers"),
    ],
)
def test_a_wrong_flag_is_named(
    flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(["serve", *flags], capsys)


def test_a_wrong_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VERIFIER_WORKERS", "-1")
    assert "VERIFIER_WORKERS: Input should be greater than 0" in refusal(["serve"], capsys)


def test_a_file_of_profiles_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "profiles.yaml"
    file.write_text("x: [")
    monkeypatch.setenv("VERIFIER_PROFILES", str(file))
    assert refusal(["serve"], capsys).count(str(file)) == 1


def test_a_wrong_value_in_a_list_is_reported_under_its_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VERIFIER_UNSAFE_CODE_WITHOUT", "landlock,foo")
    found = refusal(["serve"], capsys)
    assert found.startswith("--unsafe-code-without / VERIFIER_UNSAFE_CODE_WITHOUT: Input should be")
    assert found.endswith("(found 'foo')\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["doctor", "--require", "foo"], "--require: no layer foo; there are namespaces, "),
        (["check-tests", "--workers", "0", "rows"], "'--workers': Input should be greater than"),
        (["score", "rows", "--out", "o", "--verifier", "{"], "'{' is not JSON (Expecting property"),
    ],
)
def test_a_flag_that_is_no_variable_is_named_alone(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = refusal(arguments, capsys)
    assert message in found
    assert "VERIFIER_" not in found


@pytest.mark.parametrize(
    "form", [["--verifier", "{type:accuracy}"], ["--verifier={type:accuracy}"]]
)
def test_a_value_that_is_not_json_is_named_with_a_form_that_works(
    form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    right = ["--verifier", '{"type": "regex", "pattern": "a=b"}']
    found = refusal(["score", "rows", "--out", "o", *right, *form], capsys)
    assert found.startswith("--verifier: '{type:accuracy}' is not JSON (Expecting property name")
    works = shlex.split(found.partition("write it as ")[2])
    assert json.loads(works[1]) == {"type": "format", "weight": 0.1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serve", "--prot", "1"], "No such option: --prot (Possible options: --host, --port"),
        (["check-tests", "--worker", "1", "f"], "No such option: --worker"),
        (["serve", "8090"], "Got unexpected extra argument(s) (8090)"),
    ],
)
def test_an_unknown_flag_is_one_of_its_command(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = refusal(arguments, capsys)
    assert message in found
    assert f"Try 'verifier-service {arguments[0]} --help' for help." in found


def test_an_unknown_flag_before_the_command_is_one_of_no_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = refusal(["--prot", "verifiers"], capsys)
    assert "No such option: --prot" in found
    assert "Try 'verifier-service --help' for help." in found


def test_the_help_of_score_says_how_several_verifiers_are_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = help_of(capsys, "score")
    assert "--verifier VERIFIER type of a verifier, or JSON such as " in found
    assert "may be repeated, and several types may be separated by commas" in found


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run([])
    assert ended.value.code == 0
    assert "serve" in capsys.readouterr().out


def help_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    with pytest.raises(SystemExit):
        run([*command, "--help"])
    return " ".join(capsys.readouterr().out.split())


def test_the_help_says_what_each_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    found = help_of(capsys)
    for command in make_app().registered_commands:
        assert command.callback is not None
        first = (command.callback.__doc__ or "").partition("\n")[0]
        name = command.name or command.callback.__name__.replace("_", "-")
        assert f"{name} {first}" in found


def test_the_help_tells_the_default_of_each_setting(capsys: pytest.CaptureFixture[str]) -> None:
    found = help_of(capsys, "serve")
    for text in ("default: 127.0.0.1", "default: 8080", "default: 65536", "default: the usable"):
        assert text in found


def test_the_help_speaks_of_values_and_not_of_types(capsys: pytest.CaptureFixture[str]) -> None:
    found = help_of(capsys, "serve")
    for text in ("--enabled LIST", "--port N", "--profiles PATH", "--host TEXT"):
        assert text in found
    for text in ("tuple[", "usable_cores", "None", "()"):
        assert text not in found


@pytest.mark.parametrize("command", ["serve", "score"])
def test_the_help_names_the_layers_as_they_are_written(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    layers = ", ".join(layer.value for layer in Layer)
    assert f"of: {layers}; default: none" in help_of(capsys, command)


def test_the_help_of_score_has_no_settings_of_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    found = help_of(capsys, "score")
    assert "--item-cpu-seconds" in found
    for flag in ("--port", "--api-key-hashes", "--max-body-bytes", "--drain-seconds"):
        assert flag not in found


def test_the_layers_that_doctor_requires_are_in_its_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = help_of(capsys, "doctor").partition("default: ")[2].partition("]")[0]
    assert {layer for layer in Layer if layer.value in found} == COMMON_LAYERS


def test_protocols_can_all_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIFIER_COMPAT", "")
    assert Settings().compat == ()
    monkeypatch.setenv("VERIFIER_COMPAT", "slime,openrhlf")
    with pytest.raises(
        ValueError, match=r"no such protocol: \['openrhlf'\]; there are \['nemo_gym'"
    ):
        Settings()


@pytest.mark.parametrize("name", VERIFIERS)
def test_each_option_of_a_verifier_is_told_with_type_default_and_meaning(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["verifiers", name])
    assert ended.value.code == 0
    found = capsys.readouterr().out
    for option, schema in VERIFIERS[name].model_json_schema()["properties"].items():
        if option != "type":
            line, meaning = re.findall(rf"^{option}: (.*)\n  (.*)$", found, re.M)[0]
            assert line.endswith(f", default {json.dumps(schema['default'])}")
            assert meaning == schema["description"]
    assert "any," not in found


def test_a_verifier_that_is_not_there_is_told_those_that_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = refusal(["verifiers", "acuracy"], capsys)
    assert "no verifier 'acuracy'; there are accuracy, code, " in found
