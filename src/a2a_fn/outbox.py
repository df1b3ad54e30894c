"""Push, put together: what HTTP functions, workers, pushers and the sweeper need of it.

Beside ``wiring.py`` the second place where concrete engines meet the core. Nothing is made before
it is used: an HTTP function that gets no webhook pays for none of it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import random
import secrets
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .clock import SystemClock
from .errors import InvalidSettings, Unavailable
from .journal import webhooks
from .journal.fold import SETTLED
from .journal.journal import Journal
from .journal.slots import Slot
from .ports import Queue
from .settings import Settings

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import StreamResponse, Task

    from .engines.courier import WebCourier
    from .protocol.push_configs import PushConfigs
    from .push.configs import Configs
    from .push.deliver import Delivered, Manner, Push
    from .push.keyring import Keyring
    from .push.sender import Sender
    from .push.verdict import Limits

log = logging.getLogger("a2a_fn.push")

LONGEST = 900.0
"""Seconds that a wake-up can be put off, by the least of the queues (SQS). What waits longer is
brought back by its alarm."""


class Wakeup(NamedTuple):
    """A queue's message: look at the webhooks of this task, or at one of them."""

    part: str
    task: str
    config: str = ""

    def body(self) -> bytes:
        """The message."""
        return json.dumps(self._asdict()).encode()


def read_wakeup(body: bytes) -> Wakeup:
    """The wake-up of a message. Raises ValueError for another message."""
    fields = json.loads(body)
    if not isinstance(fields, dict) or set(fields) - set(Wakeup._fields):
        raise ValueError("not a wake-up of the push queue")
    try:
        return Wakeup(**fields)
    except TypeError:
        raise ValueError("not a wake-up of the push queue") from None


