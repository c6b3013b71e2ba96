"""Settings of the judge: what is wrong is told by name, and secrets are not repeated."""

from __future__ import annotations

import pytest

from tests.verifier_service.test_settings import refusal
from verifier_service.settings import Settings

URL = "http://127.0.0.1:1/v1"
KEY = "sk-secret\x7f"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--judge-url", URL], "--judge-model / VERIFIER_JUDGE_MODEL: VERIFIER_JUDGE_URL needs"),
        (["--judge-url", "gpu-1:8000"], "VERIFIER_JUDGE_URL: expected http://HOST:PORT/v1"),
        (["--judge-url", f"{URL};weight=0"], "expected a weight over 0, found '0'"),
        (["--judge-url", "http://a:b@c/v1"], "the key is VERIFIER_JUDGE_KEY"),
        (["--reward-model-url", "http://a:b@c/v1"], "the key is VERIFIER_REWARD_MODEL_KEY"),
        (["--lean-url", "http://a:b@c"], "the key is VERIFIER_LEAN_KEY"),
        (["--lean-url", "lean"], "VERIFIER_LEAN_URL: expected http://HOST:PORT or https://HOST,"),
        (["--judge-votes", "2"], "VERIFIER_JUDGE_VOTES: expected an odd number"),
        (["--judge-template", "yesno"], "no template and no file 'yesno'"),
        (["--judge-seconds", "0"], "VERIFIER_JUDGE_SECONDS: "),
        (["--judge-calls-per-minute", "0"], "VERIFIER_JUDGE_CALLS_PER_MINUTE: "),
    ],
)
def test_a_wrong_setting_is_named(
    flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(["serve", *flags], capsys)


@pytest.mark.parametrize(
    "flags",
    [
        ["--judge-key", KEY],
        ["--judge-key", "sk-secret", "--judge-url", URL],
        ["--judge-url", "http://user:sk-secret@gpu-1/v1"],
    ],
)
def test_a_secret_is_not_repeated(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    told = refusal(["serve", *flags], capsys)
    assert "JUDGE" in told
    assert "secret" not in told


def test_a_key_has_no_white_space_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("judge_key", "reward_model_key", "lean_key")
    for name in names:
        monkeypatch.setenv(f"VERIFIER_{name.upper()}", " sk-secret\r\n")
    settings = Settings()
    assert [getattr(settings, name).get_secret_value() for name in names] == ["sk-secret"] * 3
