"""A process of the simulation: what the product's code runs in and talks to the store through."""

from __future__ import annotations

import contextvars
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from a2a_fn.engines.limits import check_changes
from a2a_fn.errors import Conflict
from a2a_fn.journal.ids import Ids
from a2a_fn.journal.journal import Journal
from a2a_fn.journal.slots import Slot
from a2a_fn.ports import Change, Row

from .loop import OWNER

if TYPE_CHECKING:
    from .world import World

LEASE, SKEW = 60_000, 5_000  # ms, as in production
IDS = Ids(b"simulation")


class Ordered(dict[Any, None]):
    """A set that iterates in the order of insertion, whatever the addresses of its members."""

    def add(self, member: Any) -> None:
        """See set."""
        self[member] = None

    def discard(self, member: Any) -> None:
        """See set."""
        self.pop(member, None)


class Machine:
    """A process: its own clock, its own view of the store, one death. It is its own ``Rows``."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.number = number
        self.dead = False
        self.thaws = 0.0
        self.cut_off = 0.0  # loop time until which the store does not answer it
        self.cut_how = "lost"
        self.skew = world.rng.randint(-SKEW // 2, SKEW // 2)
        self.actors: list[Actor] = []
        self.nonces = 0
        self.context = contextvars.Context()
        self.context.run(OWNER.set, self)
        self.journal = Journal(
            self,
            world.blobs,
            self,
            IDS,
            nonce=self.nonce,
            lease=LEASE,
            skew=SKEW,
            tell=self._tell,
        )
        self.journal.signals._waiting = defaultdict(Ordered)  # type: ignore[assignment]

    def now(self) -> int:
        """This machine's clock, ms."""
        return self.world.now + self.skew

    def nonce(self) -> str:
        """Unique; remembers when it was drawn."""
        self.nonces += 1
        name = f"m{self.number}x{self.nonces}"
        self.world.oracle.born[name] = self.world.now
        return name

    def die(self) -> None:
        """Nothing of it runs or writes from here on."""
        if self.dead:
            return
        self.dead = True
        for actor in self.actors:
            self.world.count[f"crash of {actor.kind}"] += 1
            if actor.crashed:
                actor.crashed()

    async def wake(self, part: str) -> None:
        """The wake-up queue, as it is given to the product."""
        self.world.enqueue(part)

    async def _tell(self, part: str, slot: Slot) -> None:
        self.world.tell(part, slot)

    # ------------------------------------------------ ports.Rows

    async def get(self, partition: str, key: str) -> Row | None:
        """See ports."""
        return await self._ask("get", (partition, key))  # type: ignore[no-any-return]

    async def scan(
        self,
        partition: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int = 1000,
        reverse: bool = False,
    ) -> list[Row]:
        """See ports. At times a page is read in two goes, as stores do: it is no snapshot.

        (A page of an index is: else a task can move from its unread to its read half.)"""
        world = self.world
        rows = await self._ask("scan", (partition, prefix, after, limit, reverse))
        if len(rows) > 1 and partition[0] != "O" and world.faulty and world.rng.random() < 0.1:
            rows = rows[: world.rng.randrange(1, len(rows))]
            rest = (partition, prefix, rows[-1].key, limit - len(rows), reverse)
            rows += await self._ask("scan", rest)
        return rows  # type: ignore[no-any-return]

    async def write(self, changes: Sequence[Change]) -> None:
        """See ports."""
        if self.world.atomic or len(changes) == 1:
            await self._ask("write", changes)
            return
        check_changes(changes)
        for i, change in enumerate(changes):
            try:
                await self._ask("write", [change])
            except Conflict:
                raise Conflict(i) from None

    async def _ask(self, what: str, arguments: Any) -> Any:
        answer = self.world.loop.create_future()
        self.world.store.request(self, what, arguments, answer)
        return await answer


class Actor:
    """One client, worker or sweeper at work; ``crashed`` is called when its machine dies."""

    __slots__ = ("crashed", "kind")

    def __init__(self, kind: str, crashed: Callable[[], None] | None = None) -> None:
        self.kind = kind
        self.crashed = crashed
