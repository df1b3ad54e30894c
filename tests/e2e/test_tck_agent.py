"""The agent that conformance kits drive does as they ask, here and on the SDK's own server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from a2a.client import Client, ClientConfig, create_client
from a2a.server.agent_execution import RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    CancelTaskRequest,
    SendMessageRequest,
    StreamResponse,
    TaskState,
)
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError
from starlette.applications import Starlette
from tests import tck

from .clients import client, request
from .server import ROOT, Process

COMPLETED = TaskState.TASK_STATE_COMPLETED
INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED
CONSOLE = Path(sys.executable).with_name("a2a-fn")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The product, serving the agent."""
    data = tmp_path_factory.mktemp("data")
    process = Process("serve", "--port", "0", "--data", str(data), "--agent", "tck")
    yield process.url
    process.end()


@asynccontextmanager
async def of_the_sdk(streaming: bool) -> AsyncIterator[Client]:
    """The same agent behind the SDK's own server."""
    card = AgentCard(
        name="tck",
        supported_interfaces=[
            AgentInterface(url="http://sdk/", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True),
    )
    handler = DefaultRequestHandler(
        agent_executor=tck.TckExecutor(), task_store=InMemoryTaskStore(), agent_card=card
    )
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, rpc_url="/")]
    transport = httpx.ASGITransport(app=Starlette(routes=routes))
    async with httpx.AsyncClient(transport=transport, timeout=30) as http:
        config = ClientConfig(httpx_client=http, streaming=streaming)
        yield await create_client("http://sdk", client_config=config)


@pytest.fixture(params=["a2a-fn", "sdk"])
async def plain(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Client]:
    """A client that does not stream, of each server."""
    ours = request.param == "a2a-fn"
    async with client(url, streaming=False) if ours else of_the_sdk(False) as connected:
        yield connected


@pytest.fixture(params=["a2a-fn", "sdk"])
async def streaming(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Client]:
    """A client that streams, of each server."""
    ours = request.param == "a2a-fn"
    async with client(url) if ours else of_the_sdk(True) as connected:
        yield connected


async def answer(client: Client, message: SendMessageRequest) -> StreamResponse:
    """The only answer to a message."""
    answers = [event async for event in client.send_message(message)]
    assert len(answers) == 1
    return answers[0]


async def states(client: Client, message: SendMessageRequest) -> list[str | int]:
    """What a stream says: states, and artifacts by the word "artifact"."""
    seen: list[str | int] = []
    async for event in client.send_message(message):
        kind = event.WhichOneof("payload")
        if kind == "task":
            seen.append(event.task.status.state)
        elif kind == "status_update":
            seen.append(event.status_update.status.state)
        else:
            seen.append("artifact" if kind == "artifact_update" else str(kind))
    return seen


def kit(name: str, number: str = "1") -> SendMessageRequest:
    """As a2a-tck asks: by messageId."""
    return request("TCK message", f"{name}-{number}")


# ---------------------------------------------------------------- what it does


ENDS = [
    ("tck-complete-task", COMPLETED, "Hello from TCK"),
    ("tck-input-required", INPUT_REQUIRED, ""),
    ("tck-auth-required", TaskState.TASK_STATE_AUTH_REQUIRED, "Sign in to go on."),
    ("tck-task-failure", TaskState.TASK_STATE_FAILED, "It failed, as it was told to."),
    ("tck-reject-task", TaskState.TASK_STATE_REJECTED, "rejected"),
]


@pytest.mark.parametrize(("name", "state", "text"), ENDS)
async def test_a_task_ends_as_the_message_id_asks(
    plain: Client, name: str, state: int, text: str
) -> None:
    status = (await answer(plain, kit(name))).task.status
    assert (status.state, "".join(p.text for p in status.message.parts)) == (state, text)


@pytest.mark.parametrize(("name", "state", "text"), ENDS)
async def test_a_task_ends_as_its_first_word_asks(
    plain: Client, name: str, state: int, text: str
) -> None:
    status = (await answer(plain, request(f"{name} please", f"acts-{name}"))).task.status
    assert (status.state, "".join(p.text for p in status.message.parts)) == (state, text)


@pytest.mark.parametrize("name", ["test-cancel-message-id", "text", "cancel-test"])
async def test_a_task_of_the_kit_of_0_3_can_go_on(plain: Client, name: str) -> None:
    assert (await answer(plain, kit(name))).task.status.state == INPUT_REQUIRED


@pytest.mark.parametrize("message", [kit("tck-send-003"), request("tck-unheard of", "other")])
async def test_what_nobody_knows_is_completed(plain: Client, message: SendMessageRequest) -> None:
    assert (await answer(plain, message)).task.status.state == COMPLETED


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("tck-artifact-text", {"text": "Generated text content"}),
        ("tck-artifact-data", {"data": {"key": "value", "count": 42}}),
        ("tck-artifact-file", {"raw": b"Generated file content", "filename": "output.txt"}),
        ("tck-artifact-file-url", {"url": "https://example.com/output.txt"}),
    ],
)
async def test_an_artifact_has_the_part_that_was_asked_for(
    plain: Client, name: str, part: dict[str, object]
) -> None:
    task = (await answer(plain, kit(name))).task
    found = task.artifacts[0].parts[0]
    assert task.status.state == COMPLETED
    assert found.WhichOneof("content") == next(iter(part))
    if "data" in part:
        assert dict(found.data.struct_value) == part["data"]
    else:
        assert {key: getattr(found, key) for key in part} == part


