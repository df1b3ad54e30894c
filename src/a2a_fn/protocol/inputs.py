"""JSON -> request message, strictly, naming every field that is wrong.

``read`` walks the descriptors of the proto types, so that a new method needs no code here. It
takes what ProtoJSON takes (either spelling of a field's name, enum names or numbers, integers as
strings, both base64 alphabets, null for "not given") and ignores fields that it does not know,
as A2A asks for. It refuses what protobuf's own parser drops or bends in silence: unknown enum
values, stray characters in base64, infinite numbers, a field under both its names, JSON nested
so deep that its binary form could not be read again.

What the descriptors do not say (the form of ids, ranges) is in ``RULES``.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar

from a2a.types.a2a_pb2 import Role
from a2a.utils.errors import InvalidParamsError
from google.api.field_behavior_pb2 import FieldBehavior, field_behavior
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

M = TypeVar("M", bound=Message)

MAX_FAULTS = 16
"""Faults that one error lists; reading stops there."""

MAX_DEPTH = 24
"""Levels of JSON in one ``metadata`` or ``data``. A level of objects is three levels of proto
messages, and protobuf reads at most 100: this leaves room for what a Task wraps around it."""

MAX_MESSAGE_ID = 256
"""Characters of a messageId, which A2A leaves to the client."""

# --- faults -------------------------------------------------------------------------------------

Path = tuple[Any, ...] | None
"""Where in the params: a linked list ``(parent, name or index)``, spelt out only for a fault."""


class _Enough(Exception):
    """``MAX_FAULTS`` are found."""


class _Faults(list[dict[str, str]]):
    """What is wrong so far, as ``InvalidParamsError.data["errors"]`` has it."""

    def found(self, path: Path, message: str) -> None:
        self.append({"field": _spell(path), "message": message})
        if len(self) >= MAX_FAULTS:
            raise _Enough


def _spell(path: Path) -> str:
    steps: list[str] = []
    while path is not None:
        path, step = path
        if isinstance(step, int):
            steps.append(f"[{step}]")
        else:
            steps.append(f".{_shown(step)}")
    return "".join(reversed(steps)).removeprefix(".") or "params"


def _shown(name: str) -> str:
    """A name for an error message: keys of metadata are the client's and may be anything."""
    return name[:64].encode("utf-8", "backslashreplace").decode()


def _kind(value: object) -> str:
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


# --- rules that the descriptors do not state ------------------------------------------------------

Rule = Callable[[Any], str | None]
"""A field's value -> what is wrong with it, or None."""

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_PREFIX = "lf.a2a.v1"


def _id(value: str) -> str | None:
    if _ID.fullmatch(value):
        return None
    return "must be 1 to 128 letters, digits, or any of _ . : -"


def _message_id(value: str) -> str | None:
    if len(value) <= MAX_MESSAGE_ID:
        return None
    return f"must be at most {MAX_MESSAGE_ID} characters long"


def _from_user(value: int) -> str | None:
    # What a client says enters the conversation as the user's words, never as the agent's own.
    return None if value == Role.ROLE_USER else "must be ROLE_USER in a message that is sent"


def _not_negative(value: int) -> str | None:
    return None if value >= 0 else "must not be negative"


def _page_size(value: int) -> str | None:
    return None if 1 <= value <= 100 else "must be between 1 and 100"


RULES: dict[str, Rule] = {
    f"{_PREFIX}.Message.message_id": _message_id,
    f"{_PREFIX}.Message.context_id": _id,
    f"{_PREFIX}.Message.task_id": _id,
    f"{_PREFIX}.Message.role": _from_user,
    f"{_PREFIX}.Message.reference_task_ids": _id,
    f"{_PREFIX}.SendMessageConfiguration.history_length": _not_negative,
    f"{_PREFIX}.TaskPushNotificationConfig.id": _id,
    f"{_PREFIX}.TaskPushNotificationConfig.task_id": _id,
    f"{_PREFIX}.GetTaskRequest.id": _id,
    f"{_PREFIX}.GetTaskRequest.history_length": _not_negative,
    f"{_PREFIX}.ListTasksRequest.context_id": _id,
    f"{_PREFIX}.ListTasksRequest.page_size": _page_size,
    f"{_PREFIX}.ListTasksRequest.history_length": _not_negative,
    f"{_PREFIX}.CancelTaskRequest.id": _id,
    f"{_PREFIX}.SubscribeToTaskRequest.id": _id,
}
"""Full name of a field -> its rule; for a repeated field, of each element. Not asked about a
value that is the field's default, which in proto3 is the same as not given, unless the field
tells the two apart."""

