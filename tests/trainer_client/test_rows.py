"""Rows that stay on disk are the rows that a reader of the whole file has."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import huggingface_hub
import pytest
from datasets import Dataset
from datasets.arrow_writer import ArrowWriter

from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.problems import load_problems
from trainer_client.row_files import DatasetError, JsonLines
from trainer_client.rows import StoredRow, load_rows

VALUES: list[dict[str, Any]] = [
    {"problem": "one\u2028line", "answer": 3},
    {"problem": "é", "answer": 2.5, "extra": [1, {"a": None}]},
    {"answer": True, "problem": "2020-01-01"},
]
LINES = [json.dumps(one, ensure_ascii=False).encode() for one in VALUES]


@pytest.mark.parametrize(
    "content",
    [
        b"\n".join(LINES),
        b"\n".join(LINES) + b"\n",
        b"\r\n".join(LINES) + b"\r\n",
        b"\xef\xbb\xbf" + b"\n\n  \n".join(LINES),
    ],
)
def test_lines_are_read_as_json_in_any_order(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    rows = JsonLines(path)
    assert [rows[index] for index in (2, 0, 1, -1)] == [VALUES[index] for index in (2, 0, 1, 2)]
    assert rows[0:2] == VALUES[:2]
    assert rows.column_names == ("problem", "answer", "extra")
    assert list(rows) == VALUES


def test_a_parquet_file_has_the_rows_of_its_table(tmp_path: Path) -> None:
    path = tmp_path / "train.parquet"
    rows = [{"problem": "2024-01-01", "answer": "007"}, {"problem": "é", "answer": "1"}]
    Dataset.from_list(rows).to_parquet(path)
    assert list(load_rows(DatasetConfig(path=str(path)))) == rows
    assert list(load_rows(DatasetConfig(path=str(path), split="train[1:]"))) == rows[1:]


CSV = 'problem,answer\r\n"2, 3 and\nmore","007"\r\né,2024-01-01\r\nempty,\r\n'


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv"])
def test_values_of_a_csv_file_are_texts(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = ("\ufeff" + CSV).encode()
    if ".tsv" in name:
        content = content.replace(b",", b"\t").replace(b"2\t", b"2,")
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert list(load_rows(DatasetConfig(path=str(path)))) == [
        {"problem": "2, 3 and\nmore", "answer": "007"},
        {"problem": "é", "answer": "2024-01-01"},
        {"problem": "empty", "answer": None},
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "problem,answer\na,1\nb,1,000\n",
            r"row 2 has more values .*\(problem, answer\): put quot",
        ),
        ('problem,answer\n"a"b,1\n', r"a.csv is not valid CSV after line 1: "),
    ],
)
def test_a_csv_file_that_is_none_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(DatasetError, match=message):
        load_rows(DatasetConfig(path=str(path)))


def test_a_pattern_names_several_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes(b"\n".join(LINES))
    (tmp_path / "c.jsonl").write_bytes(b"")
    Dataset.from_list([{"problem": "first", "answer": "1"}]).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "d.csv").write_text(CSV)
    rows = load_rows(DatasetConfig(path=str(tmp_path / "*"), split="train[:6]"))
    assert [row["answer"] for row in rows] == ["1", 3, 2.5, True, "007", "2024-01-01"]
    assert [row["extra"] for row in rows] == [None, None, [1, {"a": None}], None, None, None]
    with pytest.raises(DatasetError, match=r"no file matches \(relative paths start at"):
        load_rows(DatasetConfig(path=str(tmp_path / "*.json")))
    (tmp_path / "e.parquet").write_bytes(b"none")
    with pytest.raises(DatasetError, match=r"cannot load .*e\.parquet: "):
        load_rows(DatasetConfig(path=str(tmp_path / "*.parquet")))


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.jsonl.gz"])
def test_a_missing_file_is_not_looked_for_on_the_hub(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatasetError, match=r"there is no such file \(relative paths start at"):
        load_rows(DatasetConfig(path=str(tmp_path / name)))


def test_a_line_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"problem": "a"}\n' + '{"problem": "é"}\n'.encode("latin-1"))
    with pytest.raises(DatasetError, match="line 2 is not valid JSON: 'utf-8' codec can't decode"):
        load_rows(DatasetConfig(path=str(path)))


def test_a_split_of_lines_is_that_of_the_compressed_file_and_of_the_array(tmp_path: Path) -> None:
    plain, packed, array = (tmp_path / name for name in ("a.jsonl", "a.jsonl.gz", "a.json"))
    plain.write_bytes(b"\n".join(LINES))
    packed.write_bytes(gzip.compress(b"\n".join(LINES)))
    array.write_text(json.dumps(VALUES))
    found = [
        list(load_rows(DatasetConfig(path=str(path), split="train[1:]+train[:1]")))
        for path in (plain, packed, array)
    ]
    assert found[0] == found[1] == found[2]
    assert [row["answer"] for row in found[0]] == [2.5, True, 3]


def test_a_broken_line_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n" + LINES[0] + b"\n{\n")
    with pytest.raises(
        DatasetError, match=r"line 3 is not valid JSON: [\w' ,]+: column \d+\. Expected"
    ):
        load_rows(DatasetConfig(path=str(path)))
    path.write_bytes(LINES[0] + b"\n3\n")
    with pytest.raises(DatasetError, match=r"row 2 must be an object, found 3"):
        load_rows(DatasetConfig(path=str(path)))


def test_the_columns_of_a_problem_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    """A pickled problem, as processes send each other, holds them; a file cut off is named."""
    path = tmp_path / "rows.jsonl"
    rows = [{"problem": str(n), "answer": "1", "solution": "x" * n} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    problems = load_problems(DatasetConfig(path=str(path)))
    assert isinstance(problems[2].columns, StoredRow)
    assert [dict(one.columns) for one in problems] == rows
    assert dict(problems[1].columns.items()) == rows[1]
    sent = pickle.dumps(problems[1])
    path.write_bytes(b"")
    assert pickle.loads(sent).columns == rows[1]
    with pytest.raises(DatasetError, match=r"line 2 is not valid JSON"):
        problems[1].columns["solution"]


def test_a_file_that_takes_the_place_of_another_is_not_read(tmp_path: Path) -> None:
    """An editor writes files so; a run goes on with the rows that it began with."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(LINES[0])
    rows = JsonLines(path)
    other = tmp_path / "other"
    other.write_bytes(LINES[2])
    other.replace(path)
    assert rows[0] == VALUES[0]


