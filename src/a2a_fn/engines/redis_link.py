"""The way to a Redis server (or Valkey, or Tair) of the rows and queues of a process.

Redis 6.2 or newer. What it needs to be trusted with tasks is the operator's to set: ``appendonly
yes`` with ``appendfsync always`` keeps what was answered over a crash of the server (``everysec``
loses its last second), ``maxmemory-policy noeviction`` keeps rows from vanishing. Replication is
asynchronous: a failover can lose what was answered, also with ``WAIT`` and
``min-replicas-to-write``, which only make that rarer; journals end earlier then, and what was lost
is as if it had never been. Where that is too much, use another engine for rows.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from a2a_fn.errors import InvalidSettings, Unavailable

CONNECT, ANSWER = 2.0, 5.0
"""Seconds to connect, and for each answer."""

LANES = 64
"""Commands under way at once on one event loop; each takes a connection while it lasts."""

IDLE = 15.0
"""Seconds without an answer after which connections are made anew: a function that was frozen
holds some that a gateway has forgotten meanwhile, and a write on one would end in a time-out."""


class Client(Protocol):
    """What is needed of a client: raw commands, answers as bytes, numbers and lists."""

    async def execute_command(self, *words: Any) -> Any:
        """Send a command and return its answer."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


class Script(NamedTuple):
    """A Lua script; the server runs it as one step."""

    source: str
    sha: str


