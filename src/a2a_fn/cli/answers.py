"""What comes back from a server: a result, a refusal, or nothing at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message

from .failures import Exit, Failure

_M = TypeVar("_M", bound=Message)


class Lost(Failure):
    """The connection broke, or the server cannot answer now; asking again may help.

    `sent` says that the server may have acted on the request; `after` is its Retry-After in s.
    """

    def __init__(self, message: str, *, sent: bool = False, after: float = 0.0) -> None:
        super().__init__(message, Exit.UNREACHABLE)
        self.sent = sent
        self.after = after


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
    host = urlsplit(url).netloc.rpartition("@")[2]
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
    host = response.url.netloc.decode().rpartition("@")[2]
    if status in (401, 403):
        raise Failure(f"{host} wants other credentials for this (HTTP {status})")
    if status == 413:
        raise Failure(f"the message is larger than {host} takes (HTTP 413)")
    if status == 429 or status >= 500:
        wait = response.headers.get("retry-after", "")
        after = float(wait) if wait.isascii() and wait.isdigit() else 0.0
        hint = f"; try again in {wait} s" if after else ""
        raise Lost(f"{host} cannot answer now (HTTP {status}){hint}", after=after)
    raise Failure(f"{response.url} answered HTTP {status}: is this the URL of an A2A agent?")


def read_json(response: httpx.Response) -> Any:
    """The JSON of a response."""
    try:
        return response.json()
    except ValueError as e:
        raise Failure(f"{response.url} did not answer with JSON: is this an A2A agent?") from e


def read_event(data: str, into: _M) -> _M:
    """The result of a JSON-RPC response that came as an event's data."""
    try:
        body = json.loads(data)
    except ValueError as e:
        raise Failure("the server sent an event that is not JSON", Exit.UNREACHABLE) from e
    return _read_answer(body, into)


def read_result(response: httpx.Response, into: _M) -> _M:
    """The result of a JSON-RPC response."""
    if response.status_code in (429, 502, 503, 504):
        check_status(response)
    if response.status_code >= 300:
        try:
            body = response.json()
        except ValueError:
            body = None
        # An error's own words say more than the HTTP status that it came with.
        if not (isinstance(body, dict) and isinstance(body.get("error"), dict)):
            check_status(response)
    return _read_answer(read_json(response), into)


def _read_answer(body: Any, into: _M) -> _M:
    if not isinstance(body, dict) or not ("result" in body or "error" in body):
        raise Failure("the server's answer is not JSON-RPC", Exit.UNREACHABLE)
    error = body.get("error")
    if error is not None:
        raise _refusal(error if isinstance(error, dict) else {})
    return parse(body["result"], into, type(into).__name__)


def _refusal(error: dict[str, Any]) -> Refused:
    number = error.get("code")
    number = number if isinstance(number, int) else _INTERNAL
    text = str(error.get("message") or f"error {number}")
    details = error.get("data")
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
