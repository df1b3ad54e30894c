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

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
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
    InvalidParamsError,
    InvalidRequestError,
    JSONParseError,
    MethodNotFoundError,
    PushNotificationNotSupportedError,
    UnsupportedOperationError,
    VersionNotSupportedError,
)
from google.protobuf.message import Message
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from a2a_fn.protocol import inputs, outputs, sse
from a2a_fn.protocol.bodies import BodyTooLarge, Disconnected, header, read_body, send_json
from a2a_fn.protocol.callers import Caller, Frame, Handler
from a2a_fn.protocol.errors import describe

VERSION = "1.0"
MEDIA_TYPES = ("application/json", "application/a2a+json")

CallId = str | int | float | None


@dataclass(frozen=True, slots=True)
class Operation:
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
        call_id: CallId = None
        caller = Caller()
        status = 200
        headers: dict[str, str] = {}
        try:
            caller = self._authenticate(Request(scope))
            _check_media_type(scope)
            document = decode(await read_body(scope, receive, self._body_limit))
            call_id = identify(document)
            method, params = unwrap(document)
            _check_version(scope)
            operation = select(method)
            if operation.streams and not self._streaming:
                raise UnsupportedOperationError("This agent does not stream: use SendMessage.")
            request = inputs.read(_by_name(params), operation.request())
            if operation.streams:
                await self._stream(operation, request, caller, call_id, scope, receive, send)
                return
            answer = await getattr(self._handler, operation.handler)(request, caller)
            body = _result(call_id, answer)
        except Disconnected:
            return
        except HTTPException:  # the host's credentials check answers in HTTP's own terms
            raise
        except BodyTooLarge:
            status = 413
            body = _failure(call_id, self._too_large(), caller)
        except Exception as error:
            fault = describe(error, caller.request_id)
            if fault.retry_after is not None:
                status = 503
                headers["Retry-After"] = str(fault.retry_after)
            body = outputs.dumps(_envelope(call_id, "error", fault.jsonrpc()))
        await send_json(send, body, status=status, headers=headers)

    async def _stream(
        self,
        operation: Operation,
        request: Message,
        caller: Caller,
        call_id: CallId,
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
            return _result(call_id, frame.response)

        def fail(error: Exception) -> bytes:
            return _failure(call_id, error, caller)

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


# --- the envelope -------------------------------------------------------------------------------


def decode(body: bytes) -> object:
    """The body's JSON: UTF-8, finite numbers, no name twice in an object; else JSONParseError."""
    try:
        return json.loads(
            body.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except UnicodeDecodeError:
        raise JSONParseError("The body must be UTF-8.") from None
    except RecursionError:
        raise JSONParseError("The body's JSON is nested too deep.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise JSONParseError(f"The body must be JSON; it is not at {where}.") from None
    except ValueError:  # an integer of thousands of digits
        raise JSONParseError("The body has a number that is too long.") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise JSONParseError("The body has an object with the same name twice.")
    return result


def _no_constant(name: str) -> object:
    raise JSONParseError(f"{name} is not JSON.")


def identify(document: object) -> CallId:
    """The id to answer with: the call's own if JSON-RPC allows it, else InvalidRequestError."""
    if isinstance(document, list):
        raise InvalidRequestError("Batches are not supported: send one call at a time.")
    if not isinstance(document, dict):
        raise InvalidRequestError("A call must be a JSON object.")
    call_id = document.get("id")
    if isinstance(call_id, str) and call_id.isascii():
        return call_id
    if isinstance(call_id, str):
        try:
            call_id.encode()
        except UnicodeEncodeError:
            raise InvalidRequestError("id has half of a surrogate pair.") from None
        return call_id
    if isinstance(call_id, bool) or not (call_id is None or isinstance(call_id, int | float)):
        raise InvalidRequestError("id must be a string, a number, or null.")
    if isinstance(call_id, float) and not math.isfinite(call_id):
        raise InvalidRequestError("id must be a number in the range of a double.")
    return call_id


def unwrap(document: object) -> tuple[str, object]:
    """The call's method, and its params: an object, an array, or None."""
    assert isinstance(document, dict)  # noqa: S101 - identify() has refused everything else
    if document.get("jsonrpc") != "2.0":
        raise InvalidRequestError('jsonrpc must be "2.0".')
    method = document.get("method")
    if not isinstance(method, str):
        raise InvalidRequestError("method must be a string.")
    params = document.get("params")
    if params is not None and not isinstance(params, dict | list):
        raise InvalidRequestError("params must be an object.")
    return method, params


def select(method: str) -> Operation:
    """The operation of that name; MethodNotFoundError, or why this agent does not have it."""
    operation = OPERATIONS.get(method)
    if operation is None:
        if method in REFUSED:
            raise REFUSED[method]()
        raise MethodNotFoundError(f"There is no such method; there are: {', '.join(OPERATIONS)}.")
    return operation


def _by_name(params: object) -> object:
    """Params that are not given are none; A2A has no order for params by position."""
    if isinstance(params, list):
        raise InvalidParamsError("params must be given by name, as an object.")
    return {} if params is None else params


def _envelope(call_id: CallId, member: str, value: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, member: value}


def _result(call_id: CallId, answer: Message) -> bytes:
    return outputs.dumps(_envelope(call_id, "result", outputs.encode(answer)))


def _failure(call_id: CallId, error: Exception, caller: Caller) -> bytes:
    fault = describe(error, caller.request_id)
    return outputs.dumps(_envelope(call_id, "error", fault.jsonrpc()))


# --- what A2A adds to it --------------------------------------------------------------------------


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
