"""Turns survive: kill -9, another process, a graceful stop; and readers agree."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskState,
)

from .agents import STEPS
from .clients import client, request, said, words
from .server import Process

WHOLE = "".join(f"line {n}, done {n}.\n" for n in range(1, STEPS + 1))
AGENT = ("--agent", "agent:tests.e2e.agents:Steps")
Start = Callable[..., Process]


async def collect(stream, into: list[StreamResponse]) -> None:
    async for event in stream:
        into.append(event)


async def until(events: list[StreamResponse], text: str) -> None:
    async with asyncio.timeout(30):
        while text not in words(events):
            await asyncio.sleep(0)


async def test_a_killed_server_starts_again_and_the_same_task_finishes(
    start: Start, tmp_path: Path, gate: Callable[[int], None]
) -> None:
    env = {"A2A_TEST_GATE": str(tmp_path / "gate")}
    first = start("serve", *AGENT, **env)
    gate(1)
    gate(2)
    async with client(first.url) as before:
        events: list[StreamResponse] = []
        reading = asyncio.create_task(collect(before.send_message(request("go", "m1")), events))
        await until(events, "line 3")  # said, and not saved
        task_id = events[0].task.id
        first.kill()
        with pytest.raises(Exception):  # noqa: B017 - whatever the SDK makes of a dead connection
            await reading
    second = start("serve", *AGENT, "--config", str(_quick(tmp_path)), **env)
    for n in range(3, STEPS + 1):
        gate(n)
    async with client(second.url) as after:
        later: list[StreamResponse] = []
        await collect(after.subscribe(SubscribeToTaskRequest(id=task_id)), later)
        task = await after.get_task(GetTaskRequest(id=task_id))
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert said(task) == WHOLE
    restarts = [
        e
        for e in later
        if "iac_code" in e.status_update.metadata and "turn" in e.status_update.metadata["iac_code"]
    ]
    assert len(restarts) == 1
    assert restarts[0].status_update.metadata["iac_code"]["turn"]["restarted"] is True
    assert words(later[later.index(restarts[0]) :]) == WHOLE[WHOLE.index("line 3") :]
    second.stop()


async def test_a_stopped_server_yields_and_the_next_one_goes_on_at_once(
    start: Start, tmp_path: Path, gate: Callable[[int], None]
) -> None:
    env = {"A2A_TEST_GATE": str(tmp_path / "gate"), "A2A_FN_LEASE": "3600"}
    first = start("serve", *AGENT, **env)
    gate(1)
    async with client(first.url) as before:
        events: list[StreamResponse] = []
        reading = asyncio.create_task(collect(before.send_message(request("go", "m1")), events))
        await until(events, "line 2")
        stopping = asyncio.create_task(asyncio.to_thread(first.stop))
        await asyncio.to_thread(first.wait_for, "stopping; once more to stop at once")
        gate(2)  # the agent saves, and yields there
        assert await stopping == 0
        await reading  # the stream ended cleanly
    first_words = words(events)
    for n in range(3, STEPS + 1):
        gate(n)
    second = start("serve", *AGENT, **env)
    async with client(second.url) as after:
        task_id = events[0].task.id
        later: list[StreamResponse] = []
        async with asyncio.timeout(30):
            while True:
                task = await after.get_task(GetTaskRequest(id=task_id))
                if task.status.state == TaskState.TASK_STATE_COMPLETED:
                    break
        assert said(task) == WHOLE
    assert not later
    assert WHOLE.startswith(first_words)
    assert not [line for line in second.lines if line["message"] == "taken over"]
    second.stop()


async def test_a_second_process_cancels_and_the_worker_stops(
    start: Start, tmp_path: Path, gate: Callable[[int], None]
) -> None:
    env = {"A2A_TEST_GATE": str(tmp_path / "gate")}
    http = start("serve", *AGENT, "--workers", "0", **env)
    worker = start("work", *AGENT, **env)
    other = start("serve", *AGENT, "--workers", "0", **env)
    gate(1)
    async with client(http.url) as here, client(other.url) as there:
        events: list[StreamResponse] = []
        reading = asyncio.create_task(collect(here.send_message(request("go", "m1")), events))
        await until(events, "line 2")
        task = await there.cancel_task(CancelTaskRequest(id=events[0].task.id))
        assert task.status.state == TaskState.TASK_STATE_CANCELED
        await reading
    assert events[-1].status_update.status.state == TaskState.TASK_STATE_CANCELED
    await asyncio.to_thread(worker.wait_for, "lost")
    assert "done 2" not in words(events)
    for process in (http, worker, other):
        assert await asyncio.to_thread(process.stop) == 0


async def test_two_readers_of_one_task_see_the_same_events(
    start: Start, tmp_path: Path, gate: Callable[[int], None]
) -> None:
    env = {"A2A_TEST_GATE": str(tmp_path / "gate")}
    one = start("serve", *AGENT, **env)
    two = start("serve", *AGENT, "--workers", "0", **env)
    async with client(one.url) as first, client(two.url) as second:
        mine: list[StreamResponse] = []
        reading = asyncio.create_task(collect(first.send_message(request("go", "m1")), mine))
        await until(mine, "line 1")
        seen = len(mine)
        theirs: list[StreamResponse] = []
        watching = asyncio.create_task(
            collect(second.subscribe(SubscribeToTaskRequest(id=mine[0].task.id)), theirs)
        )
        async with asyncio.timeout(30):
            while not theirs:
                await asyncio.sleep(0)
        for n in range(1, STEPS + 1):
            gate(n)
        await asyncio.gather(reading, watching)
    assert theirs[0].task.status.state == TaskState.TASK_STATE_WORKING
    assert theirs[1:] == mine[seen:]
    assert said(theirs[0].task) + words(theirs) == WHOLE == words(mine)


def _quick(folder: Path) -> Path:
    config = folder / "quick.yml"
    config.write_text("sweep-interval: 0.1\nclock-skew: 0\n")
    return config
