"""HTTP routes of what clients look up before they call: documents that cache well."""

from __future__ import annotations

import re
from collections.abc import Callable
from email.utils import formatdate, parsedate_to_datetime

from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from ..errors import A2aFnError
from .card import Cards, Document
from .errors import describe
from .exchange import base_url, header, send_json
from .gate import Gate

MAX_AGE = 60
"""Seconds that a client may use a document without asking again."""


class WellKnown:
    """The ASGI application at a document's address. It is open to all.

    ``find`` gives the document for the root that the client sees; ``modified`` is in seconds since
    1970.
    """

    def __init__(self, find: Callable[[Scope], Document], *, modified: float) -> None:
        self._find = find
        self._modified = int(modified)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        try:
            document = self._find(scope)
        except A2aFnError as error:  # a key that cannot be used, or cannot be had now
            fault = describe(error)
            retry = {"Retry-After": str(fault.retry_after)} if fault.retry_after else None
            raise HTTPException(fault.outcome.http, fault.message, headers=retry) from error
        headers = {
            "Cache-Control": f"public, max-age={MAX_AGE}",
            "ETag": document.etag,
            "Last-Modified": formatdate(self._modified, usegmt=True),
        }
        if self._is_known(scope, document.etag):
            raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": 304, "headers": raw})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send_json(send, document.body, headers=headers, head=scope["method"] == "HEAD")

    def _is_known(self, scope: Scope, etag: str) -> bool:
        """RFC 9110, 13.1: If-None-Match decides alone if it is there."""
        tags = header(scope, b"if-none-match")
        if tags:
            return _matches(tags, etag)
        since = header(scope, b"if-modified-since")
        if not since:
            return False
        try:
            return self._modified <= parsedate_to_datetime(since).timestamp()
        except (ValueError, OverflowError):
            return False  # not a date: as if it were not there


def card_route(cards: Cards, gate: Gate, *, modified: float) -> WellKnown:
    """The public card, which without a public URL names the host that the client asked."""

    def find(scope: Scope) -> Document:
        root = gate.public_url or base_url(scope)
        if not root:
            raise HTTPException(400, "The Host header is not a host name.")
        return cards.public(root)

    return WellKnown(find, modified=modified)


def jwks_route(cards: Cards, *, modified: float) -> WellKnown:
    """The public keys that verify the card."""
    return WellKnown(lambda scope: cards.jwks(), modified=modified)


_TAG = re.compile(r'(?:W/)?("[^"]*")')


def _matches(header_value: str, etag: str) -> bool:
    """Weak comparison with each tag of an If-None-Match."""
    return header_value == "*" or etag in _TAG.findall(header_value)
