"""What must hold, checked at each row change as it lands."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from a2a_fn.journal import alarms, heads
from a2a_fn.journal.cells import Cells
from a2a_fn.journal.fold import TERMINAL, Context, Head, fold_context, fold_head
from a2a_fn.journal.slots import Event, Kind, Slot, decode
from a2a_fn.ports import Change, Delete, Put

from .scripts import ENDS, Script, answer, matches

_TOKEN = re.compile(r"<[^<>]+>")
WORKERS = (Kind.EVENTS, Kind.BEAT, Kind.YIELDED, Kind.FINISHED)


class Broken(BaseException):
    """A law does not hold. No ``Exception``, so that no handler of the product swallows it."""


@dataclass(slots=True)
class OpenTurn:
    """The turn that is open in a context, as its slots tell."""

    task: str
    name: str  # the user's messageId
    digest: str
    epoch: int = 0
    live: bool = False  # claimed, and not yielded
    real: int = 0  # ms, true time at which its newest slot was composed
    tries: int = 0  # claims since the last checkpoint
    checkpoint: str = ""  # its key
    said: list[tuple[str, str]] = field(default_factory=list)  # (artifact id or "", token)
    safe: int = 0  # how many of them the last checkpoint covers
    beside: bool = False  # a sibling was canceled since its worker's last slot


@dataclass(slots=True)
class Story:
    """A context's journal as it landed, and its rows."""

    n: int = 0
    worked: int = 0  # last slot that is not void
    epoch: int = 0
    turn: OpenTurn | None = None
    busy_until: int = -1  # ms, true time at which the last turn ended
    context: Context = field(default_factory=Context)
    contexts: dict[int, Context] = field(default_factory=dict)
    settled: int = 0  # n of the CTX row
    alarms: set[str] = field(default_factory=set)
    heads: dict[str, Head] = field(default_factory=dict)
    let_go: set[int] = field(default_factory=set)  # epochs that finished or yielded their turn


