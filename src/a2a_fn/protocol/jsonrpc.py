"""The JSON-RPC 2.0 binding: an envelope in, a handler's answer or an error out.

Decisions, where JSON-RPC or A2A leave one:

- Errors are HTTP 200, except a body over the limit (413) and an engine that is down (503).
- A call without ``id`` is answered with ``"id": null``, as the a2a-sdk does: A2A has no
  notifications, and a client that forgot the id wants to know what went wrong.
- Batches are refused. So is a name that occurs twice in an object: parsers differ in which one
  they take, and whoever checked the request before us may have seen the other.
- The order of checks: credentials, media type, size, JSON, envelope, version, method, params.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qs

from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    SendMessageRequest,
    SubscribeToTaskRequest,
)
from a2a.utils.errors import (
    A2AError,
    ContentTypeNotSupportedError,
    InvalidRequestError,
    MethodNotFoundError,
    PushNotificationNotSupportedError,
    UnsupportedOperationError,
    VersionNotSupportedError,
)
from google.protobuf.message import Message
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from . import envelope, inputs, sse
from .callers import Caller, Frame, Handler
from .errors import describe
from .exchange import BodyTooLarge, Disconnected, header, read_body, send_json, unless_gone

VERSION = "1.0"
MEDIA_TYPES = ("application/json", "application/a2a+json")


class Operation(NamedTuple):
    """A method: the type of its params and the handler's method for it."""

    request: type[Message]
    handler: str
    streams: bool = False
    resumes: bool = False


OPERATIONS: dict[str, Operation] = {
    "SendMessage": Operation(SendMessageRequest, "send_message"),
    "SendStreamingMessage": Operation(SendMessageRequest, "stream_message", streams=True),
    "GetTask": Operation(GetTaskRequest, "get_task"),
    "ListTasks": Operation(ListTasksRequest, "list_tasks"),
    "CancelTask": Operation(CancelTaskRequest, "cancel_task"),
    "SubscribeToTask": Operation(SubscribeToTaskRequest, "subscribe", streams=True, resumes=True),
}

REFUSED: dict[str, type[A2AError]] = {
    "CreateTaskPushNotificationConfig": PushNotificationNotSupportedError,
    "GetTaskPushNotificationConfig": PushNotificationNotSupportedError,
    "ListTaskPushNotificationConfigs": PushNotificationNotSupportedError,
    "DeleteTaskPushNotificationConfig": PushNotificationNotSupportedError,
    "GetExtendedAgentCard": UnsupportedOperationError,
}
"""Methods of A2A that this agent's card says it does not have."""


class JsonRpc:
    """The ASGI application at the JSON-RPC address."""

    def __init__(
        self,
        handler: Handler,
        *,
        authenticate: Callable[[Request], Caller],
        streaming: bool,
        body_limit: int,
        keep_alive: float,
    ) -> None:
        self._handler = handler
        self._authenticate = authenticate
        self._streaming = streaming
        self._body_limit = body_limit
        self._keep_alive = keep_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise HTTPException(405, headers={"Allow": "POST"})
        call_id: envelope.CallId = None
        caller = Caller()
        status = 200
        headers: dict[str, str] = {}
        try:
            caller = self._authenticate(Request(scope))
            _check_media_type(scope)
            document = envelope.decode(await read_body(scope, receive, self._body_limit))
            call_id = envelope.identify(document)
            method, params = envelope.unwrap(document)
            _check_version(scope)
            operation = select(method)
            if operation.streams and not self._streaming:
                raise UnsupportedOperationError("This agent does not stream: use SendMessage.")
            request = inputs.read(envelope.by_name(params), operation.request())
            if operation.streams:
                await self._stream(operation, request, caller, call_id, scope, receive, send)
                return
            work = getattr(self._handler, operation.handler)(request, caller)
            answer = await unless_gone(work, receive)
            body = envelope.result(call_id, answer)
        except Disconnected:
            return
        except HTTPException:  # the host's credentials check answers in HTTP's own terms
            raise
        except BodyTooLarge:
            status = 413
            body = envelope.failure(call_id, describe(self._too_large()))
        except Exception as error:
            fault = describe(error, caller.request_id)
            if fault.retry_after is not None:
                status = 503
                headers["Retry-After"] = str(fault.retry_after)
            body = envelope.failure(call_id, fault)
        await send_json(send, body, status=status, headers=headers)

    async def _stream(
        self,
        operation: Operation,
        request: Message,
        caller: Caller,
        call_id: envelope.CallId,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        follow = getattr(self._handler, operation.handler)
        if operation.resumes:
            seen = sse.last_event_id(header(scope, b"last-event-id"))
            frames = follow(request, caller, seen)
        else:
            frames = follow(request, caller)

        def encode(frame: Frame) -> bytes:
            return envelope.result(call_id, frame.response)

        def fail(error: Exception) -> bytes:
            return envelope.failure(call_id, describe(error, caller.request_id))

        await sse.respond(
            frames,
            receive=receive,
            send=send,
            encode=encode,
            fail=fail,
            keep_alive=self._keep_alive,
        )

    def _too_large(self) -> InvalidRequestError:
        return InvalidRequestError(f"The body must be at most {self._body_limit} bytes.")


def select(method: str) -> Operation:
    """The operation of that name; MethodNotFoundError, or why this agent does not have it."""
    operation = OPERATIONS.get(method)
    if operation is None:
        if method in REFUSED:
            raise REFUSED[method]()
        raise MethodNotFoundError(f"There is no such method; there are: {', '.join(OPERATIONS)}.")
    return operation


def _check_media_type(scope: Scope) -> None:
    given = header(scope, b"content-type").partition(";")[0].strip().lower()
    if given not in MEDIA_TYPES:
        raise ContentTypeNotSupportedError(
            f"The Content-Type must be {MEDIA_TYPES[0]}.",
            data={"supported": ", ".join(MEDIA_TYPES)},
        )


_VERSION = re.compile(r"([0-9]{1,4}\.[0-9]{1,4})(\.[0-9]{1,9})?")  # a patch number says nothing


def _check_version(scope: Scope) -> None:
    given = header(scope, b"a2a-version")
    if not given and b"a2a-version=" in scope["query_string"].lower():
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = next((v[0] for k, v in query.items() if k.lower() == "a2a-version"), "").strip()
    parsed = _VERSION.fullmatch(given)
    if parsed and parsed[1] == VERSION:
        return
    what = f"A2A version {parsed[1]}" if parsed else "The A2A version that was asked for"
    if not given:
        what = "A2A version 0.3, which a request without A2A-Version asks for,"
    raise VersionNotSupportedError(
        f"{what} is not supported: send the header A2A-Version: {VERSION}.",
        data={"supportedVersions": VERSION},
    )
