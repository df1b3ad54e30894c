"""Deliver one webhook's events: those after its cursor, in order, each at least once.

The row is the whole state. A worker takes it for as long as one try may last, reads it again
before each try, and moves the cursor after each 2xx; who finds it moved by another stops. So two
workers do not send the same in turn, a deleted webhook gets nothing that began after the deletion,
and a worker's death costs one repetition. What failed waits in the row; a delayed wake-up brings it
back, and if that is lost, the context's alarm does.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from ..errors import Conflict, Refused, Unavailable, Unsealed
from ..journal import webhooks
from ..journal.journal import Journal
from ..journal.slots import Event
from ..journal.webhooks import Webhook
from ..ports import Answer, Change, Row
from . import letters
from .letters import Letter
from .upcoming import Cursor, Upcoming
from .verdict import Fate, Limits, Verdict, judge

log = logging.getLogger("a2a_fn.push")

SPARE = 5.0  # seconds beyond its time-out after which a try counts as lost with its worker


IDLE = 30.0  # seconds until an invocation that had too little time is followed by another


class Outcome(StrEnum):
    """How a wake-up of a webhook ended."""

    NOTHING = "nothing"  # there is nothing to send, or nowhere to send it
    EARLY = "early"  # it waits after a failure
    HELD = "held"  # another worker has it
    SENT = "sent"
    RETRY = "retry"  # to be woken again after ``wait``
    DEAD = "dead"
    GONE = "gone"
    STOPPED = "stopped"  # out of time with more to send: to be woken again
    LOST = "lost"  # changed by another meanwhile


class Delivered(NamedTuple):
    """An outcome; ``wait``: seconds until it is worth another wake-up (EARLY, RETRY, STOPPED)."""

    outcome: Outcome
    wait: float = 0.0


class Push(NamedTuple):
    """One event on its way to one webhook."""

    hook: Webhook
    event: Event
    generation: int
    attempt: int  # from 1


class Manner(NamedTuple):
    """How pushes are sent. ``events``: the setting push-events; ``timeout``: seconds that one
    try may last; ``uniform``: draws a number from a range, for jitter."""

    events: str
    timeout: float
    limits: Limits
    uniform: Callable[[float, float], float]


Send = Callable[[Push], Awaitable[Answer]]
"""One try. Raises Refused, Unsealed, Unavailable."""


def forever() -> float:
    """The time left of a host that lives on."""
    return math.inf


async def deliver(
    journal: Journal,
    part: str,
    task: str,
    config: str,
    send: Send,
    manner: Manner,
    *,
    remaining: Callable[[], float] = forever,
    stop: Callable[[], bool] = lambda: False,
) -> Delivered:
    """Send what a webhook has not got yet. Raises Unavailable when the store stays silent; the
    alarm then brings it back."""
    nonce = journal.nonce()
    upcoming = Upcoming(journal, part, manner.events)
    done = Outcome.NOTHING
    while True:
        found = await webhooks.read(journal, part, task, config)
        if found is None or not found[0].live or found[0].ended:
            return Delivered(done)
        hook, row = found
        mine = hook.holder == nonce
        now = journal.clock.now()
        if not mine and now < webhooks.free_at(hook, journal.skew):
            if done is Outcome.NOTHING:
                if now < hook.due:
                    return Delivered(Outcome.EARLY, (hook.due - now) / 1000)
                done = Outcome.HELD
            return Delivered(done)
        due, passed, more = await upcoming.next(hook)
        if due is None or stop() or remaining() < manner.timeout + SPARE:
            rests = _freed(_at(hook, passed)) if mine else _at(hook, passed)
            if (mine or rests.sent != hook.sent) and not await _move(journal, part, rests, row):
                continue
            if due is None:
                return Delivered(done)
            idle = done is Outcome.NOTHING and not stop()
            if idle:  # the next invocation will have no more, and it must not be at once
                needed = {"needed": manner.timeout + SPARE, "left": round(remaining(), 1)}
                log.error("too little time to push", extra={"a2a": needed})
            return Delivered(Outcome.STOPPED, IDLE if idle else 0.0)
        if not mine:
            await _move(journal, part, _taken(journal, hook, nonce, manner), row)
            continue  # has it another meanwhile? and what is its revision now?
        push = Push(hook, due.event, due.generation, hook.attempts + 1)
        verdict, letter = await _try(journal, part, push, send, manner)
        if verdict.fate is Fate.DONE:
            after = _at(hook, due.after)._replace(attempts=0, since=0, due=0)
            after = _taken(journal, after, nonce, manner) if more else _freed(after)
        else:
            after = _failed(journal, push, verdict, letter)
        before = [letters.put(letter, journal.shards)] if verdict.fate is Fate.DEAD else []
        if not await _move(journal, part, after, row, before):
            return Delivered(Outcome.LOST)
        if verdict.fate is not Fate.DONE:
            return Delivered(Outcome(verdict.fate), verdict.wait)
        done = Outcome.SENT


def _at(hook: Webhook, cursor: Cursor) -> Webhook:
    return hook._replace(sent=cursor.sent, read=cursor.read, ended=cursor.ended)


def _taken(journal: Journal, hook: Webhook, nonce: str, manner: Manner) -> Webhook:
    """The webhook in a worker's hands, for one try."""
    until = journal.clock.now() + round((manner.timeout + SPARE) * 1000)
    return hook._replace(holder=nonce, held=until)


