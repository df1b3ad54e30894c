"""What an answer of a webhook means: pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from ..ports import Answer

FIRST = 1.0  # seconds before the second try at the least
LAST = 900.0  # and before any at the most, unless the webhook asks for more


class Fate(StrEnum):
    """What becomes of a push."""

    DONE = "done"
    RETRY = "retry"
    DEAD = "dead"  # given up: it waits for redrive
    GONE = "gone"  # the webhook is no more


class Limits(NamedTuple):
    """How long one push is tried: times, and seconds since the first try."""

    attempts: int = 20
    age: float = 86_400.0


class Verdict(NamedTuple):
    """A fate, and for RETRY the seconds until then."""

    fate: Fate
    wait: float = 0.0


def judge(
    answer: Answer | None,
    attempts: int,
    age: float,
    limits: Limits,
    uniform: Callable[[float, float], float],
) -> Verdict:
    """The fate of a push after its answer (None: there was none).

    ``attempts`` have been made, this one included; the first was ``age`` seconds ago. Waits are
    drawn by ``uniform`` from a range that doubles (full jitter), and are never shorter than what
    the webhook's Retry-After asks for; a wait that would end after the last moment is not begun.
    """
    status = answer.status if answer else 0
    if 200 <= status < 300:
        return Verdict(Fate.DONE)
    if status == 410:
        return Verdict(Fate.GONE)
    if answer and not transient(status):
        return Verdict(Fate.DEAD)
    wait = max(FIRST, uniform(0.0, min(LAST, 2.0 ** min(attempts, 30))))
    if answer and answer.retry_after is not None:
        wait = max(wait, answer.retry_after)
    if attempts >= limits.attempts or age + wait > limits.age:
        return Verdict(Fate.DEAD)
    return Verdict(Fate.RETRY, wait)


def transient(status: int) -> bool:
    """Whether the same push may fare better later: a server's fault, or 408, 425, 429."""
    return status >= 500 or status in (408, 425, 429)
