"""A small A2A 1.0 client: JSON-RPC over HTTP, streams with their ids.

Why not the SDK's: it drops SSE ids, so it cannot resume; it gives up after 5 s of silence; and it
takes twice as long to import. The proto types are the SDK's.
"""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import httpx
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    ListTasksResponse,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
)
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message

from .failures import Exit, Failure
from .sse import read_frames

BODY_LIMIT = 10 * 1024 * 1024  # bytes of a request; servers answer 413 above it
SILENCE = 60.0  # s without a byte after which a stream counts as lost (keep-alives come in 4 to 15)
WELL_KNOWN = "/.well-known/agent-card.json"

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


TASK_NOT_FOUND, TASK_NOT_CANCELABLE, UNSUPPORTED = -32001, -32002, -32004
_INTERNAL, _INVALID_AGENT_RESPONSE = -32603, -32006


@dataclass(frozen=True, slots=True)
class Item:
    """One response of a stream, with its SSE id ("" where the server sends none)."""

    response: StreamResponse
    id: str = ""


class Client:
    """One agent, found by its URL. `timeout` is the time in seconds for the whole command."""

    def __init__(self, url: str, timeout: float | None = None) -> None:
        try:
            parts = urlsplit(url if "//" in url else f"http://{url}")
            good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # of the address in brackets, or the port
            good = False
        if not good:
            raise Failure(f"{url!r} is not an http(s) URL, such as http://127.0.0.1:8080")
        self.url = parts.geturl()
        self.deadline = None if timeout is None else time.monotonic() + timeout
        # A proxy from the environment has nothing to do with an agent on this machine.
        self._http = httpx.Client(trust_env=not _is_loopback(parts.hostname or ""))
        self._card: AgentCard | None = None
        self._calls = 0

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def remaining(self, most: float) -> float:
        """At most `most` seconds, and not past the deadline, which is a Failure once it is over."""
        if self.deadline is None:
            return most
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Failure("no answer within --timeout", Exit.UNREACHABLE)
        return min(most, left)

    def card_json(self) -> dict[str, Any]:
        """The agent's card as served: below the URL, else at the root of its host."""
        if urlsplit(self.url).path.endswith(".json"):
            places = [self.url]
        else:
            places = [self.url.rstrip("/") + WELL_KNOWN, urljoin(self.url, WELL_KNOWN)]
        for place in dict.fromkeys(places):
            response = self._send("GET", place)
            if response.status_code != 404:
                _check_status(response)
                card = _json(response)
                if not isinstance(card, dict):
                    raise Failure(f"{place} is not an agent card")
                return card
        raise Failure(f"there is no agent card at {places[0]}: is this the URL of an A2A agent?")

    def card(self) -> AgentCard:
        """The agent's card, read once."""
        if self._card is None:
            self._card = _parse(self.card_json(), AgentCard(), "agent card")
        return self._card

    def endpoint(self) -> tuple[str, str]:
        """URL and tenant of the JSON-RPC 1.x interface on the card."""
        offers = []
        for interface in self.card().supported_interfaces:
            if interface.protocol_binding == "JSONRPC" and interface.protocol_version[:2] == "1.":
                return urljoin(self.url, interface.url), interface.tenant
            offers.append(f"{interface.protocol_binding} {interface.protocol_version}")
        has = ", ".join(offers) or "no A2A 1.0 interface"
        raise Failure(f"a2a-fn speaks JSON-RPC of A2A 1.0; the card of {self.url} offers {has}")

    def send(self, request: SendMessageRequest) -> StreamResponse:
        """SendMessage: the task as it stands when the server answers, or a message."""
        # The spec lets a blocking answer take as long as the turn does.
        return self._call("SendMessage", request, StreamResponse(), silence=3600.0)

    def stream(self, request: SendMessageRequest) -> Iterator[Item]:
        """SendStreamingMessage."""
        return self._stream("SendStreamingMessage", request)

    def subscribe(self, task: str, after: str = "") -> Iterator[Item]:
        """SubscribeToTask, from the event after the SSE id `after`."""
        return self._stream("SubscribeToTask", SubscribeToTaskRequest(id=task), after)

    def task(self, task: str, history: int | None = None) -> Task:
        """GetTask, with the last `history` messages (None: as many as the server gives)."""
        return self._call("GetTask", GetTaskRequest(id=task, history_length=history), Task())

    def tasks(self, request: ListTasksRequest) -> ListTasksResponse:
        """ListTasks, one page."""
        return self._call("ListTasks", request, ListTasksResponse())

    def cancel(self, task: str) -> Task:
        """CancelTask."""
        return self._call("CancelTask", CancelTaskRequest(id=task), Task())

    def download(self, url: str, limit: int) -> bytes:
        """The bytes at a URL of the agent's own host, at most `limit` of them."""
        base, _ = self.endpoint()
        place = urljoin(base, url)
        if urlsplit(place)[:2] != urlsplit(base)[:2]:
            raise Failure(f"not fetched, since it is not on the agent's host: {url}")
        # The agent's host may point on to its blob store.
        timeout = httpx.Timeout(self.remaining(SILENCE))
        with (
            _reaching(place),
            self._http.stream("GET", place, timeout=timeout, follow_redirects=True) as response,
        ):
            _check_status(response)
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > limit:
                    raise Failure(f"{url} is larger than {limit >> 20} MiB")
            return bytes(data)

    def _call(self, method: str, request: Message, into: _M, silence: float = SILENCE) -> _M:
        url, body = self._body(method, request)
        response = self._send("POST", url, silence, content=body, headers=_headers())
        return _result(response, into)

    def _stream(self, method: str, request: Message, after: str = "") -> Iterator[Item]:
        url, body = self._body(method, request)
        headers = {**_headers(), "Accept": "text/event-stream"}
        if after:
            headers["Last-Event-ID"] = after
        timeout = httpx.Timeout(self.remaining(SILENCE))
        with (
            _reaching(url, sends=True),
            self._http.stream(
                "POST", url, content=body, headers=headers, timeout=timeout
            ) as response,
        ):
            kind = response.headers.get("content-type", "")
            if not kind.startswith("text/event-stream"):  # an error, or a server that buffers
                response.read()
                yield Item(_result(response, StreamResponse()))
                return
            _check_status(response)
            for frame in read_frames(self._timed(response.iter_bytes())):
                if frame.data:
                    yield Item(_answer(_loads(frame.data), StreamResponse()), frame.id)

    def _timed(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.remaining(SILENCE)  # each keep-alive lets the deadline be seen
            yield chunk

    def _body(self, method: str, request: Message) -> tuple[str, bytes]:
        url, tenant = self.endpoint()
        params = MessageToDict(request)
        if tenant:
            params["tenant"] = tenant
        self._calls += 1
        call = {"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params}
        body = json.dumps(call, ensure_ascii=False).encode()
        if len(body) > BODY_LIMIT:
            size = len(body) / (1 << 20)
            raise Failure(f"the message is {size:.1f} MiB, more than the 10 MiB that servers take")
        return url, body

    def _send(self, method: str, url: str, silence: float = SILENCE, **more: Any) -> httpx.Response:
        with _reaching(url, sends=method == "POST"):
            timeout = httpx.Timeout(self.remaining(silence), connect=self.remaining(10.0))
            return self._http.request(method, url, timeout=timeout, **more)


@contextmanager
def _reaching(url: str, *, sends: bool = False) -> Iterator[None]:
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


def _headers() -> dict[str, str]:
    return {"A2A-Version": "1.0", "Content-Type": "application/json", "Accept": "application/json"}


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_status(response: httpx.Response) -> None:
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


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError as e:
        raise Failure(f"{response.url} did not answer with JSON: is this an A2A agent?") from e


def _loads(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError as e:
        raise Failure("the server sent an event that is not JSON", Exit.UNREACHABLE) from e


def _result(response: httpx.Response, into: _M) -> _M:
    # A JSON-RPC error may come with an HTTP error status; its own words are better.
    body: Any = None
    if response.status_code >= 300:
        try:
            body = response.json()
        except ValueError:
            body = None
        if not (isinstance(body, dict) and isinstance(body.get("error"), dict)):
            _check_status(response)
    return _answer(body if body is not None else _json(response), into)


def _answer(body: Any, into: _M) -> _M:
    if not isinstance(body, dict) or not ("result" in body or "error" in body):
        raise Failure("the server's answer is not JSON-RPC", Exit.UNREACHABLE)
    error = body.get("error")
    if error is not None:
        raise _refused(error if isinstance(error, dict) else {})
    return _parse(body["result"], into, type(into).__name__)


def _refused(error: dict[str, Any]) -> Refused:
    number = error.get("code")
    number = number if isinstance(number, int) else _INTERNAL
    text = str(error.get("message") or f"error {number}")
    faults = [
        f"{fault.get('field')}: {fault.get('description')}"
        for detail in error.get("data") or ()
        if isinstance(detail, dict)
        for fault in detail.get("fieldViolations") or ()
        if isinstance(fault, dict)
    ]
    if faults:
        text += f" ({'; '.join(faults)})"
    code = Exit.USAGE
    if number in (_INTERNAL, _INVALID_AGENT_RESPONSE):
        code = Exit.UNREACHABLE
    if number == TASK_NOT_CANCELABLE:
        code = Exit.FAILED
    return Refused(f"the server refused: {text}", number, code)


def _parse(value: Any, into: _M, name: str) -> _M:
    try:
        # A server of a later version may say more than these types know.
        ParseDict(value, into, ignore_unknown_fields=True)
    except ParseError as e:
        raise Failure(f"the server's {name} is not valid: {e}", Exit.UNREACHABLE) from e
    return into
