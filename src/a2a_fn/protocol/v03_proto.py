"""The ProtoJSON of A2A 0.3's proto file, as the a2a-sdk speaks it over HTTP+JSON, and 1.0's types.

Where that leaves a choice:

- Bytes of files are base64 of base64 in the SDK's ProtoJSON; other clients encode them once. What
  is base64 inside is taken for the former.
- ``blocking`` has no presence in the proto: left out of a ``configuration`` it means false, and
  without a ``configuration`` the call waits. That is how the SDK's clients mean it.
- The card is the public card's superset of both versions.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from a2a.compat.v0_3 import a2a_v0_3_pb2 as proto
from a2a.compat.v0_3 import conversions, types
from a2a.compat.v0_3.proto_utils import FromProto, ToProto
from a2a.types.a2a_pb2 import AgentCard, SendMessageResponse, StreamResponse, Task
from google.protobuf.message import Message

from ..media import PARTS_LIMIT
from . import card_v03, inputs, outputs, v03, v03_params
from .errors import invalid

_SEND_NAMES = (
    (r"parts(\[\d+\])\.raw", r"content\1.file.fileWithBytes"),
    (r"parts(\[\d+\])\.url", r"content\1.file.fileWithUri"),
    (r"parts(\[\d+\])\.mediaType", r"content\1.file.mimeType"),
    (r"parts(\[\d+\])\.filename", r"content\1.file.name"),
    (r"parts(\[\d+\])\.data", r"content\1.data.data"),
    (r"message\.parts", "message.content"),
    (r"\.taskPushNotificationConfig(.*\.scheme)", r".pushNotification\1s"),
    (r"\.taskPushNotificationConfig", ".pushNotification"),
)
_CONFIG_NAMES = (
    (r"^taskId", "taskId"),
    (r"^(.*\.scheme)$", r"config.pushNotificationConfig.\1s"),
    (r"^(.+)", r"config.pushNotificationConfig.\1"),
)


def message_request(document: object) -> Message:
    """The 1.0 request in the JSON of a 0.3 SendMessageRequest; InvalidParamsError."""
    given = inputs.read(document, proto.SendMessageRequest())
    if len(given.request.content) > PARTS_LIMIT:
        raise invalid("message.content", f"must be at most {PARTS_LIMIT}")
    for i, part in enumerate(given.request.content):
        _complete(part, f"message.content[{i}]")
    params = FromProto.message_send_params(given)
    return v03_params.to_core(
        types.SendMessageRequest(id=0, params=params),
        conversions.to_core_send_message_request,
        _SEND_NAMES,
        user="ROLE_USER",
    )


def _complete(part: proto.Part, path: str) -> None:
    """Check what the proto file does not say; wrap bytes that were encoded once."""
    kind = part.WhichOneof("part")
    if kind is None:
        raise invalid(path, "must have one of text, file, data")
    if kind == "file":
        file = part.file.WhichOneof("file")
        if file is None:
            names = "fileWithUri, fileWithBytes"
            raise invalid(f"{path}.file", f"must have one of {names}")
        if file == "file_with_bytes" and not _is_base64(part.file.file_with_bytes):
            part.file.file_with_bytes = base64.b64encode(part.file.file_with_bytes)


def _is_base64(content: bytes) -> bool:
    try:
        base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def config_request(document: object, task: str) -> Message:
    """The 1.0 request in the JSON of a 0.3 CreateTaskPushNotificationConfigRequest for the task;
    InvalidParamsError."""
    parent = f"tasks/{task}"
    if isinstance(document, dict):  # the path says what the proto file asks for in the body
        if document.get("parent", parent) != parent:
            raise invalid("parent", f"must be {parent}, as the path says")
        named = {"config_id", "configId"} & document.keys()
        document = {"parent": parent, **({} if named else {"configId": "-"}), **document}
    given = inputs.read(document, proto.CreateTaskPushNotificationConfigRequest())
    config = given.config.push_notification_config
    if not config.id and given.config_id != "-":
        config.id = given.config_id
    params = types.TaskPushNotificationConfig(
        task_id=task, push_notification_config=FromProto.push_notification_config(config)
    )
    return v03_params.to_core(
        types.SetTaskPushNotificationConfigRequest(id=0, params=params),
        conversions.to_core_create_task_push_notification_config_request,
        _CONFIG_NAMES,
    )


def encode(answer: Message) -> dict[str, Any]:
    """What a handler answered (or one StreamResponse) as 0.3's ProtoJSON."""
    if isinstance(answer, AgentCard):
        return outputs.encode(answer) | card_v03.legacy_fields(answer)
    translated = v03.translate(answer)
    if isinstance(answer, StreamResponse):
        return outputs.encode(ToProto.stream_response(translated))
    if isinstance(answer, SendMessageResponse):
        return outputs.encode(ToProto.task_or_message(translated))
    if isinstance(answer, Task):
        return outputs.encode(ToProto.task(translated))
    to_proto = ToProto.task_push_notification_config
    if isinstance(translated, list):
        return {"configs": [outputs.encode(to_proto(one)) for one in translated]}
    return outputs.encode(to_proto(translated))
