"""The bell that wakes waiting receivers."""

from __future__ import annotations

import asyncio

from a2a_fn.engines.bell import Bell


async def test_one_ring_wakes_one_listener():
    bell = Bell()
    with bell.listen() as first, bell.listen() as second:
        bell.ring()
        await first.wait(60)
        await second.wait(0)
        assert (first.heeded, second.heeded) == (True, False)


async def test_a_ring_between_the_look_and_the_wait_counts():
    bell = Bell()
    with bell.listen() as listener:
        bell.ring()
        await asyncio.sleep(0)
        await listener.wait(60)
        assert listener.heeded


async def test_a_ring_for_one_who_leaves_goes_to_the_next():
    bell = Bell()
    leaving = bell.listen()
    leaver = leaving.__enter__()
    with bell.listen() as next_one:
        bell.ring()
        leaving.__exit__(None, None, None)
        await next_one.wait(60)
        assert (leaver.heeded, next_one.heeded) == (False, True)


async def test_a_ring_that_was_heeded_goes_no_further():
    bell = Bell()
    heeding = bell.listen()
    heeder = heeding.__enter__()
    with bell.listen() as next_one:
        bell.ring()
        await heeder.wait(60)
        heeding.__exit__(None, None, None)
        await next_one.wait(0)
        assert (heeder.heeded, next_one.heeded) == (True, False)


async def test_a_listener_of_an_ended_loop_is_passed_over():
    bell = Bell()
    listening = bell.listen()

    async def listen():
        listening.__enter__()

    ended = asyncio.new_event_loop()
    await asyncio.to_thread(ended.run_until_complete, listen())
    ended.close()
    with bell.listen() as listener:
        bell.ring()
        await listener.wait(60)
        assert listener.heeded
    listening.__exit__(None, None, None)
