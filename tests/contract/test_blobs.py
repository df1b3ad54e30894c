"""Blobs: bytes under their own name."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from a2a_fn.errors import NotFound


@pytest.mark.parametrize("data", [b"", b"\x00\xff", bytes(3_000_000)])
async def test_bytes_come_back_under_their_sha256(blobs, data):
    key = await blobs.put(data, "text/plain")
    assert key == hashlib.sha256(data).hexdigest()
    assert await blobs.get(key) == data


async def test_the_same_bytes_twice_are_one_blob(blobs):
    assert await blobs.put(b"same", "text/plain") == await blobs.put(b"same", "image/png")
    assert await blobs.put(b"other") != await blobs.put(b"same")


async def test_the_same_bytes_at_the_same_time_are_one_blob(blobs):
    data = bytes(200_000)
    keys = await asyncio.gather(*(blobs.put(data) for _ in range(8)))
    assert len(set(keys)) == 1
    assert await blobs.get(keys[0]) == data


@pytest.mark.parametrize(
    "key", ["0" * 64, "", "x", "../../../etc/passwd", "A" * 64, "0" * 64 + "\n"]
)
async def test_a_key_without_a_blob_is_not_found(blobs, key):
    await blobs.put(b"something")
    with pytest.raises(NotFound):
        await blobs.get(key)


async def test_the_address_of_a_blob_is_a_url_or_none(blobs):
    url = await blobs.url(await blobs.put(b"1"), 60)
    assert url is None or url.startswith(("https://", "http://"))
