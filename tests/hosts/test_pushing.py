"""Pushers of one process: lanes, what they do when they are told to stop, what they survive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role
from tests.e2e.hooks import HANG, hook

from a2a_fn.hosts import pushing
from a2a_fn.hosts.pushing import Pushers
from a2a_fn.journal import intents
from a2a_fn.journal.slots import Config
from a2a_fn.outbox import Outbox
from a2a_fn.settings import Settings
from a2a_fn.wiring import Services, build_services

PATIENCE = 10.0


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    made = build_services(
        Settings(engine="memory", push_notifications=True, push_allow_private=True, push_timeout=3)
    )
    yield made
    await made.close()


def outbox_of(services: Services) -> Outbox:
    assert services.outbox is not None
    return services.outbox


@asynccontextmanager
async def pushing_to(outbox: Outbox, **limits: int) -> AsyncIterator[asyncio.Event]:
    """Pushers at work, until the block is left."""
    stop = asyncio.Event()
    work = asyncio.create_task(Pushers(outbox, **{"workers": 50, "each": 2, **limits}).run(stop))
    try:
        yield stop
    finally:
        stop.set()
        done, _ = await asyncio.wait([work], timeout=PATIENCE)
        assert done, "the pushers do not stop"
        await work


async def submit(services: Services, name: str, url: str) -> str:
    """A task with a webhook; its opening is to be pushed."""

    async def config(task: str) -> Config:
        return Config(task, url, base="http://127.0.0.1")

    message = Message(message_id=name, role=Role.ROLE_USER, parts=[Part(text="x")])
    return (await intents.submit(services.journal, "me", message, webhook=config)).task


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.01)


async def test_a_receiver_that_never_answers_holds_up_nobody_else(services: Services) -> None:
    with hook() as quick, hook() as dead:
        dead.answer = lambda got: HANG
        for i in range(6):
            await submit(services, f"dead{i}", dead.url)
        for i in range(20):
            await submit(services, f"quick{i}", quick.url)
        async with pushing_to(outbox_of(services), workers=8):
            await until(lambda: len(quick.got) == 20)
            assert len(dead.tries) <= 2  # its lane is two wide


async def test_what_waits_when_they_stop_goes_back_to_the_queue(services: Services) -> None:
    with hook() as dead:
        dead.answer = lambda got: HANG
        tasks = {await submit(services, f"m{i}", dead.url) for i in range(5)}
        outbox = outbox_of(services)
        async with pushing_to(outbox, each=1) as stop:
            await until(lambda: dead.tries)
            stop.set()
        back = {json.loads(each.body)["task"] for each in await outbox.queue.receive(10, 0)}
        assert len(back) >= 4
        assert back <= tasks


async def test_a_full_lane_puts_the_rest_off(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "LANE", 2)
    monkeypatch.setattr(pushing, "PUT_OFF", (0.05, 0.1))
    with hook() as receiver:
        for i in range(12):
            await submit(services, f"m{i}", receiver.url)
        async with pushing_to(outbox_of(services), each=1):
            await until(lambda: len({got.json["task"]["id"] for got in receiver.got}) == 12)


async def test_doubled_and_unreadable_wake_ups_do_no_harm(services: Services) -> None:
    with hook() as receiver:
        outbox = outbox_of(services)
        for body in (b"no json", b"[]", b"{}", b'{"part": 1}', b'{"part": "x", "task": "y"}'):
            await outbox.queue.send(body)
        task = await submit(services, "m", receiver.url)
        for _ in range(20):
            await outbox.wake(task.partition("-")[0], task)
        async with pushing_to(outbox):
            await until(lambda: receiver.got)
        assert len(receiver.got) == 1
