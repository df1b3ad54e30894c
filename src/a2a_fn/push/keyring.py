"""The keyring: the keys that sign pushes, and those that seal what must not be read at rest.

::

    {"signing": [{"kid": ..., "created": "2026-12-01T00:00:00Z", "key": PEM or JWK}, ...],
     "sealing": [{"id": ..., "created": ..., "key": base64 of 32 bytes}, ...]}

Newest first. The first of each list is in use. The first two signing keys are published, so that
what the older one signed is still good after a rotation; every sealing key still opens. A signing
key is EC on P-256 and its name is its thumbprint (RFC 7638): other names cannot be mixed up.

Pure: values in, values out. cryptography is imported by what needs it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..errors import InvalidSettings

LIVE = 2
"""Signing keys that are published, and kept by a rotation."""
MOST = 256
"""Keys of one kind."""
LIMIT = 64 * 1024
"""Characters of a document."""
SEAL_BYTES = 32
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The name of a sealing key."""


class SigningKey(NamedTuple):
    """A key that signs by ES256: its name, when it was made, its public half as a JWK, bytes ->
    the signature as JWS has it, and the key itself in PEM (PKCS #8)."""

    kid: str
    created: str
    jwk: dict[str, str]
    sign: Callable[[bytes], bytes]
    pem: str

    def __repr__(self) -> str:
        return f"SigningKey({self.kid!r})"


class SealingKey(NamedTuple):
    """A key that seals: its name, when it was made, and its 32 bytes."""

    id: str
    created: str
    key: bytes

    def __repr__(self) -> str:
        return f"SealingKey({self.id!r})"


class Keyring(NamedTuple):
    """The keys, newest first; there is at least one of each."""

    signing: tuple[SigningKey, ...]
    sealing: tuple[SealingKey, ...]


def read(text: str, where: str = "push-keys") -> Keyring:
    """The keyring in a document. Raises InvalidSettings with every fault, never with a key."""
    if len(text) > LIMIT:
        raise InvalidSettings(f"{where}: is longer than {LIMIT} characters: it is no keyring")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InvalidSettings(f"{where}: is not a keyring: give the JSON that a2a-fn keys exports")
    faults = [
        f"{where}: has an unknown member {str(name)[:40]!r}; a keyring has signing and sealing"
        for name in document
        if name not in ("signing", "sealing")
    ]
    signing = _listed(document, "signing", _signing, where, faults)
    sealing = _listed(document, "sealing", _sealing, where, faults)
    faults += _twice(f"{where}: signing", [key.kid for key in signing])
    faults += _twice(f"{where}: sealing", [key.id for key in sealing])
    if faults:
        raise InvalidSettings("\n".join(faults))
    return Keyring(tuple(signing), tuple(sealing))


