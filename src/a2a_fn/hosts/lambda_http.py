"""HTTP on AWS Lambda, buffered: API Gateway, function URL and ALB events through Mangum."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

from mangum import Mangum

from ..settings import Settings
from ..wiring import Services
from .loop import close_loop, process_loop

log = logging.getLogger("a2a_fn.host")

TEXT = ["text/", "application/json", "application/a2a+json"]
"""Media types that leave as text; Mangum would send A2A's own as base64."""

GATEWAY_WAIT = 25.0
"""Seconds that SendMessage may wait: API Gateway gives up after 29."""


class HttpFunction:
    """The handler of the HTTP function. An answer leaves whole, so the card offers no streaming."""

    def __init__(self, settings: Settings) -> None:
        process_loop()  # Mangum would make one of its own
        wait = min(settings.blocking_wait, GATEWAY_WAIT)
        self._services = Services(
            dataclasses.replace(settings, blocking_wait=wait, streaming=False)
        )
        if self._services.gate.authenticate is None and not settings.allow_anonymous:
            log.warning("no credentials are asked for: whoever gets here is one and the same owner")
        self._mangum = Mangum(self._services.app(), lifespan="off", text_mime_types=TEXT)

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Answer one HTTP request."""
        process_loop()
        return self._mangum(event, context)

    def close(self) -> None:
        """Let go of everything; a platform never calls this, a test or ``invoke`` does."""
        process_loop().run_until_complete(self._services.close())
        close_loop()
