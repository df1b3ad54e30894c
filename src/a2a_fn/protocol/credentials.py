"""The credentials of the settings: who may call with what, read and checked as a whole."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..errors import InvalidSettings
from ..settings import Settings
from .callers import Principal
from .rules import TENANT

Reveal = Callable[[str, str], str]
"""A setting's name and text -> the secret, which may be kept elsewhere. Raises InvalidSettings."""

LONGEST = 4096
"""Characters of a token, key or password: with more, some client's or gateway's header is full."""


class Ring:
    """Secrets of one kind, and whose they are. Keeps digests under a key of its own only, and
    compares each of them whatever the outcome, so that time says nothing of a secret."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._entries: list[tuple[bytes, Principal]] = []

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._entries)

    def add(self, secret: str, principal: Principal) -> bool:
        """Put a secret on the ring; False if it is there already."""
        if self.find(secret.encode()) is not None:
            return False
        self._entries.append((self._digest(secret.encode()), principal))
        return True

    def find(self, secret: bytes) -> Principal | None:
        """Whose secret this is; None if it is nobody's."""
        digest, found = self._digest(secret), None
        for known, principal in self._entries:
            if hmac.compare_digest(known, digest):
                found = principal
        return found

    def _digest(self, secret: bytes) -> bytes:
        return hashlib.blake2b(secret, key=self._key, digest_size=32).digest()


class Credentials(NamedTuple):
    """What opens the gate: ``passwords`` as ``user:password``, ``api_key_header`` in lower case."""

    tokens: Ring
    api_keys: Ring
    passwords: Ring
    api_key_header: bytes


def credentials(settings: Settings, reveal: Reveal) -> Credentials:
    """The credentials of the settings; with none, its rings are empty.

    Raises one InvalidSettings with everything that is wrong with who may call.
    """
    reading = _Reading(reveal)
    user, password = settings.basic_username, settings.basic_password
    if bool(user) != bool(password):
        given, other = ("username", "password") if user else ("password", "username")
        reading.faults.append(f"basic-{given} needs basic-{other}")
    elif user and reading.user("basic-username", user):
        reading.take("password", "basic-password", password, Principal(f"basic:{user}"), user)
    if settings.token:
        reading.take("token", "token", settings.token, Principal("bearer"))
    if settings.api_key:
        reading.take("api-key", "api-key", settings.api_key, Principal("api-key"))
    names: set[str] = set()
    for i, entry in enumerate(settings.principals):
        reading.entry(f"principals[{i}]", entry, names, frozenset(settings.tenants))
    for tenant in settings.tenants:
        if not TENANT.fullmatch(tenant):
            reading.faults.append(f"tenants: {tenant[:40]!r} {_TENANT}")
    header = settings.api_key_header.lower()
    if reading.rings["api-key"] and header in ("authorization", "cookie", "host"):
        reading.faults.append("api-key-header: must be a header of its own, such as X-API-Key")
    reading.faults += _jwt_faults(settings)
    if reading.faults:
        raise InvalidSettings("\n".join(reading.faults))
    tokens, api_keys, passwords = (reading.rings[kind] for kind in _KINDS)
    return Credentials(tokens, api_keys, passwords, header.encode())


_TENANT = "is no tenant: 1 to 128 letters, digits, or any of _ . -, first a letter or digit"
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_KINDS = ("token", "api-key", "password")
_KNOWN = ("name", *_KINDS, "tenants")


