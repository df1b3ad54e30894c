"""Can any request at all make the HTTP+JSON paths answer with their own failure?"""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote, unquote

import pytest
from a2a.types.a2a_pb2 import (
    AgentCard,
    ListTaskPushNotificationConfigsResponse,
    ListTasksResponse,
    SendMessageResponse,
    StreamResponse,
    Task,
)
from a2a.utils import errors as sdk
from google.protobuf.empty_pb2 import Empty
from hypothesis import given, settings
from hypothesis import strategies as st

from a2a_fn import errors as ours
from a2a_fn.profile import IAC
from a2a_fn.protocol.app import build_app
from a2a_fn.protocol.callers import Frame
from a2a_fn.protocol.gate import Gate
from a2a_fn.protocol.operations import Capabilities

LIMIT = 5000
HEADERS = [(b"content-type", b"application/json"), (b"a2a-version", b"1.0")]
LEAK = re.compile(r"Traceback|Error\(|\.py\b|site-packages|object at 0x|hunter2")
SECRET = "password=hunter2 at /srv/secret.py"
EVERYTHING = Gate(capabilities=Capabilities(push=True, extended_card=True))


class Answering:
    """A handler that uses what it is given, and answers."""

    async def send_message(self, request: Any, caller: Any) -> Any:
        request.SerializeToString()
        return SendMessageResponse(task=Task(id="t", history=[request.message]))

    async def stream_message(self, request: Any, caller: Any) -> AsyncIterator[Frame]:
        yield Frame(StreamResponse(message=request.message))

    async def get_task(self, request: Any, caller: Any) -> Any:
        return Task(id=request.id)

    async def list_tasks(self, request: Any, caller: Any) -> Any:
        return ListTasksResponse(next_page_token=request.page_token)

    async def cancel_task(self, request: Any, caller: Any) -> Any:
        return Task(id=request.id, metadata=request.metadata)

    async def subscribe(self, request: Any, caller: Any, seen: Any = None) -> AsyncIterator[Frame]:
        yield Frame(StreamResponse(task=Task(id=request.id)), 1)

    async def create_push_config(self, request: Any, caller: Any) -> Any:
        return request

    async def get_push_config(self, request: Any, caller: Any) -> Any:
        raise sdk.TaskNotFoundError

    async def list_push_configs(self, request: Any, caller: Any) -> Any:
        return ListTaskPushNotificationConfigsResponse()

    async def delete_push_config(self, request: Any, caller: Any) -> Any:
        return Empty()

    async def extended_card(self, request: Any, caller: Any) -> Any:
        return AgentCard(name="more")


class Raising:
    """A handler of which every method raises ``error``; a stream after ``frames`` frames."""

    def __init__(self, error: Exception, frames: int) -> None:
        self.error = error
        self.frames = frames

    def __getattr__(self, name: str) -> Any:
        async def method(*_: Any) -> Any:
            raise self.error

        async def stream(*_: Any) -> AsyncIterator[Frame]:
            for generation in range(self.frames):
                yield Frame(StreamResponse(task=Task(id="t")), generation + 1)
            raise self.error

        return stream if name in ("stream_message", "subscribe") else method


@pytest.fixture(scope="module")
def exchange() -> Iterator[Any]:
    """Sends a request straight to the application: (status, headers, body). The path is as on the
    wire, and decoded as servers do it."""
    answering = build_app(Answering(), profile=IAC, gate=EVERYTHING, body_limit=LIMIT)

    async def ask(
        method: str, path: bytes, query: bytes, body: bytes, headers: Any, app: Any, told: bool
    ) -> Any:
        sent: list[Any] = []
        unread = [{"type": "http.request", "body": body}]

        async def receive() -> Any:
            if unread:
                return unread.pop()
            return await asyncio.get_running_loop().create_future()

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": method,
            "path": unquote(path.decode("latin-1")),
            "raw_path": path if told else None,
            "headers": headers,
            "query_string": query,
        }
        async with asyncio.timeout(5):
            await app(scope, receive, send)
        assert sent[0]["type"] == "http.response.start"
        text = b"".join(message.get("body", b"") for message in sent)
        return sent[0]["status"], dict(sent[0]["headers"]), text

    loop = asyncio.new_event_loop()

    def run(
        method: str = "GET",
        path: bytes = b"/tasks",
        query: bytes = b"",
        body: bytes = b"",
        headers: Any = HEADERS,
        app: Any = answering,
        told: bool = True,
    ) -> Any:
        return loop.run_until_complete(ask(method, path, query, body, headers, app, told))

    yield run
    loop.close()


