"""Whether an agent's card is signed by who the user says, before anything on it is believed."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from a2a_fn.errors import InvalidSettings

from .access import Access
from .attachments import read_file
from .credentials import read_secret
from .failures import Failure
from .origins import full_url, is_loopback, origin_of

if TYPE_CHECKING:
    from a2a_fn.protocol.signing import VerifyingKey

_LIMIT = 1 << 20  # bytes of a key set

Fetch = Callable[[str], object]  # URL -> JSON


class Verifier:
    """The checks that a user asked for: none, if no option of `access` names a key."""

    def __init__(self, access: Access) -> None:
        self._secret = ""
        if access.verify_card_secret:
            self._secret = read_secret("--verify-card-secret", access.verify_card_secret)
        self._file = access.verify_card_jwks
        self._url = access.verify_card_jwks_url
        if self._url:
            self._url = full_url(self._url)
            origin = origin_of(self._url)
            if origin.scheme != "https" and not is_loopback(origin.host):
                raise Failure(
                    f"--verify-card-jwks-url {self._url}: must be https, since keys that anybody "
                    "on the way can exchange prove nothing"
                )
        self._wanted = bool(self._secret or self._file or self._url)
        if access.require_card_signature and not self._wanted:
            raise Failure(
                "--require-card-signature needs a key: --verify-card-secret, --verify-card-jwks "
                "or --verify-card-jwks-url"
            )
        self._fetched: object = None

    def redact(self, text: str) -> str:
        """The text without the secret."""
        return text.replace(self._secret, "***") if len(self._secret) > 3 else text

    def verify(self, card: dict[str, Any], fetch: Fetch) -> dict[str, Any]:
        """What may be believed of a card's JSON: all of it, if no option names a key.

        `fetch` gets the key set of --verify-card-jwks-url: once for all cards, and once more if a
        key is not in it. A Failure if no signature is valid; a card without one is refused too, or
        whoever can change it would only have to take its signatures off.
        """
        if not self._wanted:
            return card
        from a2a_fn.protocol import signing  # only now: few ask for it

        try:
            try:
                return signing.verify(card, self._keys(card, fetch)).card
            except signing.Unverified as e:
                if not (e.unknown_key and self._url):
                    raise
                self._fetched = None
                return signing.verify(card, self._keys(card, fetch)).card
        except signing.Unverified as e:
            raise Failure(f"A2A Agent Card verification failed: {e}") from e
        except InvalidSettings as e:  # an extra is not installed
            raise Failure(str(e)) from e

    def _keys(self, card: dict[str, Any], fetch: Fetch) -> list[VerifyingKey]:
        from a2a_fn.protocol import signing

        keys: list[VerifyingKey] = []
        if self._secret:  # whatever the agent calls it
            keys += [signing.shared_key(self._secret, kid) for kid in _shared_kids(card)]
        if self._file:
            try:
                document = json.loads(read_file(self._file, _LIMIT))
                keys += signing.keys_of(document, local=True)
            except ValueError as e:
                raise Failure(f"--verify-card-jwks {self._file}: {_why(e)}") from e
        if self._url:
            if self._fetched is None:
                self._fetched = fetch(self._url)
            try:
                keys += signing.keys_of(self._fetched)
            except ValueError as e:
                raise Failure(f"--verify-card-jwks-url {self._url}: {_why(e)}") from e
        return keys


def _shared_kids(card: dict[str, Any]) -> set[str]:
    """The names that the card's signatures give to keys which are secrets."""
    kids: set[str] = set()
    for signature in card["signatures"] if isinstance(card.get("signatures"), list) else ():
        try:
            protected = signature["protected"]
            header = json.loads(base64.urlsafe_b64decode(protected + "=" * (-len(protected) % 4)))
            if header["alg"] == "HS256":
                kids.add(str(header["kid"]))
        except (ValueError, KeyError, TypeError):
            continue  # it is malformed, and is told to be so where it is verified
    return kids


def _why(error: ValueError) -> str:
    return "is not JSON" if isinstance(error, json.JSONDecodeError | UnicodeError) else str(error)
