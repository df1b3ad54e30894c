"""The machine's clock."""

from __future__ import annotations

import time


class SystemClock:
    """``ports.Clock`` on the machine's wall clock."""

    def now(self) -> int:
        """Now, in ms since 1970-01-01T00:00:00Z."""
        return time.time_ns() // 1_000_000
