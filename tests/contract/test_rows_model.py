"""Rows against a model that is too simple to be wrong: a dict, and ``sorted`` over all of it."""

from __future__ import annotations

from itertools import count

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from a2a_fn.errors import Conflict
from a2a_fn.ports import ABSENT, ALWAYS, OLDER, Delete, Put, Rev

# The engine lives through all examples of a test; each example has a partition of its own.
partitions = (f"example{n}" for n in count())
shared = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

# Few characters, so that keys, prefixes and cursors meet; the ends of ASCII are among them.
names = st.text("\x00#ab~\x7f", max_size=3)
keys = names.filter(bool)


@shared
@given(
    present=st.dictionaries(keys, st.booleans(), max_size=12),
    prefix=names,
    after=st.none() | names,
    limit=st.integers(0, 6) | st.just(1000),
    reverse=st.booleans(),
)
@example(present={"a": False, "b": False}, prefix="b", after="a", limit=9, reverse=False)
@example(present={"a": False, "b": False}, prefix="a", after="b", limit=9, reverse=True)
@example(present={"a": False, "ab": False}, prefix="a", after="ab", limit=9, reverse=False)
async def test_scan(rows, clock, present, prefix, after, limit, reverse):
    partition = next(partitions)
    for key, expired in present.items():
        await rows.write([Put(partition, key, b"v", expires=clock.now() if expired else None)])

    expected = sorted(
        (key for key, expired in present.items() if not expired and key.startswith(prefix)),
        key=str.encode,
        reverse=reverse,
    )
    if after is not None:
        expected = [k for k in expected if (k < after if reverse else k > after)]
    found = await rows.scan(partition, prefix=prefix, after=after, limit=limit, reverse=reverse)
    assert [row.key for row in found] == expected[:limit]


conditions = st.sampled_from(["always", "absent", "older", "rev", "wrong rev"])
change = st.tuples(keys, st.one_of(st.just("delete"), conditions), st.integers(0, 4))
writes = st.lists(
    st.lists(change, min_size=1, max_size=4, unique_by=lambda change: change[0]), max_size=12
)


@shared
@given(writes=writes)
async def test_write(rows, atomic, writes):
    partition, values = next(partitions), count()
    model: dict[str, tuple[bytes, int]] = {}
    for write in writes:
        changes = []
        for key, kind, order in write:
            there = await rows.get(partition, key)
            rev = there.rev if there else 0
            when = {"absent": ABSENT, "older": OLDER, "rev": Rev(rev), "wrong rev": Rev(rev - 1)}
            value = b"%d" % next(values)
            changes.append(
                Delete(partition, key)
                if kind == "delete"
                else Put(partition, key, value, when.get(kind, ALWAYS), order)
            )
        expected, broken_at = after(model, changes, write)
        try:
            await rows.write(changes)
            assert broken_at is None
        except Conflict as conflict:
            assert conflict.index == broken_at
            expected = model if atomic else expected
        model = expected
        found = {row.key: (row.value, row.order) for row in await rows.scan(partition)}
        assert found == model


def after(model, changes, write):
    """The model after the changes, and the index of the one that stopped them."""
    model = dict(model)
    for index, (change, (key, kind, order)) in enumerate(zip(changes, write, strict=True)):
        there = model.get(key)
        if kind == "delete":
            model.pop(key, None)
        elif (kind == "absent" and there) or (kind == "rev" and not there) or kind == "wrong rev":
            return model, index
        elif not (kind == "older" and there and there[1] >= order):
            model[key] = (change.value, order)
    return model, None
