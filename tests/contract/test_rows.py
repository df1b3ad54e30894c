"""Rows: what a reader sees, what a condition decides, what a broken write leaves."""

from __future__ import annotations

import pytest

from a2a_fn.errors import Conflict, TooLarge
from a2a_fn.ports import ABSENT, ALWAYS, OLDER, VALUE_LIMIT, Delete, Put, Rev, Row


async def keys(rows, partition="p", **options):
    return [row.key for row in await rows.scan(partition, **options)]


async def fill(rows, *names, partition="p"):
    for name in names:
        await rows.write([Put(partition, name, name.encode())])


class TestReading:
    async def test_a_row_reads_as_it_was_put(self, rows, clock):
        expires = clock.now() + 1
        await rows.write([Put("p", "k", b"\x00\xff", order=-7, expires=expires)])
        row = await rows.get("p", "k")
        assert row == Row("k", b"\x00\xff", row.rev, order=-7, expires=expires)
        assert await rows.scan("p") == [row]

    async def test_what_is_not_there_is_none_and_empty(self, rows):
        assert await rows.get("p", "k") is None
        assert await rows.scan("p") == []

    async def test_a_key_belongs_to_its_partition(self, rows):
        await rows.write([Put("p", "k", b"1"), Put("q", "k", b"2")])
        await rows.write([Delete("p", "k")])
        assert await rows.get("p", "k") is None
        assert (await rows.get("q", "k")).value == b"2"
        assert await keys(rows, "p") == []

    async def test_keys_are_ordered_by_their_bytes(self, rows):
        in_order = ["\x00", "\x01", " ", "#", "0", "10", "2", "A", "Z", "_", "a", "a#", "aa", "~"]
        await fill(rows, *reversed(in_order))
        assert await keys(rows) == in_order
        assert await keys(rows, reverse=True) == in_order[::-1]

    async def test_a_prefix_is_taken_literally(self, rows):
        await fill(rows, "J#1", "J#2", "J", "JX", "j#1", "J%1", "J_1", "K#1")
        assert await keys(rows, prefix="J#") == ["J#1", "J#2"]
        assert await keys(rows, prefix="J%") == ["J%1"]
        assert await keys(rows, prefix="J_") == ["J_1"]
        assert await keys(rows, prefix="X") == []

    async def test_the_highest_ascii_character_can_be_a_prefix(self, rows):
        await fill(rows, "~", "\x7f", "\x7fa")
        assert await keys(rows, prefix="\x7f") == ["\x7f", "\x7fa"]

    async def test_after_is_exclusive_in_the_direction_of_travel(self, rows):
        await fill(rows, "a", "b", "c", "d")
        assert await keys(rows, after="b") == ["c", "d"]
        assert await keys(rows, after="bb") == ["c", "d"]
        assert await keys(rows, after="c", reverse=True) == ["b", "a"]
        assert await keys(rows, after="bb", reverse=True) == ["b", "a"]
        assert await keys(rows, after="") == ["a", "b", "c", "d"]
        assert await keys(rows, after="", reverse=True) == []

    async def test_fewer_rows_than_the_limit_means_that_there_are_no_more(self, rows, clock):
        for n in range(9):
            expires = clock.now() + 1 if n % 2 else None
            await rows.write([Put("p", f"k{n}", b"", expires=expires)])
        clock.forward(1)
        first = await keys(rows, limit=3)
        assert first == ["k0", "k2", "k4"]
        assert await keys(rows, limit=3, after=first[-1]) == ["k6", "k8"]
        assert await keys(rows, limit=0) == []

    async def test_large_rows_do_not_shorten_a_page(self, rows):
        for n in range(12):
            await rows.write([Put("p", f"{n:02}", bytes(VALUE_LIMIT))])
        assert await keys(rows, limit=12) == [f"{n:02}" for n in range(12)]

    async def test_a_write_that_was_answered_is_seen_by_the_next_read(self, rows):
        for n in range(50):
            await rows.write([Put("p", "k", b"%d" % n)])
            assert (await rows.get("p", "k")).value == b"%d" % n
            assert [row.value for row in await rows.scan("p")] == [b"%d" % n]


