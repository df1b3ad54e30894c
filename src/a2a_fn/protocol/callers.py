"""Who calls, what answers: the port between the HTTP bindings and the A2A operations.

A binding (``jsonrpc.py``, ``rest.py``) turns bytes into a request and a ``Caller``, calls a
``Handler``, and turns what comes back into bytes. A handler knows neither HTTP nor JSON.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    SendMessageRequest,
    SendMessageResponse,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
)

if TYPE_CHECKING:
    from google.protobuf.empty_pb2 import Empty


class Principal(NamedTuple):
    """Who proved to be who; ``name`` is "" for the anonymous principal of a server without
    credentials. ``tenants``: the only ones that they may name (None: any)."""

    name: str = ""
    tenants: frozenset[str] | None = None


class Caller(NamedTuple):
    """Who sent the request, where they see us, and until when the answer is of use to them.

    ``owner`` is whose tasks they are: the principal, in a tenant if one was named; "" for an
    anonymous caller. ``deadline`` is a time of the running event loop, in seconds: after it the
    platform stops waiting, so the answer must be out before. ``base_url`` is the root of this
    server as the caller sees it, without a final slash. ``extensions``: the URIs that the request
    asks for. ``v03``: the request is of A2A 0.3.
    """

    owner: str = ""
    request_id: str = ""
    deadline: float | None = None
    principal: Principal = Principal()
    tenant: str = ""
    base_url: str = ""
    extensions: frozenset[str] = frozenset()
    v03: bool = False


class Frame(NamedTuple):
    """One event of a stream; ``generation`` is its number in the task, 0 if it has none
    (a Message is an answer without a task, and cannot be resumed)."""

    response: StreamResponse
    generation: int = 0


class Handler(Protocol):
    """The A2A operations.

    Each may raise an a2a-sdk error, which reaches the client as it is, or one of
    ``a2a_fn.errors``; anything else is a bug, and the client learns only a reference id.
    """

    async def send_message(
        self, request: SendMessageRequest, caller: Caller
    ) -> SendMessageResponse:
        """Hand over a message; answers when the task rests, or at once if asked to."""
        ...

    def stream_message(self, request: SendMessageRequest, caller: Caller) -> AsyncIterator[Frame]:
        """Hand over a message and follow its task. An async generator: it is closed with
        ``aclose()`` when the client goes away, which ends the stream and not the task."""
        ...

    async def get_task(self, request: GetTaskRequest, caller: Caller) -> Task:
        """The task as it now stands."""
        ...

    async def list_tasks(self, request: ListTasksRequest, caller: Caller) -> ListTasksResponse:
        """One page of the caller's tasks."""
        ...

    async def cancel_task(self, request: CancelTaskRequest, caller: Caller) -> Task:
        """End a task that still runs or waits."""
        ...

    def subscribe(
        self,
        request: SubscribeToTaskRequest,
        caller: Caller,
        last_event_id: int | None = None,
    ) -> AsyncIterator[Frame]:
        """Follow a task, from the event after ``last_event_id`` on if there is one given. An
        async generator, as ``stream_message``."""
        ...

    async def create_push_config(
        self, request: TaskPushNotificationConfig, caller: Caller
    ) -> TaskPushNotificationConfig:
        """Set a webhook of a task, or set it anew."""
        ...

    async def get_push_config(
        self, request: GetTaskPushNotificationConfigRequest, caller: Caller
    ) -> TaskPushNotificationConfig:
        """One webhook of a task."""
        ...

    async def list_push_configs(
        self, request: ListTaskPushNotificationConfigsRequest, caller: Caller
    ) -> ListTaskPushNotificationConfigsResponse:
        """The webhooks of a task."""
        ...

    async def delete_push_config(
        self, request: DeleteTaskPushNotificationConfigRequest, caller: Caller
    ) -> Empty:
        """Delete a webhook of a task; it is no error if there is none."""
        ...

    async def extended_card(
        self, request: GetExtendedAgentCardRequest, caller: Caller
    ) -> AgentCard:
        """The card with what only an authenticated caller may see."""
        ...