def write(keyring: Keyring) -> str:
    """The document; ``read`` makes the same keyring of it."""
    document = {
        "signing": [
            {"kid": key.kid, "created": key.created, "key": key.pem} for key in keyring.signing
        ],
        "sealing": [
            {"id": key.id, "created": key.created, "key": base64.b64encode(key.key).decode()}
            for key in keyring.sealing
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def fresh(now: int) -> Keyring:
    """A keyring with one new key of each kind, made ``now`` (ms)."""
    created = datetime.fromtimestamp(now // 1000, UTC).isoformat().replace("+00:00", "Z")
    key = secrets.token_bytes(SEAL_BYTES)
    sealing = SealingKey(hashlib.sha256(key).hexdigest()[:16], created, key)
    return Keyring((_new_signing(created),), (sealing,))


def rotated(keyring: Keyring, now: int) -> Keyring:
    """The keyring with new keys in use. Of the signing keys the newest before stays published;
    every sealing key stays, for what it has sealed. Raises InvalidSettings when there is no room.
    """
    if len(keyring.sealing) >= MOST:
        raise InvalidSettings(
            f"push-keys: has {MOST} sealing keys: remove the last ones, whose tasks are long gone"
        )
    new = fresh(now)
    return Keyring(
        (new.signing + keyring.signing)[:LIVE],
        new.sealing + keyring.sealing,
    )


def public_jwks(keyring: Keyring) -> list[dict[str, str]]:
    """The public halves of the signing keys that are live, as the ``keys`` of a JSON Web Key Set
    (RFC 7517)."""
    return [key.jwk for key in keyring.signing[:LIVE]]


# ---------------------------------------------------------------- reading


def _listed(
    document: dict[str, Any],
    name: str,
    reader: Callable[[dict[str, Any]], Any],
    where: str,
    faults: list[str],
) -> list[Any]:
    entries = document.get(name)
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST:
        faults.append(f"{where}: {name} must be a list of 1 to {MOST} keys")
        return []
    found = []
    for i, entry in enumerate(entries):
        try:
            if not isinstance(entry, dict):
                raise ValueError("must be an object")
            found.append(reader(entry))
        except ValueError as error:
            faults.append(f"{where}: {name}[{i}]: {error}")
    return found


def _twice(where: str, names: list[str]) -> list[str]:
    return [
        f"{where}: the key {name} is there twice"
        for name in sorted({name for name in names if names.count(name) > 1})
    ]


_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def _members(entry: dict[str, Any], *names: str) -> list[Any]:
    """The members of that name, all there and no others. Raises ValueError."""
    missing = [name for name in names if name not in entry]
    if missing:
        raise ValueError(f"has no {missing[0]}")
    if len(entry) > len(names):
        raise ValueError(f"must have {', '.join(names)} and nothing else")
    if not isinstance(entry["created"], str) or not _DATE.fullmatch(entry["created"]):
        raise ValueError("created: must be a time such as 2026-12-01T00:00:00Z")
    return [entry[name] for name in names]


def _sealing(entry: dict[str, Any]) -> SealingKey:
    name, created, text = _members(entry, "id", "created", "key")
    if not isinstance(name, str) or not ID.fullmatch(name):
        raise ValueError("id: must be 1 to 64 letters, digits, - or _")
    try:
        key = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        key = b""
    if len(key) != SEAL_BYTES:
        raise ValueError(f"key: must be {SEAL_BYTES} bytes in base64")
    return SealingKey(name, created, key)


def _signing(entry: dict[str, Any]) -> SigningKey:
    kid, created, written = _members(entry, "kid", "created", "key")
    key = _private(written)
    numbers = key.public_key().public_numbers()
    made = _signing_key(created, key, numbers.x, numbers.y)
    if kid != made.kid:
        raise ValueError(f"kid: is not the key's thumbprint, which is {made.kid}")
    return made


def _private(written: object) -> Any:
    """The EC key on P-256 of a PEM or a JWK. Raises ValueError, with nothing of the key in it."""
    ec = _ec()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = (
            _private_jwk(written)
            if isinstance(written, dict)
            else load_pem_private_key(str(written).encode(), password=None)
        )
    except TypeError:
        raise ValueError("key: is encrypted: give it without a passphrase") from None
    except Exception:  # whatever their parser raises; its text may repeat the key
        raise ValueError("key: is not a private key in PEM, nor a JWK") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise ValueError("key: must be EC on P-256")
    return key


def _private_jwk(jwk: dict[str, Any]) -> Any:
    """Raises ValueError, also if the public half is another key's."""
    ec = _ec()
    if (jwk.get("kty"), jwk.get("crv")) != ("EC", "P-256"):
        raise ValueError
    x, y, d = (int.from_bytes(_octets(jwk.get(name))) for name in ("x", "y", "d"))
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1())
    return ec.EllipticCurvePrivateNumbers(d, public).private_key()


def _octets(text: object) -> bytes:
    return base64.b64decode(f"{text}" + "=" * (-len(f"{text}") % 4), altchars=b"-_", validate=True)


# ---------------------------------------------------------------- signing


def _new_signing(created: str) -> SigningKey:
    ec = _ec()
    key = ec.generate_private_key(ec.SECP256R1())
    numbers = key.public_key().public_numbers()
    return _signing_key(created, key, numbers.x, numbers.y)


def _signing_key(created: str, key: Any, x: int, y: int) -> SigningKey:
    ec = _ec()
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    # Deterministic (RFC 6979): functions that are restored from one snapshot may share the state
    # of a random generator, and two ECDSA signatures with one nonce give the key away.
    ecdsa = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)

    def sign(data: bytes) -> bytes:
        r, s = decode_dss_signature(key.sign(data, ecdsa))
        return r.to_bytes(32) + s.to_bytes(32)

    members = {"crv": "P-256", "kty": "EC", "x": _coordinate(x), "y": _coordinate(y)}
    required = json.dumps(members, sort_keys=True, separators=(",", ":"))
    kid = _base64url(hashlib.sha256(required.encode()).digest())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    jwk = members | {"kid": kid, "use": "sig", "alg": "ES256"}
    return SigningKey(kid, created, jwk, sign, pem)


def _ec() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError as error:
        raise InvalidSettings(
            "push-keys: pushes need packages that are not installed: pip install 'a2a-fn[push]'"
        ) from error
    return ec


def _coordinate(number: int) -> str:
    return _base64url(number.to_bytes(32))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
