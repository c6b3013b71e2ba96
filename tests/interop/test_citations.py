"""Citations by NeMo Gym's own scorer of citation_if, beside `/verify`; `make peers` clones it."""

from __future__ import annotations

import importlib.util
import itertools
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.interop
SCORER = Path(
    os.environ.get("PEER_SOURCES", ".peers"), "Gym/resources_servers/citation_if/scorer.py"
)
FORMS = {
    "cite_xml": "<cite>{}</cite>",
    "ascii_brackets": "[{}]",
    "claim_wrap_xml": '(cite index="{}">It rained.</cite>',
    "fullwidth_brackets": "\u3010{}\u3011",
    "ref_colon": "[ref:{}]",
    "double_angle": "<<{}>>",
    "web_brackets": "[web:{}]",
    "paren_part": "({})",
    "markdown_footnote": "[^{}]",
    "curly_double": "{{{{{}}}}}",
    "angle_pipe": "<ref|{}>",
}
VALID = [f"citation_{number}" for number in range(1, 6)]
TEXTS = [
    "It rained {1}.",
    "It rained {1} and snowed {2}.",
    "It rained {1} {1} {1}.",
    "It rained {1} {2} {3} {4}.",
    "It rained {9}.",
    "It rained {1} {9}.",
    "It rained.",
    "It rained {1}. Sources: citation_2",
    "It rained, see citation_1.",
    "It rained {1,2}.",
    "It rained {1, 2}.",
    "{1}",
    "",
    "It rained {1",
    "citation_1 {1}.",
    "A line.\n\nAnother line {2} {1}.",
]
TASKS: list[dict[str, Any]] = [
    {},
    {"expected_ids": ["citation_1"]},
    {"expected_ids": ["citation_1", "citation_2"], "expected_slack": 0},
    {"min_valid_citations": 2},
    {"mode": "no_cite"},
]


def written(text: str, form: str) -> str:
    """A text with its places filled in: `{1,2}` is one citation of two sources."""
    for place in ("1, 2", "1,2", "1", "2", "3", "4", "9"):
        ids = ", ".join(f"citation_{one.strip()}" for one in place.split(","))
        ids = ids if ", " in place else ids.replace(", ", ",")
        text = text.replace(f"{{{place}}}", FORMS[form].format(ids))
    return text.replace("{1", FORMS[form].format("citation_1")[:-1])


@pytest.mark.skipif(not SCORER.exists(), reason="`make peers` clones NeMo Gym")
def test_880_citations_have_the_labels_of_their_server(service_url: str) -> None:
    spec = importlib.util.spec_from_file_location("citation_scorer", SCORER)
    assert spec is not None
    assert spec.loader is not None
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    differ, labels = [], []
    with httpx.Client(base_url=service_url, timeout=120) as client:
        for form, text, changes in itertools.product(FORMS, TEXTS, TASKS):
            task = {"type": "citation_if", "mode": "cite", "grammar": form, "valid_id_set": VALID}
            task |= {"id_regex": "citation_[0-9]+", **changes}
            answer = written(text, form)
            label, _ = scorer.score_citation_if(answer, 0, task)
            message = {"output": [{"type": "message", "content": answer}]}
            found = client.post("/verify", json={"response": message, "verifier": task}).json()
            labels.append(label)
            if found["reward"] != label:
                differ.append((form, answer, changes, label, found["reason"]))
    assert len(labels) == 880
    assert min(labels.count(0.0), labels.count(1.0)) >= 100
    assert differ == []
