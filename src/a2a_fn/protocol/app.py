"""The HTTP application: routes, and nothing else.

It is a Starlette application so that hosts can add to it, but the routes are bare ASGI: on a
function, the time between a request and its handler is part of every bill.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Lifespan, Receive, Scope, Send

from ..profile import Profile
from . import card
from .callers import Caller, Handler
from .exchange import send_json
from .jsonrpc import JsonRpc

MAX_KEEP_ALIVE = 5.0
"""Seconds of silence after which a default a2a-sdk client gives up."""


def build_app(
    handler: Handler,
    *,
    profile: Profile,
    public_url: str | None = None,
    streaming: bool = True,
    body_limit: int = 10 * 1024 * 1024,
    keep_alive: float = 4.0,
    authenticate: Callable[[Request], Caller] | None = None,
    lifespan: Lifespan[Starlette] | None = None,
) -> Starlette:
    """The application that serves ``handler``.

    ``public_url`` is the root that clients see (default: the host that they ask). ``body_limit``
    is in bytes, ``keep_alive`` in seconds. ``authenticate`` gives the caller of a request or
    raises ``HTTPException``; without it everyone is the same anonymous owner. With ``streaming``
    off, the two streaming methods are refused and the card says so.
    Raises ``ValueError`` for a ``keep_alive`` that would lose clients.
    """
    if not 0 < keep_alive < MAX_KEEP_ALIVE:
        raise ValueError(f"keep_alive must be between 0 and {MAX_KEEP_ALIVE} seconds")
    rpc = JsonRpc(
        handler,
        authenticate=authenticate or anonymous,
        streaming=streaming,
        body_limit=body_limit,
        keep_alive=keep_alive,
    )
    card_route = card.CardRoute(
        profile, public_url=public_url, streaming=streaming, modified=time.time()
    )
    app = Starlette(
        routes=[
            Route("/", rpc),
            Route(card.PATH, card_route),
            Route("/health", Health()),
        ],
        exception_handlers={HTTPException: _http_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a redirect would name a host that the client chose
    return app


class Health:
    """``{"status":"healthy"}`` for whoever asks, and nothing more: it is open to all."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        await send_json(
            send,
            b'{"status":"healthy"}',
            headers={"Cache-Control": "no-store"},
            head=scope["method"] == "HEAD",
        )


async def _http_error(request: Request, error: Exception) -> Response:
    """Errors in HTTP's own terms (no such path, no credentials), as JSON."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    return Response(
        json.dumps({"error": error.detail}, separators=(",", ":")),
        status_code=error.status_code,
        headers=error.headers,
        media_type="application/json",
    )


_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:=/+-]{1,128}")


def anonymous(request: Request) -> Caller:
    """The caller of a server without credentials: no owner, a request id, a deadline if known.

    The id is the client's ``X-Request-Id`` if it is plain, else the platform's, else a new one.
    """
    lambda_context = request.scope.get("aws.context")
    given = request.headers.get("x-request-id", "")
    if not _REQUEST_ID.fullmatch(given):
        given = getattr(lambda_context, "aws_request_id", "") or secrets.token_hex(8)
    return Caller(request_id=given, deadline=_deadline(lambda_context))


def _deadline(lambda_context: object) -> float | None:
    """When Lambda ends this invocation, by the clock of the running loop."""
    remaining = getattr(lambda_context, "get_remaining_time_in_millis", None)
    if remaining is None:
        return None
    return asyncio.get_running_loop().time() + float(remaining()) / 1000
