"""The security schemes that a deployment asks for: what the gate checks and the card announces."""

from __future__ import annotations

from typing import NamedTuple

from ..settings import Settings


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


CONCERNED = (
    "token",
    "basic_username",
    "basic_password",
    "api_key",
    "principals",
    "jwt_issuer",
    "jwt_jwks_url",
    "jwt_audience",
    "jwt_scopes",
    "jwt_tenant_claim",
    "tenants",
)
"""The settings that say who may call; with none of them, there is nothing to check."""


def concerned(settings: Settings) -> bool:
    """Whether any setting says who may call, rightly or not. Without one, a cold start is spared
    the code that reads credentials."""
    return any(getattr(settings, name) for name in CONCERNED)


def schemes(settings: Settings) -> Schemes:
    """The schemes that the settings ask for; no secret is looked up for it."""
    kinds = {kind for entry in settings.principals for kind in entry}
    keys = settings.api_key or "api-key" in kinds
    return Schemes(
        bearer=bool(settings.token or "token" in kinds),
        basic=bool(settings.basic_password or "password" in kinds),
        api_key_header=settings.api_key_header if keys else "",
        jwt_issuer=settings.jwt_issuer,
        scopes=settings.jwt_scopes if settings.jwt_issuer else (),
    )
