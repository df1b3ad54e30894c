"""What an agent is to work on, and what it may ask of its turn."""

from __future__ import annotations

from collections.abc import Callable

from a2a.types.a2a_pb2 import Message, Task

from ..errors import NotFound
from ..journal import heads, intents
from .writer import Writer


class Assignment:
    """The asking half of a ``Turn``. ``message`` is what to work on, ``task`` the task as it was
    when the turn was claimed (with the message in its history), ``attempt`` counts claims since the
    last checkpoint from 1, ``checkpoint`` is what ``save`` was last given (None at first).
    ``workspace`` is the folder that the context works in ("" if no message named one), ``blobs`` a
    place for bytes that a checkpoint, a note or an artifact refers to by their SHA-256."""

    def __init__(
        self,
        writer: Writer,
        message: Message,
        checkpoint: bytes | None,
        remaining: Callable[[], float],
    ) -> None:
        context = writer.view.context
        self.message = message
        self.task = writer.head.task
        self.attempt = writer.active.attempts
        self.checkpoint = checkpoint
        self.owner = context.owner or ""
        self.context_id = context.context_id
        self.workspace = context.workspace
        self.blobs = writer.journal.blobs
        self._writer = writer
        self._remaining = remaining
        self._stopping = False

    @property
    def text(self) -> str:
        """The text parts of the message, joined by newlines."""
        return "\n".join(part.text for part in self.message.parts if part.HasField("text"))

    @property
    def state(self) -> int:
        """The task's TaskState as of the last write."""
        return self._writer.head.state

    @property
    def stopping(self) -> bool:
        """The host wants the turn to yield: call ``save`` soon, it will not return."""
        return self._stopping

    @property
    def canceled_by_client(self) -> bool:
        """The turn is lost because its task was canceled, not because another has it."""
        return self._writer.canceled_by_client

    def new_id(self) -> str:
        """An id that nothing else has."""
        return self._writer.journal.nonce()

    def time_left(self) -> float:
        """Seconds until this invocation must be over; inf on a host that lives on."""
        return self._remaining()

    async def conversation(self) -> list[Task]:
        """The tasks of this context, oldest first, as last settled; this turn's is among them."""
        journal, part = self._writer.journal, self._writer.view.part
        rows = await journal.rows.scan(heads.partition(part), prefix=heads.TASKS)
        found = [heads.decode_head(await journal.cells.unpack(row.value)) for row in rows]
        return [head.task for head in sorted(found, key=lambda head: head.created)]

    async def references(self) -> list[Task]:
        """The tasks that the message refers to, as they now are; those that are not the owner's
        are left out."""
        found = []
        for name in self.message.reference_task_ids:
            try:
                view = await intents.find(self._writer.journal, self.owner, name)
            except NotFound:
                continue
            found.append(view.tasks[name].task)
        return found
