"""The one store that all share, the way to it, and what goes wrong on the way."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from a2a_fn.engines.memory import MemoryRows
from a2a_fn.errors import Conflict, Unavailable
from a2a_fn.ports import Change, Put, Row

from .machine import LEASE, SKEW, Machine

if TYPE_CHECKING:
    from .world import World

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


make_rows: Callable[[World], WatchedRows] = WatchedRows
"""What the store is made of; ``redis_rows`` puts another engine here."""


class Store:
    """Requests arrive, meet their fault, are done in one instant, and are answered.

    ``strike``: (number of a row operation, what goes wrong at it) instead of drawn faults.
    """

    def __init__(self, world: World, strike: tuple[int, str] | None) -> None:
        self.world = world
        self.rows = make_rows(world)
        self.strike = strike
        self.operations = 0
        self.down = (0.0, 0.0)  # when it answers nobody, loop times

    def request(self, machine: Machine, what: str, arguments: Any, answer: Any) -> None:
        """Send a request on its way."""
        r = self.world.rng.random()
        delay = 0.001 + 0.04 * r * r
        if self.world.faulty and r > 0.985:
            slow = self.world.rng.random()
            delay = 30.0 * slow**3
            self.world.count["slow request"] += 1
        self.world.loop.outside(delay, self._arrive, machine, what, arguments, answer)

    def _arrive(self, machine: Machine, what: str, arguments: Any, answer: Any) -> None:
        rng = self.world.rng
        if machine.dead and (what != "write" or rng.random() < 0.5):
            return
        self.operations += 1
        if self.operations > OPERATIONS:
            self.world.fail("does not come to rest")
        fault, unknown = self._fault(machine, what, arguments)
        result: Any = None
        if unknown:
            self._unknown(machine, what, arguments, unknown)
            result = Unavailable("the simulation says so")
        else:
            try:
                result = self.perform(what, arguments, machine)
            except Conflict as error:
                self.world.count["conflict"] += 1
                result = error
        if fault == "crash":
            self.world.say(f"m{machine.number}", "crashes")
            self.world.died(machine)
        elif fault == "freeze":
            machine.thaws = self.world.loop.time() + LEASE / 1000 * rng.choice((0.35, 1, 2, 5))
            self.world.say(f"m{machine.number}", "freezes until", machine.thaws)
            for actor in machine.actors:
                self.world.count[f"freeze of {actor.kind}"] += 1
        elif fault == "slow answer":
            self.world.loop.outside(rng.random() ** 3 * 10, _deliver, answer, result)
            return
        _deliver(answer, result)

    def _fault(self, machine: Machine, what: str, arguments: Any) -> tuple[str, str]:
        """(what befalls the machine after the operation, how the result is unknown)."""
        if self.strike is not None:
            if self.strike[0] != self.operations:
                return "", ""
            how = self.strike[1]
            return (how, "") if how in ("crash", "freeze") else ("", how)
        if not self.world.faulty:
            return "", ""
        rng = self.world.rng
        if self.down[0] < self.world.loop.time() < self.down[1]:
            self.world.count["store down"] += 1
            return "", "lost"
        if machine.cut_off > self.world.loop.time():
            return "", machine.cut_how
        x = rng.random()
        if x < 0.008:
            return "crash", ""
        if x < 0.018:
            return "freeze", ""
        if x < 0.1 and what == "write" and arguments[0].partition[0] == "D":
            return "freeze", ""  # between the alarm and its slot, if the two are two steps
        if x < 0.070:
            return "slow answer", ""
        if x > 0.994:
            self.world.count["cut off"] += 1
            machine.cut_off = self.world.loop.time() + rng.choice((1, 4, 20))
            machine.cut_how = rng.choice(("lost", "lost", "applied"))
            return "", machine.cut_how
        if x > 0.97 and what == "write":
            return "", rng.choice(("applied", "lost", "late", "late"))
        if x > 0.99:
            return "", "lost"
        if x > 0.985 and rng.random() < 0.3:
            machine.skew = rng.randint(-SKEW // 2, SKEW // 2)
            self.world.count["clock set"] += 1
        return "", ""

    def _unknown(self, machine: Machine, what: str, arguments: Any, how: str) -> None:
        self.world.say(f"m{machine.number}", "unknown result:", how)
        if what != "write":
            return
        self.world.count[f"unknown {how}"] += 1
        if how == "applied":
            self._try(arguments)
        elif how == "late":
            self.world.pending += 1
            delay = self.world.rng.choice((0.05, 0.5, 3, 30, 150, 400))
            self.world.loop.outside(delay, self._land_late, arguments)

    def _land_late(self, changes: Sequence[Change]) -> None:
        self.world.pending -= 1
        self.world.count["late write landed"] += self._try(changes)

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
            if self.world.trace:
                self.world.say(_name(machine), "get", *arguments)
            return result
        if what == "scan":
            partition, prefix, after, limit, reverse = arguments
            if self.world.trace:
                self.world.say(_name(machine), "scan", partition, prefix, after, limit)
            return now(
                rows.scan(partition, prefix=prefix, after=after, limit=limit, reverse=reverse)
            )
        rows.landed.clear()
        try:
            now(rows.write(arguments))
        except Conflict as error:
            change = arguments[error.index]
            self._collided(change, machine)
            self.world.say(_name(machine), "conflict", change.partition, change.key)
            raise
        if self.world.trace:
            for change in rows.landed:
                verb = "put" if isinstance(change, Put) else "delete"
                value = change.value[:150] if isinstance(change, Put) else ""
                self.world.say(_name(machine), verb, change.partition, change.key, value)
        self.world.count["older view skipped"] += len(rows.landed) < len(arguments)
        for change in rows.landed:
            self.world.oracle.saw(change)
        return None

    def _collided(self, change: Put, machine: Machine | None) -> None:
        """Count who lost a slot, and whether to another or to its own lost answer."""
        row = self.rows.peek(change.partition, change.key)
        kind = change.value.partition(b'"k":"')[2].partition(b'"')[0].decode()
        if machine and row and row.value == change.value:
            self.world.count["unknown result was mine"] += 1
        elif machine and kind:
            self.world.count[f"collision lost: {kind}"] += 1


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
