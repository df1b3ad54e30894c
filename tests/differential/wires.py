"""The bindings as a client needs them: a call to an HTTP request, and what came back to a value."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

import httpx
from a2a.types import a2a_pb2 as pb
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from .likeness import canonical

ANSWERS: dict[str, type[Message]] = {
    "SendMessage": pb.SendMessageResponse,
    "SendStreamingMessage": pb.StreamResponse,
    "GetTask": pb.Task,
    "ListTasks": pb.ListTasksResponse,
    "CancelTask": pb.Task,
    "SubscribeToTask": pb.StreamResponse,
    "CreateTaskPushNotificationConfig": pb.TaskPushNotificationConfig,
    "GetTaskPushNotificationConfig": pb.TaskPushNotificationConfig,
    "ListTaskPushNotificationConfigs": pb.ListTaskPushNotificationConfigsResponse,
    "DeleteTaskPushNotificationConfig": Struct,
    "GetExtendedAgentCard": pb.AgentCard,
}


PATHS: dict[str, tuple[str, str]] = {
    "SendMessage": ("POST", "message:send"),
    "SendStreamingMessage": ("POST", "message:stream"),
    "GetTask": ("GET", "tasks/{id}"),
    "ListTasks": ("GET", "tasks"),
    "CancelTask": ("POST", "tasks/{id}:cancel"),
    "SubscribeToTask": ("POST", "tasks/{id}:subscribe"),
    "CreateTaskPushNotificationConfig": ("POST", "tasks/{taskId}/pushNotificationConfigs"),
    "GetTaskPushNotificationConfig": ("GET", "tasks/{taskId}/pushNotificationConfigs/{id}"),
    "ListTaskPushNotificationConfigs": ("GET", "tasks/{taskId}/pushNotificationConfigs"),
    "DeleteTaskPushNotificationConfig": (
        "DELETE",
        "tasks/{taskId}/pushNotificationConfigs/{id}",
    ),
    "GetExtendedAgentCard": ("GET", "extendedAgentCard"),
}
"""Section 5.3 of the specification."""


class Outgoing(NamedTuple):
    """An HTTP request: its path without the first "/", and the JSON that it carries, if any."""

    method: str
    path: str
    content: bytes | None = None


class Wire(Protocol):
    """One binding of one version. ``v03``: the servers are to speak A2A 0.3 too."""

    name: str
    version: str
    v03: bool

    def outgoing(self, operation: str, params: dict[str, Any]) -> Outgoing:
        """The request."""
        ...

    def incoming(self, operation: str, document: Any) -> dict[str, Any]:
        """The body of an answer, or the data of one event: ``{"result": ...}`` or
        ``{"error": ...}``."""
        ...


class JsonRpc:
    """JSON-RPC of A2A 1.0."""

    name = "JSONRPC"
    version = "1.0"
    v03 = False

    def outgoing(self, operation: str, params: dict[str, Any]) -> Outgoing:
        """One POST to the root."""
        call = {"jsonrpc": "2.0", "id": 1, "method": operation, "params": params}
        return Outgoing("POST", "", json.dumps(call).encode())

    def incoming(self, operation: str, document: Any) -> dict[str, Any]:
        """The envelope, opened."""
        assert document.pop("jsonrpc") == "2.0"
        assert document.pop("id") == 1
        (member,) = document
        if member == "error":
            error = document["error"]
            assert error["message"]
            return {"error": {"code": error["code"], **details(error.get("data"))}}
        result = document["result"]
        if operation == "DeleteTaskPushNotificationConfig" and result is None:
            result = {}  # the same nothing, which 3.1.10 leaves to the implementation
        return {"result": canonical(result, ANSWERS[operation])}


class HttpJson:
    """HTTP+JSON of A2A 1.0."""

    name = "HTTP+JSON"
    version = "1.0"
    v03 = False

    def outgoing(self, operation: str, params: dict[str, Any]) -> Outgoing:
        """Ids and tenant in the path, the rest in the query or the body."""
        method, template = PATHS[operation]
        rest = dict(params)
        tenant = rest.pop("tenant", "")
        path = template.format_map({key: quote(str(each), safe="") for key, each in rest.items()})
        for key in list(rest):
            if f"{{{key}}}" in template:
                del rest[key]
        if tenant:
            path = f"{quote(tenant, safe='')}/{path}"
        if method != "POST":
            return Outgoing(method, f"{path}{_query(rest)}")
        return Outgoing(method, path, json.dumps(rest).encode())

    def incoming(self, operation: str, document: Any) -> dict[str, Any]:
        """The resource itself, or google.rpc.Status."""
        if "error" in document:
            error = document["error"]
            assert error["message"]
            shown = {"code": error["code"], "status": error["status"]}
            return {"error": {**shown, **details(error.get("details"))}}
        return {"result": canonical(document, ANSWERS[operation])}


def _query(params: dict[str, Any]) -> str:
    if not params:
        return ""
    words = {key: json.dumps(v) if isinstance(v, bool) else v for key, v in params.items()}
    return f"?{httpx.QueryParams(words)}"


def details(details: Any) -> dict[str, Any]:
    """What a program reads in the google.rpc details; words for people are not compared."""
    shown: dict[str, Any] = {}
    for detail in details or []:
        kind = detail["@type"].rpartition(".")[2]
        if kind == "ErrorInfo":
            shown["reason"], shown["domain"] = detail["reason"], detail["domain"]
        elif kind == "BadRequest":
            shown["fields"] = [one["field"] for one in detail["fieldViolations"]]
        else:
            shown[kind] = detail
    return shown


async def events(response: httpx.Response) -> AsyncIterator[Any]:
    """The data of each event of an SSE response; comments are passed over."""
    data: list[str] = []
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            yield json.loads("\n".join(data))
            data = []
