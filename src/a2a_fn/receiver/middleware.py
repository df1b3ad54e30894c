"""An ASGI middleware that lets verified notifications through, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from .faults import Rejected
from .verify import Receiver

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_LIMIT = 10 * 1024 * 1024
"""Bytes of a notification, unless the middleware is told another limit."""

_INVISIBLE = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]")
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{1,128}")


class ReceiverMiddleware:
    """Stands before an application at ``path`` and all below it; other paths pass untouched.

    A POST that ``receiver`` verifies reaches the application, with its body, and with the
    ``Notification`` in ``scope["state"]["a2a_notification"]``. Any other is answered here, with the
    status of its Rejected and ``{"error": reason}``; so is the challenge by which an agent asks
    whether this webhook wants pushes (GET with ``?validationToken=T``: 200 and T).
    """

    def __init__(
        self, app: App, receiver: Receiver, path: str = "/", *, body_limit: int = BODY_LIMIT
    ) -> None:
        self._app = app
        self._receiver = receiver
        self._path = path.rstrip("/")
        self._body_limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http" or not self._concerns(scope):
            await self._app(scope, receive, send)
        elif scope["method"] == "GET":
            await _challenged(scope, send)
        elif scope["method"] != "POST":
            await _answer(send, 405, b'{"error":"a notification is a POST"}', allow="GET, POST")
        else:
            await self._notified(scope, receive, send)

    def _concerns(self, scope: Scope) -> bool:
        path, root = scope["path"], scope.get("root_path", "")
        if root and (path == root or path.startswith(f"{root}/")):  # at a segment, as routers do
            path = path[len(root) :]
        # a router may take "/a2a\n" for "/a2a", since "$" matches before a last line end
        path = _INVISIBLE.sub("", path)
        return bool(path == self._path or path.startswith(f"{self._path}/"))

    async def _notified(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            fields = _fields(scope)
            body = await self._body(fields, receive)
            if body is None:
                return
            notification = await self._receiver.verify(fields, body)
        except Rejected as error:
            retry = {} if error.retry_after is None else {"retry_after": str(error.retry_after)}
            text = json.dumps({"error": error.reason}).encode()
            await _answer(send, error.status, text, **retry)
            return
        state = {**scope.get("state", {}), "a2a_notification": notification}
        await self._app({**scope, "state": state}, _replayed(body, receive), send)

    async def _body(self, fields: dict[str, str], receive: Receive) -> bytes | None:
        """The body; None if the sender has gone. Raises Rejected if it is too large."""
        length = fields.get("content-length", "")
        body = bytearray()
        more = True
        while more:
            if len(body) > self._body_limit or (
                length.isdecimal() and int(length[:20]) > self._body_limit
            ):
                raise Rejected(f"it is larger than {self._body_limit} bytes", 413)
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if len(body) > self._body_limit:
            raise Rejected(f"it is larger than {self._body_limit} bytes", 413)
        return bytes(body)


def _fields(scope: Scope) -> dict[str, str]:
    """The headers. Raises Rejected for a proof that is there twice: which one would count?"""
    fields: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin-1").lower()
        if name in fields and (name == "authorization" or name.startswith("x-a2a-")):
            raise Rejected("a header is there twice", 400)
        fields[name] = raw_value.decode("latin-1")
    return fields


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body once more, then whatever comes."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


async def _challenged(scope: Scope, send: Send) -> None:
    query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    tokens = [value for name, value in query if name == "validationToken"]
    if len(tokens) == 1 and _CHALLENGE.fullmatch(tokens[0]):
        await _answer(send, 200, tokens[0].encode(), content_type="text/plain; charset=utf-8")
    elif tokens:
        await _answer(send, 400, b'{"error":"the challenge is malformed"}')
    else:
        await _answer(send, 405, b'{"error":"a notification is a POST"}', allow="GET, POST")


async def _answer(
    send: Send, status: int, body: bytes, content_type: str = "application/json", **more: str
) -> None:
    fields = {
        "content-type": content_type,
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        **({"www-authenticate": "Bearer"} if status == 401 else {}),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    headers = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
