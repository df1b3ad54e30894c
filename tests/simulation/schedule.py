"""One schedule from its seed to rest."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from a2a_fn.errors import Unavailable
from a2a_fn.journal import journal
from a2a_fn.turns import sweep

from . import rest
from .clients import Clients
from .oracle import Broken
from .pushers import Pushers
from .scripts import ScriptedFailure
from .workers import Workers
from .world import World


@dataclass(frozen=True, slots=True)
class Result:
    """How a schedule ended: ``broken`` is the law that did not hold, or ""."""

    seed: int
    broken: str
    operations: int
    trail: int  # a hash of every row change and its time
    count: dict[str, int]


def play(
    seed: int,
    *,
    atomic: bool,
    faults: bool = True,
    strike: tuple[int, str] | None = None,
    trace: bool = False,
) -> Result:
    """Run one schedule; the same arguments give the same run, in any process."""
    world = World(seed, atomic=atomic, faults=faults, strike=strike, trace=trace)
    workers, pushers = Workers(world), Pushers(world)
    world.tell = pushers.tell
    clients = Clients(world, pushers)
    try:
        with witness(world), pages(*world.rng.choice(((200, 100), (200, 100), (3, 2)))):
            _open(world, clients, workers)
            world.loop.run()
            if not world.broken:
                _close(world, clients, pushers, workers)
    except Broken as law:
        assert world.broken, law
    except Exception as error:  # a callback of the product itself
        world.broken = world.broken or f"a callback raised {error!r}"
        if trace:
            raise
    broken = world.broken  # what the burial stirs up is no finding
    unheard = world.loop.bury()
    return Result(
        seed, broken or unheard, world.store.operations, world.oracle.trail, dict(world.count)
    )


class _Witness(logging.Handler):
    """Reads the product's log: what it caught and logged must be one of the simulated faults."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def handle(self, record: logging.LogRecord) -> bool:
        """See logging."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, Unavailable | ScriptedFailure):
            self._world.broken = self._world.broken or f"{record.msg}: {error!r}"
            self._world.loop.halted = True
        return True


@contextmanager
def witness(world: World) -> Iterator[None]:
    """Listen to the product's loggers while a schedule runs."""
    logger = logging.getLogger("a2a_fn")
    handler, level, propagate = _Witness(world), logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


@contextmanager
def pages(slots: int, alarms: int) -> Iterator[None]:
    """How much the product reads at once; a schedule is too short for pages of the usual size."""
    usual = journal.PAGE, sweep.PAGE
    journal.PAGE, sweep.PAGE = slots, alarms
    try:
        yield
    finally:
        journal.PAGE, sweep.PAGE = usual


def _open(world: World, clients: Clients, workers: Workers) -> None:
    rng = world.rng
    world.queue_open = rng.random() < 0.5
    if world.faults and rng.random() < 0.2:
        down = rng.uniform(0, 60)
        world.store.down = (down, down + rng.choice((3.5, 6.0, 25.0)))
    for i in range(rng.choice((1, 2, 2))):
        owner = rng.choice(("ann", "ann", "bob"))
        named = rng.random() < 0.6
        at = rng.choice((0.0, rng.uniform(0, 50)))
        for _ in range(rng.choice((1, 2, 3, 3)) if named else 1):
            message = clients.message(context_id=f"ctx{i}" if named else "")
            world.later(at, clients.send, owner, message)
            if rng.random() < 0.4:
                again = rng.choice((0.0, 0.0, rng.uniform(0, 3), rng.uniform(0, 200), 650.0))
                world.later(at + again, clients.send, owner, message)
            at += rng.choice((0.0, rng.uniform(0, 2), rng.uniform(0, 100)))
    world.loop.outside(1.0, workers.tick)


def _close(world: World, clients: Clients, pushers: Pushers, workers: Workers) -> None:
    """The operator redrives what was given up, and lists repair what a frozen writer put back
    late; then all must be as it says."""
    world.until = 0.0
    rest.given_up(world.oracle)
    pushers.redrive()
    workers.tick()
    world.loop.run()
    if world.broken:
        return
    for owner, state in rest.listings(world.oracle):
        clients.final_list(owner, state)
    world.loop.run()
    if not world.broken:
        rest.check(world.oracle)
