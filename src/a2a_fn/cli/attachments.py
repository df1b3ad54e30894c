"""Files as parts of a message, checked before anything is sent."""

from __future__ import annotations

import mimetypes
from collections.abc import Collection
from pathlib import Path

from a2a.types.a2a_pb2 import Part

from .failures import Failure

TEXT_LIMIT = 1 << 20  # bytes; what this project's agent and its forerunner take of one text part
RAW_LIMIT = 5 << 20  # bytes of one binary part

# Fixed, since the machine's own table of types differs from one system to the next.
_TYPES = {
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".json": "application/json",
    ".md": "text/markdown",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".ogg": "audio/ogg",
}


def read_part(path: Path, accepted: Collection[str] = ()) -> Part:
    """A file as a text part if it is UTF-8 text, else as a raw part.

    `accepted` are the media types on the agent's card: text of another type goes as text/plain,
    and a binary file of another type is a Failure, as the agent would refuse it.
    """
    data = read_file(path, RAW_LIMIT)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = None
    if text is None or "\0" in text:
        return _raw_part(path, data, accepted)
    if len(data) > TEXT_LIMIT:
        raise Failure(f"{path}: {size(len(data))} of text, the limit is {size(TEXT_LIMIT)}")
    media_type = _TYPES.get(path.suffix.lower(), "text/plain")
    if accepted and media_type not in accepted:
        media_type = "text/plain"
    return Part(text=text, filename=path.name, media_type=media_type)


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of a regular file, at most `limit`; anything else is a Failure that says why."""
    try:
        if path.is_dir():
            raise Failure(f"{path} is a directory: name its files")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as e:
        raise Failure(f"{path} cannot be read: {e.strerror or e}") from e
    if len(data) > limit:
        raise Failure(f"{path} is larger than {size(limit)}")
    return data


def _raw_part(path: Path, data: bytes, accepted: Collection[str]) -> Part:
    guess = _TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0]
    media_type = guess or "application/octet-stream"
    if accepted and media_type not in accepted:
        if "application/octet-stream" not in accepted:
            takes = ", ".join(sorted(accepted))
            raise Failure(f"{path} is {media_type}, and the agent takes only {takes}")
        media_type = "application/octet-stream"
    return Part(raw=data, filename=path.name, media_type=media_type)


def size(n: int) -> str:
    """So many bytes, in words: all digits, or a file just above a limit would seem to be at it."""
    return f"{n:,} bytes"
