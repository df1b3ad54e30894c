"""A2A 0.3 over JSON-RPC, translated by the a2a-sdk's compat types.

Imported when the first request of 0.3 comes: pydantic and its models cost 0.15 s of CPU, half of a
cold start. Beyond what the SDK's own adapter does:

- Params are as strict as those of 1.0 (``v03_params.py``).
- ``final`` is true on the event that ends a turn, INPUT_REQUIRED and AUTH_REQUIRED among them, and
  a stream of 0.3 ends there, as its clients expect; the SDK says so of terminal states only.
- A push config is found by its task's id alone.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from a2a.compat.v0_3 import conversions, types
from a2a.types.a2a_pb2 import (
    AgentCard,
    ListTaskPushNotificationConfigsResponse,
    Part,
    SendMessageResponse,
    StreamResponse,
    Task,
    TaskPushNotificationConfig,
    TaskStatus,
)
from a2a.utils.errors import MethodNotFoundError
from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Value
from pydantic import BaseModel

from . import envelope, v03_params
from .callers import Frame
from .errors import Fault
from .operations import OPERATIONS, Operation

METHODS = {
    "message/send": "SendMessage",
    "message/stream": "SendStreamingMessage",
    "tasks/get": "GetTask",
    "tasks/cancel": "CancelTask",
    "tasks/resubscribe": "SubscribeToTask",
    "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
    "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
    "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
    "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
    "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
}
"""Method of 0.3 -> operation. A2A 0.3 lists tasks over REST and gRPC only."""

NEWER_CODES = {-32008: -32600, -32009: -32600}
"""Codes that 0.3 lacks -> its nearest: an extension or a version that is missing makes the
request an invalid one, not the server a broken one."""

State = types.TaskState

FOUR_STATES = {
    State.submitted: State.working,
    State.auth_required: State.working,
    State.input_required: State.completed,
    State.rejected: State.failed,
}
"""What the other states are to a client that knows working, completed, failed and canceled."""

RESULT = "result"
"""Id and name of the artifact that holds the last words of a task, for such a client."""

_FINAL = frozenset(
    {
        State.completed,
        State.canceled,
        State.failed,
        State.rejected,
        State.input_required,
        State.auth_required,
    }
)


class V03:
    """The dialect of A2A 0.3; ``four_states``: for clients that know only four task states, and
    no messageId."""

    streams_errors = True  # a client of 0.3 reads the answer to a streaming call as a stream only

    def __init__(self, *, four_states: bool = False) -> None:
        self._four_states = four_states

    def operation(self, method: str) -> Operation:
        """The operation of that method."""
        name = METHODS.get(method)
        if name is None:
            also = " Methods of A2A 1.0 need A2A-Version: 1.0." if method in OPERATIONS else ""
            names = ", ".join(METHODS)
            raise MethodNotFoundError(f"A2A 0.3 has no such method; it has: {names}.{also}")
        return OPERATIONS[name]

    def request(self, operation: Operation, params: object) -> Message:
        """The params, translated and read strictly."""
        named = envelope.by_name(params)
        if self._four_states:
            named = _with_message_id(named)
        return v03_params.read(operation.name, named)

    def answer(self, operation: Operation, answer: Message) -> Any:
        """The answer in the types of 0.3; a deletion's is null."""
        if operation.name == "DeleteTaskPushNotificationConfig":
            return None
        translated = translate(answer, four_states=self._four_states)
        if isinstance(translated, list):
            return [_dump(one) for one in translated]
        return _dump(translated)

    def error(self, fault: Fault) -> dict[str, Any]:
        """The error with a code that 0.3 has; ``data`` has what there is beside the text."""
        code = NEWER_CODES.get(fault.outcome.code, fault.outcome.code)
        error: dict[str, Any] = {"code": code, "message": fault.message}
        data = _data(fault)
        return error | {"data": data} if data else error

    def frames(self, frames: AsyncIterator[Frame]) -> AsyncIterator[Frame]:
        """The frames up to the first that 0.3 calls final."""
        return until_final(frames, four_states=self._four_states)


def _with_message_id(params: Any) -> Any:
    """The params with a messageId made up, if they have none: these clients do not know it. Other
    clients of 0.3 must send one, for only with it can a request be sent again safely."""
    message = params.get("message")
    if not isinstance(message, dict) or message.get("messageId") or message.get("message_id"):
        return params
    return {**params, "message": {**message, "messageId": str(uuid.uuid4())}}