def is_answered_well(answer: Any, head: bool = False, most: int = 499) -> None:
    """The answer is a result, a stream, or an error in its form, and tells nothing of ours."""
    status, headers, body = answer
    assert 200 <= status <= most, answer
    assert not LEAK.search(body.decode()), answer
    if status == 405:
        assert headers[b"allow"]
    if head:
        assert body == b""
    elif headers[b"content-type"].startswith(b"text/event-stream"):
        for block in body.decode().removesuffix("\n\n").split("\n\n"):
            json.loads(block.rpartition("data: ")[2])
    elif headers[b"content-type"] == b"application/json":
        assert set(json.loads(body)) == {"error"}
        assert status == 404
    elif status == 200:
        assert headers[b"content-type"] == b"application/a2a+json"
        assert isinstance(json.loads(body), dict)
    else:
        assert headers[b"content-type"] == b"application/a2a+json"
        error = json.loads(body)["error"]
        assert error["code"] == status
        assert error["status"] and error["message"]
        assert error["details"][0]["reason"] != "INTERNAL_ERROR" or most > 499


# --- paths and queries --------------------------------------------------------------------------

METHODS = st.sampled_from(["GET", "POST", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS", "get", "X"])
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
segments = (
    st.sampled_from(["tasks", "message:send", "message:stream", "extendedAgentCard"])
    | st.sampled_from(["pushNotificationConfigs", "t-1", "t-1:cancel", ":subscribe", "acme", ""])
    | st.sampled_from(["..", ".", "%2e%2e", "%2f", "%00", "%FF", "%", "%zz", "t%3Acancel", "a%20"])
    | text.map(lambda given: quote(given, safe=":"))
    | st.integers(100, 200).map(lambda size: "x" * size)
)
real_paths = st.sampled_from(
    [
        ("POST", b"/message:send"),
        ("POST", b"/message:stream"),
        ("GET", b"/tasks"),
        ("GET", b"/acme/tasks/t-1"),
        ("POST", b"/tasks/t-1:cancel"),
        ("GET", b"/tasks/t-1:subscribe"),
        ("POST", b"/tasks/t-1:subscribe"),
        ("POST", b"/tasks/t-1/pushNotificationConfigs"),
        ("GET", b"/tasks/t-1/pushNotificationConfigs"),
        ("GET", b"/tasks/t-1/pushNotificationConfigs/c-1"),
        ("DELETE", b"/tasks/t-1/pushNotificationConfigs/c-1"),
        ("GET", b"/acme/extendedAgentCard"),
    ]
)


@st.composite
def mutated_paths(draw: st.DrawFn) -> bytes:
    """A real path with one or two of its segments replaced, removed or joined by another."""
    given = draw(real_paths)[1].decode().split("/")[1:]
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(given)))
        given[at : at + draw(st.integers(0, 1))] = draw(st.lists(segments, max_size=1))
    return "".join(f"/{one}" for one in given).encode()


names = (
    st.sampled_from(["id", "tenant", "taskId", "task_id", "historyLength", "history_length"])
    | st.sampled_from(["contextId", "status", "pageSize", "pageToken", "includeArtifacts"])
    | st.sampled_from(["statusTimestampAfter", "status_timestamp_after", "A2A-Version", "message"])
    | text
)
parameters = (
    st.sampled_from(["", "t-1", "acme", "0", "1", "-1", "50", "true", "TASK_STATE_WORKING"])
    | st.sampled_from(["9" * 5000, "1e999", "NaN", "2026-01-31T12:00:00Z", "0000-00-00T00:00:00Z"])
    | st.sampled_from(["9999-12-31T23:59:59-23:59", "\x00", "a,b", "1.0"])
    | st.integers().map(str)
    | text
)
queries = (
    st.lists(
        st.tuples(names, parameters).map(lambda pair: f"{quote(pair[0])}={quote(pair[1])}"),
        max_size=4,
    ).map(lambda given: "&".join(given).encode())
    | st.binary(max_size=40)
    | st.integers(0, 300).map(lambda size: b"&" * size)
)


@settings(max_examples=600, deadline=None)
@given(
    method=METHODS,
    path=mutated_paths() | st.binary(max_size=20).map(lambda given: b"/" + given),
    told=st.booleans(),
)
def test_any_path_is_answered(exchange, method, path, told):
    if unquote(path.decode("latin-1")).strip("\n") not in ("", "/"):  # the other binding's
        is_answered_well(exchange(method, path, told=told), head=method == "HEAD")


@settings(max_examples=600, deadline=None)
@given(place=real_paths, query=queries)
def test_any_query_is_answered(exchange, place, query):
    method, path = place
    is_answered_well(exchange(method, path, query))


# --- bodies and headers -------------------------------------------------------------------------

