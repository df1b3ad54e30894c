"""What must hold, checked at each row change as it lands."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from a2a_fn.journal import alarms, heads, webhooks
from a2a_fn.journal.cells import Cells
from a2a_fn.journal.fold import TERMINAL, Context, Head, fold_context, fold_head
from a2a_fn.journal.slots import Event, Kind, Slot, decode
from a2a_fn.journal.webhooks import Webhook
from a2a_fn.ports import Change, Delete, Put
from a2a_fn.push.deliver import Push

from .scripts import ENDS, Script, answer, matches

HOLD = 15_000  # ms that a pusher has a webhook for one try
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
    alarms: dict[str, str] = field(default_factory=dict)  # key -> task
    heads: dict[str, Head] = field(default_factory=dict)
    let_go: set[int] = field(default_factory=set)  # epochs that finished or yielded their turn


@dataclass(slots=True)
class Series:
    """What one webhook, as one slot set it, has got: generations, in the order of their first
    arrival, each of them after ``after``."""

    after: int
    got: int
    gone: bool = False  # it was dead or deleted at some time


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
        self.hooks: defaultdict[str, dict[str, Webhook]] = defaultdict(dict)  # P# rows, by context
        self.series: dict[tuple[str, str, int], Series] = {}  # (task, config, slot)
        self.wants: defaultdict[str, list[int]] = defaultdict(list)  # task -> generations
        self.deleted: dict[tuple[str, str, int], int] = {}  # true time
        self.lagging: Counter[tuple[str, str, int, str]] = Counter()
        self.letters: set[str] = set()

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
            elif key.startswith(webhooks.WEBHOOKS):
                self._webhook(p[2:], key, webhooks.decode(change.value), change.order)
            elif key.startswith(heads.TASKS):
                self._head(heads.decode_head(_unpack(change.value)), key)
        elif p[0] == "O":
            if isinstance(change, Put) and change.expires is None:
                self.index[p].add(key)
            else:
                self.index[p].discard(key)
        elif p[0] == "X":
            if isinstance(change, Put):
                self.letters.add(key)
            else:
                self.letters.discard(key)
        elif p[0] == "D":
            alarm = alarms.parse(0, key, value or b'{"n":0}')
            part = alarm.part
            if isinstance(change, Put):
                self.stories[part].alarms[key] = alarm.task
            else:
                self.stories[part].alarms.pop(key, None)
                self._guarded(part)

    def _guarded(self, part: str) -> None:
        story = self.stories[part]
        if not story.alarms:
            self.need(story.turn is None, f"no alarm, but a turn is open in {part}")
            self.need(story.settled >= story.worked, f"no alarm, but views are behind in {part}")
        for hook in self.hooks[part].values():
            if hook.task not in story.alarms.values():
                late = hook.behind(story.heads[hook.task].generation)
                self.need(not late, f"no alarm of it, but a push of {hook.task} waits")

    def _context(self, part: str, row: Context) -> None:
        story = self.stories[part]
        self.need(story.contexts.get(row.n) == row, f"CTX of {part} is not the fold up to {row.n}")
        story.settled = row.n
        for task, config, n in self.series:
            if self.partition(task) == part and n <= row.n:
                hook = self.hooks[part].get(webhooks.key(task, config))
                self.need(hook and hook.slot >= n, f"CTX of {part} is past a webhook without a row")

    def _head(self, row: Head, key: str) -> None:
        task = key.removeprefix(heads.TASKS)
        truth = self.folds.get((task, row.slot))
        self.need(truth == row, f"head of {task} is not the fold up to {row.slot}")
        old = self.rows.get(task)
        moved = self.changes if old is None or old[0].status_time != row.status_time else old[1]
        self.rows[task] = (row, moved)

    # ------------------------------------------------ webhooks

    def wanted(self, task: str, after: int, upto: int | None = None) -> list[int]:
        """The generations that are pushed after one, and past another (both exclusive)."""
        floor = after if upto is None else max(after, upto)
        return [g for g in self.wants[task] if g > floor]

    def _set(self, story: Story, n: int, slot: Slot, where: str) -> None:
        """A slot brings a webhook; what its former self had still to send must be in it."""
        config = slot.config
        assert config is not None
        before = slot.generation - len(slot.events)
        self.need(config.sent <= before, where + "a webhook begins after its slot")
        if not config.url:
            self.series[slot.task, config.id, n] = Series(before, before, gone=True)
            return
        part = self.partition(slot.task)
        old = self.hooks[part].get(webhooks.key(slot.task, config.id))
        if old is not None and old.live:
            series = self.series[slot.task, config.id, old.slot]
            lost = [g for g in self.wanted(slot.task, series.after, series.got) if g <= config.sent]
            self.need(series.gone or not lost, where + f"set anew, and {lost} were never sent")
            self.world.count["webhook set anew"] += 1
        self.series[slot.task, config.id, n] = Series(config.sent, config.sent)

    def partition(self, task: str) -> str:
        """The context of a task."""
        return task.partition("-")[0]

    def _webhook(self, part: str, key: str, row: Webhook, order: int) -> None:
        """A row of a webhook has landed."""
        self.need(key == webhooks.key(row.task, row.config.id), f"{key} is another's")
        self.need(order == row.slot, f"{key} is not ordered by its slot")
        series = self.series.get((row.task, row.config.id, row.slot))
        if series is None:
            self.world.fail(f"{key} is of no slot")
        old = self.hooks[part].get(key)
        if old is not None:
            self.need(row.slot >= old.slot, f"{key} went back to an older slot")
            if row.slot == old.slot:
                self.need(old.gone != webhooks.DELETED, f"{key} came back from its deletion")
                taken = row.holder and old.holder and row.holder != old.holder
                clock = row.held - HOLD
                self.need(not taken or clock >= old.held, f"{key} was taken from its holder")
        lost = [g for g in self.wanted(row.task, series.after, series.got) if g <= row.sent]
        self.need(row.gone == webhooks.DELETED or not lost, f"{key} skips {lost}")
        series.gone |= not row.live
        if row.gone == webhooks.DELETED:
            at = old.slot if old is not None else row.slot  # whom the deletion is for
            for n in (at, row.slot):
                self.deleted.setdefault((row.task, row.config.id, n), self.world.now)
            self.need(not row.config.url and not row.config.sealed, f"{key} keeps its address")
        self.hooks[part][key] = row
        self._guarded(part)

    def pushing(self, push: Push) -> None:
        """A pusher begins to send."""
        name = (push.hook.task, push.hook.config.id, push.hook.slot)
        if name in self.deleted:
            begun = self.born[push.hook.holder]
            self.need(begun <= self.deleted[name], f"{name} is pushed to after its deletion")
            late = (*name, push.hook.holder)
            self.lagging[late] += 1
            self.need(self.lagging[late] == 1, f"{name} is still pushed to after its deletion")
        truth = self.truth.get((push.hook.task, push.generation))
        self.need(truth == push.event, f"{name} is pushed another event {push.generation}")

    def arrived(self, push: Push) -> None:
        """A webhook has got a push."""
        name = (push.hook.task, push.hook.config.id, push.hook.slot)
        series = self.series[name]
        self.world.count["push arrived"] += 1
        if push.generation <= series.got:
            self.world.count["push repeated"] += 1
            return
        next = self.wanted(push.hook.task, series.after, series.got)[0]
        self.need(push.generation == next, f"{name} got {push.generation} before {next}")
        series.got = push.generation

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
        if slot.config:
            self._set(story, n, slot, where)
        turn = story.turn
        if slot.kind is Kind.CONFIGURED:
            self.world.count["set beside a turn"] += turn is not None and turn.live
            return
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
        over = head and head.state in TERMINAL and slot.kind is not Kind.CONFIGURED
        self.need(not over, where + "after a terminal state")
        generation = head.generation if head else 0
        self.need(
            slot.generation == generation + len(slot.events),
            where + "generations have a gap or a repeat",
        )
        for event in slot.events:
            generation += 1
            self.truth[(task, generation)] = event
            last = generation == slot.generation
            if webhooks.pushed(self.world.events, slot, event, last):
                self.wants[task].append(generation)
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
