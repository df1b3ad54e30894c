"""The engine of the settings: rows, blobs and queues, each made on first use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .clock import SystemClock
from .errors import InvalidSettings
from .ports import Blobs, Queue, Rows
from .settings import Settings

if TYPE_CHECKING:
    from .engines.redis_link import RedisLink

VISIBLE_AFTER = 90.0  # seconds; a wake-up is lost on a dead worker for so long, a lease and a bit


class Storage:
    """Where a process keeps state. ``data`` gives the data folder, ``reveal`` reads a secret's
    setting. Raises InvalidSettings for an engine that cannot be used."""

    def __init__(
        self,
        settings: Settings,
        data: Callable[[], Path],
        reveal: Callable[[str, str], str],
    ) -> None:
        self._settings = settings
        self._data = data
        self._reveal = reveal
        self._clock = SystemClock()
        self._closers: list[Callable[[], Awaitable[None]]] = []

    @cached_property
    def rows(self) -> Rows:
        """The rows."""
        match self._settings.engine:
            case "memory":
                from .engines.memory import MemoryRows

                return MemoryRows(clock=self._clock)
            case "redis":
                from .engines.redis import RedisRows

                return RedisRows(self._redis, clock=self._clock)
        from .engines.sqlite import SqliteRows

        rows = SqliteRows(self._file, clock=self._clock)
        self._closers.append(rows.close)
        return rows

    @cached_property
    def blobs(self) -> Blobs:
        """The blobs; with Redis too in the data folder, which its processes must then share."""
        if self._settings.engine == "memory":
            from .engines.memory import MemoryBlobs

            return MemoryBlobs()
        from .engines.files import FileBlobs

        return FileBlobs(self._data() / "blobs")

    @cached_property
    def turns(self) -> Queue:
        """The wake-ups of turns."""
        return self._queue("turns")

    @cached_property
    def pushes(self) -> Queue:
        """The wake-ups of pushes."""
        settings = self._settings
        if settings.push_queue != "redis-streams":
            return self._queue("pushes")
        from .engines.redis_queue import RedisQueue

        if not settings.push_redis_url:
            raise InvalidSettings("push-redis-url: is needed with push-queue redis-streams")
        return RedisQueue(
            self._linked("push-redis-url", settings.push_redis_url),
            settings.push_stream,
            clock=self._clock,
            retry_key=settings.push_retry_key,
            dead_stream=settings.push_dead_stream,
            group=settings.push_consumer_group,
            consumer=settings.push_consumer_name,
            lease=settings.push_lease_timeout_ms,
        )

    def _queue(self, name: str) -> Queue:
        match self._settings.engine:
            case "memory":
                from .engines.memory import MemoryQueue

                return MemoryQueue(clock=self._clock, visible_after=VISIBLE_AFTER)
            case "redis":
                from .engines.redis_queue import RedisQueue

                lease = round(VISIBLE_AFTER * 1000)  # the braces: one hash tag on a cluster
                return RedisQueue(self._redis, f"a2a-fn:{{{name}}}", clock=self._clock, lease=lease)
        from .engines.sqlite_queue import SqliteQueue

        queue = SqliteQueue(self._file, name, clock=self._clock, visible_after=VISIBLE_AFTER)
        self._closers.insert(0, queue.close)
        return queue

    @property
    def _file(self) -> Path:
        return self._data() / "a2a-fn.db"

    @cached_property
    def _redis(self) -> RedisLink:
        if not self._settings.redis_url:
            raise InvalidSettings("redis-url: is needed with the redis engine")
        return self._linked("redis-url", self._settings.redis_url)

    def _linked(self, setting: str, url: str) -> RedisLink:
        from .engines.redis_link import RedisLink

        link = RedisLink(self._reveal(setting, url))
        self._closers.append(link.close)
        return link

    async def close(self) -> None:
        """Let go of files, threads and connections."""
        for closer in self._closers:
            await closer()
