"""The derivatives of a micro-batch's loss, token by token, before the whole loss exists.

Most losses are sums over tokens, each of which hangs on its own log-probability and on numbers
that are there already. So the output layer can make its gradient while it has a token's logits.

Shapes: N tokens in the loss, of which n at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from trainer_client.config.loss_section import LossConfig
from trainer_client.policy.logit_passes import Slopes
from trainer_client.update.loss import policy_loss


@dataclass(frozen=True, kw_only=True)
class TokenSlopes:
    """The numbers behind each token's loss; see `policy_loss`, each of its tensors under the mask.

    It is a `SlopesOf`. A token is to it a sequence of one token.
    """

    config: LossConfig
    """Its `is_by_token` is true."""
    sampler_logprobs: Tensor
    """float `[N]`."""
    advantages: Tensor
    """float `[N]`, that of the token's sequence."""
    weights: Tensor
    """float `[N]`."""
    fresh: Tensor
    """bool `[N]`."""
    reference_logprobs: Tensor | None
    """float `[N]`."""
    proximal_logprobs: Tensor | None
    """float `[N]`."""
    selected: Tensor | None
    """bool `[N]`."""
    entropy_weight: float
    """Factor of a fresh token's entropy in the loss; 0: it is not in the loss."""

    def __call__(self, rows: slice, logprobs: Tensor, entropy: Tensor) -> Slopes:
        """The derivatives at these tokens; both arguments are float `[n]`."""

        def column(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor[rows, None]

        with torch.enable_grad():
            policy_logprobs = logprobs.detach()[:, None].requires_grad_()
            terms = policy_loss(
                policy_logprobs,
                self.sampler_logprobs[rows, None],
                self.advantages[rows],
                torch.ones_like(policy_logprobs, dtype=torch.bool),
                self.weights[rows, None],
                self.config,
                reference_logprobs=column(self.reference_logprobs),
                proximal_logprobs=column(self.proximal_logprobs),
                selected=column(self.selected),
                fresh=self.fresh[rows, None],
            )
            (of_logprobs,) = torch.autograd.grad(terms.loss, policy_logprobs)
        of_entropy = self.entropy_weight * self.fresh[rows] if self.entropy_weight else None
        return Slopes(of_logprobs[:, 0], of_entropy)
