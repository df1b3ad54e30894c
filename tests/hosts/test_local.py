"""One machine: workers that go on, a host that stops, settings that cannot work, one function."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.types.a2a_pb2 import (
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)

from a2a_fn.errors import InvalidSettings, NotFound, Unavailable
from a2a_fn.hosts import local
from a2a_fn.journal import intents
from a2a_fn.journal.slots import Kind
from a2a_fn.protocol.callers import Caller
from a2a_fn.protocol.handler import TaskHandler
from a2a_fn.settings import PREFIX, Settings, load
from a2a_fn.wiring import Services, build_services

ME = Caller("me")


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's logging stays pytest's, and nothing waits a second to try again."""
    monkeypatch.setattr(local, "set_up_logs", lambda mode: None)
    monkeypatch.setattr(local, "RETRY", 0.0)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        engine="memory", agent="echo:", port=0, grace=0.05, data=str(tmp_path / "data"), workers=1
    )


@pytest.fixture
def services(settings: Settings) -> Services:
    return build_services(settings)


class Works:
    """An agent that works until its host stops, then saves."""

    def __init__(self) -> None:
        self.started = asyncio.Event()

    async def run(self, turn) -> None:
        await turn.say("working ")
        self.started.set()
        while not turn.stopping:
            await asyncio.sleep(0)
        await turn.save(b"so far")


def user(text: str, message_id: str) -> Message:
    return Message(message_id=message_id, role=Role.ROLE_USER, parts=[Part(text=text)])


async def opened(services: Services, message_id: str = "m1") -> str:
    """A task whose turn waits for a worker that has been told."""
    accepted = await intents.submit(services.journal, "me", user("hi", message_id))
    await services.wake(accepted.view.part)
    return accepted.task


async def state(services: Services, task: str) -> int:
    view = await services.journal.load(task.partition("-")[0], task)
    return view.tasks[task].state


async def completed(services: Services, task: str) -> None:
    async with asyncio.timeout(5):
        while await state(services, task) != TaskState.TASK_STATE_COMPLETED:
            await asyncio.sleep(0)


# ------------------------------------------------------------------------ workers


