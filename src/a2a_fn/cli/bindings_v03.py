"""A2A 0.3, by the SDK's compat types: imported only when an agent speaks nothing newer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from a2a.compat.v0_3 import a2a_v0_3_pb2 as proto
from a2a.compat.v0_3 import conversions, proto_utils, types
from a2a.types.a2a_pb2 import (
    ListTaskPushNotificationConfigsResponse,
    SendMessageRequest,
    StreamResponse,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP, A2AError
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message
from pydantic import BaseModel, ValidationError

from .answers import refusal
from .bindings import JsonRpc, Rest, Routes
from .failures import Exit, Failure

_M = TypeVar("_M", bound=Message)

_METHODS = {
    "SendMessage": "message/send",
    "SendStreamingMessage": "message/stream",
    "GetTask": "tasks/get",
    "CancelTask": "tasks/cancel",
    "SubscribeToTask": "tasks/resubscribe",
    "GetExtendedAgentCard": "agent/getAuthenticatedExtendedCard",
    "CreateTaskPushNotificationConfig": "tasks/pushNotificationConfig/set",
    "ListTaskPushNotificationConfigs": "tasks/pushNotificationConfig/list",
    "GetTaskPushNotificationConfig": "tasks/pushNotificationConfig/get",
    "DeleteTaskPushNotificationConfig": "tasks/pushNotificationConfig/delete",
}

_ROUTES: Routes = {
    "SendMessage": ("POST", "/v1/message:send"),
    "SendStreamingMessage": ("POST", "/v1/message:stream"),
    "GetTask": ("GET", "/v1/tasks/{id}"),
    "CancelTask": ("POST", "/v1/tasks/{id}:cancel"),
    "SubscribeToTask": ("POST", "/v1/tasks/{id}:subscribe"),
    "GetExtendedAgentCard": ("GET", "/v1/card"),
    "CreateTaskPushNotificationConfig": ("POST", "/v1/tasks/{taskId}/pushNotificationConfigs"),
    "ListTaskPushNotificationConfigs": ("GET", "/v1/tasks/{taskId}/pushNotificationConfigs"),
    "GetTaskPushNotificationConfig": ("GET", "/v1/tasks/{taskId}/pushNotificationConfigs/{id}"),
    "DeleteTaskPushNotificationConfig": (
        "DELETE",
        "/v1/tasks/{taskId}/pushNotificationConfigs/{id}",
    ),
}

_ERRORS = {kind.__name__: code for kind, code in JSON_RPC_ERROR_CODE_MAP.items()}

_KINDS: Mapping[str, type[BaseModel]] = {
    "task": types.Task,
    "message": types.Message,
    "status-update": types.TaskStatusUpdateEvent,
    "artifact-update": types.TaskArtifactUpdateEvent,
}


class JsonRpc03(JsonRpc):
    """JSON-RPC of A2A 0.3."""

    headers: Mapping[str, str] = {"A2A-Version": "0.3", "Content-Type": "application/json"}

    def method(self, operation: str) -> str:
        """The name in 0.3; a Failure for what 0.3 does not have."""
        if operation not in _METHODS:
            raise Failure(f"A2A 0.3 has no {operation}")
        return _METHODS[operation]

    def params(self, operation: str, request: Message) -> dict[str, Any]:
        """The params in 0.3's own JSON."""
        if isinstance(request, SendMessageRequest):
            return _dump(_send_params(request))
        if isinstance(request, TaskPushNotificationConfig):
            return _dump(conversions.to_compat_task_push_notification_config(request))
        fields = MessageToDict(request)  # id, historyLength: as in 1.0
        if "taskId" in fields:
            task, config = fields["taskId"], fields.get("id")
            return {"id": task, **({"pushNotificationConfigId": config} if config else {})}
        return fields

    def result(self, operation: str, document: object, into: _M) -> _M:
        """The result by its kind."""
        with _reading(type(into).__name__):
            if isinstance(into, ListTaskPushNotificationConfigsResponse):
                if not isinstance(document, list):
                    raise ParseError("it is not a list")
                configs = map(_config, document)
                return _merge(ListTaskPushNotificationConfigsResponse(configs=configs), into)
            if isinstance(into, TaskPushNotificationConfig):
                return _merge(_config(document), into)
            if not isinstance(document, dict):
                raise ParseError("it is not an object")
            kind = _KINDS.get(str(document.get("kind") or _guess(document)), types.Task)
            return _put(kind.model_validate(document), into)


