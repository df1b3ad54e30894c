"""Queue batches and schedules on AWS Lambda."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Any

from ..settings import Settings
from ..wiring import Services
from .loop import process_loop

log = logging.getLogger("a2a_fn.host")

Remaining = Callable[[], float]


def turn_handler(settings: Settings) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
    """The handler of the turn function: runs what each wake-up of a batch says.

    A record whose turn failed for the store's sake is reported, so that the queue brings it again;
    one that cannot be read is reported too, so that it ends in the dead letters and is seen.
    """
    services = Services(settings)

    async def run(record: dict[str, Any], remaining: Remaining) -> str | None:
        try:
            outcome = await services.run_turn(record["body"].encode(), remaining=remaining)
        except Exception:
            log.exception("wake-up failed", extra={"a2a": {"message": record.get("messageId")}})
            return str(record.get("messageId"))
        log.info("wake-up done", extra={"a2a": {"outcome": str(outcome)}})
        return None

    async def batch(event: dict[str, Any], remaining: Remaining) -> dict[str, Any]:
        failed = await asyncio.gather(*(run(r, remaining) for r in event.get("Records", [])))
        return {"batchItemFailures": [{"itemIdentifier": name} for name in failed if name]}

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Run one batch."""
        return process_loop().run_until_complete(batch(event, _remaining(context)))

    return handler


def sweep_handler(settings: Settings) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
    """The handler of the sweep function: rings every alarm that is due."""
    services = Services(settings)

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Sweep once."""
        rung = process_loop().run_until_complete(services.sweep(_remaining(context)))
        return {"rung": rung}

    return handler


def _remaining(context: Any) -> Remaining:
    """Seconds that the platform leaves this invocation."""
    millis = getattr(context, "get_remaining_time_in_millis", None)
    if millis is None:
        return lambda: math.inf
    return lambda: float(millis()) / 1000