REQUIRED_ONEOFS = {f"{_PREFIX}.Part.content"}

# --- scalars ------------------------------------------------------------------------------------


class _Wrong(Exception):
    """A value that cannot be taken; the text is for the client."""


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise _Wrong(f"must be a string, not {_kind(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _Wrong("must be valid Unicode: it has half of a surrogate pair") from None
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Wrong(f"must be true or false, not {_kind(value)}")
    return value


_INTEGER = re.compile(r"-?[0-9]{1,10}")


def _int32(value: object) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Wrong(f"must be a whole number, not {_kind(value)}")
    if not -(2**31) <= value < 2**31:
        raise _Wrong("must fit in 32 bits")
    return value


_TO_STANDARD = str.maketrans("-_", "+/")


def _bytes(value: object) -> bytes:
    if not isinstance(value, str):
        raise _Wrong(f"must be a string of base64, not {_kind(value)}")
    standard = value.translate(_TO_STANDARD).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise _Wrong("must be valid base64") from None


_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE
)


def _timestamp(value: object) -> Timestamp:
    result = Timestamp()
    if isinstance(value, str) and _RFC3339.fullmatch(value):
        try:
            result.FromJsonString(value.upper())
            return result
        except (ValueError, OverflowError):
            pass  # no such day or time: the same answer as for any other text
    raise _Wrong("must be a time such as 2026-01-31T12:00:00.000Z")


def _enum(descriptor: EnumDescriptor) -> Callable[[object], int]:
    by_name = {value.name: value.number for value in descriptor.values}
    names = ", ".join(name for name, number in by_name.items() if number)

    def read_enum(value: object) -> int:
        if isinstance(value, str) and value in by_name:
            return by_name[value]
        if isinstance(value, int) and not isinstance(value, bool) and value in by_name.values():
            return value
        raise _Wrong(f"must be one of {names}")

    return read_enum


# --- free JSON: metadata and data -----------------------------------------------------------------


def _struct(value: object) -> Struct:
    if not isinstance(value, dict):
        raise _Wrong(f"must be an object, not {_kind(value)}")
    result = Struct()
    _fill_struct(result, value, 1)
    return result


def _value(value: object) -> Value:
    result = Value()
    _fill_value(result, value, 0)
    return result


