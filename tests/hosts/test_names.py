"""The names that a server without credentials answers to."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_fn.hosts.names import OwnNames


async def status(host: bytes | None, public_url: str = "") -> int:
    """What a request with this Host header is answered."""
    answers: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Any) -> None:
        answers.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    headers = [] if host is None else [(b"host", host)]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    await OwnNames(app, public_url)(scope, receive, send)
    return int(answers[0]["status"])


@pytest.mark.parametrize(
    "host",
    [b"127.0.0.1", b"127.0.0.1:8080", b"localhost:8080", b"LOCALHOST", b"[::1]:8080", b"127.9.9.9",
     None],
)  # fmt: skip
async def test_a_machine_answers_to_its_own_names(host: bytes | None) -> None:
    assert await status(host) == 200


@pytest.mark.parametrize(
    "host",
    [b"evil.example", b"evil.example:8080", b"127.0.0.1.evil.example", b"localhost.evil.example",
     b"10.0.0.1", b"", b"[::1", b"evil@127.0.0.2.x", b"\xff"],
)  # fmt: skip
async def test_it_answers_to_no_others(host: bytes) -> None:
    assert await status(host) == 421


async def test_the_public_url_names_it_too() -> None:
    assert await status(b"agent.example:443", "https://agent.example/a") == 200
    assert await status(b"other.example", "https://agent.example/a") == 421
