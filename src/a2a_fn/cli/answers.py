"""What comes back from a server: a result, a refusal, or nothing at all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message

from .failures import Exit, Failure
from .origins import origin_of, without_query

_M = TypeVar("_M", bound=Message)


class Lost(Failure):
    """The connection broke, or the server cannot answer now; asking again may help.

    `sent` says that the server may have acted on the request; `after` is its Retry-After in s.
    """

    def __init__(self, message: str, *, sent: bool = False, after: float = 0.0) -> None:
        super().__init__(message, Exit.UNREACHABLE)
        self.sent = sent
        self.after = after


class Denied(Failure):
    """The server wants other credentials."""


class Refused(Failure):
    """The server answered with an A2A error; `error` is its JSON-RPC code."""

    def __init__(self, message: str, error: int, code: Exit) -> None:
        super().__init__(message, code)
        self.error = error


class TimedOut(Failure):
    """The time that the user gave is over."""

    def __init__(self) -> None:
        super().__init__("no answer within --timeout", Exit.UNREACHABLE)


TASK_NOT_FOUND, TASK_NOT_CANCELABLE, UNSUPPORTED = -32001, -32002, -32004
_INTERNAL, _INVALID_AGENT_RESPONSE = -32603, -32006


@contextmanager
def reaching(url: str, *, sends: bool = False) -> Iterator[None]:
    """Translate what httpx raises into Lost; `sends`: the request asks for an effect."""
    host = origin_of(url)
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as e:
        raise Lost(f"cannot connect to {host}: is the server running there? ({e})") from e
    except httpx.TimeoutException as e:
        raise Lost(f"{host} did not answer in time", sent=sends) from e
    except httpx.HTTPError as e:
        raise Lost(f"the connection to {host} broke: {e}", sent=sends) from e
    except (httpx.InvalidURL, UnicodeError) as e:
        raise Failure(f"{url} is not a usable URL: {e}") from e


def check_status(response: httpx.Response) -> None:
    """Raise what an HTTP error status means for the user; nothing for success."""
    status = response.status_code
    if status < 300:
        return
    url = str(response.url)
    host = origin_of(url)
    if status == 413:
        raise Failure(f"the message is larger than {host} takes (HTTP 413)")
    if status in (404, 405, 501) and response.request.method == "DELETE":
        raise Failure(
            f"{without_query(url)} takes no DELETE (HTTP {status}), as HTTP+JSON of A2A 0.3 often "
            "does not: --binding jsonrpc may"
        )
    if status == 429 or status >= 500:
        after = _retry_after(response)
        hint = f"; try again in {after:.0f} s" if after else ""
        what = "gets too many requests" if status == 429 else "cannot answer now"
        raise Lost(f"{host} {what} (HTTP {status}){hint}", after=after)
    if status < 400:
        moved = without_query(response.headers.get("location", "elsewhere"))
        raise Failure(f"{without_query(url)} has moved to {moved} (HTTP {status}): use that URL")
    raise Failure(
        f"{without_query(url)} answered HTTP {status}{words_of(response)}: "
        "is this the URL of an A2A agent?"
    )


def _retry_after(response: httpx.Response) -> float:
    """Retry-After in s, which may be a number or a date; 0 if there is none."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def words_of(response: httpx.Response) -> str:
    """`: "what the server says"` of an error that is a JSON document; "" for any other."""
    try:
        body = response.json()
    except (ValueError, httpx.ResponseNotRead):
        return ""
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return f': "{message[:200]}"' if isinstance(message, str) and message else ""


def read_json(response: httpx.Response) -> Any:
    """The JSON of a response."""
    try:
        return response.json()
    except ValueError as e:
        url = without_query(str(response.url))
        raise Failure(f"{url} did not answer with JSON: is this an A2A agent?") from e


def refusal(number: object, message: object, details: object) -> Refused:
    """An A2A error by its JSON-RPC code, its text, and the google.rpc details it came with."""
    number = number if isinstance(number, int) else _INTERNAL
    text = str(message or f"error {number}")
    faults = [
        f"{fault.get('field')}: {fault.get('description')}"
        for detail in (details if isinstance(details, list) else ())
        if isinstance(detail, dict)
        for fault in detail.get("fieldViolations") or ()
        if isinstance(fault, dict)
    ]
    faults = [fault for fault in faults if fault.partition(": ")[2] not in text]
    if faults:
        text += f" ({'; '.join(faults)})"
    code = Exit.USAGE
    if number in (_INTERNAL, _INVALID_AGENT_RESPONSE):
        code = Exit.UNREACHABLE
    if number == TASK_NOT_CANCELABLE:
        code = Exit.FAILED
    return Refused(f"the server refused: {text}", number, code)


def parse(value: Any, into: _M, name: str) -> _M:
    """A JSON value as a proto message; `name` is what to call it. Unknown fields are let pass:
    a server of a later version may say more than these types know."""
    try:
        if not isinstance(value, dict):
            raise ParseError("it is not an object")
        ParseDict(value, into, ignore_unknown_fields=True)
    except ParseError as e:
        raise Failure(f"the server's {name} is not valid: {e}", Exit.UNREACHABLE) from e
    return into
