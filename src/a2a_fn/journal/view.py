"""What an actor knows of a context while it decides."""

from __future__ import annotations

from .fold import Context, Head, fold_context, fold_head
from .slots import Slot


class View:
    """What an actor knows of a context: its head, the heads that it needs, and the tail of the
    journal that the views may not have yet."""

    def __init__(self, part: str, context: Context, tasks: dict[str, Head]) -> None:
        self.part = part
        self.context = context
        self.tasks = tasks
        self.tail: list[Slot] = []

    def fold(self, n: int, slot: Slot) -> None:
        """Take slot ``n`` in."""
        self.tail.append(slot)
        self.context = fold_context(self.context, n, slot)
        if slot.task:
            head = self.tasks.get(slot.task)
            if head is None or n > head.slot:
                self.tasks[slot.task] = fold_head(head, n, slot, self.context.context_id)

    def copy(self) -> View:
        """A view that can be folded further without changing this one."""
        view = View(self.part, self.context, dict(self.tasks))
        view.tail = list(self.tail)
        return view