class TestConditions:
    async def test_absent_puts_where_nothing_is(self, rows):
        await rows.write([Put("p", "k", b"1", ABSENT)])
        with pytest.raises(Conflict):
            await rows.write([Put("p", "k", b"2", ABSENT)])
        assert (await rows.get("p", "k")).value == b"1"

    async def test_absent_puts_again_after_a_delete(self, rows):
        await rows.write([Put("p", "k", b"1", ABSENT)])
        await rows.write([Delete("p", "k")])
        await rows.write([Put("p", "k", b"2", ABSENT)])
        assert (await rows.get("p", "k")).value == b"2"

    async def test_rev_puts_over_the_row_that_was_read(self, rows):
        await rows.write([Put("p", "k", b"1")])
        read = await rows.get("p", "k")
        await rows.write([Put("p", "k", b"2", Rev(read.rev))])
        with pytest.raises(Conflict):
            await rows.write([Put("p", "k", b"3", Rev(read.rev))])
        assert (await rows.get("p", "k")).value == b"2"

    async def test_rev_does_not_hold_where_nothing_is(self, rows):
        await rows.write([Put("p", "k", b"1")])
        read = await rows.get("p", "k")
        await rows.write([Delete("p", "k")])
        with pytest.raises(Conflict):
            await rows.write([Put("p", "k", b"2", Rev(read.rev))])
        assert await rows.get("p", "k") is None

    async def test_a_revision_never_comes_back(self, rows):
        seen = set()
        for n in range(20):
            await rows.write([Put("p", "k", b"same"), Put("p", "other", b"same")])
            seen |= {(await rows.get("p", "k")).rev, (await rows.get("p", "other")).rev}
            if n % 3 == 0:
                await rows.write([Delete("p", "k"), Delete("p", "other")])
        assert len(seen) == 40

    async def test_older_puts_over_what_is_older_and_skips_the_rest(self, rows):
        await rows.write([Put("p", "k", b"5", OLDER, order=5)])
        await rows.write([Put("p", "k", b"4", OLDER, order=4)])
        await rows.write([Put("p", "k", b"5 again", OLDER, order=5)])
        row = await rows.get("p", "k")
        assert (row.value, row.order) == (b"5", 5)
        await rows.write([Put("p", "k", b"6", OLDER, order=6)])
        row = await rows.get("p", "k")
        assert (row.value, row.order) == (b"6", 6)

    async def test_a_skipped_change_is_no_end_of_the_write(self, rows):
        await rows.write([Put("p", "b", b"new", order=9)])
        before = await rows.get("p", "b")
        await rows.write(
            [Put("p", "a", b"1"), Put("p", "b", b"old", OLDER, order=8), Put("p", "c", b"3")]
        )
        assert await keys(rows) == ["a", "b", "c"]
        assert await rows.get("p", "b") == before

    async def test_always_puts_whatever_is_there_and_takes_its_order_along(self, rows):
        await rows.write([Put("p", "k", b"1", ALWAYS, order=9)])
        await rows.write([Put("p", "k", b"2", ALWAYS, order=3)])
        row = await rows.get("p", "k")
        assert (row.value, row.order) == (b"2", 3)

    async def test_deleting_nothing_is_no_error(self, rows):
        await rows.write([Delete("p", "k"), Put("p", "l", b"1"), Delete("q", "k")])
        assert await keys(rows) == ["l"]

    async def test_an_empty_write_does_nothing(self, rows):
        await rows.write([])
        assert await rows.scan("p") == []


