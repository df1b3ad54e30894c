"""A small A2A 1.0 client: JSON-RPC over HTTP, streams with their ids.

Why not the SDK's: it drops SSE ids, so it cannot resume; it gives up after 5 s of silence; and it
takes twice as long to import. The proto types are the SDK's.
"""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Iterator
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
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from .answers import TimedOut, check_status, parse, reaching, read_event, read_json, read_result
from .failures import Failure
from .sse import read_frames

BODY_LIMIT = 10 * 1024 * 1024  # bytes of a request; servers answer 413 above it
SILENCE = 60.0  # s without a byte after which a stream counts as lost (keep-alives come in 4 to 15)
WELL_KNOWN = "/.well-known/agent-card.json"

_M = TypeVar("_M", bound=Message)


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
        if parts.username or parts.password:
            raise Failure("credentials do not belong in the URL: it is printed and kept in logs")
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
        """At most `most` seconds, and not past the deadline; TimedOut once it is over."""
        if self.deadline is None:
            return most
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimedOut
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
                check_status(response)
                card = read_json(response)
                if not isinstance(card, dict):
                    raise Failure(f"{place} is not an agent card")
                return card
        raise Failure(f"there is no agent card at {places[0]}: is this the URL of an A2A agent?")

    def card(self) -> AgentCard:
        """The agent's card, read once."""
        if self._card is None:
            self._card = parse(self.card_json(), AgentCard(), "agent card")
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
            reaching(place),
            self._http.stream("GET", place, timeout=timeout, follow_redirects=True) as response,
        ):
            check_status(response)
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > limit:
                    raise Failure(f"{url} is larger than {limit >> 20} MiB")
            return bytes(data)

    def _call(self, method: str, request: Message, into: _M, silence: float = SILENCE) -> _M:
        url, body = self._body(method, request)
        response = self._send("POST", url, silence, content=body, headers=_headers())
        return read_result(response, into)

    def _stream(self, method: str, request: Message, after: str = "") -> Iterator[Item]:
        url, body = self._body(method, request)
        headers = {**_headers(), "Accept": "text/event-stream"}
        if after:
            headers["Last-Event-ID"] = after
        timeout = httpx.Timeout(self.remaining(SILENCE))
        with (
            reaching(url, sends=True),
            self._http.stream(
                "POST", url, content=body, headers=headers, timeout=timeout
            ) as response,
        ):
            kind = response.headers.get("content-type", "")
            if not kind.startswith("text/event-stream"):  # an error, or a server that buffers
                response.read()
                yield Item(read_result(response, StreamResponse()))
                return
            check_status(response)
            for frame in read_frames(self._timed(response.iter_bytes())):
                if frame.data:
                    yield Item(read_event(frame.data, StreamResponse()), frame.id)

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
        with reaching(url, sends=method == "POST"):
            timeout = httpx.Timeout(self.remaining(silence), connect=self.remaining(10.0))
            return self._http.request(method, url, timeout=timeout, **more)


def _headers() -> dict[str, str]:
    return {"A2A-Version": "1.0", "Content-Type": "application/json", "Accept": "application/json"}


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
