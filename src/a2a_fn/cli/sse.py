"""A reader of Server-Sent Events (WHATWG HTML, section 9.2) that keeps their ids.

The SDK's client drops the ids, and httpx splits lines at characters like U+2028, which JSON may
hold; here a line ends at CR, LF or CRLF and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .failures import Exit, Failure

EVENT_LIMIT = 64 * 1024 * 1024  # bytes; a stream that never ends a line must not fill the memory

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Frame:
    """One event: its data, the id of the last line `id:` seen so far, its type."""

    data: str
    id: str = ""
    event: str = "message"


def read_frames(chunks: Iterable[bytes]) -> Iterator[Frame]:
    """The events of a stream of bytes. An event that the end cuts off is dropped, as it should be:
    the reader comes back with the id of the event before it."""
    data: list[str] = []
    seen, pending, event, size = "", "", "", 0
    for line in _lines(chunks):
        if not line:
            if data:
                seen = pending
                yield Frame("\n".join(data), seen, event or "message")
            data, event, size = [], "", 0
            continue
        size += len(line)
        if size > EVENT_LIMIT:
            raise Failure("the server sent an event of more than 64 MiB", Exit.UNREACHABLE)
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "id" and "\0" not in value:
            pending = value
        elif field == "event":
            event = value


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    buffer = bytearray()
    searched = 0  # no line end before here, so a long line is not searched again for each chunk
    for chunk in chunks:
        buffer += chunk
        start = 0
        while match := _LINE_END.search(buffer, max(start, searched)):
            if match.end() == len(buffer) and match.group() == b"\r":
                break  # the LF of a CRLF may come with the next chunk
            yield buffer[start : match.start()].decode("utf-8", "replace")
            start = match.end()
        del buffer[:start]
        searched = max(0, len(buffer) - 1)
        if len(buffer) > EVENT_LIMIT:
            raise Failure("the server sent a line of more than 64 MiB", Exit.UNREACHABLE)
    if buffer.endswith(b"\r"):
        yield buffer[:-1].decode("utf-8", "replace")
