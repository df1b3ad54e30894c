"""The product itself behind a real connection: its memory engine, its worker, its agent."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from tests.protocol.conftest import checked, listen_with, look_up_nothing, work

from a2a_fn.settings import Settings
from a2a_fn.wiring import Services, build_services

_ids = itertools.count(1)


class Deployment:
    """A server, and what a test says to it in A2A 1.0; ``path`` is where, ``headers`` who."""

    def __init__(self, url: str, http: httpx.AsyncClient, services: Services) -> None:
        self.url = url
        self.http = http
        self.services = services

    async def call(self, method: str, params: Any, **headers: str) -> dict[str, Any]:
        """The envelope that answers."""
        given = {"A2A-Version": "1.0", **{k.replace("_", "-"): v for k, v in headers.items()}}
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return checked(await self.http.post(self.url, json=call, headers=given))

    async def send(self, *parts: Any, **message: Any) -> dict[str, Any]:
        """The envelope that answers a message of these parts (a str: a text part)."""
        given = [{"text": part} if isinstance(part, str) else part for part in parts]
        sent = {"messageId": f"m{next(_ids)}", "role": "ROLE_USER", "parts": given, **message}
        return await self.call("SendMessage", {"message": sent})

    async def task(self, *parts: Any, **message: Any) -> dict[str, Any]:
        """The task that such a message ends in."""
        answer = await self.send(*parts, **message)
        assert "result" in answer, answer
        return answer["result"]["task"]

    async def refusal(self, *parts: Any, **message: Any) -> tuple[int, str]:
        """Code and text of the error that such a message is answered with."""
        answer = await self.send(*parts, **message)
        assert "error" in answer, answer
        return answer["error"]["code"], answer["error"]["message"]


def said(task: dict[str, Any]) -> str:
    """What the agent last said."""
    return "".join(part.get("text", "") for part in task["status"]["message"]["parts"])


@asynccontextmanager
async def deployed(stand_in: Any = None, **settings: Any) -> AsyncIterator[Deployment]:
    """A deployment of these settings; ``stand_in`` in the place of the one that they name."""
    services = build_services(Settings(**{"engine": "memory", **settings}))
    look_up_nothing(services)
    if stand_in is not None:
        services.__dict__["agent"] = stand_in
    worker = asyncio.create_task(work(services))
    try:
        async with listen_with(services.app()) as server:
            yield Deployment(server.url, server.http, services)
            services.stop()
    finally:
        worker.cancel()
        await asyncio.wait([worker])
        await services.close()
