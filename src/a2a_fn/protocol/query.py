"""Query parameters -> the JSON that ``inputs.read`` takes (specification, 11.5).

A query has only strings, so what they stand for is read off the request's descriptor. Names are
camelCase, or the proto's own; parameters that the request does not know are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from urllib.parse import parse_qsl

from a2a.utils.errors import InvalidParamsError
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from .errors import invalid

MAX_PARAMETERS = 100
"""In one query; a request has a dozen."""

_INTEGER = re.compile(r"-?[0-9]{1,18}")  # what does not fit in 32 bits is for ``inputs`` to say
_BOOLEANS = {"true": True, "false": False}


def read(query_string: bytes, request: Message) -> dict[str, object]:
    """The fields of ``request`` that a query gives, under the names that it gives them by.

    Raises ``InvalidParamsError``, which names the parameter.
    """
    if not query_string:
        return {}
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError:
        raise InvalidParamsError(
            f"The query must be UTF-8, percent-encoded, of at most {MAX_PARAMETERS} parameters."
        ) from None
    fields = _fields(request.DESCRIPTOR)
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if name in fields:
            given.setdefault(name, []).append(value)
    return {name: _values(name, fields[name], texts) for name, texts in given.items()}


@cache
def _fields(descriptor: Descriptor) -> dict[str, FieldDescriptor]:
    """A request's fields under both spellings."""
    fields = {field.name: field for field in descriptor.fields}
    return fields | {field.json_name: field for field in descriptor.fields}


def _values(name: str, field: FieldDescriptor, texts: list[str]) -> object:
    convert = _converter(name, field)
    if field.is_repeated:
        return [convert(item) for text in texts for item in text.split(",") if item]
    if len(texts) > 1:
        raise invalid(name, "must be given once")
    return convert(texts[0])


def _converter(name: str, field: FieldDescriptor) -> Callable[[str], object]:
    """How to read one value of the field; what stays a string is checked by ``inputs``."""
    message = field.message_type
    if message is not None and message.full_name != "google.protobuf.Timestamp":
        raise invalid(name, "cannot be given in a query: it is an object")

    def boolean(text: str) -> object:
        if text not in _BOOLEANS:
            raise invalid(name, "must be true or false")
        return _BOOLEANS[text]

    def integer(text: str) -> object:
        if not _INTEGER.fullmatch(text):
            raise invalid(name, "must be a whole number")
        return int(text)

    if field.type == FieldDescriptor.TYPE_BOOL:
        return boolean
    return integer if field.type == FieldDescriptor.TYPE_INT32 else str
