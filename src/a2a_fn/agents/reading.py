"""Takes a message apart, for an agent that reads files: words, files, and what is no text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from a2a.types.a2a_pb2 import Message, Part
from google.protobuf.json_format import MessageToDict

from ..media import (
    FILE_LIMIT,
    FILES_LIMIT,
    TEXT_LIMIT,
    UNTYPED,
    Kind,
    MediaTypes,
    as_text,
    essence,
    is_utf8,
    media_types,
)
from ..profile import IAC
from ..workspace import (
    BINARY_TOO_LARGE,
    NOT_UTF8,
    TEXT_TOO_LARGE,
    TOGETHER_TOO_LARGE,
    PartRefused,
    Workspace,
    local_path,
)

READS = media_types(IAC.input_modes)

# Every pattern here is linear in the text, which anybody may send: a blank before a word is matched
# possessively, and fences are found line by line.
_OPENS = re.compile(r"```[ \t]*+([\w+-]*)")
_TEMPLATE = re.compile(
    r"ROSTemplateFormatVersion|AWSTemplateFormatVersion|"
    r"^[ \t]*+(?:resource|variable|module|provider|terraform|data)\b[^\n{]*+\{",
    re.M,
)
_TERRAFORM = re.compile(r"^[ \t]*+(?:resource|variable|module)[ \t]++\"", re.M)
_NAMES = {"hcl": "main.tf", "terraform": "main.tf", "tf": "main.tf", "json": "template.json"}


class Manifest(NamedTuple):
    """What an agent sees of a part that is no text. ``source``: raw, data or file; ``size`` in
    bytes, ``sha256`` in hex digits."""

    filename: str
    media_type: str
    size: int
    sha256: str
    source: str

    def __str__(self) -> str:
        return f"{self.filename} ({self.media_type}, {self.size} bytes, SHA-256 {self.sha256})"


@dataclass(frozen=True, slots=True)
class Request:
    """A message taken apart: what is asked, in words, and the files to work on."""

    words: str
    files: Mapping[str, str]
    unread: tuple[Manifest, ...] = ()


def read(
    message: Message, types: MediaTypes = READS, workspace: Workspace | None = None
) -> Request:
    """Take a message apart: files are parts with a file name or a template in them, files of the
    workspace, code between ``` lines, or the whole text if it is a template.

    Blocks while it reads. Raises PartRefused for a file that is not to be read.
    """
    words: list[str] = []
    files: dict[str, str] = {}
    unread: list[Manifest] = []
    taken: Counter[str] = Counter()
    room = FILES_LIMIT
    for part in message.parts:
        kind, raw = types.kind(part.media_type), part.raw
        if part.HasField("url"):
            raw = _file(part.url, kind, workspace, room)
            room -= len(raw)
        text = _content(part, kind, raw)
        if isinstance(text, Manifest):
            unread.append(text)
        elif part.HasField("text") and not part.filename:
            rest, blocks = fenced(text)
            words.append(rest)
            for language, code in blocks:
                _add(files, taken, _name_for(language.lower(), code), code)
        else:
            _add(files, taken, _filename(part) or _name_for("", text), text)
    joined = "\n".join(words)
    template = _TEMPLATE.search(joined)
    if not files and template:
        at = template.start()
        line = joined.rfind("\n", 0, at) + 1
        brace = joined.find("{")
        if 0 <= brace < at:  # a JSON template begins at its brace
            line = brace
        _add(files, taken, _name_for("", joined[line:]), joined[line:])
        joined = joined[:line]
    return Request(joined, files, tuple(unread))


def _file(url: str, kind: Kind | None, workspace: Workspace | None, room: int) -> bytes:
    """What a part's URL names; ``room``: bytes that this message's files may still have."""
    if workspace is None:
        raise PartRefused("A2A server supports text, JSON data, raw text parts only.")
    limit, too_large = FILE_LIMIT, BINARY_TOO_LARGE
    if kind == "text":
        limit, too_large = TEXT_LIMIT, TEXT_TOO_LARGE
    if room < limit:
        limit, too_large = room, TOGETHER_TOO_LARGE
    raw = workspace.read(url, limit, too_large)
    if kind == "text" and not is_utf8(raw):
        raise PartRefused(NOT_UTF8)
    return raw


def _content(part: Part, kind: Kind | None, raw: bytes) -> str | Manifest:
    """A part's text, or what there is to say of it if it is none; ``raw``: its bytes, or those of
    the file that it names."""
    content = part.WhichOneof("content")
    if content == "text":
        return part.text
    if content == "data":
        data = MessageToDict(part.data)
        if kind == "binary" or essence(part.media_type) == UNTYPED:
            return _manifest(part, base64.b64decode(data["bytes"]), "data")
        return json.dumps(data, ensure_ascii=False, indent=2)  # findings are told by line
    text = None if kind == "binary" else as_text(raw)
    source = "file" if content == "url" else "raw"
    return _manifest(part, raw, source) if text is None else text


def _manifest(part: Part, data: bytes, source: str) -> Manifest:
    return Manifest(
        _filename(part) or "a part without a name",
        part.media_type or UNTYPED,
        len(data),
        hashlib.sha256(data).hexdigest(),
        source,
    )


def _filename(part: Part) -> str:
    if part.filename or not part.HasField("url"):
        return part.filename
    return local_path(part.url).name


def fenced(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The text without its blocks between ``` lines, and the blocks: (language, code). A fence may
    begin behind words on its line ("Review this: ```yaml"); it ends at a line of ``` alone. One
    that does not end is no block."""
    rest: list[str] = []
    blocks: list[tuple[str, str]] = []
    opened: tuple[str, str, int] | None = None  # words before it, language, first line of code
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if opened is not None:
            if line.rstrip() == "```":
                before, language, first = opened
                blocks.append((language, "".join(f"{one}\n" for one in lines[first:i])))
                if before:
                    rest.append(before)
                opened = None
            continue
        at = line.find("```")
        opens = _OPENS.match(line, at) if at >= 0 and line.count("```") == 1 else None
        if opens is None:
            rest.append(line)
        else:
            opened = (line[:at].rstrip(), opens[1], i + 1)
    if opened is not None:
        rest += lines[opened[2] - 1 :]
    return "\n".join(rest), blocks


def _add(files: dict[str, str], taken: Counter[str], name: str, text: str) -> None:
    """Keep a file; a second one of that name gets a number (``taken``: where counting went on)."""
    stem, dot, ending = name.rpartition(".")
    free = name
    while free in files:
        taken[name] += 1
        k = taken[name] + 1
        free = f"{stem}-{k}{dot}{ending}" if dot else f"{ending}-{k}"
    files[free] = text


def _name_for(language: str, text: str) -> str:
    if language in _NAMES:
        return _NAMES[language]
    if text.lstrip().startswith("{"):
        return "template.json"
    return "main.tf" if _TERRAFORM.search(text) else "template.yml"
