"""Can any bytes at all make the server answer with its own failure?"""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocol.conftest import look_up_nothing

from a2a_fn.profile import IAC
from a2a_fn.protocol.app import build_app
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

LIMIT = 5000
HEADERS = [(b"content-type", b"application/json"), (b"a2a-version", b"1.0")]
LEAK = re.compile(r"Traceback|Error\(|\.py\b|site-packages|object at 0x")

SEED = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "SendMessage",
        "params": {
            "message": {
                "messageId": "m",
                "role": "ROLE_USER",
                "parts": [{"text": "x"}, {"raw": "QQ=="}, {"data": {"a": [1]}}],
                "metadata": {"k": {"n": 1.5}},
                "referenceTaskIds": ["t"],
            },
            "configuration": {"historyLength": 3, "returnImmediately": True},
        },
    },
    {"jsonrpc": "2.0", "id": "a", "method": "GetTask", "params": {"id": "t", "historyLength": 1}},
    {
        "jsonrpc": "2.0",
        "id": None,
        "method": "ListTasks",
        "params": {"status": "TASK_STATE_WORKING", "statusTimestampAfter": "2026-01-01T00:00:00Z"},
    },
    {"jsonrpc": "2.0", "id": 2, "method": "SubscribeToTask", "params": {"id": "t"}},
    {"jsonrpc": "2.0", "id": 3, "method": "GetExtendedAgentCard", "params": {}},
]

TASK = "the id of a task"

_WEBHOOK = {
    "id": "p",
    "url": "https://hooks.example.com/a2a",
    "token": "t",
    "authentication": {"scheme": "Bearer", "credentials": "c"},
}
PUSHES = [
    {"jsonrpc": "2.0", "id": 1, "method": f"{method}TaskPushNotificationConfig", "params": params}
    for method, params in (
        ("Create", {"taskId": TASK, **_WEBHOOK}),
        ("Get", {"taskId": TASK, "id": "p"}),
        ("Delete", {"taskId": TASK, "id": "p"}),
    )
] + [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "ListTaskPushNotificationConfigs",
        "params": {"taskId": TASK, "pageSize": 2, "pageToken": "p"},
    },
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "SendMessage",
        "params": {
            "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]},
            "configuration": {"returnImmediately": True, "taskPushNotificationConfig": _WEBHOOK},
        },
    },
]

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
def mutated(draw: st.DrawFn, seeds: list[dict[str, Any]] = SEED) -> Any:
    """A valid call with one to three of its values replaced, removed or joined by another."""
    call: Any = copy.deepcopy(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 3))):
        inner = call
        while True:
            if not isinstance(inner, dict | list) or not inner:
                break
            keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
            key = draw(st.sampled_from(keys))
            below = inner[key]
            if isinstance(below, dict | list) and below and draw(st.booleans()):
                inner = below
                continue
            match draw(st.sampled_from(["replace", "remove", "add"])):
                case "replace":
                    inner[key] = draw(anything)
                case "remove":
                    del inner[key]
                case "add" if isinstance(inner, dict):
                    inner[draw(st.sampled_from(["context_id", "url", "x", "id"]))] = draw(anything)
                case _:
                    inner.append(draw(anything))
            break
    return call


@pytest.fixture(scope="module")
def exchange() -> Iterator[Any]:
    """Sends a body straight to the application: (status, headers, body)."""
    from a2a.types.a2a_pb2 import ListTasksResponse, SendMessageResponse, Task
    from a2a.utils.errors import TaskNotFoundError

    class Handler:
        async def send_message(self, request: Any, caller: Any) -> Any:
            request.SerializeToString()
            return SendMessageResponse(task=Task(id="t", history=[request.message]))

        async def get_task(self, request: Any, caller: Any) -> Any:
            raise TaskNotFoundError

        async def list_tasks(self, request: Any, caller: Any) -> Any:
            return ListTasksResponse()

        async def subscribe(self, request: Any, caller: Any, seen: Any = None) -> Any:
            raise TaskNotFoundError
            yield

    with _exchanging(build_app(Handler(), profile=IAC, body_limit=LIMIT)) as ask:
        yield ask


@pytest.fixture(scope="module")
def pushing() -> Iterator[Any]:
    """The same of the product itself, which pushes: every ``TASK`` in a body is a task of its."""
    services = build_services(
        Settings(engine="memory", agent="echo:", push_notifications=True, blocking_wait=0.01)
    )
    look_up_nothing(services)
    with _exchanging(services.app()) as ask:
        made = json.loads(ask(json.dumps(PUSHES[-1]).encode())[2])
        task = made["result"]["task"]["id"].encode()
        yield lambda body: ask(body.replace(TASK.encode(), task))


@contextmanager
def _exchanging(app: Any) -> Iterator[Any]:
    async def ask(body: bytes, headers: Any) -> Any:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/",
            "headers": headers,
            "query_string": b"",
        }
        await app(scope, receive, send)
        text = b"".join(message.get("body", b"") for message in sent)
        return sent[0]["status"], dict(sent[0]["headers"]), text

    loop = asyncio.new_event_loop()
    yield lambda body, headers=HEADERS: loop.run_until_complete(ask(body, headers))
    loop.close()


def is_answered_well(answer: Any, allowed: Any = (200, 413)) -> None:
    status, headers, body = answer
    assert status in allowed
    assert headers[b"content-type"] == b"application/json"
    envelope = json.loads(body)
    assert envelope["jsonrpc"] == "2.0"
    assert "id" in envelope
    assert ("result" in envelope) != ("error" in envelope)
    if "error" in envelope:
        assert envelope["error"]["code"] != -32603, envelope
        assert not LEAK.search(json.dumps(envelope["error"])), envelope


@settings(max_examples=300, deadline=None)
@given(body=st.binary(max_size=LIMIT + 500))
def test_any_bytes_are_answered(exchange, body):
    is_answered_well(exchange(body))


@settings(max_examples=300, deadline=None)
@given(value=anything)
def test_any_json_is_answered(exchange, value):
    is_answered_well(exchange(json.dumps(value).encode()))


@settings(max_examples=600, deadline=None)
@given(call=mutated())
def test_any_mutated_call_is_answered(exchange, call):
    is_answered_well(exchange(json.dumps(call).encode()))


@settings(max_examples=300, deadline=None)
@given(call=mutated(PUSHES))
def test_any_mutated_call_about_pushes_is_answered(pushing, call):
    is_answered_well(pushing(json.dumps(call).encode()))


@settings(max_examples=200, deadline=None)
@given(
    call=st.sampled_from(SEED),
    cut=st.integers(0, 400),
    junk=st.binary(max_size=6),
)
def test_any_damaged_call_is_answered(exchange, call, cut, junk):
    body = json.dumps(call).encode()
    is_answered_well(exchange(body[:cut] + junk + body[cut + len(junk) :]))


@settings(max_examples=200, deadline=None)
@given(
    headers=st.lists(
        st.tuples(
            st.sampled_from([b"content-type", b"a2a-version", b"content-length", b"x-request-id"])
            | st.sampled_from([b"last-event-id", b"host"]),
            st.binary(max_size=30) | st.sampled_from([b"application/json", b"1.0", b"99999"]),
        ),
        max_size=5,
    )
)
def test_any_headers_are_answered(exchange, headers):
    is_answered_well(exchange(json.dumps(SEED[1]).encode(), headers))
