"""JSON Web Tokens of one issuer: whose they are, checked with the keys that the issuer publishes.

Only RS256, ES256 and EdDSA, each with a key of its own kind: a token chooses neither its
algorithm's family nor where its key comes from (RFC 8725, 3.1 and 3.2).
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from ..errors import Unavailable
from ..ports import Clock
from .callers import Principal
from .keys import VerifyingKey, keys_of
from .rules import TENANT

log = logging.getLogger(__name__)

ALGORITHMS = ("RS256", "ES256", "EdDSA")
TYPES = ("jwt", "at+jwt")
"""What a token may say that it is: not, say, a logout token of the same issuer."""

LEEWAY = 30
"""Seconds that the issuer's clock may be off."""

MOST_KEYS = 64
FRESH = 300_000
"""ms for which keys are used without asking: so long does a withdrawn key live on."""
STALE = 3_600_000
"""ms for which keys are used while the issuer does not answer."""
PAUSE = 30_000
"""ms between two questions to the issuer, whoever asks and for whichever key."""
RETRY = 5_000
"""The same while there is no key at all."""


class Rejected(Exception):
    """The token proves nothing; the message says why, in words for the client."""


class ScopeMissing(Exception):
    """The token is good, but not for what this agent does."""


class Rules(NamedTuple):
    """What a token must say; ``tenant_claim``: which claim names its tenants ("" for none)."""

    issuer: str
    audience: str
    scopes: tuple[str, ...] = ()
    tenant_claim: str = ""


