"""Keys that sign an Agent Card, keys that verify one, and how both are written as JWK (RFC 7517).

PyJWT and cryptography are imported by the functions that need them: most functions that answer
HTTP never sign anything.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import InvalidSettings

SHARED = "default"
"""The ``kid`` of the key that is a shared secret."""

MIN_SECRET = 32
"""Bytes of a secret for HS256: as many as its hash has (RFC 7518, 3.2)."""
MIN_RSA = 2048
"""Bits of an RSA key."""


class SigningKey(NamedTuple):
    """A key that signs: its id, its JWS algorithm, bytes -> signature, and the public half as a
    JWK (None for a shared secret)."""

    kid: str
    alg: str
    sign: Callable[[bytes], bytes]
    jwk: dict[str, str] | None


def load_keys(secret: str, pems: Sequence[str]) -> tuple[SigningKey, ...]:
    """The keys of the settings ``signing-secret`` ("" for none) and ``signing-keys``.

    Each of ``pems`` holds unencrypted private keys: EC on P-256, RSA of 2048 bits or more, Ed25519.
    Raises InvalidSettings with every fault, and never with a key in it.
    """
    faults: list[str] = []
    keys: list[SigningKey] = []
    if secret and len(secret.encode()) < MIN_SECRET:
        faults.append(f"signing-secret: must have at least {MIN_SECRET} bytes")
    elif secret:
        keys.append(_shared(secret.encode()))
    for i, text in enumerate(pems):
        where = f"signing-keys[{i}]"
        # what is in an environment variable often has its line ends spelled out
        blocks = [found[0] for found in _PRIVATE.finditer(text.replace("\\n", "\n"))]
        if not blocks:
            faults.append(f"{where}: has no private key in PEM")
        for block in blocks:
            try:
                keys.append(_private(block))
            except ValueError as error:
                faults.append(f"{where}: {error}")
    kids = [key.kid for key in keys]
    twice = sorted({kid for kid in kids if kids.count(kid) > 1})
    faults += [f"signing-keys: the key {kid} is there twice" for kid in twice]
    if faults:
        raise InvalidSettings("\n".join(faults))
    return tuple(keys)


# openssl writes the parameters of an EC key into a block of its own, before the key
_PRIVATE = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?-----END \1-----\s*", re.DOTALL)


def _shared(secret: bytes) -> SigningKey:
    def sign(data: bytes) -> bytes:
        return hmac.digest(secret, data, "sha256")

    return SigningKey(SHARED, "HS256", sign, None)


def _private(pem: str) -> SigningKey:
    """The key. Raises ValueError that says what is wrong with it."""
    try:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from jwt.utils import der_to_raw_signature
    except ImportError as error:
        raise InvalidSettings(missing("signing-keys")) from error
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except TypeError:
        raise ValueError("is encrypted: give it without a passphrase") from None
    except Exception:  # whatever their parser raises; its text may repeat the key
        raise ValueError("is not a private key in PEM") from None
    sha256 = hashes.SHA256()
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1):
        # Deterministic (RFC 6979): every instance serves the same bytes under the same ETag.
        ecdsa, curve = ec.ECDSA(sha256, deterministic_signing=True), key.curve
        return _published(
            key, "ES256", lambda data: der_to_raw_signature(key.sign(data, ecdsa), curve)
        )
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size >= MIN_RSA:
        pkcs = padding.PKCS1v15()
        return _published(key, "RS256", lambda data: key.sign(data, pkcs, sha256))
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return _published(key, "EdDSA", key.sign)
    raise ValueError(f"must be EC on P-256, RSA of at least {MIN_RSA} bits, or Ed25519")


def _published(key: Any, alg: str, sign: Callable[[bytes], bytes]) -> SigningKey:
    jwk = _jwt().algorithms.get_default_algorithms()[alg].to_jwk(key.public_key(), as_dict=True)
    members = {name: str(jwk[name]) for name in _THUMBPRINT[jwk["kty"]]}
    kid = thumbprint(members)
    return SigningKey(kid, alg, sign, members | {"kid": kid, "use": "sig", "alg": alg})


_THUMBPRINT = {
    "EC": ("crv", "kty", "x", "y"),
    "OKP": ("crv", "kty", "x"),
    "RSA": ("e", "kty", "n"),
    "oct": ("k", "kty"),
}


def thumbprint(jwk: Mapping[str, Any]) -> str:
    """The key's name by its content (RFC 7638, SHA-256). Raises KeyError if it is no key."""
    members = {name: jwk[name] for name in _THUMBPRINT[jwk["kty"]]}
    text = json.dumps(members, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def jwks(keys: Iterable[SigningKey]) -> dict[str, list[dict[str, str]]]:
    """The JSON Web Key Set of the public halves."""
    return {"keys": [key.jwk for key in keys if key.jwk is not None]}


# ---------------------------------------------------------------- keys that verify


class VerifyingKey(NamedTuple):
    """A key to verify with: its id, the algorithms that it may be used with, and itself."""

    kid: str
    algorithms: frozenset[str]
    key: Any

    def __repr__(self) -> str:
        return f"VerifyingKey({self.kid!r})"  # it may be a secret

    def fits(self, alg: str, data: bytes, signature: bytes) -> bool:
        """Whether this is the key's signature of ``data`` by an algorithm that it is for."""
        method = _jwt().algorithms.get_default_algorithms()[alg]
        return alg in self.algorithms and bool(method.verify(data, self.key, signature))


def shared_key(secret: str, kid: str = SHARED) -> VerifyingKey:
    """The key that is a secret between the agent and us. Raises ValueError for an empty one."""
    if not secret:
        raise ValueError("is empty")
    return VerifyingKey(kid, frozenset({"HS256"}), secret.encode())


def keys_of(document: object, *, local: bool = False) -> tuple[VerifyingKey, ...]:
    """The usable keys of a JSON Web Key Set; one without ``kid`` goes by its thumbprint.

    Secrets (``oct``) only count in a ``local`` one: what the network hands out is no secret.
    Raises ValueError if it is no key set.
    """
    members = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(members, list):
        raise ValueError('is not a JSON Web Key Set: it has no list "keys"')
    read = (_verifying(jwk) for jwk in members if isinstance(jwk, dict))
    return tuple(key for key in read if key and (local or not isinstance(key.key, bytes)))


_FITTING = {
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
    ("RSA", None): frozenset({"RS256", "PS256"}),
    ("oct", None): frozenset({"HS256"}),
}


def _verifying(jwk: dict[str, Any]) -> VerifyingKey | None:
    """The key; None for one that is of no use here, which RFC 7517 says to pass over."""
    kty, crv, jwt = jwk.get("kty"), jwk.get("crv"), _jwt()
    if not isinstance(kty, str) or not isinstance(crv, str | None):
        return None
    algorithms = _FITTING.get((kty, crv), frozenset())
    if "alg" in jwk:
        algorithms = frozenset(alg for alg in algorithms if alg == jwk["alg"])
    if not algorithms or jwk.get("use", "sig") != "sig":
        return None
    try:
        public = {name: value for name, value in jwk.items() if name != "d"}
        key = jwt.PyJWK(public, algorithm=min(algorithms)).key
        kid = jwk["kid"] if isinstance(jwk.get("kid"), str) else thumbprint(jwk)
    except Exception:  # whatever their parser raises: what cannot be read verifies nothing
        return None
    if not key or (kty == "RSA" and key.key_size < MIN_RSA):
        return None
    return VerifyingKey(kid, algorithms, key)


def _jwt() -> Any:
    try:
        import jwt
    except ImportError as error:
        raise InvalidSettings(missing("verifying a card")) from error
    return jwt


def missing(what: str) -> str:
    """What to do about packages that are not installed."""
    return f"{what} needs packages that are not installed: pip install 'a2a-fn[jwt]'"
