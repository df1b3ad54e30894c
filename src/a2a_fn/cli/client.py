"""A small A2A client over whichever interface the agent's card offers; streams keep their ids.

Why not the SDK's: it drops SSE ids, so it cannot resume; it gives up after 5 s of silence; it
sends credentials wherever the card points; and it takes twice as long to import. The proto types
are the SDK's.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote, urljoin

import httpx
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    ListTasksResponse,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
)
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from .access import ANYONE, Access, check_tenant
from .answers import read_json
from .attachments import size
from .bindings import Binding, binding_for
from .cards import (
    Choice,
    api_key_header,
    choose,
    find_card,
    missing_extensions,
    read_card,
    unused_path,
    ways_in,
)
from .credentials import read_credentials
from .failures import Exit, Failure
from .sse import read_frames
from .verification import Verifier
from .wire import SILENCE, Ask, Wire

BODY_LIMIT = 10 << 20  # bytes of a request; servers answer 413 above it
_BLOCKING = 3600.0  # s: the spec lets a blocking answer take as long as the turn does

_M = TypeVar("_M", bound=Message)


@dataclass(frozen=True, slots=True)
class Item:
    """One response of a stream, with its SSE id ("" where the server sends none)."""

    response: StreamResponse
    id: str = ""


class Client:
    """One agent, found by its URL. `timeout` is the time in seconds for the whole command; `warn`
    is told in one line what a user should know and need not stop for."""

    def __init__(
        self,
        url: str,
        access: Access = ANYONE,
        timeout: float | None = None,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        check_tenant(access)
        self._extensions = tuple(map(_extension, access.extension or ()))
        self._verifier = Verifier(access)
        self._access = access
        self._warn = warn
        self._wire = Wire(url, read_credentials(access), timeout)
        self._place = self._wire.url
        self._document: dict[str, Any] | None = None
        self._card: AgentCard | None = None
        self._choice: Choice | None = None
        self._binding: Binding | None = None

    @property
    def url(self) -> str:
        """The agent's URL, as the user gave it."""
        return self._wire.url

    @property
    def address(self) -> str:
        """What another command needs to come to the same tasks, as a shell takes it: the URL, as
        far as it is used, and the tenant."""
        tenant = self._access.tenant
        return shlex.join([self._place, *(("--tenant", tenant) if tenant else ())])

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def remaining(self, most: float) -> float:
        """At most `most` seconds, and not past the deadline; TimedOut once it is over."""
        return self._wire.remaining(most)

    def redact(self, text: str) -> str:
        """The text without the user's secrets."""
        return self._verifier.redact(self._wire.credentials.redact(text))

    def card_json(self) -> dict[str, Any]:
        """The agent's card as served, read once and verified if the user asked for that."""
        if self._document is None:
            document, place = find_card(self._wire)
            self._document = self._believed(document)
            self._tell_unused(place)
        return self._document

    def card(self) -> AgentCard:
        """The agent's card."""
        if self._card is None:
            self._card = read_card(self.card_json())
            self._wire.api_key_header = api_key_header(self._card)
            self._wire.ways = ways_in(self._card)
        return self._card

    def extended_card_json(self) -> dict[str, Any]:
        """The card that the agent shows to those who are authenticated, verified as the other."""
        if not self.card().capabilities.extended_agent_card:
            raise Failure(f"the card of {self.url} says that there is no extended card")
        response, binding = self._response("GetExtendedAgentCard", GetExtendedAgentCardRequest())
        document = binding.document(self._body(response))
        if not isinstance(document, dict):
            raise Failure("the server's extended card is not an object", Exit.UNREACHABLE)
        return self._believed(document)

    def send(self, request: SendMessageRequest) -> StreamResponse:
        """SendMessage: the task as it stands when the server answers, or a message."""
        return self.call("SendMessage", request, StreamResponse(), silence=_BLOCKING)

    def stream(self, request: SendMessageRequest) -> Iterator[Item]:
        """SendStreamingMessage."""
        return self._stream("SendStreamingMessage", request)

    def subscribe(self, task: str, after: str = "") -> Iterator[Item]:
        """SubscribeToTask, from the event after the SSE id `after`."""
        return self._stream("SubscribeToTask", SubscribeToTaskRequest(id=task), after)

    def task(self, task: str, history: int | None = None) -> Task:
        """GetTask, with the last `history` messages (None: as many as the server gives)."""
        return self.call("GetTask", GetTaskRequest(id=task, history_length=history), Task())

    def tasks(self, request: ListTasksRequest) -> ListTasksResponse:
        """ListTasks, one page."""
        return self.call("ListTasks", request, ListTasksResponse())

    def cancel(self, task: str) -> Task:
        """CancelTask."""
        return self.call("CancelTask", CancelTaskRequest(id=task), Task())

    def download(self, url: str, limit: int, media_type: str) -> tuple[bytes, str]:
        """The bytes at a URL of an artifact, at most `limit`, and their Content-Type."""
        choice, _ = self._reach()
        accept = f"{media_type}, */*;q=0.1" if media_type else "*/*"
        return self._wire.download(urljoin(choice.url, url), limit, accept)

    def call(self, operation: str, request: Message, into: _M, silence: float = SILENCE) -> _M:
        """Any operation that answers once, by its name in A2A 1.0; `into`: an empty answer."""
        response, binding = self._response(operation, request, silence)
        document = binding.document(self._body(response))
        return into if isinstance(into, Empty) else binding.result(operation, document, into)

    def _response(
        self, operation: str, request: Message, silence: float = SILENCE
    ) -> tuple[httpx.Response, Binding]:
        ask, binding = self._ask(operation, request)
        return self._wire.send(ask, silence), binding

    def _stream(self, operation: str, request: Message, after: str = "") -> Iterator[Item]:
        ask, binding = self._ask(operation, request)
        headers = {**ask.headers, "Accept": "text/event-stream"}
        if after:
            headers["Last-Event-ID"] = after
        ask = ask._replace(headers=headers)
        with self._wire.stream(ask) as response:
            kind = response.headers.get("content-type", "")
            if not kind.startswith("text/event-stream"):  # an error, or a server that buffers
                response.read()
                if response.status_code == 405 and operation == "SubscribeToTask":
                    # The proto file of A2A has it as a GET, and so have some servers.
                    with self._wire.stream(ask._replace(method="GET", body=None)) as again:
                        yield from self._events(operation, binding, again)
                    return
                document = binding.document(self._body(response))
                yield Item(binding.result(operation, document, StreamResponse()))
                return
            yield from self._events(operation, binding, response)

    def _events(self, operation: str, binding: Binding, response: httpx.Response) -> Iterator[Item]:
        if response.status_code >= 300:
            response.read()
            binding.document(self._body(response))
        self._wire.check(response)
        for frame in read_frames(self._wire.chunks(response)):
            if frame.data:
                try:
                    body = json.loads(frame.data)
                except ValueError as e:
                    why = "the server sent an event that is not JSON"
                    raise Failure(why, Exit.UNREACHABLE) from e
                document = binding.document(body)
                yield Item(binding.result(operation, document, StreamResponse()), frame.id)

    def _ask(self, operation: str, request: Message) -> tuple[Ask, Binding]:
        choice, binding = self._reach()
        ask = binding.ask(operation, request)
        if ask.body is not None and len(ask.body) > BODY_LIMIT:
            has, most = size(len(ask.body)), size(BODY_LIMIT)
            raise Failure(f"the message is {has}, and servers take {most}")
        headers = {"Accept": "application/a2a+json, application/json", **ask.headers}
        if self._extensions:
            headers["A2A-Extensions"] = ", ".join(self._extensions)
            if choice.version == "0.3":
                headers["X-A2A-Extensions"] = headers["A2A-Extensions"]
        return ask._replace(headers=headers), binding

    def _reach(self) -> tuple[Choice, Binding]:
        """The interface to use, chosen once."""
        if self._choice is None or self._binding is None:
            card = self.card()
            access = self._access
            binding, version = access.binding or "", access.protocol or ""
            choice = choose(card, self.url, binding, version, tenants=bool(access.tenant))
            missing = missing_extensions(card, self._extensions)
            if missing:
                options = " ".join(f"--extension {uri}" for uri in missing)
                raise Failure(f"the agent requires extensions that were not asked for: {options}")
            if access.trust_url:
                self._wire.trust(choice.url)
            elif self._wire.credentials and not self._wire.trusts(choice.url):
                self._warn(
                    f"no credentials are sent to {choice.url}: the card of {self._wire.home} names "
                    "it, but it is on another host (--trust-url sends them)"
                )
            self._binding = binding_for(choice.interface, choice.url, choice.version, access.tenant)
            self._choice = choice
        return self._choice, self._binding

    def _body(self, response: httpx.Response) -> Any:
        """The JSON of a response. An A2A error's own words say more than the HTTP status that it
        came with, except where the status asks for something: credentials, patience."""
        status = response.status_code
        if status in (401, 403, 429, 502, 503, 504):
            self._wire.check(response)
        if status >= 300:
            try:
                body = response.json()
            except ValueError:
                body = None
            if not isinstance(body, dict) or not _is_error(body):
                self._wire.check(response)
            return body
        return read_json(response) if status != 204 else {}

    def _believed(self, document: dict[str, Any]) -> dict[str, Any]:
        return self._verifier.verify(document, self._fetch_keys)

    def _tell_unused(self, place: str) -> None:
        if path := unused_path(self.url, place, self.card_json()):
            self._place = str(self._wire.home)
            text = f"the card is that of {self._place}; {path} is not used"
            if not self._access.tenant:
                name = unquote(path.removeprefix("/"))
                option = shlex.join(["--tenant", "NAME" if "/" in name else name])
                text += f": {option} names a tenant"
            self._warn(text)

    def _fetch_keys(self, url: str) -> object:
        response = self._wire.get(url)
        self._wire.check(response)
        return read_json(response)


def _is_error(body: dict[str, Any]) -> bool:
    return isinstance(body.get("error"), dict) or str(body.get("type", "")).endswith("Error")


def _extension(uri: str) -> str:
    if not re.fullmatch(r"[\x21-\x2b\x2d-\x7e]+", uri):  # it goes into a list between commas
        raise Failure(f"--extension {uri[:100]!r} is not the URI of an extension")
    return uri