class Keys:
    """The issuer's keys: fetched when they are needed, kept for a while, renewed when a token names
    an unknown one. Callers who come together share one fetch.

    ``fetch`` returns the key set (RFC 7517), or raises Unavailable.
    """

    def __init__(self, fetch: Callable[[], Awaitable[bytes]], clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._keys: tuple[VerifyingKey, ...] = ()
        self._came: int | None = None
        self._asked: int | None = None
        self._failed = False
        self._asking: asyncio.Task[None] | None = None

    async def find(self, kid: str | None, alg: str) -> VerifyingKey | None:
        """The key of that name for that algorithm; without a name, the only one that fits.

        None if the issuer has none. Raises Unavailable if that cannot be known now.
        """
        if not self._younger(FRESH, self._came):
            await self._renew(PAUSE if self._younger(STALE, self._came) else RETRY)
            if not self._younger(STALE, self._came):
                raise Unavailable("the issuer's keys are not to be had")
        key = self._known(kid, alg)
        if key is None:
            await self._renew(PAUSE)
            key = self._known(kid, alg)
            if key is None and self._failed:
                raise Unavailable("the issuer's new keys are not to be had")
        return key

    def _younger(self, age: int, time: int | None) -> bool:
        return time is not None and abs(self._clock.now() - time) < age

    def _known(self, kid: str | None, alg: str) -> VerifyingKey | None:
        fit = [key for key in self._keys if alg in key.algorithms and kid in (None, key.kid)]
        return fit[0] if len(fit) == 1 or (fit and kid is not None) else None

    async def _renew(self, pause: int) -> None:
        """Ask the issuer, or wait for who already does; nothing, if that was just now."""
        if self._asking is None:
            if self._younger(pause, self._asked):
                return
            self._asked = self._clock.now()
            self._asking = asyncio.create_task(self._ask())
        await asyncio.shield(self._asking)  # a caller who leaves takes the answer from nobody

    async def _ask(self) -> None:
        self._failed = True
        try:
            document = json.loads(await self._fetch())
            if isinstance(document, dict) and isinstance(document.get("keys"), list):
                document["keys"] = document["keys"][:MOST_KEYS]
            self._keys = keys_of(document)
            self._came = self._clock.now()
            self._failed = False
        except (Unavailable, ValueError, RecursionError) as error:
            log.warning("the issuer's keys: %s", error)
        finally:
            self._asking = None


class Tokens:
    """The tokens that ``rules`` accept."""

    def __init__(self, rules: Rules, keys: Keys, clock: Clock) -> None:
        self._rules = rules
        self._keys = keys
        self._clock = clock

    async def principal(self, token: str) -> Principal:
        """Who the token says that the caller is: ``jwt:<issuer>#<subject>``.

        Raises Rejected, ScopeMissing, or Unavailable when the issuer's keys are not to be had.
        """
        parts = token.split(".")
        if len(parts) != 3:
            raise Rejected("it is not a signed JWT")
        header, signature = _object(_decoded(parts[0])), _decoded(parts[2])
        alg, kid = header.get("alg"), header.get("kid")
        if not isinstance(alg, str) or alg not in ALGORITHMS:
            raise Rejected("its algorithm is not accepted")
        if not isinstance(kid, str | None):
            raise Rejected("its header is malformed")
        if "crit" in header or not _is_token(header.get("typ")):
            raise Rejected("it is not the kind of token that is accepted")
        key = await self._keys.find(kid, alg)
        if key is None or not key.fits(alg, f"{parts[0]}.{parts[1]}".encode(), signature):
            raise Rejected("its signature is not by a key of the issuer")
        return self._accepted(_object(_decoded(parts[1])))

    def _accepted(self, claims: dict[str, Any]) -> Principal:
        rules = self._rules
        if claims.get("iss") != rules.issuer:
            raise Rejected("it is of another issuer")
        audience = claims.get("aud")
        if rules.audience not in (audience if isinstance(audience, list) else [audience]):
            raise Rejected("it is for another audience")
        now = self._clock.now() / 1000
        if now >= _time(claims, "exp") + LEEWAY:
            raise Rejected("it has expired")
        if any(name in claims and _time(claims, name) > now + LEEWAY for name in ("nbf", "iat")):
            raise Rejected("it is not valid yet")
        subject = claims.get("sub")
        # OpenID Connect, 2: at most 255 characters
        if not isinstance(subject, str) or not subject.isprintable() or not 0 < len(subject) < 256:
            raise Rejected("it names no subject")
        if not set(rules.scopes) <= _scopes(claims):
            raise ScopeMissing
        tenants = _tenants(claims.get(rules.tenant_claim)) if rules.tenant_claim else None
        return Principal(f"jwt:{rules.issuer}#{subject}", tenants)


_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")


def _decoded(part: str) -> bytes:
    """The bytes of a part, which has one spelling only. Raises Rejected."""
    if not _BASE64URL.fullmatch(part) or len(part) % 4 == 1:
        raise Rejected("it is not a signed JWT")
    data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if base64.urlsafe_b64encode(data).decode().rstrip("=") != part:
        raise Rejected("it is not a signed JWT")
    return data


def _object(data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Rejected("it is not a signed JWT")
    return document


def _is_token(kind: object) -> bool:
    """Whether a header's ``typ`` is that of a token: absent, or one of ``TYPES``."""
    if kind is None:
        return True
    return isinstance(kind, str) and kind.lower().removeprefix("application/") in TYPES


def _time(claims: dict[str, Any], name: str) -> float:
    """A NumericDate, in seconds; what is larger is in another unit, and would never expire."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e11:
        raise Rejected(f"its {name} is not a time in seconds")
    return value


def _scopes(claims: dict[str, Any]) -> set[str]:
    """RFC 8693's ``scope`` (words), and ``scp`` as others have it (words or a list)."""
    found: set[str] = set()
    for name in ("scope", "scp"):
        value = claims.get(name, "")
        words = value.split(" ") if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise Rejected(f"its {name} is malformed")
        found.update(words)
    return found


def _tenants(value: object) -> frozenset[str]:
    """The tenants that a claim names. None at all is none: the token is good for no request."""
    names = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Rejected("its tenants are malformed")
    return frozenset(name for name in names if TENANT.fullmatch(name))