def _fill_struct(target: Struct, value: dict[str, object], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _Wrong(f"must not be nested deeper than {MAX_DEPTH} levels")
    fields = target.fields
    for key, item in value.items():
        _fill_value(fields[_string(key)], item, depth)


def _fill_list(target: ListValue, value: list[object], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _Wrong(f"must not be nested deeper than {MAX_DEPTH} levels")
    add = target.values.add
    for item in value:
        _fill_value(add(), item, depth)


def _fill_value(target: Value, value: object, depth: int) -> None:
    if isinstance(value, str):
        target.string_value = _string(value)
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
            raise _Wrong("must not contain a number outside the range of a double")
        target.number_value = number
    elif isinstance(value, dict):
        target.struct_value.SetInParent()
        _fill_struct(target.struct_value, value, depth + 1)
    elif isinstance(value, list):
        target.list_value.SetInParent()
        _fill_list(target.list_value, value, depth + 1)


# --- messages -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Field:
    """How to read one field."""

    name: str
    json: str
    take: Callable[[object], Any] | None  # None: a message, read by its own shape
    shape: Descriptor | None
    repeated: bool
    presence: bool
    nullable: bool  # null is a value of it, not its absence
    oneof: str
    rule: Rule | None


class _Shape(NamedTuple):
    """How to read one message type."""

    fields: dict[str, _Field]  # under both spellings
    required: tuple[_Field, ...]
    oneofs: tuple[tuple[str, str], ...]  # (name, what it can be) of those that must be set


_SCALARS: dict[int, Callable[[object], Any]] = {
    FieldDescriptor.TYPE_STRING: _string,
    FieldDescriptor.TYPE_BYTES: _bytes,
    FieldDescriptor.TYPE_BOOL: _bool,
    FieldDescriptor.TYPE_INT32: _int32,
}
_WELL_KNOWN: dict[str, Callable[[object], Message]] = {
    "google.protobuf.Timestamp": _timestamp,
    "google.protobuf.Struct": _struct,
    "google.protobuf.Value": _value,
}


@cache
def _shape(descriptor: Descriptor) -> _Shape:
    fields = [_field(field) for field in descriptor.fields]
    required = [
        _field(field)
        for field in descriptor.fields
        if FieldBehavior.REQUIRED in field.GetOptions().Extensions[field_behavior]
    ]
    oneofs = [
        (oneof.name, ", ".join(field.json_name for field in oneof.fields))
        for oneof in descriptor.oneofs
        if oneof.full_name in REQUIRED_ONEOFS
    ]
    by_name = {field.name: field for field in fields} | {field.json: field for field in fields}
    return _Shape(by_name, tuple(required), tuple(oneofs))


@cache
def _field(field: FieldDescriptor) -> _Field:
    message = field.message_type
    take: Callable[[object], Any] | None
    if message is not None:
        take = _WELL_KNOWN.get(message.full_name)
    elif field.enum_type is not None:
        take = _enum(field.enum_type)
    else:
        take = _SCALARS[field.type]
    return _Field(
        name=field.name,
        json=field.json_name,
        take=take,
        shape=message if take is None else None,
        repeated=field.is_repeated,
        presence=field.has_presence,
        nullable=message is not None and message.full_name == "google.protobuf.Value",
        oneof=field.containing_oneof.name if field.containing_oneof else "",
        rule=RULES.get(field.full_name),
    )


def read(params: object, message: M) -> M:
    """Fill ``message`` from the decoded JSON ``params`` and return it.

    Raises ``InvalidParamsError`` with ``data["errors"]``: up to ``MAX_FAULTS`` of
    ``{"field": path, "message": what is wrong}``, the path in JSON names (``message.parts[0]``).
    """
    faults = _Faults()
    try:
        _fill(message, params, None, faults)
    except _Enough:
        pass
    if faults:
        first = faults[0]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InvalidParamsError(
            f"{first['field']} {first['message']}{more}", data={"errors": list(faults)}
        )
    return message


def _fill(message: Message, value: object, path: Path, faults: _Faults) -> None:
    if not isinstance(value, dict):
        faults.found(path, f"must be an object, not {_kind(value)}")
        return
    shape = _shape(message.DESCRIPTOR)
    given: dict[str, str] = {}
    for key, item in value.items():
        field = shape.fields.get(key)
        if field is None or (item is None and not field.nullable):
            continue
        here = (path, key)
        clash = given.get(field.name) or (field.oneof and given.get(field.oneof))
        if clash:
            faults.found(here, f"must not be given together with {clash}")
            continue
        given[field.name] = key
        if field.oneof:
            given[field.oneof] = key
        _set(message, field, item, here, faults)
    for field in shape.required:
        if field.name not in given:
            faults.found((path, field.json), "is required")
    for name, choices in shape.oneofs:
        if name not in given:
            faults.found(path, f"must have one of {choices}")


def _set(message: Message, field: _Field, value: object, path: Path, faults: _Faults) -> None:
    if field.repeated:
        if not isinstance(value, list):
            faults.found(path, f"must be an array, not {_kind(value)}")
            return
        target = getattr(message, field.name)
        for index, item in enumerate(value):
            here = (path, index)
            if field.shape is not None:
                _fill(target.add(), item, here, faults)
            else:
                taken = _take(field, item, here, faults)
                if taken is not None:
                    target.append(taken)
        if not value and _is_required(message, field):
            faults.found(path, "must have at least one element")
    elif field.shape is not None:
        target = getattr(message, field.name)
        target.SetInParent()
        _fill(target, value, path, faults)
    else:
        taken = _take(field, value, path, faults)
        if taken is None:
            return
        if not taken and not field.presence and _is_required(message, field):
            faults.found(path, "must not be empty")
        elif isinstance(taken, Message):
            getattr(message, field.name).CopyFrom(taken)
        else:
            setattr(message, field.name, taken)


def _take(field: _Field, value: object, path: Path, faults: _Faults) -> Any:
    """The value of a field or an element, or None with a fault found."""
    assert field.take is not None  # noqa: S101 - a field without ``take`` has a shape
    try:
        taken = field.take(value)
    except _Wrong as wrong:
        faults.found(path, str(wrong))
        return None
    wrong_by_rule = None
    if field.rule is not None and (taken or field.presence or field.repeated):
        wrong_by_rule = field.rule(taken)
    if wrong_by_rule is not None:
        faults.found(path, wrong_by_rule)
        return None
    return taken


def _is_required(message: Message, field: _Field) -> bool:
    return field in _shape(message.DESCRIPTOR).required
