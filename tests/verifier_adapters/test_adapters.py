"""Each adapter, called as its framework calls it, against the real service."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reward_verifier import VerifierRejected
from verifier_adapters import areal, ms_swift, prime_verifiers, ray, rllm, skyrl_gym, trl, verl
from verifier_adapters.client import Verifier, verifier_given
from verifier_adapters.reference import reference_of
from verifier_service.compat import label
from verifier_service.compat.completions import UnusableReference

ROOT = Path(__file__).parents[2]
RIGHT, WRONG = r"\boxed{4}", r"\boxed{5}"


@pytest.fixture(autouse=True)
def environment(service_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARD_VERIFIER_URL", service_url)


class Log:
    """TRL's two callbacks."""

    def __init__(self) -> None:
        self.extra: dict[str, list[Any]] = {}
        self.metrics: dict[str, float] = {}

    def as_columns(self) -> dict[str, Any]:
        return {
            "log_extra": self.extra.__setitem__,
            "log_metric": self.metrics.__setitem__,
            "trainer_state": None,
            "completion_ids": [[1], [2], [3]],
        }


def called(function: Callable[..., Any], *arguments: Any, **columns: Any) -> Any:
    found = function(*arguments, **columns)
    return asyncio.run(found) if inspect.iscoroutine(found) else found


@pytest.mark.parametrize("make", [trl.RewardFunction, trl.async_reward_function])
def test_trl_gets_rewards_and_none_for_what_cannot_be_judged(make: Callable[..., Any]) -> None:
    log = Log()
    function = pickle.loads(pickle.dumps(make(name="correct")))
    rewards = called(
        function,
        prompts=["2+2?"] * 3,
        completions=[[{"role": "assistant", "content": RIGHT}], WRONG, RIGHT],
        solution=["4", "4", ""],
        **log.as_columns(),
    )
    assert rewards == [1.0, 0.0, None]
    assert log.extra == {"correct_reason": ["equal", "different", "missing_reference"]}
    assert log.metrics == {"correct/unjudged_fraction": pytest.approx(1 / 3)}
    assert function.__name__ == "correct"


@pytest.mark.parametrize("make", [trl.RewardFunction, trl.async_reward_function])
def test_trl_hands_on_whole_rows_of_a_data_set(make: Callable[..., Any]) -> None:
    rewards = called(
        pickle.loads(pickle.dumps(make(reference_format="auto"))),
        prompts=["2+2?"] * 2,
        completions=[RIGHT, WRONG],
        solution=["Thus it is $\\boxed{4}$."] * 2,
        source=["made", None],
        completion_ids=[[1], [2]],
    )
    assert rewards == [1.0, 0.0]


@pytest.mark.parametrize("make", [trl.RewardFunction, trl.async_reward_function])
def test_columns_with_the_names_of_settings_are_columns(make: Callable[..., Any]) -> None:
    names = ("name", "column", "verifier", "reference_format", "own_verifiers", "self")
    columns = {name: [name] * 2 for name in names}
    rewards = called(
        make(), prompts=["2+2?"] * 2, completions=[RIGHT, WRONG], solution=["4", "4"], **columns
    )
    assert rewards == [1.0, 0.0]


def test_trl_can_tell_the_asynchronous_function() -> None:
    assert inspect.iscoroutinefunction(trl.async_reward_function())
    assert not inspect.iscoroutinefunction(trl.RewardFunction())


def test_a_missing_column_is_named() -> None:
    with pytest.raises(
        KeyError, match=r"no column 'solution'.*\['answer'\].*column='answer'"
    ) as raised:
        trl.RewardFunction()(["?"], ["4"], answer=["4"])
    assert "set RewardFunction(column='answer')" in str(raised.value.args[0])
    with pytest.raises(KeyError, match=r"its columns are \['problem'\]\"$"):
        trl.RewardFunction()(["?"], ["4"], problem=["4"])


