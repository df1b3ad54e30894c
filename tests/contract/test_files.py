"""What only blobs in files bring with them: folders, damage, full disks."""

from __future__ import annotations

import os

import pytest

from a2a_fn.engines.sqlite import FileBlobs
from a2a_fn.errors import NotFound, Unavailable


@pytest.fixture
async def kept(tmp_path):
    blobs = FileBlobs(tmp_path / "blobs")
    key = await blobs.put(b"the bytes")
    return blobs, key, tmp_path / "blobs" / key[:2] / key[2:4] / key


async def test_a_blob_is_one_file_of_its_owner_under_two_folders(kept, tmp_path):
    blobs, _, file = kept
    await blobs.put(b"the bytes")
    assert [f for f in (tmp_path / "blobs").rglob("*") if f.is_file()] == [file]
    assert file.stat().st_mode & 0o077 == 0


async def test_damaged_bytes_are_an_error_and_not_data(kept):
    blobs, key, file = kept
    for damage in (b"the bytez", b"the byte", b""):
        file.write_bytes(damage)
        with pytest.raises(NotFound, match="damaged"):
            await blobs.get(key)


async def test_putting_the_bytes_again_mends_the_damage(kept):
    blobs, key, file = kept
    file.write_bytes(b"the")
    assert await blobs.put(b"the bytes") == key
    assert await blobs.get(key) == b"the bytes"


async def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unavailable, match=r"file"):
        await FileBlobs(tmp_path / "file").put(b"1")


async def test_a_write_that_breaks_leaves_nothing(tmp_path, monkeypatch):
    def broken(*places):
        raise OSError(28, "No space left on device")

    blobs = FileBlobs(tmp_path / "blobs")
    key = await blobs.put(b"1")
    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(Unavailable, match="No space"):
        await blobs.put(b"2")
    assert [f.name for f in (tmp_path / "blobs").rglob("*") if f.is_file()] == [key]
