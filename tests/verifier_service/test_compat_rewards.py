"""OpenRLHF, slime and NeMo Gym: requests as their clients send them, against the real service."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from verifier_service.compat.completions import UnusableReference
from verifier_service.compat.label import reference_of
from verifier_service.compat.openrlhf import response_in
from verifier_service.gym_scorers import loading

SAMPLE = {"prompt": "2+2?", "response": r"\boxed{4}"}
PROGRAM = "```python\nprint(int(input())**2)\n```"
SQUARES = {"inputs": ["3\n", "4\n"], "outputs": ["9\n", "16\n"]}


def post(http: httpx.Client, path: str, body: Any) -> Any:
    response = http.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


def qwen(answer: str) -> str:
    return (
        f"<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>\n"
        "<|endoftext|>"
    )


@pytest.mark.parametrize("path", ["/get_reward", "/compat/openrlhf/get_reward"])
def test_openrlhf_gets_rewards_scores_and_logs(http: httpx.Client, path: str) -> None:
    body = {
        "query": [qwen(r"\boxed{4}"), qwen(r"\boxed{5}"), qwen("4")],
        "prompts": ["<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n"] * 3,
        "labels": ["4", "4", None],
    }
    assert post(http, path, body) == {
        "rewards": [1.0, 0.0, 0.0],
        "scores": [1.0, 0.0, 0.0],
        "extra_logs": {"accuracy": [1.0, 0.0, 0.0], "unjudged": [0.0, 0.0, 1.0]},
    }


def test_openrlhf_may_send_nothing_at_all(http: httpx.Client) -> None:
    answer = post(http, "/get_reward", {"query": [], "prompts": [], "labels": []})
    assert (answer["rewards"], answer["scores"]) == ([], [])


def test_openrlhf_may_leave_out_what_old_versions_did_not_send(http: httpx.Client) -> None:
    answer = post(http, "/get_reward", {"query": ["4"]})
    assert answer["extra_logs"]["unjudged"] == [1.0]


def test_openrlhf_takes_the_profile_that_is_named(http: httpx.Client) -> None:
    query = qwen("<think>\n2+2\n</think>\n<answer>\n4\n</answer>")
    body = {"query": [query], "prompts": [""], "labels": ["4"]}
    answer = post(http, "/get_reward?profile=math", body)
    assert answer["rewards"] == [pytest.approx(1.15)]
    assert answer["scores"] == [1.0]  # between 0 and 1, for dynamic filtering
    assert answer["extra_logs"]["format"] == [1.0]


@pytest.mark.parametrize("path", ["/get_reward", "/compat/slime/rm", "/verify"])
def test_a_misspelt_parameter_is_refused(http: httpx.Client, path: str) -> None:
    """Another profile than the one meant would judge; a proxy may add parameters of its own."""
    response = http.post(f"{path}?profil=math", json={})
    assert response.status_code == 422
    message = response.json()["error"]["message"]
    assert message == "query.profil: no parameter; did you mean 'profile'?"
    body = {"query": ["4"], "prompts": [""], "labels": ["4"]}
    assert post(http, "/get_reward?token=x", body)["rewards"] == [1.0]


@pytest.mark.parametrize("path", ["/get_reward", "/compat/slime/rm", "/verify"])
def test_a_repeated_parameter_is_refused(http: httpx.Client, path: str) -> None:
    """The last one counted, so a profile in the URL of a proxy was another than the caller's."""
    response = http.post(f"{path}?profile=math&profile=code", json={})
    assert response.status_code == 422
    message = response.json()["error"]["message"]
    assert message == "query.profile: found more than once, expected one value"


def test_openrlhf_judges_the_whole_query_where_it_is_asked_to(http: httpx.Client) -> None:
    body = {"query": ["<|im_start|>assistant\n4"], "labels": ["4"]}
    exact = "/get_reward?profile=accuracy&strip=false"
    assert post(http, exact, body)["rewards"] == [1.0]
    queries = {"query": ["The answer is 7.", "x"], "prompts": ["The answer is 7.", ""]}
    assert post(http, "/get_reward", {**queries, "labels": ["7", "7"]})["rewards"] == [0.0, 0.0]
    assert post(http, exact, {**queries, "labels": ["7", "7"]})["rewards"] == [1.0, 0.0]


