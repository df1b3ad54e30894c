"""One command's dealings with the webhooks of one task."""

from __future__ import annotations

import json

from a2a.types.a2a_pb2 import (
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    TaskPushNotificationConfig,
)
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from .answers import TASK_NOT_FOUND, Refused
from .cards import check_pushes
from .client import Client
from .failures import Exit
from .listing import show_webhooks
from .plain import to_json
from .push_config import hidden
from .screen import Screen


class WebhookSession:
    """Each method does one command and returns the exit code; `secrets`: show them, too."""

    def __init__(self, client: Client, screen: Screen, task: str, *, secrets: bool) -> None:
        check_pushes(client.card(), client.url)
        self._client = client
        self._screen = screen
        self._task = task
        self._secrets = secrets

    def list(self) -> int:
        """Show all webhooks of the task."""
        request = ListTaskPushNotificationConfigsRequest(task_id=self._task)
        found = ListTaskPushNotificationConfigsResponse()
        seen = {""}
        while True:
            page = self._client.call(
                "ListTaskPushNotificationConfigs",
                request,
                ListTaskPushNotificationConfigsResponse(),
            )
            found.configs.extend(map(self._shown, page.configs))
            if page.next_page_token in seen:  # a server that repeats itself must not hold us
                break
            seen.add(page.next_page_token)
            request.page_token = page.next_page_token
        if self._screen.machine:
            self._print(found)
        else:
            show_webhooks(self._screen, found.configs)
        return Exit.OK

    def set(self, config: TaskPushNotificationConfig) -> int:
        """Set a webhook, and show it as the server has it now."""
        config.task_id = self._task
        operation = "CreateTaskPushNotificationConfig"
        return self._show(self._client.call(operation, config, TaskPushNotificationConfig()))

    def get(self, id: str) -> int:
        """Show one webhook."""
        request = GetTaskPushNotificationConfigRequest(task_id=self._task, id=id or self._task)
        operation = "GetTaskPushNotificationConfig"
        try:
            found = self._client.call(operation, request, TaskPushNotificationConfig())
        except Refused as e:
            if e.error == TASK_NOT_FOUND:  # A2A has no error of its own for a webhook
                e.args = (f"{e}, or it has no webhook {request.id}",)
            raise
        return self._show(found)

    def delete(self, id: str) -> int:
        """Delete a webhook, if it is there."""
        request = DeleteTaskPushNotificationConfigRequest(task_id=self._task, id=id or self._task)
        self._client.call("DeleteTaskPushNotificationConfig", request, Empty())
        if self._screen.machine:
            self._print(Empty())
        else:
            self._screen.say(f"deleted  webhook {request.id}  task {self._task}\n")
        return Exit.OK

    def _show(self, config: TaskPushNotificationConfig) -> int:
        shown = self._shown(config)
        if self._screen.machine:
            self._print(shown)
        else:
            show_webhooks(self._screen, [shown])
        return Exit.OK

    def _shown(self, config: TaskPushNotificationConfig) -> TaskPushNotificationConfig:
        return config if self._secrets else hidden(config)

    def _print(self, message: Message) -> None:
        self._screen.raw(json.dumps(to_json(message), ensure_ascii=False, indent=2))
