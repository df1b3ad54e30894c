"""The HTTP+JSON binding of A2A 0.3: the paths under ``/v1``, in the JSON of ``v03_proto.py``.

An error has the body of 1.0, and beside it ``type`` and ``message``, by which clients of 0.3 know
it. There is no list of tasks: the proto file of 0.3 has none.

``v03`` and ``v03_proto`` cost half a cold start: they are imported once a caller is admitted.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from a2a.utils.errors import (
    JSON_RPC_ERROR_CODE_MAP,
    VersionNotSupportedError,
)
from google.protobuf.message import Message
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from ..errors import TooLarge
from . import envelope, inputs, outputs, sse
from .callers import Caller, Frame, Handler
from .errors import Fault, describe, invalid
from .exchange import (
    DEFAULTS,
    BodyTooLarge,
    Disconnected,
    Limits,
    header,
    read_body,
    send_json,
    unless_gone,
)
from .gate import V03, Gate
from .jsonrpc import check_media_type
from .operations import OPERATIONS, Operation

_TASK = "tasks/(?P<task>[^/]+)"
_PATHS: tuple[tuple[re.Pattern[str], dict[str, str]], ...] = tuple(
    (re.compile(path), verbs)
    for path, verbs in (
        ("message:send", {"POST": "SendMessage"}),
        ("message:stream", {"POST": "SendStreamingMessage"}),
        (f"{_TASK}:cancel", {"POST": "CancelTask"}),
        (f"{_TASK}:subscribe", {"GET": "SubscribeToTask", "POST": "SubscribeToTask"}),
        (_TASK, {"GET": "GetTask"}),
        (
            f"{_TASK}/pushNotificationConfigs",
            {
                "GET": "ListTaskPushNotificationConfigs",
                "POST": "CreateTaskPushNotificationConfig",
            },
        ),
        (
            f"{_TASK}/pushNotificationConfigs/(?P<config>[^/]+)",
            {
                "GET": "GetTaskPushNotificationConfig",
                "DELETE": "DeleteTaskPushNotificationConfig",
            },
        ),
        ("card", {"GET": "GetExtendedAgentCard"}),
    )
)
_WITH_BODY = {"SendMessage", "SendStreamingMessage", "CreateTaskPushNotificationConfig"}
_ERROR_NAMES = {code: kind.__name__ for kind, code in JSON_RPC_ERROR_CODE_MAP.items()}


class _Call(NamedTuple):
    """What the path and the verb say."""

    operation: Operation
    task: str
    config: str


class RestV03:
    """The ASGI application of a route ``/v1/{path:path}``."""

    def __init__(self, handler: Handler, gate: Gate, limits: Limits = DEFAULTS) -> None:
        self._handler = handler
        self._gate = gate
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = _called(scope)
        caller = Caller()
        try:
            caller = await self._gate.admit(scope)
            document = await self._document(call, scope, receive)
            if self._gate.version(scope) != V03:
                raise VersionNotSupportedError(
                    "The paths under /v1 are those of A2A 0.3; the paths of 1.0 have no /v1.",
                    data={"supportedVersions": V03},
                )
            self._gate.permit(call.operation, caller)
            request = _request(call, document, scope)
            caller = self._gate.enter(caller, request.tenant)  # type: ignore[attr-defined]
            caller = caller._replace(v03=True)
            if call.operation.streams:
                frames = self._frames(call, request, caller, scope)
                await self._stream(frames, caller, receive, send)
                return
            work = getattr(self._handler, call.operation.handler)(request, caller)
            body = outputs.dumps(_answer(call.operation, await unless_gone(work, receive)))
        except Disconnected:
            return
        except HTTPException:  # the gate answers in HTTP's own terms
            raise
        except BodyTooLarge:
            words = f"The body must be at most {self._limits.body} bytes."
            await _refuse(send, describe(TooLarge())._replace(message=words))
        except Exception as error:
            await _refuse(send, describe(error, caller.request_id))
        else:
            await send_json(send, body)

    async def _document(self, call: _Call, scope: Scope, receive: Receive) -> object:
        """The body's JSON, of an operation that reads one; always the whole body is received."""
        reads = call.operation.name in _WITH_BODY
        if reads:
            check_media_type(scope)
        body = await read_body(scope, receive, self._limits.body)
        return envelope.decode(body) if reads else None

    def _frames(
        self, call: _Call, request: Message, caller: Caller, scope: Scope
    ) -> AsyncIterator[Frame]:
        from . import v03

        follow = getattr(self._handler, call.operation.handler)
        if not call.operation.resumes:
            return v03.until_final(follow(request, caller))
        last = sse.last_event_id(header(scope, b"last-event-id"))
        return v03.until_final(follow(request, caller, last))

    async def _stream(
        self, frames: AsyncIterator[Frame], caller: Caller, receive: Receive, send: Send
    ) -> None:
        from . import v03_proto

        await sse.respond(
            frames,
            receive=receive,
            send=send,
            encode=lambda frame: outputs.dumps(v03_proto.encode(frame.response)),
            fail=lambda error: _error(describe(error, caller.request_id)),
            keep_alive=self._limits.keep_alive,
        )


def _called(scope: Scope) -> _Call:
    """The operation; raises HTTPException 404 or 405."""
    path = scope["path_params"]["path"]
    for pattern, verbs in _PATHS:
        match = pattern.fullmatch(path)
        if match is None:
            continue
        name = verbs.get(scope["method"])
        if name is None:
            raise HTTPException(405, headers={"Allow": ", ".join(verbs)})
        found = match.groupdict()
        return _Call(OPERATIONS[name], found.get("task", ""), found.get("config", ""))
    raise HTTPException(404)


def _request(call: _Call, document: object, scope: Scope) -> Message:
    """The 1.0 request that the call means; InvalidParamsError."""
    from . import v03_proto

    name = call.operation.name
    if name in ("SendMessage", "SendStreamingMessage"):
        return v03_proto.message_request(document)
    if name == "CreateTaskPushNotificationConfig":
        return v03_proto.config_request(document, call.task)
    if name == "GetExtendedAgentCard":
        return call.operation.request()
    fields = {"id": call.task}
    if name == "GetTask":
        length = _history_length(scope)
        fields |= {"historyLength": length} if length else {}
    elif name == "ListTaskPushNotificationConfigs":
        fields = {"taskId": call.task}
    elif call.config:
        fields = {"taskId": call.task, "id": call.config}
    return inputs.read(fields, call.operation.request())


def _history_length(scope: Scope) -> str:
    """The query's historyLength; "" for all, which 0.3 also says as 0."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    given = query.get("historyLength", []) + query.get("history_length", [])
    if len(given) > 1:
        raise invalid("historyLength", "must be given once")
    return given[0] if given and given[0] != "0" else ""


def _answer(operation: Operation, answer: Message) -> dict[str, Any]:
    if operation.name == "DeleteTaskPushNotificationConfig":
        return {}
    from . import v03_proto

    return v03_proto.encode(answer)


async def _refuse(send: Send, fault: Fault) -> None:
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    await send_json(send, _error(fault), status=fault.outcome.http, headers=headers)


def _error(fault: Fault) -> bytes:
    name = _ERROR_NAMES.get(fault.outcome.code, "InternalError")
    return outputs.dumps({**fault.http(), "type": name, "message": fault.message})
