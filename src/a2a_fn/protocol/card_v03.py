"""What a client of A2A 0.3 looks for in an Agent Card, beside the fields that 1.0 has too.

Written by hand from the 1.0 card: the a2a-sdk's types of 0.3 are slow to import, and a card is
what a cold function is asked for first. A test holds it against the SDK's own conversion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from a2a.types.a2a_pb2 import AgentCard, OAuthFlows, SecurityRequirement, SecurityScheme

from . import outputs

VERSION = "0.3.0"
"""How 0.3 says its version; A2A 1.0 names it 0.3."""


def legacy_fields(card: AgentCard) -> dict[str, Any]:
    """The 0.3 members of the card's JSON; none if the card has no interface of 0.3.

    Each value is complete, so that they may be merged into ``outputs.encode(card)`` at the top or
    recursively. The first 0.3 interface is the main one (``url``, ``preferredTransport``).
    """
    interfaces = [one for one in card.supported_interfaces if _is_v03(one.protocol_version)]
    if not interfaces:
        return {}
    main, *others = interfaces
    fields: dict[str, Any] = {
        "url": main.url,
        "preferredTransport": main.protocol_binding,
        "protocolVersion": VERSION,
    }
    if others:
        fields["additionalInterfaces"] = [
            {"url": one.url, "transport": one.protocol_binding} for one in others
        ]
    if card.capabilities.extended_agent_card:
        fields["supportsAuthenticatedExtendedCard"] = True
    if card.security_requirements:
        fields["security"] = _security(card.security_requirements)
    if card.security_schemes:
        fields["securitySchemes"] = {
            name: outputs.encode(scheme) | _flat(scheme)
            for name, scheme in card.security_schemes.items()
        }
    if any(skill.security_requirements for skill in card.skills):
        fields["skills"] = [
            outputs.encode(skill)
            | (
                {"security": _security(skill.security_requirements)}
                if skill.security_requirements
                else {}
            )
            for skill in card.skills
        ]
    return fields


def _is_v03(version: str) -> bool:
    return not version or version == "0.3" or version.startswith("0.3.")


def _security(requirements: Sequence[SecurityRequirement]) -> list[dict[str, list[str]]]:
    """Alternatives, each the schemes that are needed together, with their scopes."""
    return [
        {name: list(scopes.list) for name, scopes in one.schemes.items()} for one in requirements
    ]


def _flat(scheme: SecurityScheme) -> dict[str, Any]:
    """The scheme as OpenAPI has it: its kind in ``type``, its fields beside that."""
    kind = scheme.WhichOneof("scheme")
    if kind is None:
        return {}
    inner = outputs.encode(getattr(scheme, kind))
    if kind == "api_key_security_scheme":
        inner["in"] = inner.pop("location")
    elif kind == "oauth2_security_scheme":
        inner["flows"] = _flows(scheme.oauth2_security_scheme.flows)
    return {"type": _TYPES[kind], **inner}


_TYPES = {
    "api_key_security_scheme": "apiKey",
    "http_auth_security_scheme": "http",
    "oauth2_security_scheme": "oauth2",
    "open_id_connect_security_scheme": "openIdConnect",
    "mtls_security_scheme": "mutualTLS",
}
_FLOWS = {"authorization_code", "client_credentials", "implicit", "password"}


def _flows(flows: OAuthFlows) -> dict[str, Any]:
    """The flow, if 0.3 knows it: the device code is newer."""
    flow = flows.WhichOneof("flow")
    if flow not in _FLOWS:
        return {}
    inner = outputs.encode(getattr(flows, flow))
    inner.pop("pkceRequired", None)
    return {outputs.encode(flows).popitem()[0]: {"scopes": {}, **inner}}
