"""Lists of tasks, newest status first: by owner, by owner and state, or by context.

The index says where to look, the head decides (rule 28). A walk over several pages lists the tasks
as they stood when it began, each once: what moves meanwhile is shown where it stood (with its
present state), what is new is not shown.

Between machines whose clocks differ, a task that moves within that difference of the walk's
beginning can be missed or shown twice.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from ..ports import Row
from . import heads, index
from .fold import SETTLED, Head
from .ids import partition_of
from .journal import Journal

COUNT_LIMIT = 200  # a list is counted up to here; beyond, the total is "at least"


class Query(NamedTuple):
    """Whose tasks, and which: ``state`` 0 for any; ``since`` in ms, inclusive."""

    owner: str
    context_id: str = ""
    state: int = 0
    since: int = 0


class Cursor(NamedTuple):
    """Where a walk goes on: past row ``key``; ``total`` as counted for its first page; ``at`` the
    time that it shows, in ms: the newest status that there was when it began."""

    key: str
    total: int
    at: int


class Page(NamedTuple):
    """Heads in order, where the next page begins (None: this was the last), and how many tasks
    there are in all (at least, from ``COUNT_LIMIT`` on). ``cursors``: for each head, where the
    next page would begin if this one ended with it."""

    heads: tuple[Head, ...]
    next: Cursor | None
    total: int
    cursors: tuple[Cursor, ...] = ()


async def page(
    journal: Journal, query: Query, size: int, cursor: Cursor | None, *, whole: bool = False
) -> Page:
    """One page of a listing. The words and artifacts of a turn that runs are there as of its last
    change of state, unless ``whole``: then all that it said so far is read."""
    read = _of_context if query.context_id else _of_owner
    found = await read(journal, query, size, cursor)
    if not whole:
        return found
    fresh = await asyncio.gather(*(_fresh(journal, query, head) for head in found.heads))
    return found._replace(heads=tuple(fresh))


async def _fresh(journal: Journal, query: Query, head: Head) -> Head:
    """The task as of now. In a list of one state, as it was before it leaves that."""
    if head.state in SETTLED:
        return head
    view = await journal.load(partition_of(head.task.id) or "", head.task.id)
    now = view.tasks[head.task.id]
    return now if query.state in (0, now.state) else head


async def _of_context(journal: Journal, query: Query, size: int, cursor: Cursor | None) -> Page:
    part = journal.ids.partition(query.owner, query.context_id)
    found: list[Head] = []
    after: str | None = None
    while True:
        rows = await journal.rows.scan(heads.partition(part), prefix=heads.TASKS, after=after)
        for row in rows:
            head = heads.decode_head(await journal.cells.unpack(row.value))
            if head.listed and query.state in (0, head.state):
                found.append(head)
        if len(rows) < 1000:
            break
        after = rows[-1].key
    newest = max((head.status_time for head in found), default=0)
    at = cursor.at if cursor else newest
    placed = []
    for head in found:
        time = head.stood(at)
        if time and time >= query.since:
            placed.append((index.key(time, head.task.id), head))
    placed.sort(key=lambda item: item[0], reverse=True)
    rest = [item for item in placed if cursor is None or item[0] < cursor.key]
    shown = rest[:size]
    total = cursor.total if cursor else len(placed)
    cursors = tuple(Cursor(key, total, at) for key, _ in shown)
    more = cursors[-1] if len(rest) > size else None
    return Page(tuple(head for _, head in shown), more, total, cursors)


async def _of_owner(journal: Journal, query: Query, size: int, cursor: Cursor | None) -> Page:
    owner_key = journal.ids.owner(query.owner)
    both = index.partitions(owner_key, query.state)
    partition = both[1] if query.state else both[0]
    after = cursor.key if cursor else None
    at = cursor.at if cursor else 0  # 0: no row has been shown yet, the first one will tell
    shown: dict[str, tuple[str, Head]] = {}
    while True:
        rows = await journal.rows.scan(partition, after=after, limit=size + 1, reverse=True)
        entries = [index.read(row) for row in rows]
        found = await asyncio.gather(*(_head(journal, entry, query) for entry in entries))
        for row, entry, live in zip(rows, entries, found, strict=True):
            if entry.time < query.since:
                rows = []
                break
            head = live
            if entry.next and at and entry.stands(at):  # it moved since the walk began
                head = await journal.head(entry.part, entry.task)
            if head is None or not await _shows(journal, partition, row, entry, head, query, at):
                continue
            if len(shown) == size:
                total = cursor.total if cursor else await _count(journal, partition, query, at)
                return _page(shown, total, at, more=True)
            at = at or entry.time
            shown.setdefault(entry.task, (row.key, head))
        if len(rows) <= size:
            return _page(shown, cursor.total if cursor else len(shown), at, more=False)
        after = rows[-1].key


def _page(shown: dict[str, tuple[str, Head]], total: int, at: int, *, more: bool) -> Page:
    cursors = tuple(Cursor(key, total, at) for key, _ in shown.values())
    heads = tuple(head for _, head in shown.values())
    return Page(heads, cursors[-1] if more else None, total, cursors)


async def _head(journal: Journal, entry: index.Entry, query: Query) -> Head | None:
    """The head of a row that no task has left; rows that do not count cost no read."""
    if entry.next or entry.time < query.since:
        return None
    return await journal.head(entry.part, entry.task)


async def _shows(
    journal: Journal,
    partition: str,
    row: Row,
    entry: index.Entry,
    head: Head,
    query: Query,
    at: int,
) -> bool:
    """Whether this row stands for its task in this walk; marks it if its task has left it."""
    if entry.time > head.status_time:
        return False  # its head is not written yet
    if entry.time < head.status_time and not entry.next:
        # Its task moved while we read, or who moved it has died before it said so. In the second
        # case the task's newer row was passed; only if that is sure is it not shown here.
        next = min(time for time in (*head.moves, head.status_time) if time > entry.time)
        now = journal.clock.now()
        await journal.rows.write([index.left(partition, row.key, entry.part, next, now)])
        if next <= at - 2 * journal.skew:
            return False
    return head.listed and query.state in (0, head.state)


async def _count(journal: Journal, partition: str, query: Query, at: int) -> int:
    """How many rows stand, up to ``COUNT_LIMIT``."""
    count = 0
    after: str | None = None
    while True:
        rows = await journal.rows.scan(partition, after=after, limit=COUNT_LIMIT, reverse=True)
        for entry in map(index.read, rows):
            if entry.time < query.since:
                return count
            # a list of one state has the tasks that are in it now
            count += not entry.next if query.state else entry.stands(at)
            if count == COUNT_LIMIT:
                return count
        if len(rows) < COUNT_LIMIT:
            return count
        after = rows[-1].key
