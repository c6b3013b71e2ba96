"""The environment `search_tool`: documents of a folder, ranked by BM25, in bounded answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.growth import assert_linear
from trainer_client.episodes.passage_index import (
    MAX_PASSAGE_CHARACTERS,
    Passage,
    PassageIndex,
    read_passages,
    words_in,
)
from trainer_client.episodes.search_tool import MAX_QUERY_CHARACTERS, SearchTool
from trainer_client.episodes.tool_calls import MAX_CALLS
from trainer_client.problems import Problem

PROBLEM = Problem("1", ({"role": "user", "content": "Who built the tower?"},), {})
DOCUMENTS = {
    "paris/tower.md": "# Tower\nGustave Eiffel built the tower in 1889.",
    "rome.txt": "Rome has seven hills.",
    "more.jsonl": "\n".join(
        json.dumps(row)
        for row in (
            {"title": "Bridge", "text": "The bridge was built in 1932."},
            {"id": 7, "contents": "東京の塔は1958年に建てられた。"},
            {"text": "Nothing of note."},
        )
    ),
    "notes.pdf": "built built built",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in DOCUMENTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def call(query: Any, name: str = "search") -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': {'query': query}})}</tool_call>"


def answers(tool: SearchTool, text: str) -> list[str]:
    observation, done, _ = tool.step({"role": "assistant", "content": text})
    assert not done
    return [message["content"] for message in observation]


def test_the_best_passages_answer_a_query(folder: Path) -> None:
    tool = SearchTool.of(str(folder), num_results=2)
    assert tool.reset(PROBLEM) == PROBLEM.messages
    observation, done, extra = tool.step(
        {"role": "assistant", "content": call("who built the TOWER?") + call("塔")}
    )
    assert observation == [
        {
            "role": "tool",
            "content": "[1] paris/tower.md\n# Tower\nGustave Eiffel built the tower in 1889.\n\n"
            "[2] Bridge\nThe bridge was built in 1932.",
        },
        {"role": "tool", "content": "[1] 7\n東京の塔は1958年に建てられた。"},
    ]
    assert (done, extra) == (False, {"calls": 2, "failed_calls": 0})
    assert tool.step({"role": "assistant", "content": "Eiffel"}) == (None, True, {})


def test_queries_between_tags_are_answered_in_one_message(folder: Path) -> None:
    tool = SearchTool.of(str(folder), form="tags", num_results=1)
    assert (tool.role, tool.tools) == ("user", [])
    observation, *_ = tool.step(
        {"role": "assistant", "content": "<search>hills</search> then <search>zebra</search>"}
    )
    assert observation == [
        {
            "role": "user",
            "content": "<information>[1] rome.txt\nRome has seven hills.</information>\n"
            "<information>no document has these words</information>",
        }
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (call("x", name="python"), "there is no tool 'python', only search"),
        (call(7), "the tool search needs the argument query, a text"),
        (call(" "), "the query is empty"),
        (call("a" * (MAX_QUERY_CHARACTERS + 1)), "a query has at most 1000 characters"),
        ("<tool_call>hills", "a <tool_call> is not closed with </tool_call>"),
    ],
)
def test_a_bad_call_is_answered_with_an_error_and_counted(
    folder: Path, text: str, error: str
) -> None:
    tool = SearchTool.of(str(folder))
    observation, done, extra = tool.step({"role": "assistant", "content": text})
    assert observation == [{"role": "tool", "content": f"error: {error}"}]
    assert (done, extra) == (False, {"calls": 1, "failed_calls": 1})


def test_a_tag_that_is_not_closed_is_an_error_and_no_answer(folder: Path) -> None:
    tool = SearchTool.of(str(folder), form="tags")
    (text,) = answers(tool, "<search>hills")
    assert "error: a <search> is not closed with </search>" in text
    (text,) = answers(tool, "<search>hills</search>" * (MAX_CALLS + 9))
    assert text.count("Rome") == MAX_CALLS
    assert f"error: only {MAX_CALLS} queries of a message are run" in text


@pytest.mark.parametrize("piece", ["<search>", "</search>", "<search></search>", "<sea"])
def test_queries_are_found_in_linear_time(folder: Path, piece: str) -> None:
    tool = SearchTool.of(str(folder), form="tags")
    assert_linear(tool._queries, piece)


@pytest.mark.parametrize("piece", ["word ", "w", "東", "_", "é!"])
def test_words_are_found_in_linear_time(piece: str) -> None:
    assert_linear(words_in, piece)


def test_an_answer_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("hills " * 10_000)
    tool = SearchTool.of(str(tmp_path), num_results=50, max_output_characters=300)
    (text,) = answers(tool, call("hills"))
    assert len(text) == 300


def test_long_documents_are_passages_that_lose_no_word(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(2000)]
    (tmp_path / "a.txt").write_text(" ".join(words) + "x" * 3000)
    passages = read_passages(tmp_path)
    assert max(len(one.text) for one in passages) <= MAX_PASSAGE_CHARACTERS
    assert " ".join(one.text for one in passages).split()[:1999] == words[:1999]
    assert "".join(one.text for one in passages).count("x") == 3000


def test_equal_scores_keep_the_order_of_the_files() -> None:
    same = [Passage(str(number), "one hill") for number in range(50)]
    index = PassageIndex([*same, Passage("last", "no such thing")])
    assert [one.title for one in index.best("hill", 60)] == [str(number) for number in range(50)]
    assert index.best("zebra ?", 3) == []
    assert index.best("?!", 3) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"text": "x"}\n{"text": ', "line 2: not valid JSON"),
        ("a.jsonl", b'{"title": "x"}', r"line 1: expected an object with a text in one of \["),
        ("a.jsonl", b"[" * 100_000, "line 1: not valid JSON"),
        ("a.txt", b"\xff\xfe", "cannot be read"),
        ("a.txt", b" \n ", "has no documents: expected files .txt, .md, .jsonl"),
        ("a.csv", b"x", "has no documents"),
    ],
)
def test_documents_that_cannot_be_used_are_named(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        SearchTool.of(str(tmp_path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "fenced"}, "form must be calls or tags"),
        ({"num_results": 0}, "num_results must be a positive integer, found 0"),
        ({"max_output_characters": 2.5}, "max_output_characters must be a positive integer"),
    ],
)
def test_bad_options_are_named(folder: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SearchTool.of(str(folder), **options)
    with pytest.raises(ValueError, match="there is no folder of documents"):
        SearchTool.of(str(folder / "missing"))
