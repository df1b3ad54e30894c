"""Server-Sent Events on bare ASGI: ids, keep-alive, and an end to everything when anyone leaves.

A frame is ``id: <generation>`` and ``data: <a whole JSON-RPC response>``. The response begins
with the first frame, so that an error before it can still be a plain answer; but a first frame
that takes longer than the keep-alive time starts the stream without it, because a client that
hears nothing gives up (a default a2a-sdk client after 5 s). From then on an error is an
``event: error`` frame and the end of the stream.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import cast

from starlette.types import Receive, Send

from .callers import Frame
from .exchange import disconnected

MEDIA_TYPE = b"text/event-stream; charset=utf-8"

_START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", MEDIA_TYPE),
        (b"cache-control", b"no-cache, no-transform"),
        (b"x-accel-buffering", b"no"),
    ],
}
_COMMENT = b": keep-alive\n\n"
_EVENT_ID = re.compile(r"[0-9]{1,18}")


def last_event_id(value: str) -> int | None:
    """The ``Last-Event-ID`` header as a generation.

    Anything but a plain number counts as no header: the ids that we send are numbers, and a
    stream from the start gives such a client all that it needs.
    """
    return int(value) if _EVENT_ID.fullmatch(value) else None


async def respond(
    frames: AsyncIterator[Frame],
    *,
    receive: Receive,
    send: Send,
    encode: Callable[[Frame], bytes],
    fail: Callable[[Exception], bytes],
    keep_alive: float,
) -> None:
    """Stream ``frames`` until they end, the client leaves, or this task is cancelled.

    ``encode`` gives a frame's data, ``fail`` an error's; a comment is sent after ``keep_alive``
    seconds of silence. When it returns, the frames' generator is closed and no task is left.
    Raises what the generator raised, if nothing had been sent by then.
    """
    stream = _Stream(send)
    pump = asyncio.create_task(_pump(frames, stream, encode, fail))
    gone = asyncio.create_task(disconnected(receive))
    try:
        while not pump.done():
            await asyncio.wait(
                {pump, gone},
                timeout=stream.silence_left(keep_alive),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if gone.done():
                return
            if stream.silence_left(keep_alive) <= 0:
                await stream.comment()
        # Once the response has begun, only ``send`` can fail: then there is nobody left to tell.
        error = pump.exception()
        if error is not None and not stream.started:
            raise error
    finally:
        pump.cancel()
        gone.cancel()
        await asyncio.gather(pump, gone, return_exceptions=True)


class _Stream:
    """The response: starts itself, sends whole events, and knows how long it was silent."""

    def __init__(self, send: Send) -> None:
        self.started = False
        self._send = send
        self._one_at_a_time = asyncio.Lock()
        self._now = asyncio.get_running_loop().time
        self._last = self._now()

    def silence_left(self, keep_alive: float) -> float:
        """Seconds until a comment is due."""
        return self._last + keep_alive - self._now()

    async def write(self, data: bytes, *, more: bool = True) -> None:
        async with self._one_at_a_time:
            if not self.started:
                self.started = True
                await self._send(_START)
            await self._send({"type": "http.response.body", "body": data, "more_body": more})
        self._last = self._now()

    async def comment(self) -> None:
        """Say that we are alive, unless an event is just on its way to a slow reader."""
        self._last = self._now()
        if not self._one_at_a_time.locked():
            await self.write(_COMMENT)


async def _pump(
    frames: AsyncIterator[Frame],
    stream: _Stream,
    encode: Callable[[Frame], bytes],
    fail: Callable[[Exception], bytes],
) -> None:
    # One task runs the generator from its first step to its last: it may hold time-outs or locks
    # that belong to a task.
    try:
        async with aclosing(cast("AsyncGenerator[Frame, None]", frames)):
            async for frame in frames:
                head = b"id: %d\n" % frame.generation if frame.generation else b""
                await stream.write(b"%sdata: %s\n\n" % (head, encode(frame)))
    except Exception as error:
        if not stream.started:
            raise
        await stream.write(b"event: error\ndata: %s\n\n" % fail(error))
    await stream.write(b"", more=False)