class _Reading:
    """The rings as they fill, and what is wrong. Never repeats a secret, nor what may be one."""

    def __init__(self, reveal: Reveal) -> None:
        self.faults: list[str] = []
        self.rings = {kind: Ring() for kind in _KINDS}
        self._users: set[str] = set()
        self._reveal = reveal

    def entry(
        self, where: str, entry: Mapping[str, Any], names: set[str], tenants: frozenset[str]
    ) -> None:
        """One of ``principals``."""
        unknown = [str(key)[:40] for key in entry if key not in _KNOWN]
        if unknown:
            self.faults.append(
                f"{where}: there is no {', '.join(unknown)}; there are {', '.join(_KNOWN)}"
            )
        name = entry.get("name", "")
        if not _is_name(name):
            self.faults.append(f"{where}.name: must be 1 to 128 printable characters")
            name = ""
        elif name in names:
            self.faults.append(f"{where}.name: {name} is there twice")
        names.add(name)
        principal = Principal(f"principal:{name}", self._tenants(where, entry, tenants))
        given = {kind: entry[kind] for kind in _KINDS if kind in entry}
        if not given:
            self.faults.append(f"{where}: needs one of {', '.join(_KINDS)}")
        for kind, text in given.items():
            if not isinstance(text, str) or not text:
                self.faults.append(f"{where}.{kind}: must be text (in quotes, if it is a number)")
                continue
            if kind == "password" and not self.user(f"{where}.name", name):
                continue
            self.take(kind, f"{where}.{kind}", text, principal, name)

    def take(self, kind: str, where: str, text: str, principal: Principal, user: str = "") -> None:
        """A credential of one of ``_KINDS``; a password goes with the name of a user."""
        try:
            secret = self._reveal(where, text)
        except InvalidSettings as error:
            self.faults.append(str(error))
            return
        if len(secret) > LONGEST:
            self.faults.append(f"{where}: must have at most {LONGEST} characters")
        elif kind == "password" and not secret.isprintable():
            self.faults.append(f"{where}: must not have control characters")
        elif kind != "password" and not _VISIBLE.fullmatch(secret):
            self.faults.append(f"{where}: must be of visible ASCII characters, without spaces")
        elif not self.rings[kind].add(
            f"{user}:{secret}" if kind == "password" else secret, principal
        ):
            self.faults.append(f"{where}: is somebody else's already")

    def user(self, where: str, name: str) -> bool:
        """The name that goes with a password (RFC 7617: no colon, no control characters); whether
        it can."""
        before = len(self.faults)
        if ":" in name or not _is_name(name):
            self.faults.append(f"{where}: a user's name must be printable, without a colon")
        elif name in self._users:
            self.faults.append(f"{where}: the user {name} has a password already")
        self._users.add(name)
        return len(self.faults) == before

    def _tenants(
        self, where: str, entry: Mapping[str, Any], existing: frozenset[str]
    ) -> frozenset[str] | None:
        if "tenants" not in entry:
            return None
        names = entry["tenants"]
        if not isinstance(names, list | tuple) or not names:
            self.faults.append(f"{where}.tenants: must be a list; leave it out for any tenant")
            return frozenset()
        for name in names:
            if not isinstance(name, str) or not TENANT.fullmatch(name):
                self.faults.append(f"{where}.tenants: {str(name)[:40]!r} {_TENANT}")
            elif existing and name not in existing:
                self.faults.append(f"{where}.tenants: {name} is not among the setting tenants")
        return frozenset(str(name) for name in names)


def _is_name(name: Any) -> bool:
    return (
        isinstance(name, str)
        and 0 < len(name) <= 128
        and name.isprintable()
        and name == name.strip()
    )


_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749, 3.3


def _jwt_faults(settings: Settings) -> list[str]:
    """What is wrong with the settings of JWTs."""
    companions = {
        "jwt-jwks-url": settings.jwt_jwks_url,
        "jwt-audience": settings.jwt_audience,
        "jwt-scopes": settings.jwt_scopes,
        "jwt-tenant-claim": settings.jwt_tenant_claim,
    }
    if not settings.jwt_issuer:
        return [f"{name} needs jwt-issuer" for name, value in companions.items() if value]
    needed = ("jwt-jwks-url", "jwt-audience")
    faults = [f"jwt-issuer needs {name}" for name in needed if not companions[name]]
    if settings.jwt_jwks_url and not _is_private(settings.jwt_jwks_url):
        faults.append("jwt-jwks-url: must be https: whoever can change the keys can be anyone")
    if not all(_SCOPE.fullmatch(scope) for scope in settings.jwt_scopes):
        faults.append("jwt-scopes: must be words without spaces, quotes and backslashes")
    if not all(find_spec(package) for package in ("jwt", "cryptography", "httpx")):
        from .keys import missing

        faults.append(missing("jwt-issuer"))
    return faults


def _is_private(url: str) -> bool:
    """Whether nobody on the way can read or change what comes from there."""
    from ipaddress import ip_address

    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
