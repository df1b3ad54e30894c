"""Receivers of pushes, in a process of their own: quick ones, a slow one, one that fails half the
time.

``Receivers`` starts them; ``gathered`` gives what came. They are bare asyncio: an HTTP framework
would cost more than what is measured, on a machine that runs both.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections import Counter
from random import Random
from typing import Any, NamedTuple

from .child import ROOT

QUICK = ("fast", "second", "third")  # answer at once
SLOW, FLAKY = "slow", "flaky"
NAMES = (*QUICK, SLOW, FLAKY)

DELAY = 0.5  # seconds that the slow one takes
FAILS = 0.5  # share of the flaky one's answers
SILENT = 0.2  # share of those failures that are no answer at all: the connection is closed
IN_A_ROW = 4  # failures of one event at most: 15 s of backoff, where chance alone would need hours
LAST = "TASK_STATE_COMPLETED"


class Arrival(NamedTuple):
    """One request: what event of what task it brought, the agent's time in it (0: none), when it
    came and when it was answered (monotonic ns, as the agent's), and how (0: not at all)."""

    receiver: str
    task: str
    word: str
    stamp: int
    came: int
    done: int
    status: int

    @property
    def accepted(self) -> bool:
        """Whether it need not come again."""
        return 200 <= self.status < 300


class Receivers:
    """The parent's side; a context manager that ends the process."""

    def __init__(self, seed: int = 1, *, delay: float = DELAY, in_a_row: int = IN_A_ROW) -> None:
        given = (seed, delay, in_a_row)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.receivers", *map(str, given)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ports: dict[str, int] = self._answer()

    def url(self, name: str) -> str:
        """Where one of them is."""
        return f"http://127.0.0.1:{self.ports[name]}/"

    def gathered(self, ends: dict[str, int], patience: float) -> list[Arrival]:
        """What came since the last call, in the order of arrival, once each named receiver has
        accepted so many ends of tasks; or what there is after ``patience`` seconds."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([ends, patience]) + "\n")
        self._process.stdin.flush()
        return [Arrival(*fields) for fields in self._answer()]

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the receivers ended")
        return json.loads(line)

    def __enter__(self) -> Receivers:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class _Site:
    """All receivers of the process, and what they got."""

    def __init__(self, seed: int, delay: float, in_a_row: int) -> None:
        self._draw = Random(seed)
        self._delay = delay
        self._in_a_row = in_a_row
        self._failed: Counter[tuple[str, str]] = Counter()
        self._ended: Counter[str] = Counter()
        self._news = asyncio.Event()
        self._arrivals: list[Arrival] = []

    async def meet(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of one connection."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(
                    line.lower().split(b": ", 1) for line in head.split(b"\r\n") if b": " in line
                )
                body = await reader.readexactly(int(fields[b"content-length"]))
                came = time.monotonic_ns()
                task, word, stamp = read(json.loads(body))
                status = await self._status(name, task, word)
                done = time.monotonic_ns()
                self._note(Arrival(name, task, word, stamp, came, done, status))
                if not status:
                    break
                writer.write(b"HTTP/1.1 %d .\r\nContent-Length: 0\r\n\r\n" % status)
                await writer.drain()
        writer.close()

    async def _status(self, name: str, task: str, word: str) -> int:
        if name == SLOW:
            await asyncio.sleep(self._delay)
        enough = self._failed[task, word] >= self._in_a_row
        if name != FLAKY or enough or self._draw.random() >= FAILS:
            return 204
        self._failed[task, word] += 1
        return 0 if self._draw.random() < SILENT else 503

    def _note(self, arrival: Arrival) -> None:
        self._arrivals.append(arrival)
        if arrival.accepted and arrival.word == LAST:
            self._ended[arrival.receiver] += 1
            self._news.set()

    async def gather(self, ends: dict[str, int], patience: float) -> list[Arrival]:
        """See ``Receivers.gathered``."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while any(self._ended[name] < count for name, count in ends.items()):
                    self._news.clear()
                    await self._news.wait()
        found, self._arrivals = self._arrivals, []
        self._ended.clear()
        return sorted(found, key=lambda arrival: arrival.came)


def read(body: dict[str, Any]) -> tuple[str, str, int]:
    """The task, the event's word and the agent's time of a push's StreamResponse."""
    update = body.get("artifactUpdate")
    if update is not None:
        artifact = update["artifact"]
        return update["taskId"], artifact["artifactId"], _stamp(artifact.get("parts", []))
    update = body.get("statusUpdate")
    if update is None:
        return body["task"]["id"], f"task {body['task']['status']['state']}", 0
    status = update["status"]
    return update["taskId"], status["state"], _stamp(status.get("message", {}).get("parts", []))


def _stamp(parts: list[dict[str, Any]]) -> int:
    text = "".join(part.get("text", "") for part in parts)
    return int(text) if text.isdecimal() else 0


async def _main(site: _Site) -> None:
    ports = {}
    async with contextlib.AsyncExitStack() as stack:
        for name in NAMES:
            server = await asyncio.start_server(
                lambda reader, writer, name=name: site.meet(name, reader, writer),  # type: ignore[misc]
                "127.0.0.1",
                0,
                backlog=1024,
            )
            stack.callback(server.close)
            ports[name] = server.sockets[0].getsockname()[1]
        print(json.dumps(ports), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            ends, patience = json.loads(line)
            print(json.dumps(await site.gather(ends, patience)), flush=True)


if __name__ == "__main__":
    asyncio.run(_main(_Site(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))
