"""Light bodies: the request that is read from a skeleton and texts is that of the whole body."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier_service.engine.light_body import (
    MAX_BACKSLASHES,
    MAX_QUOTES,
    MAX_SKELETON_BYTES,
    MAX_TEXTS,
    MIN_TEXT_BYTES,
    read_light_request,
)
from verifier_service.engine.request_body import read_request
from verifier_service.engine.request_limits import RequestLimits
from verifier_service.errors import RequestError
from verifier_service.profiles import SHIPPED
from verifier_service.schemas import ScoreRequest
from verifier_service.verifiers import VERIFIERS
from verifier_service.verifiers.regex import QuickPatterns, SlowPattern

LIMITS = RequestLimits(tuple(VERIFIERS), 2**26, 2**16, 60.0)
LONG = 'So 2x = 4 \\ and "x" is 2. é \U0001f600 \\boxed{2}\n' * 9


def read_light(body: bytes) -> ScoreRequest | None:
    """The request of a body; None if it is left to a process."""
    try:
        return read_light_request(body, LIMITS, lambda: SHIPPED, quick_patterns=QuickPatterns())
    except SlowPattern:
        return None


def read_whole(body: bytes) -> ScoreRequest | None:
    """The request of a body; None if it is refused, or left to a process."""
    try:
        return read_request(body, LIMITS, lambda: SHIPPED, quick_patterns=QuickPatterns())
    except (RequestError, SlowPattern):
        return None


def body_of(*completions: Any, **group: Any) -> dict[str, Any]:
    return {
        "verifiers": [{"type": "accuracy"}],
        "groups": [{"reference": {"answer": "2"}, **group, "completions": list(completions)}],
    }


long_texts = st.text(min_size=MIN_TEXT_BYTES) | st.sampled_from(
    [LONG, ("\\" * 9 + "x") * 9, '"' * MIN_TEXT_BYTES, "[[{,:" * 40]
)
texts = st.text(max_size=9) | long_texts
chats = st.lists(
    st.fixed_dictionaries({"role": st.just("assistant") | texts, "content": texts}), max_size=3
)
objects = st.fixed_dictionaries({"text": texts}, optional={"num_tokens": st.integers(0, 2**54)})
completions = st.lists(texts | chats | objects, max_size=4)
groups = st.fixed_dictionaries(
    {"completions": completions},
    optional={
        "id": texts,
        "prompt": texts | chats,
        "reference": st.dictionaries(texts, texts, max_size=3),
    },
)
bodies = st.fixed_dictionaries(
    {"groups": st.lists(groups, max_size=3)},
    optional={
        "profile": st.just("math"),
        "verifiers": st.just([{"type": "regex", "pattern": "x = 2 " * 20}]),
    },
)
spellings = st.builds(
    lambda body, ascii_only, indent: json.dumps(body, ensure_ascii=ascii_only, indent=indent),
    bodies,
    st.booleans(),
    st.sampled_from([None, 1]),
).map(lambda text: text.encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@given(spellings)
@settings(max_examples=400, deadline=None)
def test_a_light_body_is_the_request_of_the_whole(body: bytes) -> None:
    assert read_light(body) == read_whole(body)


@pytest.mark.slow
@given(
    spellings,
    st.integers(0, 10**6),
    st.integers(0, 3),
    st.sampled_from([b"", b'"', b"\\", b"{", b"]", b",", b"\x00", b"\xff", b"NaN", b"\\ud800"]),
)
@settings(max_examples=300, deadline=None)
def test_a_spoilt_body_is_nobody_elses_request(
    body: bytes, place: int, num_removed: int, inserted: bytes
) -> None:
    """A body that is refused when it is read whole is never read as something."""
    place %= len(body)
    spoilt = body[:place] + inserted + body[place + num_removed :]
    found = read_light(spoilt)
    assert found is None or found == read_whole(spoilt)


@pytest.mark.parametrize(
    "completion",
    [
        LONG,
        {"text": LONG, "num_tokens": 7, "truncated": True},
        [{"role": "user", "content": LONG}, {"role": "assistant", "content": LONG + "!"}],
    ],
    ids=["text", "object", "chat"],
)
def test_each_form_of_a_completion_is_light(completion: Any) -> None:
    body = json.dumps(body_of(*[completion] * 16)).encode() + b" " * 9
    assert read_light(body) == read_whole(body) is not None


def test_a_body_is_light_although_its_texts_are_a_million_bytes_of_structure() -> None:
    body = json.dumps(body_of("[{,:" * 2**17, "\\boxed{2}" * 2**15)).encode()
    assert read_light(body) == read_whole(body) is not None


def test_a_thousand_long_texts_are_light() -> None:
    texts = [f"{number} " + "so x = 2 " * 99 for number in range(MAX_TEXTS)]
    body = json.dumps(body_of(*texts), ensure_ascii=False).encode()
    assert read_light(body) == read_whole(body) is not None


def test_a_short_completion_that_looks_like_a_mark_stays_as_it_is() -> None:
    body = json.dumps(body_of("0" * 32 + " 0", LONG)).encode()
    assert read_light(body) == read_whole(body) is not None


@pytest.mark.parametrize(
    "group",
    [
        {"prompt": LONG},
        {"prompt": [{"role": "user", "content": LONG}]},
        {"id": LONG},
        {"reference": {"answer": LONG, LONG: [LONG, {LONG: 10**40}]}},
    ],
    ids=["prompt", "chat", "id", "reference"],
)
def test_long_texts_in_other_places_stay_there(group: dict[str, Any]) -> None:
    body = json.dumps(body_of(LONG, **group)).encode()
    assert read_light(body) == read_whole(body) is not None


TEXT = json.dumps(LONG).encode()


def with_completions(inside: bytes, rest: bytes = b"") -> bytes:
    return b'{"verifiers":[{"type":"format"}],"groups":[{"completions":[%b]%b}]}' % (inside, rest)


@pytest.mark.parametrize(
    "body",
    [
        with_completions(TEXT, b',"completions":[]'),
        with_completions(TEXT, b',"completions":[%b]' % TEXT),
        with_completions(b'{"text":%b,"text":"x"}' % TEXT),
        with_completions(b'{"text":"x","text":%b}' % TEXT),
        with_completions(b'[{"role":"assistant","content":%b,"content":"x"}]' % TEXT),
        with_completions(TEXT, b',"reference":{%b:1,%b:2}' % (TEXT, TEXT)),
        with_completions(TEXT, b',"reference":{"answer":NaN}'),
        with_completions(TEXT, b',"reference":{"answer":1e999}'),
        with_completions(TEXT, b',"unknown":1'),
        with_completions(TEXT + TEXT),
        with_completions(TEXT[:-1] + b'\\ud800"'),
        with_completions(TEXT[:-1] + b'\\udc00\\ud800"'),
        with_completions(TEXT[:-1] + b'\xff"'),
        with_completions(TEXT[:-1] + b'\xed\xa0\x80"'),
        with_completions(TEXT[:-1] + b'\x00"'),
        with_completions(TEXT[:-1] + b'\n"'),
        with_completions(TEXT[:-1] + b'\\x"'),
        with_completions(TEXT[:-1]),
        with_completions(TEXT) + b"]",
        with_completions(b'[{"role":"user","content":%b}]' % TEXT),
        with_completions(b'{"text":%b,"num_tokens":%d}' % (TEXT, 10**30)),
        b"\xef\xbb\xbf" + with_completions(TEXT),
        TEXT,
        b"",
    ],
)
def test_a_fault_is_left_to_who_reads_the_whole(body: bytes) -> None:
    assert read_whole(body) is None
    assert read_light(body) is None


@pytest.mark.parametrize(
    "body",
    [
        with_completions(TEXT) + b" " * MAX_SKELETON_BYTES,
        with_completions(b'"",' * 2**14 + TEXT),
        with_completions(TEXT, b',"prompt":"%b"' % (b"x" * MAX_SKELETON_BYTES)),
        with_completions(TEXT, b',"reference":{"a":[%b1]}' % (b"[]," * 2**14)),
        with_completions(b",".join([b'"%b"' % (b"x" * MIN_TEXT_BYTES)] * (MAX_TEXTS + 1))),
        with_completions(b'"%b"' % (b'\\"' * MAX_QUOTES)),
        with_completions(b'"%b"' % (b"\\" * (2 * MAX_BACKSLASHES))),
        b'{"a":' + b"[" * 2**14 + TEXT,
    ],
    ids=["space", "texts", "prompt", "lists", "long texts", "quotes", "backslashes", "nesting"],
)
def test_what_takes_more_than_a_small_body_is_not_light(body: bytes) -> None:
    assert read_light(body) is None


def test_a_slow_pattern_is_told() -> None:
    body = body_of(LONG) | {"verifiers": [{"type": "regex", "pattern": "x" * 300}]}
    content, quick = json.dumps(body).encode(), QuickPatterns()
    with pytest.raises(SlowPattern):
        read_light_request(content, LIMITS, lambda: SHIPPED, quick_patterns=quick)
