"""What must hold of a request's fields beyond what A2A's descriptors say: ``inputs.py``'s table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from a2a.types.a2a_pb2 import Role

MAX_MESSAGE_ID = 256
"""Characters of a messageId, which A2A leaves to the client."""

Rule = Callable[[Any], str | None]
"""A field's value -> what is wrong with it, or None."""

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
NO_TENANTS = frozenset({"a2a", "artifacts", "extendedAgentCard", "health", "tasks", "v1"})
"""Names that paths of this server begin with: where a path names the tenant, they name none."""

_PREFIX = "lf.a2a.v1"
_WITH_TENANT = (
    "SendMessageRequest",
    "GetTaskRequest",
    "ListTasksRequest",
    "CancelTaskRequest",
    "SubscribeToTaskRequest",
    "TaskPushNotificationConfig",
    "GetTaskPushNotificationConfigRequest",
    "ListTaskPushNotificationConfigsRequest",
    "DeleteTaskPushNotificationConfigRequest",
    "GetExtendedAgentCardRequest",
)


def _id(value: str) -> str | None:
    if _ID.fullmatch(value):
        return None
    return "must be 1 to 128 letters, digits, or any of _ . : -"


def tenant(value: str) -> str | None:
    """What is wrong with the name of a tenant."""
    if not TENANT.fullmatch(value):
        return "must be 1 to 128 letters, digits, or any of _ . -, and begin with a letter or digit"
    if value in NO_TENANTS:
        return "must not be a name that a path of this server begins with"
    return None


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
    f"{_PREFIX}.GetTaskPushNotificationConfigRequest.task_id": _id,
    f"{_PREFIX}.GetTaskPushNotificationConfigRequest.id": _id,
    f"{_PREFIX}.ListTaskPushNotificationConfigsRequest.task_id": _id,
    f"{_PREFIX}.ListTaskPushNotificationConfigsRequest.page_size": _page_size,
    f"{_PREFIX}.DeleteTaskPushNotificationConfigRequest.task_id": _id,
    f"{_PREFIX}.DeleteTaskPushNotificationConfigRequest.id": _id,
    f"{_PREFIX}.GetTaskRequest.id": _id,
    f"{_PREFIX}.GetTaskRequest.history_length": _not_negative,
    f"{_PREFIX}.ListTasksRequest.context_id": _id,
    f"{_PREFIX}.ListTasksRequest.page_size": _page_size,
    f"{_PREFIX}.ListTasksRequest.history_length": _not_negative,
    f"{_PREFIX}.CancelTaskRequest.id": _id,
    f"{_PREFIX}.SubscribeToTaskRequest.id": _id,
}
RULES |= {f"{_PREFIX}.{name}.tenant": tenant for name in _WITH_TENANT}
"""Full name of a field -> its rule; for a repeated field, of each element. Not asked about a
value that is the field's default, which in proto3 is the same as not given, unless the field
tells the two apart."""

REQUIRED_ONEOFS = {f"{_PREFIX}.Part.content"}