class Outbox:
    """The push plane of one process.

    ``reveal`` reads a secret's setting; ``data`` is the data folder, asked for only where keys are
    kept in it.
    """

    def __init__(
        self,
        settings: Settings,
        journal: Callable[[], Journal],
        queue: Callable[[], Queue],
        reveal: Callable[[str, str], str],
        data: Callable[[], Path],
    ) -> None:
        self._settings = settings
        self._get_journal = journal
        self._get_queue = queue
        self._reveal = reveal
        self._data = data

    # ---------------------------------------------------------------- parts

    @cached_property
    def journal(self) -> Journal:
        """The journals."""
        return self._get_journal()

    @cached_property
    def queue(self) -> Queue:
        """The queue of wake-ups for pushers."""
        return self._get_queue()

    @cached_property
    def keys(self) -> Callable[[], Keyring]:
        """Gives the keyring as it is now. Raises InvalidSettings."""
        from .engines.keyfile import located
        from .push import keyring

        settings = self._settings
        if settings.engine == "memory" and not settings.push_keys:
            kept = keyring.fresh(SystemClock().now())
            return lambda: kept
        if settings.engine == "redis" and not settings.push_keys:
            raise InvalidSettings(
                "push-keys: is needed with the redis engine, the same for every process that uses "
                "it: a2a-fn keys export FILE, then push-keys: file:FILE"
            )
        file = located(settings.push_keys, self._data() if not settings.push_keys else Path())
        if file is not None:
            return file.keyring
        read = keyring.read(self._reveal("push-keys", settings.push_keys))
        return lambda: read

    @cached_property
    def courier(self) -> WebCourier:
        """Who calls webhooks. Raises InvalidSettings."""
        from .engines.courier import WebCourier
        from .push.guard import Policy

        settings = self._settings
        if bool(settings.push_client_cert) != bool(settings.push_client_key):
            raise InvalidSettings("push-client-cert, push-client-key: give both or neither")
        policy = Policy(
            settings.push_allow_private,
            settings.push_https_only,
            settings.push_allowed_hosts,
            tuple(int(port) for port in settings.push_ports),
        )
        return WebCourier(
            policy,
            timeout=settings.push_timeout,
            certificate=self._reveal("push-client-cert", settings.push_client_cert),
            key=self._reveal("push-client-key", settings.push_client_key),
            ca=self._reveal("push-ca", settings.push_ca),
        )

    @cached_property
    def _configs(self) -> Configs:
        from .engines.keyfile import KeyringSealer
        from .push.configs import Configs

        challenge = (lambda: secrets.token_urlsafe(24)) if self._settings.push_challenge else None
        return Configs(KeyringSealer(self.keys), self.courier, challenge)

    @cached_property
    def push_configs(self) -> PushConfigs:
        """The operations of clients on their webhooks."""
        from .protocol.push_configs import PushConfigs

        return PushConfigs(self.journal, self._configs)

    def public_keys(self) -> list[dict[str, str]]:
        """The public keys that verify pushes, as JWKs."""
        from .push.keyring import public_jwks

        return public_jwks(self.keys())

    @cached_property
    def _sender(self) -> Sender:
        from .push.sender import Sender

        settings = self._settings
        return Sender(
            self._configs,
            self.courier,
            SystemClock(),
            self.keys,
            self._render,
            nonce=lambda: secrets.token_urlsafe(18),
            issuer=settings.public_url.rstrip("/"),
            hmac_secret=self._reveal("push-hmac-secret", settings.push_hmac_secret),
        )

    @cached_property
    def manner(self) -> Manner:
        """How pushes are sent."""
        from .push.deliver import Manner
        from .push.verdict import Limits

        settings = self._settings
        limits: Limits = Limits(settings.push_max_attempts, settings.push_max_age)
        # a generator of its own, seeded here: functions restored from one snapshot must not
        # all wait for the same time
        jitter = random.Random(secrets.randbits(64))  # noqa: S311 - jitter is no secret
        return Manner(settings.push_events, settings.push_timeout, limits, jitter.uniform)

    def ready(self) -> None:
        """Raise now what would otherwise fail the first push: keys and certificates."""
        self.keys()
        _ = self._sender

    # ---------------------------------------------------------------- work

    async def tell(self, part: str, slot: Slot) -> None:
        """A slot has landed in a context with webhooks: wake a pusher if it concerns them."""
        if webhooks.concerns(self._settings.push_events, slot):
            await self._send(Wakeup(part, slot.task))

    async def wake(self, part: str, task: str, config: str = "", delay: float = 0.0) -> None:
        """Wake a pusher for one webhook (or all of the task), in ``delay`` seconds."""
        await self._send(Wakeup(part, task, config), delay)

    async def _send(self, wakeup: Wakeup, delay: float = 0.0) -> None:
        try:
            await self.queue.send(wakeup.body(), min(delay, LONGEST))
        except Unavailable as error:
            log.warning("push left to its alarm: %s", error)

    async def waiting(self, wakeup: Wakeup) -> list[Wakeup]:
        """One wake-up for each webhook that a wake-up means."""
        from .push.deliver import targets

        names = await targets(self.journal, *wakeup)
        return [wakeup._replace(config=name) for name in names]

    async def receiver(self, wakeup: Wakeup) -> tuple[str, str] | None:
        """Whose webhook a wake-up means, and which receiver it is at: scheme, host and port; None:
        it is gone."""
        from urllib.parse import urlsplit

        found = await webhooks.read(self.journal, *wakeup)
        if found is None or not found[0].live or found[0].ended:
            return None
        parts = urlsplit(found[0].config.url)
        return found[0].owner, f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"

    async def push(
        self,
        wakeup: Wakeup,
        *,
        remaining: Callable[[], float] = lambda: math.inf,
        stop: Callable[[], bool] = lambda: False,
    ) -> Delivered:
        """Send what one webhook has not got yet, and see to it that the rest is sent later."""
        from .push.deliver import Outcome, deliver

        done = await deliver(
            self.journal,
            *wakeup,
            self._sender,
            self.manner,
            remaining=remaining,
            stop=stop,
        )
        # one that came a little early is the delayed one itself, by another machine's clock
        early = done.outcome is Outcome.EARLY and done.wait <= self._settings.clock_skew
        if early or done.outcome in (Outcome.RETRY, Outcome.STOPPED):
            await self._send(wakeup, done.wait)
        return done

    async def run(self, body: bytes, *, remaining: Callable[[], float]) -> list[Delivered]:
        """Do what a message says, for all webhooks that it means at once; ``remaining``: seconds
        that this invocation has left. Raises ValueError, Unavailable."""
        wakeups = await self.waiting(read_wakeup(body))
        work = (self.push(one, remaining=remaining) for one in wakeups)
        done = await asyncio.gather(*work, return_exceptions=True)  # none is left half way
        for one in done:
            if isinstance(one, BaseException):
                raise one
        return [one for one in done if not isinstance(one, BaseException)]

    async def _render(self, push: Push) -> bytes:
        """The body of a push: the event with the addresses that its receiver can follow; for a
        receiver of A2A 0.3, the whole task as it was right after."""
        from a2a.types.a2a_pb2 import StreamResponse

        from .protocol import outputs
        from .protocol.artifacts import absolute
        from .protocol.callers import Caller

        config = push.hook.config
        root = self._settings.public_url.rstrip("/") or config.base
        caller = Caller(base_url=root, tenant=config.tenant)
        if config.v03:
            from .protocol.v03 import encode_task

            return outputs.dumps(encode_task(absolute(await self._task(push), caller)))
        payload = push.event.payload
        if self._settings.push_events != "all" and _ends_without_words(payload):
            # a stream has had the words piece by piece; who gets no pieces gets them here
            whole = StreamResponse()
            whole.CopyFrom(payload)
            status = (await self._task(push)).status
            if status.HasField("message"):
                whole.status_update.status.message.CopyFrom(status.message)
            payload = whole
        return outputs.dumps(outputs.encode(absolute(payload, caller)))

    async def _task(self, push: Push) -> Task:
        """The task as it was right after the event. Raises Unavailable."""
        from .journal import stream

        task, context_id = push.hook.task, push.hook.context_id
        part = task.partition("-")[0]
        then = await stream.as_of(self.journal, part, task, context_id, push.generation)
        if then is None:
            raise Unavailable(f"{task} cannot be read as of event {push.generation}")
        return then[0].task

    async def close(self) -> None:
        """Let connections go."""
        if "courier" in self.__dict__:
            await self.courier.close()


def _ends_without_words(payload: StreamResponse) -> bool:
    """Whether an event ends a turn and leaves the agent's words to the pieces before it."""
    if not payload.HasField("status_update"):
        return False
    status = payload.status_update.status
    return status.state in SETTLED and not status.HasField("message")
