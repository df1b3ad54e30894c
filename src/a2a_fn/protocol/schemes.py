"""The security schemes that a deployment asks for: what the gate checks and the card announces."""

from __future__ import annotations

from typing import NamedTuple


class Schemes(NamedTuple):
    """Which schemes are configured: ``bearer`` by a token, ``basic`` by a password,
    ``api_key_header`` names the header of API keys ("" without), ``jwt_issuer`` the issuer of JWTs
    ("" without) that must have all ``scopes``."""

    bearer: bool = False
    basic: bool = False
    api_key_header: str = ""
    jwt_issuer: str = ""
    scopes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.bearer or self.basic or self.api_key_header or self.jwt_issuer)
