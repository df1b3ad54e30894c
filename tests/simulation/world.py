"""The store, the processes, the queue and the clock of one schedule, and what goes wrong there."""

from __future__ import annotations

import contextvars
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Sequence
from random import Random
from typing import Any

from a2a_fn.engines.limits import check_changes
from a2a_fn.engines.memory import MemoryBlobs, MemoryRows
from a2a_fn.errors import Conflict, Unavailable
from a2a_fn.journal import index
from a2a_fn.journal.fold import DEDUPE_WINDOW, Head
from a2a_fn.journal.ids import Ids
from a2a_fn.journal.journal import Journal
from a2a_fn.ports import Change, Put, Row
from a2a_fn.turns.run import Limits

from .loop import OWNER, VirtualLoop
from .oracle import Broken, Oracle

EPOCH = 1_750_000_000_000  # ms at loop time 0
LEASE, SKEW = 60_000, 5_000  # ms, as in production
LIMITS = Limits()
IDS = Ids(b"simulation")
OPERATIONS = 6_000  # row operations after which a schedule "does not come to rest"


class TrueTime:
    """The store's own clock."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> int:
        """See ports."""
        return self._world.now


class WatchedRows(MemoryRows):
    """The store; tells of each change that landed, after the write that it was part of."""

    def __init__(self, world: World) -> None:
        super().__init__(atomic=True, clock=TrueTime(world))
        self.landed: list[Change] = []

    def _do(self, change: Change) -> None:
        super()._do(change)
        self.landed.append(change)

    def peek(self, partition: str, key: str) -> Row | None:
        """A row, for the oracle."""
        return self._live(partition, key, 0)


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
            self, world.blobs, self, IDS, nonce=self.nonce, lease=LEASE, skew=SKEW
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
        self.world.request(self, what, arguments, answer)
        return await answer


class Actor:
    """One client, worker or sweeper at work; ``crashed`` is called when its machine dies."""

    __slots__ = ("crashed", "kind")

    def __init__(self, kind: str, crashed: Callable[[], None] | None = None) -> None:
        self.kind = kind
        self.crashed = crashed


class World:
    """One schedule. ``strike``: (number of a row operation, what goes wrong after it)."""

    def __init__(
        self,
        seed: int,
        *,
        atomic: bool,
        faults: bool = True,
        strike: tuple[int, str] | None = None,
        trace: bool = False,
    ) -> None:
        self.rng = Random(seed)
        self.atomic = atomic
        self.faults = faults
        self.until = self.rng.choice((60.0, 240.0, 700.0)) if faults else 0.0
        self.strike = strike
        self.trace = trace
        self.loop = VirtualLoop()
        self.rows = WatchedRows(self)
        self.blobs = MemoryBlobs()
        self.count: Counter[str] = Counter()
        self.oracle = Oracle(
            self, lease=LEASE, skew=SKEW, attempts=LIMITS.attempts, window=DEDUPE_WINDOW
        )
        self.broken = ""
        self.operations = 0
        self.machines: list[Machine] = []
        self.pool: list[Machine] = []
        self.running: Counter[str] = Counter()  # actors at work, by kind
        self.pending = 0  # wake-ups and late writes on their way
        self.down = (0.0, 0.0)  # when the store answers nobody, loop times
        self.queue_open = True  # wake-ups from others than the sweeper are delivered
        self.work: Callable[[str], None] = lambda part: None  # what a wake-up starts

    @property
    def now(self) -> int:
        """True time, ms."""
        return EPOCH + int(self.loop.time() * 1000)

    @property
    def faulty(self) -> bool:
        """Whether things still go wrong."""
        return self.faults and self.loop.time() < self.until

    def fail(self, law: str) -> None:
        """A law is broken: the schedule ends here."""
        if not self.broken:
            self.broken = law
        self.loop.halted = True
        raise Broken(law)

    def say(self, *words: object) -> None:
        """Trace."""
        if self.trace:
            print(f"{self.loop.time():10.3f}", *words)

    # ------------------------------------------------ processes

    def machine(self) -> Machine:
        """Where the next actor runs: a process that is there, or a new one."""
        rng = self.rng
        self.pool = [m for m in self.pool if not m.dead]
        if self.pool and rng.random() < 0.5:
            return rng.choice(self.pool)
        machine = Machine(self, len(self.machines))
        self.machines.append(machine)
        self.pool.append(machine)
        if len(self.pool) > 3:
            self.pool.pop(0)
        return machine

    def spawn(
        self,
        kind: str,
        body: Callable[[Machine], Coroutine[Any, Any, None]],
        crashed: Callable[[], None] | None = None,
    ) -> None:
        """Start an actor."""
        machine = self.machine()
        actor = Actor(kind, crashed)
        machine.actors.append(actor)
        self.running[kind] += 1
        self.count[f"actor {kind}"] += 1
        if self.trace:
            self.say(f"m{machine.number}", "start", kind)
        self.loop.create_task(self._guard(machine, actor, body), context=machine.context)

    async def _guard(
        self, machine: Machine, actor: Actor, body: Callable[[Machine], Coroutine[Any, Any, None]]
    ) -> None:
        try:
            await body(machine)
        except Unavailable:
            self.count[f"unanswered {actor.kind}"] += 1
        except (Broken, GeneratorExit):  # the schedule is over
            return
        except BaseException as error:
            if not self.broken:
                self.broken = f"{actor.kind} raised {error!r}"
                self.loop.halted = True
            if self.trace:
                traceback.print_exc()
            return
        machine.actors.remove(actor)
        self.running[actor.kind] -= 1
        self.say(f"m{machine.number}", "end", actor.kind)

    def gone(self, machine: Machine, kind: str) -> None:
        """An actor of a dead machine is no longer at work."""
        self.running[kind] -= 1

    # ------------------------------------------------ the store

    def request(self, machine: Machine, what: str, arguments: Any, answer: Any) -> None:
        """Send a request on its way."""
        r = self.rng.random()
        delay = 0.001 + 0.04 * r * r
        if self.faulty and r > 0.985:
            slow = self.rng.random()
            delay = 30.0 * slow**3
            self.count["slow request"] += 1
        self.loop.outside(delay, self._arrive, machine, what, arguments, answer)

    def _arrive(self, machine: Machine, what: str, arguments: Any, answer: Any) -> None:
        rng = self.rng
        if machine.dead and (what != "write" or rng.random() < 0.5):
            return
        self.operations += 1
        if self.operations > OPERATIONS:
            self.fail("does not come to rest")
        fault, unknown = self._fault(machine, what, arguments)
        result: Any = None
        if unknown:
            self._unknown(machine, what, arguments, unknown)
            result = Unavailable("the simulation says so")
        else:
            try:
                result = self.perform(what, arguments, machine)
            except Conflict as error:
                self.count["conflict"] += 1
                result = error
        if fault == "crash":
            self.say(f"m{machine.number}", "crashes")
            self._die(machine)
        elif fault == "freeze":
            machine.thaws = self.loop.time() + LEASE / 1000 * rng.choice((0.35, 1, 2, 5))
            self.say(f"m{machine.number}", "freezes until", machine.thaws)
            for actor in machine.actors:
                self.count[f"freeze of {actor.kind}"] += 1
        elif fault == "slow answer":
            self.loop.outside(rng.random() ** 3 * 10, _deliver, answer, result)
            return
        _deliver(answer, result)

    def _die(self, machine: Machine) -> None:
        if not machine.dead:
            for actor in machine.actors:
                self.running[actor.kind] -= 1
            machine.die()

    def kill(self, machine: Machine) -> None:
        """The agent took its process with it."""
        self.count["poison died"] += 1
        self._die(machine)

    def _fault(self, machine: Machine, what: str, arguments: Any) -> tuple[str, str]:
        """(what befalls the machine after the operation, how the result is unknown)."""
        if self.strike is not None:
            if self.strike[0] != self.operations:
                return "", ""
            how = self.strike[1]
            return (how, "") if how in ("crash", "freeze") else ("", how)
        if not self.faulty:
            return "", ""
        rng = self.rng
        if self.down[0] < self.loop.time() < self.down[1]:
            self.count["store down"] += 1
            return "", "lost"
        if machine.cut_off > self.loop.time():
            return "", machine.cut_how
        x = rng.random()
        if x < 0.008:
            return "crash", ""
        if x < 0.018:
            return "freeze", ""
        if x < 0.058 and what == "write" and arguments[0].partition[0] == "D":
            return "freeze", ""  # between the alarm and its slot, if the two are two steps
        if x < 0.070:
            return "slow answer", ""
        if x > 0.994:
            self.count["cut off"] += 1
            machine.cut_off = self.loop.time() + rng.choice((1, 4, 20))
            machine.cut_how = rng.choice(("lost", "lost", "applied"))
            return "", machine.cut_how
        if x > 0.97 and what == "write":
            return "", rng.choice(("applied", "lost", "late", "late"))
        if x > 0.99:
            return "", "lost"
        if x > 0.985 and rng.random() < 0.3:
            machine.skew = rng.randint(-SKEW // 2, SKEW // 2)
            self.count["clock set"] += 1
        return "", ""

    def _unknown(self, machine: Machine, what: str, arguments: Any, how: str) -> None:
        self.say(f"m{machine.number}", "unknown result:", how)
        if what != "write":
            return
        self.count[f"unknown {how}"] += 1
        if how == "applied":
            self._try(arguments)
        elif how == "late":
            self.pending += 1
            delay = self.rng.choice((0.05, 0.5, 3, 30, 150, 400))
            self.loop.outside(delay, self._land_late, arguments)

    def _land_late(self, changes: Sequence[Change]) -> None:
        self.pending -= 1
        self.count["late write landed"] += self._try(changes)

    def _try(self, changes: Sequence[Change]) -> bool:
        try:
            self.perform("write", changes, None)
        except Conflict:
            return False
        return True

    def perform(self, what: str, arguments: Any, machine: Machine | None) -> Any:
        """Do it, in one instant."""
        rows = self.rows
        if what == "get":
            result = now(rows.get(*arguments))
            if self.trace:
                self.say(_name(machine), "get", *arguments)
            return result
        if what == "scan":
            partition, prefix, after, limit, reverse = arguments
            if self.trace:
                self.say(_name(machine), "scan", partition, prefix, after, limit)
            return now(
                rows.scan(partition, prefix=prefix, after=after, limit=limit, reverse=reverse)
            )
        rows.landed.clear()
        try:
            now(rows.write(arguments))
        except Conflict as error:
            change = arguments[error.index]
            self.say(_name(machine), "conflict", change.partition, change.key)
            raise
        if self.trace:
            for change in rows.landed:
                verb = "put" if isinstance(change, Put) else "delete"
                value = change.value[:150] if isinstance(change, Put) else ""
                self.say(_name(machine), verb, change.partition, change.key, value)
        for change in rows.landed:
            self.oracle.saw(change)
        return None

    # ------------------------------------------------ the queue

    def enqueue(self, part: str, *, sure: bool = False) -> None:
        """A wake-up: may be lost, late or doubled while things go wrong."""
        rng = self.rng
        if not self.faulty:
            if self.queue_open or sure:
                self._later(rng.uniform(0, 0.1), part)
            return
        x = rng.random()
        if x < 0.12:
            self.count["wake-up lost"] += 1
            return
        if x < 0.24:
            self.count["wake-up doubled"] += 1
            self._later(rng.uniform(0, 1.5 * LEASE / 1000), part)
        late = 0.24 < x < 0.34
        self.count["wake-up late"] += late
        self._later(rng.uniform(60, 300) if late else rng.uniform(0, 0.3), part)

    def _later(self, delay: float, part: str) -> None:
        self.pending += 1
        self.loop.outside(delay, self._woken, part)

    def _woken(self, part: str) -> None:
        self.pending -= 1
        self.work(part)

    def index_partition(self, owner: str, state: int) -> str:
        """The partition of a list."""
        return index.partitions(IDS.owner(owner), state)[bool(state)]

    def index_keys(self, owner: str | None, task: str, head: Head) -> list[tuple[str, str]]:
        """Where the lists must have this task."""
        return index.keys(IDS.owner(owner or ""), task, head.status_time, head.state)


def now(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("the store waited")


def _deliver(answer: Any, result: Any) -> None:
    if answer.done():  # who asked was cancelled meanwhile
        return
    if isinstance(result, Exception):
        answer.set_exception(result)
    else:
        answer.set_result(result)


def _name(machine: Machine | None) -> str:
    return f"m{machine.number}" if machine else "late"
