"""The HTTP application: routes, and nothing else.

It is a Starlette application so that hosts can add to it, but the routes are bare ASGI: on a
function, the time between a request and its handler is part of every bill.
"""

from __future__ import annotations

import json
import logging
import time
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from ..profile import Profile
from . import card
from .callers import Handler
from .card import Cards
from .dialect import Dialect
from .discovery import card_route, jwks_route
from .exchange import Limits, send_json
from .gate import OPEN, Gate
from .jsonrpc import JsonRpc
from .rest import Rest

ARTIFACT_PATHS = ("/artifacts/{task}/{sha256}/{name}", "/{tenant}/artifacts/{task}/{sha256}/{name}")
"""Where ``build_app``'s ``artifacts`` answers, with these path parameters."""

log = logging.getLogger("a2a_fn.http")

MAX_KEEP_ALIVE = 5.0
"""Seconds of silence after which a default a2a-sdk client gives up."""


def build_app(
    handler: Handler,
    *,
    profile: Profile,
    gate: Gate = OPEN,
    cards: Cards | None = None,
    artifacts: ASGIApp | None = None,
    body_limit: int = 10 * 1024 * 1024,
    keep_alive: float = 4.0,
    lifespan: Lifespan[Starlette] | None = None,
) -> Starlette:
    """The application that serves ``handler`` behind ``gate``.

    ``cards`` says more than the bare ``profile``: who may call, who signs. ``artifacts`` serves
    what is handed over by URL. ``body_limit`` is in bytes, ``keep_alive`` in seconds.
    Raises ``ValueError`` for a ``keep_alive`` that would lose clients.
    """
    if not 0 < keep_alive < MAX_KEEP_ALIVE:
        raise ValueError(f"keep_alive must be between 0 and {MAX_KEEP_ALIVE} seconds")
    limits = Limits(body_limit, keep_alive)
    v03, four_states = (_v03, _four_states) if gate.v03 else (None, None)
    cards, started = cards or Cards(profile, gate), time.time()
    discovery = card_route(cards, gate, modified=started)
    routes = [
        Route("/", JsonRpc(handler, gate, limits, v03=v03)),
        Route("/a2a", JsonRpc(handler, gate, limits, v03=four_states)),
        Route(card.PATH, discovery),
        Route(card.OLD_PATH, discovery),
        Route(card.JWKS_PATH, jwks_route(cards, modified=started)),
        Route("/health", Health()),
        *(Route(path, artifacts) for path in ARTIFACT_PATHS if artifacts is not None),
        *([Route("/v1/{path:path}", V03Paths(handler, gate, limits))] if gate.v03 else []),
        Mount("", Rest(handler, gate, limits)),  # last: it answers for every other path
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _http_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a redirect would name a host that the client chose
    return app


def _v03() -> Dialect:
    from .v03 import V03

    return V03()


def _four_states() -> Dialect:
    """For the clients of ``/a2a`` that know four task states only."""
    from .v03 import V03

    return V03(four_states=True)


class V03Paths:
    """The HTTP+JSON binding of A2A 0.3, imported when its first request comes."""

    def __init__(self, handler: Handler, gate: Gate, limits: Limits) -> None:
        self._build = partial(_v03_rest, handler, gate, limits)
        self._rest: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._rest is None:
            self._rest = self._build()
        await self._rest(scope, receive, send)


def _v03_rest(handler: Handler, gate: Gate, limits: Limits) -> ASGIApp:
    from .v03_rest import RestV03

    return RestV03(handler, gate, limits)


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
    if error.status_code in (401, 403, 429):
        log.info("refused", extra={"a2a": {"status": error.status_code}})
    body = json.dumps({"error": error.detail}, separators=(",", ":"))
    return Response(
        "" if request.method == "HEAD" else body,
        status_code=error.status_code,
        headers=error.headers,
        media_type="application/json",
    )
