"""Access tokens for webhooks that want OAuth 2.0: client credentials (RFC 6749, 4.4).

The credentials of the scheme ``OAuth2`` are a JSON object: token_url, client_id, client_secret,
and if wanted scope, audience, auth_style (``basic``, the default, or ``body``).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
from typing import Any, NamedTuple
from urllib.parse import quote_plus, urlencode

from ..errors import Refused, Unavailable
from ..ports import Answer, Clock, Courier

KEPT = 1024
"""Tokens in the cache; the one that was used least recently goes first."""
DEFAULT_LIFE = 300
"""Seconds that a token without ``expires_in`` is used for."""
MARGIN = 60
"""Seconds before its end from which a token is not used any more."""
ANSWER_LIMIT = 16 * 1024
"""Characters of a token server's answer."""


class Grant(NamedTuple):
    """What a token server is asked for; ``style``: where the client's id and secret go."""

    token_url: str
    client_id: str
    client_secret: str
    scope: str = ""
    audience: str = ""
    style: str = "basic"

    def __repr__(self) -> str:
        return f"Grant({self.client_id!r})"


FIELDS = {
    "token_url": "token_url",
    "client_id": "client_id",
    "client_secret": "client_secret",
    "scope": "scope",
    "audience": "audience",
    "auth_style": "style",
}
FIELD_LIMIT = 2048


def read(credentials: str) -> Grant:
    """The grant that the credentials of a config ask for. Raises ValueError that names the field,
    never its value."""
    where = "authentication.credentials"
    if len(credentials) > ANSWER_LIMIT:
        raise ValueError(f"{where}: must be at most {ANSWER_LIMIT} characters")
    try:
        document = json.loads(credentials)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ValueError(
            f"{where}: the scheme OAuth2 needs a JSON object with token_url, client_id and "
            "client_secret"
        )
    for name, value in document.items():
        if name not in FIELDS:
            raise ValueError(f"{where}: OAuth2 has {', '.join(FIELDS)} and nothing else")
        if not isinstance(value, str) or len(value) > FIELD_LIMIT or not value.isprintable():
            raise ValueError(
                f"{where}: {name} must be a text of up to {FIELD_LIMIT} printable characters"
            )
    for name in ("token_url", "client_id", "client_secret"):
        if not document.get(name):
            raise ValueError(f"{where}: OAuth2 needs {name}")
    if document.get("auth_style", "basic") not in ("basic", "body"):
        raise ValueError(f"{where}: auth_style must be basic or body")
    return Grant(**{FIELDS[name]: value for name, value in document.items()})


class Tokens:
    """The access tokens of this process, each fetched when it is first needed and kept until a
    minute before its end. Those who need the same one together share one request."""

    def __init__(self, courier: Courier, clock: Clock) -> None:
        self._courier = courier
        self._clock = clock
        self._kept: dict[Grant, tuple[str, int]] = {}  # token, ms until which it is used
        self._asking: dict[Grant, asyncio.Task[str]] = {}

    async def token(self, grant: Grant) -> str:
        """A token that is good now, for ``Authorization: Bearer``.

        The token URL is called by the courier, so that it is screened as a webhook's. Raises
        Unavailable when there may be a token later, Refused when the server says no or its URL must
        not be called.
        """
        key = _hashed(grant)
        found = self._kept.pop(key, None)
        if found and self._clock.now() < found[1]:
            self._kept[key] = found  # now the last to go
            return found[0]
        if key not in self._asking:
            task = asyncio.create_task(self._ask(key, grant))
            self._asking[key] = task
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(self._asking[key])  # a caller who leaves ends it for nobody

    def forget(self, grant: Grant, token: str) -> None:
        """Drop a token that the webhook did not take (401); a newer one stays."""
        found = self._kept.get(_hashed(grant))
        if found and found[0] == token:
            del self._kept[_hashed(grant)]

    async def _ask(self, key: Grant, grant: Grant) -> str:
        form = {"grant_type": "client_credentials", "scope": grant.scope}
        form["audience"] = grant.audience
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        }
        if grant.style == "body":
            form |= {"client_id": grant.client_id, "client_secret": grant.client_secret}
        else:  # RFC 6749, 2.3.1: each is encoded as in a form before they are put together
            pair = f"{quote_plus(grant.client_id)}:{quote_plus(grant.client_secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        body = urlencode({name: value for name, value in form.items() if value}).encode()
        asked = self._clock.now()
        answer = await self._courier.post(grant.token_url, headers, body, keep=ANSWER_LIMIT)
        token, life = _accepted(answer)
        self._kept.pop(key, None)
        while len(self._kept) >= KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = token, asked + int(1000 * (life - min(MARGIN, life / 2)))
        return token


def _hashed(grant: Grant) -> Grant:
    """The grant as the cache knows it: without its secret."""
    digest = hashlib.sha256(grant.client_secret.encode()).hexdigest()
    return grant._replace(client_secret=digest)


_ACCESS_TOKEN = re.compile(r"[!-~]{1,4000}")
_ERRORS = (
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
    "unsupported_grant_type", "invalid_scope",
)  # fmt: skip  # RFC 6749, 5.2
_PASSING = (408, 425, 429)


def _accepted(answer: Answer) -> tuple[str, float]:
    """The token and the seconds that it is good for (RFC 6749, 5.1)."""
    document = _object(answer.text)
    if answer.status >= 500 or answer.status in _PASSING:
        raise Unavailable(f"the token server answered {answer.status}")
    if answer.status != 200:
        code = document.get("error")
        said = f" {code}" if code in _ERRORS else ""  # any other text may repeat what we sent
        raise Refused(f"the token server answered {answer.status}{said}")
    token, kind = document.get("access_token"), document.get("token_type", "bearer")
    if not isinstance(token, str) or not _ACCESS_TOKEN.fullmatch(token):
        raise Refused("the token server answered 200, but without an access token")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise Refused("the token server gave a token that is not a bearer token")
    return token, _life(document.get("expires_in"))


def _life(value: object) -> float:
    """Seconds; some servers write the number as text. What is no number counts as not given."""
    try:
        life = float(value) if isinstance(value, int | float | str) else float(DEFAULT_LIFE)
    except (ValueError, OverflowError):
        life = float(DEFAULT_LIFE)
    return min(life, 86_400.0) if life > 0 else 0.0  # and NaN is not more than 0


def _object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    return document if isinstance(document, dict) else {}