@pytest.mark.parametrize("compute", [verl.compute_score, verl.compute_score_async])
def test_verl_gets_the_same_keys_whatever_happens(compute: Callable[..., Any]) -> None:
    found = [
        called(
            compute,
            data_source="x",
            solution_str=solution,
            ground_truth=truth,
            extra_info={"num_turns": None},
            reward_router_address="ignored",
        )
        for solution, truth in ((RIGHT, "4"), (WRONG, "4"), (RIGHT, ""))
    ]
    assert found == [
        {"score": 1.0, "acc": 1.0, "judged": 1.0, "reason": "equal"},
        {"score": 0.0, "acc": 0.0, "judged": 1.0, "reason": "different"},
        {"score": 0.0, "acc": 0.0, "judged": 0.0, "reason": "missing_reference"},
    ]


@pytest.mark.parametrize("kind", [ms_swift.VerifierORM, ms_swift.AsyncVerifierORM])
def test_ms_swift_gets_rewards(kind: Callable[..., Any]) -> None:
    rewards = called(kind(args=None), [RIGHT, WRONG, RIGHT], solution=["4", "4", ""])
    assert rewards == [1.0, 0.0, None]


def test_areal_gets_a_float() -> None:
    rewards = [
        areal.reward_fn("2+2?", text, [1], [2], answer="4", query_id="p") for text in (RIGHT, WRONG)
    ]
    assert rewards == [1.0, 0.0]


def test_rllm_gets_a_reward_output() -> None:
    function = rllm.RewardVerifierFn()
    right, unjudged = function({"ground_truth": "4"}, RIGHT), function({"ground_truth": ""}, RIGHT)
    assert (right.reward, right.is_correct, right.metadata["judged"]) == (1.0, True, True)
    assert (unjudged.reward, unjudged.is_correct) == (0.0, None)


def test_settings_of_a_framework_choose_the_verifiers() -> None:
    class Settings(dict[str, Any]):
        """An object of a configuration."""

    verifiers = (Settings(type="format"),)
    extras = {"reward_spec": {"ground_truth": "4"}}
    assert verl.compute_score("d", RIGHT, "4", verifiers=verifiers)["reason"] == "missing_tag"
    env = skyrl_gym.VerifierEnv({"verifiers": verifiers, "max_turns": 1}, extras)
    assert env.step(RIGHT)["reward"] == 0.0
    assert verl.compute_score("d", RIGHT, "4", reward_router_address=None)["score"] == 1.0


@pytest.mark.parametrize(
    ("given", "meant"), [("profil", "profile"), ("verifier", "verifiers"), ("apikey", "api_key")]
)
def test_a_misspelt_setting_of_a_framework_is_refused(given: str, meant: str) -> None:
    told = f"no such setting: '{given}'; did you mean '{meant}'?"
    settings: dict[str, Any] = {given: "code"}
    extras = {"reward_spec": {"ground_truth": "4"}}
    for call in (
        lambda: verl.compute_score("d", RIGHT, "4", **settings),
        lambda: asyncio.run(verl.compute_score_async("d", RIGHT, "4", **settings)),
        lambda: skyrl_gym.VerifierEnv(settings, extras),
    ):
        with pytest.raises(ValueError, match=re.escape(told)):
            call()


def test_skyrl_gym_plays_one_turn() -> None:
    extras = {"reward_spec": {"method": "rule", "ground_truth": "4"}}
    env = skyrl_gym.VerifierEnv(env_config={}, extras=extras)
    prompt = [{"role": "user", "content": "2+2?"}]
    assert env.init(prompt) == (prompt, {})
    step = env.step(RIGHT)
    assert (step["reward"], step["done"], step["observations"]) == (1.0, True, [])
    assert env.aggregate_metrics([env.get_metrics(), {"judged": 0.0}])["judged"] == 0.5


