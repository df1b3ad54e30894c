"""Does a call end when nobody waits for it any more, and only then?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from a2a.types.a2a_pb2 import Task

from a2a_fn.protocol import exchange

CALL = b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}'


class Slow:
    """A handler that answers when it is told to, and knows how it ended."""

    def __init__(self) -> None:
        self.begun, self.go, self.cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def get_task(self, request: Any, caller: Any) -> Task:
        self.begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return Task(id="t")


async def send_call(server: Any) -> asyncio.StreamWriter:
    port = int(server.url.rstrip("/").rpartition(":")[2])
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n"
    writer.write(f"{head}Content-Length: {len(CALL)}\r\n\r\n".encode() + CALL)
    return writer


async def test_a_call_that_waits_ends_when_its_client_leaves(listen, monkeypatch, caplog):
    monkeypatch.setattr(exchange, "PATIENCE", 0)
    handler = Slow()
    async with listen(handler) as server, asyncio.timeout(5):
        before = asyncio.all_tasks()
        writer = await send_call(server)
        await handler.begun.wait()
        writer.transport.abort()
        await handler.cancelled.wait()
        left = asyncio.all_tasks() - before
        if left:
            await asyncio.wait(left)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_call_that_has_just_come_is_finished(listen):
    handler = Slow()
    async with listen(handler) as server, asyncio.timeout(5):
        writer = await send_call(server)
        await handler.begun.wait()
        writer.transport.abort()
        handler.go.set()
        assert (await server.http.get(f"{server.url}health")).status_code == 200
    assert not handler.cancelled.is_set()


async def test_a_client_that_stays_is_answered_however_long_it_takes(listen, monkeypatch, checked):
    watching = asyncio.Event()

    async def disconnected(receive: Any) -> None:
        watching.set()
        await really(receive)

    really = exchange.disconnected
    monkeypatch.setattr(exchange, "disconnected", disconnected)
    monkeypatch.setattr(exchange, "PATIENCE", 0)
    handler = Slow()
    async with listen(handler) as server, asyncio.timeout(5):
        call = asyncio.create_task(server.post(CALL))
        await watching.wait()
        handler.go.set()
        assert checked(await call)["result"] == {"id": "t"}


async def test_being_cancelled_from_outside_is_no_client_that_left(monkeypatch):
    monkeypatch.setattr(exchange, "PATIENCE", 0)
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def receive() -> Any:
        await asyncio.Event().wait()

    task = asyncio.create_task(exchange.unless_gone(work(), receive))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
