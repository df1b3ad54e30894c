"""One HTTP exchange on bare ASGI: a bounded read, a client that leaves, one JSON answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Mapping
from typing import NamedTuple, TypeVar

from starlette.types import Receive, Scope, Send

JSON = b"application/json"

PATIENCE = 2.0
"""Seconds after which a call that is not answered is given up when its client leaves. Before that
it is likely to be handing its message over, which is better finished than cut."""

T = TypeVar("T")


class Limits(NamedTuple):
    """``body``: the largest request body, in bytes. ``keep_alive``: seconds of silence after
    which a stream says that it is alive."""

    body: int = 10 * 1024 * 1024
    keep_alive: float = 4.0


DEFAULTS = Limits()


class BodyTooLarge(Exception):
    """The body is over the limit; the rest of it was not read."""


class Disconnected(Exception):
    """The client went away: there is nobody to answer."""


def header(scope: Scope, name: bytes) -> str:
    """The first header of that lower-case name, stripped; "" if there is none."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value, "latin-1").strip()
    return ""


def headers(scope: Scope, name: bytes) -> list[str]:
    """Every header of that lower-case name, stripped."""
    return [str(value, "latin-1").strip() for key, value in scope["headers"] if key == name]


_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")


def base_url(scope: Scope) -> str:
    """Where the client sees us: scheme, Host and mount path of its request, no final slash;
    "" when Host is not the name of a host."""
    host = header(scope, b"host")
    if not host and scope.get("server"):
        name, port = scope["server"]
        host = f"{name}:{port}" if port else name
    if not _HOST.fullmatch(host):
        return ""
    scheme = "https" if scope.get("scheme") in ("https", "wss") else "http"
    return f"{scheme}://{host}{scope.get('root_path', '')}".rstrip("/")


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """The whole body, at most ``limit`` bytes.

    Raises ``BodyTooLarge`` as soon as it is sure: by Content-Length before the first byte, or in
    the middle of a chunked body.
    """
    announced = header(scope, b"content-length")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise BodyTooLarge
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise BodyTooLarge
        chunks.append(chunk)
        if not message.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


async def disconnected(receive: Receive) -> None:
    """Returns when the client has gone, once the body is read; never, if the server cannot tell
    (some adapters hand out the body again and again)."""
    if (await receive())["type"] != "http.disconnect":
        await asyncio.Event().wait()


async def unless_gone(work: Awaitable[T], receive: Receive) -> T:
    """The result of ``work``; it is cancelled, and ``Disconnected`` raised, if the client leaves
    and ``PATIENCE`` is over. The usual quick call pays for one timer and no task."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    watcher: asyncio.Task[None] | None = None
    gone = False

    async def watch() -> None:
        nonlocal gone
        await disconnected(receive)
        gone = True
        if task is not None:
            task.cancel()

    def start() -> None:
        nonlocal watcher
        watcher = loop.create_task(watch())

    timer = loop.call_later(PATIENCE, start)
    try:
        return await work
    except asyncio.CancelledError:
        if not gone or task is None or task.uncancel() > 0:
            raise  # somebody else wants us to stop, too
        raise Disconnected from None
    finally:
        timer.cancel()
        if watcher is not None:
            watcher.cancel()
            await asyncio.wait([watcher])


async def send_json(
    send: Send,
    body: bytes,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    head: bool = False,
    media_type: bytes = JSON,
) -> None:
    """Answer with a JSON document; ``head``: with everything but the document."""
    raw = [(b"content-type", media_type), (b"content-length", b"%d" % len(body))]
    if headers:
        raw += [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": b"" if head else body})
