"""The Agent Card: what the agent is, where it is reached, who may call it, who signed that."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentProvider,
    AgentSkill,
    APIKeySecurityScheme,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from a2a.utils.errors import InvalidRequestError

from ..profile import Extension, Profile, Skill
from . import outputs, values
from .gate import V03, V10, Gate
from .schemes import Schemes

if TYPE_CHECKING:
    from .keys import SigningKey

PATH = "/.well-known/agent-card.json"
OLD_PATH = "/.well-known/agent.json"
"""Where A2A had the card before 0.3."""
JWKS_PATH = "/.well-known/jwks.json"
"""Where the public keys are that verify the card."""

NO_SCHEMES = Schemes()
RUNTIME_SKILL = "iac_code_runtime_details"
"""The skill that only the extended card has."""


def agent_card(profile: Profile, root: str, gate: Gate, schemes: Schemes = NO_SCHEMES) -> AgentCard:
    """The card of an agent whose root is at ``root`` (with or without a final slash)."""
    provider = None
    if profile.provider_organization:
        provider = AgentProvider(
            organization=profile.provider_organization, url=profile.provider_url
        )
    card = AgentCard(
        name=profile.name,
        description=profile.description,
        version=profile.version,
        documentation_url=profile.documentation_url or None,
        icon_url=profile.icon_url or None,
        provider=provider,
        supported_interfaces=_interfaces(root.rstrip("/"), gate),
        capabilities=AgentCapabilities(
            streaming=gate.capabilities.streaming,
            push_notifications=gate.capabilities.push,
            extended_agent_card=gate.capabilities.extended_card,
            extensions=[_extension(extension) for extension in profile.extensions],
        ),
        default_input_modes=profile.input_modes,
        default_output_modes=profile.output_modes,
        skills=[_skill(skill) for skill in profile.skills],
    )
    for name, scheme, scopes in _security(schemes):
        card.security_schemes[name].CopyFrom(scheme)
        # a requirement each: any one of them is enough
        card.security_requirements.append(
            SecurityRequirement(schemes={name: StringList(list=scopes)})
        )
    return card


def _interfaces(root: str, gate: Gate) -> list[AgentInterface]:
    """The best one first. The clients of HTTP+JSON 0.3 add ``/v1`` themselves."""
    return [
        AgentInterface(url=url, protocol_binding=binding, protocol_version=version)
        for version in ((V10, V03) if gate.v03 else (V10,))
        for binding, url in (("JSONRPC", f"{root}/"), ("HTTP+JSON", root))
    ]


def _skill(skill: Skill) -> AgentSkill:
    return AgentSkill(
        id=skill.id,
        name=skill.name,
        description=skill.description,
        tags=skill.tags,
        examples=skill.examples,
        input_modes=skill.input_modes,
        output_modes=skill.output_modes,
    )


def _extension(extension: Extension) -> AgentExtension:
    uri, description, required, params = extension
    return AgentExtension(
        uri=uri,
        description=description,
        required=required,
        params=None if params is None else values.struct(dict(params)),
    )


def _security(schemes: Schemes) -> list[tuple[str, SecurityScheme, tuple[str, ...]]]:
    """Name, scheme and scopes of each way to say who calls."""
    found: list[tuple[str, SecurityScheme, tuple[str, ...]]] = []
    if schemes.bearer:
        found.append(("bearerAuth", _http("Bearer"), ()))
    if schemes.basic:
        found.append(("basicAuth", _http("Basic"), ()))
    if schemes.api_key_header:
        key = APIKeySecurityScheme(location="header", name=schemes.api_key_header)
        found.append(("apiKeyAuth", SecurityScheme(api_key_security_scheme=key), ()))
    if schemes.jwt_issuer:
        # Not openIdConnect: that would promise a discovery document, which few issuers of machine
        # tokens have and which the settings do not name.
        scheme = _http("Bearer", bearer_format="JWT", description=f"From {schemes.jwt_issuer}")
        found.append(("jwtAuth", scheme, schemes.scopes))
    return found


def _http(scheme: str, *, bearer_format: str = "", description: str = "") -> SecurityScheme:
    return SecurityScheme(
        http_auth_security_scheme=HTTPAuthSecurityScheme(
            scheme=scheme, bearer_format=bearer_format, description=description
        )
    )


class Document(NamedTuple):
    """JSON as it goes over the wire, and its strong validator."""

    body: bytes
    etag: str


def document(value: Mapping[str, object]) -> Document:
    """The JSON object as a document, the same bytes in every process: protobuf's maps have an
    order of their own in each, and under one ETag there is one document."""
    body = outputs.dumps({name: _in_order(item) for name, item in value.items()})
    return Document(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def _in_order(value: object) -> object:
    """The value with the members of its objects in the order of their names."""
    if isinstance(value, dict):
        return {name: _in_order(value[name]) for name in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


class Cards:
    """The cards of one agent and the keys that sign them, each made once for each root.

    A root that was taken from a request's Host is the client's to choose, so only the ``KEPT``
    roots asked for last are kept. ``keys`` is called when the first card is asked for; None: the
    cards are not signed. ``runtime`` is what the extended card says of the process. ``pushes``
    gives the public keys that sign pushes, as JWKs, as they are now.
    Raises InvalidSettings if the profile lacks what a card needs.
    """

    KEPT = 32

    def __init__(
        self,
        profile: Profile,
        gate: Gate,
        *,
        schemes: Schemes = NO_SCHEMES,
        keys: Callable[[], tuple[SigningKey, ...]] | None = None,
        runtime: str = "",
        pushes: Callable[[], list[dict[str, str]]] | None = None,
    ) -> None:
        profile.check()
        self._profile = profile
        self._gate = gate
        self._schemes = schemes
        self._keys = keys
        self._runtime = runtime
        self._pushes = pushes
        self.public = lru_cache(self.KEPT)(self._public)
        self.extended = lru_cache(self.KEPT)(self._extended)
        self._signers = lru_cache(1)(self._jwks)

    def _public(self, root: str) -> Document:
        """The public card of the server that is seen at ``root``."""
        card = agent_card(self._profile, root, self._gate, self._schemes)
        served = outputs.encode(card)
        if self._gate.v03:
            from .card_v03 import legacy_fields

            served |= legacy_fields(card)
        if self._keys is not None:
            from .signing import sign

            served["signatures"] = sign(card, served, self._keys(), jku=_jku(root))
        return document(served)

    def _extended(self, root: str) -> AgentCard:
        """The card for authenticated callers. It is shared: do not change it."""
        if not root:
            raise InvalidRequestError("The Host header is not a host name.")
        card = agent_card(self._profile, root, self._gate, self._schemes)
        card.skills.append(
            AgentSkill(
                id=RUNTIME_SKILL,
                name="Runtime details",
                description=self._runtime or "An A2A agent.",
                tags=["runtime"],
            )
        )
        if self._keys is not None:
            from .signing import sign

            for one in sign(card, outputs.encode(card), self._keys(), jku=_jku(root)):
                card.signatures.add(protected=one["protected"], signature=one["signature"])
        return card

    def jwks(self) -> Document:
        """The public keys, for whoever verifies the card or a push."""
        pushes = self._pushes() if self._pushes is not None else []
        return document({"keys": [*self._signers(), *pushes]})

    def _jwks(self) -> list[dict[str, str]]:
        """Those of the card; the same for as long as the process lives."""
        if self._keys is None:
            return []
        from .keys import jwks

        return jwks(self._keys())["keys"]


def _jku(root: str) -> str:
    return f"{root.rstrip('/')}{JWKS_PATH}"