@pytest.mark.parametrize("error", [ValueError("a bug"), OSError("disk"), Unavailable("busy")])
async def test_a_worker_goes_on_after_a_queue_that_failed(
    services: Services, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    receive, failures = services.turns.receive, [error] * 3

    async def fails(limit: int = 1, wait: float = 0.0) -> object:
        if failures:
            raise failures.pop()
        return await receive(limit, wait)

    monkeypatch.setattr(services.turns, "receive", fails)
    async with local._pool(services, 1, asyncio.Event()):
        await completed(services, await opened(services))
    assert not failures


@pytest.mark.parametrize("error", [ValueError("a bug"), Unavailable("busy")])
async def test_a_worker_goes_on_after_a_turn_that_failed_outside_its_agent(
    services: Services, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    run_turn, failures = services.run_turn, [error]

    async def fails(body: bytes, **more: Any) -> object:
        if failures:
            raise failures.pop()
        return await run_turn(body, **more)

    monkeypatch.setattr(services, "run_turn", fails)
    left = await opened(services)
    async with local._pool(services, 1, asyncio.Event()):
        await completed(services, await opened(services, "m2"))
    assert await state(services, left) == TaskState.TASK_STATE_SUBMITTED  # its alarm remembers it


async def test_a_wake_up_that_nobody_can_read_does_not_stop_the_worker(services: Services) -> None:
    await services.turns.send(b"no JSON")
    await services.turns.send(b"{}")
    async with local._pool(services, 1, asyncio.Event()):
        await completed(services, await opened(services))


async def test_a_wake_up_is_not_given_to_another_worker_for_a_long_turn(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, stop, acks = Works(), asyncio.Event(), []
    ack = services.turns.ack

    async def counted(handle: str) -> None:
        acks.append(agent.started.is_set())
        await ack(handle)

    monkeypatch.setattr(services.turns, "ack", counted)
    monkeypatch.setattr(services, "agent", agent)
    await opened(services)
    async with asyncio.timeout(5), local._pool(services, 1, stop):
        await agent.started.wait()
        assert acks == [False]


async def test_a_pool_that_stops_lets_running_turns_save_and_yield(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, stop = Works(), asyncio.Event()
    monkeypatch.setattr(services, "agent", agent)
    task = await opened(services)
    async with asyncio.timeout(5), local._pool(services, 2, stop):
        await agent.started.wait()
        stop.set()
    part = task.partition("-")[0]
    kinds = [slot.kind async for _, slot in services.journal.slots(part, 0)]
    view = await services.journal.load(part, task)
    assert kinds[-1] is Kind.YIELDED
    assert view.context.active is not None
    assert view.context.active.checkpoint
    (wake_up,) = await services.turns.receive(5, 0)  # for the process that comes next
    assert json.loads(wake_up.body) == {"part": part}


async def test_a_stopped_pool_takes_no_new_turn(services: Services) -> None:
    stop = asyncio.Event()
    async with asyncio.timeout(5), local._pool(services, 2, stop):
        stop.set()
        task = await opened(services)
    assert await state(services, task) == TaskState.TASK_STATE_SUBMITTED
    assert len(await services.turns.receive(5, 0)) == 1


async def test_a_sweep_that_fails_at_the_start_does_not_keep_the_pool_from_working(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept = []

    async def fails() -> int:
        swept.append(1)
        raise OSError("the file is busy")

    monkeypatch.setattr(services, "sweep", fails)
    async with local._pool(services, 1, asyncio.Event()):
        assert swept == [1]
        await completed(services, await opened(services))


async def test_the_sweep_goes_on_after_one_that_failed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = build_services(dataclasses.replace(settings, sweep_interval=0.001))
    swept, enough = [], asyncio.Event()

    async def fails() -> int:
        swept.append(1)
        if len(swept) == 4:
            enough.set()
        raise RuntimeError("a bug")

    monkeypatch.setattr(services, "sweep", fails)
    async with local._pool(services, 1, asyncio.Event()):
        await asyncio.wait_for(enough.wait(), 5)


async def test_who_serves_http_only_runs_no_turn_and_no_sweep(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept = []

    async def sweep() -> int:
        swept.append(1)
        return 0

    monkeypatch.setattr(services, "sweep", sweep)
    task = await opened(services)
    async with local._pool(services, 0, asyncio.Event()):
        for _ in range(20):
            await asyncio.sleep(0)
    assert not swept
    assert await state(services, task) == TaskState.TASK_STATE_SUBMITTED


# ------------------------------------------------------------------ what cannot work


async def test_serve_refuses_memory_that_no_worker_can_see(settings: Settings) -> None:
    with pytest.raises(InvalidSettings, match=r"^workers: .*memory"):
        await asyncio.wait_for(local.serve(settings, workers=0), 5)


async def test_work_refuses_memory_that_no_server_can_see(settings: Settings) -> None:
    with pytest.raises(InvalidSettings, match=r"^engine: .*memory"):
        await asyncio.wait_for(local.work(settings), 5)


@pytest.mark.parametrize("host", [local.serve, local.work])
async def test_an_agent_that_cannot_be_had_is_found_before_the_first_task(
    settings: Settings, host: Callable[..., Any]
) -> None:
    wrong = dataclasses.replace(settings, engine="sqlite", agent="agent:surely_no_such:A")
    with pytest.raises(InvalidSettings, match="cannot import 'surely_no_such'"):
        await asyncio.wait_for(host(wrong), 5)


async def test_a_port_that_is_taken_is_named(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidSettings, match=f"127.0.0.1 port {port}: .*in use"):
            await asyncio.wait_for(local.serve(dataclasses.replace(settings, port=port)), 5)


# ------------------------------------------------------------------------ stopping


class Url(logging.Handler):
    """Hears where the server listens."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.said: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == "serving":
            self.said.set_result(record.a2a["url"])  # type: ignore[attr-defined]


@asynccontextmanager
async def served(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[str, asyncio.Task[int]]]:
    """``serve`` on these services in this process: its URL, and the task that runs it."""
    monkeypatch.setattr(local, "build_services", lambda settings: services)
    log, url = logging.getLogger("a2a_fn.host"), Url()
    level = log.level
    log.addHandler(url)
    log.setLevel(logging.INFO)
    serving = asyncio.create_task(local.serve(services.settings))
    try:
        async with asyncio.timeout(10):
            await asyncio.wait([serving, url.said], return_when=asyncio.FIRST_COMPLETED)
            yield (await url.said if url.said.done() else ""), serving
            await serving
    finally:
        log.removeHandler(url)
        log.setLevel(level)
        serving.cancel()


def call(method: str, message_id: str) -> dict[str, Any]:
    message = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}


async def endpoint(client: httpx.AsyncClient, url: str) -> str:
    """Where the card says that JSON-RPC is."""
    card = (await client.get(f"{url}/.well-known/agent-card.json")).json()
    return next(
        each["url"]
        for each in card["supportedInterfaces"]
        if each["protocolBinding"] == "JSONRPC" and each["protocolVersion"].startswith("1")
    )


async def test_a_signal_ends_streams_and_waiting_requests_and_then_the_server(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # so long would the server itself leave its connections open
    services = build_services(dataclasses.replace(settings, workers=2, grace=30))
    agent = Works()
    monkeypatch.setattr(services, "agent", agent)
    headers = {"A2A-Version": "1.0"}
    async with (
        served(services, monkeypatch) as (url, serving),
        httpx.AsyncClient(headers=headers, timeout=8, trust_env=False) as client,
    ):
        rpc = await endpoint(client, url)
        waiting = asyncio.create_task(client.post(rpc, json=call("SendMessage", "m1")))
        await agent.started.wait()
        lines: list[str] = []
        async with client.stream("POST", rpc, json=call("SendStreamingMessage", "m2")) as streaming:
            reading = streaming.aiter_lines()
            async for line in reading:
                lines.append(line)
                if line.startswith("data:") and "working" in line:
                    break
            os.kill(os.getpid(), signal.SIGTERM)
            async for line in reading:  # ends, and is not cut off
                lines.append(line)
        answer = (await waiting).json()["result"]["task"]
        assert answer["status"]["state"] == "TASK_STATE_WORKING"
        assert await serving == 0
    assert "TASK_STATE_COMPLETED" not in "".join(lines)


async def test_serve_outlives_a_sweep_that_fails_at_its_start(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails() -> int:
        raise OSError("the file is busy")

    monkeypatch.setattr(services, "sweep", fails)
    async with served(services, monkeypatch) as (url, serving):
        async with httpx.AsyncClient(timeout=8, trust_env=False) as client:
            assert await endpoint(client, url)
        os.kill(os.getpid(), signal.SIGINT)
        assert await serving == 0


async def test_work_runs_turns_until_a_signal(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk = dataclasses.replace(settings, engine="sqlite")
    services, client = build_services(on_disk), build_services(on_disk)
    monkeypatch.setattr(local, "build_services", lambda settings: services)
    task = await opened(client)
    working = asyncio.create_task(local.work(on_disk))
    try:
        await completed(client, task)
        os.kill(os.getpid(), signal.SIGTERM)
        assert await asyncio.wait_for(working, 5) == 0
    finally:
        working.cancel()
        await client.close()


class Stopped:
    """A handler of a host that is asked to stop at the second look."""

    def __init__(self, services: Services) -> None:
        self.looks = 0
        self.handler = TaskHandler(
            services.journal,
            services.wake,
            blocking_wait=600,
            direct_replies=False,
            page_key=b"page",
            stopping=self.stopping,
        )

    def stopping(self) -> bool:
        self.looks += 1
        return self.looks >= 2


async def test_a_waiting_request_of_a_host_that_stops_is_answered_with_the_task_as_it_is(
    services: Services,
) -> None:
    stopped = Stopped(services)
    async with asyncio.timeout(5):
        answer = await stopped.handler.send_message(
            SendMessageRequest(message=user("hi", "m1")), ME
        )
    assert answer.task.status.state == TaskState.TASK_STATE_SUBMITTED
    assert stopped.looks == 2


async def test_a_stream_of_a_host_that_stops_ends_and_leaves_the_turn_open(
    services: Services,
) -> None:
    stopped = Stopped(services)
    async with asyncio.timeout(5):
        request = SendMessageRequest(message=user("hi", "m1"))
        frames = [frame async for frame in stopped.handler.stream_message(request, ME)]
    assert [frame.response.WhichOneof("payload") for frame in frames] == ["task"]
    task = frames[0].response.task.id
    assert await state(services, task) == TaskState.TASK_STATE_SUBMITTED


async def test_a_subscription_of_a_host_that_stops_ends(services: Services) -> None:
    task = await opened(services)
    stopped = Stopped(services)
    async with asyncio.timeout(5):
        request = SubscribeToTaskRequest(id=task)
        frames = [frame async for frame in stopped.handler.subscribe(request, ME)]
    assert len(frames) == 1


# ------------------------------------------------------------------------- invoke

FUNCTION = """
import dataclasses, os
from a2a_fn.settings import load

class Handler:
    def __call__(self, event, context):
        os.environ["A2A_FN_LEFT_BEHIND"] = "x"
        if event.get("fails"):
            raise RuntimeError("in the function")
        return {"settings": SETTINGS, "event": event}

    def close(self):
        os.environ["A2A_FN_CLOSED"] = "x"

SETTINGS = dataclasses.asdict(load())
handler = Handler()
"""

VALUES = {
    "dedupe_window": 5.0,
    "config": "",
    "agent": "echo:",
    "engine": "memory",
    "data": "elsewhere",
    "host": "0.0.0.0",
    "public_url": "https://agent.example.com",
    "end_state": "completed",
    "id_key": "a secret of this test, long enough",
    "log": "json",
    "principals": ({"name": "ann", "token": "a token, with a comma"},),
    "signing_keys": ("-----BEGIN PRIVATE KEY-----\nMC4,;\n",),
    "thinking_exposure": ("raw-thinking",),
    "jwt_jwks_url": "https://issuer.example.com/keys",
    "workspace": "context",
    "artifact_urls": "inline",
    "api_key_header": "X-Key",
    "redis_url": "redis://127.0.0.1:6399/1",
    "push_events": "terminal",
    "push_allowed_hosts": ("hooks.example.com", "*.example.org"),
    "push_ports": ("443", "8443"),
    "push_hmac_secret": "another secret of this test",
    "push_queue": "redis-streams",
    "push_redis_url": "redis://127.0.0.1:6399/2",
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one function, and an environment that says something else."""
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "http.py").write_text(FUNCTION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A2A_FN_LEASE", "7")
    return tmp_path


def changed(setting: dataclasses.Field[Any]) -> Any:
    """A value that is not the setting's default."""
    if setting.name in VALUES:
        return VALUES[setting.name]
    if isinstance(setting.default, bool):
        return not setting.default
    if isinstance(setting.default, int | float):
        return setting.default + 1
    return ("one", "two; three") if isinstance(setting.default, tuple) else "another, value"


def test_invoke_gives_the_function_every_setting_as_the_platform_would(checkout: Path) -> None:
    given = Settings(**{f.name: changed(f) for f in dataclasses.fields(Settings)})
    answer = local.invoke("http", {"a": 1}, given)
    assert answer == {"settings": dataclasses.asdict(given), "event": {"a": 1}}


@pytest.mark.parametrize("fails", [False, True])
def test_invoke_leaves_the_environment_as_it_was(
    checkout: Path, settings: Settings, fails: bool
) -> None:
    before = dict(os.environ)
    if fails:
        with pytest.raises(RuntimeError, match="in the function"):
            local.invoke("http", {"fails": True}, settings)
    else:
        local.invoke("http", {}, settings)
    assert dict(os.environ) == before
    assert os.environ[PREFIX + "LEASE"] == "7"
    assert load().lease == 7


def test_invoke_of_a_function_that_is_not_there_says_where_it_looked(
    checkout: Path, settings: Settings
) -> None:
    with pytest.raises(NotFound, match=r"functions/turn\.py .*checkout"):
        local.invoke("turn", {}, settings)


def test_invoke_fills_a_record_from_the_local_queue_and_leaves_the_event_alone(
    checkout: Path, settings: Settings
) -> None:
    on_disk = dataclasses.replace(settings, engine="sqlite")

    async def waits() -> None:
        services = build_services(on_disk)
        await services.wake("first")
        await services.wake("second")
        await services.close()

    asyncio.run(waits())
    event = {"Records": [{"body": local.NEXT}, {"body": "as it is"}]}
    for part in ("first", "second"):
        answer: Any = local.invoke("http", event, on_disk)
        bodies = [record["body"] for record in answer["event"]["Records"]]
        assert bodies == [json.dumps({"part": part}), "as it is"]
    assert event["Records"][0]["body"] == local.NEXT
    left: Any = local.invoke("http", event, on_disk)
    assert left["event"]["Records"][0]["body"] == local.NEXT  # nothing waits any more
