"""Can any request of A2A 0.3 make the server answer with its own failure?"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from a2a.types.a2a_pb2 import (
    ListTaskPushNotificationConfigsResponse,
    SendMessageResponse,
    StreamResponse,
    Task,
)
from a2a.utils.errors import TaskNotFoundError
from google.protobuf.empty_pb2 import Empty
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocol.test_fuzz import LEAK, anything

from a2a_fn.profile import IAC
from a2a_fn.protocol.app import build_app
from a2a_fn.protocol.callers import Frame
from a2a_fn.protocol.gate import Gate
from a2a_fn.protocol.operations import Capabilities

PARTS = [
    {"kind": "text", "text": "x"},
    {"kind": "file", "file": {"bytes": "QQ==", "mimeType": "a/b", "name": "n"}},
    {"kind": "file", "file": {"uri": "https://h/"}},
    {"kind": "data", "data": {"value": [1]}, "metadata": {"data_part_compat": True}},
]
PUSH = {"url": "https://h/", "id": "p", "authentication": {"schemes": ["Bearer"]}}
CALLS = [
    (
        "message/send",
        {
            "message": {"kind": "message", "messageId": "m", "role": "user", "parts": PARTS},
            "configuration": {
                "blocking": True,
                "historyLength": 2,
                "pushNotificationConfig": PUSH,
                "acceptedOutputModes": ["text/plain"],
            },
            "metadata": {"k": {"n": 1.5}},
        },
    ),
    ("message/stream", {"message": {"role": "user", "parts": [{"text": "x"}]}}),
    ("tasks/get", {"id": "t", "historyLength": 1, "metadata": {}}),
    ("tasks/resubscribe", {"id": "t"}),
    ("tasks/pushNotificationConfig/set", {"taskId": "t", "pushNotificationConfig": PUSH}),
    ("tasks/pushNotificationConfig/get", {"id": "t", "pushNotificationConfigId": "p"}),
    ("tasks/pushNotificationConfig/list", {"id": "t"}),
    ("tasks/pushNotificationConfig/delete", {"id": "t", "pushNotificationConfigId": "p"}),
    ("agent/getAuthenticatedExtendedCard", {}),
]
CONTENT = [
    {"text": "x"},
    {"file": {"fileWithBytes": "UVE9PQ==", "mimeType": "a/b", "name": "n"}},
    {"file": {"fileWithUri": "https://h/"}},
    {"data": {"data": {"value": [1]}}, "metadata": {"data_part_compat": True}},
]
BODIES = [
    (
        "message:send",
        {
            "message": {"messageId": "m", "role": "ROLE_USER", "content": CONTENT},
            "configuration": {"historyLength": 2, "pushNotification": PUSH, "blocking": True},
            "metadata": {"k": {"n": 1.5}},
        },
    ),
    (
        "message:stream",
        {"request": {"message_id": "m", "role": "ROLE_USER", "content": [{"text": "x"}]}},
    ),
    (
        "tasks/t/pushNotificationConfigs",
        {"parent": "tasks/t", "configId": "p", "config": {"pushNotificationConfig": PUSH}},
    ),
]
NAMES = ["message_id", "kind", "text", "file", "data", "bytes", "uri", "type", "metadata"]


@st.composite
def mutated(draw: st.DrawFn, seeds: list[tuple[str, Any]]) -> tuple[str, Any]:
    """A valid request with one to three of its values replaced, removed or joined by another."""
    name, document = copy.deepcopy(draw(st.sampled_from(seeds)))
    whole = {"": document}
    for _ in range(draw(st.integers(1, 3))):
        places: list[tuple[Any, Any]] = []
        containers: list[Any] = [whole]
        while containers:
            container = containers.pop()
            keys = list(container) if isinstance(container, dict) else range(len(container))
            places += [(container, key) for key in keys]
            containers += [container[k] for k in keys if isinstance(container[k], dict | list)]
        container, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["replace", "remove", "add"])):
            case "replace":
                container[key] = draw(anything)
            case "remove" if container is not whole:
                del container[key]
            case "add" if isinstance(container, dict) and container is not whole:
                container[draw(st.sampled_from(NAMES))] = draw(anything)
            case _:
                pass
    return name, whole[""]


class Handler:
    """Answers with what it was given, so that what was read is written again."""

    async def send_message(self, request: Any, caller: Any) -> Any:
        request.SerializeToString()
        task = Task(id="t", context_id="c", history=[request.message])
        return SendMessageResponse(task=task)

    async def stream_message(self, request: Any, caller: Any) -> Any:
        yield Frame(StreamResponse(message=request.message))

    async def create_push_config(self, request: Any, caller: Any) -> Any:
        return request

    async def list_push_configs(self, request: Any, caller: Any) -> Any:
        return ListTaskPushNotificationConfigsResponse()

    async def delete_push_config(self, request: Any, caller: Any) -> Any:
        return Empty()

    async def get_task(self, request: Any, caller: Any) -> Any:
        raise TaskNotFoundError

    get_push_config = extended_card = get_task

    async def subscribe(self, request: Any, caller: Any, seen: Any = None) -> Any:
        raise TaskNotFoundError
        yield


@pytest.fixture(scope="module")
def post() -> Iterator[Any]:
    """Sends a body straight to the application: (status, content type, body)."""
    gate = Gate(v03=True, capabilities=Capabilities(push=True, extended_card=True))
    app = build_app(Handler(), profile=IAC, gate=gate)

    async def ask(path: str, body: bytes) -> Any:
        sent: list[Any] = []
        incoming = iter([{"type": "http.request", "body": body}])

        async def receive() -> Any:
            message = next(incoming, None)
            return message or await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": [(b"content-type", b"application/json")],
            "query_string": b"",
        }
        await app(scope, receive, send)
        text = b"".join(message.get("body", b"") for message in sent)
        kind = dict(sent[0]["headers"])[b"content-type"]
        return sent[0]["status"], kind, text

    loop = asyncio.new_event_loop()
    yield lambda path, body: loop.run_until_complete(ask(path, body))
    loop.close()


def checked(answer: Any, allowed: tuple[int, ...]) -> Any:
    """The answer's JSON, or its stream's first; no stack trace, no word of pydantic in it."""
    status, kind, body = answer
    assert status in allowed, body
    text = body.decode()
    if kind.startswith(b"text/event-stream"):
        assert "event: error" not in text
        text = next(line[6:] for line in text.splitlines() if line.startswith("data: "))
    document = json.loads(text)
    error = json.dumps(document.get("error"))
    assert not LEAK.search(error), error
    assert "pydantic" not in error, error
    assert "cannot be translated" not in error, error
    assert "do not fit" not in error, error
    return document


@settings(max_examples=600, deadline=None)
@given(call=mutated(CALLS), path=st.sampled_from(["/", "/a2a"]))
def test_any_mutated_call_is_answered(post, call, path):
    method, params = call
    envelope = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    document = checked(post(path, json.dumps(envelope).encode()), (200,))
    assert ("result" in document) != ("error" in document)
    assert document.get("error", {}).get("code") != -32603, document


@settings(max_examples=400, deadline=None)
@given(request=mutated(BODIES))
def test_any_mutated_body_is_answered(post, request):
    path, body = request
    document = checked(post(f"/v1/{path}", json.dumps(body).encode()), (200, 400))
    assert document.get("type") != "InternalError", document


@settings(max_examples=200, deadline=None)
@given(path=st.text(max_size=30), body=st.binary(max_size=50))
def test_any_path_is_answered(post, path, body):
    checked(post(f"/v1/{path}", body), (200, 400, 404, 405))
