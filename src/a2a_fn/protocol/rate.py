"""How often each principal may call: a token bucket each, in this process."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from ..ports import Clock

MOST = 10_000
"""Principals that are remembered; one that is forgotten begins with a full bucket."""

MINUTE = 60_000  # ms


class _Bucket(NamedTuple):
    level: int  # calls that may be made at once, times MINUTE: whole numbers do not drift
    at: int  # ms


class Rate:
    """The gate's ``Limit``: ``per_minute`` calls at once, refilled with as many each minute."""

    def __init__(self, per_minute: int, clock: Clock, most: int = MOST) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._most = most
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __call__(self, principal: str) -> float:
        """Count a call: 0 if it may pass, else the seconds after which one will. A call that may
        not pass costs nothing."""
        now = self._clock.now()
        full = self._per_minute * MINUTE
        level, at = self._buckets.get(principal, _Bucket(full, now))
        passed = max(0, now - at)  # the clock may be set back
        level = min(full, level + passed * self._per_minute)
        missing = max(0, MINUTE - level)
        self._buckets[principal] = _Bucket(level if missing else level - MINUTE, now)
        self._buckets.move_to_end(principal)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return -(-missing // self._per_minute) / 1000
