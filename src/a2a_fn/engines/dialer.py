"""Connections to checked addresses only: httpcore's pool on a network of our own.

The pool keeps connections by the name in the URL, and takes ``Host`` and the certificate's name
from there; only the dialling is replaced. (Putting the address into the URL instead would let two
hosts on one address share a connection, and check certificates against the wrong name.)
"""

# ruff: noqa: ASYNC109 - the signatures are httpcore's

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import ip_address
from itertools import chain, zip_longest
from typing import Any

import httpcore

Addresses = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host and port to addresses that may be called; raises what the caller of the pool shall get."""

ADDRESSES = 4
"""Addresses of one host that are tried, at most."""

ANSWER_LIMIT = 256 * 1024
"""Bytes of one answer, with its headers, framing and interim answers: each of those can be small,
without end, and costly to read."""

IDLE = 64
"""Connections that are kept open between two requests, at most."""


def pool(
    addresses: Addresses, context: ssl.SSLContext, keep_alive: float
) -> httpcore.AsyncConnectionPool:
    """A pool of HTTP/1.1 connections to what ``addresses`` returns.

    It reads no URL, follows nothing, keeps no cookies, knows no proxies and unpacks nothing. The
    number of its connections is its user's to bound: a full pool would let slow hosts hold up all
    others. Requests must have the extension ``timeout`` with ``connect``.
    """
    return httpcore.AsyncConnectionPool(
        ssl_context=context,
        max_connections=None,
        max_keepalive_connections=IDLE,
        keepalive_expiry=keep_alive,
        network_backend=Dialer(addresses),
    )


class Dialer(httpcore.AsyncNetworkBackend):
    """A network in which a host is where its checked addresses are."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address that answers; each gets its share of the time that is left.
        Raises what ``Addresses`` raises, and httpcore's errors."""
        loop = asyncio.get_running_loop()
        end = loop.time() + (timeout or 0.0)
        tried = spread(await self._addresses(host, port))[:ADDRESSES]
        failure: Exception = httpcore.ConnectError("no address")
        for left, address in zip(range(len(tried), 0, -1), tried, strict=True):
            share = max(end - loop.time(), 0.001) / left if timeout else None
            try:
                stream = await self._network.connect_tcp(
                    address, port, share, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return Line(stream)
        raise failure


class Line(httpcore.AsyncNetworkStream):
    """A stream that reads at most ``ANSWER_LIMIT`` bytes after each write.

    And it is closed whenever TLS does not come about. httpcore leaves it open if it is canceled
    there, as by a time-out, and the loop then holds it until the other side closes: a host that
    accepts and says nothing would use up all sockets.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._read = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """As the stream; raises httpcore.RemoteProtocolError beyond the limit."""
        if self._read > ANSWER_LIMIT:
            raise httpcore.RemoteProtocolError("the answer is too large")
        data = await self._stream.read(max_bytes, timeout)
        self._read += len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """As the stream."""
        self._read = 0
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """As the stream."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """As the stream, and it is closed if that fails in whatever way."""
        try:
            return Line(await self._stream.start_tls(ssl_context, server_hostname, timeout))
        except BaseException:
            await self._stream.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        """As the stream."""
        return self._stream.get_extra_info(info)


def spread(addresses: Sequence[str]) -> list[str]:
    """The addresses in their order, but the two families taking turns: where one of them leads
    nowhere, as IPv6 often does, the other is tried soon (RFC 8305, section 4)."""
    families: dict[int, list[str]] = {}
    for address in addresses:
        families.setdefault(ip_address(address).version, []).append(address)
    return [one for one in chain(*zip_longest(*families.values())) if one is not None]
