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
    with bell.listen(), bell.listen() as second, bell.listen() as third:
        bell.ring()
    # The first left last: with nobody else there, its ring is gone and not kept.
    assert (second.heeded, third.heeded) == (False, False)
    with bell.listen() as stays:
        with bell.listen() as leaves:
            bell.ring(2)
            assert not leaves.heeded
        await stays.wait(60)
        assert stays.heeded


async def test_a_listener_of_an_ended_loop_is_passed_over():
    bell = Bell()
    ended = asyncio.new_event_loop()

    async def listen():
        return bell.listen().__enter__()

    await asyncio.to_thread(lambda: ended.run_until_complete(listen()))
    ended.close()
    with bell.listen() as listener:
        bell.ring()
        await listener.wait(60)
        assert listener.heeded
