"""One error body, whatever goes wrong; and hostile bodies are answered, never with a 5xx."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import verifier_service.app  # noqa: F401  every module that has errors of its own
from tests.processes import until
from tests.verifier_service.poison import POISON
from trainer_client.service_process import running_service
from verifier_service import errors
from verifier_service.code.reference_tests import read_tests
from verifier_service.http.error_statuses import status_of
from verifier_service.schemas import REQUEST_NAMES, ScoreRequest
from verifier_service.validation import FieldPlace
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers import VERIFIERS

JSON = {"Content-Type": "application/json"}
FORMAT = [{"type": "format"}]


@pytest.fixture(scope="module")
def small_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("small") / "service.log"


@pytest.fixture(scope="module")
def small(small_log: Path) -> Iterator[httpx.Client]:
    """A service with small limits."""
    flags = (
        *("--workers", "1", "--max-body-bytes", "2000", "--max-completions", "3"),
        *("--max-pending-completions", "2", "--enabled", "format,accuracy"),
    )
    with (
        running_service(small_log, *flags) as url,
        httpx.Client(base_url=url, timeout=600) as client,
    ):
        yield client


def body(completions: list[Any], **fields: Any) -> dict[str, Any]:
    return {"verifiers": FORMAT, "groups": [{"completions": completions}], **fields}


def error(response: httpx.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.json().keys() == {"error"}
    found: dict[str, Any] = response.json()["error"]
    assert {"type", "message"} <= found.keys() <= {"type", "message", "details", "request_id"}
    assert found["request_id"] == response.headers["x-request-id"]
    assert len(response.text) < 20_000
    return found


def kinds_of(error: type[errors.RequestError]) -> Iterator[type[errors.RequestError]]:
    """The classes under an error that are on the wire."""
    if hasattr(error, "kind"):
        yield error
    for kind in error.__subclasses__():
        yield from kinds_of(kind)


def test_every_error_of_a_request_has_a_status() -> None:
    found = {one.kind: status_of(one.__new__(one)) for one in kinds_of(errors.RequestError)}
    assert found == {
        "broken_compression": 400,
        "body_too_large": 413,
        "too_many_completions": 413,
        "answer_too_large": 413,
        "invalid_request": 422,
        "unknown_profile": 422,
        "verifier_not_enabled": 422,
        "queue_full": 503,
        "sessions_full": 503,
        "sessions_memory_full": 503,
        "request_failed": 503,
        "not_judged": 503,
        "key_limit": 429,
        "not_ready": 503,
        "draining": 503,
    }


def test_a_key_that_is_called_like_a_verifier_is_no_option_of_it() -> None:
    case = {"stdin": "", "stdout": "", "code": 1}
    with pytest.raises(Unverifiable, match=r"cases\.0\.code: there is no such field"):
        read_tests({"tests": {"type": "stdio", "cases": [case]}})


def test_an_unknown_key_is_told_beside_those_that_are_missing() -> None:
    cases = [{"stdin": "", "stdout": ""}, {"input": "", "output": ""}]
    message = "cases.1.input: there is no such field; here are missing: stdin, stdout"
    with pytest.raises(Unverifiable, match=re.escape(message)):
        read_tests({"tests": {"type": "stdio", "cases": cases}})


def places_of_fields() -> list[FieldPlace]:
    return [
        (*place, name)
        for place, names in REQUEST_NAMES.fields.items()
        if place[-1:] != ("reference",)
        for name in names
    ]


@pytest.mark.parametrize("place", places_of_fields(), ids=str)
def test_a_field_of_a_wrong_type_is_told_a_right_value(
    http: httpx.Client, place: FieldPlace
) -> None:
    example = REQUEST_NAMES.examples[place]
    wrong = {"of": "no type"} if place[-1] != "reference" else "2"
    found = error(http.post("/v1/score", json=request_with(place, wrong)), 422)
    name = ".".join("0" if part is None else part for part in place)
    assert re.fullmatch(rf"{name}: .* such as {re.escape(example)}", found["message"])
    right = json.dumps(request_with(place, json.loads(example)))
    ScoreRequest.model_validate_json(right, strict=True)


def request_with(place: FieldPlace, value: Any) -> dict[str, Any]:
    """A request with a value at a place, right but for it."""
    name = place[-1] or ""
    group: dict[str, Any] = {"completions": ["2"]}
    request = {"groups": [group]} | (
        {} if name in ("profile", "verifiers") else {"profile": "math"}
    )
    (group if len(place) > 1 else request)[name] = value
    return request


def test_an_unknown_path_points_to_the_documentation(http: httpx.Client) -> None:
    assert error(http.get("/v2"), 404)["message"] == "there is no /v2; see /docs"


def test_a_wrong_method_is_named(http: httpx.Client) -> None:
    assert error(http.get("/v1/score"), 405)["message"] == "/v1/score does not take GET"


def test_a_body_that_is_not_declared_as_json_is_refused(http: httpx.Client) -> None:
    found = error(http.post("/v1/score", content="{}", headers={"Content-Type": "text/xml"}), 415)
    assert found["message"] == "Content-Type must be application/json, found 'text/xml'"


@pytest.mark.parametrize(
    ("verifiers", "field", "message"),
    [
        ([{"type": "acuracy"}], "verifiers.0", "'accuracy', 'code', 'format', 'tag_count'"),
        (
            [{"type": "format", "strict": 1}],
            "verifiers.0.strict",
            "no option of format, which has type, name, weight, mode, ",
        ),
        ([{"type": "format", "weight": "much"}], "verifiers.0.weight", "valid number"),
        ([{"type": "format", "weight": 1e308}], "verifiers.0.weight", "less than or equal"),
        ([{"type": "format", "weight": -1e308}], "verifiers.0.weight", "greater than or"),
        ([{"type": "format"}, {"type": "format"}], "verifiers", "same name ['format']"),
        ([], "verifiers", "at least 1 item"),
    ],
)
def test_a_mistake_in_the_verifiers_is_named(
    http: httpx.Client, verifiers: Any, field: str, message: str
) -> None:
    found = error(http.post("/v1/score", json={"verifiers": verifiers, "groups": []}), 422)
    assert found["details"][0]["field"] == field
    assert message in found["message"]


@pytest.mark.parametrize("name", VERIFIERS)
def test_an_unknown_option_is_answered_with_those_of_the_wire(
    http: httpx.Client, name: str
) -> None:
    names = ", ".join(VERIFIERS[name].model_json_schema()["properties"])
    request = {"verifiers": [{"type": name, "no_such": 1}], "groups": []}
    details = error(http.post("/v1/score", json=request), 422)["details"]
    messages = {detail["field"]: detail["message"] for detail in details}
    assert messages["verifiers.0.no_such"] == f"no option of {name}, which has {names}"


@pytest.mark.parametrize(
    ("groups", "field"),
    [
        ([{}], "groups.0.completions"),
        ([{"completions": ["x"], "answer": "2"}], "groups.0.answer"),
        ([{"completions": [7]}], "groups.0.completions.0"),
        ([{"completions": [[]]}], "groups.0.completions.0"),
        ({"completions": []}, "groups"),
    ],
)
def test_a_mistake_in_the_groups_is_named(http: httpx.Client, groups: Any, field: str) -> None:
    found = error(http.post("/v1/score", json={"verifiers": FORMAT, "groups": groups}), 422)
    assert found["details"][0]["field"].startswith(field)


@pytest.mark.parametrize(
    ("completion", "message"),
    [
        (1, "groups.0.completions.0: expected a text, a list of messages or {text, num_tokens, "),
        (
            {"txt": "2"},
            "groups.0.completions.0.txt: there is no such field; there are text, num_tokens, "
            "truncated (and 1 more error)",
        ),
        ({"text": 3}, "groups.0.completions.0.text: Input should be a valid string"),
        (
            [{"role": "assistant"}],
            "groups.0.completions.0: message 0 has no `content`, a text, and no `tool_calls`",
        ),
        (
            [{"role": "user", "content": "It is 2."}],
            "groups.0.completions.0: no message has the role 'assistant', whose last one is judged;"
            " there are ['user']",
        ),
        ([], "groups.0.completions.0: List should have at least 1 item"),
    ],
)
def test_a_completion_is_told_what_is_wrong_in_the_form_it_has(
    http: httpx.Client, completion: Any, message: str
) -> None:
    found = error(http.post("/v1/score", json=body([completion])), 422)
    assert found["message"].startswith(message)
    assert "str" not in found["details"][0]["field"]


@pytest.mark.parametrize(
    ("request_body", "message"),
    [
        (
            {"groups": []},
            "body: give either `verifiers` or `profile`, here or in every group, such as "
            '"verifiers": [{"type": "accuracy"}]',
        ),
        ({"verifiers": [{}], "groups": []}, "verifiers.0: it has no 'type'"),
        (
            {"verifiers": ["sql"], "groups": []},
            'verifiers.0: Input should be an object such as {"type": "accuracy"}',
        ),
        (
            {"verifiers": FORMAT, "groups": [{"completions": "It is 2."}]},
            'groups.0.completions: Input should be a valid array such as ["It is 4."]',
        ),
        (
            {"verifiers": [{"type": "math"}], "groups": []},
            "verifiers.0: no type 'math': 'math' is a profile; send \"profile\": \"math\" "
            "instead of verifiers",
        ),
        (
            {"verifiers": FORMAT, "groups": [{"completion": ["It is 2."]}]},
            "groups.0.completion: there is no such field; did you mean 'completions'? There are "
            "id, prompt, reference, reference_format, completions, verifiers, profile "
            "(and 1 more error)",
        ),
        (
            {"verifiers": [{"type": "json_schema", "schema": 3}], "groups": []},
            "verifiers.0.schema: expected an object or true or false",
        ),
        (
            {"verifiers": FORMAT, "groups": [{"completions": [], "format": 1, "str": 1}]},
            "groups.0.format: there is no such field; there are id, prompt, reference, "
            "reference_format, completions, verifiers, profile (and 1 more error)",
        ),
    ],
)
def test_messages_use_the_words_of_the_wire(
    http: httpx.Client, request_body: Any, message: str
) -> None:
    assert error(http.post("/v1/score", json=request_body), 422)["message"] == message


def test_an_unknown_field_of_the_request_is_named(http: httpx.Client) -> None:
    found = error(http.post("/v1/score", json=body([], verifers=[])), 422)
    assert found["message"] == (
        "verifers: there is no such field; did you mean 'verifiers'? There are verifiers, profile, "
        "groups, deadline_seconds, explain"
    )


@pytest.mark.parametrize(
    ("request_body", "message"),
    [
        ({"verifiers": [{"type": "Acuracy"}], "groups": []}, "did you mean 'accuracy'?"),
        ({"verifiers": [{"type": "zzz"}], "groups": []}, "'tag_count'"),
        ({"profile": "mth", "groups": []}, "did you mean 'math'?"),
        (
            {"profile": "math", "groups": [{"refrence": {}, "completions": []}]},
            "did you mean 'reference'?",
        ),
        (
            {"verifiers": [{"type": "accuracy", "tolerence": 1}], "groups": []},
            "did you mean 'tolerance'?",
        ),
        (
            {"profile": "math", "groups": [{"answer": "2", "completions": []}]},
            "groups.0.answer: there is no such field; did you mean 'reference.answer'?",
        ),
        (
            {"profile": "math", "groups": [], "completions": ["2"]},
            "did you mean 'groups.0.completions'?",
        ),
        (
            {"verifiers": [{"type": "code", "language": "python3"}], "groups": []},
            "did you mean 'python'?",
        ),
        (
            {"verifiers": [{"type": "code", "language": "c++"}], "groups": []},
            "did you mean 'cpp'?",
        ),
    ],
    ids=["verifier", "far", "profile", "field", "option", "reference", "group", "value", "alias"],
)
def test_the_nearest_name_is_told(http: httpx.Client, request_body: Any, message: str) -> None:
    found = error(http.post("/v1/score", json=request_body), 422)["message"]
    assert message in found
    assert ("did you mean" in found) == ("did you mean" in message)


@pytest.mark.parametrize("deadline", [0, -1, "soon"])
def test_a_deadline_must_be_positive(http: httpx.Client, deadline: Any) -> None:
    found = error(http.post("/v1/score", json=body([], deadline_seconds=deadline)), 422)
    assert found["details"][0]["field"] == "deadline_seconds"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "body: Invalid JSON: EOF while parsing an object"),
        (b"", "body: Invalid JSON: EOF while parsing a value"),
        (b"\xff\xfe", ""),
        (b"[" * 100_000, ""),
        (b'{"verifiers": [{"type": "format", "weight": NaN}], "groups": []}', "weight"),
        (b'{"verifiers": [{"type": "format", "weight": 1e999}], "groups": []}', "weight"),
    ],
)
def test_a_body_that_is_broken_is_refused(http: httpx.Client, content: bytes, message: str) -> None:
    found = error(http.post("/v1/score", content=content, headers=JSON), 422)
    assert message in found["message"]


@pytest.mark.parametrize(
    "body_text",
    [
        '{"verifiers": [{"type": "accuracy"}], "groups": [{"completions": ["\\ud800"]}]}',
        '{"verifiers": [{"type": "accuracy"}], "groups": [{"reference": {"answer": "\\ud800"}, '
        '"completions": ["x"]}]}',
        '{"verifiers": [{"type": "accuracy"}], "groups": [{"reference": {"\\ud800": 1}, '
        '"completions": ["x"]}]}',
        '{"verifiers": [{"type": "accuracy"}], "groups": [{"id": "\\udfff", "completions": []}]}',
        '{"verifiers": [{"type": "format"}], "groups": [{"prompt": "\\ud800", "completions": []}]}',
        '{"verifiers": [{"type": "format", "name": "\\udfff"}], "groups": []}',
        '{"verifiers": [{"type": "\\udfff"}], "groups": []}',
        '{"\\udfff": 1}',
        '{"verifiers": [{"type": "accuracy"}], "groups": [{"reference": {"answer": NaN, "big": '
        + "9" * 400
        + '}, "completions": ["x"]}]}',
        '{"verifiers": [{"type": "accuracy"}], "groups": [{"reference": {"answer": '
        + "[" * 900
        + "]" * 900
        + '}, "completions": ["x"]}]}',
    ],
)
def test_hostile_values_get_a_verdict_or_a_4xx(http: httpx.Client, body_text: str) -> None:
    response = http.post("/v1/score", content=body_text, headers=JSON)
    assert response.status_code in (200, 422), response.text
    assert http.get("/readyz").status_code == 200


@pytest.mark.parametrize("text", ["a\0b", "\U0001f600", "x" * 100_000, "<think>" * 10_000, ""])
def test_unusual_completions_get_verdicts(http: httpx.Client, text: str) -> None:
    verifiers = [{"type": kind} for kind in ("accuracy", "format", "tag_count", "reasoning_steps")]
    group = {"reference": {"answer": "2"}, "completions": [text]}
    response = http.post("/v1/score", json={"verifiers": verifiers, "groups": [group]})
    found = response.json()["groups"][0]["completions"][0]["verdicts"]
    assert [verdict["outcome"] for verdict in found.values()] == ["scored"] * 4


@pytest.mark.slow
def test_a_body_over_the_limit_is_refused(small: httpx.Client) -> None:
    found = error(small.post("/v1/score", json=body(["x" * 2000])), 413)
    assert found["message"] == "the body is larger than 2000 bytes"


@pytest.mark.slow
def test_a_body_over_the_limit_is_refused_while_it_arrives(small: httpx.Client) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 1000

    error(small.post("/v1/score", content=endless(), headers=JSON), 413)


@pytest.mark.slow
def test_too_many_completions_are_refused(small: httpx.Client) -> None:
    found = error(small.post("/v1/score", json=body(["x"] * 4)), 413)
    assert found["message"] == "the request has 4 completions; at most 3 are taken at once"


@pytest.mark.slow
def test_a_full_queue_is_told_with_its_state_and_when_to_come_back(small: httpx.Client) -> None:
    group = {"reference": {"answer": "2"}, "completions": [POISON]}
    pending = {"verifiers": [{"type": "accuracy"}], "groups": [group]}

    def occupy() -> httpx.Response:
        while (response := small.post("/v1/score", json=pending)).status_code == 503:
            pass  # the other request came first
        return response

    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(occupy)
        while (second := small.post("/v1/score", json=body(["x"] * 2))).status_code != 503:
            assert not first.done()
        assert second.headers["retry-after"] == "1"
        found = error(second, 503)
        assert found["details"]["pending_completions"] == 1
        assert found["details"]["max_pending_completions"] == 2
        assert 0 < found["details"]["pending_bytes"] < found["details"]["max_pending_bytes"]
        assert first.result().status_code == 200


@pytest.mark.slow
def test_a_request_over_the_bound_is_taken_when_nothing_waits(small: httpx.Client) -> None:
    assert small.post("/v1/score", json=body(["x"] * 3)).status_code == 200


@pytest.mark.slow
def test_a_verifier_that_is_not_enabled_is_refused_and_not_listed(small: httpx.Client) -> None:
    verifiers = [{"type": "tag_count"}]
    found = error(small.post("/v1/score", json={"verifiers": verifiers, "groups": []}), 422)
    assert "not enabled here: ['tag_count']" in found["message"]
    listed = small.get("/v1/verifiers").json()["verifiers"]
    assert [verifier["type"] for verifier in listed] == ["format", "accuracy"]


def test_errors_do_not_echo_more_than_an_excerpt(http: httpx.Client) -> None:
    secret = "s3cret " * 10_000
    found = http.post("/v1/score", json=body([{"text": 1, secret: secret}]))
    assert found.status_code == 422
    assert len(found.text) < 20_000


@pytest.mark.slow
def test_model_text_is_not_logged(small: httpx.Client, small_log: Path) -> None:
    group = {"reference": {"answer": "12345678"}, "completions": [POISON, "abcdefgh"]}
    answer = small.post("/v1/score", json={"verifiers": [{"type": "accuracy"}], "groups": [group]})
    assert answer.status_code == 200
    until(lambda: "status=200" in small_log.read_text())
    text = small_log.read_text()
    assert json.dumps(POISON) not in text
    assert "9^{9" not in text
    assert "abcdefgh" not in text
    assert "12345678" not in text
