"""A webhook as a command's options give it, and as one may show it: without what is secret."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from .credentials import read_secret
from .failures import Failure
from .push_options import AUTH_VARIABLE, TOKEN_VARIABLE, Push

_SCHEME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
_HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A config to send, and what must not be printed of it."""

    config: TaskPushNotificationConfig = field(repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)


def read_webhook(
    push: Push, name: str = "--push-url", environ: Mapping[str, str] = os.environ
) -> Webhook:
    """The webhook of a command's options, whose secrets may be where those of Access may be.
    `name`: what the user calls its URL. A Failure shows no secret."""
    config = TaskPushNotificationConfig(url=_checked(push.url or "", name), id=push.id)
    secrets = set()
    token = push.token or environ.get(TOKEN_VARIABLE, "")
    if token:
        config.token = read_secret("--push-token", token)
        secrets.add(config.token)
    auth = push.auth or environ.get(AUTH_VARIABLE, "")
    if auth:
        scheme, credentials = _auth(auth)
        secrets.add(credentials)
        if scheme.lower() == "basic" and ":" in credentials:
            secrets.add(credentials.partition(":")[2])
            # Most agents put the credentials into the header as they get them.
            credentials = base64.b64encode(credentials.encode()).decode()
            secrets.add(credentials)
        config.authentication.scheme = scheme
        config.authentication.credentials = credentials
    return Webhook(config, frozenset(secrets))


def hidden(config: TaskPushNotificationConfig) -> TaskPushNotificationConfig:
    """The config with `***` for its secrets, which may be in its URL, too."""
    shown = TaskPushNotificationConfig()
    shown.CopyFrom(config)
    shown.url = re.sub(r"//[^/?#]*@", f"//{_HIDDEN}@", shown.url, count=1)
    shown.url = re.sub(r"[?#].*", f"?{_HIDDEN}", shown.url, flags=re.DOTALL)
    if shown.token:
        shown.token = _HIDDEN
    if shown.authentication.credentials:
        shown.authentication.credentials = _HIDDEN
    return shown


def _checked(url: str, name: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the address in brackets, or the port
        usable = False
    if not usable or not re.fullmatch(r"[^\x00-\x20\x7f]+", url):
        raise Failure(f"{name} must be an http(s) URL, such as https://hooks.example.org/a2a")
    if "@" in parts.netloc:
        raise Failure(f"{name}: credentials do not belong in the URL: see --push-auth")
    return url


def _auth(value: str) -> tuple[str, str]:
    """Scheme and credentials, both from a file or stdin, or only the credentials."""
    outside = value == "-" or value.startswith("file:")
    whole = read_secret("--push-auth", value)
    scheme, _, credentials = whole.partition(" ")
    if not credentials.strip() or not _SCHEME.fullmatch(scheme):
        raise Failure('--push-auth must be "SCHEME CREDENTIALS", such as "Bearer ..."')
    credentials = credentials.strip()
    return scheme, credentials if outside else read_secret("--push-auth", credentials)
