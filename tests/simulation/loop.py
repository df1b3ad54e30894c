"""An asyncio event loop on virtual time: no selector, no threads, no wall clock.

When nothing is ready, time jumps to the next timer. Every callback belongs to a process (found by
its context); a dead process runs nothing ever again, a frozen one runs late.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

TICK = 1e-6  # seconds that a callback takes: who waits for a time that has come is not stuck in it


class Process(Protocol):
    """Whom a callback belongs to."""

    dead: bool
    thaws: float  # loop time until which it stands still


STEPS = 300_000  # callbacks of one schedule, some hundred times the usual

OWNER: contextvars.ContextVar[Process | None] = contextvars.ContextVar("owner", default=None)


class Handle:
    """A callback that can still be dropped."""

    __slots__ = ("args", "callback", "context", "dropped", "owner")

    def __init__(
        self,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: contextvars.Context | None,
        owner: Process | None,
    ) -> None:
        self.callback = callback
        self.args = args
        self.context = context
        self.owner = owner
        self.dropped = False

    def cancel(self) -> None:
        """Do not run it."""
        self.dropped = True

    def cancelled(self) -> bool:
        """Whether it was dropped."""
        return self.dropped


class VirtualLoop(asyncio.AbstractEventLoop):
    """FIFO, as asyncio is; what differs between schedules are the latencies that are drawn."""

    def __init__(self) -> None:
        self.halted = False
        self._now = 0.0
        self._ready: deque[Handle] = deque()
        self._timers: list[tuple[float, int, Handle]] = []
        self._count = 0
        self._steps = 0
        self._owner: Process | None = None
        self._tasks: list[tuple[asyncio.Task[Any], Process | None]] = []

    # ------------------------------------------------ what asyncio asks of a loop

    def time(self) -> float:
        """Virtual seconds since the start."""
        return self._now

    def get_debug(self) -> bool:
        """No debug mode."""
        return False

    def is_running(self) -> bool:
        """Yes: nothing asks at another time."""
        return True

    def create_future(self) -> asyncio.Future[Any]:
        """See asyncio."""
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self,
        coro: Coroutine[Any, Any, Any],
        *,
        name: str | None = None,
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[Any]:
        """See asyncio."""
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.append((task, self._owner if context is None else context.get(OWNER)))
        return task

    def call_soon(  # type: ignore[override]
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> Handle:
        """See asyncio."""
        owner = self._owner if context is None else context.get(OWNER)
        handle = Handle(callback, args, context, owner)
        self._ready.append(handle)
        return handle

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> Handle:
        """See asyncio."""
        owner = self._owner if context is None else context.get(OWNER)
        return self._at(when, Handle(callback, args, context, owner))

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> Handle:
        """See asyncio."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Said at the garbage collection, which is no part of a schedule; ``bury`` looks itself."""

    # ------------------------------------------------ what the world asks

    def outside(self, delay: float, callback: Callable[..., object], *args: Any) -> None:
        """Call from outside of every process: the store, the queue, the schedule itself."""
        self._at(self._now + delay, Handle(callback, args, None, None))

    def _at(self, when: float, handle: Handle) -> Handle:
        self._count += 1
        heapq.heappush(self._timers, (when, self._count, handle))
        return handle

    def run(self) -> None:
        """Run until nothing is left to run, or ``halted``."""
        ready, timers = self._ready, self._timers
        asyncio.events._set_running_loop(self)
        try:
            while not self.halted:
                if not ready:
                    if not timers:
                        return
                    self._now = max(timers[0][0], self._now)
                    while timers and timers[0][0] <= self._now:  # all at once, as asyncio does
                        ready.append(heapq.heappop(timers)[2])
                handle = ready.popleft()
                self._now += TICK
                self._steps += 1
                if self._steps > STEPS:
                    raise RuntimeError("the schedule spins, or does not come to rest")
                owner = handle.owner
                if handle.dropped or (owner is not None and owner.dead):
                    continue
                if owner is not None and owner.thaws > self._now:
                    self._at(owner.thaws, handle)
                    continue
                self._owner = owner
                if handle.context is None:
                    handle.callback(*handle.args)
                else:
                    handle.context.run(handle.callback, *handle.args)
        finally:
            self._owner = None
            asyncio.events._set_running_loop(None)

    def bury(self) -> str:
        """Take apart what never ended (the dead run nothing, so they still hold all they had).

        Returns an exception of a task that nobody asked for, a fault of the code under test.
        """
        unheard = ""
        asyncio.events._set_running_loop(self)
        for task, owner in self._tasks:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                for _ in range(3):  # an await in a `finally` refuses the first close
                    with contextlib.suppress(BaseException):
                        task.get_coro().close()  # type: ignore[union-attr]
                        break
            elif task._log_traceback:  # type: ignore[attr-defined]
                error = task.exception()  # asked, so that nobody prints it later
                unheard = unheard or ("" if owner and owner.dead else repr(error))
        asyncio.events._set_running_loop(None)
        self._tasks.clear()
        self._ready.clear()
        self._timers.clear()
        return unheard and f"an exception that nobody saw: {unheard}"
