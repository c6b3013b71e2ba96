"""The published OpenAPI document is the one that the service has."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

FILE = Path(__file__).parents[2] / "docs" / "openapi.json"


@pytest.mark.slow
def test_the_published_document_is_current(http: httpx.Client) -> None:
    """`verifier-service openapi > docs/openapi.json` makes it so."""
    assert json.loads(FILE.read_text()) == http.get("/openapi.json").json()


def test_every_reference_in_the_document_leads_somewhere() -> None:
    text = FILE.read_text()
    document = json.loads(text)
    _, *references = text.split('"$ref": "')
    assert references
    for part in references:
        place = part.partition('"')[0]
        node = document
        for key in place.removeprefix("#/").split("/"):
            node = node[key]


def test_every_status_that_a_call_can_have_is_documented() -> None:
    responses = json.loads(FILE.read_text())["paths"]["/v1/score"]["post"]["responses"]
    assert set(responses) == {
        *("200", "400", "401", "403", "408", "413", "415", "421", "422", "429", "503"),
    }
