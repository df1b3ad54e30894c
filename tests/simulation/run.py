"""Run schedules from the command line.

python -m tests.simulation.run --seed 7 --trace --mode sequential     replay one, each step printed
python -m tests.simulation.run --schedules 5000                       5,000 seeds in both modes
python -m tests.simulation.run --systematic 4                         each fault at each operation
python -m tests.simulation.run --mutants                              each rule broken in turn
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from .mutants import MUTANTS, mutated
from .schedule import Result, play

MODES = ("atomic", "sequential")
BATCH = 50  # schedules between two looks at the garbage
STRIKES = ("crash", "freeze", "applied", "lost", "late")


@dataclass
class Tally:
    """What came of many schedules. ``count`` adds up their cases; ``seen``: in how many."""

    mode: str
    schedules: int = 0
    operations: int = 0
    count: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[int, str, str]] = field(default_factory=list)  # (seed, strike, law)

    def add(self, result: Result, strike: str = "") -> None:
        """Take one schedule in."""
        self.schedules += 1
        self.operations += result.operations
        self.count.update(result.count)
        self.seen.update({case: 1 for case, n in result.count.items() if n})
        if result.broken:
            self.broken.append((result.seed, strike, result.broken))

    def join(self, other: Tally) -> None:
        """Take another tally in."""
        self.schedules += other.schedules
        self.operations += other.operations
        self.count.update(other.count)
        self.seen.update(other.seen)
        self.broken += other.broken

    def faults(self) -> str:
        """Each broken seed, its law and how to replay it."""
        return "\n".join(
            f"seed {seed}: {law}\n    {self._replay(seed, strike)}"
            for seed, strike, law in sorted(self.broken)[:20]
        )

    def _replay(self, seed: int, strike: str) -> str:
        if strike:
            run = "python -m tests.simulation.run --trace"
            return f"{run} --seed {seed} --mode {self.mode} --strike {strike}"
        return f"make simulate SEED={seed} MODE={self.mode}"


def batch(job: tuple[str, int, int, str]) -> Tally:
    """A run of seeds: (mode, first, count, mutant or ""); a mutant's run ends when it is caught."""
    mode, first, count, mutant = job
    tally = Tally(mode)
    gc.disable()
    try:
        with mutated(mutant):
            for seed in range(first, first + count):
                tally.add(play(seed, atomic=mode == "atomic"))
                if mutant and tally.broken:
                    break
                if seed % BATCH == 0:
                    gc.collect()
    finally:
        gc.enable()
        gc.collect()
    return tally


def systematic(job: tuple[str, int]) -> Tally:
    """Each fault after each row operation of the schedule of this seed that has none by itself."""
    mode, seed = job
    atomic = mode == "atomic"
    tally = Tally(mode)
    gc.disable()
    try:
        calm = play(seed, atomic=atomic, faults=False)
        tally.add(calm)
        for n in range(1, calm.operations + 1):
            for how in STRIKES:
                struck = play(seed, atomic=atomic, faults=False, strike=(n, how))
                tally.add(struck, f"{n}:{how}")
            if n % 10 == 0:
                gc.collect()
    finally:
        gc.enable()
        gc.collect()
    return tally


def many(work: Any, jobs: list[Any], processes: int) -> Iterator[Any]:
    """Do the jobs in processes of their own, in order."""
    if processes <= 1 or len(jobs) == 1:
        yield from map(work, jobs)
        return
    # spawn, not fork: the parent may have threads, and a child must not inherit its state
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        yield from pool.map(work, jobs)


def schedules(mode: str, first: int, count: int, processes: int = 2) -> Tally:
    """Random schedules."""
    size = max(1, min(250, -(-count // processes)))
    jobs = [(mode, first + i, min(size, count - i), "") for i in range(0, count, size)]
    return _joined(mode, many(batch, jobs, processes))


def strikes(mode: str, seeds: Iterable[int], processes: int = 2) -> Tally:
    """The systematic runs of these seeds."""
    return _joined(mode, many(systematic, [(mode, seed) for seed in seeds], processes))


def _joined(mode: str, tallies: Iterator[Tally]) -> Tally:
    whole = Tally(mode)
    for tally in tallies:
        whole.join(tally)
    return whole


def main() -> int:
    """The command."""
    options = _options()
    modes = [mode for mode in MODES if options.mode in (mode, "both")]
    if options.trace:
        return _trace(options, modes)
    failed = False
    for mode in modes:
        begun = time.monotonic()
        if options.mutants:
            failed |= _mutants(mode, options)
            continue
        if options.systematic:
            seeds = range(options.seed, options.seed + options.systematic)
            tally = strikes(mode, seeds, options.jobs)
        elif options.mutant:
            tally = batch((mode, options.seed, options.schedules, options.mutant))
        else:
            tally = schedules(mode, options.seed, options.schedules, options.jobs)
        seconds = time.monotonic() - begun
        print(
            f"{mode}: {tally.schedules} schedules, {tally.operations} row operations,"
            f" {len(tally.broken)} broken, {seconds:.0f} s"
        )
        if tally.broken:
            print(tally.faults())
            failed = True
        if options.cases:
            for case in sorted(tally.count):
                print(f"  {case:40} {tally.count[case]:9} in {tally.seen[case]} schedules")
    return int(failed)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.run")
    add = parser.add_argument
    add("--seed", type=int, default=1, help="the first seed")
    add("--schedules", type=int, default=1, help="how many seeds")
    add("--mode", choices=(*MODES, "both"), default="both")
    add("--trace", action="store_true", help="print each step of the one schedule")
    add("--strike", default="", help="N:HOW, with no other fault: HOW goes wrong at operation N")
    add("--systematic", type=int, default=0, help="baselines to strike at each operation")
    add("--mutants", action="store_true", help="each broken rule must be caught")
    add("--mutant", default="", help="run with this rule broken")
    add("--cases", action="store_true", help="print how often each case occurred")
    add("--jobs", type=int, default=2)
    return parser.parse_args()


def _trace(options: argparse.Namespace, modes: list[str]) -> int:
    strike = None
    if options.strike:
        n, _, how = options.strike.partition(":")
        strike = (int(n), how)
    broken = False
    for mode in modes:
        print(f"--- {mode}, seed {options.seed}")
        with mutated(options.mutant):
            result = play(
                options.seed,
                atomic=mode == "atomic",
                faults=strike is None,
                strike=strike,
                trace=True,
            )
        print(f"--- {result.broken or 'every law holds'} ({result.operations} row operations)")
        broken |= bool(result.broken)
    return int(broken)


def _mutants(mode: str, options: argparse.Namespace) -> bool:
    names = [m.name for m in MUTANTS if mode in m.modes]
    count = max(options.schedules, 1000)
    missed = False
    tallies = many(batch, [(mode, options.seed, count, name) for name in names], options.jobs)
    for name, tally in zip(names, tallies, strict=True):
        if tally.broken:
            seed, _, law = tally.broken[0]
            print(f"{mode:10} {name:32} seed {seed}: {law[:90]}", flush=True)
        else:
            print(f"{mode:10} {name:32} NOT CAUGHT in {tally.schedules}", flush=True)
            missed = True
    return missed


if __name__ == "__main__":
    sys.exit(main())
