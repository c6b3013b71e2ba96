"""The service's log: lines of text, or of JSON, without any text of requests or models."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any, Literal

from verifier_service.current_call import request_id

LogFormat = Literal["text", "json"]
LISTENING = "running on http://%s:%d (CTRL+C ends it)"
"""Message about a host and a port at which calls are answered from now on. Whoever starts a service
at any free port, as the trainer's demonstration does, finds the address in it."""


class CallFilter(logging.Filter):
    """Gives each record the id of the call in which it was made, unless its fields have one."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the record."""
        call_id = request_id()
        is_named = call_id is None or "request_id" in getattr(record, "fields", {})
        vars(record).update(request_id=call_id, call="" if is_named else f" request_id={call_id}")
        return True


class JsonFormatter(logging.Formatter):
    """A JSON object for each record: time, level, logger, message, and the record's `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of JSON."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        fields = getattr(record, "fields", None)
        line |= fields if isinstance(fields, dict) else {"message": record.getMessage()}
        call_id = getattr(record, "request_id", None)
        if call_id is not None:
            line.setdefault("request_id", call_id)
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_config(level: str, log_format: LogFormat) -> dict[str, Any]:
    """The configuration for `logging.config.dictConfig`, without uvicorn's line for each call."""
    text = {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s%(call)s"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": text if log_format == "text" else {"()": JsonFormatter}},
        "filters": {"call": {"()": CallFilter}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["call"],
            }
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "uvicorn": {"level": level.upper()},
            "verifier_service": {"level": level.upper()},
        },
    }


def log_in_worker() -> None:
    """Let a process that judges write its warnings to standard error, with the id of the call."""
    handler = logging.StreamHandler()
    handler.addFilter(CallFilter())
    logging.basicConfig(format="%(message)s%(call)s", handlers=[handler])


def raised_at(error: BaseException) -> str:
    """File and line of an error and of up to four callers, for the log.

    They are logged instead of the error's message, which may have text of a model.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames[-5:]))
