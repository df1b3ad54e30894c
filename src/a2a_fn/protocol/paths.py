"""The paths of the HTTP+JSON binding: which operation answers where, and what the path says.

Decisions:

- ``/{tenant}`` may stand before every path. A path that begins with ``tasks``, ``message:send``,
  ``message:stream`` or ``extendedAgentCard`` names no tenant, so none can have such a name here.
- Paths are compared as the server decoded them, because not every host tells them otherwise. Where
  it does, a slash that was percent-encoded is no path of ours: no id has one, and whoever checked
  the path before us has seen one segment where we would see two.
- ``:cancel`` and ``:subscribe`` at the end of a task's path are verbs, never part of its id.
"""

from __future__ import annotations

from typing import NamedTuple

from starlette.types import Scope

from .operations import OPERATIONS, Operation

_TABLE = {
    "message:send": {"POST": "SendMessage"},
    "message:stream": {"POST": "SendStreamingMessage"},
    "tasks": {"GET": "ListTasks"},
    "tasks/{id}": {"GET": "GetTask"},
    "tasks/{id}:cancel": {"POST": "CancelTask"},
    "tasks/{id}:subscribe": {"GET": "SubscribeToTask", "POST": "SubscribeToTask"},
    "tasks/{taskId}/pushNotificationConfigs": {
        "GET": "ListTaskPushNotificationConfigs",
        "POST": "CreateTaskPushNotificationConfig",
    },
    "tasks/{taskId}/pushNotificationConfigs/{id}": {
        "GET": "GetTaskPushNotificationConfig",
        "DELETE": "DeleteTaskPushNotificationConfig",
    },
    "extendedAgentCard": {"GET": "GetExtendedAgentCard"},
}
_FIRST = {template.partition("/")[0] for template in _TABLE}
_VERBS = ("cancel", "subscribe")


class Place(NamedTuple):
    """What is at a path: its operations by HTTP method, and the fields of their requests (by
    their JSON names) that the path has already given."""

    operations: dict[str, Operation]
    fields: dict[str, str]

    def operation(self, method: str) -> Operation | None:
        """The operation of an HTTP method; None if it is not allowed here."""
        if method != "HEAD":
            return self.operations.get(method)
        read = self.operations.get("GET")
        return None if read is None or read.streams else read  # a stream has no end to announce

    def allow(self) -> str:
        """The methods that are allowed, as the header has them."""
        known = ("GET", "HEAD", "POST", "DELETE")
        return ", ".join(method for method in known if self.operation(method))


def find(scope: Scope) -> Place | None:
    """What is at the path of a request; None if it is no path of this binding."""
    if b"%2f" in (scope.get("raw_path") or b"").lower():
        return None
    first, *rest = _below_root(scope).removeprefix("/").split("/")
    fields: dict[str, str] = {}
    if first and first not in _FIRST and rest:
        fields["tenant"] = first
        first, *rest = rest
    template, more = _template([first, *rest])
    names = _TABLE.get(template)
    if names is None:
        return None
    operations = {method: OPERATIONS[name] for method, name in names.items()}
    return Place(operations, fields | more)


def _below_root(scope: Scope) -> str:
    """The path without the part at which a server or a router mounted us."""
    path, root = str(scope["path"]), scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def _template(segments: list[str]) -> tuple[str, dict[str, str]]:
    """The key of ``_TABLE`` that the path could be, and the fields in it."""
    match segments:
        case ["tasks", name]:
            task, colon, verb = name.rpartition(":")
            if colon and verb in _VERBS:
                return f"tasks/{{id}}:{verb}", {"id": task}
            return "tasks/{id}", {"id": name}
        case ["tasks", task, name]:
            return f"tasks/{{taskId}}/{name}", {"taskId": task}
        case ["tasks", task, name, config]:
            return f"tasks/{{taskId}}/{name}/{{id}}", {"taskId": task, "id": config}
        case _:
            return "/".join(segments), {}
