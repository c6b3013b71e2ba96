"""One self-contained HTML page about a run: the one number, curves, reasons, rollouts, warnings.

The page is `report_template.html` beside this file with the data put in; it loads nothing from
elsewhere. Its policy lets it run its own script only, and make no markup from texts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from trainer_client.errors import writing
from trainer_client.run.logged_run import LoggedRun, ReportError
from trainer_client.run.report_charts import charts, reasons
from trainer_client.run.report_rollouts import rollouts
from trainer_client.run.report_summary import facts, headline, summarise_run
from trainer_client.run.rollout_log import PASSING_SCORE

TEMPLATE = Path(__file__).with_name("report_template.html")
DATA, POLICY = "/*DATA*/null", "/*POLICY*/"
"""Places in the template."""


def write_report(run_dir: Path, output: Path) -> list[str]:
    """Write the page; returns its summary, one sentence each.

    Raises:
        ReportError: the folder holds no run, or a run without a finished step.
        ConfigError: its configuration cannot be read.
        TrainerError: the page cannot be written.
    """
    run = LoggedRun.read(run_dir)
    if not run.steps:
        raise ReportError(f"{run_dir} holds no run with a finished step yet")
    data = report_data(run)
    with writing(output):
        output.write_text(page(json.dumps(data, separators=(",", ":"))))
    summary: list[str] = data["summary"]
    return summary


def report_data(run: LoggedRun) -> dict[str, Any]:
    """Everything that the page shows."""
    return {
        "title": run.folder.resolve().name,
        "last_step": run.last_step,
        "num_steps": run.config.train.steps,
        "finished": run.finished,
        "stopped": run.stop is not None,
        "main": run.config.main.key,
        "passing_score": PASSING_SCORE,
        "headline": headline(run),
        "facts": facts(run),
        "summary": summarise_run(run),
        "charts": charts(run),
        "reasons": reasons(run),
        "warnings": run.warnings,
        "rollouts": rollouts(run),
        "config": run.config_text,
    }


def page(data: str, *, connect: str = "'none'") -> str:
    """The page with its data in JSON.

    Args:
        data: result of `report_data`; "null": the page asks for it.
        connect: sources of the policy that the page may ask.
    """
    # Unescaped, "</script" in a completion would end the element that holds the data, and
    # "<!--<script" would hide its end.
    return _template().replace(POLICY, policy(connect)).replace(DATA, data.replace("<", "\\u003c"))


def policy(connect: str) -> str:
    """The policy under which the page runs its own script and style and no others."""
    script, style = (_hash_of(tag) for tag in ("script", "style"))
    return (
        f"default-src 'none'; script-src {script}; style-src {style}; connect-src {connect}; "
        "img-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


@cache
def _hash_of(tag: str) -> str:
    """The hash of the template's one element of a tag without attributes, as a source."""
    (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", _template(), re.DOTALL)
    return f"'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'"


@cache
def _template() -> str:
    return TEMPLATE.read_text(encoding="utf-8")