class TestBrokenWrites:
    async def test_a_conflict_names_its_change_and_leaves_the_prefix_or_nothing(self, rows, atomic):
        await fill(rows, "taken", "doomed")
        with pytest.raises(Conflict) as conflict:
            await rows.write(
                [
                    Put("p", "first", b"1"),
                    Delete("p", "doomed"),
                    Put("p", "taken", b"2", ABSENT),
                    Put("p", "last", b"3"),
                ]
            )
        assert conflict.value.index == 2
        assert await keys(rows) == (["doomed", "taken"] if atomic else ["first", "taken"])
        assert (await rows.get("p", "taken")).value == b"taken"

    async def test_the_first_of_two_conflicts_is_the_one_that_is_named(self, rows):
        await fill(rows, "a", "b")
        with pytest.raises(Conflict) as conflict:
            await rows.write(
                [Put("p", "c", b""), Put("p", "b", b"", Rev(-1)), Put("p", "a", b"", ABSENT)]
            )
        assert conflict.value.index == 1

    async def test_a_value_over_the_limit_is_refused_and_nothing_is_written(self, rows):
        with pytest.raises(TooLarge, match=str(VALUE_LIMIT)):
            await rows.write([Put("p", "a", b"1"), Put("p", "k", bytes(VALUE_LIMIT + 1))])
        assert await rows.scan("p") == []
        await rows.write([Put("p", "k", bytes(VALUE_LIMIT))])
        assert len((await rows.get("p", "k")).value) == VALUE_LIMIT

    async def test_a_key_over_the_limit_is_refused_and_nothing_is_written(self, rows):
        with pytest.raises(TooLarge, match="500"):
            await rows.write([Put("p", "a", b"1"), Put("p", "k" * 501, b"")])
        assert await rows.scan("p") == []
        await rows.write([Put("p", "k" * 500, b"")])
        assert await keys(rows) == ["k" * 500]

    @pytest.mark.parametrize("key", ["", "clé", "\ud800"])
    async def test_a_key_is_ascii_and_not_empty(self, rows, key):
        with pytest.raises(ValueError, match="ASCII"):
            await rows.write([Put("p", "a", b"1"), Put("p", key, b"")])
        assert await rows.scan("p") == []

    async def test_the_same_row_twice_in_a_write_is_a_mistake(self, rows):
        with pytest.raises(ValueError, match="same row"):
            await rows.write([Put("p", "k", b"1"), Delete("p", "k")])
        assert await rows.scan("p") == []
        await rows.write([Put("p", "k", b"1"), Put("q", "k", b"2")])


class TestExpiry:
    async def test_a_row_is_gone_for_readers_at_the_very_millisecond(self, rows, clock):
        await rows.write([Put("p", "k", b"1", expires=clock.now() + 1000), Put("p", "z", b"2")])
        clock.forward(0.999)
        assert await keys(rows) == ["k", "z"]
        clock.forward(0.001)
        assert await rows.get("p", "k") is None
        assert await keys(rows) == ["z"]
        assert await keys(rows, reverse=True, prefix="k") == []

    async def test_an_expired_row_counts_as_none_for_every_condition(self, rows, clock):
        ends = clock.now() + 1000
        await rows.write([Put("p", k, b"old", order=9, expires=ends) for k in ("a", "o", "r")])
        rev = (await rows.get("p", "r")).rev
        clock.forward(1)
        await rows.write([Put("p", "a", b"new", ABSENT), Put("p", "o", b"new", OLDER, order=1)])
        with pytest.raises(Conflict):
            await rows.write([Put("p", "r", b"new", Rev(rev))])
        assert [(r.key, r.value) for r in await rows.scan("p")] == [("a", b"new"), ("o", b"new")]

    async def test_a_row_that_is_about_to_expire_still_counts(self, rows, clock):
        await rows.write([Put("p", "k", b"1", expires=clock.now() + 1)])
        with pytest.raises(Conflict):
            await rows.write([Put("p", "k", b"2", ABSENT)])

    async def test_a_put_without_an_end_makes_the_row_stay(self, rows, clock):
        await rows.write([Put("p", "k", b"1", expires=clock.now() + 1000)])
        await rows.write([Put("p", "k", b"2")])
        clock.forward(3600)
        await fill(rows, *(f"x{n}" for n in range(120)))  # gives removal its chance to be wrong
        assert (await rows.get("p", "k")).value == b"2"

    async def test_a_row_put_already_expired_is_never_seen(self, rows, clock):
        await rows.write([Put("p", "k", b"1", expires=clock.now())])
        assert await rows.get("p", "k") is None
        await rows.write([Put("p", "k", b"2", ABSENT)])
        assert (await rows.get("p", "k")).value == b"2"
