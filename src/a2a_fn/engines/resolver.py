"""Names to addresses, without holding up anything else."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from typing import Any

LOOK_UPS = 32
"""Names that are looked up at once."""


class SystemResolver:
    """The system's own name look-up (hosts file, DNS), each in a thread of its own.

    The loop's pool of threads has six on a small machine, and everything else that blocks runs in
    it too: a few names whose servers never answer would stop it. These threads are daemons, since
    a look-up cannot be canceled and must not hold up the end of the process either.
    """

    def __init__(self, limit: int = LOOK_UPS) -> None:
        self._free = asyncio.Semaphore(limit)

    async def __call__(self, host: str, port: int) -> list[str]:
        """The addresses of a host, in the order in which the system would try them.

        Raises OSError if it has none or the look-up failed. Waits as long as that takes: whoever
        calls has a time-out.
        """
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def found(addresses: list[str], error: OSError | None) -> None:
            self._free.release()
            if answer.done():  # whoever asked has gone
                return
            if error is None:
                answer.set_result(addresses)
            else:
                answer.set_exception(error)

        def look_up() -> None:
            addresses: list[str] = []
            error: OSError | None = None
            try:
                addresses = _addresses(host, port)
            except OSError as caught:
                error = caught
            except UnicodeError:  # the codec's, of a label that is too long
                error = OSError("not a name")
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(found, addresses, error)

        threading.Thread(target=look_up, name="a2a-fn-look-up", daemon=True).start()
        return await answer


def _addresses(host: str, port: int) -> list[str]:
    found: list[tuple[Any, ...]] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
