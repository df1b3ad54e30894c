"""An issuer of JWTs for tests: its keys, its key set, tokens good and bad; and a clock by hand."""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

ISSUER = "https://issuer.example.com/"
AUDIENCE = "agent"
NOW = 1_800_000_000  # s


class Clock:
    """``ports.Clock`` that stands until a test moves it."""

    def __init__(self, seconds: float = NOW) -> None:
        self.ms = int(seconds * 1000)

    def now(self) -> int:
        return self.ms

    def pass_by(self, seconds: float) -> None:
        self.ms += round(seconds * 1000)


@cache
def private_key(alg: str, which: int = 0) -> Any:
    """The ``which``-th private key for an algorithm; made once, for RSA takes long."""
    if alg == "RS256":
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    if alg == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return ed25519.Ed25519PrivateKey.generate()


def public_jwk(algorithm: str, kid: str, which: int = 0, **members: Any) -> dict[str, Any]:
    """The public half as the issuer publishes it."""
    public = private_key(algorithm, which).public_key()
    jwk = jwt.get_algorithm_by_name(algorithm).to_jwk(public, as_dict=True)
    return {**jwk, "kid": kid, "use": "sig", **members}


def key_set(*jwks: dict[str, Any]) -> bytes:
    return json.dumps({"keys": list(jwks)}).encode()


def claims(**changed: Any) -> dict[str, Any]:
    """The claims of a good token, with changes; None leaves one out."""
    given = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": NOW, "exp": NOW + 600, **changed}
    return {name: value for name, value in given.items() if value is not None}


def token(
    alg: str = "RS256",
    kid: str | None = "k1",
    which: int = 0,
    header: dict[str, Any] | None = None,
    **changed: Any,
) -> str:
    """A token that is signed as it says, with changes to its header and claims."""
    head = {"alg": alg, "typ": "JWT", "kid": kid, **(header or {})}
    head = {name: value for name, value in head.items() if value is not None}
    return signed(head, claims(**changed), alg, private_key(alg, which))


def signed(header: Any, payload: Any, alg: str, key: Any) -> str:
    """The compact form of any header and payload, signed by ``alg`` whatever the header says."""
    signing = f"{part(json.dumps(header).encode())}.{part(json.dumps(payload).encode())}"
    algorithm = jwt.get_algorithm_by_name(alg)
    return f"{signing}.{part(algorithm.sign(signing.encode(), algorithm.prepare_key(key)))}"


def part(data: bytes) -> str:
    """base64url, without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