def test_lists_of_different_lengths_are_refused(http: httpx.Client) -> None:
    response = http.post("/get_reward", json={"query": ["a", "b"], "labels": ["1"]})
    assert response.status_code == 422
    assert "1 labels for 2 queries" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        (qwen("4"), None, "4"),
        ("Q: 2+2? A: 4</s>", "Q: 2+2? A:", " 4"),
        ("<bos><start_of_turn>model\n4<end_of_turn>\n", "2+2", "4"),
        ("<s>[INST] 2+2 [/INST] 4</s>", "2+2", " 4"),
        (
            "<|start_header_id|>assistant<|end_header_id|>\n\n4<|eot_id|>",
            None,
            "4",
        ),
        # A marker that the model writes must not hide what it wrote before.
        ("P: [/INST] 5 <|im_start|>assistant\n4", "P:", " [/INST] 5 <|im_start|>assistant\n4"),
        ("so x > 3 </answer>", None, "so x > 3 </answer>"),
        ("", None, ""),
    ],
)
def test_the_response_is_found_in_a_query(query: str, prompt: str | None, response: str) -> None:
    assert response_in(query, prompt) == response


@pytest.mark.parametrize("padding", ["<pad>", "<eos>\n", "<|im_end|> "])
def test_a_million_markers_of_the_end_are_removed_in_one_pass(padding: str) -> None:
    """One pass for each would take minutes, on the loop that serves everybody."""
    assert response_in(f"4 < 5 -> <pad{padding * 1_000_000}", None) == "4 < 5 -> <pad"


def test_slime_gets_a_number(http: httpx.Client) -> None:
    sample = {"prompt": [{"role": "user", "content": "2+2?"}], "response": r"\boxed{4}"}
    assert post(http, "/compat/slime/rm", {**sample, "label": 4}) == 1.0
    assert post(http, "/compat/slime/rm", {**sample, "label": "5"}) == 0.0


def test_slime_gets_an_object_under_its_reward_key(http: httpx.Client) -> None:
    path = "/compat/slime/rm?reward_key=score"
    right = post(http, path, {"response": r"\boxed{4}", "label": "4"})
    assert right == {"accuracy": 1.0, "acc": 1.0, "judged": 1.0, "reason": "equal", "score": 1.0}
    unjudged = post(http, path, {"response": r"\boxed{4}", "label": ""})
    assert (unjudged["score"], unjudged["judged"]) == (0.0, 0.0)
    assert unjudged["reason"] == "missing_reference"


@pytest.mark.parametrize(
    "label",
    [
        SQUARES,
        '{"inputs": ["3", "4"], "outputs": ["9", "16"], "fn_name": null}',
        {"type": "stdio", "cases": [{"stdin": "3", "stdout": "9"}]},
        {"tests": SQUARES},
    ],
)
def test_a_label_may_be_tests(http: httpx.Client, label: Any) -> None:
    sample = {"prompt": "", "response": PROGRAM, "label": label}
    assert post(http, "/compat/slime/rm?profile=code&reward_key=r", sample)["code"] == 1.0


@pytest.mark.parametrize(
    ("label", "reference"),
    [
        ("4", {"answer": "4"}),
        (4, {"answer": 4}),
        (["1/2", "0.5"], {"answer": ["1/2", "0.5"]}),
        (None, {}),
        ("{1, 2}", {"answer": "{1, 2}"}),
        ("{}", {"answer": "{}"}),
        ('{"answer": "4"}', {"answer": "4"}),
        ({"answer": "A", "choices": ["x"]}, {"answer": "A", "choices": ["x"]}),
    ],
)
def test_labels_become_references(label: Any, reference: dict[str, Any]) -> None:
    assert reference_of(label) == reference


TWO_CONSTRAINTS = {
    "instruction_id_list": ["punctuation:no_comma", "keywords:existence"],
    "kwargs": [{}, {"keywords": ["b"], "num_words": None}],
}
IF_1 = {"instruction_following": 1.0}
NO_STRUCTURE = {"structured_output": 0.0}
MCQA = {"options": [{"A": "Rome"}, {"B": "Paris"}], "expected_answer": "B"}
CALL = {"type": "function_call", "name": "find", "arguments": '{"a": 1}'}


TWICE = {"options": [{"A": "Rome"}, {"B": "Paris"}, {"B": "Oslo"}], "expected_answer": "B"}


