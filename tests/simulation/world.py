"""One schedule: its time, its processes, its queue, and who is at work."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from a2a_fn.engines.memory import MemoryBlobs
from a2a_fn.errors import Unavailable
from a2a_fn.journal.fold import DEDUPE_WINDOW
from a2a_fn.journal.slots import Slot
from a2a_fn.turns.run import Limits

from .loop import VirtualLoop
from .machine import LEASE, SKEW, Actor, Machine
from .oracle import Broken, Oracle
from .store import Store

EPOCH = 1_750_000_000_000  # ms at loop time 0
LIMITS = Limits()


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
        self.trace = trace
        self.loop = VirtualLoop()
        self.store = Store(self, strike)
        self.blobs = MemoryBlobs()
        self.count: Counter[str] = Counter()
        self.oracle = Oracle(
            self, lease=LEASE, skew=SKEW, attempts=LIMITS.attempts, window=DEDUPE_WINDOW
        )
        self.broken = ""
        self.machines: list[Machine] = []
        self.pool: list[Machine] = []
        self.running: Counter[str] = Counter()  # actors at work, by kind
        self.pending = 0  # wake-ups and late writes on their way
        self.queue_open = True  # wake-ups from others than the sweeper are delivered
        self.work: Callable[[str], None] = lambda part: None  # what a wake-up starts
        self.events = self.rng.choice(("state", "state", "terminal", "all"))  # what is pushed
        self.tell: Callable[[str, Slot], None] = lambda part, slot: None
        self.push: Callable[[str, str, str], None] = lambda part, task, config: None

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

    def died(self, machine: Machine) -> None:
        """A process is no more."""
        if machine.dead:
            return
        for actor in machine.actors:
            self.running[actor.kind] -= 1
        machine.die()

    def calm(self) -> bool:
        """Nothing is left to happen but readers' looks."""
        busy = any(n for kind, n in self.running.items() if kind != "reader")
        return not (busy or self.pending or any(s.alarms for s in self.oracle.stories.values()))

    def later(self, delay: float, act: Callable[..., None], *arguments: Any) -> None:
        """Plan an act."""
        self.pending += 1
        self.loop.outside(delay, self._act, act, arguments)

    def _act(self, act: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self.pending -= 1
        act(*arguments)

    # ------------------------------------------------ the queue

    def enqueue(self, part: str, *, sure: bool = False) -> None:
        """A wake-up for a worker."""
        self._enqueue(0.0, sure, lambda: self.work(part))

    def enqueue_push(
        self, part: str, task: str, config: str, delay: float = 0.0, *, sure: bool = False
    ) -> None:
        """A wake-up for a pusher, perhaps for later."""
        self._enqueue(delay, sure, lambda: self.push(part, task, config))

    def _enqueue(self, delay: float, sure: bool, work: Callable[[], None]) -> None:
        """A wake-up: may be lost, late or doubled while things go wrong."""
        rng = self.rng
        if not self.faulty:
            if self.queue_open or sure:
                self.later(delay + rng.uniform(0, 0.1), work)
            return
        x = rng.random()
        if x < 0.12:
            self.count["wake-up lost"] += 1
            return
        if x < 0.24:
            self.count["wake-up doubled"] += 1
            self.later(delay + rng.uniform(0, 1.5 * LEASE / 1000), work)
        late = 0.24 < x < 0.34
        self.count["wake-up late"] += late
        self.later(delay + (rng.uniform(60, 300) if late else rng.uniform(0, 0.3)), work)
