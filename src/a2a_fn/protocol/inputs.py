"""JSON -> request message, strictly, naming every field that is wrong.

``read`` walks the descriptors of the proto types, so that a new method needs no code here. It
takes what ProtoJSON takes (either spelling of a field's name, enum names or numbers, integers as
strings, both base64 alphabets, null for "not given") and ignores fields that it does not know,
as A2A asks for. It refuses what protobuf's own parser drops or bends in silence: unknown enum
values, stray characters in base64, infinite numbers, a field under both its names, JSON nested
so deep that its binary form could not be read again.

What the descriptors do not say (the form of ids, ranges) is in ``rules.py``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar

from a2a.utils.errors import InvalidParamsError
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from . import values
from .descriptors import is_required, map_entry
from .rules import REQUIRED_ONEOFS, RULES, Rule

M = TypeVar("M", bound=Message)

MAX_FAULTS = 16
"""Faults that one error lists; reading stops there."""

MAX_VALUES = 100_000
"""JSON values in one request. Each becomes a proto message of its own in ``metadata`` or ``data``:
ten MiB of zeros would hold up every other request for seconds, and fill half a gigabyte."""

# --- faults -------------------------------------------------------------------------------------

Path = tuple[Any, ...] | None
"""Where in the params: a linked list ``(parent, name or index)``, spelt out only for a fault."""


class _Enough(Exception):
    """``MAX_FAULTS`` are found."""


class _Faults(list[dict[str, str]]):
    """What is wrong so far, as ``InvalidParamsError.data["errors"]`` has it."""

    def found(self, path: Path, message: str) -> None:
        self.append({"field": spell(path), "message": message})
        if len(self) >= MAX_FAULTS:
            raise _Enough


def spell(path: Path) -> str:
    """A path in JSON names: ``message.parts[0]``."""
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
    FieldDescriptor.TYPE_STRING: values.string,
    FieldDescriptor.TYPE_BYTES: values.octets,
    FieldDescriptor.TYPE_BOOL: values.boolean,
    FieldDescriptor.TYPE_INT32: values.int32,
}
_WELL_KNOWN: dict[str, Callable[[object], Message]] = {
    "google.protobuf.Timestamp": values.timestamp,
    "google.protobuf.Struct": values.struct,
    "google.protobuf.Value": values.any_value,
}


@cache
def _shape(descriptor: Descriptor) -> _Shape:
    fields = [_field(field) for field in descriptor.fields]
    required = [_field(field) for field in descriptor.fields if is_required(field)]
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
    rule = RULES.get(field.full_name)
    if map_entry(field) is not None:
        raise TypeError(f"{field.full_name} is a map: no request had one when this was written")
    take: Callable[[object], Any] | None
    if message is not None:
        take = _WELL_KNOWN.get(message.full_name)
    elif field.enum_type is not None:
        numbers = {value.name: value.number for value in field.enum_type.values}
        allowed = [name for name, number in numbers.items() if number]
        if rule is not None:
            allowed = [name for name in allowed if rule(numbers[name]) is None]
        take = values.enumerated(field.enum_type, allowed)
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
        rule=rule,
    )


def read(params: object, message: M) -> M:
    """Fill ``message`` from the decoded JSON ``params`` and return it.

    Raises ``InvalidParamsError`` with ``data["errors"]``: up to ``MAX_FAULTS`` of
    ``{"field": path, "message": what is wrong}``, the path in JSON names (``message.parts[0]``).
    """
    faults = _Faults()
    with contextlib.suppress(_Enough):
        if _is_too_many(params):
            faults.found(None, f"must have at most {MAX_VALUES} values")
        else:
            _fill(message, params, None, faults)
    if faults:
        first = faults[0]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InvalidParamsError(
            f"{first['field']} {first['message']}{more}", data={"errors": list(faults)}
        )
    return message


def _is_too_many(params: object) -> bool:
    """Whether there are more than ``MAX_VALUES``, found without walking much further than that."""
    total = 0
    containers = [params]
    while containers:
        container = containers.pop()
        if isinstance(container, dict):
            inner = list(container.values())
        elif isinstance(container, list):
            inner = container
        else:
            continue
        total += len(inner)
        if total > MAX_VALUES:
            return True
        containers += [item for item in inner if isinstance(item, dict | list)]
    return False


def _fill(message: Message, value: object, path: Path, faults: _Faults) -> None:
    if not isinstance(value, dict):
        faults.found(path, f"must be an object, not {values.kind(value)}")
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
            faults.found(path, f"must be an array, not {values.kind(value)}")
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
            faults.found(path, "must not be empty" if isinstance(taken, str) else "is required")
        elif isinstance(taken, Message):
            getattr(message, field.name).CopyFrom(taken)
        else:
            setattr(message, field.name, taken)


def _take(field: _Field, value: object, path: Path, faults: _Faults) -> Any:
    """The value of a field or an element, or None with a fault found."""
    assert field.take is not None  # noqa: S101 - a field without ``take`` has a shape
    try:
        taken = field.take(value)
    except values.Wrong as wrong:
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
