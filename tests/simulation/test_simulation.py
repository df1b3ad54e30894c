"""The durable core under thousands of schedules of crashes, freezes, lost answers and late ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.simulation.cases import missing
from tests.simulation.mutants import MUTANTS, mutated
from tests.simulation.run import MODES, batch, schedules, strikes
from tests.simulation.schedule import play

PROCESSES = 2
QUICK, FULL = 500, 5000  # schedules per mode
ENOUGH = 4000  # schedules in which a broken rule must show


@pytest.mark.parametrize("mode", MODES)
def test_no_schedule_breaks_a_law(mode):
    tally = schedules(mode, 1, QUICK, PROCESSES)
    assert not tally.broken, tally.faults()
    assert not missing(mode, tally.schedules, tally.count)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_no_schedule_of_ten_thousand_breaks_a_law(mode):
    tally = schedules(mode, 1, FULL, PROCESSES)
    assert tally.schedules == FULL
    assert not tally.broken, tally.faults()
    assert not missing(mode, tally.schedules, tally.count)


@pytest.mark.parametrize("mode", MODES)
def test_no_fault_at_any_operation_breaks_a_law(mode):
    tally = strikes(mode, range(1, 2))
    assert not tally.broken, tally.faults()
    assert tally.schedules > 300


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_no_fault_at_any_operation_of_more_schedules_breaks_a_law(mode):
    tally = strikes(mode, range(2, 6), PROCESSES)
    assert not tally.broken, tally.faults()
    assert tally.schedules > 1500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "name"), [(mode, mutant.name) for mutant in MUTANTS for mode in mutant.modes]
)
def test_a_broken_rule_is_noticed(mode, name):
    tally = batch((mode, 1, ENOUGH, name))
    assert tally.broken, f"not noticed in {tally.schedules} schedules"


@pytest.mark.parametrize("name", ["lease ignored", "no restart mark", "follow by slot"])
def test_a_broken_rule_is_noticed_at_once(name):
    assert batch(("atomic", 1, 200, name)).broken


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_mutant_still_finds_its_rule(mutant):
    with mutated(mutant.name):
        pass


def test_a_seed_is_the_same_run_in_every_process():
    code = (
        "from tests.simulation.schedule import play;"
        "[print(play(s, atomic=a)) for s in (3, 17, 29) for a in (True, False)]"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in (1, 2)
    }
    here = "".join(f"{play(s, atomic=a)}\n" for s in (3, 17, 29) for a in (True, False))
    assert runs == {here}