def responses_body(text: str, **task: Any) -> dict[str, Any]:
    """A body as NeMo Gym's agents and axolotl send it."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {
        "id": "msg",
        "role": "assistant",
        "type": "message",
        "status": "completed",
        "content": content,
    }
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "What is 2+2?"}]},
        "response": {
            "id": "resp",
            "created_at": 0,
            "model": "m",
            "object": "response",
            "output": [{"id": "rs", "type": "reasoning", "summary": []}, message],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        },
        **task,
    }


def test_nemo_gym_gets_its_body_back_with_a_reward(http: httpx.Client) -> None:
    body = responses_body(r"\boxed{4}", question="What is 2+2?", expected_answer="4", uuid="p1")
    answer = post(http, "/verify", body)
    assert {key: answer.pop(key) for key in ("reward", "extracted_answer", "reason")} == {
        "reward": 1.0,
        "extracted_answer": "4",
        "reason": "equal",
    }
    assert answer.pop("reward_components") == {"accuracy": 1.0}
    assert answer.pop("outcome") == "scored"
    assert answer == body


@pytest.mark.parametrize(("text", "task"), [("4", {"expected_answer": ""}), ("B", TWICE)])
def test_nemo_gym_is_told_that_a_task_cannot_be_judged(
    http: httpx.Client, text: str, task: dict[str, Any]
) -> None:
    answer = post(http, "/verify", responses_body(text, **task))
    assert (answer["reward"], answer["outcome"]) == (0.0, "unverifiable")
    assert answer["_ng_failure_class"] == "judge_failed"


CITATION = {
    "verifier": {
        "type": "citation_if",
        "grammar": "ascii_brackets",
        "id_regex": "citation_[a-z0-9]{4}",
        "valid_id_set": ["citation_ab12"],
        "expected_ids": ["citation_ab12"],
    }
}
LINES = {"verifier": {"type": "regex", "verify_regex": ["^- .+"], "verify_min_matches": 2}}
BOXED = {"expected_answer": "Paris", "extraction_mode": "boxed"}
OCR = {"benchmark_name": "OCRBench", "category": "Text", "answer": ["close"]}
CIRCLES = {"target_color": "red", "circles": [{"color": "red"}, {"color": "red"}, {"color": "b"}]}
NEEDLE = {"expected_answer": "A needle"}
MULTI = {"match_type": "all", "eval_type": "multichoice"}
BUNSEN = {
    "options": [{"A": "Paris"}, {"B": "Rome"}],
    "expected_answer": "B",
    "metadata": {"bct_field": "general", "source_dataset": "synthetic"},
}
SPATIAL = {"target": "both of them", "options": ["a red box", "the big red box"]}
PATCHES = {
    "options": [{"A": "diff one"}, {"B": "diff two"}],
    "expected_answer": "B",
    "grading_mode": "strict",
    "instance_id": "p-1",
}
JUDGED = {"expected_judgement": "Judgement: No"}
DAY = {
    "exp_cal_state": {
        "0": {"duration": 60, "constraint": "at 1pm", "min_time": "10:00", "max_time": "16:00"},
        "1": {
            "duration": 30,
            "constraint": "before 11am",
            "min_time": "10:00",
            "max_time": "16:00",
        },
    }
}
DOUBLED = {
    "expected_output": [[2, 4]],
    "test_input": [[1, 2]],
    "agent_mode": "inductive",
}
DOUBLE = (
    "```python\ndef transform(grid):\n    return [[2 * one for one in row] for row in grid]\n```"
)


def at(*starts: str, duration: int = 60) -> str:
    """The calendar of `DAY`, with events that begin then."""
    lengths = (duration, 30)
    return json.dumps(
        [
            {"event_id": place, "start_time": start, "duration": length}
            for place, (start, length) in enumerate(zip(starts, lengths, strict=True))
        ]
    )


@pytest.mark.parametrize(
    ("text", "task", "components"),
    [
        ("Final answer: both of them", SPATIAL, {"multiple_choice": 1.0}),
        ("Final answer: I would say both of them.", SPATIAL, {"multiple_choice": 1.0}),
        ("Final answer: a red box or both of them", SPATIAL, {"multiple_choice": 0.0}),
        ("both of them", SPATIAL, {"multiple_choice": 0.0}),
        (
            "Final answer: it is the big red box",
            {**SPATIAL, "target": "the big red box"},
            {"multiple_choice": 1.0},
        ),
        ("Final answer: neither", {**SPATIAL, "target": "none of them"}, {"multiple_choice": 1.0}),
        ("<solution>[b]</solution>", PATCHES, {"multiple_choice": 1.0}),
        ("<solution>A</solution><solution>B", PATCHES, {"multiple_choice": 0.0}),
        ("<solution>A B</solution>", PATCHES, {"multiple_choice": 0.0}),
        ("It is B.", PATCHES, {"multiple_choice": 0.0}),
        ("So **Judgement**: No.", JUDGED, {"multiple_choice": 1.0}),
        ("<think>Judgement: Yes</think>Judgement: no", JUDGED, {"multiple_choice": 1.0}),
        ("Judgement: No. Judgement: Yes.", JUDGED, {"multiple_choice": 0.0}),
        ("Judgement: Nothing is wrong", JUDGED, {"multiple_choice": 0.0}),
        (at("13:00", "10:30"), DAY, {"puzzle": 1.0}),
        (at("1pm", "10:00 am"), DAY, {"puzzle": 1.0}),
        (at("13:00", "10:31"), DAY, {"puzzle": 0.0}),
        (at("13:00", "10:00", duration=0), DAY, {"puzzle": 0.0}),
        (r"\boxed{\frac{1}{2}}", {"expected_result": r"\(\frac12\)"}, {"accuracy": 1.0}),
        ("1/2", {"expected_result": r"\(\frac12\)"}, {"accuracy": 0.0}),
        (DOUBLE, DOUBLED, {"code": 1.0}),
        (DOUBLE.replace("2 *", "3 *"), DOUBLED, {"code": 0.0}),
        (PROGRAM, {"verifier_metadata": {"unit_tests": SQUARES}}, {"code": 1.0}),
        (
            "The answer is B.",
            {"options": [{"A": "Rome"}, {"B": "Paris"}], "expected_answer": "B"},
            {"multiple_choice": 1.0},
        ),
        ("x = 4", {"reference": {"answer": "4"}}, {"accuracy": 1.0}),
        ("a b", {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}, IF_1),
        (
            "a, b",
            {"verifier_metadata": {**TWO_CONSTRAINTS, "grading_mode": "fraction"}},
            {"instruction_following": 0.5},
        ),
        ("a, b", TWO_CONSTRAINTS, {"instruction_following": 0.0}),
        (
            '{"a": 1}',
            {"schema_str": '{"required": ["a"]}', "schema_type": "json"},
            {"structured_output": 1.0},
        ),
        ("a: 1", {"schema_str": '{"required": ["b"]}', "schema_type": "yaml"}, NO_STRUCTURE),
        (
            "x9abcd",
            {"expected_answer": "x9bcde", "random_string_to_prepend": "x9", "n_needles": 2},
            {"string_similarity": 0.75},
        ),
        (
            "So.\nFinal Answer: [a, b, c]",
            {"expected_answer": '["a", "b"]', "problem_type": "bfs"},
            {"string_similarity": 0.8},
        ),
        (
            "Final Answer: [a, b]\nor so",
            {"expected_answer": '["a", "b"]', "problem_type": "bfs"},
            {"string_similarity": 0.0},
        ),
        (
            "it is 12",
            {"expected_answer": ["12", "34"], "match_type": "all"},
            {"string_similarity": 0.5},
        ),
        (
            "it is 12",
            {"expected_answer": ["12", "34"], "match_type": "part"},
            {"string_similarity": 1.0},
        ),
        ("Hello", {"expected_action": {"type": "message", "content": "Hi"}}, {"tool_calls": 1.0}),
        ("Hello", {"expected_action": CALL}, {"tool_calls": 0.0}),
        ("B", {**MCQA, "grading_mode": "strict_single_letter_boxed"}, {"multiple_choice": 0.0}),
        (
            r"\boxed{B}",
            {**MCQA, "grading_mode": "strict_single_letter_boxed"},
            {"multiple_choice": 1.0},
        ),
        (
            r"\boxed{Paris}",
            {**MCQA, "grading_mode": "strict_single_letter_boxed"},
            {"multiple_choice": 0.0},
        ),
        (r"\boxed{Paris}", {**MCQA, "grading_mode": "lenient_boxed"}, {"multiple_choice": 1.0}),
        ("4", {"expected_answer": "4", "verifier_type": "math_with_judge"}, {"accuracy": 1.0}),
        (r"So \boxed{[[1,2],[3,4]]}", {"expected_output": [[1, 2], [3, 4]]}, {"puzzle": 1.0}),
        ("[[1,2],[3,5]]", {"expected_output": [[1, 2], [3, 4]]}, {"puzzle": 0.0}),
        (
            "<point>(500, 330)</point>",
            {"expected_answer": "0.5,0.3", "max_dist": 0.06},
            {"puzzle": pytest.approx(0.25)},
        ),
        ("(500, 300)", {"expected_answer": "0.5,0.3", "max_dist": 0.06}, {"puzzle": 0.0}),
        ("It rained [citation_ab12].", CITATION, {"citations": 1.0}),
        ("It rained [citation_zz99].", CITATION, {"citations": 0.0}),
        ("- a\n- b\nc", LINES, {"regex": 1.0}),
        ("- a\nb - c", LINES, {"regex": 0.0}),
        (r"So \boxed{\text{Paris}}.", BOXED, {"accuracy": 1.0}),
        ("So Paris.", BOXED, {"accuracy": 0.0}),
        ("No.\nParis", {**BOXED, "extraction_mode": "last_line"}, {"exact_match": 1.0}),
        ("Paris\nNo.", {**BOXED, "extraction_mode": "last_line"}, {"exact_match": 0.0}),
        ("paris", {**BOXED, "extraction_mode": "full_response"}, {"exact_match": 1.0}),
        ("Answer: Paris.", {**BOXED, "extraction_mode": "final_answer"}, {"accuracy": 1.0}),
        ('Reads "CLOSE".', OCR, {"string_similarity": 1.0}),
        ('Reads "CLOTH".', OCR, {"string_similarity": 0.0}),
        ('{"hallucination list": ["x"]}', {"is_halu": 1}, {"structured_output": 1.0}),
        ('{"hallucination list": []}', {"is_halu": 1}, {"structured_output": 0.0}),
        ('{"hallucination list": []}', {"is_halu": 0}, {"structured_output": 1.0}),
        ("nothing is made up", {"is_halu": 0}, {"structured_output": 0.0}),
        (r"\boxed{2}", CIRCLES, {"accuracy": 1.0}),
        (r"\boxed{3}", CIRCLES, {"accuracy": 0.0}),
        ("a  Needle", {"hashid": "1", "source": "mrcr", **NEEDLE}, {"exact_match": 1.0}),
        ("A needle!", {"hashid": "1", "source": "mrcr", **NEEDLE}, {"exact_match": 0.0}),
        ("<choice>B</choice>", BUNSEN, {"multiple_choice": 1.0}),
        ("<choice>Rome</choice>", BUNSEN, {"multiple_choice": 1.0}),
        ("B", BUNSEN, {"multiple_choice": 0.0}),
        ("it is 12", {"subset": "vt", "outputs": ["12", "34"]}, {"string_similarity": 0.5}),
        ("it is 12", {"subset": "qa_1", "outputs": ["12", "34"]}, {"string_similarity": 1.0}),
        (r"\boxed{C}", {**MULTI, "expected_answer": "C"}, {"multiple_choice": 1.0}),
        ("", {"expected_answers": []}, {"tool_calls": 0.0}),
        ("Hello", {"expected_answers": []}, {"tool_calls": 1.0}),
        ("", {"expected_answers": [{"name": "f", "arguments": {}}]}, {"tool_calls": 0.0}),
    ],
)
def test_nemo_gym_tasks_choose_the_verifier(
    http: httpx.Client, text: str, task: dict[str, Any], components: dict[str, float]
) -> None:
    assert post(http, "/verify", responses_body(text, **task))["reward_components"] == components


@pytest.mark.parametrize(
    ("task", "field"),
    [
        ({"extraction_mode": "regex"}, "extraction_mode"),
        ({"extraction_mode": "boxed", "case_sensitive": True}, "case_sensitive"),
        ({"benchmark_name": "MMBench_DEV_EN_V11"}, "benchmark_name"),
        ({"hashid": "1", "source": "other"}, "source"),
        ({"target_color": "red"}, "circles"),
        ({"target_color": "red", "circles": 3}, "circles"),
        ({"subset": "vt"}, "subset"),
        ({"verifier": {"type": "regex", "verify_regex": "x"}}, "verify_regex"),
        ({"rubric": [{"criteria": "is kind"}]}, "rubric"),
        ({"template_metadata": {}}, "template_metadata"),
        ({"expected_output": [[1]], "agent_mode": "tool"}, "agent_mode"),
        ({"options": ["x"], "target": "y"}, "target"),
        ({"options": ["x"] * 30, "target": "x"}, "options"),
        ({"expected_judgement": "maybe"}, "expected_judgement"),
        ({"exp_cal_state": [1]}, "exp_cal_state"),
        ({"exp_cal_state": {"0": {"duration": 5, "constraint": "near 9am"}}}, "exp_cal_state"),
        ({"follow_ups": ["And then?"]}, "follow_ups"),
        ({"verifier": {"type": "string_match"}}, "verifier"),
        ({"verifier_metadata": {"llm_judge": []}}, "llm_judge"),
        ({"verifier_type": "sandbox"}, "verifier_type"),
        ({"grading_mode": "strict"}, "grading_mode"),
        ({"options": [{"A": "x"}], "grading_mode": "strict"}, "grading_mode"),
        ({"match_type": "2steps"}, "match_type"),
        ({"match_type": "all", "eval_type": "judge"}, "eval_type"),
        ({"problem_type": "parents", "source": "graphwalks"}, "source"),
        ({"problem_type": "algebra"}, "problem_type"),
        ({"instruction_id_list": ["x"], "grading_mode": "loose"}, "grading_mode"),
        ({"schema_str": "{}", "schema_type": "protobuf"}, "schema_type"),
        ({"schema_str": "{}", "response_mode": "tool_call"}, "response_mode"),
        ({"expected_action": {"type": "patch"}}, "expected_action"),
    ],
)
def test_a_task_of_other_rules_is_refused_by_name(
    http: httpx.Client, task: dict[str, Any], field: str
) -> None:
    body = responses_body("4", expected_answer="4", **task)
    response = http.post("/verify", json=body)
    assert response.status_code == 422
    assert field in response.json()["error"]["message"]
    assert post(http, "/verify?profile=accuracy", body)["reward"] == 1.0


@pytest.mark.parametrize("text", ["So <answer>False</answer>", r"So \boxed{False}", "False"])
def test_a_task_of_reasoning_gym_is_judged_by_its_own_scorer(http: httpx.Client, text: str) -> None:
    """The alternative is no verdict: another rule would compare the words."""
    task = {
        "question": "Does it halt?",
        "answer": "True",
        "metadata": {"source_dataset": "game_of_life_halting"},
    }
    found = post(http, "/verify", responses_body(text, **task))
    expected = "different" if loading.can_score() else "missing_package"
    assert (found["reward"], found["reason"]) == (0, expected)
    if loading.can_score():
        right = responses_body(text.replace("False", "True"), **task)
        assert post(http, "/verify", right)["reward_components"] == {"reasoning_gym": 1.0}


CIRCLE = {"color": "red", "x": 100, "y": 50, "radius": 10}
CLICKS = {"target_color": "red", "circles": [CIRCLE], "tools": [{"name": "click"}]}


@pytest.mark.parametrize(
    ("name", "arguments", "text", "reward"),
    [
        ("click", '{"x": 106, "y": 58}', "", 1.0),
        ("click", '{"x": 106, "y": 59}', "", 0.0),
        ("click", '{"x": "100", "y": "50"}', "", 0.0),
        ("click", '{"x": [100], "y": [50]}', "", 0.0),
        ("click", "[100, 50]", "", 0.0),
        ("press", '{"x": 100, "y": 50}', "", 0.0),
        ("press", "{}", '\n<tool_call>\n{"name": "click", "arguments": {"x": 100, "y": 50}}', 0.0),
        ("press", "{}", "\n<tool_call>\nno JSON", 0.0),
    ],
)
def test_nemo_gym_clicks_are_calls_and_no_text(
    http: httpx.Client, name: str, arguments: str, text: str, reward: float
) -> None:
    body = responses_body(text, **CLICKS)
    body["responses_create_params"]["tools"] = CLICKS["tools"]
    body["response"]["output"].append(
        {"type": "function_call", "name": name, "arguments": arguments, "call_id": "c"}
    )
    assert post(http, "/verify", body)["reward"] == reward


def test_nemo_gym_calls_of_tools_are_judged(http: httpx.Client) -> None:
    body = responses_body("I look.", expected_action=CALL)
    call = {"type": "function_call", "call_id": "c", "name": "find", "arguments": '{"a": 1.0}'}
    body["response"]["output"].append(call)
    assert post(http, "/verify", body)["reward"] == 1.0
    body["response"]["output"].append({**call, "arguments": '{"a": 2}'})
    assert post(http, "/verify", body)["reward"] == 0.0


@pytest.mark.parametrize("field", ["rubric", "max_dist", "match_type", "instruction_id_list"])
def test_a_label_of_another_rule_is_unusable(field: str) -> None:
    found = reference_of({"answer": "4", field: ["x"]})
    assert isinstance(found, UnusableReference)
    assert field in found.message


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ({"value": {"a": [1, 2]}, "ignore_order": True}, "ignore_order"),
        ({"query": "SELECT 1", "database": "", "order_matters": False}, "order_matters"),
        ({"tool_calls": [], "matching": "any"}, "matching"),
        ({"ground_truth": "4", "tolerance": 0.1}, "tolerance"),
        ({"tests": {"type": "asserts", "code": "assert f()"}, "checker": "float"}, "checker"),
        ({"answer": "4", "answer_type": "essay"}, "answer_type"),
        ({"answer": "4", "inputs": [], "outputs": [], "scoring": "log"}, "scoring"),
        ({"reference_format": "auto", "answer": "4", "tolerance": 0.1}, "tolerance"),
    ],
)
def test_a_label_of_any_shape_with_a_rule_that_nobody_reads_is_unusable(
    label: dict[str, Any], field: str
) -> None:
    for given in (label, json.dumps(label)):
        found = reference_of(given)
        assert isinstance(found, UnusableReference), found
        assert field in found.message
    twin = {name: value for name, value in label.items() if name != field}
    twin.pop("reference_format", None)  # nothing reads it in a label
    assert not isinstance(reference_of({**twin, "difficulty": 3}), UnusableReference)


@pytest.mark.parametrize(
    "label",
    [
        {"rubric": [{"criterion": "polite", "points": 1}]},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
        {"schema": {"type": "object"}},
        {"puzzle": "sudoku", "grid": [[0]]},
        {"answer": "4", "answer_type": "Expression"},
    ],
)
def test_a_label_with_the_rule_of_a_verifier_is_its_reference(label: dict[str, Any]) -> None:
    assert reference_of(label) == label


@pytest.mark.parametrize("rule", [{"tolerance": 0.1}, {"scoring": "log"}, {"rubric": ["x"]}])
def test_a_reference_of_nemo_gym_with_another_rule_is_refused(
    http: httpx.Client, rule: dict[str, Any]
) -> None:
    body = responses_body("4", reference={"answer": "4", **rule})
    answer = http.post("/verify", json=body)
    assert (answer.status_code, next(iter(rule)) in answer.text) == (422, True)
    assert post(http, "/verify", responses_body("4", reference={"answer": "4"}))["reward"] == 1
    assert post(http, "/verify?profile=accuracy", body)["reward"] == 1


def test_nemo_gym_is_told_the_forms_of_a_content(http: httpx.Client) -> None:
    body = {"response": {"output": [{"content": 3}]}}
    message = http.post("/verify", json=body).json()["error"]["message"]
    assert message == "body.response.output.0.content: expected a list of parts or a text"


def test_nemo_gym_has_its_other_routes(http: httpx.Client) -> None:
    assert post(http, "/seed_session", responses_body("")) == {}
    answers = [
        {"reward": 1.0, "extracted_answer": "4"},
        {"reward": 0.0},
        {"reward": 0.0, "_ng_failure_class": "judge_failed"},
    ]
    metrics = post(http, "/aggregate_metrics", {"verify_responses": answers})
    assert metrics["key_metrics"] == {"mean/reward": 0.5}
    assert http.get("/reverify_mode").json() == {"reverify_mode": "stateless"}


def test_nemo_gym_gets_means_of_finite_numbers_only(http: httpx.Client) -> None:
    huge = "9" * 400
    answers = f'[{{"reward": 1.0, "a": {huge}, "d": 1, "e": 1e308}}'
    content = f'{{"verify_responses": {answers}, {{"d": -{huge}, "e": 1e308}}]}}'
    headers = {"Content-Type": "application/json"}
    response = http.post("/aggregate_metrics", content=content, headers=headers)
    assert response.status_code == 200, response.text
    assert response.json()["agent_metrics"] == {"mean/reward": 1.0, "mean/d": 1.0}


def test_an_unknown_profile_is_refused_by_name(http: httpx.Client) -> None:
    response = http.post("/compat/slime/rm?profile=maths", json={"response": "", "label": ""})
    assert response.status_code == 422
    assert "no profile 'maths'" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b'{"response": "\\ud800", "label": "4"}', 422),
        (b'{"response": ' + b"[" * 100_000, 422),
        (b"{", 422),
        (b'{"label": "4"}', 422),
    ],
)
def test_a_body_that_is_no_request_is_refused(
    http: httpx.Client, content: bytes, status: int
) -> None:
    headers = {"Content-Type": "application/json"}
    response = http.post("/compat/slime/rm", content=content, headers=headers)
    assert (response.status_code, response.json()["error"]["type"]) == (status, "invalid_request")


RULES_THAT_ARE_NOT_OURS = {
    "tolerance": 0.1,
    "rel_tol": 0.05,
    "max_error": 2,
    "precision": 3,
    "decimals": 1,
    "case_sensitive": True,
    "ignore_case": True,
    "ignore_whitespace": True,
    "order_matters": False,
    "any_order": True,
    "partial_credit": True,
    "negative_marking": 0.25,
    "penalty": 0.5,
    "threshold": 0.8,
    "scorer": "levenshtein",
    "scoring": "log",
    "score_fn": "def score(answer): return 1",
    "grader": {"type": "string_check"},
    "grading_rubric": ["names the city"],
    "eval_type": "regex",
    "eval_function": "str_eval",
    "evaluator": "exec",
    "metric": "rouge",
    "metrics": ["bleu"],
    "comparator": ">=",
    "answer_type": "regex",
    "answer_format": "hex",
    "reward_model_name": "skywork",
    "judge_prompt_template": "Is it polite?",
    "accepted_answers": ["4", "four"],
    "forbidden_words": ["because"],
    "must_include": ["proof"],
    "constraints": ["at most ten words"],
    "checker": "special.py",
    "rm_type": "f1",
}
"""Fields of tasks that other people may make, by which an equal answer is not the rule."""


@pytest.mark.parametrize("field", RULES_THAT_ARE_NOT_OURS)
def test_no_task_is_judged_by_a_rule_that_is_not_its_own(http: httpx.Client, field: str) -> None:
    rule = {field: RULES_THAT_ARE_NOT_OURS[field]}
    message = {"output": [{"type": "message", "content": r"\boxed{4}"}]}
    task = {"response": message, "expected_answer": "4", **rule}
    bodies = {
        "/verify": task,
        "/get_reward": {"query": ["4"], "labels": ["4"], **rule},
        "/compat/slime/rm": {"prompt": "2+2?", "response": "4", "label": "4", **rule},
        "/test_program_stdio": {
            "program": PROGRAM,
            "tests": [{"input": "3", "output": "9", **rule}],
        },
    }
    for path, body in bodies.items():
        answer = http.post(path, json=body)
        assert (answer.status_code, field in answer.text) == (422, True), (path, answer.text)
    in_label = post(
        http,
        "/compat/slime/rm?reward_key=score",
        {**SAMPLE, "label": json.dumps({"answer": "4", **rule})},
    )
    assert (in_label["judged"], in_label["reason"]) == (0.0, "bad_reference")


@pytest.mark.parametrize(
    "fields",
    [
        {"subject": "algebra", "difficulty": 3, "uuid": "a", "metadata": {"level": 2}},
        {"answer_type": "Expression", "pass_rate": 0.4, "solution": "2+2=4"},
        {"tolerance": None, "ignore_case": False, "judge_output": "yes", "is_correct": True},
        {"subset_for_metrics": "aime25", "verifier_type": "math_with_judge", "score": 0.5},
    ],
)
def test_fields_about_a_task_change_no_rule(http: httpx.Client, fields: dict[str, Any]) -> None:
    message = {"output": [{"type": "message", "content": r"\boxed{4}"}]}
    answer = post(http, "/verify", {"response": message, "expected_answer": "4", **fields})
    assert (answer["reward"], answer["reason"]) == (1.0, "equal")
    fields.pop("verifier_type", None)
    assert post(http, "/compat/slime/rm", {**SAMPLE, "label": {"answer": "4", **fields}}) == 1.0
