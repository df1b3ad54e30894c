"""The JSON-RPC 2.0 binding: an envelope in, a handler's answer or an error out.

Decisions, where JSON-RPC or A2A leave one:

- Errors are HTTP 200, except a body over the limit (413) and an engine that is down (503).
- A call without ``id`` is answered with ``"id": null``, as the a2a-sdk does: A2A has no
  notifications, and a client that forgot the id wants to know what went wrong.
- Batches are refused. So is a name that occurs twice in an object: parsers differ in which one
  they take, and whoever checked the request before us may have seen the other.
- The order of checks: credentials, rate, media type, size, JSON, envelope, version, method,
  capability, extensions, params, tenant.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    InvalidRequestError,
    VersionNotSupportedError,
)
from google.protobuf.message import Message
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from . import envelope, sse
from .callers import Caller, Frame, Handler
from .dialect import V10, Dialect
from .errors import describe
from .exchange import (
    DEFAULTS,
    JSON,
    BodyTooLarge,
    Disconnected,
    Limits,
    header,
    read_body,
    send_json,
    unless_gone,
)
from .gate import V03, Gate
from .gate import V10 as V10_NAME
from .operations import OPERATIONS, Operation

MEDIA_TYPES = ("application/json", "application/a2a+json")


class JsonRpc:
    """The ASGI application at a JSON-RPC address.

    ``v03`` gives the dialect of A2A 0.3, called when such a request comes.
    """

    def __init__(
        self,
        handler: Handler,
        gate: Gate,
        limits: Limits = DEFAULTS,
        *,
        v03: Callable[[], Dialect] | None = None,
    ) -> None:
        self._handler = handler
        self._gate = gate
        self._v10: Dialect = V10()
        self._v03 = v03
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise HTTPException(405, headers={"Allow": "POST"})
        call_id: envelope.CallId = None
        caller = Caller()
        dialect = self._v10
        operation: Operation | None = None
        status = 200
        headers: dict[str, str] = {}
        try:
            caller = await self._gate.admit(scope)
            check_media_type(scope)
            document = envelope.decode(await read_body(scope, receive, self._limits.body))
            call_id = envelope.identify(document)
            method, params = envelope.unwrap(document)
            dialect = self._dialect(scope, method)
            operation = dialect.operation(method)
            self._gate.permit(operation, caller)
            request = dialect.request(operation, params)
            caller = self._gate.enter(caller, request.tenant)  # type: ignore[attr-defined]
            caller = caller._replace(v03=dialect is not self._v10)
            if operation.streams:
                frames = dialect.frames(self._frames(operation, request, caller, scope))
                await self._stream(dialect, operation, frames, caller, call_id, receive, send)
                return
            work = getattr(self._handler, operation.handler)(request, caller)
            answer = await unless_gone(work, receive)
            body = envelope.result(call_id, dialect.answer(operation, answer))
        except Disconnected:
            return
        except HTTPException:  # the gate answers in HTTP's own terms
            raise
        except BodyTooLarge:
            status = 413
            body = envelope.failure(call_id, dialect.error(describe(self._too_large())))
        except Exception as error:
            fault = describe(error, caller.request_id)
            if fault.retry_after is not None:
                status = 503
                headers["Retry-After"] = str(fault.retry_after)
            body = envelope.failure(call_id, dialect.error(fault))
        media_type = JSON
        if operation is not None and operation.streams and dialect.streams_errors:
            media_type, body = sse.MEDIA_TYPE, b"data: %s\n\n" % body
        await send_json(send, body, status=status, headers=headers, media_type=media_type)

    def _dialect(self, scope: Scope, method: str) -> Dialect:
        """The dialect of the version that the request asks for."""
        if self._gate.version(scope) != V03 or self._v03 is None:
            return self._v10
        if method in OPERATIONS and not header(scope, b"a2a-version"):
            raise VersionNotSupportedError(
                f"{method} is a method of A2A {V10_NAME}: send the header A2A-Version: {V10_NAME}; "
                f"without it a request is of A2A {V03}.",
                data={"supportedVersions": f"{V10_NAME}, {V03}"},
            )
        return self._v03()

    def _frames(
        self, operation: Operation, request: Message, caller: Caller, scope: Scope
    ) -> AsyncIterator[Frame]:
        follow: Callable[..., AsyncIterator[Frame]] = getattr(self._handler, operation.handler)
        if operation.resumes:
            return follow(request, caller, sse.last_event_id(header(scope, b"last-event-id")))
        return follow(request, caller)

    async def _stream(
        self,
        dialect: Dialect,
        operation: Operation,
        frames: AsyncIterator[Frame],
        caller: Caller,
        call_id: envelope.CallId,
        receive: Receive,
        send: Send,
    ) -> None:
        def encode(frame: Frame) -> bytes:
            return envelope.result(call_id, dialect.answer(operation, frame.response))

        def fail(error: Exception) -> bytes:
            return envelope.failure(call_id, dialect.error(describe(error, caller.request_id)))

        await sse.respond(
            frames,
            receive=receive,
            send=send,
            encode=encode,
            fail=fail,
            keep_alive=self._limits.keep_alive,
        )

    def _too_large(self) -> InvalidRequestError:
        return InvalidRequestError(f"The body must be at most {self._limits.body} bytes.")


def check_media_type(scope: Scope) -> None:
    """Raises ContentTypeNotSupportedError unless the body says that it is JSON."""
    given = header(scope, b"content-type").partition(";")[0].strip().lower()
    if given not in MEDIA_TYPES:
        raise ContentTypeNotSupportedError(
            f"The Content-Type must be {MEDIA_TYPES[0]}.",
            data={"supported": ", ".join(MEDIA_TYPES)},
        )