SEED = {
    b"/message:send": {
        "tenant": "acme",
        "message": {
            "messageId": "m",
            "role": "ROLE_USER",
            "parts": [{"text": "x"}, {"raw": "QQ=="}, {"data": {"a": [1]}}],
            "metadata": {"k": {"n": 1.5}},
            "referenceTaskIds": ["t"],
        },
        "configuration": {"historyLength": 3, "returnImmediately": True},
    },
    b"/message:stream": {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}
    },
    b"/tasks/t-1:cancel": {"id": "t-1", "tenant": "acme", "metadata": {"a": 1}},
    b"/tasks/t-1:subscribe": {"id": "t-1"},
    b"/tasks/t-1/pushNotificationConfigs": {
        "taskId": "t-1",
        "id": "c-1",
        "url": "https://example.com",
        "authentication": {"scheme": "Bearer", "credentials": "x"},
    },
}
tenants = st.sampled_from([b"", b"/acme"])
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(st.characters(codec=None), max_size=10)
    | st.sampled_from(["ROLE_AGENT", "\ud800", "\x00", "1e999", "__proto__", "[a.b]", "@type"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec=None), max_size=6), inner, max_size=4)
    ),
    max_leaves=10,
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[bytes, Any]:
    """A valid body with one to three of its values replaced, removed or joined by another."""
    path = draw(st.sampled_from(sorted(SEED)))
    document = copy.deepcopy(SEED[path])
    for _ in range(draw(st.integers(1, 3))):
        inner: Any = document
        while inner:
            keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
            key = draw(st.sampled_from(keys))
            if isinstance(inner[key], dict | list) and inner[key] and draw(st.booleans()):
                inner = inner[key]
                continue
            match draw(st.sampled_from(["replace", "remove", "add"])):
                case "replace":
                    inner[key] = draw(anything)
                case "remove":
                    del inner[key]
                case _ if isinstance(inner, dict):
                    added = draw(st.sampled_from(["task_id", "tenant", "url", "x", "id"]))
                    inner[added] = draw(anything)
                case _:
                    inner.append(draw(anything))
            break
    return draw(tenants) + path, document


@settings(max_examples=600, deadline=None)
@given(call=mutated())
def test_any_mutated_body_is_answered(exchange, call):
    path, document = call
    is_answered_well(exchange("POST", path, body=json.dumps(document).encode()))


@settings(max_examples=300, deadline=None)
@given(
    path=st.sampled_from(sorted(SEED)),
    body=st.binary(max_size=LIMIT + 500) | anything.map(lambda given: json.dumps(given).encode()),
)
def test_any_body_is_answered(exchange, path, body):
    is_answered_well(exchange("POST", path, body=body))


@settings(max_examples=300, deadline=None)
@given(
    place=real_paths,
    more=st.lists(
        st.tuples(
            st.sampled_from([b"content-type", b"a2a-version", b"content-length", b"x-request-id"])
            | st.sampled_from([b"last-event-id", b"host", b"a2a-extensions", b"accept"]),
            st.binary(max_size=30) | st.sampled_from([b"application/json", b"1.0", b"99999"]),
        ),
        max_size=4,
    ),
    usual=st.sampled_from([[], HEADERS]),
    first=st.booleans(),
)
def test_any_headers_are_answered(exchange, place, more, usual, first):
    method, path = place
    headers = usual + more if first else more + usual
    is_answered_well(exchange(method, path, body=b"{}", headers=headers))


# --- handlers -----------------------------------------------------------------------------------

BUGS = st.sampled_from(
    [
        RuntimeError(SECRET),
        KeyError(SECRET),
        RecursionError(SECRET),
        TimeoutError(SECRET),
        StopIteration(SECRET),
        StopAsyncIteration(SECRET),
        UnicodeDecodeError("utf-8", b"hunter2", 0, 1, SECRET),
        ExceptionGroup(SECRET, [ValueError(SECRET)]),
        sdk.A2AError(SECRET),
        ours.Unavailable(SECRET),
        ours.Conflict(3),
        ours.TooLarge(SECRET),
        ours.NotFound(SECRET),
        ours.TurnLost(SECRET),
        ours.InvalidSettings(SECRET),
    ]
)
TOLD = st.builds(
    lambda kind, message, data: kind(message, data=data),
    st.sampled_from(sorted(sdk.JSON_RPC_ERROR_CODE_MAP, key=lambda kind: kind.__name__)),
    st.text(st.characters(codec=None), min_size=1, max_size=20),
    anything,
)


@settings(max_examples=300, deadline=None)
@given(place=real_paths, error=BUGS | TOLD, frames=st.integers(0, 2))
def test_whatever_a_handler_raises_is_told_in_our_words(exchange, place, error, frames):
    method, path = place
    app = build_app(Raising(error, frames), profile=IAC, gate=EVERYTHING)
    body = b"" if method != "POST" else json.dumps(SEED[path]).encode()
    status, headers, text = exchange(method, path, body=body, app=app)
    is_answered_well((status, headers, text), most=503)
    streamed = frames and path.endswith((b":subscribe", b":stream"))
    assert (status == 200) == bool(streamed)
    assert not streamed or b"event: error" in text