async def test_a_bare_message_names_no_task_and_no_context(plain: Client) -> None:
    got = await answer(plain, kit("tck-message-response"))
    assert got.message.parts[0].text == "Direct message response"
    assert (got.message.task_id, got.message.context_id) == ("", "")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tck-stream-001", ["artifact"]),
        ("tck-stream-002", []),
        ("tck-stream-ordering-001", ["artifact"]),
        ("tck-stream-basic", ["artifact"]),
        ("tck-stream-chunked", ["artifact"] * 3),
    ],
)
async def test_a_stream_works_hands_over_and_completes(
    streaming: Client, name: str, said: list[str]
) -> None:
    seen = await states(streaming, kit(name))
    assert seen[-1 - len(said) :] == [*said, COMPLETED]
    before = seen[: -1 - len(said)]
    assert set(before) <= {TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING}
    assert not said or before[-1] == TaskState.TASK_STATE_WORKING


async def test_a_conversation_goes_on_until_done(plain: Client) -> None:
    task = (await answer(plain, request("tck-multi-turn first", "talk-1"))).task
    told = {"task": task.id, "context": task.context_id}
    again = (await answer(plain, request("more of it", "talk-2", **told))).task
    ended = (await answer(plain, request("done", "talk-3", **told))).task
    assert [t.status.state for t in (task, again, ended)] == [
        INPUT_REQUIRED,
        INPUT_REQUIRED,
        COMPLETED,
    ]
    texts = [message.parts[0].text for message in ended.history]
    assert texts == ["tck-multi-turn first", "more of it", "done"]


async def test_the_message_id_of_a_follow_up_wins_over_the_opening_word(plain: Client) -> None:
    task = (await answer(plain, request("tck-multi-turn first", "mixed-1"))).task
    told = {"task": task.id, "context": task.context_id}
    ended = (await answer(plain, request("go on", "tck-complete-task-mixed", **told))).task
    assert ended.status.state == COMPLETED


async def test_a_task_that_stays_is_working_until_it_is_canceled(plain: Client) -> None:
    message = request("tck-cancel me", "stay-1", wait=False)
    task = (await answer(plain, message)).task
    assert task.status.state in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
    canceled = await plain.cancel_task(CancelTaskRequest(id=task.id))
    assert canceled.status.state == TaskState.TASK_STATE_CANCELED


# ---------------------------------------------------------------- what it turns away


async def test_the_context_that_acts_makes_up_is_refused(plain: Client) -> None:
    message = request("tck-complete-task", "refused-1", context=tck.REFUSED_CONTEXT)
    with pytest.raises(InvalidParamsError):
        await answer(plain, message)


async def test_the_type_that_acts_makes_up_is_refused(plain: Client) -> None:
    message = request("tck-complete-task", "refused-2")
    message.message.parts[0].metadata["contentType"] = tck.REFUSED_TYPE
    with pytest.raises(ContentTypeNotSupportedError):
        await answer(plain, message)


# ---------------------------------------------------------------- how long it takes


class Recorder:
    """An event queue that keeps what it is given."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    async def enqueue_event(self, event: object) -> None:
        self.kinds.append(type(event).__name__.removesuffix("Event"))


@pytest.mark.parametrize(
    ("name", "pauses"),
    [
        ("tck-long-running", [tck.LONG]),
        ("tck-cancel", [tck.STAY]),
        ("test-resubscribe-message-id", [tck.RESUBSCRIBE]),
        ("tck-stream-basic", [tck.PAUSE, tck.PAUSE]),
        ("tck-stream-chunked", [tck.PAUSE] * 4),
    ],
)
async def test_it_pauses_where_a_kit_wants_to_look(name: str, pauses: list[float]) -> None:
    slept: list[float] = []
    queue = Recorder()

    async def sleep(seconds: float) -> None:
        assert queue.kinds[:2] == ["Task", "TaskStatusUpdate"]  # it is seen WORKING meanwhile
        slept.append(seconds)

    context = RequestContext(ServerCallContext(), kit(name), task_id="t", context_id="c")
    await tck.TckExecutor(sleep).execute(context, queue)
    assert slept == pauses
    assert queue.kinds[-1] == "TaskStatusUpdate"


# ---------------------------------------------------------------- how it is started


def test_its_name_is_enough_in_a_checkout(tmp_path: Path) -> None:
    if not CONSOLE.exists():
        pytest.skip("the console script is not installed")
    command = [str(CONSOLE), "serve", "--agent", "tck", "--port", "0", "--data", str(tmp_path)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        try:
            line = server.stderr.readline()
            assert json.loads(line)["message"] == "serving", line
        finally:
            server.kill()


def test_its_name_says_elsewhere_what_is_missing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "a2a_fn", "serve", "--agent", "tck", "--port", "0"]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert re.search(r"cannot import 'tests.tck'.*tck needs a checkout", done.stderr)
    assert len(done.stderr.splitlines()) == 1
