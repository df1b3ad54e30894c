"""Pushes: 1,000 tasks with three receivers each, one of them slow and one failing half the time.

A real server, real receivers. Tasks come at a steady pace, and each has its webhooks before the
word that makes it go: two set beforehand, one that comes with that word. Before and after, fewer
tasks have quick receivers only, at the same pace: what a quick receiver waits for then, and what it
waits for beside a slow one and a failing one, is the ratio. At last they come all at once.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from . import push_costs, servers
from .receivers import DELAY, FLAKY, IN_A_ROW, LAST, QUICK, SLOW, Arrival, Receivers
from .report import Line
from .rounds import percentile

MIXED = ("fast", SLOW, FLAKY)
WORDS = ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "artifact 1", "artifact 2", LAST)
RATE = 16.0  # tasks that begin each second: one process is busy with them, and keeps up
AT_ONCE = 1000.0
DELAYED = 1.5  # times what a quick receiver waits anyway: at most that beside slow and failing ones
PATIENCE = 180.0  # seconds for what is to come after the last task
SETTINGS = {"A2A_FN_PUSH_NOTIFICATIONS": "true", "A2A_FN_PUSH_ALLOW_PRIVATE": "true"}


@dataclass(frozen=True, slots=True)
class Audit:
    """What went wrong: events that were never accepted, that came before the one before them was
    accepted, and that came again though they were accepted."""

    lost: int
    disordered: int
    repeated: int


def audit(arrivals: Iterable[Arrival], tasks: Iterable[str], receivers: Sequence[str]) -> Audit:
    """Look at what came, in order of arrival, against what each receiver should have got."""
    told: dict[tuple[str, str], list[Arrival]] = defaultdict(list)
    for arrival in arrivals:
        told[arrival.receiver, arrival.task].append(arrival)
    lost = disordered = repeated = 0
    for receiver in receivers:
        for task in tasks:
            accepted: dict[str, int] = {}  # and when it was
            for arrival in told.pop((receiver, task), ()):
                before = WORDS[: WORDS.index(arrival.word)]
                if any(accepted.get(word, arrival.came) >= arrival.came for word in before):
                    disordered += 1
                if arrival.word in accepted:
                    repeated += 1
                elif arrival.accepted:
                    accepted[arrival.word] = arrival.done
            lost += len(WORDS) - len(accepted)
    if told:
        raise RuntimeError(f"pushes that nobody asked for: {list(told)[:3]}")
    return Audit(lost, disordered, repeated)


def lateness(arrivals: Iterable[Arrival], receiver: str) -> list[float]:
    """From the agent's word to its first arrival at a receiver, in ms."""
    first: dict[tuple[str, str], float] = {}
    for arrival in arrivals:
        if arrival.receiver == receiver and arrival.stamp:
            late = (arrival.came - arrival.stamp) / 1e6
            first.setdefault((arrival.task, arrival.word), late)
    return list(first.values())


def measure(
    tasks: int = 1000,
    quick: int = 200,
    sdk: int = 100,
    delay: float = DELAY,
    in_a_row: int = IN_A_ROW,
    rate: float = RATE,
) -> list[Line]:
    """What came of all these tasks; what a push costs; and the same receivers with the SDK.
    ``delay`` of the slow one, failures ``in_a_row`` of the failing one."""
    agent = "agent:tests.bench.agents:Notifier"
    with (
        TemporaryDirectory() as folder,
        Receivers(delay=delay, in_a_row=in_a_row) as receivers,
        servers.ours("sqlite", agent, data=folder, settings=SETTINGS) as server,
    ):
        _load(server, receivers, QUICK, min(quick, 20), rate)  # what only the first ones pay
        before = _load(server, receivers, QUICK, quick, rate)
        mixed = _load(server, receivers, MIXED, tasks, rate)
        after = _load(server, receivers, QUICK, quick, rate)
        burst = _load(server, receivers, QUICK, quick, AT_ONCE)
    return [
        *_outcome(mixed),
        *_delays(mixed, before, after),
        Line(
            f"{quick:,} tasks at once, quick receivers: pushes/s, the tasks' turns with them",
            burst.accepted / burst.wall,
            unit="pushes/s",
        ),
        *push_costs.lines(),
        _sdk(sdk, rate),
    ]


@dataclass(frozen=True, slots=True)
class Load:
    """What came of so many tasks: seconds of wall time and of the server's CPU."""

    receivers: Sequence[str]
    tasks: Sequence[str]
    arrivals: Sequence[Arrival]
    wall: float
    cpu: float | None

    @property
    def accepted(self) -> int:
        """Pushes that were accepted."""
        return sum(arrival.accepted for arrival in self.arrivals)


def _load(
    server: servers.Server, receivers: Receivers, names: Sequence[str], tasks: int, rate: float
) -> Load:
    began, spent = time.monotonic(), server.cpu()
    known = asyncio.run(
        _tasks(server.url, {name: receivers.url(name) for name in names}, tasks, rate)
    )
    arrivals = receivers.gathered(dict.fromkeys(names, tasks), PATIENCE)
    wall, after = time.monotonic() - began, server.cpu()
    cpu = None if spent is None or after is None else after - spent
    return Load(names, known, arrivals, wall, cpu)