class Oracle:
    """Sees everything, writes nothing. ``now`` and ``born`` are true times in ms."""

    def __init__(self, world: Any, *, lease: int, skew: int, attempts: int, window: int) -> None:
        self.world = world
        self.lease = lease
        self.attempts = attempts
        self.window = window - skew
        self.stories: defaultdict[str, Story] = defaultdict(Story)
        self.truth: dict[tuple[str, int], Event] = {}  # (task, generation)
        self.folds: dict[tuple[str, int], Head] = {}  # (task, slot)
        self.submitted: dict[str, list[tuple[int, str]]] = {}  # digest -> (true time, task)
        self.scripts: dict[str, Script] = {}  # messageId
        self.born: dict[str, int] = {}  # writer nonce -> true time
        self.rows: dict[str, tuple[Head, int]] = {}  # T# rows, and the change that moved them
        self.changes = 0
        self.trail = 0  # a hash of all of them, with their times
        self.index: defaultdict[str, set[str]] = defaultdict(set)
        self.acked: dict[str, str] = {}  # digest -> task
        self.answers: defaultdict[str, Counter[str]] = defaultdict(Counter)  # digest -> answers
        self.canceled: set[str] = set()

    def need(self, holds: object, law: str) -> None:
        """Raise unless it holds."""
        if not holds:
            self.world.fail(law)

    def knows(self, digest: str) -> bool:
        """Whether the message is in a journal, and not so long that it may run anew."""
        runs = self.submitted.get(digest)
        return bool(runs) and self.world.now - runs[-1][0] < self.window

    def story(self, task: str) -> Story:
        """The journal that a task is in."""
        return self.stories[task.partition("-")[0]]

    def true(self, task: str, head: Head) -> None:
        """What was seen of a task is what it was at that slot."""
        fold = self.folds.get((task, head.slot))
        self.need(fold == head, f"{task} was seen as it never was, at slot {head.slot}")

    # ------------------------------------------------ each change as it lands

    def saw(self, change: Change) -> None:
        """A change has landed (a skipped one has not)."""
        self.changes += 1
        value = change.value if isinstance(change, Put) else b""
        self.trail = crc32(b"%d %s %s" % (self.world.now, change.key.encode(), value), self.trail)
        p, key = change.partition, change.key
        if p[0] == "C":
            if isinstance(change, Delete):
                turn = self.stories[p[2:]].turn
                outlived = key.startswith(heads.STATES) and not (turn and turn.checkpoint == key)
                self.need(outlived, f"deleted {key} of a context")
            elif key.startswith(heads.SLOTS):
                self._slot(p[2:], int(key[2:]), _unpack(change.value))
                self._guarded(p[2:])
            elif key == heads.CONTEXT:
                self._context(p[2:], heads.decode_context(change.value))
            elif key.startswith(heads.TASKS):
                self._head(heads.decode_head(_unpack(change.value)), key)
        elif p[0] == "O":
            if isinstance(change, Put) and change.expires is None:
                self.index[p].add(key)
            else:
                self.index[p].discard(key)
        elif p[0] == "D":
            part = alarms.parse(0, key, b'{"n":0}').part
            if isinstance(change, Put):
                self.stories[part].alarms.add(key)
            else:
                self.stories[part].alarms.discard(key)
                self._guarded(part)

    def _guarded(self, part: str) -> None:
        story = self.stories[part]
        if not story.alarms:
            self.need(story.turn is None, f"no alarm, but a turn is open in {part}")
            self.need(story.settled >= story.worked, f"no alarm, but views are behind in {part}")

    def _context(self, part: str, row: Context) -> None:
        story = self.stories[part]
        self.need(story.contexts.get(row.n) == row, f"CTX of {part} is not the fold up to {row.n}")
        story.settled = row.n

    def _head(self, row: Head, key: str) -> None:
        task = key.removeprefix(heads.TASKS)
        truth = self.folds.get((task, row.slot))
        self.need(truth == row, f"head of {task} is not the fold up to {row.slot}")
        old = self.rows.get(task)
        moved = self.changes if old is None or old[0].status_time != row.status_time else old[1]
        self.rows[task] = (row, moved)

    # ------------------------------------------------ slots

    def _slot(self, part: str, n: int, value: bytes) -> None:
        story = self.stories[part]
        slot = decode(value, story.context.context_id)
        where = f"slot {n} of {part} ({slot.kind}): "
        self.world.count[f"slot {slot.kind}"] += 1
        self.need(n == story.n + 1, where + "the journal has a gap")
        story.n = n
        story.context = story.contexts[n] = fold_context(story.context, n, slot)
        if slot.kind is Kind.VOID:
            return
        story.worked = n
        self._events(story, n, slot, where)
        turn = story.turn
        if slot.kind is Kind.SUBMITTED:
            self.need(turn is None, where + "a second open turn")
            self._submitted(story, slot, where)
        elif slot.kind in (Kind.CLAIMED, Kind.ABANDONED):
            self.need(turn and turn.task == slot.task, where + "no such turn is open")
            self._taken(story, slot, where)
        elif slot.kind in WORKERS:
            self.need(
                turn and turn.task == slot.task and turn.live and turn.epoch == slot.epoch,
                where + "written by a stale epoch",
            )
            self._worked(part, slot, where)
        elif turn and turn.task == slot.task:
            self.world.count["canceled a turn"] += 1
            story.turn = None
        else:
            self.world.count["canceled beside a turn" if turn else "canceled an idle task"] += 1
            if turn:
                turn.beside = turn.live
        if turn and story.turn is None:
            story.busy_until = self.world.now

    def _events(self, story: Story, n: int, slot: Slot, where: str) -> None:
        task = slot.task
        head = story.heads.get(task)
        self.need(not head or head.state not in TERMINAL, where + "after a terminal state")
        generation = head.generation if head else 0
        self.need(
            slot.generation == generation + len(slot.events),
            where + "generations have a gap or a repeat",
        )
        for event in slot.events:
            generation += 1
            self.truth[(task, generation)] = event
        new = fold_head(head, n, slot, story.context.context_id)
        self.need(
            not slot.state or not head or new.status_time > head.status_time,
            where + "the status time does not grow",
        )
        story.heads[task] = self.folds[(task, n)] = new

    def _submitted(self, story: Story, slot: Slot, where: str) -> None:
        assert slot.message is not None
        earlier = self.submitted.setdefault(slot.digest, [])
        born = self.born[slot.writer]
        if earlier:
            self.world.count["same message after the window"] += 1
            self.need(born - earlier[-1][0] >= self.window, where + "the same message runs twice")
        earlier.append((born, slot.task))
        story.turn = OpenTurn(slot.task, slot.message.message_id, slot.digest)

    def _taken(self, story: Story, slot: Slot, where: str) -> None:
        turn = story.turn
        assert turn is not None
        if turn.live:
            self.world.count["take-over"] += 1
            quiet = self.born[slot.writer] - turn.real
            self.need(quiet > self.lease, where + f"took a live turn ({quiet} ms)")
        if slot.kind is Kind.ABANDONED:
            self.need(turn.tries >= self.attempts, where + f"after {turn.tries} attempts")
            story.turn = None
            return
        self.need(slot.epoch == story.epoch + 1, where + "not the next epoch")
        turn.tries += 1
        self.need(turn.tries <= self.attempts, where + "more attempts than allowed")
        story.epoch = turn.epoch = slot.epoch
        turn.live, turn.real = True, self.born[slot.writer]
        if any("iac_code" in e.payload.status_update.metadata for e in slot.events):
            self.world.count["restart dropped words"] += len(turn.said) > turn.safe
            del turn.said[turn.safe :]
        else:
            self.need(len(turn.said) == turn.safe, where + "words come again, with no restart mark")

    def _worked(self, part: str, slot: Slot, where: str) -> None:
        story = self.stories[part]
        turn = story.turn
        assert turn is not None
        turn.real = self.born[slot.writer]
        self.world.count["went on after a sibling's cancel"] += turn.beside
        turn.beside = False
        for event in slot.events:
            if event.payload.HasField("artifact_update"):
                update = event.payload.artifact_update
                name, parts = update.artifact.artifact_id, update.artifact.parts
                if not update.append:  # it begins anew
                    turn.said.append((name, ""))
            else:
                name, parts = "", event.payload.status_update.status.message.parts
            turn.said += [(name, t) for part in parts for t in _TOKEN.findall(part.text)]
        if slot.checkpoint:
            key = (heads.partition(part), slot.checkpoint)
            self.need(self.world.store.rows.peek(*key), where + "its checkpoint is not there")
            turn.tries, turn.safe, turn.checkpoint = 0, len(turn.said), slot.checkpoint
        if slot.kind in (Kind.YIELDED, Kind.FINISHED):
            turn.live = False
            story.let_go.add(slot.epoch)
        if slot.kind is Kind.FINISHED:
            self._finished(story.heads[slot.task], turn, where)
            story.turn = None

    def _finished(self, head: Head, turn: OpenTurn, where: str) -> None:
        script = self.scripts[turn.name]
        self.world.count[f"turn finished: {script.end}"] += 1
        self.need(
            head.state == ENDS[script.end], where + f"ended as {head.state}, not {script.end}"
        )
        streamed = [token for name, token in turn.said if not name]
        self.need(
            matches(streamed, script.said()),
            where + f"streamed {streamed} for {script.said()}",
        )
        told = answer(head.task)
        self.need(matches(told, script.said()), where + f"task says {told} for {script.said()}")
        for name, tokens in script.artifacts().items():
            parts = [p.text for a in head.task.artifacts if a.artifact_id == name for p in a.parts]
            self.need(parts == tokens, where + f"artifact {name} is {parts}, not {tokens}")
            sent: list[str] = []
            for token in (token for to, token in turn.said if to == name):
                sent = [*sent, token] if token else []
            self.need(sent == tokens, where + f"artifact {name} was sent as {sent}, not {tokens}")


def _unpack(cell: bytes) -> bytes:
    coroutine = Cells(None).unpack(cell)  # type: ignore[arg-type]
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    raise AssertionError("a cell of the simulation is in a blob")
