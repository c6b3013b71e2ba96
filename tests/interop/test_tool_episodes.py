"""Episodes with tools have the token ids, masks and log-probabilities of TRL's tool loop.

Recorded messages stand for the sampler on each side. Recorded are the messages of the policy; what
the tools answer, and how it becomes tokens, is each side's own doing.
"""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tokenizers
import transformers

from tests.interop.peer import peer
from tests.trainer_client.episode_runs import Scripted
from tests.trainer_client.runs import plain_sampling
from trainer_client.config.run_config import make_config
from trainer_client.episodes.episode_engine import EpisodeEngine
from trainer_client.policy.policy import Policy, make_policy
from trainer_client.problems import Problem
from trainer_client.rollout import Rollout

grpo_trainer = peer("trl.trainer.grpo_trainer")
templates = peer("trl.chat_template_utils")

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("default")]

NUM_EPISODES = 40
ROOM = 4000
TOOLS = '''
def add(a: int, b: int) -> str:
    """Add two numbers.

    Args:
        a: the first.
        b: the second.
    """
    return str(a + b)


def shout(text: str) -> str:
    """Write a text in capitals.

    Args:
        text: the text.
    """
    return f"{text.upper()}!\\n"
'''


@dataclass(frozen=True)
class Recorded:
    """The messages of one episode's policy; all but the last one call tools."""

    question: str
    messages: tuple[str, ...]


def recorded(number: int) -> Recorded:
    chosen = random.Random(number)
    turns = [
        f"{chosen.choice(['', 'Let me see. ', 'né '])}{calls(chosen)}"
        for _ in range(chosen.randrange(4))
    ]
    return Recorded(f"question {number}", (*turns, f"It is {number}."))


def calls(chosen: random.Random) -> str:
    made = []
    for _ in range(chosen.randrange(1, 4)):
        call: dict[str, Any] = {"name": "add", "arguments": {"a": chosen.randrange(99), "b": 1}}
        if chosen.random() < 0.5:
            call = {"name": "shout", "arguments": {"text": chosen.choice(["é ü", "a\nb", "x"])}}
        made.append(f"<tool_call>\n{json.dumps(call)}\n</tool_call>")
    return "\n".join(made)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tools") / "tools.py"
    file.write_text(TOOLS)
    return file


@pytest.fixture(scope="module")
def policy() -> Policy:
    """A tokenizer of bytes with the markers of ChatML, and a model that is never asked."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    vocabulary = {token: place for place, token in enumerate([*special, *alphabet])}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=templates.qwen2_5_chat_template,
    )
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=2 * ROOM,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return make_policy(transformers.LlamaForCausalLM(config), tokenizer)


def our_episode(policy: Policy, tools: Path, episode: Recorded, room: int) -> Rollout:
    return our_turns(policy, tools, episode, room)[0]


def our_turns(
    policy: Policy, tools: Path, episode: Recorded, room: int
) -> tuple[Rollout, list[list[int]]]:
    """The episode, and the contexts that its turns were sampled from."""
    config = make_config(
        {
            "output_dir": str(tools.parent / "run"),
            "model": {"path": str(tools.parent)},
            "dataset": {"path": str(tools.parent / "none.jsonl")},
            "rollout": {
                "environment": {
                    "path": "functions",
                    "options": {"paths": [f"{tools}:add", f"{tools}:shout"]},
                }
            },
        }
    )
    sampler = Scripted(policy, lambda _, number: episode.messages[number])
    problem = Problem("1", ({"role": "user", "content": episode.question},), {})
    groups: list[Any] = []
    EpisodeEngine(sampler, policy, config).generate(
        [problem], plain_sampling(1, room), lambda _, group: groups.append(group)
    )
    (rollout,) = groups[0].rollouts
    return rollout, sampler.contexts


def trls_episode(policy: Policy, tools: Path, episode: Recorded, room: int) -> Any:
    """Prompt ids, completion ids, mask and log-probabilities of TRL's own loop."""
    functions: dict[str, Any] = {}
    exec(compile(TOOLS, str(tools), "exec"), functions)
    called = [functions["add"], functions["shout"]]
    tokenizer = templates.add_response_schema(policy.tokenizer)
    turns = iter(episode.messages)

    def sampled(*_: Any, **__: Any) -> tuple[list[list[int]], list[list[float]]]:
        ids = tokenizer.encode(next(turns), add_special_tokens=False)
        ids = [*ids, tokenizer.eos_token_id][:room]
        return [ids], [[-1.0] * len(ids)]

    trainer = SimpleNamespace(
        tools=called,
        _sync_tool_dicts=[{one.__name__: one for one in called}],
        _async_tool_dicts=[{}],
        _is_vlm=False,
        _tokenizer=tokenizer,
        processing_class=tokenizer,
        chat_template=None,
        chat_template_kwargs={},
        environment_factories=None,
        use_vllm=False,
        model=policy.model,
        max_completion_length=room,
        max_tool_calling_iterations=8,
        _generate_single_turn=sampled,
    )
    loop = grpo_trainer.GRPOTrainer
    trainer._get_tool_suffix_ids = loop._get_tool_suffix_ids.__get__(trainer)
    prompts = [[{"role": "user", "content": episode.question}]]
    prompt_ids, _, _ = loop._tokenize_prompts(trainer, prompts)
    first, logprobs = sampled()
    said = [[templates.parse_response(tokenizer, first[0], prefix=prompt_ids[0], tools=called)]]
    mask, _, ids, logprobs, num_calls, num_failed, _ = loop._tool_call_loop(
        trainer, prompts, prompt_ids, first, said, logprobs, None, {}
    )
    return SimpleNamespace(
        prompt_ids=prompt_ids[0],
        completion_ids=ids[0],
        mask=mask[0],
        logprobs=logprobs[0],
        num_calls=num_calls,
        num_failed=num_failed,
    )


