"""Lists of an owner's tasks: one row per task under its status time, and one under its state.

A row is written before the head that it speaks of, and marked after it is replaced, so a reader can
meet a row that is older than the head, never a task without a row. The head decides (rule 28).

A replaced row stays for ``WALK`` and says when the task moved on: a walk over several pages shows
every task where it stood when the walk began, once, however much moves meanwhile.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from ..ports import Change, Put, Row
from .fold import WALK, Head


class Entry(NamedTuple):
    """A row of a list: the task had this status from ``time`` on, until ``next`` (0: until now, as
    far as the row knows). Times in ms."""

    time: int
    task: str
    part: str
    next: int

    def stands(self, at: int) -> bool:
        """Whether this is where the task stood at a time."""
        return self.time <= at and (not self.next or self.next > at)


def partitions(owner_key: str, state: int) -> tuple[str, str]:
    """The partitions that list a task: all of the owner's tasks, and those of this TaskState."""
    return f"O#{owner_key}", f"O#{owner_key}#{state}"


def key(status_time: int, task: str) -> str:
    """The sort key: read in reverse, it gives the newest status first, then ids descending."""
    return f"{status_time:013d}#{task}"


def read(row: Row) -> Entry:
    """What a row says."""
    time, _, task = row.key.partition("#")
    value = json.loads(row.value)
    return Entry(int(time), task, value["part"], value.get("next", 0))


def keys(owner_key: str, task: str, status_time: int, state: int) -> list[tuple[str, str]]:
    """(partition, key) of every row that lists this task at this status."""
    return [(p, key(status_time, task)) for p in partitions(owner_key, state)]


def entries(owner_key: str, part: str, head: Head) -> list[Change]:
    """The rows that list a task as its head is."""
    value = json.dumps({"part": part}).encode()
    return [
        Put(p, k, value) for p, k in keys(owner_key, head.task.id, head.status_time, head.state)
    ]


def moved(
    owner_key: str, part: str, task: str, replaced: tuple[int, int], next: int, now: int
) -> list[Change]:
    """The rows of a (status time, state) that gave way to the status of time ``next``."""
    return [left(p, k, part, next, now) for p, k in keys(owner_key, task, *replaced)]


def left(partition: str, row_key: str, part: str, next: int, now: int) -> Put:
    """A row that its task has left."""
    value = json.dumps({"part": part, "next": next}).encode()
    return Put(partition, row_key, value, expires=now + WALK)
