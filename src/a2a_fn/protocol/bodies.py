"""HTTP bodies in and out, on bare ASGI: a bounded read, and one JSON answer."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import Receive, Scope, Send

_JSON = b"application/json"


class BodyTooLarge(Exception):
    """The body is over the limit; the rest of it was not read."""


class Disconnected(Exception):
    """The client went away in the middle of its request: there is nobody to answer."""


def header(scope: Scope, name: bytes) -> str:
    """The first header of that lower-case name, stripped; "" if there is none."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value, "latin-1").strip()
    return ""


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


async def send_json(
    send: Send,
    body: bytes,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    head: bool = False,
) -> None:
    """Answer with a JSON document; ``head``: with everything but the document."""
    raw = [(b"content-type", _JSON), (b"content-length", b"%d" % len(body))]
    if headers:
        raw += [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": b"" if head else body})
