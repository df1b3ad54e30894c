"""What a turn shows of the agent's work, what it hands over, and what it keeps in the task."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.types.a2a_pb2 import StreamResponse, Task, TaskState
from google.protobuf.json_format import MessageToDict
from tests.unit.world import World, user

from a2a_fn.errors import Unavailable
from a2a_fn.journal import intents
from a2a_fn.journal.slots import Kind
from a2a_fn.turns.manner import Manner
from a2a_fn.turns.run import Outcome
from a2a_fn.turns.turn import Turn


@pytest.fixture
def world() -> World:
    return World()


async def shown(world: World, task: str) -> list[dict[str, Any]]:
    """metadata.iac_code of each event of a task that has some."""
    events: list[StreamResponse] = [e.payload for s in await world.slots(task) for e in s.events]
    found = [MessageToDict(e.status_update.metadata) for e in events if e.HasField("status_update")]
    return [one["iac_code"] for one in found if "iac_code" in one]


def note(task: Task) -> Any:
    return MessageToDict(task.metadata).get("iac_code.place")


async def thinks(turn: Turn) -> None:
    await turn.say("a")
    await turn.thinking("because")
    await turn.say("b")
    await turn.tool("t1", "search", "started", input={"q": "x" * 5000, "n": 1})
    await turn.permission(False)
    await turn.tool("t1", "search", "failed", result="r" * 4001)
    await turn.usage(3, 4)
    await turn.complete()


THINKING = {"thinking": {"type": "raw_thinking", "text": "because"}}
TOOL = {"toolUseId": "t1", "name": "search"}
TOOLS = [
    {"tool": {**TOOL, "status": "started", "input": {"q": "x" * 4000, "n": 1.0}}},
    {"permission": {"autoApproved": False}},
    {"tool": {**TOOL, "status": "failed", "result": "r" * 4000}},
]
USAGE = {"usage": {"inputTokens": 3.0, "outputTokens": 4.0, "totalTokens": 7.0}}


@pytest.mark.parametrize(
    ("exposure", "expected"),
    [
        (("tool-trace",), [*TOOLS, USAGE]),
        (("raw-thinking",), [THINKING, TOOLS[1], USAGE]),
        (("tool-trace", "raw-thinking"), [THINKING, *TOOLS, USAGE]),
        ((), [TOOLS[1], USAGE]),
    ],
)
async def test_what_is_shown_of_the_work_is_a_setting(
    world: World, exposure: tuple[str, ...], expected: list[Any]
) -> None:
    task = await world.submit()
    await world.run(task, thinks, manner=Manner(frozenset(exposure)))
    assert await shown(world, task) == expected
    history = (await world.task(task)).history
    said = [part.text for message in history for part in message.parts]
    assert [*said, (await world.task(task)).status.message.parts[0].text][:2] == ["hi", "ab"]


async def test_long_thinking_is_cut(world: World) -> None:
    async def agent(turn: Turn) -> None:
        await turn.thinking("x" * 4001)
        await turn.thinking("")
        await turn.complete()

    task = await world.submit()
    await world.run(task, agent, manner=Manner(frozenset({"raw-thinking"})))
    (only,) = await shown(world, task)
    assert only["thinking"]["text"] == "x" * 4000


async def test_a_note_is_in_the_task_from_the_turns_end_on(world: World) -> None:
    async def agent(turn: Turn) -> None:
        turn.note("place", {"n": 1})
        await turn.usage(1, 1)
        await turn.ask("?")

    task = await world.submit()
    await world.run(task, agent)
    assert note(await world.task(task)) == {"n": 1}
    metadata = MessageToDict((await world.task(task)).metadata)
    assert metadata["iac_code"]["usage"]["totalTokens"] == 2


async def test_a_later_turn_of_the_task_does_not_lose_a_note(world: World) -> None:
    async def notes(turn: Turn) -> None:
        turn.note("place", 1)
        await turn.ask("?")

    async def uses(turn: Turn) -> None:
        await turn.usage(1, 1)
        await turn.ask("?")

    task = await world.submit()
    await world.run(task, notes)
    await intents.submit(world.journal, "me", user("more", "m2", task=task))
    await world.run(task, uses)
    assert note(await world.task(task)) == 1
    assert "iac_code" in (await world.task(task)).metadata


async def test_a_note_is_published_with_a_checkpoint(world: World) -> None:
    async def agent(turn: Turn) -> None:
        await turn.say("half")
        turn.note("place", 1)
        await turn.save(b"one")
        await turn.save(b"two")
        raise SystemError("dies")

    task = await world.submit()
    await world.run(task, agent)
    assert note(await world.task(task)) == 1
    events = [e.payload.status_update for s in await world.slots(task) for e in s.events]
    assert sum("iac_code.place" in event.metadata for event in events) == 1


async def test_a_note_of_a_turn_that_died_before_its_checkpoint_does_not_count(
    world: World,
) -> None:
    async def dies(turn: Turn) -> None:
        turn.note("place", 1)
        await turn.save(b"one")
        turn.note("place", 2)
        writer = turn._writer
        writer.save = lambda checkpoint: writer.flush(Kind.EVENTS)  # the note's slot, and no more
        await turn.save(b"two")
        noted.append(note(await world.task(task)))
        raise Unavailable("the machine is gone")

    async def looks(turn: Turn) -> None:
        noted.append(note(turn.task))
        await turn.complete()

    noted: list[Any] = []
    task = await world.submit()
    with pytest.raises(Unavailable):
        await world.run(task, dies)
    world.clock.ms += 1_000_000
    await world.run(task, looks)
    assert noted == [2, 1]


async def test_what_is_noted_by_a_worker_that_lost_its_turn_is_nowhere(world: World) -> None:
    async def agent(turn: Turn) -> None:
        turn.note("place", 1)
        await intents.cancel(world.journal, "me", task)
        await turn.save(b"late")

    task = await world.submit()
    assert await world.run(task, agent) is Outcome.LOST
    assert note(await world.task(task)) is None
    assert (await world.task(task)).status.state == TaskState.TASK_STATE_CANCELED


async def test_a_turn_sees_the_tasks_that_its_message_refers_to(world: World) -> None:
    async def looks(turn: Turn) -> None:
        seen.extend(task.id for task in await turn.references())
        await turn.complete()

    async def completes(turn: Turn) -> None:
        await turn.complete("done")

    seen: list[str] = []
    mine = await world.submit("one", "m1")
    await world.run(mine, completes)
    theirs = (await intents.submit(world.journal, "them", user("x", "m2"))).task
    message = user("and now", "m3")
    message.reference_task_ids.extend([mine, theirs, "nonsense", mine[:-1] + "x"])
    task = (await intents.submit(world.journal, "me", message)).task
    await world.run(task, looks)
    assert seen == [mine]


async def test_the_folder_of_the_context_is_the_turns(world: World) -> None:
    async def looks(turn: Turn) -> None:
        seen.append(turn.workspace)
        await turn.ask()

    seen: list[str] = []
    first = await intents.submit(world.journal, "me", user("one"), workspace="/srv/a")
    await world.run(first.task, looks)
    await intents.submit(world.journal, "me", user("two", "m2", task=first.task))
    await world.run(first.task, looks)
    assert seen == ["/srv/a", "/srv/a"]


async def test_a_large_file_is_a_blob_and_not_in_the_journal(world: World) -> None:
    data = bytes(range(256)) * 4096

    async def agent(turn: Turn) -> None:
        await turn.file("big.bin", data, "application/octet-stream")
        await turn.complete()

    task = await world.submit()
    await world.run(task, agent, manner=Manner(artifact_urls="http"))
    (artifact,) = (await world.task(task)).artifacts
    (part,) = artifact.parts
    sha256 = part.metadata["sha256"]
    assert part.url == f"/artifacts/{task}/{sha256}/big.bin"
    assert await world.journal.blobs.get(sha256) == data
    assert (await world.task(task)).ByteSize() < 2000
