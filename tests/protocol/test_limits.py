"""Is a body over the limit refused without being read?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from a2a_fn.protocol.exchange import BodyTooLarge, read_body

LIMIT = 2000


def sized(size: int) -> bytes:
    call = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "t"}}
    return json.dumps(call).encode().ljust(size)


async def chunks(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 500):
        yield body[start : start + 500]


async def test_a_body_of_the_limit_is_taken(listen, handler, checked):
    async with listen(handler, body_limit=LIMIT) as server:
        assert checked(await server.post(sized(LIMIT)))["error"]["code"] == -32001
        assert checked(await server.post(chunks(sized(LIMIT))))["error"]["code"] == -32001


async def test_a_byte_more_is_413_with_json(listen, handler, checked):
    async with listen(handler, body_limit=LIMIT) as server:
        for body in (sized(LIMIT + 1), chunks(sized(LIMIT + 1))):
            envelope = checked(await server.post(body), status=413)
            assert envelope["error"]["code"] == -32600
            assert envelope["error"]["message"] == "The body must be at most 2000 bytes."


async def test_the_answer_does_not_wait_for_the_rest(listen, handler):
    head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n"
    announced = head + b"Content-Length: 999999999\r\n\r\n"
    in_chunks = head + b"Transfer-Encoding: chunked\r\n\r\n" + b"7d1\r\n" + b"x" * 2001 + b"\r\n"
    async with listen(handler, body_limit=LIMIT) as server, asyncio.timeout(5):
        port = int(server.url.rstrip("/").rpartition(":")[2])
        for request in (announced, in_chunks):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            assert (await reader.readline()).startswith(b"HTTP/1.1 413 ")
            writer.close()


async def test_reading_stops_at_the_first_chunk_too_many():
    reads = 0

    async def receive() -> dict[str, object]:
        nonlocal reads
        reads += 1
        return {"type": "http.request", "body": b"x" * 600, "more_body": True}

    for headers, expected in ([(b"content-length", b"9" * 40)], 0), ([], 4):
        reads = 0
        try:
            await read_body({"headers": headers}, receive, LIMIT)
        except BodyTooLarge:
            assert reads == expected
        else:
            raise AssertionError("the body was taken")


async def test_a_length_that_is_no_number_is_not_believed():
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"{}"}

    assert await read_body({"headers": [(b"content-length", b"-1")]}, receive, LIMIT) == b"{}"


async def test_nobody_is_answered_who_left_while_sending(listen, handler):
    async with listen(handler) as server, asyncio.timeout(5):
        port = int(server.url.rstrip("/").rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            b"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        await writer.drain()
        writer.transport.abort()
        assert (await server.http.get(f"{server.url}health")).status_code == 200
