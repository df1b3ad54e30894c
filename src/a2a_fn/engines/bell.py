"""A bell: coroutines wait for it, anything rings it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Bell:
    """Wakes those who listen, from any thread, each on the event loop on which it waits.

    Unlike ``asyncio.Event`` it belongs to no loop, so it lives on from one ``asyncio.run`` to the
    next. A ring is a hint: who hears it looks for itself, and looks at times without one too.
    """

    def __init__(self) -> None:
        self._listeners: deque[Listener] = deque()

    @contextmanager
    def listen(self) -> Iterator[Listener]:
        """Listen, look, and only then wait: a ring between the look and the wait counts.

        A ring that reached a listener which left without waiting for it goes to another one.
        """
        listener = Listener()
        self._listeners.append(listener)
        try:
            yield listener
        finally:
            try:
                self._listeners.remove(listener)
            except ValueError:
                if not listener.heeded:
                    self.ring()

    def ring(self, count: int = 1) -> None:
        """Wake ``count`` listeners: one message needs one receiver, not all of them."""
        while count > 0 and self._listeners:
            try:
                listener = self._listeners.popleft()
            except IndexError:  # another thread took the last one
                return
            count -= listener.wake()


class Listener:
    """One who listens to a ``Bell``."""

    def __init__(self) -> None:
        self.heeded = False
        self._heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(self, seconds: float) -> None:
        """Return at the ring, or after ``seconds`` without one."""
        done, _ = await asyncio.wait([self._heard], timeout=seconds)
        self.heeded = bool(done)

    def wake(self) -> bool:
        """End the wait; False when the loop of this listener has ended."""
        try:
            self._heard.get_loop().call_soon_threadsafe(self._answer)
        except RuntimeError:
            return False
        return True

    def _answer(self) -> None:
        if not self._heard.done():
            self._heard.set_result(None)
