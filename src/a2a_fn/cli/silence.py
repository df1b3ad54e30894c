"""A silence that is remarked once, so that nobody takes a quiet agent for a dead command."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

AFTER = 10.0  # s without an event; an agent that works says something sooner than most

REMARK = (
    "still waiting: the agent may be at work; or its worker has died, and a2a-fn serve "
    "lets another go on once the lease has run out (about 75 s by default)"
)


class Silence:
    """A context manager: calls `tell` once, from a thread, if `heard` is not called for `after` s.

    A thread, because the wait may be anywhere: for a byte of a stream that sends no keep-alives,
    for a blocking answer, or between two attempts to connect. `clock` is in seconds; `pause` waits
    for so many, or until the end, and says whether that came.
    """

    def __init__(
        self,
        tell: Callable[[], None],
        after: float = AFTER,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], bool] | None = None,
    ) -> None:
        self._over = threading.Event()
        self._tell = tell
        self._after = after
        self._clock = clock
        self._pause = pause or self._over.wait
        self._heard = clock()
        self._thread = threading.Thread(target=self._listen, name="silence", daemon=True)

    def __enter__(self) -> Silence:
        self.heard()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(1.0)  # its one line, if it is being written, comes before the last one

    def heard(self) -> None:
        """Something came: the silence begins anew."""
        self._heard = self._clock()

    def _listen(self) -> None:
        while (left := self._heard + self._after - self._clock()) > 0:
            if self._pause(left):
                return
        with contextlib.suppress(OSError):  # stderr is closed: nobody wants the remark
            self._tell()