async def _tasks(url: str, hooks: dict[str, str], count: int, rate: float) -> list[str]:
    """The ids of so many tasks that have ended, begun at this pace."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    # idle connections are let go before the server does it (uvicorn: 5 s), and resets a request
    limits = httpx.Limits(max_connections=100, keepalive_expiry=2)
    async with httpx.AsyncClient(timeout=60, trust_env=False, limits=limits) as client:

        async def one(number: int) -> str:
            await asyncio.sleep(began + number / rate - loop.time())
            task = (await _call(client, url, "SendMessage", _message("wait")))["task"]["id"]
            inline, *others = hooks.items()
            for name, to in others:
                config = {"taskId": task, "id": name, "url": to}
                await _call(client, url, "CreateTaskPushNotificationConfig", config)
            hook = {"id": inline[0], "url": inline[1]}
            go = _message("go", taskId=task) | {
                "configuration": {"taskPushNotificationConfig": hook}
            }
            ended = (await _call(client, url, "SendMessage", go))["task"]
            if ended["status"]["state"] != LAST:
                raise RuntimeError(f"no finished task: {ended['status']}")
            return str(task)

        return await asyncio.gather(*(one(number) for number in range(count)))


async def _call(client: httpx.AsyncClient, url: str, method: str, params: dict[str, Any]) -> Any:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = await client.post(url, json=call, headers={"A2A-Version": "1.0"})
    document = answer.json()
    if "result" not in document:
        raise RuntimeError(f"{method}: {str(document)[:400]}")
    return document["result"]


def _message(text: str, **fields: str) -> dict[str, Any]:
    name = f"bench-{time.monotonic_ns()}"
    return {
        "message": {"messageId": name, "role": "ROLE_USER", "parts": [{"text": text}], **fields}
    }


def _outcome(mixed: Load) -> list[Line]:
    found = audit(mixed.arrivals, mixed.tasks, mixed.receivers)
    pushes = len(mixed.tasks) * len(mixed.receivers) * len(WORDS)
    what = f"{len(mixed.tasks):,} tasks, {pushes:,} pushes"
    flaky = [arrival for arrival in mixed.arrivals if arrival.receiver == FLAKY]
    failed = sum(not arrival.accepted for arrival in flaky)
    ends = {
        name: max(a.done for a in mixed.arrivals if a.receiver == name) for name in mixed.receivers
    }
    begin = min(arrival.came for arrival in mixed.arrivals)
    took = ", ".join(f"{name} after {(end - begin) / 1e9:.0f} s" for name, end in ends.items())
    return [
        Line(f"{what}: lost", found.lost, 0, note=f"all there: {took}"),
        Line(f"{what}: out of order", found.disordered, 0),
        Line(f"{what}: again though accepted", found.repeated),
        Line(
            f"{what}: tries that failed, of the flaky one's",
            failed / len(flaky),
            ours=failed,
            other=len(flaky),
            unit="tries",
        ),
        Line(f"{what}: accepted a second", mixed.accepted / mixed.wall, unit="pushes/s"),
    ]


def _delays(mixed: Load, before: Load, after: Load) -> list[Line]:
    lines = []
    late = lateness(mixed.arrivals, "fast")
    quiet = [lateness(load.arrivals, "fast") for load in (before, after)]
    for share, name in ((0.5, "p50"), (0.95, "p95")):
        ours = percentile(late, share)
        others = [percentile(each, share) for each in quiet]
        ratios = [ours / other for other in others]
        lines.append(
            Line(
                f"word -> quick receiver, {name}: beside slow and flaky / beside quick ones",
                median(ratios),
                DELAYED if share == 0.5 else None,
                min(ratios),
                max(ratios),
                ours,
                median(others),
                "ms",
            )
        )
    costs = [load.cpu * 1000 / load.accepted for load in (mixed, before, after) if load.cpu]
    if len(costs) == 3:
        ours, *others = costs
        ratios = [ours / other for other in others]
        lines.append(
            Line(
                "server's CPU per push, its share of the task with it: likewise",
                median(ratios),
                None,
                min(ratios),
                max(ratios),
                ours,
                median(others),
                "ms",
                "what is tried again is in it, and the idle time of the longer run",
            )
        )
    return lines


def _sdk(tasks: int, rate: float) -> Line:
    """How much the SDK's own sender, which tries once, loses to the failing receiver."""
    with Receivers() as receivers, servers.sdk("SdkNotifier", push=True) as server:
        hooks = {name: receivers.url(name) for name in ("fast", FLAKY)}
        asyncio.run(_tasks(server.url, hooks, tasks, rate))
        arrivals = receivers.gathered({"fast": tasks}, 20)
    told = {(a.task, a.word) for a in arrivals if a.receiver == "fast"}
    kept = {(a.task, a.word) for a in arrivals if a.receiver == FLAKY and a.accepted}
    return Line(
        f"the SDK's server, {tasks:,} tasks: lost to the flaky one",
        len(told - kept) / len(told),
        ours=len(told - kept),
        other=len(told),
        unit="pushes",
        note="it tries once",
    )
