"""Whole turns through a server: SendMessage that waits, from several clients at once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable
from statistics import median
from tempfile import TemporaryDirectory

from . import gateway, servers
from .report import Line
from .rounds import interleave

CLIENTS = 8


def measure(rounds: int = 5, seconds: float = 2.0) -> list[Line]:
    """Requests per second against the SDK's, and the server's CPU per request."""
    with TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        started = {
            "SQLite": servers.ours("sqlite", "echo:", data=folder),
            "memory": servers.ours("memory", "echo:"),
            "SDK": servers.sdk("SdkEcho"),
        }
        running = [stack.enter_context(server) for server in started.values()]
        for server in running:
            asyncio.run(_load(server.port, min(1.0, seconds)))
        taken = interleave(rounds, *(_measured(server, seconds) for server in running))
    *ours, sdk = taken
    lines = []
    for name, side in zip(started, ours, strict=False):
        for i, (what, unit) in enumerate((("requests/s", "req/s"), ("CPU per request", "ms"))):
            pairs = [(a[i], b[i]) for a, b in zip(side, sdk, strict=True) if a[i] and b[i]]
            if not pairs:
                continue
            ratios = [a / b for a, b in pairs]
            lines.append(
                Line(
                    f"{what}, ours on {name} / SDK in memory",
                    median(ratios),
                    None,
                    min(ratios),
                    max(ratios),
                    median(a for a, _ in pairs),
                    median(b for _, b in pairs),
                    unit,
                )
            )
    return lines


def _measured(server: servers.Server, seconds: float) -> Callable[[], list[float]]:
    def once() -> list[float]:
        before, began = server.cpu(), time.perf_counter()
        done = asyncio.run(_load(server.port, seconds))
        spent, after = time.perf_counter() - began, server.cpu()
        used = 0.0 if before is None or after is None else (after - before) * 1000 / done
        return [done / spent, used]

    return once


async def _load(port: int, seconds: float) -> int:
    """How many requests the clients got answered."""
    end = time.perf_counter() + seconds
    return sum(await asyncio.gather(*(_client(port, end) for _ in range(CLIENTS))))


async def _client(port: int, end: float) -> int:
    """One connection, one request after the other; an HTTP library would cost as much as what is
    measured, on a machine that runs both."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0
    try:
        while time.perf_counter() < end:
            body = gateway.send(at_once=False).encode()
            writer.write(
                b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                b"A2A-Version: 1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(
                line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line
            )
            document = json.loads(await reader.readexactly(int(fields[b"content-length"])))
            task = document.get("result", {}).get("task", {})
            if task.get("status", {}).get("state") != "TASK_STATE_COMPLETED":
                raise RuntimeError(f"no finished task: {str(document)[:400]}")
            done += 1
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    return done
