"""From the agent's word to the client's event: real servers, a real client, the machine's clock.

The agent says the monotonic time, which all processes of a machine share, further apart than the
writer waits for more (it waits longer as a turn grows, so the turns are short); so each word is a
slot of its own, written at once, and what is measured is the write, the news of it, and the way to
the client. The servers are asked at the same time, so that they share what else the machine does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from statistics import median
from tempfile import TemporaryDirectory

import httpx

from . import servers
from .report import Line
from .rounds import percentile

BUDGET = 10.0  # ms
APART = 0.22  # seconds between two words; the writer coalesces for 0.15, and more in a long turn
WORDS = 10  # of one turn


def measure(turns: int = 13) -> list[Line]:
    """p50 and p99 of each server."""
    agent = "agent:tests.bench.agents:Ticker"
    with TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        started = {
            "worker in the server, SQLite": servers.ours("sqlite", agent, data=f"{folder}/one"),
            "worker in the server, memory": servers.ours("memory", agent),
            "worker in another process, SQLite": servers.ours(
                "sqlite", agent, data=f"{folder}/two", apart=True
            ),
            "SDK, memory": servers.sdk("SdkTicker"),
        }
        urls = {name: stack.enter_context(server).url for name, server in started.items()}
        taken = asyncio.run(_all(urls, turns))
    sdk = median(taken["SDK, memory"])
    lines = []
    for name, late in taken.items():
        budget = None if name.startswith("SDK") else BUDGET
        lines += [
            Line(f"{name}: p50", median(late), budget, ours=median(late), other=sdk, unit="ms"),
            Line(f"{name}: p99", percentile(late, 0.99), unit="ms"),
        ]
    return lines


async def _all(urls: dict[str, str], turns: int) -> dict[str, list[float]]:
    waits = [i * APART / len(urls) for i in range(len(urls))]
    found = await asyncio.gather(
        *(_one(url, turns, wait) for url, wait in zip(urls.values(), waits, strict=True))
    )
    return dict(zip(urls, found, strict=True))


async def _one(url: str, turns: int, wait: float) -> list[float]:
    """How late each word came, in ms."""
    await _stream(url, 3)  # what only the first request pays
    await asyncio.sleep(wait)
    late = []
    for _ in range(turns):
        late += await _stream(url, WORDS)
    if len(late) != turns * WORDS:
        raise RuntimeError(f"{len(late)} of {turns * WORDS} words came from {url}")
    return late


async def _stream(url: str, words: int) -> list[float]:
    message = {
        "messageId": f"bench-{time.monotonic_ns()}",
        "role": "ROLE_USER",
        "parts": [{"text": f"{words} {APART * 1000:.0f}"}],
    }
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "SendStreamingMessage",
        "params": {"message": message},
    }
    late: list[float] = []
    async with (
        httpx.AsyncClient(timeout=30, trust_env=False) as client,
        client.stream("POST", url, json=call, headers={"A2A-Version": "1.0"}) as answer,
    ):
        async for line in answer.aiter_lines():
            came = time.monotonic_ns()
            if line.startswith("data:"):
                late += [(came - stamp) / 1e6 for stamp in _stamps(json.loads(line[5:]))]
    return late


def _stamps(document: dict) -> list[int]:  # type: ignore[type-arg]
    if "error" in document:
        raise RuntimeError(str(document["error"]))
    status = document["result"].get("statusUpdate", {}).get("status", {})
    if status.get("state") != "TASK_STATE_WORKING":
        return []
    parts = status.get("message", {}).get("parts", [])
    return [int(word) for part in parts for word in part.get("text", "").split()]
