"""For people who receive pushes: is this notification the agent's, for me, fresh and unchanged?

::

    from a2a_fn.receiver import Receiver, ReceiverMiddleware

    receiver = Receiver(
        issuer="https://agent.example.com",
        audience="https://hooks.example.org/a2a",  # the webhook's URL without its query
        jwks_url="https://agent.example.com/.well-known/jwks.json",
    )
    app = ReceiverMiddleware(app, receiver, path="/a2a")

The application finds a ``Notification`` in ``scope["state"]["a2a_notification"]``. In a function,
call ``await receiver.verify(headers, body)`` and answer a ``Rejected`` with its status.

Pushes come at least once: one whose ``event_id`` has been dealt with is to be answered with 200 and
otherwise passed over. Of one webhook they come in order, by ``generation``.

Needs PyJWT and cryptography (``pip install 'a2a-fn[receiver]'``), and nothing else of a2a_fn.
"""

from __future__ import annotations

from .faults import Rejected
from .keys import Fetch, fetch_jwks
from .middleware import ReceiverMiddleware
from .replays import MemoryReplays, Replays
from .verify import Notification, Receiver

__all__ = [
    "Fetch",
    "MemoryReplays",
    "Notification",
    "Receiver",
    "ReceiverMiddleware",
    "Rejected",
    "Replays",
    "fetch_jwks",
]
