"""What an agent takes: a message's parts are checked before the message is accepted."""

from __future__ import annotations

import base64
from pathlib import Path

from a2a.types.a2a_pb2 import Message, Part
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError

from ..media import (
    FILE_LIMIT,
    FILES_LIMIT,
    INLINE_LIMIT,
    PARTS_LIMIT,
    TEXT_LIMIT,
    UNTYPED,
    Kind,
    MediaTypes,
    accepts,
    essence,
    is_json,
    is_utf8,
)
from ..profile import Profile
from ..workspace import (
    BINARY_TOO_LARGE,
    NOT_UTF8,
    TEXT_TOO_LARGE,
    TOGETHER_TOO_LARGE,
    InvalidWorkspace,
    PartRefused,
    Roots,
    local_path,
    relative_path,
    wish,
)
from . import outputs
from .errors import invalid

GROWTH = 6  # bytes of compact JSON that one byte of a Value may become: a control character


class Intake:
    """Checks a message's parts: ``TaskHandler``'s ``intake``.

    An agent whose profile has ``url_parts`` sees to its parts itself; only a media type that a part
    names must be among the card's. For another one, ``types`` says what it reads, and files are
    read in ``roots``; None: each context has a folder of its own, which is not here.
    """

    def __init__(self, profile: Profile, types: MediaTypes, roots: Roots | None) -> None:
        self._modes = profile.input_modes
        self._passes = profile.url_parts
        self._types = types
        self._roots = roots

    def __call__(self, message: Message) -> str:
        """The folder that the message names, resolved; "" if it names none, or none that may be:
        then the agent fails the task. Raises ContentTypeNotSupportedError, InvalidParamsError."""
        if len(message.parts) > PARTS_LIMIT:
            raise invalid("message.parts", f"must be at most {PARTS_LIMIT}")
        if self._passes:
            for i, part in enumerate(message.parts):
                if part.media_type and not accepts(self._modes, part.media_type):
                    raise self._unsupported(i, part)
            return ""
        try:
            folder, valid = self._folder(message), True
        except InvalidWorkspace:
            folder, valid = None, False
        room = FILES_LIMIT
        for i, part in enumerate(message.parts):
            kind = self._types.kind(part.media_type)
            content = part.WhichOneof("content")
            if kind is None or (content == "text" and kind == "binary"):
                raise self._unsupported(i, part)
            try:
                if content == "text":
                    if len(part.text.encode()) > TEXT_LIMIT:
                        raise PartRefused("A2A text part content is too large.")
                elif content == "data":
                    _check_data(part, kind)
                elif content == "raw":
                    _check_raw(part.raw, kind)
                elif content == "url":
                    room -= self._check_file(part.url, kind, message, folder, valid)
                    if room < 0:
                        raise PartRefused(TOGETHER_TOO_LARGE)
            except PartRefused as refused:
                raise _invalid(i, str(refused)) from None
        return str(folder) if folder else ""

    def _folder(self, message: Message) -> Path | None:
        if "iac_code" not in message.metadata.fields:
            return None
        asked = wish(message.metadata["iac_code"])
        if asked is None:
            return None
        if self._roots is None:
            raise InvalidWorkspace
        return self._roots.find(asked)

    def _check_file(
        self, url: str, kind: Kind, message: Message, folder: Path | None, valid: bool
    ) -> int:
        """Look at what the agent would read, as far as it is known where that is; its size."""
        if self._roots is None:
            relative_path(url)
            return 0
        if not valid:
            local_path(url)  # the rest does not matter: the agent fails the task
            return 0
        if folder is None and not (message.task_id or message.context_id):
            folder = self._roots.default()
        workspace = self._roots.workspace(folder)
        if kind != "text":
            return workspace.check(url, FILE_LIMIT, BINARY_TOO_LARGE)
        data = workspace.read(url, TEXT_LIMIT, TEXT_TOO_LARGE)
        if not is_utf8(data):
            raise PartRefused(NOT_UTF8)
        return len(data)

    def _unsupported(self, i: int, part: Part) -> ContentTypeNotSupportedError:
        supported = self._modes if self._passes else sorted(self._types.text | self._types.binary)
        return ContentTypeNotSupportedError(
            "A2A part has unsupported media type.",
            data={
                "field": f"message.parts[{i}].mediaType",
                "mediaType": part.media_type,
                "supported": ", ".join(supported),
            },
        )


def _check_data(part: Part, kind: Kind) -> None:
    if kind == "binary" or essence(part.media_type) == UNTYPED:
        _check_bytes(part)
    elif not is_json(part.media_type):
        raise PartRefused("A2A data parts must use application/json media type.")
    elif part.data.ByteSize() * GROWTH > TEXT_LIMIT and (
        len(outputs.dumps(outputs.encode(part)["data"])) > TEXT_LIMIT
    ):
        raise PartRefused("A2A data part content is too large.")


def _check_bytes(part: Part) -> None:
    """Something that is no text, as an object: ``{"bytes": base64}``."""
    if part.data.WhichOneof("kind") != "struct_value":
        raise PartRefused("A2A binary data parts must contain an object.")
    fields = part.data.struct_value.fields
    encoded = fields["bytes"].string_value if "bytes" in fields else ""
    if not encoded:
        raise PartRefused("A2A binary data parts must include base64 bytes.")
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        raise PartRefused("A2A binary data part bytes must be valid base64.") from None
    if len(data) > INLINE_LIMIT:
        raise PartRefused("A2A binary data part content is too large.")


def _check_raw(data: bytes, kind: Kind) -> None:
    if kind != "text":
        if len(data) > INLINE_LIMIT:
            raise PartRefused("A2A binary raw part content is too large.")
    elif len(data) > TEXT_LIMIT:
        raise PartRefused("A2A raw part content is too large.")
    elif not is_utf8(data):
        raise PartRefused("A2A raw parts must contain valid UTF-8.")


def _invalid(i: int, message: str) -> InvalidParamsError:
    fault = {"field": f"message.parts[{i}]", "message": message}
    return InvalidParamsError(message, data={"errors": [fault]})
