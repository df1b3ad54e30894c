"""What proves who the user is: read without being shown, sent as headers, never printed."""

from __future__ import annotations

import base64
import getpass
import os
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .access import HEADERS_VARIABLE, Access
from .attachments import read_file
from .failures import Failure

API_KEY_HEADER = "X-API-Key"
_LIMIT = 64 << 10  # bytes of a secret in a file
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?")
# These belong to the request itself, not to who sends it.
_RESERVED = frozenset(
    {
        "host",
        "connection",
        "content-length",
        "content-type",
        "content-encoding",
        "transfer-encoding",
        "accept",
        "a2a-version",
        "a2a-extensions",
        "x-a2a-extensions",
        "last-event-id",
    }
)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers for the agent's own origin, and an API key whose header the card may name."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    api_key: str = field(default="", repr=False)
    api_key_header: str = ""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.headers or self.api_key)

    def sent(self, announced: str = "") -> dict[str, str]:
        """The headers to send; `announced` is the card's name for that of the API key."""
        if not self.api_key:
            return dict(self.headers)
        if not _NAME.fullmatch(announced) or announced.lower() in _RESERVED:
            announced = API_KEY_HEADER
        return {**self.headers, self.api_key_header or announced: self.api_key}

    def redact(self, text: str) -> str:
        """The text without the secrets, which a server may have sent back."""
        return redact(text, self.secrets)


def read_credentials(access: Access, environ: Mapping[str, str] = os.environ) -> Credentials:
    """The credentials of a command's options; a Failure that shows no secret if one is wrong."""
    headers: dict[str, str] = {}
    secrets: set[str] = set()

    def add(name: str, value: str, option: str) -> None:
        if not _VALUE.fullmatch(value):
            raise Failure(f"{option} must be printable ASCII, as an HTTP header is")
        if name.lower() in map(str.lower, headers):
            raise Failure(
                f"{option}: the header {name} is given twice; of --token, --basic and --header "
                "(and their A2A_FN_CALL_ variables) only one can set it"
            )
        headers[name] = value
        secrets.add(value)

    if access.token:
        token = read_secret("--token", access.token)
        secrets.add(token)
        add("Authorization", f"Bearer {token}", "--token")
    if access.basic:
        basic = read_secret("--basic", access.basic)
        user, colon, password = basic.partition(":")
        if not colon or not user:
            raise Failure("--basic must be USER:PASSWORD")
        secrets.update({basic, password})
        encoded = base64.b64encode(basic.encode()).decode()
        secrets.add(encoded)
        add("Authorization", f"Basic {encoded}", "--basic")
    more = access.header or environ.get(HEADERS_VARIABLE, "").splitlines()
    for line in filter(str.strip, more):
        name, colon, value = (word.strip() for word in line.partition(":"))
        if not colon or not _NAME.fullmatch(name):
            raise Failure('--header must be "Name: value"')
        if name.lower() in _RESERVED:
            raise Failure(f"--header {name}: a2a-fn sets this header itself")
        add(name, read_secret(f"--header {name}", value), f"--header {name}")
    api_key = ""
    if access.api_key:
        api_key = read_secret("--api-key", access.api_key)
        secrets.add(api_key)
        if not _VALUE.fullmatch(api_key):
            raise Failure("--api-key must be printable ASCII, as an HTTP header is")
    wanted = access.api_key_header
    if wanted and (not _NAME.fullmatch(wanted) or wanted.lower() in _RESERVED):
        raise Failure(f"--api-key-header {wanted[:60]!r} is not the name of a header of yours")
    return Credentials(headers, api_key, wanted, frozenset(secrets))


def redact(text: str, secrets: Collection[str]) -> str:
    """The text without these secrets."""
    # One of a few characters would be found in every second word.
    for secret in sorted((s for s in secrets if len(s) > 3), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def read_secret(option: str, value: str) -> str:
    """A secret: as given, from `file:PATH`, or for `-` a line of stdin (not shown when typed)."""
    if value == "-":
        secret = getpass.getpass(f"{option}: ") if sys.stdin.isatty() else sys.stdin.readline()
    elif value.startswith("file:"):
        path = Path(value.removeprefix("file:")).expanduser()
        try:
            secret = read_file(path, _LIMIT).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Failure(f"{option}: {path} is not text") from None
    else:
        secret = value
    secret = secret.strip()
    if not secret:
        raise Failure(f"{option}: there is nothing in it")
    return secret
