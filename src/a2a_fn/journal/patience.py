"""How long a silent store is asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

RETRIES = 6  # after an unknown result
BACKOFF = 0.05  # seconds, doubled each time: 3 s in all
PATIENCE = 5.0  # seconds after which nothing is tried again


def waits() -> Iterator[float]:
    """The waits after failed tries; fewer, where a try takes long to fail."""
    now = asyncio.get_running_loop().time
    end = now() + PATIENCE
    for i in range(RETRIES):
        if i and now() > end:
            return
        yield BACKOFF * 2**i
