"""Entry point of `verifier-service`."""

from __future__ import annotations

import importlib.util
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def main() -> None:
    """Run the command line, or say how to install its missing dependencies."""
    needed = (
        *("fastapi", "jsonschema", "math_verify", "msgspec", "prometheus_client"),
        *("pydantic_settings", "re2", "uvicorn", "yaml", "zstandard"),
    )
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(
            f"verifier-service needs {', '.join(missing)}: pip install 'reward-verifier[service]'"
        )
    from verifier_service.plugins import PluginError  # noqa: PLC0415  now it can be imported

    try:
        from verifier_service.cli import run  # noqa: PLC0415
    except PluginError as error:
        sys.exit(str(error))
    with _while_it_is_read():
        run()


@contextmanager
def _while_it_is_read() -> Iterator[None]:
    """End without a message when nobody reads the output any more, as under `head`."""
    try:
        try:
            yield
        finally:
            print(end="", flush=True)  # noqa: T201  at exit, nobody would catch the error
    except BrokenPipeError:
        output = select.poll()
        output.register(sys.stdout.fileno(), 0)
        if not output.poll(0):
            raise  # another pipe broke, not standard output
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # or the flush at exit would fail too
        sys.exit(1)


if __name__ == "__main__":
    main()
