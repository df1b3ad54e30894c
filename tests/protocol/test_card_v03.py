"""Are the fields that 0.3 looks for in a card those that the a2a-sdk would write?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from a2a.client.card_resolver import parse_agent_card
from a2a.compat.v0_3 import types
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentProvider,
    AgentSkill,
    APIKeySecurityScheme,
    AuthorizationCodeOAuthFlow,
    ClientCredentialsOAuthFlow,
    DeviceCodeOAuthFlow,
    HTTPAuthSecurityScheme,
    ImplicitOAuthFlow,
    MutualTlsSecurityScheme,
    OAuth2SecurityScheme,
    OAuthFlows,
    OpenIdConnectSecurityScheme,
    PasswordOAuthFlow,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)

from a2a_fn.protocol import outputs
from a2a_fn.protocol.card_v03 import VERSION, legacy_fields

RPC_1 = AgentInterface(url="http://h/", protocol_binding="JSONRPC", protocol_version="1.0")
RPC_0 = AgentInterface(url="http://h/", protocol_binding="JSONRPC", protocol_version="0.3")
REST_0 = AgentInterface(url="http://h", protocol_binding="HTTP+JSON", protocol_version="0.3")
SCOPES = {"read": "look", "write": "change"}


def oauth(**flow: Any) -> SecurityScheme:
    return SecurityScheme(oauth2_security_scheme=OAuth2SecurityScheme(flows=OAuthFlows(**flow)))


SCHEMES = {
    "key": SecurityScheme(
        api_key_security_scheme=APIKeySecurityScheme(
            location="header", name="X-Key", description="a key"
        )
    ),
    "bearer": SecurityScheme(
        http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="bearer", bearer_format="JWT")
    ),
    "basic": SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="basic")),
    "openid": SecurityScheme(
        open_id_connect_security_scheme=OpenIdConnectSecurityScheme(
            open_id_connect_url="https://i/.well-known/openid-configuration"
        )
    ),
    "mtls": SecurityScheme(mtls_security_scheme=MutualTlsSecurityScheme()),
    "code": oauth(
        authorization_code=AuthorizationCodeOAuthFlow(
            authorization_url="https://i/a",
            token_url="https://i/t",
            refresh_url="https://i/r",
            scopes=SCOPES,
            pkce_required=True,
        )
    ),
    "client": oauth(
        client_credentials=ClientCredentialsOAuthFlow(token_url="https://i/t", scopes=SCOPES)
    ),
    "implicit": oauth(implicit=ImplicitOAuthFlow(authorization_url="https://i/a", scopes=SCOPES)),
    "password": oauth(password=PasswordOAuthFlow(token_url="https://i/t", scopes=SCOPES)),
    "device": oauth(
        device_code=DeviceCodeOAuthFlow(
            device_authorization_url="https://i/d", token_url="https://i/t", scopes=SCOPES
        )
    ),
}
SCHEMES["code"].oauth2_security_scheme.oauth2_metadata_url = "https://i/meta"


def card(*interfaces: AgentInterface, **fields: Any) -> AgentCard:
    return AgentCard(
        **{
            "name": "n",
            "description": "d",
            "version": "1",
            "default_input_modes": ["text/plain"],
            "default_output_modes": ["text/plain"],
            "skills": [AgentSkill(id="s", name="s", description="s", tags=["t"])],
            "capabilities": AgentCapabilities(streaming=True),
            "supported_interfaces": interfaces,
        }
        | fields
    )


CARDS = {
    "plain": card(RPC_1, RPC_0),
    "both bindings": card(RPC_1, RPC_0, REST_0),
    "rest first": card(REST_0, RPC_0),
    "only 1.0": card(RPC_1),
    "extended": card(
        RPC_0,
        capabilities=AgentCapabilities(
            push_notifications=True,
            extended_agent_card=True,
            extensions=[AgentExtension(uri="urn:x", required=True, params={"a": ["b"]})],
        ),
    ),
    "not extended": card(RPC_0, capabilities=AgentCapabilities(extended_agent_card=False)),
    "secured": card(
        RPC_1,
        RPC_0,
        security_schemes=SCHEMES,
        security_requirements=[
            SecurityRequirement(schemes={"bearer": StringList(), "key": StringList(list=["q"])}),
            SecurityRequirement(schemes={"openid": StringList(list=["read"])}),
        ],
        skills=[
            AgentSkill(id="a", name="a", description="a", tags=["t"], examples=["e"]),
            AgentSkill(
                id="b",
                name="b",
                description="b",
                tags=["t"],
                security_requirements=[
                    SecurityRequirement(schemes={"bearer": StringList(list=["write"])})
                ],
            ),
        ],
    ),
    "decorated": card(
        RPC_0,
        provider=AgentProvider(organization="o", url="https://o/"),
        documentation_url="https://d/",
        icon_url="https://i/",
    ),
}


def in_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("name", CARDS)
def test_a_served_card_is_that_of_the_sdk(name):
    mine = outputs.encode(CARDS[name]) | legacy_fields(CARDS[name])
    theirs = in_json(agent_card_to_dict(CARDS[name]))
    if "protocolVersion" in theirs:  # 0.3 has three numbers in it: its own default is 0.3.0
        assert theirs.pop("protocolVersion") == "0.3"
        assert mine.pop("protocolVersion") == VERSION
    assert in_json(mine) == theirs


@pytest.mark.parametrize("name", [name for name in CARDS if name != "only 1.0"])
def test_a_client_of_0_3_can_read_it(name):
    served = in_json(outputs.encode(CARDS[name]) | legacy_fields(CARDS[name]))
    read = types.AgentCard.model_validate(served)
    assert read.protocol_version == VERSION
    assert read.url == next(
        one.url for one in CARDS[name].supported_interfaces if one.protocol_version == "0.3"
    )


def test_a_client_of_1_0_reads_the_card_that_it_knows():
    known = AgentCard()
    known.CopyFrom(CARDS["secured"])
    for name in ("code", "device"):  # the SDK reads such a card by 0.3 and drops what that lacks
        del known.security_schemes[name]
    assert parse_agent_card(in_json(outputs.encode(known) | legacy_fields(known))) == known


def test_merging_recursively_gives_the_same():
    def merge(into: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        for key, value in new.items():
            if isinstance(value, dict) and isinstance(into.get(key), dict):
                merge(into[key], value)
            else:
                into[key] = value
        return into

    for each in CARDS.values():
        flat = outputs.encode(each) | legacy_fields(each)
        assert merge(outputs.encode(each), legacy_fields(each)) == flat
