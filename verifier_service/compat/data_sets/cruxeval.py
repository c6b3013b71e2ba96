"""CRUXEval: the value of a call, or a call with a value. Answers are plain values, never code."""

from __future__ import annotations

import ast
from typing import Any

from fastapi import Request

from verifier_service.compat.data_sets.messages import (
    DataSetConfig,
    DataSetPrompt,
    DataSetRow,
    Evaluation,
    SubmitRequest,
)
from verifier_service.compat.data_sets.rows import UnusableRow, column
from verifier_service.compat.data_sets.verdicts import evaluation, judged

_FIND_INPUT = (
    "Below is a function f and the value that a call of it returns. Find a call that returns it, "
    "and write the whole assertion between [ANSWER] and [/ANSWER].\n\n"
    "[PYTHON]\ndef f(words):\n    return len(words) * 2\nassert f(??) == 4\n[/PYTHON]\n"
)
_FIND_OUTPUT = (
    "Below is a function f and a call of it. Write the assertion with the value that the call "
    "returns, a plain literal, between [ANSWER] and [/ANSWER].\n\n"
    "[PYTHON]\ndef f(words):\n    return len(words) * 2\nassert f(['a', 'b']) == ??\n[/PYTHON]\n"
)
_PLAIN_OUTPUT = (
    "Below are functions and calls of them. Go on with the value that the last call returns, a "
    'plain literal, and write "# done" after it.\n\n'
    "def f(words):\n    return len(words) * 2\nassert f(['a', 'b']) == 4 # done\n\n"
)
_INPUT_THOUGHT = "[THOUGHT]\nTwice the length is 4, so two words will do.\n[/THOUGHT]\n"
_OUTPUT_THOUGHT = "[THOUGHT]\nThere are two words, and twice two is 4.\n[/THOUGHT]\n"
_EXAMPLE_ANSWER = "[ANSWER]\nassert f(['a', 'b']) == 4\n[/ANSWER]\n\n"


def crux_prompts(row: DataSetRow, config: DataSetConfig) -> list[DataSetPrompt]:
    """The prompt that asks for the input, the one for the output, or both. Raises UnusableRow."""
    mode = config.extra.get("mode")
    modes = ["input", "output"] if mode is None else [mode]
    return [_crux_prompt(row, config, one) for one in modes]


def _crux_prompt(row: DataSetRow, config: DataSetConfig, mode: Any) -> DataSetPrompt:
    if mode not in ("input", "output"):
        raise UnusableRow(f"config.extra.mode is {mode!r}; expected 'input' or 'output'")
    row_id = column(row, "id", (str, int))
    if mode == "output" and config.extra.get("phind_output"):
        call = f"assert f({column(row, 'input')}) =="
        prompt = f"{_PLAIN_OUTPUT}{column(row, 'code')}\n{call}"
        return DataSetPrompt(id=row_id, prompt=prompt, labels={"mode": mode})
    code, thinks = column(row, "code"), bool(config.extra.get("use_cot"))
    if mode == "input":
        example = _FIND_INPUT + _INPUT_THOUGHT * thinks + _EXAMPLE_ANSWER
        asked = f"assert f(??) == {column(row, 'output')}"
    else:
        example = _FIND_OUTPUT + _OUTPUT_THOUGHT * thinks + _EXAMPLE_ANSWER
        asked = f"assert f({column(row, 'input')}) == ??"
    end = "[THOUGHT]\n" if thinks else "[ANSWER]\n"
    prompt = f"{example}[PYTHON]\n{code}\n{asked}\n[/PYTHON]\n{end}"
    return DataSetPrompt(id=row_id, prompt=prompt, labels={"mode": mode})


async def evaluate_crux(request: Request, body: SubmitRequest, row: DataSetRow) -> Evaluation:
    """The judgement of a completion. Raises UnusableRow, QueueFull, VerdictFailed."""
    mode, code = body.config.extra.get("mode", "output"), column(row, "code")
    if mode not in ("input", "output"):
        raise UnusableRow(f"config.extra.mode is {mode!r}; expected 'input' or 'output'")
    answer = _crux_answer(body.completion, mode)
    call = answer if mode == "input" else f"f({column(row, 'input')})"
    value = column(row, "output") if mode == "input" else answer
    is_plain = _is_plain_call(answer) if mode == "input" else _is_plain(answer)
    # An answer with code of its own could make the comparison true, whatever it is compared with.
    test = f"assert {call} == ({value})" if is_plain else "assert False, 'no plain value'"
    asked = {"type": "asserts", "code": test, "entry_point": "f"}
    seconds = body.config.run_timeout or 30.0
    verdict = await judged(request, body, code, asked, seconds)
    return evaluation(body, verdict, answer, f"{code}\n{test}")


def _crux_answer(completion: str, mode: str) -> str:
    """The call or the value that a completion gives, between its tags if it has them."""
    for stop in ("# done", "[/ANSWER]"):
        completion = completion.partition(stop)[0]
    if "[ANSWER]" in completion:
        completion = completion.partition("[ANSWER]")[2]
    answer = completion.strip()
    if "assert f" in answer:
        answer = "f" + answer.partition("assert f")[2]
    call, equals, value = _parts(answer)
    if not equals:
        return answer.strip()
    return (call if mode == "input" else value).strip()


def _parts(answer: str) -> tuple[str, str, str]:
    """The two sides of an assertion, whose values may hold `==` in a text."""
    try:
        tree = ast.parse(answer.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return answer.partition("==")
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
        return ast.unparse(tree.left), "==", ast.unparse(tree.comparators[0])
    return answer, "", ""


_MAKERS = frozenset({"set", "frozenset", "dict", "list", "tuple", "str", "bytes", "float", "range"})
_PLAIN_NODES = (
    *(ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Load, ast.keyword),
    *(ast.UnaryOp, ast.UAdd, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult),
)


def _is_plain(text: str) -> bool:
    """Whether a text is a value without names, but for those that make built-in ones."""
    try:
        return _is_plain_tree(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _is_plain_call(text: str) -> bool:
    """Whether a text is a call of `f` with plain values."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "f"):
        return False
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return all(map(_is_plain_tree, values))


def _is_plain_tree(tree: ast.expr) -> bool:
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id in _MAKERS):
                return False
            left += [*node.args, *node.keywords]
        elif isinstance(node, _PLAIN_NODES):
            left += ast.iter_child_nodes(node)
        else:
            return False
    return True
