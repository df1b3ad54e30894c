"""A folder kept in the blob store between turns: put there file by file, and restored elsewhere.

What names it is the SHA-256 of its manifest, a JSON blob of the paths and the blobs of their bytes.
Whoever publishes that name decides which state of the folder counts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from .errors import A2aFnError, TooLarge
from .ports import Blobs

FILES = 1000
"""Files that a kept folder may have."""
BYTES = 50 << 20
"""Bytes that they may have together."""


class DamagedFolder(A2aFnError):
    """What the blob store has of a folder is not what ``keep`` puts there."""


class FolderTooLarge(TooLarge):
    """A folder has more than is kept of it; the text says what is allowed."""


class Entry(NamedTuple):
    """A file of a folder: where its bytes are, and how many."""

    sha256: str
    size: int


Files = dict[str, Entry]
"""Path below the folder, with slashes -> file."""


async def restore(folder: Path, manifest: str, blobs: Blobs) -> Files:
    """Write the files of a manifest ("" for none yet) into an empty folder of this process alone.

    Raises NotFound if a blob is gone, DamagedFolder for a path that would lead out of the folder.
    """
    if not manifest:
        return {}
    files = _read_manifest(await blobs.get(manifest))
    for path, entry in files.items():
        data = await blobs.get(entry.sha256)
        if len(data) != entry.size:
            raise DamagedFolder(f"{path}: {len(data)} bytes instead of {entry.size}")
        await asyncio.to_thread(_write, folder / path, data)
    return files


async def keep(folder: Path, known: Files, blobs: Blobs) -> tuple[str, Files]:
    """Put what the folder has into the blob store; the manifest's name, and the files.

    Files of ``known`` with the same bytes are there already. Links and what is no file are left
    out. Raises FolderTooLarge, with nothing put that counts.
    """
    paths = await asyncio.to_thread(lambda: sorted(_walk(folder)))
    if len(paths) > FILES:
        raise FolderTooLarge(f"the workspace has {len(paths)} files; it may have {FILES}")
    kept = {entry.sha256 for entry in known.values()}
    files: Files = {}
    size = 0
    for path in paths:
        data = await asyncio.to_thread(_read, folder / path, BYTES - size)
        if data is None:
            raise FolderTooLarge(f"the workspace is larger than {BYTES >> 20} MiB")
        size += len(data)
        entry = Entry(hashlib.sha256(data).hexdigest(), len(data))
        if entry.sha256 not in kept:
            await blobs.put(data)
            kept.add(entry.sha256)
        files[path] = entry
    manifest = json.dumps({"files": files}, separators=(",", ":")).encode()
    return await blobs.put(manifest, "application/json"), files


def _read_manifest(data: bytes) -> Files:
    try:
        files = {path: Entry(*entry) for path, entry in json.loads(data)["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedFolder("its manifest cannot be read") from error
    for path in files:
        if not _is_below(path):
            raise DamagedFolder(f"{path[:80]!r} is no path below a folder")
    if len(files) > FILES or sum(entry.size for entry in files.values()) > BYTES:
        raise DamagedFolder("it is larger than it may be")
    return files


def _is_below(path: str) -> bool:
    """Whether a path stays in the folder that it is joined to."""
    parts = path.split("/")
    return not (set(parts) & {"", ".", ".."} or "\0" in path or "\\" in path)


def _walk(folder: Path) -> Iterator[str]:
    for here, _, names in os.walk(folder):  # does not follow links
        for name in names:
            path = Path(here, name)
            below = PurePosixPath(path.relative_to(folder)).as_posix()
            if stat.S_ISREG(path.lstat().st_mode) and _is_below(below):
                yield below


def _read(path: Path, limit: int) -> bytes | None:
    """The bytes of a file; None if there are more than the limit."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        data = file.read(limit + 1)
    return None if len(data) > limit else data


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
