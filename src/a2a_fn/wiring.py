"""The composition root: the one place where concrete engines meet the core.

Everything is built once per process, on first use, from one ``Settings``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .clock import SystemClock
from .errors import InvalidSettings
from .journal.ids import Ids
from .journal.journal import Journal
from .ports import Blobs, Queue, Rows
from .settings import Settings

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from .agents.agent import Agent
    from .protocol.gate import Gate
    from .turns.run import Outcome

VISIBLE_AFTER = 90.0  # seconds; a wake-up is lost on a dead worker for so long, a lease and a bit


class Services:
    """What a host needs: the HTTP application, one wake-up's work, one sweep."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._stopping = False

    # ---------------------------------------------------------------- parts

    @cached_property
    def _engine(self) -> tuple[Rows, Queue, Blobs]:
        clock = SystemClock()
        if self.settings.engine == "memory":
            from .engines.memory import MemoryBlobs, MemoryQueue, MemoryRows

            return (
                MemoryRows(clock=clock),
                MemoryQueue(clock=clock, visible_after=VISIBLE_AFTER),
                MemoryBlobs(),
            )
        from .engines.files import FileBlobs
        from .engines.sqlite import SqliteRows
        from .engines.sqlite_queue import SqliteQueue

        path = self.data / "a2a-fn.db"
        rows = SqliteRows(path, clock=clock)
        queue = SqliteQueue(path, "turns", clock=clock, visible_after=VISIBLE_AFTER)
        self._closers += [queue.close, rows.close]
        return rows, queue, FileBlobs(self.data / "blobs")

    @cached_property
    def data(self) -> Path:
        """The data folder, there and writable."""
        folder = Path(self.settings.data)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise InvalidSettings(f"data: cannot make {folder}: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise InvalidSettings(f"data: cannot write in {folder}")
        return folder

    @cached_property
    def secret(self) -> bytes:
        """The key that ids and page tokens are derived with."""
        if self.settings.id_key:
            return hashlib.sha256(self.settings.id_key.encode()).digest()
        if self.settings.engine == "memory":
            return secrets.token_bytes(32)
        return _kept_secret(self.data / "id.key")

    @cached_property
    def journal(self) -> Journal:
        """The journals."""
        rows, _, blobs = self._engine
        return Journal(
            rows,
            blobs,
            SystemClock(),
            Ids(self.secret),
            nonce=lambda: secrets.token_hex(8),
            lease=int(self.settings.lease * 1000),
            skew=int(self.settings.clock_skew * 1000),
            shards=self.settings.shards,
        )

    @cached_property
    def turns(self) -> Queue:
        """The queue of wake-ups."""
        return self._engine[1]

    @cached_property
    def agent(self) -> Agent:
        """The agent; imported here, so that the HTTP function never pays for it."""
        from .agents.agent import load_agent

        return load_agent(self.settings.agent, end_state=self.settings.end_state)

    # ---------------------------------------------------------------- planes

    def app(self) -> Starlette:
        """The HTTP application: operations, card, health."""
        from .agents.profiles import profile_of, replies_directly
        from .protocol.app import build_app
        from .protocol.handler import TaskHandler

        handler = TaskHandler(
            self.journal,
            self.wake,
            blocking_wait=self.settings.blocking_wait,
            direct_replies=replies_directly(self.settings.agent),
            page_key=self.secret,
            stopping=lambda: self._stopping,
        )
        return build_app(
            handler,
            profile=profile_of(self.settings.agent),
            gate=self.gate,
            body_limit=self.settings.body_limit,
        )

    @cached_property
    def gate(self) -> Gate:
        """What every call must pass."""
        from .protocol.gate import Gate
        from .protocol.operations import Capabilities

        settings = self.settings
        return Gate(
            capabilities=Capabilities(streaming=settings.streaming),
            tenants=frozenset(settings.tenants),
            required=frozenset(settings.required_extensions),
            v03=settings.a2a_v03,
            public_url=settings.public_url.rstrip("/") or None,
        )

    async def wake(self, part: str) -> None:
        """Tell a worker that a context has work."""
        await self.turns.send(json.dumps({"part": part}).encode())

    async def run_turn(
        self,
        body: bytes,
        *,
        remaining: Callable[[], float] = lambda: math.inf,
        stop: asyncio.Event | None = None,
    ) -> Outcome:
        """Do what a wake-up says. ``remaining``: seconds that this invocation has left."""
        from .turns.run import Limits, run_turn

        settings = self.settings
        return await run_turn(
            self.journal,
            json.loads(body)["part"],
            self.agent.run,
            self.wake,
            limits=Limits(settings.max_attempts, settings.max_hops, grace=settings.grace),
            remaining=remaining,
            stop=stop,
        )

    async def sweep(self, remaining: Callable[[], float] = lambda: math.inf) -> int:
        """Ring every due alarm; returns how many."""
        from .turns.sweep import sweep

        rung = 0
        for shard in range(self.settings.shards):
            rung += await sweep(self.journal, shard, self.wake, enough=lambda: remaining() < SPARE)
        return rung

    def stop(self) -> None:
        """End streams and waiting requests soon: the host is going to stop."""
        self._stopping = True

    async def close(self) -> None:
        """Let go of files and threads."""
        for closer in self._closers:
            await closer()


SPARE = 5.0  # seconds of an invocation that a sweep leaves unused


def build_services(settings: Settings) -> Services:
    """The services of these settings; nothing is opened before it is used."""
    return Services(settings)


def _kept_secret(path: Path) -> bytes:
    """The secret in this file; made once, whichever process comes first."""
    fresh = secrets.token_hex(32)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(fresh)
        file.flush()
        os.fsync(descriptor)
    with suppress(FileExistsError):
        os.link(temporary, path)  # atomic: the first one wins
    temporary.unlink()
    return bytes.fromhex(path.read_text())