async def until_final(
    frames: AsyncIterator[Frame], *, four_states: bool = False
) -> AsyncIterator[Frame]:
    """The frames up to the first that 0.3 calls final; closes ``frames``."""
    async with aclosing(cast("AsyncGenerator[Frame, None]", frames)):
        async for frame in frames:
            yield frame
            event = frame.response
            if event.HasField("status_update"):
                status = conversions.to_compat_task_status(
                    TaskStatus(state=event.status_update.status.state)
                )
                if _shown(status.state, four_states) in _FINAL:
                    return


# --- answers ------------------------------------------------------------------------------------


def translate(answer: Message, *, four_states: bool = False) -> Any:
    """What a handler answered (or one StreamResponse) as the SDK's type of 0.3, or as a list of
    them. Content that 0.3 or JSON cannot say is said as near as can be: an answer that an agent
    gave once must not make its task unreadable for ever."""
    try:
        translated = _translate(answer)
    except (ValueError, json_format.Error):
        mended = type(answer)()
        mended.CopyFrom(answer)
        _mend(mended)
        translated = _translate(mended)
    if isinstance(translated, types.Task):
        translated.status.state = _shown(translated.status.state, four_states)
        if four_states:
            _add_result(translated)
    elif isinstance(translated, types.TaskStatusUpdateEvent):
        state = _shown(translated.status.state, four_states)
        translated.status.state = state
        translated.final = state in _FINAL
    return translated


def encode_task(task: Task) -> Any:
    """A task as 0.3 has it, as JSON that ``dumps`` takes."""
    return _dump(translate(task))


def _shown(state: State, four_states: bool) -> State:
    return FOUR_STATES.get(state, state) if four_states else state


def _add_result(task: types.Task) -> None:
    """The clients that know four states look for the text of a completed task in an artifact: if
    the agent made none of text, its last words are one."""
    words = task.status.message
    texts = [one.root.kind == "text" for a in task.artifacts or () for one in a.parts]
    if task.status.state is State.completed and words is not None and not any(texts):
        parts = [one for one in words.parts if one.root.kind == "text"]
        if parts:
            result = types.Artifact(artifact_id=RESULT, name=RESULT, parts=parts)
            task.artifacts = [*(task.artifacts or ()), result]


def _translate(answer: Message) -> Any:
    if isinstance(answer, Task):
        return conversions.to_compat_task(answer)
    if isinstance(answer, StreamResponse):
        return conversions.to_compat_stream_response(answer).result
    if isinstance(answer, SendMessageResponse):
        if answer.HasField("task"):
            return conversions.to_compat_task(answer.task)
        return conversions.to_compat_message(answer.message)
    if isinstance(answer, TaskPushNotificationConfig):
        return conversions.to_compat_task_push_notification_config(answer)
    if isinstance(answer, ListTaskPushNotificationConfigsResponse):
        return [conversions.to_compat_task_push_notification_config(one) for one in answer.configs]
    if isinstance(answer, AgentCard):
        return conversions.to_compat_agent_card(answer)
    raise TypeError(f"A2A 0.3 has no answer like {answer.DESCRIPTOR.name}")


def _mend(message: Message) -> None:
    """NaN and the infinities become their names, a part without content becomes an empty text."""
    if isinstance(message, Value):
        number = message.number_value
        if message.HasField("number_value") and not math.isfinite(number):
            name = "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
            message.string_value = name
        _mend_inner(message)
    elif isinstance(message, Part) and message.WhichOneof("content") is None:
        message.text = ""
    else:
        _mend_inner(message)


def _mend_inner(message: Message) -> None:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["value"].message_type is not None:
                for key in value:
                    _mend(value[key])
        elif field.is_repeated:
            for one in value:
                _mend(one)
        else:
            _mend(value)


def _dump(model: BaseModel) -> Any:
    return _whole(model.model_dump(mode="json", by_alias=True, exclude_none=True))


def _whole(value: Any) -> Any:
    """The JSON with whole numbers as such: a proto Struct has doubles only, 306 is 306.0 there."""
    if isinstance(value, dict):
        return {name: _whole(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _data(fault: Fault) -> dict[str, Any]:
    """The details of an error as the SDK gives them to 0.3: plain names and values."""
    data: dict[str, Any] = {}
    for detail in fault.details:
        data |= detail.get("metadata", {})
        violations = detail.get("fieldViolations")
        if violations:
            data.pop("fields", None)  # says the same
            data["errors"] = [
                {"field": one["field"], "message": one["description"]} for one in violations
            ]
    return data
