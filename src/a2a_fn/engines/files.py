"""Blobs as files of one machine's disk."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from a2a_fn.errors import NotFound, Unavailable

_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)


class FileBlobs:
    """``ports.Blobs`` in a folder: ``ab/cd/abcd...``, each file named by its SHA-256.

    A blob is written beside its place and moved there once it is on the disk, so that its name
    never shows half of it. Several processes may share the folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)

    async def put(self, data: bytes, media_type: str = "application/octet-stream") -> str:
        """See ``ports.Blobs.put``; the media type has no use here."""
        key = hashlib.sha256(data).hexdigest()
        await asyncio.to_thread(self._put, key, data)
        return key

    async def get(self, key: str) -> bytes:
        """See ``ports.Blobs.get``; a file whose bytes have changed is ``NotFound`` too."""
        if not _KEY.fullmatch(key):
            raise NotFound(f"there is no blob {key[:80]!r}: a key is 64 hex digits")
        data = await asyncio.to_thread(self._read, key)
        if data is None:
            raise NotFound(f"there is no blob {key} in {self._folder}")
        if hashlib.sha256(data).hexdigest() != key:
            raise NotFound(f"blob {key} in {self._folder} is damaged: its bytes have changed")
        return data

    async def url(self, key: str, seconds: int) -> str | None:
        """None: nothing serves this folder."""
        return None

    async def close(self) -> None:
        """Nothing is held open."""

    def _place(self, key: str) -> Path:
        return self._folder / key[:2] / key[2:4] / key

    def _read(self, key: str) -> bytes | None:
        with _translated(self._folder):
            try:
                return self._place(key).read_bytes()
            except FileNotFoundError:
                return None

    def _put(self, key: str, data: bytes) -> None:
        place = self._place(key)
        with _translated(self._folder):
            self._make_folder(place.parent)
            # A file that is there may be a torn one from a failing disk: write over it then.
            if self._read(key) != data:
                self._write(place, data)
            # Also when it was there: who put it may not have come to this line yet.
            _sync(place.parent)

    def _write(self, place: Path, data: bytes) -> None:
        handle, name = tempfile.mkstemp(prefix=".", dir=place.parent)  # readable by its owner only
        try:
            with open(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, place)
        except BaseException:
            os.unlink(name)
            raise

    def _make_folder(self, folder: Path) -> None:
        """Make it and what is above it; a folder's name is durable once its parent is synced."""
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"the blobs in {folder}: {error.strerror}") from error
