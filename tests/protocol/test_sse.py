"""Do streams keep their promises: ids, order, keep-alive, and nothing left behind?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from a2a.types.a2a_pb2 import StreamResponse, TaskStatusUpdateEvent
from a2a.utils.errors import TaskNotFoundError

from a2a_fn.errors import Unavailable
from a2a_fn.protocol.app import build_app
from a2a_fn.protocol.callers import Frame
from a2a_fn.protocol.sse import last_event_id

SECRET = "hunter2"


def frame(generation: int) -> Frame:
    update = TaskStatusUpdateEvent(task_id="t", context_id="c")
    update.metadata.update({"n": generation})
    return Frame(StreamResponse(status_update=update), generation)


def stream_of(*items: Frame | Exception | asyncio.Event) -> Any:
    """A ``stream_message`` that yields frames, raises exceptions and waits for events."""

    async def stream_message(request: Any, caller: Any) -> AsyncIterator[Frame]:
        for item in items:
            if isinstance(item, Exception):
                raise item
            if isinstance(item, asyncio.Event):
                await item.wait()
            else:
                yield item

    return stream_message


def call(message: Any) -> bytes:
    params = {"message": message}
    envelope = {"jsonrpc": "2.0", "id": "é", "method": "SendStreamingMessage", "params": params}
    return json.dumps(envelope).encode()


HEADERS = {"Content-Type": "application/json", "A2A-Version": "1.0"}


def events(text: str) -> list[dict[str, str]]:
    """The fields of each event of a stream; comments are left out."""
    result = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and line[0] != ":")
        if fields:
            result.append(fields)
    return result


# --- frames -------------------------------------------------------------------------------------


async def test_each_event_is_a_whole_response_with_its_generation_as_id(listen, scripted, message):
    async with listen(scripted(stream_message=stream_of(frame(1), frame(2), frame(0)))) as server:
        response = await server.post(call(message()))
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache, no-transform"
    assert response.headers["x-accel-buffering"] == "no"
    one, two, message_answer = events(response.text)
    assert (one["id"], two["id"], "id" in message_answer) == ("1", "2", False)
    assert "event" not in one
    envelope = json.loads(two["data"])
    assert (envelope["jsonrpc"], envelope["id"]) == ("2.0", "é")
    assert envelope["result"]["statusUpdate"]["metadata"] == {"n": 2}


async def test_a_frame_arrives_before_the_next_one_exists(listen, scripted, message):
    gate = asyncio.Event()
    handler = scripted(stream_message=stream_of(frame(1), gate, frame(2)))
    async with listen(handler) as server, asyncio.timeout(5):
        post = server.http.stream("POST", server.url, content=call(message()), headers=HEADERS)
        async with post as response:
            lines = response.aiter_lines()
            assert await anext(lines) == "id: 1"
            gate.set()
            rest = [line async for line in lines]
    assert "id: 2" in rest


async def test_a_stream_without_frames_is_an_empty_stream(listen, scripted, message):
    async with listen(scripted(stream_message=stream_of())) as server:
        response = await server.post(call(message()))
    assert (response.status_code, response.text) == (200, "")
    assert response.headers["content-type"].startswith("text/event-stream")


# --- errors -------------------------------------------------------------------------------------


async def test_an_error_before_the_first_frame_is_a_plain_answer(
    listen, scripted, checked, message
):
    async with listen(scripted(stream_message=stream_of(TaskNotFoundError()))) as server:
        envelope = checked(await server.post(call(message())))
    assert (envelope["id"], envelope["error"]["code"]) == ("é", -32001)


async def test_an_engine_that_is_down_before_the_first_frame_is_503(
    listen, scripted, checked, message
):
    async with listen(scripted(stream_message=stream_of(Unavailable()))) as server:
        checked(await server.post(call(message())), status=503)


@pytest.mark.parametrize(
    ("error", "code"),
    [(TaskNotFoundError(), -32001), (RuntimeError(SECRET), -32603), (Unavailable(SECRET), -32603)],
)
async def test_a_later_error_is_the_last_event(listen, scripted, message, error, code):
    handler = scripted(stream_message=stream_of(frame(1), error, frame(2)))
    async with listen(handler) as server:
        response = await server.post(call(message()))
    first, last = events(response.text)
    assert first["id"] == "1"
    assert last["event"] == "error"
    envelope = json.loads(last["data"])
    assert (envelope["id"], envelope["error"]["code"]) == ("é", code)
    assert SECRET not in response.text


# --- keep-alive ---------------------------------------------------------------------------------


async def test_silence_is_broken_by_comments_even_before_the_first_frame(listen, scripted, message):
    gate, second = asyncio.Event(), asyncio.Event()
    handler = scripted(stream_message=stream_of(gate, frame(1), second, RuntimeError(SECRET)))
    async with listen(handler, keep_alive=0.02) as server, asyncio.timeout(5):
        post = server.http.stream("POST", server.url, content=call(message()), headers=HEADERS)
        async with post as response:
            lines = response.aiter_lines()
            assert [await anext(lines) for _ in range(4)] == [": keep-alive", ""] * 2
            gate.set()
            while await anext(lines) != "id: 1":
                continue
            await anext(lines)
            assert [await anext(lines) for _ in range(3)] == ["", ": keep-alive", ""]
            second.set()
            rest = [line async for line in lines]
    assert "event: error" in rest
    assert SECRET not in "".join(rest)


@pytest.mark.parametrize("keep_alive", [0, -1, 5, 60])
def test_a_keep_alive_that_loses_clients_is_refused(scripted, keep_alive):
    with pytest.raises(ValueError, match="keep_alive must be between 0 and 5"):
        build_app(scripted(), profile=None, keep_alive=keep_alive)


# --- ends ---------------------------------------------------------------------------------------


def closing(closed: asyncio.Event, *first: Frame) -> Any:
    """A stream that stays open until it is closed, and tells when that is."""

    async def stream_message(request: Any, caller: Any) -> AsyncIterator[Frame]:
        try:
            for each in first:
                yield each
            await asyncio.Event().wait()
        finally:
            closed.set()

    return stream_message


@pytest.mark.parametrize("first", [(), (frame(1),)], ids=["silent", "after a frame"])
async def test_a_client_that_leaves_ends_the_stream_and_leaves_no_task(
    listen, scripted, message, first
):
    closed = asyncio.Event()
    async with listen(scripted(stream_message=closing(closed, *first))) as server:
        before = asyncio.all_tasks()
        port = int(server.url.rstrip("/").rpartition(":")[2])
        body = call(message())
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(
                b"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                b"A2A-Version: 1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            if first:
                await reader.readuntil(b"id: 1")
            else:
                await writer.drain()
            writer.transport.abort()
            await closed.wait()
            left = asyncio.all_tasks() - before
            if left:
                await asyncio.wait(left)
        assert asyncio.all_tasks() <= before


async def test_a_stream_that_is_cancelled_is_closed(scripted, message):
    closed, started = asyncio.Event(), asyncio.Event()
    app = build_app(scripted(stream_message=closing(closed, frame(1))), profile=_profile())
    body = [{"type": "http.request", "body": call(message())}]

    async def receive() -> Any:
        if body:
            return body.pop()
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message.get("body"):
            started.set()

    headers = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers, "query_string": b""}
    request = asyncio.create_task(app(scope, receive, send))
    async with asyncio.timeout(5):
        await started.wait()
        before = asyncio.all_tasks()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert closed.is_set()
    assert len(before - asyncio.all_tasks()) == 3  # the request, and the two that it had started


async def test_a_connection_that_breaks_while_we_send_is_the_end_and_no_error(scripted, message):
    closed = asyncio.Event()
    app = build_app(scripted(stream_message=closing(closed, frame(1))), profile=_profile())
    body = [{"type": "http.request", "body": call(message())}]

    async def receive() -> Any:
        if body:
            return body.pop()
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            raise OSError("broken pipe")

    headers = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers, "query_string": b""}
    async with asyncio.timeout(5):
        await app(scope, receive, send)
    assert closed.is_set()


def _profile() -> Any:
    from a2a_fn.profile import IAC

    return IAC


async def test_many_streams_at_once_each_get_their_own(listen, scripted, message):
    all_begun = asyncio.Barrier(50)

    async def stream_message(request: Any, caller: Any) -> AsyncIterator[Frame]:
        yield frame(int(request.message.message_id))
        await all_begun.wait()
        yield frame(int(request.message.message_id) + 1000)

    async def one(server: Any, number: int) -> list[str]:
        response = await server.post(call(message(messageId=str(number))))
        return [event["id"] for event in events(response.text)]

    async with listen(scripted(stream_message=stream_message)) as server, asyncio.timeout(20):
        got = await asyncio.gather(*(one(server, number) for number in range(1, 51)))
    assert got == [[str(n), str(n + 1000)] for n in range(1, 51)]


# --- resuming -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "seen"),
    [("7", 7), ("0", 0), ("-1", None), ("x", None), ("1.5", None), ("9" * 19, None), ("", None)],
)
async def test_last_event_id_is_a_generation_or_nothing(listen, scripted, header, seen):
    got = []

    async def subscribe(request: Any, caller: Any, last_event_id: int | None = None) -> Any:
        got.append((request.id, last_event_id))
        yield frame(8)

    async with listen(scripted(subscribe=subscribe)) as server:
        body = b'{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"t"}}'
        await server.post(body, Last_Event_ID=header)
    assert got == [("t", seen)]
    assert last_event_id("\u0667") is None  # a digit, but not one of ours


async def test_a_reader_that_comes_back_misses_and_repeats_nothing(agent, message):
    sent = {"message": message("wait"), "configuration": {"returnImmediately": True}}
    task_id = (await agent.call("SendMessage", sent))["result"]["task"]["id"]
    params = {"id": task_id}
    envelope = {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": params}
    body = json.dumps(envelope).encode()

    async with asyncio.timeout(5):
        post = agent.http.stream("POST", agent.url, content=body, headers=HEADERS)
        async with post as response:
            lines = response.aiter_lines()
            seen = (await anext(lines)).removeprefix("id: ")
            assert "task" in json.loads((await anext(lines)).removeprefix("data: "))["result"]
        again = asyncio.create_task(agent.post(body, Last_Event_ID=seen))
        await agent.call("CancelTask", params)
        response: httpx.Response = await again
    if "text/event-stream" in response.headers["content-type"]:
        first, *rest = events(response.text)
        assert first["id"] == seen  # the task as it was then, and from there on each event
        assert "task" in json.loads(first["data"])["result"]
        ids = [int(event["id"]) for event in rest]
        assert ids == list(range(int(seen) + 1, int(seen) + 1 + len(ids)))
    else:  # the cancel was faster: then there is nothing left to follow
        assert response.json()["error"]["code"] == -32004
