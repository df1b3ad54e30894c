"""Page tokens of ListTasks: opaque, and good for the owner and the filter that they were given for.

A token is the listing's cursor behind a MAC over cursor, owner and filter; nothing is stored.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

from a2a.utils.errors import InvalidParamsError

from ..journal.lists import Cursor, Query

_MAC = 12  # bytes of the MAC that are kept


class PageTokens:
    """Makes and reads page tokens under one deployment's secret (bytes, 1 to 64)."""

    def __init__(self, secret: bytes) -> None:
        self._key = hashlib.blake2b(b"page-tokens", key=secret, digest_size=32).digest()

    def sealed(self, cursor: Cursor, query: Query) -> str:
        """The token that goes on at ``cursor``."""
        body = json.dumps(cursor).encode()
        return base64.urlsafe_b64encode(self._mac(body, query) + body).decode().rstrip("=")

    def opened(self, token: str, query: Query) -> Cursor:
        """The cursor of a token. Raises InvalidParamsError for one that was not given for this."""
        try:
            data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except ValueError:
            data = b""
        mac, body = data[:_MAC], data[_MAC:]
        if not hmac.compare_digest(mac, self._mac(body, query)):
            raise InvalidParamsError(
                "pageToken is not one that this server gave for this request; "
                "begin again without it",
                data={"errors": [{"field": "pageToken", "message": "Unknown token."}]},
            )
        fields = json.loads(body)
        if len(fields) != len(Cursor._fields):  # of a version before this one
            raise InvalidParamsError("pageToken has expired; begin again without it")
        return Cursor(*fields)

    def _mac(self, body: bytes, query: Query) -> bytes:
        bound = json.dumps(query).encode()
        message = len(bound).to_bytes(4, "big") + bound + body
        return hmac.digest(self._key, message, "sha256")[:_MAC]
