"""One line per decision: JSON for machines, readable text on a terminal; and counters beside them.

The core logs with the standard library: a word as the message, the facts under ``extra["a2a"]``.
Facts are ids and numbers; never the content of a message, a URL with credentials, or a secret.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import Counter
from contextvars import ContextVar

counts: Counter[str] = Counter()
"""How often each decision was made in this process; the hook for metrics."""


request: ContextVar[str] = ContextVar("request", default="")
"""The id of the request (an HTTP call, an invocation) that the running code serves."""


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line: time (UTC), level, the words, the facts."""
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request.get():
            line["request"] = request.get()
        line = {**getattr(record, "a2a", {}), **line}  # facts never win over the words
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class Readable(logging.Formatter):
    """A record for a person: time, words, facts."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        facts = " ".join(f"{k}={v}" for k, v in getattr(record, "a2a", {}).items())
        mark = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        text = f"{clock} {mark}{record.getMessage()}" + (f"  {facts}" if facts else "")
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return text


class Counting(logging.Handler):
    """Counts decisions: records that carry facts."""

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        if hasattr(record, "a2a"):
            counts[record.getMessage()] += 1


def set_up_logs(mode: str = "auto") -> None:
    """Send a2a-fn's log to stderr; ``mode``: json, text, or auto (text on a terminal)."""
    json_lines = mode == "json" or (mode == "auto" and not sys.stderr.isatty())
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if json_lines else Readable())
    root = logging.getLogger("a2a_fn")
    root.handlers[:] = [handler, Counting()]
    root.setLevel(logging.INFO)
    root.propagate = False
    server = logging.getLogger("uvicorn.error")
    server.handlers[:] = [handler]
    server.setLevel(logging.WARNING)
    server.propagate = False
