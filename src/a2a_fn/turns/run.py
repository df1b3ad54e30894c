"""Run one turn: claim it, let the agent work, and write how it ended.

The agent and the writer run side by side. The turn ends when the agent is done, when the journal
says that it is another's, or when the host's time is up: then the agent is asked to save and yield.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from a2a.types.a2a_pb2 import Message, Role, TaskState, TaskStatusUpdateEvent
from a2a.utils.errors import A2AError

from ..errors import TurnLost, Unavailable
from ..journal import heads
from ..journal.fold import Active
from ..journal.journal import Journal
from ..journal.slots import Failure, Kind
from ..journal.view import View
from .manner import PLAIN, Manner
from .turn import Turn, Yielded
from .writer import Writer

log = logging.getLogger("a2a_fn.turns")

WRITING = 3.0  # seconds kept for the last slot of an invocation
CLOSING = 0.1  # seconds that cancelled helpers of a turn may take; an agent has had its own by then

AgentRun = Callable[[Turn], Awaitable[None]]
Wake = Callable[[str], Awaitable[None]]


class Outcome(StrEnum):
    """How a wake-up ended."""

    NOTHING = "nothing"  # no turn is open
    LIVE = "live"  # a worker has it
    RACED = "raced"  # another got there first
    ABANDONED = "abandoned"
    FINISHED = "finished"
    YIELDED = "yielded"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Limits:
    """``attempts``: claims without a new checkpoint before the task is FAILED; ``claims``: in all,
    so that a turn that only ever yields ends too; ``grace``: seconds that an agent has to save when
    it is asked to yield, and again to let go when it is cancelled."""

    attempts: int = 3
    claims: int = 1000
    grace: float = 5.0


def forever() -> float:
    """The time left of a host that lives on."""
    return math.inf


async def run_turn(
    journal: Journal,
    part: str,
    agent: AgentRun,
    wake: Wake,
    *,
    limits: Limits = Limits(),
    manner: Manner = PLAIN,
    remaining: Callable[[], float] = forever,
    stop: asyncio.Event | None = None,
) -> Outcome:
    """Look at a context and run its open turn, if it is there to be taken.

    Raises Unavailable when the store stays silent; the lease then brings the turn to another.
    """
    view = await journal.load(part)
    active = view.context.active
    if active is None:
        return Outcome.NOTHING
    if journal.clock.now() < journal.claim_ends(view):
        return Outcome.LIVE
    if active.attempts >= limits.attempts or active.claims >= limits.claims:
        return await _abandon(journal, view, active)
    restarted = _restarts(view, active)
    while not await _claim(journal, view, active):
        await journal.catch_up(view)
        if view.context.active != active:
            return Outcome.RACED
        # else that slot set a webhook, or canceled another task: this turn is still to be taken
    checkpoint = await _checkpoint(journal, view)
    writer = Writer(journal, view)
    message = _message(view, active.task)
    turn = Turn(writer, message, checkpoint, remaining, restarted=restarted, manner=manner)
    outcome = await _work(turn, writer, agent, limits, stop or asyncio.Event())
    log.info(str(outcome), extra=journal.about(view, active.task))
    if outcome is Outcome.YIELDED:
        await wake(part)
    return outcome


async def _abandon(journal: Journal, view: View, active: Active) -> Outcome:
    status = TaskStatusUpdateEvent()
    message = status.status.message
    message.message_id, message.role = journal.nonce(), Role.ROLE_AGENT
    message.parts.add().text = (
        f"The task was given up after {active.claims} attempts; its worker stopped each time."
    )
    slot = journal.compose(
        view, Kind.ABANDONED, active.task, state=TaskState.TASK_STATE_FAILED, status=status
    )
    if not await journal.append(view, slot, settle=True, done=journal.turn_alarm(view)):
        return Outcome.RACED
    log.warning("abandoned", extra=journal.about(view, active.task))
    return Outcome.ABANDONED


async def _claim(journal: Journal, view: View, active: Active) -> bool:
    head = view.tasks[active.task]
    restarted = _restarts(view, active)
    status = TaskStatusUpdateEvent()
    if restarted:
        turn = {"attempt": active.attempts + 1, "restarted": True}
        status.metadata.update({"iac_code": {"turn": turn}})
    working = TaskState.TASK_STATE_WORKING
    slot = journal.compose(
        view,
        Kind.CLAIMED,
        active.task,
        state=working if restarted or head.state != working else 0,
        status=status,
        epoch=view.context.epoch + 1,
    )
    if not await journal.append(view, slot, settle=True):
        return False
    word = "taken over" if active.claimed else "claimed"
    log.info(word, extra=journal.about(view, active.task))
    return True


def _restarts(view: View, active: Active) -> bool:
    """Whether a claim of this turn begins something again that readers may have seen."""
    return active.claimed or view.tasks[active.task].safe is not None


async def _checkpoint(journal: Journal, view: View) -> bytes | None:
    active = view.context.active
    if active is None or not active.checkpoint:
        return None
    row = await journal.rows.get(heads.partition(view.part), active.checkpoint)
    return await journal.cells.unpack(row.value) if row else None


def _message(view: View, task: str) -> Message:
    history = view.tasks[task].task.history
    return next(m for m in reversed(history) if m.role == Role.ROLE_USER)


async def _work(
    turn: Turn, writer: Writer, agent: AgentRun, limits: Limits, stop: asyncio.Event
) -> Outcome:
    async def run() -> None:
        try:
            await agent(turn)
        except SystemExit as error:  # asyncio would let it end the process, and every other turn
            raise RuntimeError("the agent called sys.exit()") from error

    async def stopping() -> None:
        await stop.wait()

    # What has to be written when time is up must be written while there is some: grace to save,
    # grace to let go, and a moment for the slot. A short invocation shares itself out.
    span = turn.time_left()
    grace = min(limits.grace, span / 6)
    work = asyncio.create_task(run())
    keeper = asyncio.create_task(writer.keep())
    canceled = asyncio.create_task(writer.canceled())
    ended = asyncio.create_task(writer.ended())
    stopped = asyncio.create_task(stopping())
    try:
        margin = min(2 * grace + WRITING, span / 2)
        seconds = None if span == math.inf else max(0.0, span - margin)
        await _first([work, keeper, canceled, ended, stopped], seconds)
        if not (keeper.done() or canceled.done() or writer.over):
            turn.stop()
            await _first([work, keeper, canceled, ended], grace)
        if writer.over:
            await _first([work], grace)
        if work.done():
            return await _ended(turn, writer, work)
        work.cancel()
        await _first([work], grace)
        if writer.over:
            return Outcome.FINISHED
        if keeper.done() or canceled.done():
            return _why(keeper)
        return Outcome.YIELDED if await writer.let_go() else Outcome.FINISHED
    except TurnLost:
        return Outcome.FINISHED if writer.over else Outcome.LOST
    finally:
        tasks = [work, keeper, canceled, ended, stopped]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=CLOSING)
        for task in tasks:
            if task.done() and not task.cancelled():
                task.exception()  # seen: what matters of it is in the outcome


async def _first(tasks: list[asyncio.Task[None]], seconds: float | None) -> None:
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


def _why(keeper: asyncio.Task[None]) -> Outcome:
    """The writer stopped first: the turn is another's, or the store is silent."""
    error = keeper.exception() if keeper.done() and not keeper.cancelled() else None
    if error is not None and not isinstance(error, TurnLost):
        raise error
    return Outcome.LOST


