"""The errors of a2a-fn.

::

    A2aFnError                     everything below
    +-- Conflict(index)            a condition of a write did not hold: read again, decide again
    +-- NotFound                   there is nothing under this name (or not for this caller)
    +-- TooLarge                   over a limit that the message names
    +-- Unavailable                an engine did not answer; the result is unknown: try again
    +-- Refused                    a URL that must not be called; the message says why
    +-- Unsealed                   a sealed value that cannot be opened
    +-- InvalidSettings            the settings contradict each other or miss something
    +-- TurnLost                   the turn is no longer this worker's: stop, write nothing

Engines translate their SDKs' errors into these at the border, and keep the cause in
``__cause__``. What reaches an A2A client is decided by the table in ``protocol/errors.py``.
"""

from __future__ import annotations


class A2aFnError(Exception):
    """Anything that a2a-fn raises by itself."""


class Conflict(A2aFnError):
    """A condition of a write did not hold; ``index`` says of which change."""

    def __init__(self, index: int = 0) -> None:
        super().__init__(f"the condition of change {index} does not hold")
        self.index = index


class NotFound(A2aFnError):
    """There is nothing under this name."""


class TooLarge(A2aFnError):
    """More than a limit allows; the message names both."""


class Unavailable(A2aFnError):
    """An engine did not answer; what was asked may or may not have been done."""


class Refused(A2aFnError):
    """A URL that must not be called; the message says why, without what may be secret in it."""


class Unsealed(A2aFnError):
    """A sealed value that cannot be opened: its key is gone, or it belongs to something else."""


class InvalidSettings(A2aFnError):
    """The settings miss something or contradict each other; the message lists every fault."""


class TurnLost(A2aFnError):
    """The turn was canceled, or another worker has taken it over."""
