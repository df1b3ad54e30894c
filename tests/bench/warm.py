"""Warm requests through Mangum, in memory, one after the other."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import gateway
from .child import Child
from .report import Line
from .rounds import compare, interleave

Operations = dict[str, Callable[[], None]]

WHAT = {
    "send": ("SendMessage, returnImmediately", 0.5),
    "turn": ("SendMessage, waits for its turn", None),
    "get": ("GetTask", None),
    "list": ("ListTasks, a page of 50", None),
    "card": ("agent card", None),
}


def measure(rounds: int = 10, calls: int = 40, warm_up: int = 60) -> list[Line]:
    """CPU per call, ours against the SDK's; wall time too where there is a budget."""
    lines = []
    with Child(f"{__name__}:ours") as ours, Child(f"{__name__}:sdk") as sdk:
        for name, (what, budget) in WHAT.items():
            for child in (ours, sdk):
                child.run(name, warm_up)
            taken = interleave(
                rounds,
                lambda name=name: [ours.run(name, calls)],  # type: ignore[misc]
                lambda name=name: [sdk.run(name, calls)],  # type: ignore[misc]
            )
            for kind in ("cpu", "wall") if budget else ("cpu",):
                a, b = ([getattr(each[0], kind) for each in side] for side in taken)
                lines.append(compare(f"{what}, {kind}", a, b, budget=budget))
    note = "ours writes the journal and a wake-up, the turn runs elsewhere; the SDK runs it here"
    return [replace(lines[0], note=note), *lines[1:]]


def ours() -> Operations:
    """functions/http.py for what a function does; with a worker beside it for whole turns."""
    os.environ.update({"A2A_FN_ENGINE": "memory", "A2A_FN_AGENT": "echo:"})
    from functions.http import handler
    from mangum import Mangum

    from a2a_fn.hosts.loop import process_loop
    from a2a_fn.settings import Settings
    from a2a_fn.wiring import build_services

    loop = process_loop()
    services = build_services(Settings(engine="memory", agent="echo:"))
    whole = Mangum(services.app(), lifespan="off")

    async def work() -> None:
        while True:
            for delivery in await services.turns.receive(1, 5):
                await services.turns.ack(delivery.handle)
                await services.run_turn(delivery.body)

    keep = loop.create_task(work())

    def with_worker(event: dict[str, Any]) -> dict[str, Any]:
        assert not keep.done()
        return whole(event, None)

    return _operations(lambda event: handler(event, None), with_worker)


def sdk() -> Operations:
    """The SDK's app; it runs the turn in the same process in either case."""
    from mangum import Mangum

    from .sdk import sdk_app

    asyncio.set_event_loop(asyncio.new_event_loop())
    both = [Mangum(sdk_app(), lifespan="off") for _ in range(2)]
    return _operations(lambda event: both[0](event, None), lambda event: both[1](event, None))


def _operations(
    function: Callable[[dict[str, Any]], dict[str, Any]],
    whole: Callable[[dict[str, Any]], dict[str, Any]],
) -> Operations:
    tasks: list[str] = []

    def post(to: Callable[[dict[str, Any]], dict[str, Any]], body: str) -> dict[str, Any]:
        return gateway.result(to(gateway.event("POST", "/", body)))

    def turn() -> None:
        task = post(whole, gateway.send(at_once=False))["task"]
        assert task["status"]["state"] == "TASK_STATE_COMPLETED", task
        tasks.append(task["id"])

    def page() -> None:
        assert len(post(whole, gateway.call("ListTasks", {"pageSize": 50}))["tasks"]) == 50

    return {
        "send": lambda: bool(post(function, gateway.send(at_once=True))["task"]) or None,
        "turn": turn,
        "get": lambda: post(whole, gateway.call("GetTask", {"id": tasks[-1]}))["id"] and None,
        "list": page,
        "card": lambda: gateway.result(whole(gateway.event("GET", gateway.CARD)))["name"] and None,
    }
