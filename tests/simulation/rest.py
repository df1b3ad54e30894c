"""What must hold when the faults have stopped and nothing is left to run."""

from __future__ import annotations

from collections import defaultdict

from a2a_fn.journal import index, webhooks
from a2a_fn.journal.fold import SETTLED

from .machine import IDS
from .oracle import Oracle

CANCELED = 5
STATES = (1, 2, 3, 4, 5, 6)  # of TaskState: those that a turn of the simulation can reach


def listings(oracle: Oracle) -> list[tuple[str, int]]:
    """(owner, state or 0) of each list that has a row."""
    owners = {str(s.context.owner): None for s in oracle.stories.values() if s.context.owner}
    return [
        (owner, state)
        for owner in owners
        for state in (0, *STATES)
        if oracle.index.get(index.partitions(IDS.owner(owner), state)[bool(state)])
    ]


def given_up(oracle: Oracle) -> None:
    """Whatever is dead must be in the operator's list, or it would be lost without a word."""
    for hooks in oracle.hooks.values():
        for hook in hooks.values():
            if hook.gone == webhooks.DEAD:
                name = f"#{hook.task}#{hook.config.id}"
                found = any(key.endswith(name) for key in oracle.letters)
                oracle.need(found, f"{name} is dead without a letter")


def check(oracle: Oracle) -> None:
    """The faults have stopped and nothing is left to run."""
    rows: dict[str, set[str]] = defaultdict(set)
    for part, story in oracle.stories.items():
        oracle.need(story.turn is None, f"at rest, but a turn is open in {part}")
        oracle.need(not story.alarms, f"at rest, but {part} has the alarms {story.alarms}")
        oracle.need(story.settled >= story.worked, f"at rest, but CTX of {part} is behind")
        for task, head in story.heads.items():
            oracle.need(head.state in SETTLED, f"at rest, but {task} is in state {head.state}")
            row = oracle.rows.get(task)
            oracle.need(row and row[0] == head, f"at rest, but the head of {task} is behind")
            if head.listed:
                for p, key in index.keys(
                    IDS.owner(story.context.owner or ""), task, head.status_time, head.state
                ):
                    rows[p].add(key)
    found = {p: keys for p, keys in oracle.index.items() if keys}
    oracle.need(found == rows, f"at rest, index rows {found}, but heads {dict(rows)}")
    _pushed(oracle)
    for digest, task in oracle.acked.items():
        runs = [t for _, t in oracle.submitted.get(digest, ())]
        oracle.need(task in runs, f"the accepted message of {task} is lost")
    for digest, answers in oracle.answers.items():
        if digest in oracle.submitted:
            oracle.need(answers["accepted"] + answers["unknown"], f"refused {digest} ran")
    for task in oracle.canceled:
        state = oracle.story(task).heads[task].state
        oracle.need(state == CANCELED, f"canceled {task} is in state {state}")


def _pushed(oracle: Oracle) -> None:
    """Every webhook that lives has got everything since it was set."""
    for hooks in oracle.hooks.values():
        for hook in hooks.values():
            oracle.need(hook.gone != webhooks.DEAD, "at rest, but a redriven webhook is dead")
            if not hook.live:
                continue
            series = oracle.series[hook.task, hook.config.id, hook.slot]
            missing = oracle.wanted(hook.task, series.after, series.got)
            oracle.need(not missing, f"{hook.task} {hook.config.id} never got {missing}")
            oracle.world.count["webhook complete"] += 1
