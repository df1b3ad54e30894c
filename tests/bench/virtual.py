"""An event loop whose sleeps take no time: what a turn of a minute writes is known in a second."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualClock(asyncio.SelectorEventLoop):
    """Time moves only when nobody has anything to do, and then at once to the next timer.

    It is a ``ports.Clock`` too, so that the journal's times and the loop's are one.
    """

    START = 1_796_040_000_000  # ms

    def __init__(self) -> None:
        super().__init__(_Impatient(self))
        self.seconds = 0.0

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self.seconds

    def now(self) -> int:
        """See ``ports.Clock``."""
        return self.START + int(self.seconds * 1000)


class _Impatient(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout:
            self._clock.seconds += timeout
        return super().select(0)  # type: ignore[no-any-return]


def run(work: Coroutine[Any, Any, T], loop: VirtualClock) -> T:
    """Run this on the loop, then close it."""
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()
