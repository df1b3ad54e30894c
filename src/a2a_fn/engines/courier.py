"""Calls to webhooks: addresses that strangers gave us, and answers that strangers make."""

from __future__ import annotations

import asyncio
import re
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from .. import __version__
from ..clock import SystemClock
from ..errors import InvalidSettings, Refused, Unavailable
from ..ports import Answer, Clock
from ..push.guard import Policy, Target, parse, screen
from .resolver import SystemResolver

if TYPE_CHECKING:
    import httpcore

BODY_LIMIT = 64 * 1024
"""Bytes of an answer's body that are read; the connection is closed over more."""

TEXT = 500
"""Characters of an answer's body that are kept, unless the caller wants more."""

PATIENCE = 2.0
"""Seconds that ``check`` waits for a name."""

KEEP_ALIVE = 4.0
"""Seconds that an unused connection is kept: less than the 5 s after which common servers (uvicorn,
Node.js) close theirs, so that a push does not meet a closing one; and functions are frozen."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host and port to all its addresses; OSError if it has none."""

_OURS = frozenset(
    ("host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
     "trailer", "expect", "accept-encoding")
)  # fmt: skip
"""Headers of the connection and of the framing, which nobody else may set."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x1f\x7f]*")


class WebCourier:
    """``ports.Courier`` over HTTP/1.1, within what a policy allows.

    ``timeout``: seconds for all of a call, from the name look-up to the end of the answer.
    ``certificate`` and ``key``: PEM texts of what is shown to servers that ask (mTLS); ``ca``: PEM
    text of certificates that count beside the public ones. Raises errors.InvalidSettings if those
    are not usable. The environment's proxies and certificates count for nothing.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        timeout: float = 10.0,
        certificate: str = "",
        key: str = "",
        ca: str = "",
        keep_alive: float = KEEP_ALIVE,
        resolve: Resolve | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._policy = policy
        self._timeout = timeout
        self._keep_alive = keep_alive
        self._resolve = resolve or SystemResolver()
        self._clock = clock or SystemClock()
        self._pool: httpcore.AsyncConnectionPool | None = None
        # The operator's certificates are read at once, so that a fault in them is said at start;
        # the public ones (20 ms) when a call needs them.
        given = certificate or key or ca
        self._context = _context(certificate, key, ca) if given else None

    async def check(self, url: str) -> None:
        """As ``ports.Courier``; waits at most ``PATIENCE`` seconds for the name."""
        target = parse(url, self._policy)
        if target.literal:
            return
        try:
            async with asyncio.timeout(min(PATIENCE, self._timeout)):
                found = await self._resolve(target.host, target.port)
        except OSError:  # TimeoutError is one. No such name now: decided at sending
            return
        screen(target.host, found, self._policy)

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, keep: int = TEXT
    ) -> Answer:
        """As ``ports.Courier``; ``keep`` is how many characters of the answer's body come back, of
        at most ``BODY_LIMIT`` bytes. Raises errors.Refused for headers that cannot be sent too."""
        return await self._call("POST", url, headers, body, keep)

    async def get(
        self, url: str, headers: Mapping[str, str] | None = None, *, keep: int = TEXT
    ) -> Answer:
        """As ``post``, for a question: GET."""
        return await self._call("GET", url, headers or {}, None, keep)

    async def close(self) -> None:
        """Close every connection. A call after this opens new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()

    async def _call(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, keep: int
    ) -> Answer:
        target = parse(url, self._policy)
        fields = _fields(target, headers, body)
        import httpcore

        request = httpcore.Request(
            method,
            # In parts, so that nothing reads the URL a second time, and perhaps differently.
            httpcore.URL(
                scheme=target.scheme.encode(),
                host=target.host.encode(),
                port=target.port,
                target=target.resource.encode(),
            ),
            headers=fields,
            content=body,
            extensions={"timeout": {"connect": self._timeout}},
        )
        response: httpcore.Response | None = None
        # what a webhook says by its status counts, whatever becomes of the rest; where the body
        # is what was asked for, it does not
        enough = method == "POST" and keep <= TEXT
        text = ""
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._opened().handle_async_request(request)
                try:
                    text = await _text(response, keep)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            if response is not None and enough:
                return self._answer(response, text)
            raise Unavailable(
                f"{target.origin} did not answer in full within {self._timeout:g} s"
            ) from error
        except (
            httpcore.TimeoutException,
            httpcore.NetworkError,
            httpcore.ProtocolError,
            OSError,  # TLS errors are some, and httpcore lets those through that come after TLS
        ) as error:
            if response is not None and enough:
                return self._answer(response, text)
            raise Unavailable(f"{target.origin}: {_reason(error)}") from error
        return self._answer(response, text)

    def _answer(self, response: httpcore.Response, text: str) -> Answer:
        return Answer(response.status, _patience(response.headers, self._clock.now()), text)

    def _opened(self) -> httpcore.AsyncConnectionPool:
        if self._pool is None:
            from .dialer import pool

            self._context = self._context or _context()
            self._pool = pool(self._addresses, self._context, self._keep_alive)
        return self._pool

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        """The addresses to connect to; called by the pool whenever it needs a connection."""
        try:
            found: Sequence[str] = [str(ip_address(host))]
        except ValueError:
            try:
                found = await self._resolve(host, port)
            except OSError as error:
                raise Unavailable(f"{host}: it has no address now") from error
        return screen(host, found, self._policy)


def _context(certificate: str = "", key: str = "", ca: str = "") -> ssl.SSLContext:
    """Who is believed, and who we are."""
    import certifi

    context = ssl.create_default_context(cafile=certifi.where())
    try:
        if ca:
            context.load_verify_locations(cadata=ca)
    except (ssl.SSLError, ValueError, TypeError) as error:  # TypeError: not ASCII
        raise InvalidSettings("push-ca: has no certificate in PEM that can be read") from error
    if not certificate and not key:
        return context
    if not certificate or not key:
        raise InvalidSettings("push-client-cert and push-client-key: one needs the other")
    # The ssl module reads them from a file only: ours alone (0600), and gone when this is done.
    with tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="utf-8") as file:
        file.write(f"{certificate}\n{key}\n")
        file.flush()
        try:
            context.load_cert_chain(file.name, password="")  # else it would ask at the terminal
        except (ssl.SSLError, ValueError) as error:
            raise InvalidSettings(
                "push-client-cert and push-client-key: are not a certificate and its key, without "
                "a passphrase, in PEM"
            ) from error
    return context


def _fields(
    target: Target, headers: Mapping[str, str], body: bytes | None
) -> list[tuple[bytes, bytes]]:
    """The request's headers. Raises errors.Refused for one that cannot be sent, without its
    value: it can be a token that a client chose."""
    fields = {
        "host": ("Host", target.authority),
        "accept-encoding": ("Accept-Encoding", "identity"),
    }
    fields["user-agent"] = ("User-Agent", f"a2a-fn/{__version__}")
    if body is not None:
        fields["content-length"] = ("Content-Length", str(len(body)))
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or name.lower() in _OURS:
            raise Refused(f"{target.origin}: a header cannot be named {name[:64]!r}")
        if not _VALUE.fullmatch(value):
            raise Refused(
                f"{target.origin}: what is to be sent as {name} has a line break or another "
                "control character in it"
            )
        fields[name.lower()] = (name, value.strip(" "))
    return [(name.encode(), value.encode()) for name, value in fields.values()]


async def _text(response: httpcore.Response, keep: int) -> str:
    """The beginning of the body as printable text on one line, at most ``keep`` characters."""
    body = bytearray()
    async for chunk in response.aiter_stream():
        body += chunk
        if len(body) >= BODY_LIMIT:  # the rest is not read: closing the answer drops the connection
            break
    for name, value in response.headers:
        if name.lower() == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            return ""  # it was not asked for; and a small body could become a large one
    text = bytes(body[:BODY_LIMIT]).decode("utf-8", "replace")
    return "".join(char if char.isprintable() else " " for char in text).strip()[:keep]


def _reason(error: Exception) -> str:
    """What went wrong, in words without what either side sent."""
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) and cause not in chain:
        chain.append(cause)
    for link in chain:
        if isinstance(link, ssl.SSLCertVerificationError):
            return f"its certificate is not accepted: {link.verify_message}"
    for link in chain:
        if isinstance(link, ssl.SSLError):
            return f"TLS failed: {(link.reason or 'no reason').lower().replace('_', ' ')}"
        if isinstance(link, ConnectionRefusedError):
            return "the connection was refused"
        if isinstance(link, ConnectionResetError):
            return "the connection was reset"
    words = {
        "ConnectTimeout": "no connection in time",
        "ConnectError": "no connection",
        "RemoteProtocolError": "the answer broke off, is too large or is not HTTP",
        "ReadError": "the connection broke",
        "WriteError": "the connection broke",
    }
    return words.get(type(error).__name__, "the connection failed")


def _patience(headers: Sequence[tuple[bytes, bytes]], now: int) -> float | None:
    """The seconds of a Retry-After: a number, or a date that lies ``now`` (ms) plus them."""
    value = next((v for name, v in headers if name.lower() == b"retry-after"), b"").strip()
    if re.fullmatch(rb"-?[0-9]{1,10}", value):
        return max(float(value), 0.0)
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(value.decode("ascii"))
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(date.timestamp() - now / 1000, 0.0)
    except (ValueError, TypeError, OverflowError):  # it says nothing that has a meaning
        return None
