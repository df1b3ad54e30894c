"""What a turn writes: row writes, requests and bytes, counted between the journal and its rows."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import median

from a2a.types.a2a_pb2 import Message, Part, Role

from a2a_fn.engines.memory import MemoryBlobs, MemoryRows
from a2a_fn.journal import intents
from a2a_fn.journal.ids import Ids
from a2a_fn.journal.journal import Journal
from a2a_fn.ports import Change, Put, Row
from a2a_fn.turns.run import Outcome, run_turn
from a2a_fn.turns.turn import Turn

from .report import Line
from .virtual import VirtualClock, run
from .words import pieces

SIZE = 300  # bytes of an event's text
WRITES = 45
MEGABYTES = 0.15
RATIO = 2.0
FAST = 0.0
STEADY = 1 / 50  # seconds between two pieces of a model that streams


@dataclass
class Count:
    """What reached the store."""

    requests: int = 0  # calls of write; an engine with transactions makes one of each
    rows: int = 0  # puts and deletes in them
    size: int = 0  # bytes of partitions, keys and values, and of blobs
    reads: int = 0
    kinds: Counter[str] = field(default_factory=Counter)  # rows by the first letter of their key


class CountingRows:
    """``ports.Rows`` that counts what goes through it."""

    def __init__(self, rows: MemoryRows, counted: Count) -> None:
        self._rows = rows
        self._count = counted

    async def get(self, partition: str, key: str) -> Row | None:
        """See ``ports.Rows.get``."""
        self._count.reads += 1
        return await self._rows.get(partition, key)

    async def scan(
        self,
        partition: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int = 1000,
        reverse: bool = False,
    ) -> list[Row]:
        """See ``ports.Rows.scan``."""
        self._count.reads += 1
        return await self._rows.scan(
            partition, prefix=prefix, after=after, limit=limit, reverse=reverse
        )

    async def write(self, changes: Sequence[Change]) -> None:
        """See ``ports.Rows.write``."""
        self._count.requests += 1
        self._count.rows += len(changes)
        for change in changes:
            self._count.size += len(change.partition) + len(change.key)
            kind = change.partition[0] if change.partition[0] != "C" else change.key[0]
            if isinstance(change, Put):
                self._count.size += len(change.value)
            self._count.kinds[kind] += 1
        await self._rows.write(changes)


class CountingBlobs(MemoryBlobs):
    """``ports.Blobs`` that counts what is put."""

    def __init__(self, counted: Count) -> None:
        super().__init__()
        self._counted = counted

    async def put(self, data: bytes, media_type: str = "application/octet-stream") -> str:
        """See ``ports.Blobs.put``."""
        self._counted.requests += 1
        self._counted.size += len(data) + 64
        return await super().put(data, media_type)


def turn(events: int, *, pause: float = FAST, atomic: bool = True) -> Count:
    """Count one whole turn, from the submit to its end: so many events of ``SIZE`` bytes."""
    loop = VirtualClock()
    counted = Count()
    numbers = count(1)
    journal = Journal(
        CountingRows(MemoryRows(atomic=atomic, clock=loop), counted),
        CountingBlobs(counted),
        loop,
        Ids(b"k" * 32),
        nonce=lambda: f"{next(numbers):016x}",
    )

    async def agent(turn: Turn) -> None:
        for piece in pieces(events, SIZE):
            await asyncio.sleep(pause)
            await turn.say(piece)
        await turn.complete()

    async def wake(part: str) -> None:
        pass

    async def whole() -> None:
        message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="Say it all.")])
        accepted = await intents.submit(journal, "someone", message)
        outcome = await run_turn(journal, accepted.view.part, agent, wake)
        assert outcome is Outcome.FINISHED
        view = await intents.find(journal, "someone", accepted.task)
        said = "".join(part.text for part in view.tasks[accepted.task].task.status.message.parts)
        assert len(said) == events * SIZE, "what was counted is not the whole answer"

    run(whole(), loop)
    return counted


def sdk_turn(events: int) -> Count:
    """The same turn on the SDK: what its request handler gives a task store to save."""
    from a2a.server.context import ServerCallContext
    from a2a.server.tasks import InMemoryTaskStore
    from a2a.types.a2a_pb2 import SendMessageRequest, Task

    from .agents import SdkTalker
    from .sdk import sdk_handler

    counted = Count()

    class Store(InMemoryTaskStore):
        async def save(self, task: Task, context: ServerCallContext) -> None:
            counted.requests += 1
            counted.rows += 1
            counted.size += task.ByteSize()
            await super().save(task, context)

    async def whole() -> None:
        handler = sdk_handler(SdkTalker(pieces(events, SIZE)), Store())
        message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="Say it all.")])
        await handler.on_message_send(SendMessageRequest(message=message), ServerCallContext())

    asyncio.run(whole())
    return counted


def measure(few: int = 20, many: int = 2000, looks: int = 5) -> list[Line]:
    """Counts against their budgets, at two lengths and two paces; then the SDK's."""
    lines = []
    for pause, pace in ((FAST, "at once"), (STEADY, "50 a second")):
        counted = turn(200, pause=pause)
        kinds = ", ".join(f"{kind}: {n}" for kind, n in sorted(counted.kinds.items()))
        lines += [
            Line(f"200 events, {pace}: row writes", counted.rows, WRITES, unit="rows", note=kinds),
            Line(f"200 events, {pace}: write requests", counted.requests),
            Line(f"200 events, {pace}: written", counted.size / 1e6, MEGABYTES, unit="MB"),
        ]
        for events in (few, many):
            counted = turn(events, pause=pause)
            lines.append(
                Line(
                    f"{events:,} events, {pace}: written / content",
                    counted.size / (events * SIZE),
                    RATIO,
                    ours=counted.size / 1e6,
                    other=events * SIZE / 1e6,
                    unit="MB",
                    note=f"{counted.rows} row writes in {counted.requests} requests",
                )
            )
    whole, parts = turn(200, pause=STEADY), turn(200, pause=STEADY, atomic=False)
    lines.append(
        Line("row writes where a write is not atomic / atomic", parts.rows / whole.rows, 1.0)
    )
    sdk = sdk_turn(200)
    lines.append(
        Line(
            "200 events: written, ours / the SDK",
            whole.size / sdk.size,
            ours=whole.size / 1e6,
            other=sdk.size / 1e6,
            unit="MB",
            note=f"the SDK saves the whole task {sdk.rows} times; protobuf's size, which a "
            "database's JSON exceeds",
        )
    )
    lines.append(_growth(few * 10, many, looks))
    return lines


def _growth(few: int, many: int, looks: int) -> Line:
    """CPU per event of a long turn against a short one: 1 where it grows linearly."""
    spent: dict[int, list[float]] = {few: [], many: []}
    for _ in range(looks):
        for events in (few, many):
            began = time.process_time()
            turn(events, pause=STEADY)
            spent[events].append((time.process_time() - began) * 1e6 / events)
    ratios = [a / b for a, b in zip(spent[many], spent[few], strict=True)]
    return Line(
        f"CPU per event, {many:,} events / {few:,}",
        median(ratios),
        None,
        min(ratios),
        max(ratios),
        median(spent[many]),
        median(spent[few]),
        "us",
    )