def script(source: str) -> Script:
    """The script with its name: Redis knows scripts by their SHA-1."""
    return Script(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


class _Session(NamedTuple):
    client: Client
    lanes: AbstractAsyncContextManager[object]


class RedisLink:
    """A server, by URL: ``redis://user:password@host:6379/0``, ``rediss://`` with TLS, ``unix://``.

    Nothing is opened before the first use, and each event loop has connections of its own. The
    query of the URL is redis-py's, and ``cluster=yes`` for a Redis Cluster, ``cluster=proxy`` for
    one behind a proxy: there a script can only touch keys of one hash tag. ``client``, given
    instead of a URL, is used as it is; its owner closes it.
    """

    def __init__(
        self,
        url: str = "",
        *,
        client: Client | None = None,
        connect: float = CONNECT,
        answer: float = ANSWER,
    ) -> None:
        self._url, self._cluster, self.place = (
            _parts(url) if client is None else ("", "no", "the client that was given")
        )
        self.answer = answer
        self._connect = connect
        self._given = _Session(client, nullcontext()) if client is not None else None
        self._sessions: dict[asyncio.AbstractEventLoop, _Session] = {}
        self._heard = time.time()

    @property
    def whole(self) -> bool:
        """Whether one script may touch every key, whatever its hash tag."""
        return self._cluster == "no"

    async def read(self, *words: Any) -> Any:
        """The answer to a command that changes nothing; a broken connection is tried once more."""
        return await self._ask(words, again=True)

    async def command(self, *words: Any) -> Any:
        """The answer to a command; it is sent once."""
        return await self._ask(words)

    async def run(
        self, script: Script, keys: Sequence[str], arguments: Sequence[Any], *, again: bool = False
    ) -> Any:
        """The answer of a script; ``again`` as in ``read``. The server keeps the script's source,
        and is sent it whenever it has not got it (a restart, a failover)."""
        missing = _errors().NoScriptError
        tail = (len(keys), *keys, *arguments)
        try:
            return await self._ask(("EVALSHA", script.sha, *tail), again=again)
        except missing:
            return await self._ask(("EVAL", script.source, *tail), again=again)

    async def wait(self, *words: Any) -> Any:
        """The answer to a command that blocks, for less than ``answer`` seconds."""
        return await self._ask(words, blocks=True)

    async def close(self) -> None:
        """Close this event loop's connections; the next use opens new ones."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.client.aclose()

    async def _ask(self, words: Sequence[Any], *, again: bool = False, blocks: bool = False) -> Any:
        exceptions = _errors()
        session = self._given or await self._session()
        try:
            async with nullcontext() if blocks else session.lanes:
                answer = await session.client.execute_command(*words)
        except exceptions.NoScriptError:
            raise
        except (exceptions.RedisError, exceptions.RedisClusterException, OSError) as error:
            if again and type(error) is exceptions.ConnectionError:
                return await self._ask(words)
            if isinstance(error, exceptions.ReadOnlyError):
                self._heard = 0.0  # it was the primary once: look up anew who is
            raise Unavailable(f"redis at {self.place}: {_reason(error)}") from error
        self._heard = time.time()
        return answer

    async def _session(self) -> _Session:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            for ended in [other for other in self._sessions if other.is_closed()]:
                del self._sessions[ended]
            session = _Session(self._client(), asyncio.Semaphore(LANES))
            self._sessions[loop] = session
        elif abs(time.time() - self._heard) > IDLE:
            self._heard = time.time()  # once, not once more by each that comes meanwhile
            pool = getattr(session.client, "connection_pool", None)
            if pool is not None:
                await pool.disconnect(inuse_connections=False)
        return session

    def _client(self) -> Client:
        from redis.asyncio import Redis, RedisCluster
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        options: dict[str, Any] = {
            "socket_connect_timeout": self._connect,
            "socket_timeout": self.answer,
            # A write that is sent twice can collide with itself: whoever calls decides.
            "retry": Retry(NoBackoff(), 0),
            "protocol": 2,
            "driver_info": None,
        }
        try:
            if self._cluster == "yes":
                cluster: Client = RedisCluster.from_url(self._url, **options)
                return cluster
            client = Redis.from_url(self._url, redis_connect_func=_primary_only, **options)
            pool: Any = client.connection_pool
            pool.make_connection()  # says what the URL's query has wrong
        except (TypeError, ValueError, AttributeError) as error:
            raise InvalidSettings(
                f"the options in the URL of redis at {self.place} are not redis-py's: {error}"
            ) from error
        return client  # type: ignore[no-any-return, unused-ignore]


def _errors() -> Any:
    """redis-py's errors; the first use of a link comes here first."""
    try:
        from redis import exceptions
    except ImportError as error:
        raise InvalidSettings(
            "redis cannot be used without a package that is not installed:"
            " pip install 'a2a-fn[redis]'"
        ) from error
    return exceptions


async def _primary_only(connection: Any) -> None:
    """Greet the server; a replica is refused, since it reads what was true a while ago."""
    errors = _errors()
    await connection.on_connect()
    await connection.send_command("ROLE")
    try:
        role = await connection.read_response()
    except errors.ResponseError:  # not for everyone's eyes: then it is taken on trust
        return
    if isinstance(role, list) and role and role[0] != b"master":
        raise errors.ReadOnlyError("it is a replica; name the primary's address")


def _reason(error: Exception) -> str:
    """What the server or the client said, without what was said to it."""
    text = str(error).partition(", with args")[0].strip()
    return f"{text[:200]} ({type(error).__name__})" if text else type(error).__name__


def _parts(url: str) -> tuple[str, str, str]:
    """(the URL for redis-py, whether it is a cluster, the server without what is secret)."""
    try:
        parts = urlsplit(url)
        port = parts.port or 6379
        database = parts.path.strip("/")
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        cluster = query.pop("cluster", "no")
        if parts.scheme not in ("redis", "rediss", "unix") or cluster not in ("no", "yes", "proxy"):
            raise ValueError
        if parts.scheme == "unix":
            place = unquote(parts.path)
        elif database and not database.isdecimal():
            raise ValueError
        else:
            place = f"{parts.hostname or 'localhost'}:{port}"
    except ValueError:
        raise InvalidSettings(
            "the URL of redis must be such as redis://user:password@host:6379/0 (a password with"
            " special characters in it percent-encoded), with cluster=no, yes or proxy in its query"
        ) from None
    return urlunsplit(parts._replace(query=urlencode(query))), cluster, place
