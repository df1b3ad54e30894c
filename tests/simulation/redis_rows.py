"""The simulation's store on a real Redis: the product's own ``RedisRows``, driven step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from a2a_fn.engines.redis import RedisRows
from a2a_fn.engines.redis_link import RedisLink
from a2a_fn.ports import Change, Clock, Row

from . import store
from .store import TrueTime, now

if TYPE_CHECKING:
    from redis import Redis

    from .world import World


class Blocking:
    """A blocking client as an asynchronous one that has its answer at once."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def execute_command(self, *words: Any) -> Any:
        """See ``redis_link.Client``."""
        return self._client.execute_command(*words)  # type: ignore[no-untyped-call]

    async def aclose(self) -> None:
        """See ``redis_link.Client``."""
        self._client.close()


class BeginningOfTime:
    """At which no row has ended."""

    def now(self) -> int:
        """See ports."""
        return 0


class WatchedRedis(RedisRows):
    """What ``store.WatchedRows`` is, on Redis."""

    def __init__(self, link: RedisLink, clock: Clock) -> None:
        super().__init__(link, clock=clock)
        self.landed: list[Change] = []
        self._ended = RedisRows(link, clock=BeginningOfTime())

    async def write(self, changes: Sequence[Change]) -> None:
        """See ports."""
        done = await self.apply(changes)
        self.landed += [change for change, landed in zip(changes, done, strict=True) if landed]

    def peek(self, partition: str, key: str) -> Row | None:
        """A row, for the oracle."""
        return now(self._ended.get(partition, key))  # type: ignore[no-any-return]


@contextmanager
def on_redis(port: int) -> Iterator[None]:
    """Let schedules run on the server at this port of loopback, each on an empty one."""
    import redis

    usual = store.make_rows
    with redis.Redis(port=port, protocol=2, socket_timeout=10) as client:
        link = RedisLink(client=Blocking(client))

        def empty(world: World) -> WatchedRedis:
            client.flushall()
            return WatchedRedis(link, TrueTime(world))

        store.make_rows = empty  # type: ignore[assignment]
        try:
            yield
        finally:
            store.make_rows = usual
