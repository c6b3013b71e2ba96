"""Entry point of `verifier-service`."""

from __future__ import annotations

import gc
import importlib.util
import sys

from verifier_service.workers.server_process import start_early


def main() -> None:
    """Run the command line, or say how to install its missing dependencies."""
    needed = (
        *("fastapi", "jsonschema", "math_verify", "msgspec", "prometheus_client"),
        *("pydantic_settings", "re2", "rich", "typer", "uvicorn", "yaml", "zstandard"),
    )
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(
            f"verifier-service needs {', '.join(missing)}: pip install 'reward-verifier[service]'"
        )
    if sys.argv[1:2] in (["serve"], ["score"]) and not {"--help", "-h"} & set(sys.argv):
        # The imports of workers take as long as those of this process: all go on at once.
        start_early("verifier_service.workers.text_worker")
        start_early("verifier_service.workers.code_worker")
    from verifier_service.plugins import PluginError  # noqa: PLC0415  now it can be imported

    gc.disable()  # collections take a tenth of the time to load modules, and find nothing
    try:
        from verifier_service.cli import app_for, run  # noqa: PLC0415

        app = app_for(sys.argv[1:])
    except PluginError as error:
        sys.exit(str(error))
    gc.freeze()  # nor do later ones look at the modules again
    gc.enable()
    run(sys.argv[1:], app)


if __name__ == "__main__":
    main()