def _freed(hook: Webhook) -> Webhook:
    return hook._replace(holder="", held=0)


def _failed(journal: Journal, push: Push, verdict: Verdict, letter: Letter) -> Webhook:
    """The webhook after a try that did not do it."""
    if verdict.fate is Fate.GONE:
        return webhooks.tombstone(push.hook)
    failed = _freed(push.hook)._replace(attempts=push.attempt, since=letter.since)
    if verdict.fate is Fate.DEAD:
        return failed._replace(gone=webhooks.DEAD)
    return failed._replace(due=journal.clock.now() + round(verdict.wait * 1000))


async def _move(
    journal: Journal, part: str, hook: Webhook, row: Row, before: Sequence[Change] = ()
) -> bool:
    """Write the webhook over the row that was read; False: it has changed since, and only
    ``before``, which may be repeated, is written, or nothing."""
    partition = f"C#{part}"
    try:
        await journal.rows.write([*before, webhooks.put(partition, hook, row.rev)])
    except Conflict:
        return False
    return True


async def _try(
    journal: Journal, part: str, push: Push, send: Send, manner: Manner
) -> tuple[Verdict, Letter]:
    """Send one event; its fate, and what a dead letter would say of it."""
    begun = journal.clock.now()
    answer: Answer | None = None
    reason, hopeless = "", False
    try:
        async with asyncio.timeout(manner.timeout):
            answer = await send(push)
    except Refused as error:
        reason, hopeless = str(error), True
    except (Unavailable, Unsealed) as error:  # another machine may have the key already
        reason = str(error)
    except TimeoutError:
        reason = f"no answer in {manner.timeout:g} s"
    except Exception:  # a fault of ours must not be tried for ever, uncounted
        log.exception("push failed here", extra={"a2a": {"task": push.hook.task}})
        reason = "an internal error"
    now = journal.clock.now()
    hook = push.hook
    since = hook.since or begun
    age = max(0.0, (now - since) / 1000)
    verdict = judge(answer, push.attempt, age, manner.limits, manner.uniform)
    if hopeless:
        verdict = Verdict(Fate.DEAD)
    letter = Letter(
        part,
        hook.task,
        hook.config.id,
        push.generation,
        push.attempt,
        since,
        now,
        answer.status if answer else 0,
        answer.text if answer else reason,
    )
    word, level = _WORDS[verdict.fate]
    said = {
        "owner": journal.ids.owner(hook.owner),
        "task": hook.task,
        "config": hook.config.id,
        "generation": push.generation,
        "attempt": push.attempt,
        **({"status": answer.status} if answer else {"reason": reason}),
    }
    log.log(level, word, extra={"a2a": said})
    return verdict, letter


_WORDS = {
    Fate.DONE: ("delivered", logging.INFO),
    Fate.RETRY: ("push failed", logging.INFO),
    Fate.GONE: ("webhook gone", logging.INFO),
    Fate.DEAD: ("gave up", logging.WARNING),
}


async def targets(journal: Journal, part: str, task: str, config: str = "") -> list[str]:
    """The webhooks that a wake-up means: the one that it names, or all of the task."""
    if config:
        return [config]
    return [hook.config.id async for hook in webhooks.listed(journal, part, task) if not hook.ended]
