"""A real uvicorn in the test's own event loop, a handler double, and literal platform events."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn
from a2a.types.a2a_pb2 import (
    ListTasksResponse,
    Message,
    Part,
    Role,
    SendMessageResponse,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import (
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from a2a_fn.engines.courier import WebCourier
from a2a_fn.profile import Profile, Skill
from a2a_fn.protocol.app import build_app
from a2a_fn.protocol.callers import Caller, Frame
from a2a_fn.protocol.gate import Gate
from a2a_fn.protocol.operations import Capabilities
from a2a_fn.push.guard import Policy
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

PROFILE = Profile(
    name="echo",
    description="Says it again.",
    version="1.2.3",
    skills=(Skill(id="echo", name="Echo", description="Repeats.", tags=("test",)),),
)
VERSION = {"A2A-Version": "1.0"}
ENDED = {
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_FAILED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_REJECTED,
}


class MemoryHandler:
    """An echo agent that keeps its tasks and their events in dicts.

    A text of ``wait`` leaves the task WORKING until it is cancelled.
    """

    def __init__(self) -> None:
        self.events: dict[str, list[StreamResponse]] = {}
        self.tasks: dict[str, Task] = {}
        self.news = asyncio.Condition()

    async def send_message(self, request: Any, caller: Caller) -> SendMessageResponse:
        task_id = await self._submit(request.message, request.configuration)
        if not request.configuration.return_immediately:
            async with self.news:
                await self.news.wait_for(lambda: self.tasks[task_id].status.state in ENDED)
        return SendMessageResponse(task=self.tasks[task_id])

    async def stream_message(self, request: Any, caller: Caller) -> AsyncIterator[Frame]:
        async for frame in self._follow(
            await self._submit(request.message, request.configuration), 0
        ):
            yield frame

    async def get_task(self, request: Any, caller: Caller) -> Task:
        task = Task()
        task.CopyFrom(self._found(request.id))
        if request.HasField("history_length"):
            kept = list(task.history)[len(task.history) - request.history_length :]
            del task.history[:]
            task.history.extend(kept)
        return task

    async def list_tasks(self, request: Any, caller: Caller) -> ListTasksResponse:
        tasks = [
            task
            for task in self.tasks.values()
            if request.status in (task.status.state, TaskState.TASK_STATE_UNSPECIFIED)
        ]
        return ListTasksResponse(tasks=tasks, page_size=50, total_size=len(tasks))

    async def cancel_task(self, request: Any, caller: Caller) -> Task:
        task = self._found(request.id)
        if task.status.state in ENDED:
            raise TaskNotCancelableError
        await self._append(request.id, TaskState.TASK_STATE_CANCELED)
        return task

    async def subscribe(
        self, request: Any, caller: Caller, last_event_id: int | None = None
    ) -> AsyncIterator[Frame]:
        task = self._found(request.id)
        if task.status.state in ENDED:
            raise UnsupportedOperationError("the task has ended")
        if last_event_id is None:
            last_event_id = len(self.events[request.id])
        snapshot = Task()
        snapshot.CopyFrom(task)
        yield Frame(StreamResponse(task=snapshot), last_event_id)
        async for frame in self._follow(request.id, last_event_id):
            yield frame

    def _found(self, task_id: str) -> Task:
        if task_id not in self.tasks:
            raise TaskNotFoundError
        return self.tasks[task_id]

    async def _submit(self, message: Message, configuration: Any) -> str:
        if configuration.HasField("task_push_notification_config"):
            raise PushNotificationNotSupportedError
        task_id = f"task-{len(self.tasks) + 1}"
        task = Task(id=task_id, context_id=message.context_id or "context-1", history=[message])
        task.status.state = TaskState.TASK_STATE_SUBMITTED
        self.tasks[task_id] = task
        first = Task()
        first.CopyFrom(task)
        self.events[task_id] = [StreamResponse(task=first)]
        await self._append(task_id, TaskState.TASK_STATE_WORKING)
        text = "".join(part.text for part in message.parts)
        if text != "wait":
            self._artifact(task, text)
            await self._append(task_id, TaskState.TASK_STATE_COMPLETED)
        return task_id

    def _artifact(self, task: Task, text: str) -> None:
        event = TaskArtifactUpdateEvent(task_id=task.id, context_id=task.context_id)
        event.artifact.artifact_id = "echo"
        event.artifact.parts.append(Part(text=text))
        task.artifacts.append(event.artifact)
        self.events[task.id].append(StreamResponse(artifact_update=event))

    async def _append(self, task_id: str, state: TaskState) -> None:
        task = self.tasks[task_id]
        status = TaskStatus(state=state)
        status.timestamp.FromMilliseconds(1_700_000_000_000 + len(self.events[task_id]))
        task.status.CopyFrom(status)
        event = TaskStatusUpdateEvent(task_id=task_id, context_id=task.context_id, status=status)
        async with self.news:
            self.events[task_id].append(StreamResponse(status_update=event))
            self.news.notify_all()

    async def _follow(self, task_id: str, after: int) -> AsyncIterator[Frame]:
        events = self.events[task_id]
        while True:
            while after < len(events):
                event = events[after]
                after += 1
                yield Frame(event, after)
                if event.status_update.status.state in ENDED:
                    return
            async with self.news:
                await self.news.wait_for(lambda: after < len(events))  # noqa: B023


class Scripted:
    """A handler of which a test writes the methods that it needs: ``Scripted(get_task=...)``."""

    def __init__(self, **methods: Callable[..., Any]) -> None:
        self.__dict__.update(methods)


@dataclass
class Server:
    """A server that listens: its address, and clients for it."""

    url: str
    http: httpx.AsyncClient
    seen: list[Caller] = field(default_factory=list)

    async def call(self, method: str, params: Any = None, **extra: Any) -> dict[str, Any]:
        """The JSON-RPC answer to a well-formed call, checked to be one."""
        envelope = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params, **extra}
        return checked(await self.post(json.dumps(envelope).encode()))

    async def post(self, body: bytes, **headers: str) -> httpx.Response:
        """POST raw bytes as JSON of A2A 1.0; ``headers`` with _ for - add or replace."""
        given = {"Content-Type": "application/json", **VERSION}
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        return await self.http.post(self.url, content=body, headers=given)


def checked(response: httpx.Response, status: int = 200) -> dict[str, Any]:
    """The JSON-RPC envelope in the response."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    envelope = response.json()
    assert envelope["jsonrpc"] == "2.0"
    assert set(envelope) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
    if "error" in envelope:
        assert isinstance(envelope["error"]["code"], int)
        assert envelope["error"]["message"]
        assert envelope["error"]["data"][0]["@type"].endswith("google.rpc.ErrorInfo")
    return envelope


