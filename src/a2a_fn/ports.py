"""What the core needs of the outside, in the core's words, with the laws that every engine keeps.

The laws are executable: ``tests/contract/`` runs them on every engine. Times are integer
milliseconds since 1970-01-01T00:00:00Z ("ms") unless a name says seconds.

Every method may raise ``errors.Unavailable``: the engine did not answer, and what was asked may
have been done, may not have been done, or may yet be done. Callers must be right in all three.

Plain records are named tuples here and in the core: they are as immutable as frozen dataclasses,
are made four times as fast, and cost a cold start 0.1 ms of import each instead of 0.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol


class Absent:
    """Put only if there is no row (an expired row counts as none)."""

    __slots__ = ()


class Rev(NamedTuple):
    """Put only over the row whose revision is ``rev``."""

    rev: int


class Older:
    """Put unless the row there has ``order >= Put.order``; then the change is skipped."""

    __slots__ = ()


class Always:
    """Put whatever is there."""

    __slots__ = ()


ABSENT = Absent()
OLDER = Older()
ALWAYS = Always()

Condition = Absent | Rev | Older | Always


class Put(NamedTuple):
    """Write one row whole; ``order`` is kept with it and is what ``Older`` compares."""

    partition: str
    key: str
    value: bytes
    when: Condition = ALWAYS
    order: int = 0
    expires: int | None = None  # ms; from then on the row does not exist for readers


class Delete(NamedTuple):
    """Remove one row; there is no condition, and removing nothing is no error."""

    partition: str
    key: str


Change = Put | Delete


class Row(NamedTuple):
    """A row as read: ``rev`` is new at every put of it, ``order`` as it was put."""

    key: str
    value: bytes
    rev: int
    order: int = 0
    expires: int | None = None


class Rows(Protocol):
    """A sorted table: (partition, key) -> row.

    Partitions and keys are ASCII strings of 1 to 500 bytes, ordered by their bytes; a longer one is
    ``errors.TooLarge``, an empty or non-ASCII one a ``ValueError``. Values are bytes, at most
    ``VALUE_LIMIT``; a larger one is ``errors.TooLarge``. In both cases nothing is written.

    Every read is strongly consistent: it sees each write that was answered before it began. A row
    past its ``expires`` is left out of reads at once, whenever it is removed, and counts as none
    for every condition.
    """

    async def get(self, partition: str, key: str) -> Row | None:
        """The row, or None."""
        ...

    async def scan(
        self,
        partition: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int = 1000,
        reverse: bool = False,
    ) -> list[Row]:
        """Rows whose key begins with ``prefix``, in key order (``reverse``: descending), from the
        first key past ``after`` (exclusive, in the direction of travel), at most ``limit``.
        Fewer than ``limit`` rows means that there are no more."""
        ...

    async def write(self, changes: Sequence[Change]) -> None:
        """Do the changes in order; the same row twice in one write is a ``ValueError``.

        A failed ``Absent`` or ``Rev`` raises ``errors.Conflict(index)`` and ends the write; a
        failed ``Older`` is skipped. An engine with multi-row transactions does all or nothing;
        another does them in order, and a conflict or a crash leaves the prefix that was done.
        So callers order their changes such that any prefix is harmless.
        """
        ...


VALUE_LIMIT = 380 * 1024  # bytes; DynamoDB's item limit is 400 KB, with keys and attribute names


class Delivery(NamedTuple):
    """A received message; ``handle`` is good until its time-out, ``attempt`` counts from 1."""

    body: bytes
    handle: str
    attempt: int


class Queue(Protocol):
    """Messages of at most 32 KiB, delivered at least once, in no order, perhaps late or doubled.

    A received message is invisible for ``visible_after`` seconds of the engine (its time-out) and
    then comes again; after ``max_receives`` receipts without an ack it becomes a dead letter.
    """

    async def send(self, body: bytes, delay: float = 0.0) -> None:
        """Put a message in the queue, to be received no sooner than ``delay`` seconds from now."""
        ...

    async def receive(self, limit: int = 1, wait: float = 0.0) -> list[Delivery]:
        """Up to ``limit`` messages; waits up to ``wait`` seconds for the first one."""
        ...

    async def extend(self, handle: str, seconds: float) -> str:
        """Keep a received message invisible for ``seconds`` from now; only the returned handle
        is good from then on. 0 gives it back. A handle that timed out is ``errors.NotFound``."""
        ...

    async def ack(self, handle: str) -> None:
        """Remove a received message for good. Once another has received it since, nothing happens:
        it is theirs."""
        ...

    async def dead(self, limit: int = 100) -> list[Delivery]:
        """The dead letters, oldest first; they stay until ``ack`` removes one."""
        ...


class Blobs(Protocol):
    """Bytes kept under their SHA-256; the same bytes twice are one blob. Never changed."""

    async def put(self, data: bytes, media_type: str = "application/octet-stream") -> str:
        """Keep the bytes and return their key: the SHA-256 in 64 hex digits. When it returns,
        ``get`` finds them, whichever process asks, and a crash does not lose them."""
        ...

    async def get(self, key: str) -> bytes:
        """The bytes; ``errors.NotFound`` when there are none under this key."""
        ...

    async def url(self, key: str, seconds: int) -> str | None:
        """An address that serves the bytes to anyone for ``seconds``, or None where the engine
        has no such thing."""
        ...


class Sealer(Protocol):
    """Keeps secrets unreadable at rest, each bound to where it belongs (AES-256-GCM)."""

    async def seal(self, data: bytes, bound: str) -> str:
        """The data as ASCII text that tells nothing; only ``open`` with the same ``bound`` reads
        it. The same data twice gives two texts."""
        ...

    async def open(self, sealed: str, bound: str) -> bytes:
        """The data. Raises errors.Unsealed if the text was changed, belongs to something else, or
        its key is not there; keys that were rotated out still open what they sealed."""
        ...


class Answer(NamedTuple):
    """What a webhook answered: HTTP status, seconds of its Retry-After (None: it said none), and
    the beginning of its body as printable text, as much of it as was asked for."""

    status: int
    retry_after: float | None = None
    text: str = ""


class Courier(Protocol):
    """Calls webhooks: addresses that strangers gave us."""

    async def check(self, url: str) -> None:
        """Raise errors.Refused if the URL must not be called, as far as is known now; a name that
        cannot be resolved now is not refused."""
        ...

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, keep: int = 500
    ) -> Answer:
        """POST once, to an address that was checked, following nothing; of the answer's text up to
        ``keep`` characters are kept. Raises errors.Refused, or errors.Unavailable with the reason
        when there was no answer in time."""
        ...

    async def get(self, url: str, *, keep: int = 500) -> Answer:
        """As ``post``, for a question: GET."""
        ...


class Clock(Protocol):
    """The time, passed in so that tests can move it."""

    def now(self) -> int:
        """Now, in ms. May be off by the skew allowance, and may go back."""
        ...
