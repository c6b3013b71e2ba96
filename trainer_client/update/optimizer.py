"""The optimizers and their learning-rate schedule."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import nn
from torch.optim import AdamW, Muon, Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler
from transformers import PreTrainedModel, get_scheduler

from trainer_client.config.optimizer_section import OptimizerConfig
from trainer_client.config.run_config import ConfigError


class MuonWithAdamW(Optimizer):
    """Muon for the matrices of the layers, AdamW for all other weights, as one optimizer.

    Muon (https://kellerjordan.github.io/posts/muon) makes a matrix's update orthogonal. Its
    learning rate is scaled as in Moonlight (arXiv 2502.16982), so that one which suits AdamW suits
    it too.

    Args:
        matrices: weights of two dimensions.
        others: embeddings, the output layer, norms and biases.
        config: learning rate and weight decay of both, and AdamW's betas.
    """

    def __init__(
        self,
        matrices: Sequence[nn.Parameter],
        others: Sequence[nn.Parameter],
        config: OptimizerConfig,
    ) -> None:
        shared: dict[str, Any] = {"lr": config.learning_rate, "weight_decay": config.weight_decay}
        by_muon = Muon(matrices, **shared, adjust_lr_fn="match_rms_adamw") if matrices else None
        by_adamw = AdamW(others, **shared, betas=config.betas) if others else None
        self._parts = [one for one in (by_muon, by_adamw) if one is not None]
        super().__init__([group for one in self._parts for group in one.param_groups], {})

    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Update all weights; both parts read and write this optimizer's groups and state."""
        for part, group in zip(self._parts, self.param_groups, strict=True):
            part.param_groups, part.state = [group], self.state
            part.step()  # type: ignore[no-untyped-call]


def make_optimizer(
    model: PreTrainedModel, config: OptimizerConfig, *, num_steps: int
) -> tuple[Optimizer, LRScheduler]:
    """The optimizer of the trainable weights; its rate warms up from 0, then follows the schedule.

    Raises:
        ConfigError: `optimizer.type` needs what this machine does not have, or all weights are
            frozen.
    """
    optimizer = _optimizer(model, config)
    name = "constant_with_warmup" if config.schedule == "constant" else config.schedule
    scheduler = get_scheduler(
        name, optimizer, num_warmup_steps=config.warmup_steps, num_training_steps=num_steps
    )
    return optimizer, scheduler


def _optimizer(model: PreTrainedModel, config: OptimizerConfig) -> Optimizer:
    trained = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
    if not trained:
        raise ConfigError(
            "model.path: all weights of the model are frozen, so nothing would be trained: call "
            "model.requires_grad_(True), or set model.lora"
        )
    if config.type == "muon":
        by_adamw = {id(one) for one in _tables(model)}
        matrices = [one for _, one in trained if one.dim() == 2 and id(one) not in by_adamw]
        others = [one for _, one in trained if one.dim() != 2 or id(one) in by_adamw]
        return MuonWithAdamW(matrices, others, config)
    adamw: Any = AdamW
    options: dict[str, Any] = {"fused": True if model.device.type == "cuda" else None}
    if config.type == "adamw_8bit":
        adamw, options = _adamw_8bit(), {}
    optimizer: Optimizer = adamw(
        [one for _, one in trained],
        lr=config.learning_rate,
        betas=config.betas,
        weight_decay=config.weight_decay,
        **options,
    )
    return optimizer


def _tables(model: PreTrainedModel) -> Iterable[nn.Parameter]:
    """The weights of all embeddings, those of positions included, and of the output layer.

    Their rows belong to single tokens or places, so that they are no linear maps.
    """
    embeddings = [one for one in model.modules() if isinstance(one, nn.Embedding)]
    for module in (*embeddings, model.get_input_embeddings(), model.get_output_embeddings()):
        if module is not None:
            yield from module.parameters()


def _adamw_8bit() -> Any:
    """The class of AdamW with moments in 8 bits (arXiv 2110.02861); raises ConfigError."""
    if importlib.util.find_spec("bitsandbytes") is None or not torch.cuda.is_available():
        raise ConfigError(
            "optimizer.type: adamw_8bit needs a CUDA device and bitsandbytes "
            "(pip install bitsandbytes)"
        )
    return importlib.import_module("bitsandbytes.optim").AdamW8bit


def resume_schedule(scheduler: LRScheduler, rates: Sequence[float]) -> None:
    """Go on at the schedule's place with other rates.

    Args:
        scheduler: made by `make_optimizer`.
        rates: the rate of each group of weights before warm-up and decay.
    """
    assert isinstance(scheduler, LambdaLR)
    scheduler.base_lrs = list(rates)
    groups = scheduler.optimizer.param_groups
    for group, rate, factor in zip(groups, rates, scheduler.lr_lambdas, strict=True):
        group["lr"] = rate * factor(scheduler.last_epoch)
    scheduler._last_lr = [group["lr"] for group in groups]
