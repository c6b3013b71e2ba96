"""TRL's GRPOTrainer, rewarded by the service: a tiny model learns to repeat a digit.

    pip install trl
    verifier-service serve                      # in another terminal
    python examples/trl_grpo.py

The model is made here, with random weights and a token for each digit, so nothing is downloaded.
Its first answers are right one time in thirteen. For a model of yours, change `model`, `tokenizer`
and `problems`; the line with RewardFunction stays.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from datasets import Dataset
from figure import save
from matplotlib.figure import Figure
from trl import GRPOConfig, GRPOTrainer

from verifier_adapters.trl import RewardFunction

DIGITS = "0123456789"
STEPS = 60
GROUP_SIZE = 8


def tokenizer() -> Any:
    """One token for each digit, for the question mark and for the end."""
    vocabulary = {token: place for place, token in enumerate(["<pad>", "<eos>", *DIGITS, "?"])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    made.decoder = tokenizers.decoders.Fuse()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="?"
    )


def model(vocabulary_size: int) -> Any:
    """A Llama of some thousand parameters."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=vocabulary_size,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    return transformers.LlamaForCausalLM(config)


def problems() -> Dataset:
    """Each digit as a question, with itself as the answer."""
    rows = [{"prompt": f"{digit}?", "solution": digit} for digit in DIGITS]
    return Dataset.from_list(rows * 100)


def settings(folder: str, steps: int) -> GRPOConfig:
    """GRPO with a high learning rate, which a model this small needs."""
    return GRPOConfig(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=10 * GROUP_SIZE,
        num_generations=GROUP_SIZE,
        max_completion_length=1,
        learning_rate=1e-2,
        lr_scheduler_type="constant",
        logging_steps=1,
        use_cpu=True,
        bf16=False,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        seed=1,
    )


def main(figure: Path, steps: int) -> None:
    """Train, print how the reward changed, and draw it."""
    reads = tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model(len(reads)),
            processing_class=reads,
            reward_funcs=[RewardFunction(column="solution")],
            train_dataset=problems(),
            args=settings(folder, steps),
        )
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
    rewards = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    print(f"mean reward: {rewards[0]:.3f} at step 1, {rewards[-1]:.3f} at step {len(rewards)}")
    draw(rewards, figure)


def draw(rewards: list[float], path: Path) -> None:
    """The mean reward over the steps."""
    figure = Figure(figsize=(7, 2.6))
    axes = figure.subplots()
    axes.plot(range(1, len(rewards) + 1), rewards, color="#4063b8")
    axes.set_ylim(0, 1)
    axes.set_xlabel("step")
    axes.set_ylabel("mean reward")
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "trl_grpo.svg"),
        int(sys.argv[2]) if len(sys.argv) > 2 else STEPS,
    )