def test_verifiers_gets_a_float() -> None:
    function = prime_verifiers.rubric_function(Verifier(), name="correct")
    message = {"role": "assistant", "content": RIGHT, "tool_calls": None}
    assert called(function, completion=[message], answer="4") == 1.0
    assert list(inspect.signature(function).parameters) == ["completion", "answer", "info"]
    with pytest.raises(ValueError, match="info: expected an object, or one as JSON text"):
        called(function, completion=[message], answer="4", info="{profile")
    with pytest.raises(ValueError, match="info: expected an object, found list"):
        called(function, completion=[message], answer="4", info=[])
    assert function.__name__ == "correct"


@pytest.mark.parametrize(("text", "expected"), [(RIGHT, 1.0), (WRONG, 0.0)])
def test_verifiers_gets_the_score_of_a_traces_last_reply(text: str, expected: float) -> None:
    trace = SimpleNamespace(last_reply=text)
    assert called(prime_verifiers.score_trace, trace, "4") == expected


def test_programs_are_judged_by_tests_as_data_sets_have_them() -> None:
    truth = '{"inputs": ["3\\n"], "outputs": ["9\\n"]}'
    program = "```python\nprint(int(input())**2)\n```"
    found = verl.compute_score("apps", program, truth, profile="code")
    assert (found["acc"], found["reason"]) == (1.0, "passed")
    call = '{"inputs": ["1\\n2"], "outputs": ["3"], "fn_name": "add"}'
    added = verl.compute_score(
        "apps", "```python\ndef add(a, b):\n    return a + b\n```", call, profile="code"
    )
    assert added["reason"] == "passed"


@pytest.mark.parametrize(
    "given",
    [
        *("4", 4, 0.5, ["1", "2"], None, "", "{1}", "{}", '{"answer": "4"}', "{" * 100_000),
        *({"inputs": [], "outputs": []}, {"type": "stdio", "cases": []}, {"type": "x"}, {}),
    ],
)
def test_adapters_and_service_read_labels_alike(given: Any) -> None:
    assert reference_of(given) == label.reference_of(given)


@pytest.mark.parametrize(
    ("given", "twin"),
    [
        ('{"answer": "4", "answer": "5"}', '{"answer": "4", "other": "5"}'),
        ('{"answer": "4", "a": {"b": 1, "b": 2}}', '{"answer": "4", "a": {"b": 1}}'),
        ('{"answer": NaN}', '{"answer": "NaN"}'),
        ('{"answer": 1e999}', '{"answer": 1e99}'),
    ],
)
def test_a_label_that_readers_take_for_different_ones_is_none(given: str, twin: str) -> None:
    assert reference_of(given) == {}
    assert isinstance(label.reference_of(given), UnusableReference)
    assert reference_of(twin) == label.reference_of(twin) == json.loads(twin)


RAY_ADAPTER = "ray.py"
"""The adapter that knows the client's transport, and imports Ray where an address asks for it."""


def test_adapters_import_only_the_standard_library_and_the_client() -> None:
    imported = set()
    for path in (ROOT / "verifier_adapters").glob("*.py"):
        if path.name == RAY_ADAPTER:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    assert imported - sys.stdlib_module_names == {"reward_verifier", "verifier_adapters"}


def test_adapters_are_imported_where_nothing_but_httpx_is_installed() -> None:
    modules = ["trl", "verl", "ms_swift", "areal", "rllm", "skyrl_gym", "prime_verifiers", "ray"]
    absent = [
        "ray",
        "torch",
        "pydantic",
        "fastapi",
        "rich",
        "typer",
        "verifier_service",
        "trainer_client",
    ]
    script = (
        "import sys, importlib\n"
        f"sys.modules.update(dict.fromkeys({absent}))  # importing one raises ImportError\n"
        "import reward_verifier.client\n"
        f"for name in {modules}: importlib.import_module('verifier_adapters.' + name)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_address_of_ray_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.exceptions", None)
    ray._ray_errors.cache_clear()
    with pytest.raises(ModuleNotFoundError, match="serve:// needs Ray: pip install"):
        verl.compute_score("math", RIGHT, "4", url="serve://verifier")


