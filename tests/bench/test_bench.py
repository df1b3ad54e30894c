"""Does the bench still run, and are the counts, which no load can change, within budget?"""

from __future__ import annotations

import json

import pytest
from tests.bench import push_costs, volume
from tests.bench.__main__ import main, measure
from tests.bench.child import Child
from tests.bench.pushes import WORDS, Audit, audit, lateness
from tests.bench.receivers import Arrival, Receivers
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


@pytest.mark.slow
def test_30_tasks_lose_no_push():
    lines = measure("pushes", tiny=True)
    lost, disordered, *_ = lines
    assert lost.what.endswith("lost") and disordered.what.endswith("out of order")
    assert lost.value == disordered.value == 0
    assert all(line.value > 0 for line in lines if line.unit)


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


# ---------------------------------------------------------------- pushes


def test_a_push_costs_few_writes_reads_and_messages():
    assert {line.what: line.verdict for line in push_costs.lines() if line.verdict != "ok"} == {}


def arrivals(*told, receiver="fast"):
    """(index of the event, came, answered, status) each."""
    return [Arrival(receiver, "t", WORDS[i], 1, *rest) for i, *rest in told]


WELL = [(i, 10 * i, 10 * i + 5, 204) for i in range(len(WORDS))]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (WELL, Audit(0, 0, 0)),
        ([(0, -20, -19, 503), (0, -10, -9, 0), *WELL], Audit(0, 0, 0)),
        (WELL[:-1], Audit(1, 0, 0)),
        ([], Audit(len(WORDS), 0, 0)),
        ([*WELL[:-1], (4, 90, 91, 503)], Audit(1, 0, 0)),
        ([WELL[0], WELL[2], (1, 21, 22, 204), *WELL[3:]], Audit(0, 1, 0)),
        ([*WELL, (4, 90, 91, 204)], Audit(0, 0, 1)),
        ([(0, 0, 15, 204), *WELL[1:]], Audit(0, 1, 0)),  # came before that one was answered
    ],
)
def test_an_audit_tells_what_is_lost_early_or_repeated(told, found):
    assert audit(arrivals(*told), ["t"], ["fast"]) == found


def test_a_push_to_a_receiver_without_a_webhook_is_no_measurement():
    with pytest.raises(RuntimeError, match="nobody asked for"):
        audit(arrivals(*WELL, receiver="second"), ["t"], ["fast"])


def test_lateness_is_of_the_first_arrival():
    told = arrivals((0, 3_000_001, 4, 503), (0, 9_000_001, 10, 204))
    assert lateness(told, "fast") == [3.0]
    assert lateness(told, "slow") == []


def test_receivers_tell_what_came_and_how_it_was_answered():
    import httpx

    update = {"taskId": "t", "status": {"state": WORDS[-1]}}
    with Receivers(delay=0.0, in_a_row=1) as receivers:
        answers = [
            httpx.post(receivers.url(name), json={"statusUpdate": update}, trust_env=False)
            for name in ("fast", "slow")
        ]
        found = receivers.gathered({"fast": 1, "slow": 1}, 10)
    assert [answer.status_code for answer in answers] == [204, 204]
    assert [(a.receiver, a.task, a.word, a.accepted) for a in found] == [
        ("fast", "t", WORDS[-1], True),
        ("slow", "t", WORDS[-1], True),
    ]
