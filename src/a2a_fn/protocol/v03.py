"""A2A 0.3, translated by the a2a-sdk's compat types."""

from __future__ import annotations

from .dialect import V10


class V03(V10):
    """The dialect of A2A 0.3."""

    def __init__(self, *, four_states: bool = False) -> None:
        self._four_states = four_states
