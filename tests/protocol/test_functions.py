"""Does it work on a function, behind Mangum, with the platforms' own events?"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from a2a.types.a2a_pb2 import StreamResponse, Task
from mangum import Mangum

from a2a_fn.errors import Unavailable
from a2a_fn.profile import IAC
from a2a_fn.protocol.app import build_app
from a2a_fn.protocol.callers import Frame

# API Gateway, payload format 2.0, as AWS documents it; a function URL sends the same form.
GATEWAY = {
    "version": "2.0",
    "routeKey": "$default",
    "rawPath": "/",
    "rawQueryString": "",
    "headers": {
        "accept": "*/*",
        "content-type": "application/json",
        "a2a-version": "1.0",
        "host": "r3pmxmplak.execute-api.us-east-2.amazonaws.com",
        "x-amzn-trace-id": "Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e",
        "x-forwarded-for": "205.255.255.176",
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
    },
    "requestContext": {
        "accountId": "123456789012",
        "apiId": "r3pmxmplak",
        "domainName": "r3pmxmplak.execute-api.us-east-2.amazonaws.com",
        "domainPrefix": "r3pmxmplak",
        "http": {
            "method": "POST",
            "path": "/",
            "protocol": "HTTP/1.1",
            "sourceIp": "205.255.255.176",
            "userAgent": "python-httpx/0.28.1",
        },
        "requestId": "JKJaXmPLvHcESHA=",
        "routeKey": "$default",
        "stage": "$default",
        "time": "10/Mar/2020:05:16:23 +0000",
        "timeEpoch": 1583817383220,
    },
    "isBase64Encoded": False,
}
FUNCTION_URL = {
    **GATEWAY,
    "headers": {
        **GATEWAY["headers"],
        "host": "abcdefg.lambda-url.us-east-1.on.aws",
    },
    "requestContext": {
        **GATEWAY["requestContext"],
        "domainName": "abcdefg.lambda-url.us-east-1.on.aws",
        "authentication": None,
    },
}


class LambdaContext:
    """What Lambda hands to a handler."""

    aws_request_id = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"

    def get_remaining_time_in_millis(self) -> int:
        return 29_000


def post(event: Any, method: str, params: Any) -> dict[str, Any]:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return {**event, "body": body}


def get(event: Any, path: str) -> dict[str, Any]:
    http = {**event["requestContext"]["http"], "method": "GET", "path": path}
    context = {**event["requestContext"], "http": http}
    return {**event, "rawPath": path, "requestContext": context}


@pytest.fixture
def deployed() -> Iterator[Any]:
    """Makes what AWS calls: ``deployed(handler)(event)``, in an event loop of its own."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def deploy(handler: Any, **settings: Any) -> Any:
        function = Mangum(build_app(handler, profile=IAC, **settings), lifespan="off")
        return lambda event: function(event, LambdaContext())

    yield deploy
    assert not asyncio.all_tasks(loop)
    asyncio.set_event_loop(None)
    loop.close()


@pytest.mark.parametrize("event", [GATEWAY, FUNCTION_URL], ids=["gateway", "function URL"])
def test_a_call_is_answered(deployed, scripted, event):
    async def get_task(request: Any, caller: Any) -> Task:
        return Task(id=request.id)

    answer = deployed(scripted(get_task=get_task))(post(event, "GetTask", {"id": "t-1"}))
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
    assert json.loads(answer["body"]) == {"jsonrpc": "2.0", "id": 1, "result": {"id": "t-1"}}


def test_a_body_in_base64_is_read(deployed, scripted):
    async def get_task(request: Any, caller: Any) -> Task:
        return Task(id=request.id)

    event = post(GATEWAY, "GetTask", {"id": "t-1"})
    event = {**event, "body": base64.b64encode(event["body"].encode()).decode()}
    event["isBase64Encoded"] = True
    answer = deployed(scripted(get_task=get_task))(event)
    assert json.loads(answer["body"])["result"] == {"id": "t-1"}


def test_the_handler_knows_the_request_and_when_it_must_have_answered(deployed, scripted):
    seen: list[Any] = []

    async def get_task(request: Any, caller: Any) -> Task:
        seen.append((caller, asyncio.get_running_loop().time()))
        return Task()

    deployed(scripted(get_task=get_task))(post(GATEWAY, "GetTask", {"id": "t"}))
    ((caller, now),) = seen
    assert caller.owner == ""
    assert caller.request_id == LambdaContext.aws_request_id
    assert 28 < caller.deadline - now <= 29


def test_a_stream_comes_as_one_body_when_it_has_ended(deployed, scripted):
    async def stream_message(request: Any, caller: Any) -> AsyncIterator[Frame]:
        for generation in (1, 2, 3):
            await asyncio.sleep(0)
            yield Frame(StreamResponse(task=Task(id=f"t-{generation}")), generation)

    params = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}}
    event = post(GATEWAY, "SendStreamingMessage", params)
    answer = deployed(scripted(stream_message=stream_message))(event)
    assert answer["headers"]["content-type"].startswith("text/event-stream")
    assert answer["isBase64Encoded"] is False
    assert [line for line in answer["body"].split("\n") if line.startswith("id")] == [
        "id: 1",
        "id: 2",
        "id: 3",
    ]


def test_errors_keep_their_status(deployed, scripted):
    async def get_task(request: Any, caller: Any) -> Task:
        raise Unavailable("down")

    function = deployed(scripted(get_task=get_task), body_limit=500)
    answer = function(post(GATEWAY, "GetTask", {"id": "t"}))
    assert (answer["statusCode"], answer["headers"]["retry-after"]) == (503, "1")
    assert function(post(GATEWAY, "GetTask", {"id": "t" * 500}))["statusCode"] == 413
    assert function(get(GATEWAY, "/"))["statusCode"] == 405


def test_the_card_names_the_address_that_was_asked(deployed, scripted):
    function = deployed(scripted())
    answer = function(get(FUNCTION_URL, "/.well-known/agent-card.json"))
    interface, *_ = json.loads(answer["body"])["supportedInterfaces"]
    assert interface["url"] == "https://abcdefg.lambda-url.us-east-1.on.aws/"
    event = get(FUNCTION_URL, "/.well-known/agent-card.json")
    event = {**event, "headers": {**event["headers"], "if-none-match": answer["headers"]["etag"]}}
    assert function(event)["statusCode"] == 304
    assert function(get(FUNCTION_URL, "/health"))["body"] == '{"status":"healthy"}'


def test_a_cold_start_imports_little():
    script = (
        "import sys, a2a_fn.protocol.app; print(len(sys.modules)); "
        "print(*sorted({m.partition('.')[0] for m in sys.modules} "
        "| {'.'.join(m.split('.')[:2]) for m in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True
    )
    count, names = done.stdout.splitlines()
    heavy = {"pydantic", "httpx", "httpcore", "sse_starlette", "jsonrpc", "mangum", "uvicorn"}
    heavy |= {"a2a.server", "a2a.client", "a2a.compat", "boto3", "opentelemetry", "grpc"}
    assert not heavy & set(names.split())
    assert int(count) < 330
