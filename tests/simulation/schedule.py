"""One schedule from its seed to rest."""

from __future__ import annotations

from dataclasses import dataclass

from .actors import Cast
from .oracle import Broken
from .world import World


@dataclass(frozen=True, slots=True)
class Result:
    """How a schedule ended: ``broken`` is the law that did not hold, or ""."""

    seed: int
    broken: str
    operations: int
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
    cast = Cast(world)
    try:
        _open(world, cast)
        world.loop.run()
        if not world.broken:
            _close(world, cast)
    except Broken as law:
        assert world.broken, law
    except Exception as error:  # a callback of the product itself
        world.broken = world.broken or f"a callback raised {error!r}"
        if trace:
            raise
    broken = world.broken  # what the burial stirs up is no finding
    unheard = world.loop.bury()
    return Result(seed, broken or unheard, world.operations, dict(world.count))


def _open(world: World, cast: Cast) -> None:
    rng = world.rng
    world.queue_open = rng.random() < 0.5
    for i in range(rng.choice((1, 1, 2))):
        owner = rng.choice(("ann", "ann", "bob"))
        named = rng.random() < 0.6
        at = rng.choice((0.0, rng.uniform(0, 50)))
        for _ in range(rng.choice((1, 2, 3)) if named else 1):
            message = cast.message(context_id=f"ctx{i}" if named else "")
            cast.later(at, cast.send, owner, message)
            if rng.random() < 0.4:
                again = rng.choice((0.0, 0.0, rng.uniform(0, 3), rng.uniform(0, 200), 650.0))
                cast.later(at + again, cast.send, owner, message)
            at += rng.choice((0.0, rng.uniform(0, 2), rng.uniform(0, 100)))
    world.loop.outside(1.0, cast.tick)


def _close(world: World, cast: Cast) -> None:
    """Lists repair what a frozen writer put back late; then all must be as it says."""
    world.until = 0.0
    for name in ("ann", "bob"):
        for state in (0, 1, 2, 3, 4, 5, 6):
            cast.final_list(name, state)
    world.loop.run()
    if not world.broken:
        world.oracle.at_rest()

