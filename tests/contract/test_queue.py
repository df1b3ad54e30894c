"""Queue: when a message comes, how often, and who may still speak for it."""

from __future__ import annotations

import asyncio
import random

import pytest

from a2a_fn.errors import NotFound, TooLarge

PROMPT = 5  # s; how long a test waits for what should come at once


def bodies(deliveries):
    return sorted(delivery.body for delivery in deliveries)


async def one(queue, **options):
    [delivery] = await queue.receive(**options)
    return delivery


class TestReceiving:
    async def test_a_message_is_received_as_it_was_sent(self, queue):
        await queue.send(b"\x00\xff")
        delivery = await one(queue)
        assert (delivery.body, delivery.attempt) == (b"\x00\xff", 1)

    async def test_an_empty_queue_answers_at_once(self, queue):
        async with asyncio.timeout(PROMPT):
            assert await queue.receive() == []

    async def test_at_most_limit_messages_come_at_once(self, queue):
        for n in range(5):
            await queue.send(b"%d" % n)
        first, second, third = [await queue.receive(limit=2) for _ in range(3)]
        assert [len(first), len(second), len(third)] == [2, 2, 1]
        assert bodies(first + second + third) == [b"0", b"1", b"2", b"3", b"4"]

    async def test_the_same_body_twice_is_two_messages(self, queue):
        await queue.send(b"same")
        await queue.send(b"same")
        received = await queue.receive(limit=9)
        assert bodies(received) == [b"same", b"same"]
        assert len({delivery.handle for delivery in received}) == 2

    async def test_a_body_over_the_limit_is_refused(self, queue):
        await queue.send(bytes(32 * 1024))
        with pytest.raises(TooLarge, match="32768"):
            await queue.send(bytes(32 * 1024 + 1))
        assert [len(delivery.body) for delivery in await queue.receive(limit=9)] == [32 * 1024]

    async def test_waiting_ends_empty_when_nothing_comes(self, queue):
        async with asyncio.timeout(PROMPT):
            assert await queue.receive(wait=0.05) == []

    async def test_a_waiting_receiver_gets_what_is_sent_meanwhile(self, queue):
        waiting = asyncio.create_task(queue.receive(wait=60))
        await asyncio.sleep(0)
        await queue.send(b"1")
        async with asyncio.timeout(PROMPT):
            assert bodies(await waiting) == [b"1"]

    async def test_a_waiting_receiver_gets_what_becomes_due(self, queue, clock):
        await queue.send(b"1", delay=10)
        waiting = asyncio.create_task(queue.receive(wait=60))
        await asyncio.sleep(0)
        clock.forward(10)
        async with asyncio.timeout(PROMPT):
            assert bodies(await waiting) == [b"1"]

    async def test_each_waiting_receiver_gets_a_message_of_its_own(self, queue):
        waiting = [asyncio.create_task(queue.receive(wait=60)) for _ in range(8)]
        await asyncio.sleep(0)
        await asyncio.gather(*(queue.send(b"%d" % n) for n in range(8)))
        async with asyncio.timeout(PROMPT):
            received = [delivery for [delivery] in await asyncio.gather(*waiting)]
        assert bodies(received) == [b"%d" % n for n in range(8)]

    async def test_a_receiver_that_gives_up_loses_nothing(self, queue):
        for n in range(20):
            waiting = asyncio.create_task(queue.receive(wait=60))
            for _ in range(n % 5):
                await asyncio.sleep(0)
            sending = asyncio.create_task(queue.send(b"%d" % n))
            for _ in range(n % 7):
                await asyncio.sleep(0)
            waiting.cancel()
            await sending
            [result] = await asyncio.gather(waiting, return_exceptions=True)
            received = result if isinstance(result, list) else await queue.receive(wait=PROMPT)
            assert [(d.body, d.attempt) for d in received] == [(b"%d" % n, 1)]
            await queue.ack(received[0].handle)


class TestDelay:
    async def test_a_message_comes_no_sooner_than_its_delay(self, queue, clock):
        await queue.send(b"later", delay=10)
        await queue.send(b"now")
        assert bodies(await queue.receive(limit=9)) == [b"now"]
        clock.forward(9.999)
        assert await queue.receive() == []
        clock.forward(0.001)
        assert bodies(await queue.receive()) == [b"later"]