def compare(policy: Policy, tools: Path, episode: Recorded, room: int) -> Rollout:
    ours = our_episode(policy, tools, episode, room)
    theirs = trls_episode(policy, tools, episode, room)
    assert list(ours.prompt_ids) == theirs.prompt_ids
    assert list(ours.completion_ids) == theirs.completion_ids
    assert ours.sampled is not None
    assert [int(one) for one in ours.sampled] == theirs.mask
    assert list(ours.sampler_logprobs) == theirs.logprobs
    assert ours.episode is not None
    if not ours.truncated:
        assert ours.episode.extra.get("calls", 0) == theirs.num_calls
    assert theirs.num_failed == 0
    return ours


def test_episodes_have_the_tokens_of_trls_tool_loop(policy: Policy, tools: Path) -> None:
    found = [compare(policy, tools, recorded(number), ROOM) for number in range(NUM_EPISODES)]
    turns = [one.episode.num_turns for one in found if one.episode is not None]
    assert set(turns) == {1, 2, 3, 4}  # or the comparison would show little


@pytest.mark.parametrize("part", [0.05, 0.4, 0.7, 0.9])
def test_episodes_that_a_limit_ends_have_the_tokens_of_trls_tool_loop(
    policy: Policy, tools: Path, part: float
) -> None:
    for number in range(8):
        whole = our_episode(policy, tools, recorded(number), ROOM)
        room = max(1, int(part * len(whole.completion_ids)))
        assert compare(policy, tools, recorded(number), room).truncated


def test_an_episode_is_the_steps_that_verifiers_keeps_one_after_the_other(
    policy: Policy, tools: Path
) -> None:
    """Its record of a turn has the tokens of the request and of the response, from a server."""
    types, records = peer("verifiers.legacy.types"), peer("verifiers.legacy.utils.response_utils")
    for number in range(NUM_EPISODES):
        ours, contexts = our_turns(policy, tools, recorded(number), ROOM)
        ids: list[int] = []
        sampled: list[bool] = []
        for context, message in zip(contexts, recorded(number).messages, strict=True):
            said = policy.tokenizer.encode(message, add_special_tokens=False)
            step = verifiers_step(types, records, context, [*said, policy.eos_ids[0]])
            assert step["prompt_ids"][: len(ids)] == ids
            sampled += [False] * (len(step["prompt_ids"]) - len(ids))
            sampled += map(bool, step["completion_mask"])
            ids = [*step["prompt_ids"], *step["completion_ids"]]
        assert ids == [*ours.prompt_ids, *ours.completion_ids]
        assert sampled == [*[False] * len(ours.prompt_ids), *(ours.sampled or ())]


def verifiers_step(types: Any, records: Any, context: list[int], said: list[int]) -> Any:
    """The package's record of one turn."""
    tokens = types.ResponseTokens(
        prompt_ids=context,
        prompt_mask=[0] * len(context),
        completion_ids=said,
        completion_mask=[1] * len(said),
        completion_logprobs=[-1.0] * len(said),
    )
    message = types.ResponseMessage(
        content="", finish_reason="stop", is_truncated=False, tokens=tokens
    )
    response = types.Response(id="1", created=0, model="policy", message=message)
    return asyncio.run(records.parse_response_tokens(response))
