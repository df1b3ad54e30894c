"""Response message -> ProtoJSON.

The same as ``google.protobuf.json_format.MessageToDict`` with two differences. Fields that A2A
marks REQUIRED are always there (``nextPageToken: ""``, ``skills: []``), others only if set, so
that no part carries empty names. And the descriptors are read once per type instead of once per
message, which makes it several times faster. A test holds both against each other.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from .descriptors import is_required, map_entry

Convert = Callable[[Any], Any]


def dumps(value: object) -> bytes:
    """Compact JSON in UTF-8, not ASCII-escaped, on one line for every reader.

    Some clients split event streams at U+0085, U+2028 and U+2029 too, so these are escaped. Half
    a surrogate pair, which UTF-8 cannot say, becomes a question mark.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if not text.isascii():
        for character in "\x85\u2028\u2029":
            if character in text:
                text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace")


def encode(message: Message) -> dict[str, Any]:
    """The message as a dict that ``dumps`` takes."""
    plan = _plan(message.DESCRIPTOR)
    result: dict[str, Any] = {}
    for field, value in message.ListFields():
        name, convert = plan.fields[field.number]
        result[name] = convert(value)
    for name, default in plan.required:
        if name not in result:
            result[name] = default()
    return result


class _Plan(NamedTuple):
    """How to write one message type."""

    fields: dict[int, tuple[str, Convert]]
    required: tuple[tuple[str, Callable[[], Any]], ...]  # those that have no presence


@cache
def _plan(descriptor: Descriptor) -> _Plan:
    fields = {field.number: (field.json_name, _convert(field)) for field in descriptor.fields}
    required = [
        (field.json_name, _default(field))
        for field in descriptor.fields
        if is_required(field) and not field.has_presence
    ]
    return _Plan(fields, tuple(required))


def _default(field: FieldDescriptor) -> Callable[[], Any]:
    if field.is_repeated:
        return dict if map_entry(field) else list
    value = _single(field)(field.default_value)
    return lambda: value


def _convert(field: FieldDescriptor) -> Convert:
    entry = map_entry(field)
    if entry is not None:
        convert_value = _single(entry.fields_by_name["value"])
        return lambda entries: {str(key): convert_value(entries[key]) for key in entries}
    convert = _single(field)
    if not field.is_repeated:
        return convert
    if convert is _same:
        return list
    return lambda items: [convert(item) for item in items]


def _same(value: Any) -> Any:
    return value


def _number(value: float) -> float | int | str:
    """A double as JSON: whole numbers without ``.0``, the three that JSON lacks by their names.

    An agent that puts NaN in its metadata must not make its task unreadable for ever.
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _enum(descriptor: EnumDescriptor) -> Convert:
    names = {value.number: value.name for value in descriptor.values}
    return lambda number: names.get(number, number)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _struct(struct: Struct) -> dict[str, Any]:
    fields = struct.fields
    return {key: _value(fields[key]) for key in fields}


def _list(values: ListValue) -> list[Any]:
    return [_value(item) for item in values.values]


_KINDS: dict[str | None, Convert] = {
    "string_value": _same,
    "bool_value": _same,
    "number_value": _number,
    "struct_value": _struct,
    "list_value": _list,
}


def _value(value: Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind is None or kind == "null_value":
        return None
    return _KINDS[kind](getattr(value, kind))


_MESSAGES: dict[str, Convert] = {
    "google.protobuf.Struct": _struct,
    "google.protobuf.Value": _value,
    "google.protobuf.ListValue": _list,
    "google.protobuf.Timestamp": Timestamp.ToJsonString,
}
_LONG = {
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_SINT64,
    FieldDescriptor.TYPE_FIXED64,
    FieldDescriptor.TYPE_SFIXED64,
}


def _single(field: FieldDescriptor) -> Convert:
    """How to write one value of the field."""
    if field.message_type is not None:
        name = field.message_type.full_name
        if name.startswith("google.protobuf."):
            return _MESSAGES.get(name, MessageToDict)
        return encode
    if field.enum_type is not None:
        return _enum(field.enum_type)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _base64
    if field.type in _LONG:
        return str
    if field.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return _number
    return _same
