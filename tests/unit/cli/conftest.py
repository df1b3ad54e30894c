"""The command line in this process, and an agent under the SDK's own server to call."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.applications import Starlette

from a2a_fn.cli.app import run


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys):
    """Run the command line in this process: cli("card", url) -> Result."""

    def go(*arguments: object) -> Result:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return go


class ScriptedAgent(AgentExecutor):
    """Does what the first word of the message says."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        words = context.get_user_input().split()
        action = words[0] if words else "nothing"
        if action == "greet":
            await event_queue.enqueue_event(
                Message(
                    message_id="m-1",
                    context_id=context.context_id,
                    role=Role.ROLE_AGENT,
                    parts=[Part(text="hello, no task")],
                )
            )
            return
        if not context.current_task:
            await event_queue.enqueue_event(
                Task(
                    id=context.task_id,
                    context_id=context.context_id,
                    status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                    history=[context.message],
                )
            )
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await getattr(self, f"_{action}")(context, updater)

    async def _stream(self, context: RequestContext, updater: TaskUpdater) -> None:
        for piece in ("one ", "two ", "three"):
            await _say(updater, piece, "m-1")
        await _say(updater, "next message", "m-2")
        await updater.complete(
            Message(message_id="m-2", role=Role.ROLE_AGENT, parts=[Part(text="next message")])
        )

    async def _artifact(self, context: RequestContext, updater: TaskUpdater) -> None:
        part = {"filename": "vpc.yml", "media_type": "application/yaml"}
        await updater.add_artifact([Part(text="a: 1\n", **part)], artifact_id="a", append=False)
        await updater.add_artifact(
            [Part(text="b: 2\n", **part)], artifact_id="a", append=True, last_chunk=True
        )
        await updater.add_artifact(
            [Part(raw=b"\x00\x01", filename="../../evil.bin")], artifact_id="b"
        )
        await updater.complete()

    async def _ask(self, context: RequestContext, updater: TaskUpdater) -> None:
        await updater.requires_input(
            Message(message_id="q", role=Role.ROLE_AGENT, parts=[Part(text="which region?")])
        )

    async def _authorise(self, context: RequestContext, updater: TaskUpdater) -> None:
        await updater.requires_auth(
            Message(message_id="a", role=Role.ROLE_AGENT, parts=[Part(text="log in first")])
        )

    async def _permit(self, context: RequestContext, updater: TaskUpdater) -> None:
        await self._authorise(context, updater)
        await _say(updater, "thank you", "m-1")
        await updater.complete()

    async def _fail(self, context: RequestContext, updater: TaskUpdater) -> None:
        await updater.failed(
            Message(message_id="f", role=Role.ROLE_AGENT, parts=[Part(text="no such zone")])
        )

    async def _files(self, context: RequestContext, updater: TaskUpdater) -> None:
        lines = [
            f"{part.WhichOneof('content')} {part.filename} {part.media_type}"
            for part in context.message.parts
        ]
        await _say(updater, "\n".join(lines), "m-1")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def _say(updater: TaskUpdater, text: str, message_id: str) -> None:
    await updater.update_status(
        TaskState.TASK_STATE_WORKING,
        Message(message_id=message_id, role=Role.ROLE_AGENT, parts=[Part(text=text)]),
    )


@contextlib.contextmanager
def serve(app: object) -> Iterator[str]:
    """Serve an ASGI app on a free port in a thread; the URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield url
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def sdk_app() -> Starlette:
    """The scripted agent under the SDK's own server, over every binding and version."""
    card = AgentCard(
        name="scripted",
        description="does what it is told",
        version="1.0",
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding=binding, protocol_version=version)
            for version in ("1.0", "0.3")
            for url, binding in (("/", "JSONRPC"), ("/rest", "HTTP+JSON"))
        ],
        capabilities=AgentCapabilities(streaming=True, extended_agent_card=True),
        default_input_modes=["text/plain", "application/yaml", "application/octet-stream"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="s", name="script", description="obeys", tags=["test"])],
    )
    extended = AgentCard()
    extended.CopyFrom(card)
    extended.name = "scripted, in full"
    handler = DefaultRequestHandler(
        ScriptedAgent(), InMemoryTaskStore(), card, extended_agent_card=extended
    )
    rest = create_rest_routes(handler, path_prefix="/rest", enable_v0_3_compat=True)
    return Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
            *rest,
        ]
    )


@pytest.fixture(scope="session")
def agent_url() -> Iterator[str]:
    """The scripted agent under the SDK's server."""
    with serve(sdk_app()) as url:
        yield url
