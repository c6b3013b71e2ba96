"""Rows in the shapes of published data sets, written for the tests, with right completions."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from dataclasses import dataclass
from typing import Any

BOXED = r"<think>2 and 2</think> So it is \boxed{4}."
ADD = "```python\ndef add(a, b):\n    return a + b\n```"
PRINT_SUM = "```python\na, b = map(int, input().split())\nprint(a + b)\n```"
METHOD = "```python\nclass Solution:\n    def add(self, a, b):\n        return a + b\n```"
TESTS = {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7\n"]}
CALLS = {"fn_name": "add", "inputs": [[1, 2], [3, 4]], "outputs": [3, 7]}
CASES = [{"input": "1 2\n", "output": "3\n"}, {"input": "3 4\n", "output": "7\n"}]
ASSERTS = ["assert add(1, 2) == 3", "assert add(3, 4) == 7"]
UNITTEST = """import unittest

class TestCases(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
"""
INSTRUCTION = [{"instruction_id": ["punctuation:no_comma"], "kwargs": [None]}]
WEATHER = {"name": "weather", "arguments": {"city": "Oslo"}}
TOOL = {"name": "weather", "parameters": {"city": {"type": "string"}}}


@dataclass(frozen=True)
class DataSetRow:
    """A row, its format, and what it should become."""

    data_set: str
    format: str
    row: dict[str, Any]
    verifier: str
    reference: dict[str, Any]
    right: str = ""
    """A completion with score 1; empty where no verifier of that type is shipped."""


def packed(value: Any) -> str:
    """A value as LiveCodeBench packs its private tests."""
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(value)))).decode()


def _of(
    data_set: str,
    form: str,
    row: dict[str, Any],
    verifier: str,
    reference: dict[str, Any],
    right: str = "",
) -> DataSetRow:
    return DataSetRow(data_set, form, row, verifier, reference, right)


def _verl(ground_truth: Any, **more: Any) -> dict[str, Any]:
    return {
        "data_source": "made",
        "prompt": [{"role": "user", "content": "Add."}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": ground_truth},
        "extra_info": {"index": 0, "split": "train"},
        **more,
    }


SOLUTION = r"We add 2 and 2. Thus the sum is $\boxed{4}$."
ANSWER_ROWS = [
    _of(
        "NuminaMath",
        "solution",
        {"source": "olympiads", "problem": "2 + 2?", "solution": SOLUTION, "messages": []},
        "accuracy",
        {"answer": SOLUTION},
        BOXED,
    ),
    _of(
        "NuminaMath-1.5",
        "answer",
        {
            "problem": "2 + 2?",
            "solution": SOLUTION,
            "answer": "4",
            "problem_type": "Algebra",
            "question_type": "math-word-problem",
        },
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "OpenR1-Math",
        "answer",
        {
            "problem": "2 + 2?",
            "solution": SOLUTION,
            "answer": "4",
            "generations": ["..."],
            "correctness_math_verify": [True],
        },
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "OpenR1-Math without an answer",
        "solution",
        {"problem": "2 + 2?", "solution": SOLUTION, "answer": None},
        "accuracy",
        {"answer": SOLUTION},
        BOXED,
    ),
    _of(
        "DeepMath",
        "final_answer",
        {
            "question": "2 + 2?",
            "final_answer": "4",
            "difficulty": 3.0,
            "topic": "Algebra",
            "r1_solution_1": "...",
        },
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "Big-Math",
        "answer",
        {
            "problem": "2 + 2?",
            "answer": "4",
            "source": "orca",
            "domain": ["Algebra"],
            "llama8b_solve_rate": 0.5,
        },
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "Polaris",
        "answer",
        {"problem": "2 + 2?", "answer": "4", "difficulty": "4/8"},
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "GSM8K",
        "answer",
        {"question": "2 and 2?", "answer": "2+2=<<2+2=4>>4\n#### 4"},
        "accuracy",
        {"answer": "2+2=<<2+2=4>>4\n#### 4"},
        BOXED,
    ),
    _of(
        "MATH",
        "solution",
        {"problem": "2 + 2?", "level": "Level 1", "type": "Algebra", "solution": SOLUTION},
        "accuracy",
        {"answer": SOLUTION},
        BOXED,
    ),
    _of(
        "MATH-500",
        "answer",
        {
            "problem": "2 + 2?",
            "solution": SOLUTION,
            "answer": "4",
            "subject": "Algebra",
            "level": 1,
            "unique_id": "a/1",
        },
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "a number", "answer", {"question": "2 + 2?", "answer": 4}, "accuracy", {"answer": 4}, BOXED
    ),
    _of(
        "MMLU-Pro",
        "options",
        {
            "question_id": 1,
            "question": "2 + 2?",
            "options": ["3", "4"],
            "answer": "B",
            "answer_index": 1,
        },
        "multiple_choice",
        {"answer": "B", "choices": {"A": "3", "B": "4"}},
        "The answer is (B).",
    ),
    _of(
        "MMLU",
        "choices",
        {"question": "2 + 2?", "subject": "x", "choices": ["3", "4"], "answer": 1},
        "multiple_choice",
        {"answer": "B", "choices": {"A": "3", "B": "4"}},
        "The answer is (B).",
    ),
    _of(
        "ARC",
        "answer_key",
        {
            "id": "a",
            "question": "2 + 2?",
            "choices": {"text": ["3", "4"], "label": ["A", "B"]},
            "answerKey": "B",
        },
        "multiple_choice",
        {"answer": "B", "choices": {"A": "3", "B": "4"}},
        "The answer is (B).",
    ),
    _of(
        "ARC, by numbers",
        "answer_key",
        {
            "question": "2 + 2?",
            "choices": {"text": ["3", "4"], "label": ["1", "2"]},
            "answerKey": "2",
        },
        "multiple_choice",
        {"answer": "B", "choices": {"A": "3", "B": "4"}},
        "The answer is (B).",
    ),
    _of(
        "TriviaQA",
        "aliases",
        {"question": "Who?", "answer": {"value": "Ada", "aliases": ["Ada", "Ada Lovelace"]}},
        "string_similarity",
        {"answer": ["Ada", "Ada Lovelace"]},
    ),
    _of(
        "HotpotQA",
        "hotpot_qa",
        {
            "question": "Who?",
            "answer": "Ada",
            "supporting_facts": {"title": ["a"], "sent_id": [0]},
            "context": {"title": ["a"]},
        },
        "string_similarity",
        {"answer": "Ada"},
    ),
    _of(
        "SQuAD",
        "squad",
        {
            "question": "Who?",
            "context": "Ada it was.",
            "answers": {"text": ["Ada", "Ada"], "answer_start": [0, 0]},
        },
        "string_similarity",
        {"answer": ["Ada"]},
    ),
]
GROUND_TRUTH_ROWS = [
    _of("DAPO-Math-17k", "verl", _verl("4"), "accuracy", {"answer": "4"}, BOXED),
    _of("Skywork-OR1, mathematics", "verl", _verl('["4"]'), "accuracy", {"answer": '["4"]'}, BOXED),
    _of(
        "Eurus-2-RL, programs",
        "verl",
        _verl(json.dumps(TESTS), ability="code"),
        "code",
        {"tests": TESTS},
        PRINT_SUM,
    ),
    _of(
        "Skywork-OR1, calls",
        "verl",
        _verl(json.dumps(CALLS), ability="code"),
        "code",
        {"tests": CALLS},
        ADD,
    ),
    _of(
        "Skywork-OR1, test code",
        "verl",
        _verl(json.dumps({"functional": "\n".join(ASSERTS)})),
        "code",
        {"tests": {"type": "asserts", "code": "\n".join(ASSERTS)}},
        ADD,
    ),
    _of(
        "Skywork-OR1, test code with a prefix",
        "verl",
        _verl(
            json.dumps(
                {
                    "entry_point": "Solution().add",
                    "import_prefix": "from typing import *",
                    "test_code": "def check(candidate):\n    assert candidate(a=1, b=2) == 3",
                }
            )
        ),
        "code",
        {
            "tests": {
                "type": "asserts",
                "code": "from typing import *\n"
                "def check(candidate):\n    assert candidate(a=1, b=2) == 3",
                "entry_point": "Solution().add",
            }
        },
        METHOD,
    ),
    _of(
        "verl, assertions",
        "verl",
        _verl(json.dumps(ASSERTS)),
        "code",
        {"tests": {"type": "asserts", "code": "\n".join(ASSERTS)}},
        ADD,
    ),
    _of(
        "GURU, mathematics",
        "verl",
        _verl("4", data_source="math__deepscaler"),
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "TinyZero, countdown",
        "verl",
        _verl({"target": 24, "numbers": [4, 6]}),
        "puzzle",
        {"puzzle": "countdown", "target": 24, "numbers": [4, 6]},
        "<answer>4 * 6</answer>",
    ),
    _of(
        "GURU, zebra puzzles",
        "verl",
        _verl(
            {"header": ["House", "Pet"], "rows": [["1", "cat"], ["2", "dog"]]},
            data_source="logic__zebra_puzzle_dataset",
        ),
        "puzzle",
        {
            "puzzle": "cells",
            "cells": {"header": ["House", "Pet"], "rows": [["1", "cat"], ["2", "dog"]]},
        },
        '<answer>{"header": ["House", "Pet"], "rows": [["1", "cat"], ["2", "dog"]]}</answer>',
    ),
    _of(
        "GURU, ordering puzzles",
        "verl",
        _verl(["owl", "jay"], data_source="logic__ordering_puzzle_dataset"),
        "puzzle",
        {"puzzle": "order", "order": ["owl", "jay"]},
        "<answer>['owl', 'jay']</answer>",
    ),
    _of(
        "GURU, graphs",
        "verl",
        _verl("B", data_source="logic__graph_logical_dataset"),
        "puzzle",
        {"puzzle": "set", "items": ["B"]},
        "<answer>B</answer>",
    ),
    _of(
        "GURU, ARC",
        "verl",
        _verl([[1, 0], [0, 1]], data_source="simulation__arcagi1"),
        "puzzle",
        {"puzzle": "grid", "grid": [[1, 0], [0, 1]]},
        "<answer>[[1, 0], [0, 1]]</answer>",
    ),
    _of(
        "Search-R1",
        "verl",
        _verl({"target": ["Ada", "Ada Lovelace"]}),
        "string_similarity",
        {"answer": ["Ada", "Ada Lovelace"]},
    ),
    _of(
        "ToolRL",
        "verl",
        _verl(
            "<tool_call>\n"
            + json.dumps({"name": "weather", "parameters": {"city": "Oslo"}})
            + "\n</tool_call>"
        ),
        "tool_calls",
        {"tool_calls": [WEATHER]},
    ),
    _of(
        "Tulu 3, GSM8K",
        "ground_truth",
        {"messages": [], "ground_truth": "4", "dataset": "gsm8k"},
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "IF-RLVR",
        "ground_truth",
        {"messages": [], "ground_truth": json.dumps(INSTRUCTION), "dataset": ["ifeval"]},
        "instruction_following",
        {"ground_truth": json.dumps(INSTRUCTION)},
    ),
    _of(
        "BFCL",
        "ground_truth",
        {"id": "simple_0", "ground_truth": [{"weather": {"city": ["Oslo", "oslo"]}}]},
        "tool_calls",
        {"tool_calls": [{"name": "weather", "accepted": {"city": ["Oslo", "oslo"]}}]},
    ),
    _of(
        "SYNTHETIC-1, mathematics",
        "synthetic",
        {
            "prompt": "?",
            "task_type": "verifiable_math",
            "verification_info": json.dumps({"ground_truth": "4"}),
        },
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "SYNTHETIC-1, programs",
        "synthetic",
        {
            "prompt": "?",
            "task_type": "verifiable_code",
            "verification_info": repr(
                {
                    "language": "python",
                    "test_cases": [
                        {**case, "fn_name": None, "type": "stdin_stdout"} for case in CASES
                    ],
                }
            ),
        },
        "code",
        {"tests": TESTS},
        PRINT_SUM,
    ),
    _of(
        "SYNTHETIC-2, output",
        "synthetic",
        {
            "prompt": "?",
            "task_type": "code_output_prediction",
            "verification_info": json.dumps({"output": "4"}),
        },
        "exact_match",
        {"answer": "4"},
        "<answer>4</answer>",
    ),
    _of(
        "SYNTHETIC-1, words",
        "synthetic",
        {
            "task_type": "llm_judgeable_groundtruth_similarity",
            "verification_info": json.dumps({"ground_truth": "Because."}),
        },
        "answer_judge",
        {"answer": "Because."},
    ),
]
PROGRAM_ROWS = [
    _of(
        "APPS",
        "apps",
        {
            "problem_id": 1,
            "question": "Add.",
            "solutions": "[]",
            "input_output": json.dumps(TESTS),
            "difficulty": "x",
        },
        "code",
        {"tests": TESTS},
        PRINT_SUM,
    ),
    _of(
        "TACO",
        "apps",
        {
            "question": "Add.",
            "input_output": json.dumps({**CALLS, "outputs": [[3], [7]]}),
            "starter_code": "def add",
        },
        "code",
        {"tests": {**CALLS, "outputs": [[3], [7]]}},
        ADD,
    ),
    _of(
        "TACO, lines",
        "apps",
        {
            "question": "Add.",
            "input_output": {"inputs": [["1 2"], ["3 4"]], "outputs": [["3"], ["7"]]},
        },
        "code",
        {"tests": {"inputs": [["1 2"], ["3 4"]], "outputs": [["3"], ["7"]]}},
        PRINT_SUM,
    ),
    _of(
        "DeepCoder, lcb",
        "tests",
        {
            "problem": "Add.",
            "tests": json.dumps(
                [
                    {
                        "input": "1\n2",
                        "output": "3",
                        "testtype": "functional",
                        "metadata": {"func_name": "add"},
                    }
                ]
            ),
        },
        "code",
        {"tests": {"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}},
        METHOD,
    ),
    _of(
        "DeepCoder, primeintellect",
        "tests",
        {
            "problem": "Add.",
            "tests": json.dumps(
                [{**case, "type": "stdin_stdout", "fn_name": None} for case in CASES]
            ),
        },
        "code",
        {"tests": TESTS},
        PRINT_SUM,
    ),
    _of(
        "DeepCoder, taco",
        "tests",
        {"problem": "Add.", "tests": json.dumps(TESTS)},
        "code",
        {"tests": TESTS},
        PRINT_SUM,
    ),
    _of(
        "our tests",
        "tests",
        {"tests": {"type": "asserts", "code": "\n".join(ASSERTS)}},
        "code",
        {"tests": {"type": "asserts", "code": "\n".join(ASSERTS)}},
        ADD,
    ),
    _of(
        "verifiable-coding-problems",
        "test_cases",
        {"problem_id": "a", "test_cases": [{**case, "type": "stdin_stdout"} for case in CASES]},
        "code",
        {"tests": TESTS},
        PRINT_SUM,
    ),
    _of(
        "AceCode",
        "test_cases",
        {"id": "a", "question": "Add.", "test_cases": ASSERTS, "inferences": []},
        "code",
        {"tests": {"type": "asserts", "code": "\n".join(ASSERTS)}},
        ADD,
    ),
    _of(
        "CodeContests",
        "code_contests",
        {
            "name": "a",
            "description": "Add.",
            "public_tests": {"input": ["1 2\n"], "output": ["3\n"]},
            "private_tests": {"input": [], "output": []},
            "generated_tests": {"input": ["3 4\n"], "output": ["7\n"]},
        },
        "code",
        {"tests": TESTS},
        PRINT_SUM,
    ),
    _of(
        "CodeContests, lists of objects",
        "code_contests",
        {"name": "a", "public_tests": CASES[:1], "private_tests": CASES[1:]},
        "code",
        {"tests": TESTS},
        PRINT_SUM,
    ),
    _of(
        "LiveCodeBench",
        "live_code_bench",
        {
            "question_content": "Add.",
            "starter_code": "",
            "metadata": "{}",
            "public_test_cases": json.dumps([{**CASES[0], "testtype": "stdin"}]),
            "private_test_cases": packed([{**CASES[1], "testtype": "stdin"}]),
        },
        "code",
        {"tests": TESTS},
        PRINT_SUM,
    ),
    _of(
        "LiveCodeBench, calls",
        "live_code_bench",
        {
            "question_content": "Add.",
            "starter_code": "class Solution",
            "metadata": json.dumps({"func_name": "add"}),
            "public_test_cases": json.dumps(
                [{"input": "1\n2", "output": "3", "testtype": "functional"}]
            ),
            "private_test_cases": json.dumps(
                [{"input": "3\n4", "output": "7", "testtype": "functional"}]
            ),
        },
        "code",
        {"tests": {"inputs": ["1\n2", "3\n4"], "outputs": ["3", "7"], "fn_name": "add"}},
        METHOD,
    ),
    _of(
        "KodCode",
        "kod_code",
        {
            "question": "Add.",
            "solution": "def add(a, b): return a + b",
            "test": "from solution import add\n\ndef test_add():\n    assert add(1, 2) == 3\n",
            "test_info": [],
        },
        "code",
        {
            "tests": {
                "type": "asserts",
                "code": "from solution import add\n\ndef test_add():\n    assert add(1, 2) == 3\n",
                "module": "solution",
            }
        },
        ADD,
    ),
    _of(
        "HumanEval",
        "human_eval",
        {
            "task_id": "HumanEval/0",
            "prompt": "def add(a, b):",
            "canonical_solution": "    return a + b",
            "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
            "entry_point": "add",
        },
        "code",
        {
            "tests": {
                "type": "asserts",
                "code": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
                "entry_point": "add",
            }
        },
        ADD,
    ),
    _of(
        "LeetCodeDataset",
        "human_eval",
        {
            "task_id": "add",
            "prompt": "from typing import *\n\ninf = float('inf')\n",
            "starter_code": "class Solution:",
            "entry_point": "Solution().add",
            "test": "def check(candidate):\n    assert candidate(a = 1,b = 2) == 3\n",
            "input_output": [{"input": "a = 1, b = 2", "output": "3"}],
        },
        "code",
        {
            "tests": {
                "type": "asserts",
                "code": "def check(candidate):\n    assert candidate(a = 1,b = 2) == 3\n",
                "entry_point": "Solution().add",
            }
        },
        METHOD,
    ),
    _of(
        "BigCodeBench",
        "human_eval",
        {
            "task_id": "BigCodeBench/0",
            "complete_prompt": "",
            "instruct_prompt": "",
            "canonical_solution": "",
            "libs": "[]",
            "entry_point": "add",
            "test": UNITTEST,
        },
        "code",
        {
            "tests": {
                "type": "asserts",
                "entry_point": "add",
                "code": UNITTEST,
            }
        },
        ADD,
    ),
    _of(
        "MBPP",
        "mbpp",
        {
            "task_id": 1,
            "text": "Add.",
            "code": "...",
            "test_list": ASSERTS,
            "test_setup_code": "",
            "challenge_test_list": [],
        },
        "code",
        {"tests": {"type": "asserts", "code": "\n".join(ASSERTS)}},
        ADD,
    ),
    _of(
        "MBPP, imports",
        "mbpp",
        {
            "task_id": 1,
            "prompt": "Add.",
            "code": "...",
            "test_list": ASSERTS,
            "test_imports": ["import math"],
        },
        "code",
        {"tests": {"type": "asserts", "code": "\n".join(["import math", *ASSERTS])}},
        ADD,
    ),
]
TASK_ROWS = [
    _of(
        "a clean row",
        "reference_json",
        {
            "prompt": [{"role": "user", "content": "2 + 2?"}],
            "reference_json": json.dumps({"answer": "4"}),
            "verifier": "accuracy",
            "verifiers": [{"type": "accuracy"}],
            "reward_model": {"style": "rule", "ground_truth": json.dumps({"answer": "4"})},
        },
        "accuracy",
        {"answer": "4"},
        BOXED,
    ),
    _of(
        "IFEval",
        "if_eval",
        {
            "key": 1,
            "prompt": "?",
            "instruction_id_list": ["punctuation:no_comma"],
            "kwargs": [{}],
        },
        "instruction_following",
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
        "No such sign is here.",
    ),
    _of(
        "our instructions",
        "instructions",
        {"instructions": [{"id": "punctuation:no_comma", "kwargs": {}}]},
        "instruction_following",
        {"instructions": [{"id": "punctuation:no_comma", "kwargs": {}}]},
        "No such sign is here.",
    ),
    _of(
        "xLAM",
        "xlam",
        {"id": 0, "query": "Rain?", "answers": json.dumps([WEATHER]), "tools": json.dumps([TOOL])},
        "tool_calls",
        {"tool_calls": [WEATHER], "tools": [TOOL]},
        f"<tool_call>{json.dumps(WEATHER)}</tool_call>",
    ),
    _of(
        "our tool calls",
        "tool_calls",
        {"tool_calls": [WEATHER]},
        "tool_calls",
        {"tool_calls": [WEATHER]},
        f"<tool_call>{json.dumps(WEATHER)}</tool_call>",
    ),
    _of(
        "BIRD",
        "bird",
        {
            "question_id": 0,
            "db_id": "shop",
            "question": "?",
            "evidence": "",
            "SQL": "SELECT 1",
            "difficulty": "simple",
        },
        "sql",
        {"query": "SELECT 1", "database": "shop"},
    ),
    _of(
        "Spider",
        "spider",
        {"db_id": "shop", "query": "SELECT 1", "question": "?", "query_toks": ["SELECT", "1"]},
        "sql",
        {"query": "SELECT 1", "database": "shop"},
    ),
    _of(
        "reasoning-gym",
        "reasoning_gym",
        {
            "question": "2 + 2?",
            "answer": "4",
            "metadata": {"source_dataset": "basic_arithmetic", "source_index": 0},
        },
        "reasoning_gym",
        {
            "dataset": "basic_arithmetic",
            "entry": {
                "question": "2 + 2?",
                "answer": "4",
                "metadata": {"source_dataset": "basic_arithmetic", "source_index": 0},
            },
        },
    ),
]
DATA_SET_ROWS = [*ANSWER_ROWS, *GROUND_TRUTH_ROWS, *PROGRAM_ROWS, *TASK_ROWS]
