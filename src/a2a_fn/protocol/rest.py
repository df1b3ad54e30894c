"""The HTTP+JSON binding: a path and its parameters in, a handler's answer or an error out.

Decisions, where A2A leaves one:

- An error has the HTTP status of its kind and a google.rpc.Status as its body; so has a method
  that a path does not allow. Paths that are not of this binding, credentials and rates are refused
  by the application, in HTTP's own terms.
- These paths are those of A2A 1.0, also where 0.3 is spoken on others.
- What the path says holds. A body or a query that says something else is refused, and so is a
  POST that has some of its parameters in the query: ignored, they would be missed too late.
- A POST with an empty body has no parameters, whatever its media type.
- The order of checks: path, method, credentials, rate, size, media type, JSON, version,
  capability, extensions, parameters, tenant.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from a2a.utils.errors import InvalidParamsError, MethodNotFoundError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from ..errors import TooLarge
from . import envelope, outputs, paths, query, sse, values
from .callers import Caller, Frame, Handler
from .dialect import V10
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
from .gate import Gate
from .jsonrpc import check_media_type
from .operations import Operation

MEDIA_TYPE = b"application/a2a+json"

_OF_THE_PATH = {"id": ("id",), "taskId": ("taskId", "task_id"), "tenant": ("tenant",)}
"""A field that a path can give -> the names that a body or a query may give it by."""


class Rest:
    """The ASGI application behind the paths of the HTTP+JSON binding."""

    def __init__(self, handler: Handler, gate: Gate, limits: Limits = DEFAULTS) -> None:
        self._handler = handler
        self._gate = gate._replace(v03=False)
        self._limits = limits
        self._dialect = V10()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = paths.find(scope)
        if place is None:
            raise HTTPException(404)
        operation = place.operation(scope["method"])
        if operation is None:
            await _refuse(scope, send, _not_allowed(place), {"Allow": place.allow()})
            return
        caller = Caller()
        try:
            caller = await self._gate.admit(scope)
            document = await self._document(scope, receive)
            self._gate.version(scope)
            self._gate.permit(operation, caller)
            params = _params(scope, place, operation, document)
            request = self._dialect.request(operation, params)
            caller = self._gate.enter(caller, request.tenant)  # type: ignore[attr-defined]
            arguments: list[Any] = [request, caller]
            if operation.resumes:
                arguments.append(sse.last_event_id(header(scope, b"last-event-id")))
            call = getattr(self._handler, operation.handler)(*arguments)
            if operation.streams:
                await self._stream(operation, call, caller, receive, send)
                return
            answer = await unless_gone(call, receive)
            body = outputs.dumps(self._dialect.answer(operation, answer))
        except Disconnected:
            return
        except HTTPException:  # the gate answers in HTTP's own terms
            raise
        except BodyTooLarge:
            words = f"The body must be at most {self._limits.body} bytes."
            await _refuse(scope, send, describe(TooLarge())._replace(message=words))
        except Exception as error:
            await _refuse(scope, send, describe(error, caller.request_id))
        else:
            await _send(scope, send, body)

    async def _document(self, scope: Scope, receive: Receive) -> object:
        """The JSON of a POST; nothing if there is none. The body of another method means nothing,
        but it is read: before its end, nobody can be seen to leave."""
        body = await read_body(scope, receive, self._limits.body)
        if not body or scope["method"] != "POST":
            return {}
        check_media_type(scope)
        return envelope.decode(body)

    async def _stream(
        self,
        operation: Operation,
        frames: AsyncIterator[Frame],
        caller: Caller,
        receive: Receive,
        send: Send,
    ) -> None:
        def encode(frame: Frame) -> bytes:
            return outputs.dumps(self._dialect.answer(operation, frame.response))

        def fail(error: Exception) -> bytes:
            return outputs.dumps(describe(error, caller.request_id).http())

        await sse.respond(
            frames,
            receive=receive,
            send=send,
            encode=encode,
            fail=fail,
            keep_alive=self._limits.keep_alive,
        )


def _params(
    scope: Scope, place: paths.Place, operation: Operation, document: object
) -> dict[str, object]:
    """The parameters of a call, from its path and its body or query; InvalidParamsError."""
    params = query.read(scope["query_string"], operation.request())
    if scope["method"] == "POST":
        for name in params:
            raise invalid(name, "must be given in the body, not in the query")
        if not isinstance(document, dict):
            raise InvalidParamsError(
                f"The body must be a JSON object, not {values.kind(document)}."
            )
        params = document
    for field, value in place.fields.items():
        for name in _OF_THE_PATH[field]:
            if params.pop(name, None) not in (None, "", value):
                raise invalid(name, "must be what the path says, or left out")
        params[field] = value
    return params


def _not_allowed(place: paths.Place) -> Fault:
    fault = describe(MethodNotFoundError(f"This path allows {place.allow()}."))
    return fault._replace(outcome=fault.outcome._replace(http=405, status="UNIMPLEMENTED"))


async def _refuse(
    scope: Scope, send: Send, fault: Fault, headers: Mapping[str, str] | None = None
) -> None:
    more = dict(headers or {})
    if fault.retry_after is not None:
        more["Retry-After"] = str(fault.retry_after)
    await _send(scope, send, outputs.dumps(fault.http()), fault.outcome.http, more)


async def _send(
    scope: Scope,
    send: Send,
    body: bytes,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> None:
    await send_json(
        send,
        body,
        status=status,
        headers={"Cache-Control": "no-store", **(headers or {})},  # read again, a task has changed
        head=scope["method"] == "HEAD",
        media_type=MEDIA_TYPE,
    )
