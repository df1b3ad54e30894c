"""How a notification is turned away."""

from __future__ import annotations


class Rejected(Exception):
    """The notification is not accepted: ``reason`` in words that tell a forger nothing, and the
    HTTP ``status`` for the sender.

    401: it is not proved who sent it. 403: it is about a task that is not ours. 400: it is no
    notification. 413: it is too large. The sender gives up after these. 425 (it has been here
    before) and 503 (this cannot be known now; ``retry_after`` in seconds) let it try again, signed
    anew.
    """

    def __init__(self, reason: str, status: int = 401, retry_after: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.retry_after = retry_after
