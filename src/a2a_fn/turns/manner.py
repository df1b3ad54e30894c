"""What of an agent's work leaves a turn, and in what form: a deployment's choice."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from a2a.types.a2a_pb2 import Part

from ..ports import Blobs

FIELD_LIMIT = 4000  # characters of one text that leaves in metadata
NAME_LIMIT = 200  # bytes of a file name
ARTIFACT_EXTENSION = "urn:iac-code:a2a:artifact-metadata:v1"

_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\\ud800-\udfff]")


class Manner(NamedTuple):
    """``exposure``: what is shown of the work besides the answer, tool-trace and raw-thinking.
    ``artifact_urls``: a file that the agent hands over is given as a URL of this server (http),
    as a file in ``folder`` of this machine (file), or with its content (inline)."""

    exposure: frozenset[str] = frozenset({"tool-trace"})
    artifact_urls: str = "inline"
    folder: Path = Path("artifacts")

    async def hand_over(
        self, blobs: Blobs, task: str, name: str, data: bytes, media_type: str
    ) -> Part:
        """The part that stands for a file. Raises ValueError for a name that is no file's."""
        if not name.strip(".") or _UNSAFE.search(name) or len(name.encode()) > NAME_LIMIT:
            raise ValueError(f"Unsafe artifact filename {name[:40]!r}")
        if self.artifact_urls == "inline":
            return _inline(name, data, media_type)
        if self.artifact_urls == "file":
            sha256 = hashlib.sha256(data).hexdigest()
            place = (self.folder / task / sha256 / name).absolute()
            await asyncio.to_thread(_write, place, data)
            url = place.as_uri()
        else:
            sha256 = await blobs.put(data, media_type)
            url = artifact_path(task, sha256, name)
        part = Part(url=url, filename=name, media_type=media_type)
        part.metadata.update({"byteSize": len(data), "sha256": sha256, "mediaType": media_type})
        return part


PLAIN = Manner()


def artifact_path(task: str, sha256: str, name: str) -> str:
    """Where the server has a task's artifact, below its root and tenant."""
    return f"/artifacts/{task}/{sha256}/{quote(name, safe='')}"


def _inline(name: str, data: bytes, media_type: str) -> Part:
    try:
        return Part(text=data.decode("utf-8"), filename=name, media_type=media_type)
    except UnicodeDecodeError:
        return Part(raw=data, filename=name, media_type=media_type)


def _write(place: Path, data: bytes) -> None:
    """Write a file that is whole as soon as it has its name."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = place.with_name(f".{secrets.token_hex(8)}")
    try:
        beside.write_bytes(data)
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)


def clip(value: Any) -> Any:
    """A JSON value whose strings are cut at 4,000 characters."""
    if isinstance(value, str):
        return value[:FIELD_LIMIT]
    if isinstance(value, Mapping):
        return {str(k): clip(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [clip(v) for v in value]
    return value
