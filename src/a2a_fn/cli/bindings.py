"""How A2A's operations become HTTP, and answers become messages again. No network in here.

`binding_for` gives the one for an interface of a card. A2A 0.3 is in `bindings_v03.py`, imported
only when it is spoken. Operations go by their names in A2A 1.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from a2a.types.a2a_pb2 import AgentInterface
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from .answers import Refused, parse, refusal
from .failures import Exit, Failure
from .wire import Ask

_M = TypeVar("_M", bound=Message)


class Binding(Protocol):
    """One interface of an agent, by its version's own names and shapes."""

    def ask(self, operation: str, request: Message) -> Ask:
        """The HTTP request of an operation."""
        ...

    def document(self, body: object) -> object:
        """The answer in the JSON of a response, or of a stream's event; Refused for an error."""
        ...

    def result(self, operation: str, document: object, into: _M) -> _M:
        """The answer as a message of A2A 1.0."""
        ...


def binding_for(
    interface: AgentInterface, url: str, version: str, tenant: str | None = None
) -> Binding:
    """The binding of an interface, whose URL in full is `url`; `version` is 1.0 or 0.3. Calls are
    in `tenant`, or for None in the one that the interface names."""
    tenant = interface.tenant if tenant is None else tenant
    is_rest = interface.protocol_binding.upper() != "JSONRPC"
    if version == "1.0":
        return Rest(url, tenant) if is_rest else JsonRpc(url, tenant)
    from .bindings_v03 import JsonRpc03, Rest03

    return Rest03(url, tenant) if is_rest else JsonRpc03(url, tenant)


class JsonRpc:
    """JSON-RPC of A2A 1.0."""

    headers: Mapping[str, str] = {"A2A-Version": "1.0", "Content-Type": "application/json"}

    def __init__(self, url: str, tenant: str = "") -> None:
        self._url = url
        self._tenant = tenant
        self._calls = 0

    def ask(self, operation: str, request: Message) -> Ask:
        """A POST of the call."""
        params = self.params(operation, request)
        if self._tenant:
            params["tenant"] = self._tenant
        self._calls += 1
        method = self.method(operation)
        call = {"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params}
        return Ask("POST", self._url, _encode(call), self.headers)

    def document(self, body: object) -> object:
        """The result; Refused for an error."""
        if not isinstance(body, dict) or not body.keys() & {"jsonrpc", "result", "error"}:
            raise Failure("the server's answer is not JSON-RPC", Exit.UNREACHABLE)
        error = body.get("error")
        if error is not None:
            error = error if isinstance(error, dict) else {}
            raise refusal(error.get("code"), error.get("message"), error.get("data"))
        return body.get("result")  # that of a deletion is null, which some servers leave out

    def method(self, operation: str) -> str:
        """The JSON-RPC method of an operation."""
        return operation

    def params(self, operation: str, request: Message) -> dict[str, Any]:
        """The params of a request."""
        return MessageToDict(request)

    def result(self, operation: str, document: object, into: _M) -> _M:
        """The result is ProtoJSON."""
        return parse(document, into, type(into).__name__)


# Operation -> HTTP method and path, with fields of the request in it.
Routes = Mapping[str, tuple[str, str]]
_ROUTES: Routes = {
    "SendMessage": ("POST", "/message:send"),
    "SendStreamingMessage": ("POST", "/message:stream"),
    "GetTask": ("GET", "/tasks/{id}"),
    "ListTasks": ("GET", "/tasks"),
    "CancelTask": ("POST", "/tasks/{id}:cancel"),
    "SubscribeToTask": ("POST", "/tasks/{id}:subscribe"),
    "GetExtendedAgentCard": ("GET", "/extendedAgentCard"),
    "CreateTaskPushNotificationConfig": ("POST", "/tasks/{taskId}/pushNotificationConfigs"),
    "ListTaskPushNotificationConfigs": ("GET", "/tasks/{taskId}/pushNotificationConfigs"),
    "GetTaskPushNotificationConfig": ("GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"),
    "DeleteTaskPushNotificationConfig": ("DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"),
}

# ErrorInfo.reason -> the JSON-RPC code of the same error (A2A 1.0, 5.4).
_REASONS = {
    "TASK_NOT_FOUND": -32001,
    "TASK_NOT_CANCELABLE": -32002,
    "PUSH_NOTIFICATION_NOT_SUPPORTED": -32003,
    "UNSUPPORTED_OPERATION": -32004,
    "CONTENT_TYPE_NOT_SUPPORTED": -32005,
    "INVALID_AGENT_RESPONSE": -32006,
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED": -32007,
    "EXTENSION_SUPPORT_REQUIRED": -32008,
    "VERSION_NOT_SUPPORTED": -32009,
}
_INVALID_PARAMS, _INTERNAL = -32602, -32603


class Rest:
    """HTTP+JSON of A2A 1.0."""

    headers: Mapping[str, str] = {"A2A-Version": "1.0", "Content-Type": "application/a2a+json"}
    routes: Routes = _ROUTES

    def __init__(self, url: str, tenant: str = "") -> None:
        self._parts = urlsplit(url)
        self._prefix = f"/{segment(tenant)}" if tenant else ""

    def ask(self, operation: str, request: Message) -> Ask:
        """The request at the operation's own path: what is not in the path is in the body, or
        for a GET in the query."""
        if operation not in self.routes:
            raise Failure(f"A2A {self.headers['A2A-Version']} has no {operation}")
        method, path = self.routes[operation]
        fields = self.fields(operation, request)
        path = re.sub(r"\{(\w+)\}", lambda name: segment(str(fields.pop(name[1], ""))), path)
        query = self._parts.query
        if method == "GET" and fields:
            words = {k: str(v).lower() if isinstance(v, bool) else v for k, v in fields.items()}
            query = "&".join(filter(None, [query, urlencode(words)]))
        full = self._parts._replace(
            path=self._parts.path.rstrip("/") + self._prefix + path, query=query, fragment=""
        )
        return Ask(
            method, full.geturl(), _encode(fields) if method == "POST" else None, self.headers
        )

    def document(self, body: object) -> object:
        """The body; Refused for an error in the form of google.rpc.Status."""
        if isinstance(body, dict) and isinstance(body.get("error"), dict):
            raise self._refusal(body["error"])
        return body

    def fields(self, operation: str, request: Message) -> dict[str, Any]:
        """A request's fields, before the path takes its own."""
        return MessageToDict(request)

    def result(self, operation: str, document: object, into: _M) -> _M:
        """The document is ProtoJSON."""
        return parse(document, into, type(into).__name__)

    def _refusal(self, error: dict[str, Any]) -> Refused:
        details = error.get("details")
        reasons = [
            detail.get("reason")
            for detail in (details if isinstance(details, list) else ())
            if isinstance(detail, dict)
        ]
        number = next((_REASONS[str(r)] for r in reasons if str(r) in _REASONS), None)
        if number is None:
            status = error.get("code")
            client = isinstance(status, int) and 400 <= status < 500
            number = _INVALID_PARAMS if client else _INTERNAL
        return refusal(number, error.get("message"), details)


def segment(name: str) -> str:
    """A name as one segment of a path, whatever is in it."""
    if not name:
        raise Failure("the task's id is empty")
    quoted = quote(name, safe="")
    # "." and ".." would be taken for the folder and the one above.
    return quoted if name.strip(".") else quoted.replace(".", "%2E")


def _encode(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
