"""Which names a server without credentials answers to.

A page in somebody's browser can have its own host name lead to 127.0.0.1 (DNS rebinding), and the
browser then lets it talk to whatever listens there. It cannot change the Host header that it sends.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

_ANSWER = (
    b'{"error":"This server asks for no credentials, so it answers to the names of its own machine '
    b'only: set public-url to the name that you use, or ask for credentials."}'
)


class OwnNames:
    """An ASGI application that lets requests through that name this machine: a loopback address,
    ``localhost``, or the host of ``public_url``. Others get 421 (Misdirected Request)."""

    def __init__(self, app: ASGIApp, public_url: str = "") -> None:
        self._app = app
        self._public = urlsplit(public_url).hostname if public_url else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_own(_host(scope)):
            await self._app(scope, receive, send)
            return
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(_ANSWER)),
        ]
        await send({"type": "http.response.start", "status": 421, "headers": headers})
        await send({"type": "http.response.body", "body": _ANSWER})

    def _is_own(self, host: str | None) -> bool:
        if host is None or host == "localhost" or host == self._public:
            return True  # without a name (HTTP/1.0) no browser asked
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def _host(scope: Scope) -> str | None:
    """The host that the request names, in lower case and without a port; None without any."""
    for name, value in scope["headers"]:
        if name == b"host":
            try:
                return urlsplit(f"//{value.decode('latin-1')}").hostname or ""
            except ValueError:  # brackets that hold no address
                return ""
    return None