def test_an_address_of_http_needs_no_ray() -> None:
    assert ray.verifier_at().score([RIGHT], {"answer": "4"})[0].reward == 1.0
    assert ray.verifier_at("http://127.0.0.1:9/").url == "http://127.0.0.1:9/"


LETTERS = [{"type": "exact_match", "weight": 0.5, "part": None}]
"""A row of a table, whose columns fill missing options with null."""


@pytest.mark.parametrize("make", [trl.RewardFunction, trl.async_reward_function])
def test_trl_rows_choose_their_verifiers(make: Callable[..., Any]) -> None:
    rewards = called(
        make(),
        prompts=["?"] * 3,
        completions=[RIGHT, "<answer>B</answer>", RIGHT],
        solution=["4", "B", "4"],
        verifiers=[None, LETTERS, '[{"type": "accuracy", "weight": 2}]'],
        profile=["math", None, None],
    )
    assert rewards == [1.0, 0.5, 2.0]


def test_other_frameworks_rows_choose_their_verifiers() -> None:
    own = {"verifiers": [{"type": "accuracy", "weight": 3.0}]}
    assert verl.compute_score("d", RIGHT, "4", extra_info=own)["score"] == 3.0
    assert asyncio.run(verl.compute_score_async("d", RIGHT, "4", own))["score"] == 3.0
    assert areal.reward_fn("?", RIGHT, answer="4", **own) == 3.0
    assert ms_swift.VerifierORM()([RIGHT], solution=["4"], verifiers=[own["verifiers"]]) == [3.0]
    assert rllm.RewardVerifierFn()({"ground_truth": "4", **own}, RIGHT).reward == 3.0
    env = skyrl_gym.VerifierEnv(extras={"reward_spec": {"ground_truth": "4"}, **own})
    assert env.step(RIGHT)["reward"] == 3.0
    rubric = prime_verifiers.rubric_function()
    for info in (own, json.dumps(own)):
        assert called(rubric, RIGHT, "4", info) == 3.0
    trace = SimpleNamespace(last_reply=RIGHT)
    assert asyncio.run(prime_verifiers.score_trace(trace, "4", info=own)) == 3.0


def test_no_row_is_paid_by_the_choice_of_its_neighbour() -> None:
    """Each row has the label 1 and an answer that another row's choice would pay."""
    strict = [{"type": "exact_match", "weight": 1}]
    loose = [{"type": "accuracy", "weight": 1}]
    choices = [strict, loose, strict, None, loose, json.dumps(strict)]
    answers = ["1.0", "1.0", "1", r"\boxed{1.0}", "the answer is 1", r"\boxed{1}"]
    paid = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 0, 5, 1, 4, 3]):
        columns: dict[str, Any] = {
            "solution": ["1"] * 6,
            "verifiers": [choices[row] for row in order],
        }
        given = [answers[row] for row in order]
        expected = [paid[row] for row in order]
        assert trl.RewardFunction()(["?"] * 6, given, **columns) == expected
        assert ms_swift.VerifierORM()(given, **columns) == expected
    for answer, choice, expected_score in zip(answers, choices, paid, strict=True):
        own = {"verifiers": choice}
        assert verl.compute_score("d", answer, "1", own)["score"] == expected_score
        rubric = prime_verifiers.rubric_function()
        assert called(rubric, answer, "1", own) == expected_score


