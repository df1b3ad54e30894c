"""Queue batches and schedules on AWS Lambda."""

from __future__ import annotations

import abc
import asyncio
import logging
import math
from collections.abc import Callable
from typing import Any

from ..errors import InvalidSettings
from ..logs import request
from ..settings import Settings
from ..wiring import Services
from .loop import close_loop, process_loop

log = logging.getLogger("a2a_fn.host")

Remaining = Callable[[], float]


class BatchFunction(abc.ABC):
    """The handler of a function that a queue triggers: does what each record of a batch says.

    A record whose work failed for the store's sake is reported, so that the queue brings it again;
    one that cannot be read is reported too, so that it ends in the dead letters and is seen.
    """

    def __init__(self, settings: Settings) -> None:
        self._services = Services(settings)

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Work on one batch; names the records that failed."""
        request.set(getattr(context, "aws_request_id", ""))
        return process_loop().run_until_complete(self._batch(event, _remaining(context)))

    @abc.abstractmethod
    async def _work(self, body: bytes, remaining: Remaining) -> str:
        """Do what one message says; how it came out, for the log."""

    async def _batch(self, event: dict[str, Any], remaining: Remaining) -> dict[str, Any]:
        records = event.get("Records", [])
        failed = await asyncio.gather(*(self._failed(r, remaining) for r in records))
        return {
            "batchItemFailures": [
                {"itemIdentifier": record.get("messageId")}
                for record, bad in zip(records, failed, strict=True)
                if bad
            ]
        }

    async def _failed(self, record: dict[str, Any], remaining: Remaining) -> bool:
        try:
            outcome = await self._work(record["body"].encode(), remaining)
        except Exception:
            log.exception("wake-up failed", extra={"a2a": {"record": record.get("messageId")}})
            return True
        log.info("wake-up done", extra={"a2a": {"outcome": outcome}})
        return False

    def close(self) -> None:
        """Let go of everything; a platform never calls this, a test or ``invoke`` does."""
        _close(self._services)


class TurnFunction(BatchFunction):
    """The handler of the turn function: runs the agent."""

    async def _work(self, body: bytes, remaining: Remaining) -> str:
        return str(await self._services.run_turn(body, remaining=remaining))


class PushFunction(BatchFunction):
    """The handler of the push function: sends to webhooks. Raises InvalidSettings if pushes are
    off."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if self._services.outbox is None:
            raise InvalidSettings("push-notifications: is off, and this function only pushes")
        self._outbox = self._services.outbox

    async def _work(self, body: bytes, remaining: Remaining) -> str:
        done = await self._outbox.run(body, remaining=remaining)
        return ", ".join(one.outcome for one in done) or "nothing"


class SweepFunction:
    """The handler of the sweep function: rings every alarm that is due."""

    def __init__(self, settings: Settings) -> None:
        self._services = Services(settings)

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Sweep once; says how many alarms rang."""
        request.set(getattr(context, "aws_request_id", ""))
        sweeping = self._services.sweep(_remaining(context))
        return {"rung": process_loop().run_until_complete(sweeping)}

    def close(self) -> None:
        """As ``BatchFunction.close``."""
        _close(self._services)


def _close(services: Services) -> None:
    process_loop().run_until_complete(services.close())
    close_loop()


def _remaining(context: Any) -> Remaining:
    """Seconds that the platform leaves this invocation."""
    millis = getattr(context, "get_remaining_time_in_millis", None)
    if millis is None:
        return lambda: math.inf
    return lambda: float(millis()) / 1000
