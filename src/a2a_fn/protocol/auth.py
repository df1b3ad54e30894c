"""Who calls: the credentials of a request, checked, give its principal.

Decisions, where the RFCs leave one:

- A request has one credential. Two headers of one name, or two schemes that say different things,
  are 401: whoever checked the request before us may have believed the other one.
- A header that no configured scheme uses is none of our business: API keys work behind a gateway
  that has its own use for ``Authorization``.
- A bearer token is first looked up among those of the settings, then read as a JWT.
- Names of schemes are case-insensitive (RFC 9110, 11.1); nothing else is.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Awaitable, Callable
from typing import NoReturn

from starlette.exceptions import HTTPException
from starlette.types import Scope

from ..clock import SystemClock
from ..ports import Clock
from ..settings import Settings
from .callers import Principal
from .credentials import Credentials, Reveal, credentials
from .gate import Authenticate
from .schemes import Schemes, schemes

REALM = "a2a"

LONGEST = 8 * 1024
"""Bytes of a header with credentials; a longer one is not looked at."""

Fetch = Callable[[str], Awaitable[bytes]]
"""A URL -> the document there. Raises Unavailable."""


def authenticator(
    settings: Settings,
    *,
    fetch: Fetch,
    reveal: Reveal = lambda setting, text: text,
    clock: Clock | None = None,
) -> Authenticate | None:
    """What finds the principal of a request, or None where no credentials are configured.

    ``fetch`` gets the keys of the issuer of JWTs, ``reveal`` looks up a secret that a setting only
    refers to. Raises InvalidSettings with everything that is wrong.
    """
    known = credentials(settings, reveal)
    if not schemes(settings):
        return None
    return Authenticator(schemes(settings), known, _jwt(settings, fetch, clock or SystemClock()))


def _jwt(settings: Settings, fetch: Fetch, clock: Clock) -> Callable[[str], Awaitable[Principal]]:
    """What reads a bearer token that is not among the settings' own."""
    if not settings.jwt_issuer:
        return _nobody
    from .tokens import Keys, Rejected, Rules, ScopeMissing, Tokens

    rules = Rules(
        settings.jwt_issuer,
        settings.jwt_audience,
        settings.jwt_scopes,
        settings.jwt_tenant_claim,
    )
    tokens = Tokens(rules, Keys(lambda: fetch(settings.jwt_jwks_url), clock), clock)

    async def read(token: str) -> Principal:
        try:
            return await tokens.principal(token)
        except Rejected as error:
            raise _Refused(str(error)) from error
        except ScopeMissing as error:
            challenge = _challenge(
                "Bearer", error="insufficient_scope", scope=" ".join(settings.jwt_scopes)
            )
            raise HTTPException(403, headers={"WWW-Authenticate": challenge}) from error

    return read


async def _nobody(token: str) -> Principal:
    raise _Refused("it is not known")


class _Refused(Exception):
    """A bearer token that does not count; the message says why."""


class Authenticator:
    """``Authenticate`` of the gate. ``jwt`` reads bearer tokens that are not in ``known``."""

    def __init__(
        self, schemes: Schemes, known: Credentials, jwt: Callable[[str], Awaitable[Principal]]
    ) -> None:
        self._schemes = schemes
        self._known = known
        self._jwt = jwt
        self._takes: dict[bytes, Callable[[bytes], Awaitable[Principal]]] = {}
        if schemes.bearer or schemes.jwt_issuer:
            self._takes[b"bearer"] = self._bearer
        if schemes.basic:
            self._takes[b"basic"] = self._basic

    async def __call__(self, scope: Scope) -> Principal:
        """The principal of a request. Raises HTTPException 401 or 403, or Unavailable."""
        found: list[Principal] = []
        if self._takes:
            found += [
                await self._authorized(value) for value in self._only(scope, b"authorization")
            ]
        if self._schemes.api_key_header:
            keys = self._only(scope, self._known.api_key_header)
            found += [self._known.api_keys.find(key) or self._refuse() for key in keys]
        if not found or found[0] != found[-1]:
            self._refuse()
        return found[0]

    def _only(self, scope: Scope, name: bytes) -> list[bytes]:
        """The value of a header, if it is there; it must not be there twice."""
        values = [bytes(value).strip(b" \t") for key, value in scope["headers"] if key == name]
        if len(values) > 1 or any(len(value) > LONGEST for value in values):
            self._refuse()
        return values

    async def _authorized(self, value: bytes) -> Principal:
        match = _CREDENTIALS.fullmatch(value)
        take = self._takes.get(match[1].lower()) if match else None
        if match is None or take is None:
            self._refuse()
        return await take(match[2])

    async def _bearer(self, token: bytes) -> Principal:
        known = self._known.tokens.find(token)
        if known is not None:
            return known
        try:
            return await self._jwt(token.decode("ascii"))
        except _Refused as error:
            self._refuse(error="invalid_token", error_description=f"The token: {error}")

    async def _basic(self, encoded: bytes) -> Principal:
        try:
            pair = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            self._refuse()
        return self._known.passwords.find(pair) or self._refuse()

    def _refuse(self, **bearer: str) -> NoReturn:
        """401 with a challenge for each scheme (RFC 9110, 11.6.1)."""
        schemes, challenges = self._schemes, []
        if b"bearer" in self._takes:
            challenges.append(_challenge("Bearer", **bearer))
        if schemes.basic:
            challenges.append(_challenge("Basic", charset="UTF-8"))
        if schemes.api_key_header:
            challenges.append(_challenge("ApiKey", header=schemes.api_key_header))
        raise HTTPException(401, headers={"WWW-Authenticate": ", ".join(challenges)})


_CREDENTIALS = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) +([\x21-\x7e]+)")


def _challenge(scheme: str, **parameters: str) -> str:
    given = {"realm": REALM, **{name: value for name, value in parameters.items() if value}}
    return f"{scheme} " + ", ".join(f'{name}="{value}"' for name, value in given.items())
