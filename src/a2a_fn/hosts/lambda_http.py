"""HTTP on AWS Lambda, buffered: API Gateway, function URL and ALB events through Mangum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mangum import Mangum

from ..settings import Settings
from ..wiring import Services
from .loop import process_loop

TEXT = ["text/", "application/json", "application/a2a+json"]
"""Media types that leave as text; Mangum would send A2A's own as base64."""

GATEWAY_WAIT = 25.0
"""Seconds that SendMessage may wait: API Gateway gives up after 29."""


def http_handler(settings: Settings) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
    """The Lambda handler of the HTTP function."""
    import dataclasses

    wait = min(settings.blocking_wait, GATEWAY_WAIT)
    services = Services(dataclasses.replace(settings, blocking_wait=wait))
    mangum = Mangum(services.app(), lifespan="off", text_mime_types=TEXT)

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Answer one HTTP request."""
        process_loop()
        return mangum(event, context)

    return handler
