"""One event loop for the life of a function's process.

``asyncio.run`` would close it after each invocation, and with it every connection and lock that
the next invocation wants to use again.
"""

from __future__ import annotations

import asyncio

_loop: asyncio.AbstractEventLoop | None = None


def process_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process, made on first use and set as the current one."""
    global _loop
    if _loop is None or _loop.is_closed():
        _loop = asyncio.new_event_loop()
    asyncio.set_event_loop(_loop)
    return _loop


def close_loop() -> None:
    """Close the process's loop, if there is one."""
    global _loop
    if _loop is not None:
        _loop.close()
        asyncio.set_event_loop(None)
        _loop = None
