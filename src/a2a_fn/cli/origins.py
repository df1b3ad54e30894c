"""URLs that a user or an agent gave: are they usable, and whose are they?"""

from __future__ import annotations

import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit

from .failures import Failure

_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Scheme, host and port: credentials given for one are not for another (RFC 6454)."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


def origin_of(url: str) -> Origin:
    """Where a URL leads; a Failure if it is not an http(s) URL, or holds credentials."""
    try:
        parts = urlsplit(url)
        port = _PORTS.get(parts.scheme, 0) if parts.port is None else parts.port
    except ValueError:  # of the address in brackets, or the port
        parts, port = urlsplit(""), 0
    if parts.scheme not in _PORTS or not parts.hostname or not port:
        raise Failure(f"{url[:200]!r} is not an http(s) URL, such as http://127.0.0.1:8080")
    if parts.username is not None or parts.password is not None:
        raise Failure(
            "credentials do not belong in the URL, which is printed and kept in logs: "
            "see --token, --basic and --api-key"
        )
    return Origin(parts.scheme, parts.hostname.lower().rstrip("."), port)


def full_url(url: str) -> str:
    """The URL with the http:// that a person leaves out."""
    return url if "//" in url else f"http://{url}"


def without_query(url: str) -> str:
    """The URL to print: of a presigned one, the query is as good as a key."""
    return url.partition("?")[0][:200]


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
