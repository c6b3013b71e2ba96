"""Rewards inside a Ray job, from a fleet on the same cluster, without HTTP.

    serve deploy deploy/ray/serve.yaml
    ray job submit --working-dir examples -- python ray_rewards.py

Each rollout worker is an actor, as in verl and SkyRL, and asks a gateway through a handle of Ray
Serve. In a verl job the same address is a setting:

    reward.custom_reward_function.path=pkg://verifier_adapters.verl
    reward.custom_reward_function.reward_kwargs.url=serve://verifier
"""

from __future__ import annotations

import ray

from verifier_adapters.ray import verifier_at

GROUPS = [
    ("12 * 12", "144", [r"It is \boxed{144}.", r"It is \boxed{124}."]),
    ("1/2 + 1/4", "3/4", [r"\boxed{0.75}", r"\boxed{\frac{3}{4}}", r"\boxed{1/6}"]),
]


@ray.remote(num_cpus=0)
class RolloutWorker:
    """Scores the completions that it has sampled."""

    def __init__(self, address: str) -> None:
        self.verifier = verifier_at(address)

    async def rewards(self, completions: list[str], answer: str) -> list[float | None]:
        """The reward of each completion; None where it cannot be judged."""
        scored = await self.verifier.score_async(completions, {"answer": answer})
        return [one.reward for one in scored]


def main(address: str = "serve://verifier") -> list[list[float | None]]:
    """Print the rewards of each group, and return them."""
    workers = [RolloutWorker.remote(address) for _ in range(2)]
    asked = [
        worker.rewards.remote(completions, answer)
        for worker, (_, answer, completions) in zip(workers, GROUPS, strict=True)
    ]
    rewards: list[list[float | None]] = ray.get(asked)
    for (prompt, _, _), found in zip(GROUPS, rewards, strict=True):
        print(f"{prompt}: {found}")
    return rewards


if __name__ == "__main__":
    ray.init(address="auto")
    main()
