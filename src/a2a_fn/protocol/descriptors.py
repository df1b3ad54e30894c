"""What A2A's proto descriptors say about a field, for the readers and writers of its JSON."""

from __future__ import annotations

from google.api.field_behavior_pb2 import (  # type: ignore[import-untyped]
    FieldBehavior,
    field_behavior,
)
from google.protobuf.descriptor import Descriptor, FieldDescriptor


def is_required(field: FieldDescriptor) -> bool:
    """Whether A2A marks the field REQUIRED."""
    return FieldBehavior.REQUIRED in field.GetOptions().Extensions[field_behavior]


def map_entry(field: FieldDescriptor) -> Descriptor | None:
    """The entry type of a map field; None for any other field."""
    message = field.message_type
    return message if message is not None and message.GetOptions().map_entry else None
