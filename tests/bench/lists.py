"""A page of ListTasks, when the owner has many tasks and when they have few: one SQLite file each.

The rows are made with the product's own encoders and written through its own engine, as the end of
each task's turn would have left them; only the turns themselves did not take place.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory
from typing import Any

from a2a.types.a2a_pb2 import Message, Part, Role, Task, TaskState

from . import gateway
from .child import Child
from .report import Line
from .rounds import compare, interleave
from .words import pieces

BUDGET = 1.2
STATES = (TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_INPUT_REQUIRED)
BATCH = 4000  # rows in one write
START = 1_796_040_000_000  # ms


def measure(
    few: int = 100,
    some: int = 10_000,
    many: int = 100_000,
    sdk: int = 1000,
    rounds: int = 12,
    calls: int = 8,
) -> list[Line]:
    """CPU and wall time of a page, more tasks against few; and against the SDK's, in memory."""
    with (
        TemporaryDirectory() as folder,
        Child(f"{__name__}:ours", folder=f"{folder}/few", tasks=few) as a,
        Child(f"{__name__}:ours", folder=f"{folder}/some", tasks=some) as between,
        Child(f"{__name__}:ours", folder=f"{folder}/many", tasks=many) as b,
        Child(f"{__name__}:sdk", tasks=sdk) as c,
    ):
        lines = []
        cases = (
            ("page", "", between, some),
            ("page", "", b, many),
            ("state", ", by state", b, many),
            ("deep", ", in the middle", b, many),
        )
        for name, title, more, tasks in cases:
            what = f"ListTasks, a page of 50: {tasks:,} tasks / {few:,}"
            for child in (a, more):
                child.run(name, calls)
            taken = interleave(
                rounds,
                lambda name=name, more=more: [more.run(name, calls)],  # type: ignore[misc]
                lambda name=name: [a.run(name, calls)],  # type: ignore[misc]
            )
            for kind in ("cpu", "wall"):
                budget = BUDGET if kind == "cpu" and name != "deep" else None
                ours, other = ([getattr(each[0], kind) for each in side] for side in taken)
                lines.append(compare(f"{what}{title}, {kind}", ours, other, budget=budget))
        c.run("page", 2)
        taken = interleave(
            max(2, rounds // 2),
            lambda: [b.run("page", calls)],
            lambda: [c.run("page", max(2, calls // 2))],
        )
        ours, other = ([each[0].cpu for each in side] for side in taken)
        what = f"a page of 50: ours, {many:,} in SQLite / SDK, {sdk:,} in memory, cpu"
        lines.append(compare(what, ours, other))
        return lines


def ours(folder: str, tasks: int) -> dict[str, Callable[[], None]]:
    """The product on a file with so many tasks of one owner, half of them in each state."""
    from mangum import Mangum

    from a2a_fn.hosts.loop import process_loop
    from a2a_fn.settings import Settings
    from a2a_fn.wiring import build_services

    services = build_services(Settings(engine="sqlite", agent="echo:", data=folder))
    process_loop().run_until_complete(_fill(services.journal, tasks))
    return _operations(Mangum(services.app(), lifespan="off"), tasks)


def sdk(tasks: int) -> dict[str, Callable[[], None]]:
    """The SDK's app on its memory."""
    from a2a.server.context import ServerCallContext
    from a2a.server.tasks import InMemoryTaskStore
    from mangum import Mangum

    from .sdk import sdk_app

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    store = InMemoryTaskStore()

    async def fill() -> None:
        for i in range(tasks):
            task = _task(i, str(uuid.UUID(int=i)), f"c-{i}")
            await store.save(task, ServerCallContext())

    loop.run_until_complete(fill())
    return _operations(Mangum(sdk_app(store=store), lifespan="off"), tasks)


async def _fill(journal: Any, tasks: int) -> None:
    batch: list[Any] = []
    for rows in _rows(journal, tasks):
        batch += rows
        if len(batch) >= BATCH:
            await journal.rows.write(batch)
            batch = []
    await journal.rows.write(batch)


def _rows(journal: Any, tasks: int) -> Iterator[list[Any]]:
    """The rows of each task in a context of its own: index, head, context head."""
    from a2a_fn.journal import heads, index
    from a2a_fn.journal.cells import COMPRESS_FROM
    from a2a_fn.journal.fold import Context, Head
    from a2a_fn.ports import Put

    owner = journal.ids.owner("")
    for i in range(tasks):
        context_id = str(uuid.UUID(int=i))
        part = journal.ids.partition("", context_id)
        task = _task(i, journal.ids.task_id(part, "", str(i), 0), context_id)
        time = START + i * 1000
        head = Head(task, generation=3, slot=3, status_time=time, created=time)
        data = heads.encode_head(head)
        assert len(data) < COMPRESS_FROM, "pack() would do more than put a byte before it"
        context = Context(n=3, epoch=1, owner="", context_id=context_id)
        yield [
            *index.entries(owner, part, head),
            Put(heads.partition(part), heads.TASKS + task.id, b"\x00" + data, order=3),
            Put(heads.partition(part), heads.CONTEXT, heads.encode_context(context), order=3),
        ]


def _task(i: int, task_id: str, context_id: str) -> Task:
    task = Task(id=task_id, context_id=context_id)
    task.status.state = STATES[i % 2]
    task.status.timestamp.FromMilliseconds(START + i * 1000)
    texts = pieces(64, 80)
    task.history.append(
        Message(message_id=f"u-{i}", role=Role.ROLE_USER, parts=[Part(text=texts[i % 64])])
    )
    task.status.message.CopyFrom(
        Message(message_id=f"a-{i}", role=Role.ROLE_AGENT, parts=[Part(text=texts[-i % 64])])
    )
    return task


def _operations(mangum: Any, tasks: int) -> dict[str, Callable[[], None]]:
    tokens: list[str] = []

    def page(**params: Any) -> dict[str, Any]:
        body = gateway.call("ListTasks", {"pageSize": min(50, tasks // 2), **params})
        answer = gateway.result(mangum(gateway.event("POST", "/", body), None))
        assert len(answer["tasks"]) == min(50, tasks // 2)
        return answer

    def deep() -> None:
        if not tokens:  # a page after another, as deep as the smaller file goes
            tokens.append(page()["nextPageToken"])
        page(pageToken=tokens[0])

    def by_state() -> None:
        page(status="TASK_STATE_COMPLETED")

    return {"page": lambda: bool(page()) and None, "state": by_state, "deep": deep}
