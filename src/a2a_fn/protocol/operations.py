"""The operations of A2A: one table for every binding and every version."""

from __future__ import annotations

from typing import NamedTuple

from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import (
    A2AError,
    PushNotificationNotSupportedError,
    UnsupportedOperationError,
)
from google.protobuf.message import Message


class Capabilities(NamedTuple):
    """What this deployment offers beyond the operations that every agent has."""

    streaming: bool = True
    push: bool = False
    extended_card: bool = False


class Operation(NamedTuple):
    """An operation: its name in A2A, the type of its request, the ``Handler``'s method for it, and
    the capability that it needs ("" for none)."""

    name: str
    request: type[Message]
    handler: str
    needs: str = ""
    streams: bool = False
    resumes: bool = False


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("SendMessage", SendMessageRequest, "send_message"),
        Operation(
            "SendStreamingMessage",
            SendMessageRequest,
            "stream_message",
            needs="streaming",
            streams=True,
        ),
        Operation("GetTask", GetTaskRequest, "get_task"),
        Operation("ListTasks", ListTasksRequest, "list_tasks"),
        Operation("CancelTask", CancelTaskRequest, "cancel_task"),
        Operation(
            "SubscribeToTask",
            SubscribeToTaskRequest,
            "subscribe",
            needs="streaming",
            streams=True,
            resumes=True,
        ),
        Operation(
            "CreateTaskPushNotificationConfig",
            TaskPushNotificationConfig,
            "create_push_config",
            needs="push",
        ),
        Operation(
            "GetTaskPushNotificationConfig",
            GetTaskPushNotificationConfigRequest,
            "get_push_config",
            needs="push",
        ),
        Operation(
            "ListTaskPushNotificationConfigs",
            ListTaskPushNotificationConfigsRequest,
            "list_push_configs",
            needs="push",
        ),
        Operation(
            "DeleteTaskPushNotificationConfig",
            DeleteTaskPushNotificationConfigRequest,
            "delete_push_config",
            needs="push",
        ),
        Operation(
            "GetExtendedAgentCard",
            GetExtendedAgentCardRequest,
            "extended_card",
            needs="extended_card",
        ),
    )
}
"""Name in A2A 1.0 -> operation. A handler has the methods of those whose capability is on."""


def refusal(operation: Operation, capabilities: Capabilities) -> A2AError | None:
    """Why this deployment does not do the operation, as A2A says it; None if it does."""
    if not operation.needs or getattr(capabilities, operation.needs):
        return None
    if operation.needs == "push":
        return PushNotificationNotSupportedError()
    if operation.needs == "streaming":
        return UnsupportedOperationError("This agent does not stream: use SendMessage and GetTask.")
    return UnsupportedOperationError(f"This agent does not offer {operation.name}.")