@pytest.mark.parametrize("verifiers", ["accuracy", '"accuracy"', '{"type": "accuracy"}', 7])
def test_a_choice_that_is_no_list_is_named(verifiers: object) -> None:
    with pytest.raises(ValueError, match="the column `verifiers` has"):
        trl.RewardFunction()(["?"], [RIGHT], solution=["4"], verifiers=[verifiers])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"profile": ["algebra"] * 2}, "no profile 'algebra'.*by the data set's column `profile`"),
        (
            {"verifiers": [None, ["algebra"]]},
            "no type 'algebra'.*the data set's column `verifiers`",
        ),
        ({"verifiers": [None, "algebra"]}, "row 1: the column `verifiers` has the text 'algebra'"),
    ],
)
@pytest.mark.parametrize("make", [trl.RewardFunction, trl.async_reward_function])
def test_a_column_with_another_meaning_is_named_and_can_be_left_alone(
    make: Callable[..., Any], column: dict[str, Any], message: str
) -> None:
    given: Any = {"prompts": ["?"] * 2, "completions": [RIGHT] * 2, "solution": ["4"] * 2, **column}
    advice = "means something else, set own_verifiers to False"
    with pytest.raises((VerifierRejected, ValueError), match=f"{message}.*{advice}"):
        called(make(), **given)
    assert called(make(own_verifiers=False), **given) == [1.0, 1.0]
    row = {"problem": ["2 + 2"] * 2, **given}
    assert called(make(reference_format="auto", own_verifiers=False), **row) == [1.0, 1.0]


def test_parts_of_a_chat_that_are_texts_are_joined() -> None:
    parts = [{"type": "text", "text": r"\boxed{"}, {"type": "text", "text": "4}"}]
    chat = [{"role": "assistant", "content": parts}]
    assert trl.RewardFunction()(["?"], [chat], solution=["4"]) == [1.0]
    picture = [{"role": "assistant", "content": [*parts, {"type": "image"}]}]
    with pytest.raises(VerifierRejected, match=r"completions\.0.*content"):
        trl.RewardFunction()(["?"], [picture], solution=["4"])


@pytest.mark.parametrize("kind", [ms_swift.VerifierORM, ms_swift.AsyncVerifierORM])
def test_ms_swift_names_and_leaves_alone_such_a_column(kind: type[Any]) -> None:
    columns = {"solution": ["4"], "profile": ["algebra"]}
    with pytest.raises(VerifierRejected, match=r"column `profile`.*set own_verifiers to False"):
        called(kind(), [RIGHT], **columns)
    plain = type("Plain", (kind,), {"own_verifiers": False})
    assert called(plain(), [RIGHT], **columns) == [1.0]


def judged_for_others(own: dict[str, Any], **settings: Any) -> list[Callable[[], Any]]:
    """Calls of the other adapters, with a row that has these columns besides its label."""
    extras = {"reward_spec": {"ground_truth": "4"}, **own}
    return [
        lambda: verl.compute_score("d", RIGHT, "4", own, **settings)["score"],
        lambda: asyncio.run(verl.compute_score_async("d", RIGHT, "4", own, **settings))["score"],
        lambda: areal.VerifierReward(**settings)("?", RIGHT, answer="4", **own),
        lambda: rllm.RewardVerifierFn(**settings)({"ground_truth": "4", **own}, RIGHT).reward,
        lambda: skyrl_gym.VerifierEnv(settings, extras).step(RIGHT)["reward"],
        lambda: called(prime_verifiers.rubric_function(**settings), RIGHT, "4", own),
    ]


@pytest.mark.parametrize("own", [{"profile": "algebra"}, {"verifiers": "algebra"}])
def test_other_frameworks_name_and_leave_alone_such_a_column(own: dict[str, Any]) -> None:
    for judged in judged_for_others(own):
        with pytest.raises((VerifierRejected, ValueError), match="set own_verifiers to False"):
            judged()
    for judged in judged_for_others(own, own_verifiers=False):
        assert judged() == 1.0


def test_a_missing_label_of_other_frameworks_is_named() -> None:
    message = "no column {!r} with the references; its columns are ['gold']"
    with pytest.raises(KeyError, match=re.escape(message.format("answer"))):
        areal.reward_fn("?", RIGHT, gold="4")
    with pytest.raises(KeyError, match=re.escape(message.format("ground_truth"))):
        rllm.RewardVerifierFn()({"gold": "4"}, RIGHT)
    with pytest.raises(KeyError, match=re.escape(message.format("solution"))):
        ms_swift.VerifierORM()([RIGHT], gold=["4"])
    assert areal.VerifierReward(column="gold")("?", RIGHT, gold="4") == 1.0


