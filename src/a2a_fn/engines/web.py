"""Documents over HTTP, small and soon, or not at all."""

from __future__ import annotations

import asyncio

from ..errors import Unavailable

LIMIT = 256 * 1024
"""Bytes of a document."""

PATIENCE = 5.0
"""Seconds for all of it, from the name look-up to the last byte."""


async def fetch(url: str, *, limit: int = LIMIT, patience: float = PATIENCE) -> bytes:
    """The document at an address that whoever runs this has chosen.

    Redirects are not followed: they would lead to an address that nobody has chosen. Content
    codings are not asked for and not undone: a small body could become a large one.
    Raises Unavailable for whatever is not a whole document within the limits.
    """
    import httpx

    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    try:
        async with (
            asyncio.timeout(patience),
            httpx.AsyncClient(timeout=patience, follow_redirects=False) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            if response.status_code != 200:
                raise Unavailable(f"{_place(url)} answered with HTTP {response.status_code}")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise Unavailable(f"{_place(url)} answered with a content coding")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > limit:
                    raise Unavailable(f"{_place(url)} answered with more than {limit} bytes")
            return bytes(body)
    except TimeoutError as error:
        raise Unavailable(f"{_place(url)} did not answer in {patience:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise Unavailable(f"{_place(url)}: {type(error).__name__}") from error


def _place(url: str) -> str:
    """The address without what may be secret in it."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
