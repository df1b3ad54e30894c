"""The HTTP+JSON binding."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from .callers import Handler
from .exchange import DEFAULTS, Limits
from .gate import Gate


class Rest:
    """The ASGI application behind the paths of the HTTP+JSON binding."""

    def __init__(self, handler: Handler, gate: Gate, limits: Limits = DEFAULTS) -> None:
        self._handler = handler
        self._gate = gate
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise HTTPException(404)
