"""Sessions: SandboxFusion's `/run_jupyter`, and the value of a script in E2B's form."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest


def run(http: httpx.Client, *cells: str, status: int = 200, **fields: Any) -> Any:
    response = http.post("/run_jupyter", json={"cells": list(cells), **fields})
    assert response.status_code == status, response.text
    return response.json()


def text(cell: dict[str, Any]) -> list[str]:
    return [one["text/plain"] for one in cell["display"]]


def test_cells_share_a_namespace_and_a_last_expression_is_shown(http: httpx.Client) -> None:
    found = run(http, "a = 'hello'", "a", "print(a)", "a;", "b = 1\na, b")
    assert (found["status"], found["driver"]["status"]) == ("Success", "Finished")
    assert [text(cell) for cell in found["cells"]] == [[], ["'hello'"], [], [], ["('hello', 1)"]]
    assert [cell["stdout"] for cell in found["cells"]] == ["", "", "hello\n", "", ""]
    assert found.keys() == {*("status", "message", "driver", "cells", "executor_pod_name", "files")}
    assert found["cells"][0].keys() == {"stdout", "stderr", "display", "error"}


SESSIONS = {
    "an error does not end the session": (
        ["x = 1", "import sys; sys.stderr.write('said'); assert False, 'why'", "x"],
        "Success",
        [[], ["AssertionError"], []],
    ),
    "a syntax error": (["def", "2"], "Success", [["SyntaxError"], []]),
    "an error of the class": (["class E(Exception): pass\nraise E"], "Success", [["E"]]),
    "exit": (["raise SystemExit(3)", "1"], "Success", [["SystemExit"], []]),
    "the process ends": (["1", "import os; os._exit(0)", "2"], "Failed", [[]]),
    "a crash": (["1", "import os; os.kill(os.getpid(), 11)", "2"], "Failed", [[]]),
    "a value that cannot be shown": (
        ["class A:\n    def __repr__(self): raise ValueError\nA()", "1"],
        "Success",
        [["ValueError"], []],
    ),
    "an error without words": (
        ["class E(Exception):\n    def __str__(self): raise ValueError\nraise E"],
        "Success",
        [["E"]],
    ),
    "no cells": ([], "Success", []),
    "an empty cell": (["", "# nothing"], "Success", [[], []]),
    "forged lines": (
        ["import os\nfor n in range(3, 30):\n    try:\n        os.write(n, b'{}\\n')\n"
         "    except OSError:\n        pass", "1"],
        "Failed",
        [],
    ),
    "cells with a limit": (
        ["while True: pass", "try:\n    while True: pass\nexcept Exception: pass", "1"],
        "Success",
        [["CellTimeout"], ["CellTimeout"], []],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_ends_as_expected(http: httpx.Client, name: str) -> None:
    cells, status, errors = SESSIONS[name]
    seconds = 0.2 if "limit" in name else 0.0
    found = run(http, *cells, cell_timeout=seconds)
    assert found["status"] == status
    assert [[one["ename"] for one in cell["error"]] for cell in found["cells"]] == errors


def test_a_session_has_a_limit_and_keeps_the_cells_before_it(http: httpx.Client) -> None:
    found = run(http, "print(1)", "while True: pass", total_timeout=0.5)
    assert (found["status"], found["driver"]["status"]) == ("Failed", "TimeLimitExceeded")
    assert [cell["stdout"] for cell in found["cells"]] == ["1\n"]


def test_a_session_has_files_and_other_forms_of_values(http: httpx.Client) -> None:
    files = {"in.txt": base64.b64encode(b"given").decode()}
    cells = [
        "open('out.txt', 'w').write(open('in.txt').read())",
        "class Table:\n    def _repr_html_(self): return '<b>1</b>'\n"
        "    def _repr_png_(self): return b'png'\n    def __repr__(self): return 'table'\nTable()",
        "display(1, 2)\n'\\ud800'",
    ]
    found = run(http, *cells, files=files, fetch_files=["out.txt", "none"])
    assert base64.b64decode(found["files"]["out.txt"]) == b"given"
    assert found["cells"][1]["display"] == [
        {"text/plain": "table", "text/html": "<b>1</b>", "image/png": "cG5n"}
    ]
    assert text(found["cells"][2]) == ["1", "2", "'\\ud800'"]


def test_what_a_session_may_not_ask_for_is_refused(http: httpx.Client) -> None:
    found = run(http, "1", files={"../x": ""})
    assert found["status"] == "SandboxError"
    assert "no name of a file" in found["message"]
    run(http, "1", kernel="julia", status=422)
    run(http, "1", total_timeout=0, status=422)


def test_a_script_has_the_value_of_its_last_line(http: httpx.Client) -> None:
    scripts = ["x = 20\nprint('said')\nx * 2 + 2", "print(1)", "raise KeyError('k')"]
    value, nothing, failed = http.post("/execute_batch", json={"scripts": scripts}).json()
    assert value["text"] == "42"
    assert value["execution"]["results"] == [{"text": "42", "is_main_result": True}]
    assert value["execution"]["logs"]["stdout"] == ["said\n"]
    assert (nothing["text"], nothing["execution"]["results"]) == (None, [])
    error = failed["execution"]["error"]
    assert (error["name"], error["value"]) == ("KeyError", "'k'")
