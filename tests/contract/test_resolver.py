"""The system's name look-up, in threads of its own."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest

from a2a_fn.engines.resolver import SystemResolver


async def test_this_machine_is_known():
    assert set(await SystemResolver()("localhost", 80)) <= {"127.0.0.1", "::1"}
    assert await SystemResolver()("127.0.0.1", 80) == ["127.0.0.1"]


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..example"])
async def test_what_cannot_be_a_name_has_no_address(host):
    with pytest.raises(OSError):
        await SystemResolver()(host, 80)


@pytest.fixture
def slow(monkeypatch):
    """A look-up that answers when the test says so; and how many of them are under way."""

    class Slow:
        may_answer = threading.Event()
        under_way = 0

        def __call__(self, host, port, **options):
            self.under_way += 1
            assert self.may_answer.wait(10)
            if host == "none":
                raise socket.gaierror("none")
            return [(socket.AF_INET, 0, 0, "", ("8.8.8.8", port))]

    look_up = Slow()
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield look_up
    look_up.may_answer.set()


async def test_slow_names_hold_up_neither_the_loop_nor_its_threads(slow):
    resolver = SystemResolver(limit=20)
    asked = [asyncio.create_task(resolver(f"slow{n}", 80)) for n in range(30)]
    while slow.under_way < 20:
        await asyncio.to_thread(lambda: None)
    assert not any(task.done() for task in asked)
    assert slow.under_way == 20  # the others wait
    slow.may_answer.set()
    assert await asyncio.gather(*asked) == [["8.8.8.8"]] * 30


async def test_who_gives_up_leaves_the_look_up_to_end_and_then_its_place(slow):
    faults: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
    resolver = SystemResolver(limit=1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await resolver("slow", 80)
    waiting = asyncio.create_task(resolver("none", 80))
    slow.may_answer.set()
    with pytest.raises(socket.gaierror):
        await waiting
    assert await resolver("next", 80) == ["8.8.8.8"]
    assert faults == []  # nothing was said to who had gone


def test_a_look_up_outlives_its_loop_in_silence(slow):
    async def give_up():
        async with asyncio.timeout(0.02):
            await SystemResolver()("slow", 80)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    slow.may_answer.set()
    for thread in threading.enumerate():
        if thread.name == "a2a-fn-look-up":
            thread.join(5)
            assert thread.daemon and not thread.is_alive()
