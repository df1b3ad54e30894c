"""A scenario on both servers, and where their answers differ."""

from __future__ import annotations

from typing import Any, NamedTuple

from .likeness import Names, differences
from .player import Player
from .servers import oracle, product
from .steps import Call, Scenario
from .wires import Wire


class Found(NamedTuple):
    """A difference, and the step of the scenario (from 0) whose answer has it."""

    step: int
    path: str
    oracle: Any
    product: Any


class Contest(NamedTuple):
    """Both servers' answers, one for each step (None for stage work), and the differences."""

    oracle: list[Any]
    product: list[Any]
    found: list[Found]


async def contest(scenario: Scenario, wire: Wire) -> Contest:
    """Play the scenario on the SDK's server and on ours."""
    async with oracle(scenario, v03=wire.v03) as contestant:
        theirs = await Player(contestant, wire).play(scenario)
    async with product(scenario, v03=wire.v03) as contestant:
        ours = await Player(contestant, wire).play(scenario)
    chosen = _chosen(scenario)
    names = Names(chosen)
    theirs = [names.replace(answer) for answer in theirs]
    names = Names(chosen)
    ours = [names.replace(answer) for answer in ours]
    found = [
        Found(i, *difference)
        for i, (one, other) in enumerate(zip(theirs, ours, strict=True))
        for difference in differences(one, other)
    ]
    return Contest(theirs, ours, found)


def _chosen(scenario: Scenario) -> set[str]:
    """Every text in the scenario's params, and the messageIds that the player gives."""
    return {
        text for step in scenario.steps if isinstance(step, Call) for text in _texts(step.params)
    } | {f"m{i}" for i in range(len(scenario.steps))}


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) else []
