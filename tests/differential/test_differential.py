"""Do we answer as the a2a-sdk's own server does, but for what is listed with a reason?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.differential.contest import Contest, Found, contest
from tests.differential.corpus import SCENARIOS
from tests.differential.corpus_v03 import sayable
from tests.differential.deviations import V10, expected, shown
from tests.differential.deviations_v03 import V03, inherited
from tests.differential.likeness import Names, differences
from tests.differential.steps import Call, Scenario, Step
from tests.differential.wires import HttpJson, JsonRpc, Wire
from tests.differential.wires_v03 import METHODS, PATHS, HttpJson03, JsonRpc03

from a2a_fn.protocol.operations import OPERATIONS

CORPORA: dict[Wire, tuple[Scenario, ...]] = {
    JsonRpc(): SCENARIOS,
    HttpJson(): SCENARIOS,
    JsonRpc03(): sayable(METHODS),
    HttpJson03(): sayable(PATHS),
}


def _cases(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("wire", "scenario"),
        [
            pytest.param(wire, scenario, id=f"{wire.name}-{scenario.name}")
            for wire, scenarios in CORPORA.items()
            for scenario in scenarios
            if wire.name in names
        ],
    )


@_cases("JSONRPC", "HTTP+JSON")
async def test_the_answers_differ_where_the_table_says_and_nowhere_else(
    scenario: Scenario, wire: Wire
) -> None:
    played = await contest(scenario, wire)
    found, labels = _apart(played.found, _is_media_type)
    assert {shown(*each) for each in found} == expected(V10, scenario.name, wire.name)
    assert labels == (_refused(played) if wire.name == "HTTP+JSON" else set())


@_cases("JSONRPC 0.3", "HTTP+JSON 0.3")
async def test_so_do_those_of_v03(scenario: Scenario, wire: Wire) -> None:
    played = await contest(scenario, wire)
    table = (*inherited(wire.name), *V03)
    found, no_streams = _apart(played.found, _is_no_stream)
    listed = expected(table, scenario.name, wire.name)
    assert {shown(*each) for each in found} == {
        each for each in listed if each[0] not in no_streams
    }
    streams = {i for i in _refused(played) if _streams(scenario.steps[i])}
    assert no_streams == (streams if wire.name == "HTTP+JSON 0.3" else set())


def _apart(found: list[Found], known: Callable[[Found], bool]) -> tuple[list[Found], set[int]]:
    """The differences, and apart from them the steps that have a known one."""
    rest = [each for each in found if not known(each)]
    return rest, {each.step for each in found if known(each)}


def _is_media_type(found: Found) -> bool:
    return found[1:] == ("type", "application/json", "application/a2a+json")


def _is_no_stream(found: Found) -> bool:
    return found.oracle == ["error cut"]


def _refused(played: Contest) -> set[int]:
    """The steps that both servers refused."""
    return {
        i
        for i, (one, other) in enumerate(zip(played.oracle, played.product, strict=True))
        if one is not None and _is_refusal(one) and _is_refusal(other)
    }


def _is_refusal(answer: Any) -> bool:
    events = answer.get("events", [])
    return "error" in answer or (len(events) == 1 and "error" in events[0])


def _streams(step: Step) -> bool:
    return isinstance(step, Call) and step.operation in ("SendStreamingMessage", "SubscribeToTask")


@pytest.mark.parametrize(
    ("wire", "least"),
    [("JSONRPC", 200), ("HTTP+JSON", 200), ("JSONRPC 0.3", 30), ("HTTP+JSON 0.3", 30)],
)
def test_the_corpus_is_large_enough(wire: str, least: int) -> None:
    (scenarios,) = (each for known, each in CORPORA.items() if known.name == wire)
    assert sum(isinstance(step, Call) for each in scenarios for step in each.steps) >= least


def test_the_corpus_has_every_operation() -> None:
    calls = [step for each in SCENARIOS for step in each.steps if isinstance(step, Call)]
    assert {call.operation for call in calls} == set(OPERATIONS)
    assert len({each.name for each in SCENARIOS}) == len(SCENARIOS)


def test_the_tables_speak_of_scenarios_that_there_are() -> None:
    steps = {each.name: len(each.steps) for each in SCENARIOS}
    for deviation in (*V10, *V03):
        assert deviation.cases
        for case in deviation.cases:
            assert case.step < steps[case.scenario]


class TestLikeness:
    """The judge itself: what it overlooks, and what it must not."""

    def test_ids_times_and_tokens_are_the_servers_own_business(self) -> None:
        one = {"id": "t-1", "status": {"timestamp": "2026-01-01T00:00:00Z"}, "nextPageToken": "x"}
        two = {"id": "t-2", "status": {"timestamp": "2026-02-01T00:00:00.5Z"}, "nextPageToken": "y"}
        assert differences(Names(set()).replace(one), Names(set()).replace(two)) == []

    def test_the_same_id_must_come_back_where_it_came_back_before(self) -> None:
        one = {"id": "a", "message": {"taskId": "a"}}
        two = {"id": "x", "message": {"taskId": "y"}}
        found = differences(Names(set()).replace(one), Names(set()).replace(two))
        assert [each.path for each in found] == ["message.taskId"]

    def test_an_id_that_the_client_chose_must_be_kept(self) -> None:
        one = Names({"mine"}).replace({"contextId": "mine"})
        two = Names({"mine"}).replace({"contextId": "other"})
        assert [each.path for each in differences(one, two)] == ["contextId"]

    def test_a_page_token_is_there_or_it_is_not(self) -> None:
        one, two = {"nextPageToken": "x"}, {"nextPageToken": ""}
        assert differences(Names(set()).replace(one), Names(set()).replace(two))

    @pytest.mark.parametrize(
        ("one", "two", "path"),
        [
            ({"a": 1}, {"a": 2}, "a"),
            ({"a": 1}, {"a": True}, "a"),
            ({"a": 0}, {}, "a"),
            ({"a": [1, 2]}, {"a": [2, 1]}, "a"),
            ({"a": [1]}, {"a": [1, 2]}, "a[1]"),
            ({"a": {"b": "x"}}, {"a": {"b": "y"}}, "a.b"),
            ({"result": {}}, {"error": {"code": -32001}}, ""),
        ],
    )
    def test_anything_else_is_a_difference(self, one: Any, two: Any, path: str) -> None:
        found = differences(one, two)
        assert found
        assert all(each.path.startswith(path) for each in found)
