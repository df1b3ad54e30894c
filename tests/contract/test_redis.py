"""What is true of Redis alone: servers that fail, what is kept there, and for how long."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from tests.redis_server import running

from a2a_fn.clock import SystemClock
from a2a_fn.engines import redis_link
from a2a_fn.engines.redis import RedisRows
from a2a_fn.engines.redis_link import RedisLink
from a2a_fn.engines.redis_queue import RedisQueue
from a2a_fn.errors import Conflict, InvalidSettings, NotFound, Unavailable
from a2a_fn.ports import ABSENT, OLDER, Delete, Put

from .process import slot
from .test_races import processes, together

PROMPT = 5  # s
DAY = 86_400  # s


@pytest.fixture
async def rows(redis, clock):
    rows = RedisRows(RedisLink(redis.url, answer=1.0), clock=clock)
    yield rows
    await rows.close()


@pytest.fixture
async def queue(redis, clock):
    queue = RedisQueue(RedisLink(redis.url), "push", clock=clock, lease=60_000, max_receives=3)
    yield queue
    await queue.close()


@pytest.fixture
def own_server():
    """A server that the test may break."""
    with running() as server:
        yield server


class TestProcesses:
    async def test_of_8_writers_in_two_processes_one_wins_each_slot(self, redis):
        with processes("race", redis.url, "a", "b") as running:
            wins = together(running)
        won = [(int(n), name) for lines in wins for n, name in lines]
        assert sorted(n for n, _ in won) == list(range(1, 801))
        rows = RedisRows(RedisLink(redis.url), clock=SystemClock())
        found = {row.key: row.value.decode() for row in await rows.scan("journal")}
        await rows.close()
        assert found == {slot(n): name for n, name in won}
        assert all(wins)

    async def test_receivers_in_two_processes_never_share_a_message(self, redis):
        queue = RedisQueue(RedisLink(redis.url), "turns", clock=SystemClock())
        with processes("drain", redis.url, "a", "b") as running:
            await asyncio.gather(*(queue.send(b"%d" % n) for n in range(400)))
            lines = together(running)
        received = Counter(int(body) for each in lines for body, _ in each)
        assert received == Counter(range(400))
        assert {attempt for each in lines for _, attempt in each} == {"1"}
        assert all(lines)
        assert await queue.dead() == []
        assert redis.ask("XLEN", "turns") == 0
        await queue.close()

    async def test_a_receiver_hears_of_another_processes_send_at_once(self, redis, monkeypatch):
        monkeypatch.setattr("a2a_fn.engines.redis_queue._LOOK", 60)
        queue = RedisQueue(RedisLink(redis.url, answer=60), "turns", clock=SystemClock())
        with processes("batches", redis.url, "a") as [other]:
            waiting = asyncio.create_task(queue.receive(wait=60))
            await blocked(redis)
            other.stdin.write("go\n")
            other.stdin.flush()
            async with asyncio.timeout(PROMPT):
                [delivery] = await waiting
        assert delivery.body.startswith(b"a")
        await queue.close()

    async def test_after_a_kill_every_answered_write_is_there_and_each_batch_is_whole(self, redis):
        said = []
        for name, after in [("a", 20), ("b", 151), ("c", 600)]:
            with processes("batches", redis.url, name) as [process]:
                process.stdin.write("go\n")
                process.stdin.flush()
                lines = [process.stdout.readline() for _ in range(after)]
                process.send_signal(signal.SIGKILL)
                whole = "".join(lines) + process.stdout.read()
            said += [x.split() for x in whole.splitlines(keepends=True) if x.endswith("\n")]
        rows = RedisRows(RedisLink(redis.url), clock=SystemClock())
        for kind, batch in said:
            if kind == "rows":
                assert [row.key for row in await rows.scan(batch)] == [f"row{i}" for i in range(5)]
        counts = {redis.ask("ZCARD", key) for key in redis.ask("KEYS", "*:k")}
        assert counts == {5}
        queue = RedisQueue(RedisLink(redis.url), "turns", clock=SystemClock())
        received = {delivery.body.decode() for delivery in await queue.receive(limit=100_000)}
        assert {batch for kind, batch in said if kind == "sent"} <= received
        await asyncio.gather(rows.close(), queue.close())


class TestServers:
    async def test_a_server_that_lost_its_scripts_is_sent_them(self, redis, rows, queue):
        for n in range(3):
            await rows.write([Put("p", f"{n}", b"")])
            await queue.send(b"%d" % n)
            assert len(await queue.receive()) == 1
            redis.ask("SCRIPT", "FLUSH")
        assert [row.key for row in await rows.scan("p")] == ["0", "1", "2"]

    async def test_a_server_that_was_started_anew_is_found_again(self, own_server, clock):
        rows = RedisRows(RedisLink(own_server.url), clock=clock)
        queue = RedisQueue(RedisLink(own_server.url), "push", clock=clock)
        await rows.write([Put("p", "k", b"1")])
        await queue.send(b"1")
        [old] = await queue.receive()
        own_server.stop()
        for asked in (rows.get("p", "k"), rows.write([Put("p", "k", b"2")]), queue.receive()):
            with pytest.raises(Unavailable, match=rf"redis at 127\.0\.0\.1:{own_server.port}: "):
                await asked
        own_server.start()  # without persistence, it has forgotten everything
        await rows.write([Put("p", "k", b"3", ABSENT)])
        await queue.ack(old.handle)
        await queue.send(b"2")
        assert [delivery.body for delivery in await queue.receive()] == [b"2"]
        await asyncio.gather(rows.close(), queue.close())

    async def test_a_connection_that_was_cut_meanwhile_is_no_error(self, redis, rows):
        await rows.write([Put("p", "k", b"1")])
        for _ in range(3):
            redis.ask("CLIENT", "KILL", "TYPE", "normal")
            assert (await rows.get("p", "k")).value == b"1"  # the loop has not yet seen it cut
            redis.ask("CLIENT", "KILL", "TYPE", "normal")
            for _ in range(5):  # now it has
                await asyncio.sleep(0)
            await rows.write([Put("p", "k", b"1")])

    async def test_a_frozen_server_is_unavailable_in_time_and_may_do_it_later(
        self, own_server, clock
    ):
        rows = RedisRows(RedisLink(own_server.url, answer=0.2), clock=clock)
        await rows.write([Put("p", "k", b"1")])
        own_server.freeze()
        begun = time.monotonic()
        for asked in (rows.write([Put("p", "k", b"2")]), rows.get("p", "k")):
            with pytest.raises(Unavailable, match="Timeout"):
                await asked
        fresh = RedisRows(RedisLink(own_server.url, answer=0.2), clock=clock)
        with pytest.raises(Unavailable):
            await fresh.get("p", "k")
        assert time.monotonic() - begun < PROMPT
        own_server.thaw()
        assert (await rows.get("p", "k")).value == b"2"
        await asyncio.gather(rows.close(), fresh.close())

    async def test_a_write_is_sent_once_whatever_happens(self, own_server, clock):
        rows = RedisRows(RedisLink(own_server.url, answer=0.2), clock=clock)
        await rows.write([Put("p", "other", b"")])
        own_server.freeze()
        with pytest.raises(Unavailable):
            await rows.write([Put("p", "k", b"1", ABSENT)])
        own_server.thaw()
        stats = own_server.ask("INFO", "commandstats")
        writes = stats["cmdstat_evalsha"]["calls"] + stats["cmdstat_eval"]["calls"]
        assert writes == 3  # unknown script, the first write, the second
        assert (await rows.get("p", "k")).value == b"1"
        await rows.close()

    async def test_a_full_server_takes_all_of_a_write_or_nothing(self, own_server, clock):
        rows = RedisRows(RedisLink(own_server.url), clock=clock)
        await rows.write([Put("p", "a", b"1"), Put("p", "b", b"1")])
        own_server.ask("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(Unavailable, match="maxmemory"):
            await rows.write([Put("p", "a", b"2"), Put("p", "c", b"2")])
        assert [(row.key, row.value) for row in await rows.scan("p")] == [
            ("a", b"1"),
            ("b", b"1"),
        ]
        await rows.close()

    async def test_a_replica_is_never_read(self, own_server, clock):
        rows = RedisRows(RedisLink(own_server.url), clock=clock)
        await rows.write([Put("p", "k", b"1")])
        own_server.ask("REPLICAOF", "127.0.0.1", 1)
        replica = RedisRows(RedisLink(own_server.url), clock=clock)
        with pytest.raises(Unavailable, match="name the primary"):
            await replica.get("p", "k")
        with pytest.raises(Unavailable, match="read only replica"):
            await rows.write([Put("p", "k", b"2")])
        with pytest.raises(Unavailable, match="name the primary"):  # it has learned of it
            await rows.get("p", "k")
        own_server.ask("REPLICAOF", "NO", "ONE")
        assert (await rows.get("p", "k")).value == b"1"
        await asyncio.gather(rows.close(), replica.close())

    async def test_a_server_that_is_busy_or_loads_is_unavailable(self, own_server, clock):
        rows = RedisRows(RedisLink(own_server.url), clock=clock)
        own_server.ask("CONFIG", "SET", "lua-time-limit", "1")
        busy = asyncio.create_subprocess_exec(
            *("redis-cli", "-p", f"{own_server.port}", "EVAL", "while true do end", "0"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        program = await busy
        async with asyncio.timeout(PROMPT):
            with pytest.raises(Unavailable, match="busy"):
                while True:
                    await rows.get("p", "k")
        own_server.ask("SCRIPT", "KILL")
        await program.wait()
        assert await rows.get("p", "k") is None
        await rows.close()


class TestLink:
    async def test_a_password_is_never_said(self, own_server, clock):
        own_server.ask("CONFIG", "SET", "requirepass", "right")
        for secret in (":hunter2@", "ann:hunter2@", "hunter2@"):
            url = own_server.url.replace("//", f"//{secret}")
            rows = RedisRows(RedisLink(url), clock=clock)
            with pytest.raises(Unavailable, match=r"password|auth") as caught:
                await rows.get("p", "k")
            shown = f"{caught.value} {caught.value.__cause__!r} {rows!r} {rows._link!r}"
            assert "hunter2" not in shown
            assert "ann" not in str(caught.value)
            await rows.close()
        url = own_server.url.replace("//", "//:right@")
        rows = RedisRows(RedisLink(url), clock=clock)
        assert await rows.get("p", "k") is None
        await rows.close()

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "127.0.0.1:6379",
            "http://127.0.0.1",
            "redis://:hunter2/x@127.0.0.1:6379",
            "redis://:hunter2#x@127.0.0.1:6379/0",
            "redis://127.0.0.1:99999",
            "redis://127.0.0.1/hunter2",
            "redis://127.0.0.1/?cluster=hunter2",
        ],
    )
    def test_a_url_that_is_none_is_said_to_be_without_being_said(self, url):
        with pytest.raises(InvalidSettings, match="redis://user:password@host:6379/0") as caught:
            RedisLink(url)
        assert "hunter2" not in str(caught.value)
        assert caught.value.__cause__ is None

    async def test_an_option_that_redis_py_has_not_is_a_matter_of_settings(self, redis):
        with pytest.raises(InvalidSettings, match="options in the URL"):
            await RedisLink(f"{redis.url}?colour=red").read("PING")
        with pytest.raises(InvalidSettings, match="options in the URL"):
            await RedisLink(f"{redis.url}?socket_timeout=red").read("PING")

    async def test_without_the_package_the_extra_is_named(self, redis, monkeypatch):
        monkeypatch.setitem(sys.modules, "redis", None)
        rows = RedisRows(RedisLink(redis.url), clock=SystemClock())
        for asked in (rows.get("p", "k"), rows.scan("p"), rows.write([Put("p", "k", b"")])):
            with pytest.raises(InvalidSettings, match=r"pip install 'a2a-fn\[redis\]'"):
                await asked

    async def test_a_thousand_commands_at_once_share_a_few_connections(self, redis, rows):
        await rows.write([Put("p", "k", b"1")])
        found = await asyncio.gather(*(rows.get("p", "k") for _ in range(1000)))
        assert {row.value for row in found} == {b"1"}
        assert 1 < len(connections(redis)) <= redis_link.LANES

    def test_each_event_loop_has_connections_of_its_own(self, redis, clock):
        rows = RedisRows(RedisLink(redis.url), clock=clock)

        async def use(n):
            await rows.write([Put("p", f"{n}", b"")])
            await rows.close()

        for n in range(3):
            asyncio.run(use(n))

        async def read():
            found = await rows.scan("p")
            await rows.close()
            return [row.key for row in found]

        assert asyncio.run(read()) == ["0", "1", "2"]

    async def test_after_a_long_silence_connections_are_new(self, redis, rows, monkeypatch):
        await rows.get("p", "k")
        before = connections(redis)
        await rows.get("p", "k")
        assert connections(redis) == before
        monkeypatch.setattr(redis_link, "IDLE", -1)
        await rows.get("p", "k")
        assert not connections(redis) & before

    async def test_a_cancelled_command_spoils_no_answer(self, redis, rows):
        for n in range(200):
            await rows.write([Put("p", f"{n}", b"%d" % n)])
        for n in range(200):
            asked = asyncio.create_task(rows.get("p", f"{n}"))
            for _ in range(n % 9):
                await asyncio.sleep(0)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            assert (await rows.get("p", f"{n}")).value == b"%d" % n


class TestRows:
    async def test_every_ascii_byte_can_stand_in_keys_and_partitions(self, redis, rows):
        names = (
            [chr(n) for n in range(128)] + [f"{{{chr(n)}}}" for n in range(128)] + ["a}b{c}", "%7D"]
        )
        for name in names:
            await rows.write([Put(name, other, name.encode()) for other in names])
        assert redis.ask("DBSIZE") == 2 * len(names)
        for name in names:
            found = await rows.scan(name)
            assert [row.key for row in found] == sorted(names)
            assert {row.value for row in found} == {name.encode()}

    async def test_a_partition_of_ten_thousand_rows(self, rows, clock):
        ends = clock.now() + 1000
        for n in range(0, 10_000, 500):
            await rows.write(
                [
                    Put("p", f"{m:05}", b"%d" % m, expires=ends if m % 3 else None)
                    for m in range(n, n + 500)
                ]
            )
        found = await rows.scan("p", limit=20_000)
        assert [row.value for row in found] == [b"%d" % m for m in range(10_000)]
        clock.forward(1)
        found = await rows.scan("p", limit=2_000, after="03000", reverse=True)
        assert [row.value for row in found] == [b"%d" % m for m in range(2997, -1, -3)]
        found = await rows.scan("p", limit=2_000, prefix="0", after="03")
        assert [row.value for row in found] == [b"%d" % m for m in range(3000, 9000, 3)]

    async def test_orders_are_compared_to_their_last_bit(self, rows):
        for low, high in [
            (-(1 << 63), -(1 << 63) + 1),
            (-1, 0),
            ((1 << 32) - 1, 1 << 32),
            (1 << 53, (1 << 53) + 1),
            ((1 << 63) - 2, (1 << 63) - 1),
        ]:
            await rows.write([Put("p", "k", b"low", order=low)])
            await rows.write([Put("p", "k", b"high", OLDER, order=high)])
            await rows.write([Put("p", "k", b"low again", OLDER, order=low)])
            row = await rows.get("p", "k")
            assert (row.value, row.order) == (b"high", high)
        for order in (1 << 63, -(1 << 63) - 1):
            with pytest.raises(ValueError, match="64 bits"):
                await rows.write([Put("p", "a", b""), Put("p", "b", b"", order=order)])
        assert await rows.get("p", "a") is None

    async def test_what_was_done_and_what_was_skipped_is_told(self, rows):
        await rows.write([Put("p", "b", b"", order=5)])
        done = await rows.apply(
            [Put("p", "a", b""), Put("p", "b", b"", OLDER, order=5), Delete("p", "nothing")]
        )
        assert done == [True, False, True]

    async def test_revisions_grow_over_the_end_of_a_partition(self, redis, rows, clock):
        last = 0
        for n in range(6):
            await rows.write([Put("p", "k", b""), Put("p", "l", b"")])
            revs = [row.rev for row in await rows.scan("p")]
            assert last < revs[0] < revs[1]
            last = revs[1]
            await rows.write([Delete("p", "k"), Delete("p", "l")])
            if n == 3:  # the last revision is forgotten after a day
                assert redis.ask("PTTL", "a2a-fn:{p}:v") > (DAY - 60) * 1000
                redis.ask("FLUSHALL")
                clock.forward(DAY)

    async def test_ended_rows_are_removed_by_later_writes_a_few_at_a_time(self, redis, rows, clock):
        ends = clock.now() + 1000
        await rows.write([Put("p", f"{n}", b"", expires=ends) for n in range(50)])
        clock.forward(1 + 299)
        await rows.write([Put("p", "stays", b"")])
        assert redis.ask("ZCARD", "a2a-fn:{p}:k") == 51  # another clock may be behind
        clock.forward(1)
        left = []
        for _ in range(4):
            await rows.write([Put("p", "stays", b"")])
            left.append(redis.ask("ZCARD", "a2a-fn:{p}:k"))
        assert left == [31, 11, 1, 1]
        assert redis.ask("HLEN", "a2a-fn:{p}:v") == 2
        assert redis.ask("EXISTS", "a2a-fn:{p}:x") == 0

    async def test_a_partition_in_which_all_rows_end_ends_by_itself(self, redis, rows, clock):
        def left():
            return [redis.ask("PTTL", f"a2a-fn:{{p}}:{key}") / 1000 for key in "kvx"]

        await rows.write([Put("p", n, b"", expires=clock.now() + 9_000_000) for n in "ab"])
        await rows.write([Put("p", "b", b"", expires=clock.now() + 7_000_000)])
        assert left() == pytest.approx([9_000 + DAY] * 3, abs=60)
        await rows.write([Put("p", "c", b"")])
        assert left() == [-0.001, -0.001, -0.001]  # never
        await rows.write([Delete("p", "c")])
        assert left() == pytest.approx([9_000 + DAY] * 3, abs=60)
        await rows.write([Put("p", "a", b"", expires=1 << 62), Put("p", "b", b"", expires=-1)])
        assert min(left()) > DAY
        assert [row.key for row in await rows.scan("p")] == ["a"]

    async def test_one_server_serves_several_prefixes(self, redis, rows, clock):
        other = RedisRows(RedisLink(redis.url), clock=clock, prefix="other:")
        await rows.write([Put("p", "k", b"1")])
        assert await other.get("p", "k") is None
        await other.write([Put("p", "k", b"2", ABSENT)])
        assert (await rows.get("p", "k")).value == b"1"
        await other.close()
        with pytest.raises(ValueError, match="braces"):
            RedisRows(RedisLink(redis.url), clock=clock, prefix="{all}:")

    async def test_on_a_cluster_a_conflict_leaves_the_groups_before_it(self, redis_cluster, clock):
        for kind in ("yes", "proxy"):
            redis_cluster.ask("FLUSHALL")
            url = f"{redis_cluster.url}?cluster={kind}"
            rows = RedisRows(RedisLink(url), clock=clock)
            await rows.write([Put("b", "taken", b"")])
            with pytest.raises(Conflict) as caught:
                await rows.write(
                    [
                        Put("a", "1", b""),
                        Put("a", "2", b""),
                        Put("b", "1", b""),
                        Put("b", "taken", b"", ABSENT),
                        Put("a", "3", b""),
                    ]
                )
            assert caught.value.index == 3
            assert [row.key for row in await rows.scan("a")] == ["1", "2"]
            assert [row.key for row in await rows.scan("b")] == ["taken"]
            await rows.close()

    async def test_without_cluster_in_its_url_a_cluster_says_what_is_wrong(
        self, redis_cluster, clock
    ):
        rows = RedisRows(RedisLink(redis_cluster.url), clock=clock)
        with pytest.raises(Unavailable, match=r"CROSSSLOT|same slot"):
            await rows.write([Put("a", "1", b""), Put("b", "1", b"")])
        await rows.close()


class TestQueue:
    async def test_the_names_are_those_that_are_given(self, redis, clock):
        queue = RedisQueue(
            RedisLink(redis.url),
            "iac-code:a2a:push",
            clock=clock,
            retry_key="iac-code:a2a:push:retry",
            dead_stream="iac-code:a2a:push:dead",
            group="iac-code-push",
            consumer="me",
            lease=1000,
            max_receives=1,
        )
        await queue.send(b"1")
        await queue.send(b"later", delay=10)
        await queue.receive()
        pending = redis.ask("XPENDING", "iac-code:a2a:push", "iac-code-push")
        assert pending["pending"] == 1
        assert pending["consumers"] == [{"name": b"me", "pending": 1}]
        assert redis.ask("ZCARD", "iac-code:a2a:push:retry") == 2
        clock.forward(1)
        assert len(await queue.dead()) == 1
        assert redis.ask("XLEN", "iac-code:a2a:push:dead") == 1
        await queue.close()

    async def test_what_is_done_leaves_nothing_behind(self, redis, queue, clock):
        for n in range(300):
            await queue.send(b"%d" % n, delay=n % 2)
        clock.forward(1)
        for n in range(2):
            for delivery in await queue.receive(limit=300):
                if n or delivery.body[-1:] in b"0123456":
                    await queue.ack(delivery.handle)
            clock.forward(60)
        assert redis.ask("XLEN", "push") == 0
        assert redis.ask("XPENDING", "push", "a2a-fn")["pending"] == 0
        assert redis.ask("EXISTS", "push:retry", "push:dead") == 0

    async def test_a_waiting_receiver_finds_an_ended_lease_on_a_quiet_stream(self, queue, clock):
        await queue.send(b"1")
        await queue.receive()
        waiting = asyncio.create_task(queue.receive(wait=60))
        await asyncio.sleep(0)
        clock.forward(60)
        async with asyncio.timeout(PROMPT):
            [delivery] = await waiting
        assert delivery.attempt == 2

    async def test_due_messages_come_when_they_are_due_and_not_at_the_next_look(
        self, redis, monkeypatch
    ):
        monkeypatch.setattr("a2a_fn.engines.redis_queue._LOOK", 60)
        queue = RedisQueue(RedisLink(redis.url, answer=60), "push", clock=SystemClock())
        await queue.send(b"1", delay=0.1)
        async with asyncio.timeout(PROMPT):
            assert len(await queue.receive(wait=60)) == 1
        await queue.close()

    async def test_consumers_that_are_gone_are_removed_unless_they_hold_something(
        self, redis, queue, clock, monkeypatch
    ):
        monkeypatch.setattr("a2a_fn.engines.redis_queue._GONE", -1)
        link = RedisLink(redis.url)
        for name in ("holder", "idle"):
            await queue.send(name.encode())
            consumer = RedisQueue(link, "push", clock=clock, consumer=name)
            [delivery] = await consumer.receive()
        await consumer.ack(delivery.handle)
        assert consumers(redis) == {b"holder", b"idle"}
        assert await RedisQueue(link, "push", clock=clock, consumer="new").receive() == []
        assert consumers(redis) - {b"new"} == {b"holder"}
        clock.forward(60)
        [again] = await RedisQueue(link, "push", clock=clock, consumer="new").receive()
        assert again.attempt == 2
        await link.close()

    async def test_close_takes_the_consumer_off_unless_it_holds_something(self, redis, queue):
        await queue.send(b"1")
        [delivery] = await queue.receive()
        await queue.close()
        assert len(consumers(redis)) == 1
        await queue.receive()
        await queue.ack(delivery.handle)
        await queue.close()
        assert consumers(redis) == set()

    async def test_messages_of_others_go_to_the_dead_stream_as_they_are(self, redis, queue):
        redis.ask("XADD", "push", "*", "job", "{}", "attempt", "many")
        await queue.send(b"ours")
        assert [d.body for d in await queue.receive(limit=9)] == [b"ours"]
        assert redis.ask("XLEN", "push") == 1
        [letter] = await queue.dead()
        assert (letter.body, letter.attempt) == (b"", 0)
        [[_, fields]] = redis.ask("XRANGE", "push:dead", "-", "+")
        assert dict_of(fields) == {"job": b"{}", "attempt": b"many"}
        await queue.ack(letter.handle)
        assert await queue.dead() == []

    async def test_a_queue_that_was_emptied_by_hand_goes_on(self, redis, queue, clock):
        await queue.send(b"1")
        [gone] = await queue.receive()
        redis.ask("DEL", "push")
        clock.forward(60)
        await queue.send(b"2")
        assert [d.body for d in await queue.receive(limit=9)] == [b"2"]
        redis.ask("FLUSHALL")
        await queue.ack(gone.handle)
        with pytest.raises(NotFound):
            await queue.extend(gone.handle, 60)
        await queue.send(b"3")
        assert [d.body for d in await queue.receive(limit=9)] == [b"3"]

    async def test_three_keys_that_cannot_do_are_refused(self, redis, clock):
        link = RedisLink(redis.url)
        with pytest.raises(InvalidSettings, match="must differ"):
            RedisQueue(link, "push", clock=clock, retry_key="push")
        cluster = RedisLink(f"{redis.url}?cluster=yes")
        with pytest.raises(InvalidSettings, match="one hash tag"):
            RedisQueue(cluster, "push", clock=clock)
        RedisQueue(cluster, "{push}", clock=clock)
        RedisQueue(cluster, "a{push}", clock=clock, retry_key="{push}b", dead_stream="x{push}y")


def dict_of(fields):
    """What RESP2 gives as a list of names and values, or the client has made a dict of."""
    if isinstance(fields, dict):
        return {str(k, "ascii") if isinstance(k, bytes) else k: v for k, v in fields.items()}
    return {str(k, "ascii"): v for k, v in zip(fields[::2], fields[1::2], strict=True)}


def consumers(server):
    """The names of the group's consumers."""
    return {dict_of(each)["name"] for each in server.ask("XINFO", "CONSUMERS", "push", "a2a-fn")}


def connections(server):
    """The ids of a server's connections, but for the one that asks."""
    lines = server.ask("CLIENT", "LIST", "TYPE", "normal").decode().splitlines()
    return {line.split()[0] for line in lines if "cmd=client" not in line}


async def blocked(server):
    """Return once a receiver waits in the server."""
    while server.ask("INFO", "clients")["blocked_clients"] == 0:
        await asyncio.sleep(0)
