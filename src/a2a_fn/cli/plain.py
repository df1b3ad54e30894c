"""A2A messages as JSON that reads as the server wrote it."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

_EXACT = 2**53  # above it, a double does not tell one whole number from the next


def to_json(message: Message) -> Any:
    """The message as ProtoJSON, whole numbers as such: in `data` and `metadata` a proto message
    has doubles only, where 1613 would be 1613.0. A `Value` may be anything that JSON has."""
    return _whole(MessageToDict(message))


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value
