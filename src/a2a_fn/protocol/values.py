"""One JSON value -> one proto value, for ``inputs.py``.

Each function takes what ProtoJSON takes for its type and raises ``Wrong`` for anything else.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Sequence

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

MAX_DEPTH = 24
"""Levels of JSON in one ``metadata`` or ``data``. A level of objects is three levels of proto
messages, and protobuf reads at most 100: this leaves room for what a Task wraps around it."""


class Wrong(Exception):
    """A value that cannot be taken; the text is for the client."""


def kind(value: object) -> str:
    """What JSON calls the value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, int | float):
        return "a number"
    return "an array" if isinstance(value, list) else "an object"


def string(value: object) -> str:
    """A string; protobuf keeps them as UTF-8."""
    if not isinstance(value, str):
        raise Wrong(f"must be a string, not {kind(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Wrong("must be valid Unicode: it has half of a surrogate pair") from None
    return value


def boolean(value: object) -> bool:
    """true or false, and nothing that resembles them."""
    if not isinstance(value, bool):
        raise Wrong(f"must be true or false, not {kind(value)}")
    return value


_INTEGER = re.compile(r"-?[0-9]{1,10}")


def int32(value: object) -> int:
    """A whole number, which ProtoJSON allows as 5, 5.0 and "5"."""
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Wrong(f"must be a whole number, not {kind(value)}")
    if not -(2**31) <= value < 2**31:
        raise Wrong("must fit in 32 bits")
    return value


def octets(value: object) -> bytes:
    """Base64 of either alphabet, with or without padding, and no other characters."""
    if not isinstance(value, str):
        raise Wrong(f"must be a string of base64, not {kind(value)}")
    standard = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise Wrong("must be valid base64") from None


_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)",
    re.ASCII | re.IGNORECASE,
)


def timestamp(value: object) -> Timestamp:
    """An RFC 3339 time, in any zone."""
    result = Timestamp()
    try:
        if not isinstance(value, str) or not _RFC3339.fullmatch(value):
            raise ValueError
        result.FromJsonString(value.upper())
    except (ValueError, OverflowError):  # also a day or an hour that there is not
        raise Wrong("must be a time such as 2026-01-31T12:00:00.000Z") from None
    return result


def enumerated(descriptor: EnumDescriptor, allowed: Sequence[str]) -> Callable[[object], int]:
    """A reader of that enum's names and numbers; ``allowed`` are the names that it suggests."""
    by_name = {value.name: value.number for value in descriptor.values}
    choice = f"must be {'one of ' if len(allowed) > 1 else ''}{', '.join(allowed)}"

    def read_enum(value: object) -> int:
        if isinstance(value, str) and value in by_name:
            return by_name[value]
        if isinstance(value, int) and not isinstance(value, bool) and value in by_name.values():
            return value
        raise Wrong(choice)

    return read_enum


def struct(value: object) -> Struct:
    """Any JSON object."""
    if not isinstance(value, dict):
        raise Wrong(f"must be an object, not {kind(value)}")
    result = Struct()
    _fill_struct(result, value, 1)
    return result


def any_value(value: object) -> Value:
    """Any JSON value, null among them."""
    result = Value()
    _fill_value(result, value, 0)
    return result


def _fill_struct(target: Struct, value: dict[str, object], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Wrong(f"must not be nested deeper than {MAX_DEPTH} levels")
    fields = target.fields
    for key, item in value.items():
        _fill_value(fields[string(key)], item, depth)


def _fill_list(target: ListValue, value: list[object], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Wrong(f"must not be nested deeper than {MAX_DEPTH} levels")
    add = target.values.add
    for item in value:
        _fill_value(add(), item, depth)


def _fill_value(target: Value, value: object, depth: int) -> None:
    if isinstance(value, str):
        target.string_value = string(value)
    elif value is None:
        target.null_value = 0  # type: ignore[assignment]
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise Wrong("must not contain a number outside the range of a double")
        target.number_value = number
    elif isinstance(value, dict):
        target.struct_value.SetInParent()
        _fill_struct(target.struct_value, value, depth + 1)
    elif isinstance(value, list):
        target.list_value.SetInParent()
        _fill_list(target.list_value, value, depth + 1)
