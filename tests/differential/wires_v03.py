"""The bindings of A2A 0.3, which say the operations and params of 1.0: one corpus for both.

Answers are compared as they are, without ``null``: the two bindings of 0.3 share no proto type. A
result of JSON-RPC is put under the name that HTTP+JSON has for its ``kind``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from a2a.utils.errors import A2A_ERROR_MAPPING, JSON_RPC_ERROR_CODE_MAP

from .wires import Outgoing, details

METHODS = {
    "SendMessage": "message/send",
    "SendStreamingMessage": "message/stream",
    "GetTask": "tasks/get",
    "CancelTask": "tasks/cancel",
    "SubscribeToTask": "tasks/resubscribe",
    "CreateTaskPushNotificationConfig": "tasks/pushNotificationConfig/set",
    "GetTaskPushNotificationConfig": "tasks/pushNotificationConfig/get",
    "ListTaskPushNotificationConfigs": "tasks/pushNotificationConfig/list",
    "DeleteTaskPushNotificationConfig": "tasks/pushNotificationConfig/delete",
    "GetExtendedAgentCard": "agent/getAuthenticatedExtendedCard",
}
"""Operation -> method; 0.3 has no ListTasks."""

KINDS = {
    "task": "task",
    "message": "msg",
    "status-update": "statusUpdate",
    "artifact-update": "artifactUpdate",
}
"""``kind`` of a result over JSON-RPC -> the field that it is in over HTTP+JSON."""

PATHS = {
    "SendMessage": ("POST", "v1/message:send"),
    "SendStreamingMessage": ("POST", "v1/message:stream"),
    "GetTask": ("GET", "v1/tasks/{id}"),
    "CancelTask": ("POST", "v1/tasks/{id}:cancel"),
    "SubscribeToTask": ("POST", "v1/tasks/{id}:subscribe"),
    "CreateTaskPushNotificationConfig": ("POST", "v1/tasks/{taskId}/pushNotificationConfigs"),
    "GetTaskPushNotificationConfig": ("GET", "v1/tasks/{taskId}/pushNotificationConfigs/{id}"),
    "ListTaskPushNotificationConfigs": ("GET", "v1/tasks/{taskId}/pushNotificationConfigs"),
    "GetExtendedAgentCard": ("GET", "v1/card"),
}
"""Operation -> verb and path that both servers have."""

OUR_PATHS = PATHS | {
    "DeleteTaskPushNotificationConfig": (
        "DELETE",
        "v1/tasks/{taskId}/pushNotificationConfigs/{id}",
    )
}
"""Those and the one that the SDK's server lacks: it deletes no push config here."""


REASONS = {JSON_RPC_ERROR_CODE_MAP[kind]: row.reason for kind, row in A2A_ERROR_MAPPING.items()}
"""Code of an error -> its name in 1.0, in which differences are told."""


class JsonRpc03:
    """JSON-RPC of A2A 0.3."""

    name = "JSONRPC 0.3"
    version = "0.3"
    v03 = True

    def outgoing(self, operation: str, params: dict[str, Any]) -> Outgoing:
        """One POST to the root."""
        call: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": METHODS[operation]}
        call["params"] = _params(operation, params)
        return Outgoing("POST", "", json.dumps(call).encode())

    def incoming(self, operation: str, document: Any) -> dict[str, Any]:
        """The envelope, opened."""
        assert document.pop("jsonrpc") == "2.0"
        assert document.pop("id") == 1
        document = _without_null(document)
        if "error" in document:
            assert document["error"]["message"]
            code = document["error"]["code"]
            return {"error": {"code": code, "reason": REASONS[code]}}
        result = document.get("result")
        if operation in ("SendMessage", "SendStreamingMessage", "SubscribeToTask"):
            result = {KINDS[result["kind"]]: result}
        return {"result": result}


class HttpJson03:
    """HTTP+JSON of A2A 0.3."""

    name = "HTTP+JSON 0.3"
    version = "0.3"
    v03 = True

    def __init__(self, paths: Mapping[str, tuple[str, str]] = PATHS) -> None:
        self.paths = paths

    def outgoing(self, operation: str, params: dict[str, Any]) -> Outgoing:
        """Ids in the path, the rest in the query or the body."""
        method, template = self.paths[operation]
        path = template.format_map({key: quote(str(each)) for key, each in params.items()})
        if operation == "GetTask" and "historyLength" in params:
            path += f"?historyLength={params['historyLength']}"
        if operation in ("SendMessage", "SendStreamingMessage"):
            return Outgoing(method, path, json.dumps(_sent(params)).encode())
        if operation == "CreateTaskPushNotificationConfig":
            body = {
                "parent": f"tasks/{params['taskId']}",
                "configId": params.get("id", "-"),
                "config": {"pushNotificationConfig": _config(params)},
            }
            return Outgoing(method, path, json.dumps(body).encode())
        return Outgoing(method, path, b"{}" if method == "POST" else None)

    def incoming(self, operation: str, document: Any) -> dict[str, Any]:
        """The resource itself, or the error."""
        if "error" in document:
            error = document["error"]
            assert error["message"]
            shown = {"code": error["code"], "status": error["status"]}
            return {"error": shown | details(error.get("details"))}
        return {"result": _without_null(_divided(document))}


