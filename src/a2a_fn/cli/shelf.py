"""Artifacts as they come, put together from their chunks, and their files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from a2a.types.a2a_pb2 import Artifact, Part, TaskArtifactUpdateEvent

from .failures import Exit, Failure
from .origins import without_query
from .plain import to_json
from .writing import overwrite, safe_name, write_new

DOWNLOAD_LIMIT = 100 << 20  # bytes of one artifact that is given by URL

_SUFFIXES = {
    "application/json": ".json",
    "application/yaml": ".yaml",
    "application/x-yaml": ".yaml",
    "text/yaml": ".yaml",
    "text/markdown": ".md",
    "text/plain": ".txt",
}

# (url, limit, media type) -> bytes, Content-Type
Fetch = Callable[[str, int, str], tuple[bytes, str]]


@dataclass
class Entry:
    """One artifact so far; `saved` says that its files hold all of it."""

    artifact: Artifact
    whole: bool = False
    saved: bool = False
    files: dict[str, Path] = field(default_factory=dict)  # wanted name -> where it went


class Shelf:
    """The artifacts of one task, saved below `out` (None: only kept in mind)."""

    def __init__(self, out: Path | None = None, fetch: Fetch | None = None) -> None:
        self.out = out
        self.entries: dict[str, Entry] = {}
        self._fetch = fetch

    def known(self, artifact: Artifact) -> None:
        """Take note of an artifact of an earlier turn: later chunks may append to it."""
        self.entries[artifact.artifact_id] = Entry(artifact, whole=True, saved=True)

    def replace(self, artifact: Artifact) -> bool:
        """Take a whole artifact, as a Task holds it; False if it is the one that is here."""
        entry = self.entries.get(artifact.artifact_id)
        if entry is None:
            self.entries[artifact.artifact_id] = Entry(artifact, whole=True)
            return True
        if _inline(entry.artifact) == _inline(artifact):
            entry.whole = True
            return False
        entry.artifact, entry.whole, entry.saved = artifact, True, False
        return True

    def update(self, event: TaskArtifactUpdateEvent) -> bool:
        """Take one update; True if it begins an artifact (anew), False if it adds to one."""
        entry = self.entries.get(event.artifact.artifact_id)
        begins = entry is None or not event.append
        if entry is None:
            entry = self.entries[event.artifact.artifact_id] = Entry(Artifact())
        if begins:
            entry.artifact = Artifact()
            entry.artifact.CopyFrom(event.artifact)
        else:
            entry.artifact.parts.extend(event.artifact.parts)
        entry.whole, entry.saved = event.last_chunk, False
        return begins

    def save(self, *, ended: bool) -> list[Path]:
        """Write what is not yet saved: whole artifacts, and once the turn has `ended` all."""
        written: list[Path] = []
        for entry in self.entries.values():
            if self.out is None or entry.saved or not (entry.whole or ended):
                continue
            for name, parts in _files(entry.artifact):
                content = b"".join(self._content(part) for part in parts)
                place = entry.files.get(name)
                if place is None:
                    place = entry.files[name] = write_new(self.out, name, content)
                else:  # this run's own file: the artifact has grown, or began again
                    overwrite(place, content)
                written.append(place)
            entry.saved = True
        return written

    def _content(self, part: Part) -> bytes:
        if part.WhichOneof("content") != "url":
            return _bytes(part)
        where = without_query(part.url)
        if self._fetch is None:
            raise Failure(f"{where} is not fetched", Exit.UNREACHABLE)
        data, kind = self._fetch(part.url, DOWNLOAD_LIMIT, part.media_type)
        told = to_json(part.metadata)
        size, digest = told.get("byteSize"), told.get("sha256")
        if size is not None and str(size) != str(len(data)):
            raise Failure(f"{where}: {len(data)} bytes came, not {size}", Exit.UNREACHABLE)
        if digest and hashlib.sha256(data).hexdigest() != str(digest).lower():
            raise Failure(f"{where}: the bytes do not match their SHA-256", Exit.UNREACHABLE)
        wanted = part.media_type.partition(";")[0].strip().lower()
        if not digest and wanted not in ("", "text/html") and kind.startswith("text/html"):
            # A page to log in or an error, which some servers send as if all were well.
            raise Failure(f"{where} is a page of HTML, not {wanted}", Exit.UNREACHABLE)
        return data


def label(artifact: Artifact) -> str:
    """What to call an artifact in a line of text."""
    names = [name for name, _ in _files(artifact)]
    return ", ".join(names) if names else safe_name(artifact.name or artifact.artifact_id)


def _files(artifact: Artifact) -> list[tuple[str, list[Part]]]:
    """The artifact's files: its parts by filename; parts without one belong to the file before."""
    title = artifact.name or artifact.artifact_id
    files: dict[str, list[Part]] = {}
    name = ""
    for part in artifact.parts:
        if part.filename or not name:
            name = safe_name(part.filename or title)
            if not PurePosixPath(name).suffix:
                name += _SUFFIXES.get(part.media_type, _suffix_of(part))
        files.setdefault(name, []).append(part)
    return list(files.items())


def _inline(artifact: Artifact) -> list[tuple[str, bytes]]:
    """What tells one state of an artifact from another, however it was cut into chunks."""
    return [
        (name, b"".join(part.url.encode() or _bytes(part) for part in parts))
        for name, parts in _files(artifact)
    ]


def _bytes(part: Part) -> bytes:
    kind = part.WhichOneof("content")
    if kind == "data":
        value = to_json(part.data)
        return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"
    return part.text.encode() if kind == "text" else part.raw


def _suffix_of(part: Part) -> str:
    return {"text": ".txt", "data": ".json"}.get(part.WhichOneof("content") or "", ".bin")
