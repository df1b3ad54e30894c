"""The headers of one delivery: who sends it, to whom, what for, and that nobody changed it.

Every delivery carries a JWT (RFC 7519) signed by ES256 in ``X-A2A-Notification-JWT``::

    iss, aud             this agent's URL; the webhook's URL without user, query and fragment
    iat, exp, jti        seconds; good for five minutes; new for each attempt
    taskId, configId, generation     which event it is: the same again if it is sent again
    sha256               of the body, in hex

A webhook whose config has credentials gets these too; one without gets the JWT as its bearer token,
so that a gateway can check it. With a shared secret there is an HMAC-SHA256 beside it, over
``<timestamp>.<nonce>.<body>``.

Pure: the time and the nonce are passed in. What a config says goes through ``check`` when it is
stored, and through it again here: no credentials can smuggle in a header.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from typing import NamedTuple

from ..errors import Refused
from . import oauth
from .keyring import Keyring

LIFE = 300
"""Seconds that a JWT is good for."""
VALUE_LIMIT = 4096
"""Characters of a token or of credentials that become a header: many servers take 8 KiB in all."""


class Delivery(NamedTuple):
    """One attempt: ``issuer`` is this agent's URL, ``url`` the webhook's, ``generation`` the number
    of the event in its task. ``v03``: the receiver speaks A2A 0.3."""

    issuer: str
    url: str
    task: str
    config: str
    generation: int
    body: bytes
    v03: bool = False


class Credentials(NamedTuple):
    """What the config says, opened: its ``token``, and its authentication's scheme and
    credentials. "" where there is none."""

    token: str = ""
    scheme: str = ""
    credentials: str = ""

    def __repr__(self) -> str:
        return f"Credentials(scheme={self.scheme!r})"


def headers(
    delivery: Delivery,
    credentials: Credentials,
    keys: Keyring,
    *,
    now: int,
    nonce: str,
    access_token: str = "",
    hmac_secret: str = "",
) -> dict[str, str]:
    """The headers of an attempt at ``now`` (ms), which has the fresh ``nonce`` to itself.

    ``access_token``: what the token server gave, for the scheme OAuth2 (``grant_of``).
    ``hmac_secret``: the deployment's; a config's own takes its place.
    Raises Refused if the credentials cannot be sent, ValueError for a nonce that is not 1 to 128
    letters, digits, - or _.
    """
    if not _NONCE.fullmatch(nonce):  # a dot could stretch it into the body that is signed after it
        raise ValueError("the nonce must be 1 to 128 letters, digits, - or _")
    try:
        check(credentials.scheme, credentials.credentials, credentials.token)
    except ValueError as error:  # stored before there was this check
        raise Refused(str(error)) from None
    scheme = credentials.scheme.lower()
    jwt = _jwt(delivery, keys, now // 1000, nonce)
    found = {
        "Content-Type": "application/json" if delivery.v03 else "application/a2a+json",
        "A2A-Version": "0.3" if delivery.v03 else "1.0",
        "X-A2A-Notification-JWT": jwt,
    }
    if credentials.token:
        found["X-A2A-Notification-Token"] = credentials.token
    if not credentials.credentials:
        found["Authorization"] = f"Bearer {jwt}"
    elif scheme in HMAC:
        hmac_secret = credentials.credentials
    elif scheme in OAUTH:
        if not _VALUE.fullmatch(access_token):
            raise Refused("the access token is missing, or cannot be in a header")
        found["Authorization"] = f"Bearer {access_token}"
    else:
        name, value = _authorization(credentials.scheme, credentials.credentials)
        found[name] = value
    if hmac_secret:
        stamp = str(now // 1000)
        signed = f"{stamp}.{nonce}.".encode() + delivery.body
        found["X-A2A-Notification-Timestamp"] = stamp
        found["X-A2A-Notification-Nonce"] = nonce
        found["X-A2A-Notification-Signature"] = (
            "sha256=" + hmac.digest(hmac_secret.encode(), signed, "sha256").hex()
        )
    return found


def audience(url: str) -> str:
    """A webhook's URL as the JWT names it: without user, query and fragment, which may be
    secret; otherwise as the config has it."""
    bare = url.partition("#")[0].partition("?")[0]
    scheme, mark, rest = bare.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def grant_of(credentials: Credentials) -> oauth.Grant | None:
    """What the token server is to be asked for, or None if the scheme is not OAuth2."""
    if credentials.scheme.lower() not in OAUTH:
        return None
    return oauth.read(credentials.credentials)


# ---------------------------------------------------------------- what a config may say

HMAC = ("hmac", "hmac-sha256")
OAUTH = ("oauth2",)

_NONCE = re.compile(r"[A-Za-z0-9_-]{1,128}")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")  # RFC 9110, 5.6.2
_VALUE = re.compile(r"[!-~](?:[ -~]{0,4094}[!-~])?")  # RFC 9110, 5.5, of ASCII only
_NAMED = re.compile(
    r"([A-Za-z][A-Za-z0-9-]{0,63}): +(.+)|([A-Za-z][A-Za-z0-9]*-[A-Za-z0-9-]*)=(.+)"
)

FORBIDDEN = re.compile(
    # What frames a message, what belongs to one connection, and what this agent says itself.
    r"host|content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|via|date"
    r"|accept-encoding|user-agent|proxy-.*|a2a-.*|x-a2a-.*"
    # What servers in a private network take as said by their own proxy or by their own machine.
    r"|forwarded|x-forwarded.*|x-real-ip|metadata.*|x-metadata-.*|x-aws-ec2-.*|x-google-.*"
    r"|x-http-method.*|x-method-override",
    re.IGNORECASE,
)
"""Headers that credentials of the scheme ApiKey must not name."""


def check(scheme: str, credentials: str, token: str) -> None:
    """Raise ValueError, naming the field and never its value, if these cannot be sent."""
    if token and not _VALUE.fullmatch(token):
        raise ValueError(f"token: must be up to {VALUE_LIMIT} printable ASCII characters")
    if not scheme and not credentials:
        return
    if not _TOKEN.fullmatch(scheme):
        raise ValueError("authentication.scheme: must be the name of a scheme, such as Bearer")
    kind = scheme.lower()
    if not credentials:
        if kind == "bearer":  # the JWT is the bearer token
            return
        raise ValueError(f"authentication.credentials: the scheme {scheme} needs them")
    if kind in OAUTH:
        oauth.read(credentials)
    elif kind in HMAC:
        if not 16 <= len(credentials) <= VALUE_LIMIT or not credentials.isprintable():
            raise ValueError(
                "authentication.credentials: the secret of an HMAC must be 16 to "
                f"{VALUE_LIMIT} printable characters"
            )
    else:
        _authorization(scheme, credentials)


def _authorization(scheme: str, credentials: str) -> tuple[str, str]:
    """The header that carries the credentials, and its value. Raises ValueError as ``check``."""
    kind = scheme.lower()
    name, value = "Authorization", f"{scheme} {credentials}"
    if kind == "bearer":
        value = f"Bearer {credentials}"
    elif kind == "basic":
        value = f"Basic {_basic(credentials)}"
    elif kind == "apikey":
        named = _NAMED.fullmatch(credentials)
        # what ends in = is base64 with its padding, not the name of a header and nothing
        if named and (named[2] or named[4]).strip("= "):
            name, value = named[1] or named[3], named[2] or named[4]
        else:
            name, value = "X-API-Key", credentials
        if FORBIDDEN.fullmatch(name):
            raise ValueError("authentication.credentials: name a header that is not for API keys")
    if credentials != credentials.strip() or not _VALUE.fullmatch(value):
        raise ValueError(
            f"authentication.credentials: must be up to {VALUE_LIMIT} printable ASCII characters"
        )
    return name, value


def _basic(credentials: str) -> str:
    """``user:password`` in base64 (RFC 7617), or what already is. Raises ValueError."""
    if ":" in credentials:
        if not credentials.isprintable():
            raise ValueError("authentication.credentials: must have printable characters only")
        return base64.b64encode(credentials.encode()).decode()
    try:
        encoded = b":" in base64.b64decode(credentials, validate=True)
    except ValueError:
        encoded = False
    if not encoded:
        raise ValueError("authentication.credentials: the scheme Basic needs user:password")
    return credentials


# ---------------------------------------------------------------- the JWT


def _jwt(delivery: Delivery, keys: Keyring, now: int, nonce: str) -> str:
    key = keys.signing[0]
    claims = {
        "iss": delivery.issuer,
        "aud": audience(delivery.url),
        "iat": now,
        "exp": now + LIFE,
        "jti": nonce,
        "taskId": delivery.task,
        "configId": delivery.config,
        "generation": delivery.generation,
        "sha256": hashlib.sha256(delivery.body).hexdigest(),
    }
    signed = f"{_part({'alg': 'ES256', 'kid': key.kid, 'typ': 'JWT'})}.{_part(claims)}"
    signature = base64.urlsafe_b64encode(key.sign(signed.encode())).decode().rstrip("=")
    return f"{signed}.{signature}"


def _part(value: dict[str, object]) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
