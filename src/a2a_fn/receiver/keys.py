"""The agent's public keys, given once or fetched from its JWKS and fetched again as it rotates."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from .faults import Rejected

log = logging.getLogger(__name__)

Fetch = Callable[[str], Awaitable[bytes]]
"""URL -> the body of its 200 answer. Whatever it raises means that there was none."""

FRESH = 600.0
"""Seconds for which keys are used without asking: so long does a withdrawn key live on."""
STALE = 86_400.0
"""Seconds for which keys are used while the agent does not answer."""
PAUSE = 60.0
"""Seconds between two questions, whoever asks and for whichever key."""
RETRY = 5.0
"""The same while there is no key at all."""
PATIENCE = 5.0
"""Seconds that an answer may take."""
LIMIT = 64 * 1024
"""Bytes of a key set."""
MOST_KEYS = 64


class Keys:
    """The keys by their ``kid``. Those who come together share one question.

    ``jwks``: keys to begin with, which are all there is without a ``url``.
    Raises ValueError if ``jwks`` has no key for ES256, ImportError without what verifies.
    """

    def __init__(
        self,
        jwks: Mapping[str, Any] | None,
        url: str | None,
        fetch: Fetch,
        clock: Callable[[], float],
    ) -> None:
        _check_packages()
        self._keys = {} if jwks is None else usable(jwks)
        if jwks is not None and not self._keys:
            raise ValueError("jwks has no key for ES256: give it as the agent serves it")
        self._url = url
        self._fetch = fetch
        self._clock = clock
        self._came: float | None = None if jwks is None else clock()
        self._asked: float | None = None
        self._asking: asyncio.Task[None] | None = None

    async def find(self, kid: str) -> Any:
        """The public key. Raises Rejected: 401 if there is none, 503 if there may be one."""
        if self._url is not None and not self._younger(FRESH, self._came):
            await self._renew(PAUSE if self._younger(STALE, self._came) else RETRY)
            if not self._younger(STALE, self._came):
                raise Rejected("the agent's keys cannot be had now", 503, retry_after=10)
        key = self._keys.get(kid)
        if key is None and self._url is not None:
            await self._renew(PAUSE)
            key = self._keys.get(kid)
            if key is None:
                # A key that is new may take a minute to get through caches: a forger is put off,
                # and so is the agent in the middle of a rotation, which nothing else may lose.
                raise Rejected("the key of the signature is not known yet", 503, retry_after=60)
        if key is None:
            raise Rejected("the key of the signature is not known")
        return key

    def _younger(self, age: float, time: float | None) -> bool:
        return time is not None and abs(self._clock() - time) < age

    async def _renew(self, pause: float) -> None:
        if self._asking is None:
            if self._younger(pause, self._asked):
                return
            self._asked = self._clock()
            self._asking = asyncio.create_task(self._ask(self._url or ""))
        await asyncio.shield(self._asking)  # a caller who leaves takes the answer from nobody

    async def _ask(self, url: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                found = usable(json.loads(await self._fetch(url)))
            if not found:
                raise ValueError("it has no key for ES256")
            self._keys, self._came = found, self._clock()
        except Exception as error:  # whatever a fetch raises: the keys stay as they were
            log.warning("the keys at %s: %s", url, error or type(error).__name__)
        finally:
            self._asking = None


def _check_packages() -> None:
    """Better at once than an answer of 503 to every notification."""
    try:
        import cryptography  # noqa: F401
        import jwt  # noqa: F401
    except ImportError as error:
        message = f"{error.name} is not installed: pip install 'a2a-fn[receiver]'"
        raise ImportError(message, name=error.name) from error


def usable(jwks: object) -> dict[str, Any]:
    """The keys for ES256 of a JSON Web Key Set (RFC 7517), by kid; others are passed over."""
    import jwt

    listed = jwks.get("keys") if isinstance(jwks, Mapping) else None
    found: dict[str, Any] = {}
    for jwk in listed[:MOST_KEYS] if isinstance(listed, list) else ():
        if not isinstance(jwk, Mapping) or not isinstance(jwk.get("kid"), str):
            continue
        if (jwk.get("kty"), jwk.get("crv")) != ("EC", "P-256"):
            continue
        if jwk.get("use", "sig") != "sig" or jwk.get("alg", "ES256") != "ES256":
            continue
        public = {name: jwk.get(name) for name in ("kty", "crv", "x", "y")}
        try:
            found[jwk["kid"]] = jwt.PyJWK(public, algorithm="ES256").key
        except (jwt.exceptions.PyJWTError, ValueError, TypeError):
            continue  # RFC 7517, 5: what cannot be used is left out
    return found


async def fetch_jwks(url: str) -> bytes:
    """The body at a URL, by the standard library in a thread; follows no redirect. Raises OSError
    or ValueError."""
    return await asyncio.to_thread(_read, url)


def _read(url: str) -> bytes:
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *args: Any, **kwargs: Any) -> None:
            return None

    if not url.startswith(("https://", "http://")):
        raise ValueError("it is not an http or https URL")
    ends = time.monotonic() + PATIENCE
    request = Request(url, headers={"Accept": "application/json"})  # noqa: S310  # checked above
    body = b""
    with build_opener(Stay).open(request, timeout=PATIENCE) as answer:
        while piece := answer.read1(LIMIT):
            body += piece
            if len(body) > LIMIT or time.monotonic() > ends:
                raise ValueError("its answer is too large, or too slow")
    return body