class Rest03(Rest):
    """HTTP+JSON of A2A 0.3, which is ProtoJSON of that version's own proto types."""

    headers: Mapping[str, str] = {"A2A-Version": "0.3", "Content-Type": "application/json"}
    routes: Routes = _ROUTES

    def document(self, body: object) -> object:
        """The body; Refused for an error, which some servers of 0.3 write flat: type, message."""
        super().document(body)
        if isinstance(body, dict) and str(body.get("type", "")).endswith("Error"):
            raise refusal(_ERRORS.get(body["type"]), body.get("message"), None)
        return body

    def fields(self, operation: str, request: Message) -> dict[str, Any]:
        """The request's fields by the names of 0.3."""
        if isinstance(request, TaskPushNotificationConfig):
            return _created(request)
        if not isinstance(request, SendMessageRequest):
            return MessageToDict(request)
        params = _send_params(request)
        return MessageToDict(
            proto.SendMessageRequest(
                request=proto_utils.ToProto.message(params.message),
                configuration=proto_utils.ToProto.message_send_configuration(params.configuration),
                metadata=proto_utils.ToProto.metadata(params.metadata),
            )
        )

    def result(self, operation: str, document: object, into: _M) -> _M:
        """The document as the proto type that the operation answers with."""
        read = proto_utils.FromProto
        with _reading(type(into).__name__):
            if not isinstance(document, dict):
                raise ParseError("it is not an object")
            if isinstance(into, ListTaskPushNotificationConfigsResponse):
                page = proto.ListTaskPushNotificationConfigResponse()
                ParseDict(document, page, ignore_unknown_fields=True)
                core = ListTaskPushNotificationConfigsResponse(
                    configs=map(_named, page.configs), next_page_token=page.next_page_token
                )
                return _merge(core, into)
            if isinstance(into, TaskPushNotificationConfig):
                config = proto.TaskPushNotificationConfig()
                ParseDict(document, config, ignore_unknown_fields=True)
                return _merge(_named(config), into)
            if not isinstance(into, StreamResponse):
                task = ParseDict(document, proto.Task(), ignore_unknown_fields=True)
                return _put(read.task(task), into)
            event = ParseDict(document, proto.StreamResponse(), ignore_unknown_fields=True)
            return _put(read.stream_response(event), into)


def _send_params(request: SendMessageRequest) -> types.MessageSendParams:
    copy = SendMessageRequest()
    copy.CopyFrom(request)
    # 0.3 does not say what an agent does that is not told whether to wait for the turn.
    copy.configuration.SetInParent()
    return conversions.to_compat_send_message_request(copy, request_id=0).params


def _config(document: object) -> TaskPushNotificationConfig:
    model = types.TaskPushNotificationConfig.model_validate(document)
    return conversions.to_core_task_push_notification_config(model)


def _named(config: proto.TaskPushNotificationConfig) -> TaskPushNotificationConfig:
    """A config whose ids are in its name: tasks/ID/pushNotificationConfigs/ID."""
    core = conversions.to_core_task_push_notification_config(
        proto_utils.FromProto.task_push_notification_config(config)
    )
    core.id = core.id or config.name.rpartition("/")[2]
    return core


def _created(config: TaskPushNotificationConfig) -> dict[str, Any]:
    """The body that creates a config, and the task's id for the path."""
    model = conversions.to_compat_task_push_notification_config(config)
    request = proto.CreateTaskPushNotificationConfigRequest(
        parent=f"tasks/{config.task_id}",
        config_id=config.id,
        config=proto_utils.ToProto.task_push_notification_config(model),
    )
    if not config.id:
        request.config.name = ""  # the agent gives the id
    return {"taskId": config.task_id, **MessageToDict(request)}


def _dump(model: BaseModel) -> dict[str, Any]:
    return dict(json.loads(model.model_dump_json(by_alias=True, exclude_none=True)))


def _guess(document: dict[str, Any]) -> str:
    """The kind of an object that does not name it, as agents older than 0.3 may answer."""
    if "taskId" in document and "artifact" in document:
        return "artifact-update"
    if "taskId" in document and "final" in document:
        return "status-update"
    return "message" if "messageId" in document else "task"


def _put(model: BaseModel, into: _M) -> _M:
    """A model of 0.3, put into a message of 1.0: a Task, or an event."""
    core: Message
    if isinstance(into, StreamResponse):
        success = types.SendStreamingMessageSuccessResponse.model_construct(result=model)
        core = conversions.to_core_stream_response(success)
    elif isinstance(model, types.Task):
        core = conversions.to_core_task(model)
    else:
        raise ParseError("it is not a task")
    return _merge(core, into)


def _merge(core: Message, into: _M) -> _M:
    into.MergeFrom(cast("_M", core))
    return into


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as e:
        fault = e.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        why = f"{where}: {fault['msg']}"
        raise Failure(f"the server's {name} is not valid: {why}", Exit.UNREACHABLE) from e
    except (ParseError, A2AError, ValueError) as e:
        raise Failure(f"the server's {name} is not valid: {e}", Exit.UNREACHABLE) from e
