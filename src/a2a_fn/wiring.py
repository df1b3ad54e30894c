"""The composition root: the one place where concrete engines meet the core.

Everything is built once per process, on first use, from one ``Settings``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__
from .clock import SystemClock
from .errors import InvalidSettings
from .journal.ids import Ids
from .journal.journal import Journal
from .media import MediaTypes, media_types
from .ports import Queue
from .settings import Settings
from .workspace import Roots

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from .agents.agent import Agent
    from .agents.places import Place
    from .outbox import Outbox
    from .profile import Profile
    from .protocol.card import Cards
    from .protocol.gate import Gate
    from .protocol.keys import SigningKey
    from .secrets import Secrets
    from .storage import Storage
    from .turns.manner import Manner
    from .turns.run import Outcome


class Services:
    """What a host needs: the HTTP application, one wake-up's work, one sweep."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._stopping = False

    # ---------------------------------------------------------------- parts

    @cached_property
    def _storage(self) -> Storage:
        from .storage import Storage

        storage = Storage(self.settings, lambda: self.data, self.reveal)
        self._closers.append(storage.close)
        return storage

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
            key = self.reveal("id-key", self.settings.id_key)
            if len(key) < 16:
                raise InvalidSettings("id-key: must have at least 16 characters")
            return hashlib.sha256(key.encode()).digest()
        if self.settings.engine == "memory":
            return os.urandom(32)
        if self.settings.engine == "redis":
            raise InvalidSettings(
                "id-key: is needed with the redis engine, the same for every process that uses it"
            )
        return _kept_secret(self.data / "id.key")

    def reveal(self, setting: str, text: str) -> str:
        """The secret of a setting whose text may say where it is kept: read on first use, once."""
        return self._secrets.reveal(setting, text)

    @cached_property
    def _secrets(self) -> Secrets:
        from .engines import vault
        from .secrets import Secrets

        return Secrets({"ssm": vault.parameter, "secretsmanager": vault.secret})

    @cached_property
    def journal(self) -> Journal:
        """The journals."""
        return Journal(
            self._storage.rows,
            self._storage.blobs,
            SystemClock(),
            Ids(self.secret),
            nonce=lambda: os.urandom(8).hex(),
            lease=int(self.settings.lease * 1000),
            skew=int(self.settings.clock_skew * 1000),
            shards=self.settings.shards,
            window=int(self.settings.dedupe_window * 1000),
            tell=self.outbox.tell if self.outbox is not None else None,
        )

    @cached_property
    def turns(self) -> Queue:
        """The queue of wake-ups."""
        return self._storage.turns

    @cached_property
    def outbox(self) -> Outbox | None:
        """What pushes, if anything is pushed here."""
        if not self.settings.push_notifications:
            return None
        from .outbox import Outbox

        outbox = Outbox(
            self.settings,
            lambda: self.journal,
            lambda: self._storage.pushes,
            self.reveal,
            lambda: self.data,
        )
        self._closers.insert(0, outbox.close)
        return outbox

    @cached_property
    def agent(self) -> Agent:
        """The agent; imported here, so that the HTTP function never pays for it."""
        from .agents.agent import load_agent

        settings = self.settings
        if not settings.agent.startswith("iac:"):
            return load_agent(settings.agent)
        from .agents.places import KeptPlace, LocalPlace

        place: Place = LocalPlace(self.roots) if self.roots is not None else KeptPlace()
        return load_agent(
            settings.agent, end_state=settings.end_state, place=place, types=self.media_types
        )

    @cached_property
    def roots(self) -> Roots | None:
        """The folders that messages may name; None where each context has its own."""
        if self.settings.workspace == "context":
            return None
        settings = self.settings
        files = [name for name in (settings.config, settings.card) if name]
        return Roots(
            settings.allowed_cwds, hidden=[settings.data, *files, *_secret_files(settings)]
        )

    @cached_property
    def media_types(self) -> MediaTypes:
        """What an agent that reads files is sent: text to read, or bytes to describe."""
        settings = self.settings
        return media_types(
            self.profile.input_modes, settings.text_mime_types, settings.multimodal_mime_types
        )

    @cached_property
    def manner(self) -> Manner:
        """What of an agent's work leaves a turn, and in what form."""
        from .turns.manner import Manner

        settings = self.settings
        folder = Path(settings.data) / "artifacts"
        return Manner(frozenset(settings.thinking_exposure), settings.artifact_urls, folder)

    @cached_property
    def profile(self) -> Profile:
        """What the agent says of itself, with the file that the settings name."""
        from .agents.profiles import profile_of

        settings = self.settings
        profile = profile_of(settings.agent, settings.thinking_exposure)
        if settings.card:
            from .card_file import read_card

            profile = read_card(settings.card, profile)
        if not profile.url_parts:  # an agent that reads files takes what the settings add
            more = (*settings.text_mime_types, *settings.multimodal_mime_types)
            modes = dict.fromkeys((*profile.input_modes, *more))
            profile = profile._replace(input_modes=tuple(modes))
        return profile.requiring(settings.required_extensions)

    @cached_property
    def cards(self) -> Cards:
        """The agent's cards. Raises InvalidSettings if they are to be signed for any address."""
        from .protocol.card import Cards
        from .protocol.schemes import schemes

        settings = self.settings
        signed = bool(settings.signing_secret or settings.signing_keys)
        if signed and not settings.public_url:
            raise InvalidSettings(
                "public-url: a signed card needs it: without, the card would vouch for whatever "
                "address a client's Host header says"
            )
        return Cards(
            self.profile,
            self.gate,
            schemes=schemes(settings),
            keys=(lambda: self.keys) if signed else None,
            runtime=_runtime(settings),
            pushes=self.outbox.public_keys if self.outbox is not None else None,
        )

    @cached_property
    def keys(self) -> tuple[SigningKey, ...]:
        """The keys that sign the card; read when the first card is asked for."""
        from .protocol.keys import load_keys

        settings = self.settings
        return load_keys(
            self.reveal("signing-secret", settings.signing_secret),
            [
                self.reveal(f"signing-keys[{i}]", text)
                for i, text in enumerate(settings.signing_keys)
            ],
        )

    # ---------------------------------------------------------------- planes

    def app(self) -> Starlette:
        """The HTTP application: operations, card, health."""
        from .agents.profiles import replies_directly
        from .protocol.app import build_app
        from .protocol.artifacts import ArtifactRoute
        from .protocol.handler import TaskHandler
        from .protocol.parts import Intake

        outbox = self.outbox
        handler = TaskHandler(
            self.journal,
            self.wake,
            blocking_wait=self.settings.blocking_wait,
            direct_replies=replies_directly(self.settings.agent),
            page_key=self.secret,
            stopping=lambda: self._stopping,
            card=self.cards.extended,
            intake=Intake(self.profile, self.media_types, self.roots),
            pushes=(lambda: outbox.push_configs) if outbox is not None else None,
        )
        return build_app(
            handler,
            profile=self.profile,
            cards=self.cards,
            gate=self.gate,
            artifacts=ArtifactRoute(self.journal, self.gate),
            body_limit=self.settings.body_limit,
        )

    @cached_property
    def gate(self) -> Gate:
        """What every call must pass."""
        from .protocol.gate import Gate
        from .protocol.operations import Capabilities
        from .protocol.schemes import concerned, schemes

        settings = self.settings
        authenticate = limit = None
        if concerned(settings):
            from .protocol.auth import authenticator

            authenticate = authenticator(
                settings, fetch=_fetch, reveal=self.reveal, clock=SystemClock()
            )
        if settings.rate_limit:
            from .protocol.rate import Rate

            limit = Rate(settings.rate_limit, SystemClock())
        return Gate(
            authenticate=authenticate,
            limit=limit,
            capabilities=Capabilities(
                streaming=settings.streaming,
                push=settings.push_notifications,
                extended_card=bool(schemes(settings)),
            ),
            tenants=frozenset(settings.tenants),
            required=self.profile.required,
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
            manner=self.manner,
            remaining=remaining,
            stop=stop,
        )

    async def sweep(self, remaining: Callable[[], float] = lambda: math.inf) -> int:
        """Ring every due alarm; returns how many."""
        from .turns.sweep import sweep

        push = self.outbox.wake if self.outbox is not None else None
        rung = 0
        for shard in range(self.settings.shards):
            rung += await sweep(
                self.journal, shard, self.wake, push, enough=lambda: remaining() < SPARE
            )
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


