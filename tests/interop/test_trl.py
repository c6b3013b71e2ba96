"""TRL's own GRPOTrainer, rewarded by our adapter."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.interop.peer import peer
from verifier_adapters.trl import RewardFunction, async_reward_function

pytestmark = pytest.mark.interop

trl = peer("trl")

STEPS, NUM_GENERATIONS = 3, 4
DIGITS = "0123"


def tokenizer() -> Any:
    """One token for each digit, and for the end."""
    import tokenizers  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    vocabulary = {token: place for place, token in enumerate(["<pad>", "<eos>", *DIGITS, "?"])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    made.decoder = tokenizers.decoders.Fuse()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="?"
    )


def model(vocabulary_size: int) -> Any:
    import torch  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=vocabulary_size,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    return transformers.LlamaForCausalLM(config)


@pytest.mark.parametrize("make", [RewardFunction, async_reward_function])
def test_grpo_trainer_logs_our_rewards(make: Any, service_url: str, tmp_path: Path) -> None:
    import datasets  # noqa: PLC0415

    reads = tokenizer()
    rows = [
        {"prompt": "1?", "solution": "1"},
        {"prompt": "2?", "solution": "2"},
        {"prompt": "3?", "solution": ""},  # cannot be judged
    ]
    trainer = trl.GRPOTrainer(
        model=model(len(reads)),
        processing_class=reads,
        reward_funcs=make(name="verified"),
        train_dataset=datasets.Dataset.from_list(rows * 8),
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=STEPS,
            per_device_train_batch_size=3 * NUM_GENERATIONS,
            num_generations=NUM_GENERATIONS,
            max_completion_length=2,
            logging_steps=1,
            use_cpu=True,
            bf16=False,
            report_to=[],
            save_strategy="no",
            seed=1,
        ),
    )
    seen: list[dict[str, Any]] = []
    score = trainer._calculate_rewards

    def remember(inputs: Any, prompts: Any, completions: Any, ids: Any) -> Any:
        rewards = score(inputs, prompts, completions, ids)
        solutions = [row["solution"] for row in inputs]
        seen.append({"texts": completions, "solutions": solutions, "rewards": rewards[:, 0]})
        return rewards

    trainer._calculate_rewards = remember
    trainer.train()

    name = "verified" if make is RewardFunction else "verifier_reward"
    logged = [row for row in trainer.state.log_history if f"rewards/{name}/mean" in row]
    assert len(logged) == len(seen) == STEPS
    judged = []
    for row, batch in zip(logged, seen, strict=True):
        expected = [
            reward_of(service_url, text, solution)
            for text, solution in zip(batch["texts"], batch["solutions"], strict=True)
        ]
        ours = [None if math.isnan(one) else one for one in batch["rewards"].tolist()]
        assert ours == expected
        known = [one for one in expected if one is not None]
        mean = sum(known) / len(known) if known else math.nan
        assert row[f"rewards/{name}/mean"] == pytest.approx(mean, nan_ok=True)
        unjudged = expected.count(None) / len(expected)
        assert row["verified/unjudged_fraction"] == pytest.approx(unjudged)
        judged += known
    assert {0.0, 1.0} <= set(judged)  # or the comparison would show nothing


def reward_of(url: str, text: str, solution: str) -> float | None:
    """The service's own reward."""
    body = {
        "profile": "accuracy",
        "groups": [{"reference": {"answer": solution}, "completions": [text]}],
    }
    answer = httpx.post(f"{url}/v1/score", json=body, timeout=600).json()
    reward: float | None = answer["groups"][0]["completions"][0]["reward"]
    return reward
