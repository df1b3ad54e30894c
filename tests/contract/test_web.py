"""Documents over HTTP: whole, small and soon, or Unavailable."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest

from a2a_fn.engines.web import LIMIT, fetch
from a2a_fn.errors import Unavailable


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


class Site:
    """A server that answers each connection with the bytes it is given, and may not end."""

    def __init__(self) -> None:
        self.url = ""
        self.answer = b""
        self.hangs = False
        self.asked: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.answer)
        await writer.drain()
        if self.hangs:
            await reader.read()  # until the other side has enough
        writer.close()

    def says(self, body: bytes, *headers: str, status: str = "200 OK") -> None:
        head = "".join(f"{header}\r\n" for header in (f"Content-Length: {len(body)}", *headers))
        self.answer = f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/keys"
    yield site
    server.close()
    await server.wait_closed()


async def test_a_document_comes_as_it_is(site: Site) -> None:
    site.says(b'{"keys": []}')
    assert await fetch(site.url) == b'{"keys": []}'
    assert b"authorization" not in site.asked[0].lower()


async def test_the_limit_is_kept_to_the_byte_whatever_is_announced(site: Site) -> None:
    site.says(b"x" * LIMIT)
    assert len(await fetch(site.url)) == LIMIT
    site.says(b"x" * (LIMIT + 1))
    with pytest.raises(Unavailable, match=f"more than {LIMIT} bytes"):
        await fetch(site.url)
    endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"5\r\nxxxxx\r\n" * 30
    site.answer, site.hangs = endless, True
    with pytest.raises(Unavailable, match="more than 100 bytes"):
        await fetch(site.url, limit=100)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "204 None", "404 No", "500 Down"])
async def test_only_200_is_an_answer_and_nothing_is_followed(site: Site, status: str) -> None:
    site.says(b"", f"Location: {site.url}/other", status=status)
    with pytest.raises(Unavailable, match=f"HTTP {status[:3]}"):
        await fetch(site.url)
    assert len(site.asked) == 1


async def test_nothing_is_unpacked(site: Site) -> None:
    site.says(gzip.compress(b"x" * 1_000_000), "Content-Encoding: gzip")
    with pytest.raises(Unavailable, match="content coding"):
        await fetch(site.url)
    assert b"Accept-Encoding: identity" in site.asked[0]


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nxx"])
async def test_a_server_that_is_silent_is_given_up_in_time(site: Site, answer: bytes) -> None:
    site.answer, site.hangs = answer, True
    with pytest.raises(Unavailable, match=r"did not answer in 0\.05 s|Timeout"):
        await fetch(site.url, patience=0.05)


SHORT = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n", SHORT])
async def test_a_broken_answer_is_none(site: Site, answer: bytes) -> None:
    site.answer = answer
    with pytest.raises(Unavailable):
        await fetch(site.url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "http:///x", "x", "ftp://127.0.0.1/x"])
async def test_an_address_that_leads_nowhere(url: str) -> None:
    with pytest.raises(Unavailable):
        await fetch(url)


async def test_what_may_be_secret_in_an_address_is_not_said(site: Site) -> None:
    site.says(b"", status="404 No")
    secret = site.url.replace("http://", "http://user:hunter2@") + "?key=hunter2"
    with pytest.raises(Unavailable) as caught:
        await fetch(secret)
    assert "hunter2" not in str(caught.value)