@pytest.mark.parametrize(
    "label", [np.int64(4), np.float32(4), np.array(["4", "5"]), {"answer": np.array([4])}]
)
def test_a_label_of_numpy_is_that_of_python(label: Any) -> None:
    """Tables of pandas hold such values."""
    assert trl.RewardFunction()(["?"], [RIGHT], solution=[label]) == [1.0]
    row: Any = {"answer": [label["answer"] if isinstance(label, dict) else label]}
    assert trl.RewardFunction(reference_format="answer")(["?"], [RIGHT], **row) == [1.0]
    assert verl.compute_score("d", RIGHT, label)["score"] == 1.0


def test_a_label_may_be_an_integer_that_no_float_holds() -> None:
    assert verl.compute_score("d", rf"\boxed{{{10**400}}}", 10**400)["score"] == 1.0


@pytest.mark.parametrize("make", [trl.RewardFunction, trl.async_reward_function])
@pytest.mark.parametrize("nan", [float("nan"), np.float32("nan")])
def test_nan_is_a_missing_label_as_none_is(make: Callable[..., Any], nan: Any) -> None:
    labels, choices = [nan, "4", None], [nan, "math", nan]
    given = [RIGHT] * 3
    rewards = called(make(), ["?"] * 3, given, solution=labels, profile=choices)
    assert rewards == [None, 1.0, None]
    rows = {"problem": ["2 + 2"] * 3, "solution": ["4"] * 3, "note": [nan, "easy", None]}
    assert called(make(reference_format="auto"), ["?"] * 3, given, **rows) == [1.0] * 3


@pytest.mark.parametrize("make", [trl.RewardFunction, trl.async_reward_function])
@pytest.mark.parametrize(
    ("completion", "label", "message"),
    [
        (RIGHT, [4, float("inf")], r"row 1: reference\.answer\.1 is inf: JSON has no such number"),
        (RIGHT, {4}, r"row 1: reference\.answer is of the type set"),
        (RIGHT, "4\ud83d", r"row 1: reference\.answer has half of .*'\\ud83d', at character 1"),
        ("It is \ud83d", "4", r"row 1: completion has half of a surrogate pair"),
        ([{"role": "assistant", "content": "\ud83d"}], "4", r"row 1: completion\.0\.content has"),
    ],
)
def test_a_value_that_cannot_be_sent_is_named_with_its_row(
    make: Callable[..., Any], completion: Any, label: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        called(make(), ["?"] * 2, [RIGHT, completion], solution=["4", label])


ALL_MISSING = r"no completion of a call \(missing_reference: .*the column 'solution' of the labels"


@pytest.mark.parametrize("make", [trl.RewardFunction, trl.async_reward_function])
def test_trl_warns_of_a_call_without_any_label(make: Callable[..., Any]) -> None:
    with pytest.warns(UserWarning, match=ALL_MISSING):
        assert called(make(), ["?"] * 2, [RIGHT] * 2, solution=[None, ""]) == [None, None]


@pytest.mark.parametrize("kind", [ms_swift.VerifierORM, ms_swift.AsyncVerifierORM])
def test_ms_swift_warns_of_a_call_without_any_label(kind: Callable[..., Any]) -> None:
    with pytest.warns(UserWarning, match=ALL_MISSING):
        assert called(kind(), [RIGHT] * 2, solution=[None, ""]) == [None, None]


def test_the_warning_of_a_call_without_labels_is_shown_once() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(3):
            trl.RewardFunction()(["?"], [RIGHT], solution=[""])
    assert len(shown) == 1


def test_a_url_stands_for_a_verifier_and_anything_else_is_refused_at_once(service_url: str) -> None:
    reward = trl.RewardFunction(service_url)
    assert reward(["?"], [RIGHT], solution=["4"]) == [1.0]
    given = Verifier(service_url)
    assert verifier_given(given) is given
    with pytest.raises(TypeError, match="expected a Verifier, a URL or None, found list"):
        trl.RewardFunction(["accuracy"])  # type: ignore[arg-type]
