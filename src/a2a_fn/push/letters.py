"""Dead letters: pushes that were given up, and how an operator brings them back.

A letter is a row in ``X#shard``, for all owners together: the operator who looks for them knows no
owner. It holds no payload and no address; the journal and the webhook's row have both.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import NamedTuple

from ..errors import NotFound
from ..journal import alarms, intents, webhooks
from ..journal.journal import Journal
from ..ports import Delete, Put

LETTERS = "X#"
PAGE = 200
KEPT = 30 * 86_400_000  # ms


class Letter(NamedTuple):
    """What is known of a push that was given up. Times in ms; ``since``: its first try; ``status``:
    of the last answer, 0 if there was none, and then ``answer`` says why."""

    part: str
    task: str
    config: str
    generation: int
    attempts: int
    since: int
    time: int
    status: int
    answer: str


def key(letter: Letter) -> str:
    """The key of its row, oldest first; the same again if the same push is given up twice."""
    return f"{letter.since:013d}#{letter.task}#{letter.config}"


def put(letter: Letter, shards: int) -> Put:
    """The change that keeps it."""
    shard = alarms.shard_of(letter.part, shards)
    value = json.dumps(letter._asdict()).encode()
    return Put(
        f"{LETTERS}{shard}", key(letter), value, expires=max(letter.time, letter.since) + KEPT
    )


async def listed(journal: Journal) -> AsyncIterator[Letter]:
    """All dead letters, oldest first in each shard."""
    for shard in range(journal.shards):
        after = None
        while True:
            rows = await journal.rows.scan(f"{LETTERS}{shard}", after=after, limit=PAGE)
            for row in rows:
                yield Letter(**json.loads(row.value))
            if len(rows) < PAGE:
                break
            after = rows[-1].key


async def drop(journal: Journal, letter: Letter) -> None:
    """Forget a letter; its webhook stays dead."""
    shard = alarms.shard_of(letter.part, journal.shards)
    await journal.sure([Delete(f"{LETTERS}{shard}", key(letter))])


async def redrive(journal: Journal, letter: Letter) -> bool:
    """Bring its webhook back to life, with all that it has missed. False: it is deleted, or lives
    already. The letter is gone either way. Raises Unavailable."""
    revived = False
    found = await webhooks.read(journal, letter.part, letter.task, letter.config)
    if found is not None and found[0].gone != webhooks.DELETED:
        owner = found[0].owner
        with suppress(NotFound):  # the task itself is gone
            revived = await intents.revive(journal, owner, letter.task, letter.config)
    await drop(journal, letter)
    return revived
