"""What a run of random schedules must have met, or its silence proves nothing.

Least occurrences per 1,000 schedules of a mode: well below what is usual, far above chance.
"""

from __future__ import annotations

BOTH = {
    "actor cancel": 400,
    "actor get": 400,
    "actor list": 800,
    "actor reader": 2000,
    "actor send": 2000,
    "actor sweeper": 1000,
    "actor worker": 1500,
    "alarms rung": 800,
    "cancel: done": 150,
    "cancel: ended": 150,
    "canceled a turn": 100,
    "canceled an idle task": 30,
    "canceled beside a turn": 5,
    "clock set": 30,
    "collision lost: claimed": 20,
    "collision lost: events": 10,
    "collision lost: submitted": 20,
    "crash of cancel": 5,
    "crash of get": 3,
    "crash of list": 3,
    "crash of reader": 50,
    "crash of send": 60,
    "crash of sweeper": 30,
    "crash of worker": 200,
    "cut off": 50,
    "event read": 1000,
    "freeze of cancel": 5,
    "freeze of list": 3,
    "freeze of reader": 60,
    "freeze of send": 100,
    "freeze of sweeper": 40,
    "freeze of worker": 50,
    "late write landed": 20,
    "list of several pages": 30,
    "older view skipped": 10,
    "outcome abandoned": 40,
    "outcome finished": 500,
    "outcome live": 80,
    "outcome lost": 20,
    "outcome nothing": 300,
    "outcome raced": 10,
    "outcome yielded": 30,
    "poison died": 150,
    "reader came back": 800,
    "reader cut inside a slot": 20,
    "restart dropped words": 20,
    "resumed from a checkpoint": 40,
    "retry": 60,
    "same message after the window": 20,
    "send: busy": 400,
    "send: ended": 200,
    "send: found again": 200,
    "slot beat": 150,
    "slow request": 200,
    "store down": 30,
    "take-over": 150,
    "turn finished: ask": 150,
    "turn finished: complete": 100,
    "turn finished: fail": 20,
    "turn finished: publish": 20,
    "turn finished: raise": 20,
    "turn finished: refuse": 20,
    "turn finished: reply": 20,
    "turn finished: return": 20,
    "unanswered send": 20,
    "unanswered sweeper": 3,
    "unanswered worker": 15,
    "unknown applied": 20,
    "unknown late": 30,
    "unknown lost": 30,
    "actor find": 30,
    "actor forget": 100,
    "actor pusher": 1000,
    "actor redrive": 100,
    "actor set": 300,
    "crash of forget": 5,
    "crash of pusher": 50,
    "crash of set": 5,
    "freeze of forget": 5,
    "freeze of pusher": 60,
    "freeze of set": 10,
    "push arrived": 1500,
    "push dead": 60,
    "push early": 100,
    "push gone": 20,
    "push held": 100,
    "push lost": 10,
    "push repeated": 80,
    "push retry": 250,
    "push sent": 700,
    "push stopped": 40,
    "redriven": 60,
    "set beside a turn": 40,
    "slot configured": 400,
    "webhook complete": 700,
    "webhook deleted": 100,
    "webhook set anew": 40,
    "wake-up doubled": 80,
    "wake-up late": 60,
    "wake-up lost": 80,
}
SEQUENTIAL = {"slot void": 10}  # one write is several steps there
RARE = {"went on after a sibling's cancel": 2, "unknown result was mine": 1}  # in 5,000 schedules


def missing(mode: str, schedules: int, count: dict[str, int]) -> list[str]:
    """The cases that the run has not met often enough."""
    least = BOTH | (SEQUENTIAL if mode == "sequential" else {})
    found = [
        f"{case}: {count.get(case, 0)} in {schedules} schedules, expected {n * schedules // 1000}"
        for case, n in least.items()
        if count.get(case, 0) * 1000 < n * schedules
    ]
    if schedules >= 5000:
        found += [f"{case}: never" for case, n in RARE.items() if count.get(case, 0) < n]
    return found