async def _ended(turn: Turn, writer: Writer, work: asyncio.Task[None]) -> Outcome:
    """The agent is done: write how."""
    # An agent may raise CancelledError itself (it awaited what somebody else cancelled); that is
    # its error, not a wish to stop this worker.
    error = asyncio.CancelledError() if work.cancelled() else work.exception()
    if error is None:
        await turn.end(TaskState.TASK_STATE_COMPLETED, TaskStatusUpdateEvent())
    elif isinstance(error, Yielded):
        return Outcome.YIELDED if await writer.let_go() else Outcome.FINISHED
    elif isinstance(error, TurnLost | Unavailable):
        raise error
    elif isinstance(error, A2AError):
        failure = Failure(_known(error), error.message) if writer.silent else None
        await turn.end(TaskState.TASK_STATE_FAILED, _said(turn, error.message), failure=failure)
    else:
        reference = turn.new_id()
        about = {"a2a": {"task": turn.task.id, "ref": reference}}
        log.error("agent failed", exc_info=error, extra=about)
        text = f"The agent failed unexpectedly (reference {reference})."
        await turn.end(TaskState.TASK_STATE_FAILED, _said(turn, text))
    return Outcome.FINISHED


def _known(error: A2AError) -> str:
    """The name of the SDK's own class of an error; an agent may have derived its own."""
    return next(
        kind.__name__ for kind in type(error).__mro__ if kind.__module__ == A2AError.__module__
    )


def _said(turn: Turn, text: str) -> TaskStatusUpdateEvent:
    status = TaskStatusUpdateEvent()
    message = status.status.message
    message.message_id, message.role = turn.new_id(), Role.ROLE_AGENT
    message.parts.add().text = text
    return status
