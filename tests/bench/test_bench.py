"""Does the bench still run, and are the counts, which no load can change, within budget?"""

from __future__ import annotations

import json

import pytest
from tests.bench import volume
from tests.bench.__main__ import main, measure
from tests.bench.child import Child
from tests.bench.report import Line
from tests.bench.rounds import compare, interleave, percentile
from tests.bench.words import pieces


@pytest.mark.parametrize("part", ["bytes", "lists", "warm"])
def test_a_part_runs(part):
    assert all(line.value > 0 for line in measure(part, tiny=True))


@pytest.mark.slow
@pytest.mark.parametrize("part", ["cold", "latency", "throughput"])
def test_a_part_with_servers_or_cold_starts_runs(part):
    assert all(line.value > 0 for line in measure(part, tiny=True))


def test_the_json_has_every_line(capsys):
    assert main(["bytes", "--tiny", "--json"]) == 0
    document = json.loads(capsys.readouterr().out.partition("\n{")[2].join(("{", "")))
    assert document["machine"]["packages"]["a2a-sdk"]
    assert {line["verdict"] for line in document["parts"]["bytes"]} <= {"ok", "over", "-"}


def test_an_unknown_part_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["coald"])
    assert "there is no part coald" in capsys.readouterr().err


@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("pause", [volume.FAST, volume.STEADY])
def test_200_events_cost_few_row_writes(atomic, pause):
    counted = volume.turn(200, pause=pause, atomic=atomic)
    assert counted.rows <= volume.WRITES
    assert counted.size / 1e6 <= volume.MEGABYTES


@pytest.mark.parametrize("pause", [volume.FAST, volume.STEADY])
@pytest.mark.parametrize("events", [20, 200, 2000])
def test_what_is_written_grows_with_the_content(events, pause):
    assert volume.turn(events, pause=pause).size <= volume.RATIO * events * volume.SIZE


def test_what_goes_wrong_in_a_child_is_said(tmp_path):
    with pytest.raises(RuntimeError, match=r"tests\.bench\.warm:theirs.*no attribute 'theirs'"):
        Child("tests.bench.warm:theirs")
    with (
        Child("tests.bench.lists:ours", folder=str(tmp_path), tasks=0) as child,
        pytest.raises(RuntimeError, match="no_such_operation"),
    ):
        child.run("no_such_operation", 1)


def test_a_budget_is_met_or_not():
    assert [Line("", n, 2.0).verdict for n in (1.9, 2.0, 2.1)] == ["ok", "ok", "over"]
    assert Line("", 1.0).verdict == "-"


def test_rounds_take_turns():
    order = []
    interleave(2, lambda: order.append("a") or [1.0], lambda: order.append("b") or [2.0])
    assert order == ["a", "b", "b", "a"]


def test_a_ratio_is_of_each_round_and_not_of_the_sums():
    line = compare("", [[1.0, 1.0], [10.0], [4.0]], [[2.0], [20.0, 20.0], [4.0]])
    assert (line.value, line.low, line.high) == (0.5, 0.5, 1.0)


def test_percentiles():
    assert percentile(list(range(100)), 0.99) == 99
    assert percentile([3.0], 0.5) == 3.0


def test_the_text_is_not_one_that_compresses_to_nothing():
    import zlib

    text = "".join(pieces(200, 300)).encode()
    assert len(text) == 60_000
    assert len(zlib.compress(text, 9)) > 0.25 * len(text)