@asynccontextmanager
async def listen(handler: Any, **settings: Any) -> AsyncIterator[Server]:
    """``handler`` behind uvicorn on a free port of the loopback, in this loop. Fields of a ``Gate``
    (``streaming`` among them) and arguments of ``build_app`` may be given."""
    app = build_app(handler, **{"profile": PROFILE, **gated(settings)})
    async with listen_with(app) as server:
        yield server


def gated(settings: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``build_app``, with those that are a gate's in its ``gate``."""
    capabilities = Capabilities(streaming=settings.pop("streaming", True))
    gate = Gate(
        **{"capabilities": capabilities}
        | {name: settings.pop(name) for name in Gate._fields if name in settings}
    )
    return {"gate": gate, **settings}


@asynccontextmanager
async def listen_with(app: Any) -> AsyncIterator[Server]:
    """The same for a whole application."""
    config = uvicorn.Config(app, lifespan="off", log_config=None, ws="none")
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # with its protocol named, asyncio sets TCP_NODELAY: without it each body waits 40 ms for an ACK
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    await server.startup(sockets=[listener])
    try:
        # verify=False: nothing is TLS here, and reading the CA bundle would take longest of all
        async with httpx.AsyncClient(timeout=10, trust_env=False, verify=False) as http:
            yield Server(f"http://127.0.0.1:{listener.getsockname()[1]}/", http)
    finally:
        for each in server.servers:
            each.close()
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        if server.server_state.tasks:
            _, late = await asyncio.wait(server.server_state.tasks, timeout=5)
            assert not late, f"requests that never end: {late}"
        listener.close()


@pytest.fixture(name="listen")
def _listen() -> Callable[..., Any]:
    return listen


@pytest.fixture(name="scripted")
def _scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture(name="checked")
def _checked() -> Callable[..., dict[str, Any]]:
    return checked


@pytest.fixture
async def handler() -> Any:
    """The handler double."""
    return MemoryHandler()


@pytest.fixture
async def server(handler: Any) -> AsyncIterator[Server]:
    """The handler double, listening."""
    async with listen(handler) as running:
        yield running


@pytest.fixture(params=["double", "journal"])
async def agent(request: pytest.FixtureRequest, handler: Any) -> AsyncIterator[Server]:
    """An echo agent that listens: the double, and the product itself on its memory engine."""
    if request.param == "double":
        async with listen(handler) as running:
            yield running
        return
    services = build_services(Settings(engine="memory", agent="echo:"))
    services.__dict__["agent"] = Echo()  # in the place of the agent that the settings name
    worker = asyncio.create_task(work(services))
    async with listen_with(services.app()) as running:
        yield running
        services.stop()
    worker.cancel()
    await asyncio.wait([worker])
    await services.close()


class Echo:
    """As ``MemoryHandler``: an artifact with the text; ``wait`` waits."""

    async def run(self, turn: Any) -> None:
        if turn.text == "wait":
            await asyncio.Event().wait()
        await turn.artifact("echo", Part(text=turn.text))
        await turn.complete()


async def work(services: Any) -> None:
    """A turn worker, for as many turns at once as there are."""
    async with asyncio.TaskGroup() as turns:
        while True:
            for delivery in await services.turns.receive(1, 60):
                await services.turns.ack(delivery.handle)
                turns.create_task(services.run_turn(delivery.body))


def look_up_nothing(services: Any) -> None:
    """Webhooks may have any name, which nobody looks up: where it leads is judged at sending."""

    async def nowhere(host: str, port: int) -> list[str]:
        raise OSError("tests ask no name server")

    if services.outbox is not None:
        vars(services.outbox)["courier"] = WebCourier(Policy(), resolve=nowhere)


def message(text: str = "hello", **fields: Any) -> dict[str, Any]:
    """The JSON of a message from the user."""
    return {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}], **fields}


@pytest.fixture(name="message")
def _message() -> Callable[..., dict[str, Any]]:
    return message


def user_message(text: str, **fields: Any) -> Message:
    """The same as a proto, for the SDK's client."""
    return Message(message_id="m-1", role=Role.ROLE_USER, parts=[Part(text=text)], **fields)


@pytest.fixture(name="user_message")
def _user_message() -> Callable[..., Message]:
    return user_message
