"""Entry point of `trainer-client`."""

from __future__ import annotations

import importlib.util
import sys


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    needed = (
        *("datasets", "peft", "pydantic", "rich", "safetensors", "tensorboard"),
        *("torch", "transformers", "typer", "yaml"),
    )
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(
            f"trainer-client needs {', '.join(missing)}: pip install 'reward-verifier[trainer]'"
        )
    from trainer_client.cli import run  # noqa: PLC0415  only now is it known to be importable

    run()


if __name__ == "__main__":
    main()