LOADS_ALL_ROWS = """
import sys
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.rows import load_rows
print([row["answer"] for row in load_rows(DatasetConfig(path=sys.argv[1]))])
print("datasets" in sys.modules)
"""


def test_a_local_file_needs_no_library_of_data_sets(tmp_path: Path) -> None:
    """The import of `datasets` takes two seconds, which each short command would spend."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(LINES))
    command = [sys.executable, "-c", LOADS_ALL_ROWS, str(path)]
    loaded = subprocess.run(command, capture_output=True, text=True)
    assert loaded.stdout == "[3, 2.5, True]\nFalse\n", loaded.stderr


def test_the_rows_of_an_arrow_table_stay_in_it(tmp_path: Path) -> None:
    values = [{"problem": str(n), "answer": str(n)} for n in range(4)]
    Dataset.from_list(values).save_to_disk(tmp_path / "saved")
    config = DatasetConfig(path=str(tmp_path / "saved"), split="train[1:3]")
    assert [dict(one.columns) for one in load_problems(config)] == values[1:3]


def test_a_data_set_in_the_cache_needs_no_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    rows = Dataset.from_list([{"problem": "1+1=?", "answer": 2}])
    cached = tmp_path / "owner___sums" / "default" / "0.0.0" / "0123456789abcdef"
    cached.mkdir(parents=True)
    rows.info.builder_name = rows.info.dataset_name = "sums"
    rows.info.config_name = "default"
    rows.info.splits = {"train": datasets.SplitInfo("train", num_examples=1, dataset_name="sums")}
    rows.info.write_to_directory(cached)
    with ArrowWriter(path=str(cached / "sums-train.arrow"), features=rows.features) as writer:
        writer.write_table(rows.data.table)
        writer.finalize()
    (found,) = load_rows(DatasetConfig(path="owner/sums"))
    assert dict(found) == {"problem": "1+1=?", "answer": 2}
    assert not datasets.config.HF_HUB_OFFLINE

    with pytest.raises(
        DatasetError, match="owner/other: there is no such file or folder here, and the"
    ):
        load_rows(DatasetConfig(path="owner/other"))

    with pytest.raises(DatasetError, match=r"owner/sums \[tset\]: Unknown split"):
        load_rows(DatasetConfig(path="owner/sums", split="tset"))
