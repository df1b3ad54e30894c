"""Alarms: rows that say when to look at a context, if nothing else did.

An alarm is put before the slot that makes work, under a key that only its writer uses, and names
the slot that it guards. It goes only when the context has no work (rules 11, 30 to 32).
"""

from __future__ import annotations

import json
import zlib
from typing import NamedTuple

from ..ports import Put

ROUND = 20_000  # ms; two sweepers that move one alarm choose the same key


class Alarm(NamedTuple):
    """An alarm; ``slot`` is the number of the slot that it guards, ``due`` in ms; ``task`` is the
    slot's: the alarm stays until what is to be pushed of that task is pushed."""

    shard: int
    due: int
    part: str
    nonce: str
    slot: int
    task: str

    @property
    def partition(self) -> str:
        """Where its row is."""
        return f"D#{self.shard}"

    @property
    def key(self) -> str:
        """The key of its row, ordered by due time."""
        return f"{self.due:013d}#{self.part}#{self.nonce}"

    def put(self) -> Put:
        """The change that sets it."""
        return Put(self.partition, self.key, json.dumps({"n": self.slot, "t": self.task}).encode())


def shard_of(part: str, shards: int) -> int:
    """Which shard the alarms of a context are in."""
    return zlib.crc32(part.encode()) % shards


def parse(shard: int, row_key: str, value: bytes) -> Alarm:
    """The alarm of a row."""
    due, part, nonce = row_key.split("#")
    fields = json.loads(value)
    return Alarm(shard, int(due), part, nonce, fields["n"], fields.get("t", ""))
