"""What media types mean to an agent that reads files: text to read, or bytes to describe."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

TEXT_LIMIT = 1 << 20
"""Bytes of text, or of compact JSON, that one part may carry or name."""
INLINE_LIMIT = 5 << 20
"""Bytes of anything else that one part may carry."""
FILE_LIMIT = 25 << 20
"""Bytes of anything else in a file that one part names."""
FILES_LIMIT = 25 << 20
"""Bytes of all files together that one message's parts name."""
PARTS_LIMIT = 256
"""Parts of one message."""

UNTYPED = "application/octet-stream"

_TEXT = {
    "application/json",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/xml",
}
_TEXT_ENDINGS = ("+json", "+yaml", "+xml")


Kind = Literal["text", "binary", "either"]
"""How a part is read: as text; described and not read; or, without a type or with the one that
says nothing, as text if it turns out to be some."""


class MediaTypes(NamedTuple):
    """The types that an agent takes: those that it reads, and those that it is told about."""

    text: frozenset[str]
    binary: frozenset[str]

    def kind(self, media_type: str) -> Kind | None:
        """How to read a part that names this type ("" for none); None: the agent does not."""
        name = essence(media_type)
        if not name or (name == UNTYPED and UNTYPED in self.binary):
            return "either"
        if name in self.text:
            return "text"
        return "binary" if name in self.binary else None


def media_types(
    modes: Iterable[str], text: Iterable[str] = (), binary: Iterable[str] = ()
) -> MediaTypes:
    """The types of a card's input modes, and more that are text or are described by setting."""
    given = {essence(mode) for mode in modes}
    more = {essence(name) for name in text}
    reads = {name for name in given if is_text(name)} | more
    return MediaTypes(frozenset(reads), frozenset((given | {essence(b) for b in binary}) - reads))


def essence(media_type: str) -> str:
    """The type without parameters, in lower case: ``text/plain`` of ``Text/Plain; charset=x``."""
    return media_type.partition(";")[0].strip().lower()


def is_text(name: str) -> bool:
    """Whether an essence is of a type that is text by its name."""
    return name.startswith("text/") or name in _TEXT or name.endswith(_TEXT_ENDINGS)


def is_json(media_type: str) -> bool:
    """Whether structured data may bear this type ("" for none)."""
    name = essence(media_type)
    return name in ("", "application/json") or name.endswith("+json")


def accepts(modes: Collection[str], media_type: str) -> bool:
    """Whether a type is among modes, of which some may be ranges: ``*/*``, ``image/*``."""
    name = essence(media_type)
    ranges = {name, "*/*", f"{name.partition('/')[0]}/*"}
    return any(essence(mode) in ranges for mode in modes)


def is_utf8(data: bytes) -> bool:
    """Whether these bytes are text as this project means it."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def as_text(data: bytes) -> str | None:
    """The text of these bytes, without a byte order mark; None if they are none that is read: not
    UTF-8, with a NUL in it, or more than the limit."""
    if len(data) > TEXT_LIMIT or b"\0" in data or not is_utf8(data):
        return None
    return data.decode("utf-8-sig")
