"""Lists of an owner's tasks: one row per task under its status time, and one under its state.

A row is written before the head that it speaks of and removed after it is replaced, so a reader
can meet a row that is older than the head, never a task without a row. The head decides (rule 28).
"""

from __future__ import annotations

import json

from ..ports import Change, Put
from .fold import Head


def partitions(owner_key: str, state: int) -> tuple[str, str]:
    """The partitions that list a task: all of the owner's tasks, and those of this TaskState."""
    return f"O#{owner_key}", f"O#{owner_key}#{state}"


def key(status_time: int, task: str) -> str:
    """The sort key: read in reverse, it gives the newest status first, then ids descending."""
    return f"{status_time:013d}#{task}"


def parse(row_key: str) -> tuple[int, str]:
    """(status time in ms, task id) of a sort key."""
    time, _, task = row_key.partition("#")
    return int(time), task


def keys(owner_key: str, task: str, status_time: int, state: int) -> list[tuple[str, str]]:
    """(partition, key) of every row that lists this task at this status."""
    return [(p, key(status_time, task)) for p in partitions(owner_key, state)]


def entries(owner_key: str, part: str, head: Head) -> list[Change]:
    """The rows that list a task as its head is."""
    value = json.dumps({"part": part, "state": head.state}).encode()
    return [
        Put(p, k, value) for p, k in keys(owner_key, head.task.id, head.status_time, head.state)
    ]
