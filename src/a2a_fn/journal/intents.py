"""What clients ask of a journal: submit a message, cancel a task, set and forget webhooks.

Each decides on the folded tail, writes one slot, and starts again from the beginning when another
took that slot. Before the slot nothing happened; after it, everything else can be rolled forward.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from a2a.types.a2a_pb2 import Message, TaskState

from ..errors import A2aFnError, NotFound
from ..ports import Delete
from . import webhooks
from .alarms import Alarm
from .fold import TERMINAL, Head
from .ids import digest, partition_of
from .journal import Journal, cancel_signal
from .slots import Config, Kind
from .view import View
from .webhooks import Webhook

log = logging.getLogger("a2a_fn.journal")


class Busy(A2aFnError):
    """Another turn is open in the context."""

    def __init__(self) -> None:
        super().__init__("Task is already working.")


class Ended(A2aFnError):
    """The task is in a terminal state; nothing starts it again."""

    def __init__(self, task: str, state: int) -> None:
        name = TaskState.Name(state)
        super().__init__(f"Task {task} is in terminal state: {name}")
        self.task = task
        self.state = state


class OtherWorkspace(A2aFnError):
    """The message names another folder than the one that its context works in."""

    def __init__(self) -> None:
        super().__init__("A2A context belongs to a different workspace")


class TooManyWebhooks(A2aFnError):
    """The task has as many webhooks as a task may have."""

    def __init__(self) -> None:
        super().__init__(f"a task has at most {webhooks.MOST} push notification configs")


class WrongContext(A2aFnError):
    """The message names a task and a context that do not belong together."""


MakeConfig = Callable[[str], Awaitable[Config]]
"""A webhook for the task of this id."""


class Accepted(NamedTuple):
    """A message that is in the journal, and the context as it was right after."""

    task: str
    view: View
    again: bool  # it was there already: a retry

    @property
    def head(self) -> Head:
        """The task."""
        return self.view.tasks[self.task]


async def find(journal: Journal, owner: str, task: str) -> View:
    """The context of a task of this owner, freshly loaded; NotFound for anything else."""
    part = partition_of(task)
    if part is None:
        raise NotFound(task)
    view = await journal.load(part, task)
    if task not in view.tasks or view.context.owner != owner:
        raise NotFound(task)
    return view


async def submit(
    journal: Journal,
    owner: str,
    message: Message,
    *,
    detached: bool = False,
    workspace: str = "",
    webhook: MakeConfig | None = None,
) -> Accepted:
    """Open a turn on ``message``; the same message again within the window finds its first turn.

    ``workspace``: the folder that the message names ("" for none); a context keeps its first.
    ``webhook``: where the task is pushed to, from this message on. Raises NotFound (unknown
    taskId), WrongContext, OtherWorkspace, Ended, Busy, TooManyWebhooks, Unavailable. The caller
    sends the wake-up; if it does not, the alarm will.
    """
    fingerprint = digest(message)
    k = 0
    while True:
        part, task, context_id = _place(journal, owner, message, fingerprint, k)
        accepted = await _submit_at(
            journal,
            owner,
            message,
            fingerprint,
            part,
            task,
            context_id,
            detached,
            workspace,
            webhook,
        )
        if accepted:
            return accepted
        k += 1  # that task is of the same message, but from before the window


def _place(
    journal: Journal, owner: str, message: Message, fingerprint: str, k: int
) -> tuple[str, str, str]:
    if message.task_id:
        part = partition_of(message.task_id)
        if part is None:
            raise NotFound(message.task_id)
        return part, message.task_id, ""
    context_id = message.context_id or journal.ids.context_id(owner, fingerprint, k)
    part = journal.ids.partition(owner, context_id)
    return part, journal.ids.task_id(part, owner, fingerprint, k), context_id


async def _submit_at(
    journal: Journal,
    owner: str,
    message: Message,
    fingerprint: str,
    part: str,
    task: str,
    context_id: str,
    detached: bool,
    workspace: str,
    webhook: MakeConfig | None,
) -> Accepted | None:
    """One place tried until it is decided; None: it holds the same message from long ago."""
    while True:
        view = await journal.load(part, task)
        head = view.tasks.get(task)
        now = journal.clock.now()
        if message.task_id:
            if head is None or view.context.owner != owner:
                raise NotFound(task)
            if message.context_id and message.context_id != view.context.context_id:
                raise WrongContext(
                    f"contextId {message.context_id!r} is not the context of task {task}"
                )
        if head and any(
            known == fingerprint and now < time + journal.window for known, time in head.accepted
        ):
            await journal.settle(view)  # its first writer may have died before it did
            return Accepted(task, view, again=True)
        if head and not message.task_id:
            return None
        if head and head.state in TERMINAL:
            raise Ended(task, head.state)
        if view.context.active:
            raise Busy
        if workspace and view.context.workspace not in ("", workspace):
            raise OtherWorkspace
        new = view.context.owner is None
        context_id = context_id or view.context.context_id
        stored = Message()
        stored.CopyFrom(message)
        stored.task_id, stored.context_id = task, context_id
        config = await _beginning(journal, view, task, await webhook(task)) if webhook else None
        alarm = journal.alarm(view, task, now + journal.lease)
        slot = journal.compose(
            view,
            Kind.SUBMITTED,
            task,
            state=TaskState.TASK_STATE_SUBMITTED,
            opening=head is None,
            message=stored,
            digest=fingerprint,
            alarm=alarm.key,
            detached=detached,
            workspace=workspace,
            owner=owner if new else None,
            context_id=context_id if new else None,
            config=config,
        )
        if await journal.append(view, slot, before=[alarm.put()], settle=True):
            log.info("submitted", extra=journal.about(view, task))
            return Accepted(task, view, again=False)
        await journal.sure([Delete(alarm.partition, alarm.key)])


async def cancel(journal: Journal, owner: str, task: str) -> View:
    """End a task: CANCELED is in the journal when this returns, and its worker's next write
    collides with it. Raises NotFound, Ended (also when it was canceled before), Unavailable."""
    while True:
        view = await find(journal, owner, task)
        head = view.tasks[task]
        if head.state in TERMINAL:
            raise Ended(task, head.state)
        active = view.context.active
        own = active is not None and active.task == task
        alarm: Alarm | None = None
        if not own:  # the open turn's alarm covers its task; an idle task needs one of its own
            alarm = journal.alarm(view, task, journal.clock.now() + journal.lease)
        slot = journal.compose(view, Kind.CANCELED, task, state=TaskState.TASK_STATE_CANCELED)
        turn_alarm = journal.turn_alarm(view) if own else None
        before = [alarm.put()] if alarm else []
        done = await journal.append(view, slot, before=before, settle=True, done=turn_alarm)
        if alarm and not (done and view.context.pushes):
            await journal.sure([Delete(alarm.partition, alarm.key)])
        if done:
            journal.signals.notify(cancel_signal(view.part))
            log.info("canceled", extra=journal.about(view, task))
            return view


async def configure(journal: Journal, owner: str, task: str, config: Config) -> Webhook:
    """Set a webhook of a task, or set one anew: what its old form had still to send is not lost.
    Raises NotFound, TooManyWebhooks, Unavailable."""

    async def begin(view: View) -> Config:
        return await _beginning(journal, view, task, config)

    hook = await _configure(journal, owner, task, begin)
    assert hook is not None  # noqa: S101 - begin never declines
    return hook


async def forget(journal: Journal, owner: str, task: str, config: str) -> None:
    """Delete a webhook: no push of it begins once this returns. Deleting none is no error.
    Raises NotFound for a task that is not there, Unavailable."""

    async def begin(view: View) -> Config | None:
        await journal.settle(view)
        found = await webhooks.read(journal, view.part, task, config)
        if found is None or found[0].gone == webhooks.DELETED:
            return None
        return Config(config, "")

    await _configure(journal, owner, task, begin)


async def revive(journal: Journal, owner: str, task: str, config: str) -> bool:
    """Bring a webhook that was given up back to life, with all that it has missed; False: it is
    deleted, or lives. Raises NotFound (no such task), Unavailable.

    It is set anew, by a slot: a bare change of its row could land after the sweeper has found that
    there is nothing to do. One that lives is changed all the same: a frozen worker that is about to
    give it up must find that it has to look again.
    """
    part = (await find(journal, owner, task)).part
    await webhooks.change(journal, part, task, config, _fresh)

    async def begin(view: View) -> Config | None:
        found = await webhooks.read(journal, part, task, config)
        if found is None or found[0].gone != webhooks.DEAD:
            return None
        hook = found[0]
        return hook.config._replace(sent=hook.sent, read=hook.read)

    return await _configure(journal, owner, task, begin) is not None


def _fresh(hook: Webhook) -> Webhook | None:
    return hook._replace(attempts=0, since=0, due=0) if hook.live else None


async def _configure(
    journal: Journal, owner: str, task: str, begin: Callable[[View], Awaitable[Config | None]]
) -> Webhook | None:
    """Write what ``begin`` makes of the context as it is; None: it declined."""
    while True:
        view = await find(journal, owner, task)
        config = await begin(view)
        if config is None:
            return None
        active = view.context.active
        own = active is not None and active.task == task
        alarm = None if own else journal.alarm(view, task, journal.clock.now() + journal.lease)
        slot = journal.compose(view, Kind.CONFIGURED, task, config=config)
        first = not view.context.pushes
        before = [alarm.put()] if alarm else []
        done = await journal.append(view, slot, before=before, settle=True)
        if alarm and (first or not done):  # the first of its context has nothing to send yet
            await journal.sure([Delete(alarm.partition, alarm.key)])
        if done:
            word = "webhook set" if config.url else "webhook deleted"
            log.info(word, extra=journal.about(view, task))
            context = view.context
            return webhooks.started(config, task, context.n, owner, context.context_id)


async def _beginning(journal: Journal, view: View, task: str, config: Config) -> Config:
    """The config with the place from which it pushes: what comes now, or what its former self has
    not sent yet."""
    head = view.tasks.get(task)
    config = config._replace(sent=head.generation if head else 0, read=view.context.n)
    if not view.context.pushes or head is None:
        return config
    await journal.settle(view)  # a slot that is not in the views yet may have set it
    others = names = 0
    async for hook in webhooks.listed(journal, view.part, task, dead=True, deleted=True):
        if hook.config.id != config.id:
            names += 1
            others += hook.gone != webhooks.DELETED
        elif hook.live:
            config = config._replace(sent=hook.sent, read=hook.read)
    if others >= webhooks.MOST or names >= webhooks.NAMES:
        raise TooManyWebhooks
    return config


async def webhook(journal: Journal, owner: str, task: str, config: str) -> Webhook:
    """A webhook of a task, dead or alive. Raises NotFound for anything else."""
    view = await find(journal, owner, task)
    await journal.settle(view)
    found = await webhooks.read(journal, view.part, task, config)
    if found is None or found[0].gone == webhooks.DELETED:
        raise NotFound(f"{task} {config}")
    return found[0]
