"""Signed Agent Cards: the canonical forms of a card, and JWS over them (A2A 1.0, 8.4).

There is more than one canonical form in use. The specification keeps REQUIRED fields that are
empty; the a2a-sdk drops every empty value; and who verifies the JSON as it came sees the members
for A2A 0.3 too. A card carries one signature for each form that differs, and whoever verifies needs
one that is valid.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from a2a.types.a2a_pb2 import AgentCard
from google.protobuf.json_format import MessageToDict, ParseDict, SerializeToJsonError

from ..errors import InvalidSettings
from . import outputs
from .keys import SigningKey, VerifyingKey, keys_of, missing, shared_key

__all__ = [
    "Unverified",
    "Verified",
    "VerifyingKey",
    "canonical",
    "keys_of",
    "shared_key",
    "sign",
    "verify",
]

ALGORITHMS = frozenset({"HS256", "RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"})
"""What ``verify`` can do, and does unless it is told to accept less."""
MAX_SIGNATURES = 64


def canonical(card: AgentCard) -> bytes:
    """The card's canonical form by A2A 1.0, 8.4.1, without its signatures."""
    return _jcs(_unsigned(outputs.encode(card)))


def sign(
    card: AgentCard, document: Mapping[str, Any], keys: Iterable[SigningKey], *, jku: str
) -> list[dict[str, str]]:
    """The ``signatures`` of a card that is served as ``document``; ``jku`` is the URL of the key
    set that the asymmetric keys are in.

    Of each key one for each form, the specification's first: some clients look at one only.
    """
    whole, specified, sdk = (_jcs(form) for form in _forms(card, document))
    payloads = [_base64(form) for form in dict.fromkeys((specified, sdk, whole))]
    signatures = []
    for key in keys:
        header = {"alg": key.alg, "typ": "JOSE", "kid": key.kid}
        if key.jwk is not None:
            header["jku"] = jku
        protected = _base64(json.dumps(header, separators=(",", ":")).encode())
        for payload in payloads:
            signature = _base64(key.sign(f"{protected}.{payload}".encode()))
            signatures.append({"protected": protected, "signature": signature})
    return signatures


def _forms(card: AgentCard, document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a signature may cover of the card that is served as ``document``: the whole of it, the
    card by the specification, the card as the a2a-sdk takes it."""
    yield _unsigned(document)
    yield _unsigned(outputs.encode(card))
    yield _without_empty(_unsigned(MessageToDict(card))) or {}


def _unsigned(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "signatures"}


def _without_empty(value: Any) -> Any:
    """The value without empty strings, arrays and objects, however deep; None for nothing."""
    if isinstance(value, dict):
        kept = {name: _without_empty(item) for name, item in value.items()}
        return {name: item for name, item in kept.items() if item is not None} or None
    if isinstance(value, list):
        return [item for one in value if (item := _without_empty(one)) is not None] or None
    return None if value == "" else value


def _jcs(value: Any) -> bytes:
    """RFC 8785."""
    try:
        import rfc8785
    except ImportError as error:
        raise InvalidSettings(missing("a signed card")) from error
    return rfc8785.dumps(value)


# ---------------------------------------------------------------- verification


class Unverified(Exception):
    """No signature of the card is valid; the text says why. ``unknown_key``: a key that is not
    there might change that, so fetching the key set once more is worth it."""

    def __init__(self, reason: str, *, unknown_key: bool = False) -> None:
        super().__init__(reason)
        self.unknown_key = unknown_key


class Verified(NamedTuple):
    """A valid signature: of which key, by which algorithm, and ``card``: what it covers. Anything
    else in the document may come from anybody."""

    kid: str
    alg: str
    card: dict[str, Any]


def verify(
    card: Mapping[str, Any],
    keys: Iterable[VerifyingKey],
    algorithms: Collection[str] = ALGORITHMS,
) -> Verified:
    """The first valid signature of the card in this JSON by one of the keys.

    Which key is the signature's to say (``kid``); by which algorithms, the key's and the caller's.
    Raises Unverified.
    """
    signatures = card.get("signatures")
    if not isinstance(signatures, list) or not signatures:
        raise Unverified("the card is not signed")
    if len(signatures) > MAX_SIGNATURES:
        raise Unverified(f"the card has more than {MAX_SIGNATURES} signatures")
    forms = _payloads(card)
    keys = list(keys)
    reasons: dict[str, None] = {}
    unknown = False
    for signature in signatures:
        try:
            kid, alg, protected, octets = _taken_apart(signature)
        except ValueError as error:
            reasons[str(error)] = None
            continue
        named = [key for key in keys if key.kid == kid]
        if alg not in algorithms or alg not in ALGORITHMS:
            reasons[f"the algorithm {alg[:20]!r} is not accepted"] = None
        elif not named:
            unknown = True
            reasons[f"there is no key {kid[:80]!r}"] = None
        elif not any(alg in key.algorithms for key in named):
            reasons[f"the key {kid[:80]!r} is not for {alg}"] = None
        else:
            for payload, covered in forms:
                data = f"{protected}.{payload}".encode()
                if any(key.fits(alg, data, octets) for key in named):
                    return Verified(kid, alg, covered)
            reasons[f"the signature of key {kid[:80]!r} does not fit the card"] = None
    raise Unverified("; ".join(reasons), unknown_key=unknown)


def _payloads(card: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Each form of the card, in base64 and as JSON. The whole document is the first: who signed
    that has signed its members for 0.3 too."""
    try:
        message = ParseDict(dict(card), AgentCard(), ignore_unknown_fields=True)
    except Exception:  # of many kinds, down to SystemError, on JSON that is no card
        raise Unverified("the document is not an Agent Card") from None
    try:
        whole, specified, sdk = _forms(message, card)
        forms = [whole, _without_empty(whole) or {}, specified, sdk]
        return [(_base64(_jcs(form)), form) for form in forms]
    except (SerializeToJsonError, ValueError, RecursionError):
        raise Unverified("the card has no canonical form") from None


def _taken_apart(signature: object) -> tuple[str, str, str, bytes]:
    """kid, algorithm, protected header as it came, signature. Raises ValueError."""
    try:
        if not isinstance(signature, dict):
            raise TypeError
        protected = signature["protected"]
        header = json.loads(_octets(protected))
        kid, alg, octets = header["kid"], header["alg"], _octets(signature["signature"])
        if not isinstance(kid, str) or not isinstance(alg, str):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("a signature is malformed") from None
    if "crit" in header:  # RFC 7515, 4.1.11: to be understood or refused
        raise ValueError("a signature asks for an extension of JWS")
    return kid, alg, protected, octets


_BASE64 = re.compile(r"[A-Za-z0-9_-]*")


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _octets(text: object) -> bytes:
    """The bytes of base64url without padding. Raises ValueError."""
    if not isinstance(text, str) or not _BASE64.fullmatch(text):
        raise ValueError("is not base64url")
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise ValueError("is not base64url") from error