def _secret_files(settings: Settings) -> list[str]:
    """The files that secrets are read from."""
    texts: list[object] = [settings.token, settings.basic_password, settings.api_key]
    texts += [settings.signing_secret, settings.id_key, *settings.signing_keys]
    texts += [settings.push_keys, settings.push_hmac_secret, settings.push_client_key]
    texts += [settings.redis_url, settings.push_redis_url]
    texts += [value for entry in settings.principals for value in entry.values()]
    found = [text for text in texts if isinstance(text, str) and text.startswith("file:")]
    return [text.removeprefix("file:") for text in found]


def _runtime(settings: Settings) -> str:
    """The process in words, for callers who are known: no path, no secret."""
    limits = [
        f"requests up to {settings.body_limit:,} bytes",
        f"SendMessage waits up to {settings.blocking_wait:g} s",
        f"a turn is begun up to {settings.max_attempts} times without progress",
    ]
    if settings.rate_limit:
        limits.append(f"{settings.rate_limit} requests a minute")
    return (
        f"a2a-fn {__version__} runs the agent {settings.agent} on the {settings.engine} engine. "
        f"Limits: {'; '.join(limits)}."
    )


async def _fetch(url: str) -> bytes:
    """The port through which ``protocol`` reads a document of the web."""
    from .engines.web import fetch

    return await fetch(url)


def _kept_secret(path: Path) -> bytes:
    """The secret in this file; made once, whichever process comes first."""
    fresh = os.urandom(32).hex()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(fresh)
        file.flush()
        os.fsync(descriptor)
    with suppress(FileExistsError):
        os.link(temporary, path)  # atomic: the first one wins
    temporary.unlink()
    return bytes.fromhex(path.read_text())