def _divided(document: Any) -> Any:
    """The document with the names of push configs in it divided into the ids of which they are
    made, which then are compared like all ids."""
    if isinstance(document, dict) and "pushNotificationConfig" in document:
        _, task, _, config = document["name"].split("/")
        return {**document, "name": {"taskId": task, "id": config}}
    if isinstance(document, dict) and "configs" in document:
        return {**document, "configs": [_divided(each) for each in document["configs"]]}
    return document


def _params(operation: str, params: dict[str, Any]) -> dict[str, Any]:
    """Params of 1.0 in the words of 0.3's JSON-RPC."""
    if operation in ("SendMessage", "SendStreamingMessage"):
        return _without_null(
            {
                "message": _message(params["message"]),
                "configuration": _configuration(params),
                "metadata": params.get("metadata"),
            }
        )
    if operation == "CreateTaskPushNotificationConfig":
        return {"taskId": params["taskId"], "pushNotificationConfig": _config(params)}
    if "taskId" in params:
        named = {"id": params["taskId"], "pushNotificationConfigId": params.get("id")}
        return _without_null(named)
    return params


def _config(params: dict[str, Any]) -> dict[str, Any]:
    """A push config of 1.0, which 0.3 puts beside the task's id, and which has several schemes."""
    config = {key: each for key, each in params.items() if key != "taskId"}
    if "authentication" in config:
        said = dict(config["authentication"])
        if "scheme" in said:
            said["schemes"] = [said.pop("scheme")]
        config["authentication"] = said
    return config


def _message(message: dict[str, Any]) -> dict[str, Any]:
    parts = [_part(part) for part in message["parts"]]
    return {**message, "kind": "message", "role": "user", "parts": parts}


def _part(part: dict[str, Any]) -> dict[str, Any]:
    more = {"metadata": part["metadata"]} if "metadata" in part else {}
    if "text" in part:
        return {"kind": "text", "text": part["text"], **more}
    if "data" in part:
        return {"kind": "data", "data": part["data"], **more}
    file = {
        "bytes": part.get("raw"),
        "uri": part.get("url"),
        "mimeType": part.get("mediaType"),
        "name": part.get("filename"),
    }
    return {"kind": "file", "file": _without_null(file), **more}


def _configuration(params: dict[str, Any]) -> dict[str, Any] | None:
    given = params.get("configuration")
    if given is None:
        return None
    configuration = {"blocking": not given.get("returnImmediately", False)}
    names = {
        "historyLength": "historyLength",
        "acceptedOutputModes": "acceptedOutputModes",
        "taskPushNotificationConfig": "pushNotificationConfig",
    }
    named = {names[key]: each for key, each in given.items() if key in names}
    if "pushNotificationConfig" in named:
        named["pushNotificationConfig"] = _config(named["pushNotificationConfig"])
    return configuration | named


def _sent(params: dict[str, Any]) -> dict[str, Any]:
    """Params of SendMessage in the ProtoJSON of 0.3."""
    message = dict(params["message"])
    message["content"] = [_content(part) for part in message.pop("parts")]
    configuration = _configuration(params)
    if configuration is not None and "pushNotificationConfig" in configuration:
        configuration["pushNotification"] = configuration.pop("pushNotificationConfig")
    sent = {"message": message, "configuration": configuration, "metadata": params.get("metadata")}
    return _without_null(sent)


def _content(part: dict[str, Any]) -> dict[str, Any]:
    more = {"metadata": part["metadata"]} if "metadata" in part else {}
    if "text" in part:
        return {"text": part["text"], **more}
    if "data" in part:
        return {"data": {"data": part["data"]}, **more}
    file = {"mimeType": part.get("mediaType"), "name": part.get("filename")}
    if "url" in part:
        file["fileWithUri"] = part["url"]
    else:
        # the SDK's clients put the base64 text into a field of bytes, which is base64 again
        file["fileWithBytes"] = base64.b64encode(part["raw"].encode()).decode()
    return {"file": _without_null(file), **more}


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_null(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_null(each) for each in value]
    return value