class TestTimeOut:
    async def test_a_received_message_is_invisible_until_its_time_out(self, queue, clock):
        await queue.send(b"1")
        await one(queue)
        clock.forward(59.999)
        assert await queue.receive() == []
        clock.forward(0.001)
        assert (await one(queue)).attempt == 2

    async def test_an_acked_message_never_comes_again(self, queue, clock):
        await queue.send(b"1")
        await queue.ack((await one(queue)).handle)
        clock.forward(3600)
        assert await queue.receive() == []
        assert await queue.dead() == []

    async def test_acking_twice_is_no_error(self, queue):
        await queue.send(b"1")
        await queue.send(b"2")
        first = await one(queue)
        await queue.ack(first.handle)
        await queue.ack(first.handle)
        assert len(await queue.receive(limit=9)) == 1

    async def test_extending_counts_from_now(self, queue, clock):
        await queue.send(b"1")
        handle = (await one(queue)).handle
        clock.forward(50)
        handle = await queue.extend(handle, 30)
        clock.forward(29)
        assert await queue.receive() == []
        handle = await queue.extend(handle, 120)
        clock.forward(119)
        assert await queue.receive() == []
        clock.forward(1)
        assert (await one(queue)).attempt == 2

    async def test_only_the_handle_that_extend_returned_is_good(self, queue, clock):
        await queue.send(b"1")
        old = (await one(queue)).handle
        new = await queue.extend(old, 60)
        with pytest.raises(NotFound):
            await queue.extend(old, 60)
        await queue.ack(old)
        clock.forward(59)
        await queue.ack(new)
        clock.forward(60)
        assert await queue.receive() == []

    async def test_extending_by_nothing_gives_the_message_back(self, queue):
        await queue.send(b"1")
        await queue.extend((await one(queue)).handle, 0)
        assert (await one(queue)).attempt == 2

    async def test_a_handle_that_timed_out_cannot_be_extended(self, queue, clock):
        await queue.send(b"1")
        handle = (await one(queue)).handle
        clock.forward(60)
        with pytest.raises(NotFound):
            await queue.extend(handle, 60)
        assert (await one(queue)).attempt == 2

    async def test_a_stale_handle_cannot_touch_the_next_receivers_message(self, queue, clock):
        await queue.send(b"1")
        stale = (await one(queue)).handle
        clock.forward(60)
        fresh = (await one(queue)).handle
        assert fresh != stale
        await queue.ack(stale)
        with pytest.raises(NotFound):
            await queue.extend(stale, 3600)
        clock.forward(60)
        assert (await one(queue)).attempt == 3  # neither removed nor kept hidden by the stale one

    @pytest.mark.parametrize("handle", ["", "1", "1.x", "x.1", "1.1.1", "9" * 40 + ".1", "-1.1"])
    async def test_a_handle_that_no_queue_gave_is_no_longer_good(self, queue, handle):
        await queue.send(b"1")
        await queue.receive()
        await queue.ack(handle)
        with pytest.raises(NotFound):
            await queue.extend(handle, 60)


class TestDeadLetters:
    async def exhaust(self, queue, clock, receipts=3):
        for attempt in range(1, receipts + 1):
            received = await queue.receive(limit=9)
            assert [delivery.attempt for delivery in received] == [attempt] * len(received)
            clock.forward(60)

    async def test_after_the_last_receipt_a_message_is_dead(self, queue, clock):
        await queue.send(b"1")
        await self.exhaust(queue, clock)
        assert await queue.receive() == []
        assert [(d.body, d.attempt) for d in await queue.dead()] == [(b"1", 3)]

    async def test_it_is_not_dead_while_the_last_receiver_has_it(self, queue, clock):
        await queue.send(b"1")
        await self.exhaust(queue, clock, receipts=2)
        last = await one(queue)
        clock.forward(59)
        assert await queue.dead() == []
        last_handle = await queue.extend(last.handle, 60)
        clock.forward(59)
        assert await queue.dead() == []
        await queue.ack(last_handle)
        clock.forward(60)
        assert await queue.dead() == []

    async def test_dead_letters_stay_oldest_first_until_they_are_acked(self, queue, clock):
        for n in range(4):
            await queue.send(b"%d" % n)
        await self.exhaust(queue, clock)
        assert await queue.receive(limit=9) == []
        assert [d.body for d in await queue.dead()] == [b"0", b"1", b"2", b"3"]
        assert [d.body for d in await queue.dead(limit=2)] == [b"0", b"1"]
        await queue.ack((await queue.dead())[1].handle)
        clock.forward(3600)
        assert [d.body for d in await queue.dead()] == [b"0", b"2", b"3"]

    async def test_the_last_receivers_handle_is_not_good_for_the_dead_letter(self, queue, clock):
        await queue.send(b"1")
        await self.exhaust(queue, clock, receipts=2)
        late = (await one(queue)).handle
        clock.forward(60)
        assert len(await queue.dead()) == 1
        await queue.ack(late)
        assert len(await queue.dead()) == 1

    async def test_dead_letters_do_not_keep_the_living_back(self, queue, clock):
        for n in range(300):
            await queue.send(b"dead %d" % n)
        for _ in range(3):
            assert len(await queue.receive(limit=300)) == 300
            clock.forward(60)
        await queue.send(b"alive")
        async with asyncio.timeout(PROMPT):
            assert bodies(await queue.receive(wait=60)) == [b"alive"]
        assert len(await queue.dead(limit=1000)) == 300


async def test_whatever_receivers_do_no_message_is_lost(make_queue, clock):
    queue = make_queue(visible_after=10, max_receives=4)
    choose = random.Random(7)
    sent = {b"%d" % n for n in range(200)}
    for body in sent:
        await queue.send(body, delay=choose.choice([0, 0, 5, 30]))
    done, receipts = set(), dict.fromkeys(sent, 0)
    handles = []
    for _ in range(400):
        for delivery in await queue.receive(limit=choose.randint(1, 9)):
            assert delivery.body not in done
            receipts[delivery.body] += 1
            assert delivery.attempt == receipts[delivery.body]
            match choose.choice(["ack", "ack", "extend", "forget", "late"]):
                case "ack":
                    await queue.ack(delivery.handle)
                    done.add(delivery.body)
                case "extend":
                    handles.append(await queue.extend(delivery.handle, choose.choice([0, 20])))
                case "late":
                    handles.append(delivery.handle)
        clock.forward(choose.choice([0, 0, 4, 11]))
        if handles and choose.random() < 0.3:
            handle = handles.pop(choose.randrange(len(handles)))
            try:
                await queue.extend(handle, 15)
            except NotFound:
                await queue.ack(handle)  # no longer good: nothing may happen
    dead = {delivery.body: delivery.attempt for delivery in await queue.dead(limit=1000)}
    assert done | dead.keys() == sent
    assert not done & dead.keys()
    assert set(dead.values()) == {4}
