"""Lists of tasks, newest status first: by owner, by owner and state, or by context.

The index says where to look, the head decides (rule 28). A task that moves while it is listed is
listed all the same: its old row stands for it.
"""

from __future__ import annotations

import asyncio
import json
from typing import NamedTuple

from ..ports import Delete, Row
from . import heads, index
from .fold import Head
from .journal import Journal

COUNT_LIMIT = 200  # a list is counted up to here; beyond, the total is "at least"


class Query(NamedTuple):
    """Whose tasks, and which: ``state`` 0 for any; ``since`` in ms, inclusive."""

    owner: str
    context_id: str = ""
    state: int = 0
    since: int = 0


class Cursor(NamedTuple):
    """Where a listing goes on: past row ``key``; ``total`` as counted for its first page."""

    key: str
    total: int


class Page(NamedTuple):
    """Heads in order, where the next page begins (None: this was the last), and how many tasks
    there are in all (at least, from ``COUNT_LIMIT`` on)."""

    heads: tuple[Head, ...]
    next: Cursor | None
    total: int


async def page(journal: Journal, query: Query, size: int, cursor: Cursor | None) -> Page:
    """One page of a listing."""
    if query.context_id:
        return await _of_context(journal, query, size, cursor)
    return await _of_owner(journal, query, size, cursor)


async def _of_context(journal: Journal, query: Query, size: int, cursor: Cursor | None) -> Page:
    part = journal.ids.partition(query.owner, query.context_id)
    found: list[tuple[str, Head]] = []
    after: str | None = None
    while True:
        rows = await journal.rows.scan(heads.partition(part), prefix=heads.TASKS, after=after)
        for row in rows:
            head = heads.decode_head(await journal.cells.unpack(row.value))
            if head.listed and query.state in (0, head.state) and head.status_time >= query.since:
                found.append((index.key(head.status_time, head.task.id), head))
        if len(rows) < 1000:
            break
        after = rows[-1].key
    found.sort(key=lambda item: item[0], reverse=True)
    rest = [item for item in found if cursor is None or item[0] < cursor.key]
    shown = rest[:size]
    more = Cursor(shown[-1][0], len(found)) if len(rest) > size else None
    return Page(tuple(head for _, head in shown), more, len(found))


async def _of_owner(journal: Journal, query: Query, size: int, cursor: Cursor | None) -> Page:
    owner_key = journal.ids.owner(query.owner)
    both = index.partitions(owner_key, query.state)
    partition = both[1] if query.state else both[0]
    after = cursor.key if cursor else None
    shown: dict[str, Head] = {}
    while True:
        rows = await journal.rows.scan(partition, after=after, limit=size + 1, reverse=True)
        parts = [json.loads(row.value)["part"] for row in rows]
        found = await asyncio.gather(
            *(
                journal.head(part, index.parse(row.key)[1])
                for row, part in zip(rows, parts, strict=True)
            )
        )
        for i, (row, head) in enumerate(zip(rows, found, strict=True)):
            time, task = index.parse(row.key)
            if time < query.since:
                rows = []
                break
            if len(shown) == size:
                total = cursor.total if cursor else await _count(journal, partition, query.since)
                more = Cursor(rows[i - 1].key if i else after or "", total)
                return Page(tuple(shown.values()), more, total)
            if await _shows(journal, partition, row, time, head, query):
                shown.setdefault(task, head)  # type: ignore[arg-type]
        if len(rows) <= size:
            return Page(tuple(shown.values()), None, cursor.total if cursor else len(shown))
        after = rows[-1].key


async def _shows(
    journal: Journal,
    partition: str,
    row: Row,
    time: int,
    head: Head | None,
    query: Query,
) -> bool:
    """Whether this row stands for its task in this listing; removes it if it never will again."""
    if head is None or time > head.status_time:
        return False  # its head is not written yet
    if time < head.status_time:
        # The task moved, perhaps past this listing: its old row stands for it this once. It may
        # then be on two pages of one walk, but it is never on none.
        await journal.rows.write([Delete(partition, row.key)])
    return head.listed and query.state in (0, head.state)


async def _count(journal: Journal, partition: str, since: int) -> int:
    rows = await journal.rows.scan(partition, limit=COUNT_LIMIT, reverse=True)
    return sum(index.parse(row.key)[0] >= since for row in rows)
