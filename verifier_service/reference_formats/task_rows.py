"""Rows of instructions, tool calls, queries and reasoning-gym."""

from __future__ import annotations

import re
from typing import Any

from verifier_service.reference_formats.json_values import json_value
from verifier_service.reference_formats.reference_format import DataRow, ReferenceFormat, RowReading

# A call in ToolRL's answers: `<tool_call>` with an object of JSON in each line.
_TOOL_CALLS = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)


def calls_reading(value: Any, tools: Any = None) -> RowReading | None:
    """The reading of wanted tool calls: a list of objects with a name and arguments."""
    calls = json_value(value)
    if not isinstance(calls, list) or not calls:
        return None
    wanted = [_call(one) for one in calls]
    if any(one is None for one in wanted):
        return None
    reference: dict[str, Any] = {"tool_calls": wanted}
    tools = json_value(tools)
    if isinstance(tools, list) and tools:
        reference["tools"] = tools
    return RowReading("tool_calls", reference)


def _call(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = json_value(value.get("arguments", value.get("parameters")))
    if not isinstance(arguments, dict):
        return None
    return {"name": value["name"], "arguments": arguments}


def tagged_calls_reading(text: Any) -> RowReading | None:
    """The reading of calls in ToolRL's form: each line in `<tool_call>` is one."""
    if not isinstance(text, str) or "<tool_call>" not in text:
        return None
    lines = [line for inside in _TOOL_CALLS.findall(text) for line in inside.strip().split("\n")]
    return calls_reading([json_value(line.strip()) for line in lines if line.strip()])


def instructions_reading(value: Any, column: str) -> RowReading | None:
    """The reading of constraints in JSON text, as IF-RLVR and Tulu 3 ship them in one column."""
    found = json_value(value)
    objects = found if isinstance(found, list) else [found]
    names = ("instruction_id", "instruction_id_list", "func_name")
    if not objects or not all(
        isinstance(one, dict) and any(name in one for name in names) for one in objects
    ):
        return None
    return RowReading("instruction_following", {column: value})


def _instruction_lists(row: DataRow) -> RowReading | None:
    given = {"instruction_id_list": row["instruction_id_list"], "kwargs": row["kwargs"]}
    if not all(isinstance(json_value(value), list) for value in given.values()):
        return None
    return RowReading("instruction_following", given)


def _instructions(row: DataRow) -> RowReading | None:
    instructions = row["instructions"]
    is_list = isinstance(instructions, list) and all(isinstance(one, dict) for one in instructions)
    return RowReading("instruction_following", {"instructions": instructions}) if is_list else None


def _answers_with_tools(row: DataRow) -> RowReading | None:
    return calls_reading(row["answers"], row["tools"])


def _tool_calls(row: DataRow) -> RowReading | None:
    return calls_reading(row["tool_calls"], row.get("tools"))


def accepted_calls_reading(value: Any) -> RowReading | None:
    """The reading of BFCL's possible answers: `{function: {argument: [values]}}` for each call."""
    calls = json_value(value)
    if not isinstance(calls, list) or not calls:
        return None
    wanted = []
    for call in calls:
        if not isinstance(call, dict) or len(call) != 1:
            return None
        ((name, accepted),) = call.items()
        if not isinstance(accepted, dict) or not all(
            isinstance(values, list) for values in accepted.values()
        ):
            return None
        wanted.append({"name": name, "accepted": accepted})
    return RowReading("tool_calls", {"tool_calls": wanted})


def _query(column: str, row: DataRow) -> RowReading | None:
    query, database = row[column], row["db_id"]
    if not isinstance(query, str) or not isinstance(database, str):
        return None
    return RowReading("sql", {"query": query, "database": database})


def _bird(row: DataRow) -> RowReading | None:
    return _query("SQL", row)


def _spider(row: DataRow) -> RowReading | None:
    return _query("query", row)


def _reasoning_gym(row: DataRow) -> RowReading | None:
    metadata = json_value(row["metadata"])
    name = metadata.get("source_dataset") if isinstance(metadata, dict) else None
    if not isinstance(name, str):
        return None
    entry = {**row, "metadata": metadata}
    return RowReading("reasoning_gym", {"dataset": name, "entry": entry})


TASK_FORMATS = (
    ReferenceFormat(
        "if_eval",
        "IFEval, IFBench",
        ("instruction_id_list", "kwargs"),
        "instruction_following",
        _instruction_lists,
    ),
    ReferenceFormat(
        "instructions",
        "rows with our `instructions`",
        ("instructions",),
        "instruction_following",
        _instructions,
        frozenset({"answer", "tests"}),
    ),
    ReferenceFormat(
        "xlam", "xLAM function calling", ("answers", "tools"), "tool_calls", _answers_with_tools
    ),
    ReferenceFormat(
        "tool_calls", "rows with our `tool_calls`", ("tool_calls",), "tool_calls", _tool_calls
    ),
    ReferenceFormat("bird", "BIRD", ("SQL", "db_id"), "sql", _bird),
    ReferenceFormat("spider", "Spider", ("query", "db_id"), "sql", _spider),
    ReferenceFormat(
        "reasoning_gym", "reasoning-gym", ("metadata",), "reasoning_gym", _reasoning_gym
    ),
)
