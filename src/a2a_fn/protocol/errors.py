"""What a client is told when something goes wrong: one table, from exception to answer.

The a2a-sdk's maps give the A2A errors their codes; ours are added below. A subclass is answered
as its nearest listed class. Whatever is not listed is a bug: the client gets a reference id, the
log gets the rest. Only messages of a2a-sdk errors, which are written for clients, are passed on.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from a2a.utils.errors import (
    A2A_ERROR_MAPPING,
    JSON_RPC_ERROR_CODE_MAP,
    A2AError,
    InternalError,
    InvalidParamsError,
    JSONParseError,
    TaskNotFoundError,
)

from ..errors import Conflict, NotFound, TooLarge, Unavailable

logger = logging.getLogger(__name__)

DOMAIN = "a2a-protocol.org"
RETRY_AFTER = 1
"""Seconds that a client is asked to wait when an engine did not answer."""


class Outcome(NamedTuple):
    """A row of the table. ``message`` replaces the exception's own text, which stays private."""

    code: int
    http: int
    status: str
    reason: str
    message: str = ""


def _sdk_rows() -> dict[type[Exception], Outcome]:
    rows: dict[type[Exception], Outcome] = {
        error: Outcome(JSON_RPC_ERROR_CODE_MAP[error], row.http_code, row.grpc_status, row.reason)
        for error, row in A2A_ERROR_MAPPING.items()
    }
    code = JSON_RPC_ERROR_CODE_MAP[JSONParseError]
    rows[JSONParseError] = Outcome(code, 400, "INVALID_ARGUMENT", "PARSE_ERROR")
    return rows


_INTERNAL = JSON_RPC_ERROR_CODE_MAP[InternalError]
_INVALID = JSON_RPC_ERROR_CODE_MAP[InvalidParamsError]
_BUSY = Outcome(
    _INTERNAL, 503, "UNAVAILABLE", "UNAVAILABLE", "The agent cannot answer now: try again."
)

TABLE: Mapping[type[Exception], Outcome] = {
    **_sdk_rows(),
    Unavailable: _BUSY,
    Conflict: _BUSY,
    NotFound: Outcome(
        JSON_RPC_ERROR_CODE_MAP[TaskNotFoundError],
        404,
        "NOT_FOUND",
        "TASK_NOT_FOUND",
        TaskNotFoundError.message,
    ),
    TooLarge: Outcome(
        _INVALID,
        413,
        "INVALID_ARGUMENT",
        "CONTENT_TOO_LARGE",
        "The content is larger than this agent can keep: send less of it.",
    ),
}
"""Exception class -> JSON-RPC code, HTTP status of the HTTP+JSON binding, google.rpc status and
reason.

The JSON-RPC binding answers HTTP 200 whatever the code, with one exception: 503, so that
gateways and clients' retry logic see that the request may be sent again.
"""

_UNEXPECTED = Outcome(_INTERNAL, 500, "INTERNAL", "INTERNAL_ERROR", "Internal error")


class Fault(NamedTuple):
    """An error as every binding tells it; ``details`` are google.rpc objects with ``@type``."""

    outcome: Outcome
    message: str
    details: tuple[dict[str, Any], ...]

    @property
    def retry_after(self) -> int | None:
        """Seconds until the client may try again, for an error that will pass."""
        return RETRY_AFTER if self.outcome.http == 503 else None

    def jsonrpc(self) -> dict[str, Any]:
        """The ``error`` member of a JSON-RPC response."""
        return {
            "code": self.outcome.code,
            "message": self.message,
            "data": list(self.details),
        }

    def http(self) -> dict[str, Any]:
        """The body of an HTTP+JSON response: a google.rpc.Status as JSON."""
        return {
            "error": {
                "code": self.outcome.http,
                "status": self.outcome.status,
                "message": self.message,
                "details": list(self.details),
            }
        }


def invalid(field: str, message: str) -> InvalidParamsError:
    """The error for one field of a request: ``message`` is what its value must be."""
    fault = {"field": field, "message": message}
    return InvalidParamsError(f"{field} {message}", data={"errors": [fault]})


def describe(error: BaseException, request_id: str = "") -> Fault:
    """The answer to a client for an exception; a bug is logged with its trace and a reference."""
    outcome = next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), None)
    if outcome is None:
        reference = os.urandom(8).hex()
        logger.error(
            "unexpected error, reference %s, request %s", reference, request_id, exc_info=error
        )
        details = (_info(_UNEXPECTED, {"reference": reference}),)
        return Fault(_UNEXPECTED, _UNEXPECTED.message, details)
    if outcome.http == 503:
        # one line, without its trace: anybody can ask often while something is down
        words = " ".join(str(error).split())
        cause = f" ({type(error.__cause__).__name__})" if error.__cause__ else ""
        logger.warning(
            "unavailable, request %s: %s: %s%s", request_id, type(error).__name__, words, cause
        )
        retry = {"@type": _type("RetryInfo"), "retryDelay": f"{RETRY_AFTER}s"}
        return Fault(outcome, outcome.message, (_info(outcome, {}), retry))
    if not isinstance(error, A2AError):
        return Fault(outcome, outcome.message, (_info(outcome, {}),))
    data = error.data if isinstance(error.data, dict) else {}
    return Fault(outcome, str(error.message), tuple(_details(outcome, data)))


def _details(outcome: Outcome, data: dict[str, Any]) -> list[dict[str, Any]]:
    violations = data.get("errors")
    try:
        fields = [
            {"field": str(one["field"]), "description": str(one["message"])}
            for one in violations or ()
        ]
    except (KeyError, TypeError):  # an executor's own use of the name "errors"
        fields = []
    if not fields:
        return [_info(outcome, data)]
    rest = {key: value for key, value in data.items() if key != "errors"}
    rest["fields"] = ", ".join(one["field"] for one in fields)
    return [
        _info(outcome, rest),
        {"@type": _type("BadRequest"), "fieldViolations": fields},
    ]


def _info(outcome: Outcome, metadata: dict[str, Any]) -> dict[str, Any]:
    # ErrorInfo.metadata is a map of strings; another SDK parses it as the proto type.
    return {
        "@type": _type("ErrorInfo"),
        "reason": outcome.reason,
        "domain": DOMAIN,
        "metadata": {str(key): str(value) for key, value in metadata.items()},
    }


def _type(name: str) -> str:
    return f"type.googleapis.com/google.rpc.{name}"
