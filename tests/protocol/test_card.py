"""Is the card right, and does it cache as HTTP says?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate, parsedate_to_datetime
from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.json_format import ParseDict
from tests.protocol.conftest import listen_with

from a2a_fn.errors import InvalidSettings, Unavailable
from a2a_fn.profile import IAC, Extension, Profile, Skill
from a2a_fn.protocol.card import Cards, agent_card
from a2a_fn.protocol.gate import Gate
from a2a_fn.protocol.schemes import Schemes
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

PATH = ".well-known/agent-card.json"
OLD_PATH = ".well-known/agent.json"
JWKS_PATH = ".well-known/jwks.json"
SKILL = Skill("s", "S", "d", ("t",))


async def fetch(server: Any, path: str = PATH, **headers: str) -> httpx.Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return await server.http.get(f"{server.url}{path}", headers=given)


@asynccontextmanager
async def product(**settings: Any) -> AsyncIterator[Any]:
    """The product itself on its memory engine, with these settings, listening."""
    services = build_services(Settings(**{"engine": "memory", "agent": "iac:offline"} | settings))
    async with listen_with(services.app()) as server:
        yield server
    await services.close()


async def test_the_sdk_finds_and_reads_it(server):
    card = await A2ACardResolver(server.http, server.url).get_agent_card()
    assert (card.name, card.version) == ("echo", "1.2.3")
    assert interfaces(card) == [
        ("JSONRPC", "1.0", server.url),
        ("HTTP+JSON", "1.0", server.url.rstrip("/")),
    ]
    assert card.capabilities.streaming
    assert [skill.id for skill in card.skills] == ["echo"]


def interfaces(card: AgentCard) -> list[tuple[str, str, str]]:
    return [
        (one.protocol_binding, one.protocol_version, one.url) for one in card.supported_interfaces
    ]


async def test_the_old_path_has_the_same_card(server):
    new, old = await fetch(server), await fetch(server, OLD_PATH)
    assert (old.status_code, old.content) == (200, new.content)
    assert old.headers["etag"] == new.headers["etag"]
    assert (await fetch(server, OLD_PATH, If_None_Match=old.headers["etag"])).status_code == 304


async def test_the_product_says_everything_that_it_is():
    async with product() as server:
        card = await A2ACardResolver(server.http, server.url).get_agent_card()
        raw = (await fetch(server)).json()
    validate_proto_required_fields(card)
    assert (card.name, list(card.default_output_modes)) == ("iac-code", ["text/plain"])
    assert {skill.id for skill in card.skills} == {
        "iac_generation",
        "iac_review",
        "aliyun_ros_operations",
        "terraform_ros_conversion",
    }
    root = server.url.rstrip("/")
    assert interfaces(card) == [
        ("JSONRPC", "1.0", f"{root}/"),
        ("HTTP+JSON", "1.0", root),
        ("JSONRPC", "0.3", f"{root}/"),
        ("HTTP+JSON", "0.3", root),
    ]
    assert (raw["url"], raw["preferredTransport"]) == (f"{root}/", "JSONRPC")
    assert raw["protocolVersion"].startswith("0.3")


async def test_without_a2a_03_the_card_has_nothing_of_it():
    async with product(a2a_v03=False) as server:
        raw = (await fetch(server)).json()
    assert [one["protocolVersion"] for one in raw["supportedInterfaces"]] == ["1.0", "1.0"]
    assert not raw.keys() & {"url", "preferredTransport", "protocolVersion", "security"}


async def test_capabilities_that_are_off_are_said_to_be_off(server):
    assert (await fetch(server)).json()["capabilities"] == {
        "streaming": True,
        "pushNotifications": False,
        "extendedAgentCard": False,
    }


def test_everything_required_is_filled_in_the_shipped_profile():
    card = agent_card(IAC, "https://agent.example", Gate())
    validate_proto_required_fields(card)
    assert card.name == "iac-code"
    assert [skill.id for skill in card.skills] == [
        "iac_generation",
        "iac_review",
        "aliyun_ros_operations",
        "terraform_ros_conversion",
    ]
    assert list(card.default_output_modes) == ["text/plain"]
    assert len(card.default_input_modes) == 14


def test_a_profile_without_what_a_card_needs_says_all_that_is_missing():
    with pytest.raises(InvalidSettings) as caught:
        Cards(
            Profile("", "d", "1", (Skill("s", "", "d", ()),), provider_url="https://x.example"),
            Gate(),
        )
    assert str(caught.value) == (
        "the agent's profile needs: name, name of skill s, tags of skill s, "
        "provider_organization and provider_url, both or neither"
    )


def test_a_provider_and_documentation_are_told_if_there_are_any():
    profile = Profile(
        "n",
        "d",
        "1",
        skills=(Skill("s", "S", "d", ("t",)),),
        documentation_url="https://x.example/docs",
        icon_url="https://x.example/i.png",
        provider_organization="X",
        provider_url="https://x.example",
    )
    card = agent_card(profile, "https://agent.example", Gate())
    assert (card.provider.organization, card.provider.url) == ("X", "https://x.example")
    assert card.documentation_url == "https://x.example/docs"
    assert card.icon_url == "https://x.example/i.png"
    bare = agent_card(IAC, "https://agent.example", Gate())
    assert not any(bare.HasField(name) for name in ("provider", "documentation_url", "icon_url"))


# --- addresses ----------------------------------------------------------------------------------


async def test_without_a_public_url_it_names_the_host_that_was_asked(server):
    card = (await fetch(server, Host="agent.example:8443")).json()
    assert card["supportedInterfaces"][0]["url"] == "http://agent.example:8443/"


@pytest.mark.parametrize("public_url", ["https://a.example/x", "https://a.example/x/"])
async def test_a_public_url_is_named_whatever_host_was_asked(listen, handler, public_url):
    async with listen(handler, public_url=public_url) as server:
        card = (await fetch(server, Host="evil.example")).json()
    assert card["supportedInterfaces"][0]["url"] == "https://a.example/x/"


@pytest.mark.parametrize("host", ["a/b", "a b", 'a"b', "a@b", "[::1", "x" * 300, "a:b"])
async def test_a_host_that_is_none_is_refused(server, host):
    response = await fetch(server, Host=host)
    assert response.status_code == 400
    assert host not in response.text


async def test_an_ipv6_host_is_named(server):
    card = (await fetch(server, Host="[::1]:80")).json()
    assert card["supportedInterfaces"][0]["url"] == "http://[::1]:80/"


async def test_hosts_that_a_client_makes_up_do_not_fill_the_memory(listen, handler):
    cards = Cards(IAC, Gate())
    async with listen(handler, cards=cards) as server:
        for number in range(Cards.KEPT * 2):
            await fetch(server, Host=f"h{number}.example")
    assert cards.public.cache_info().currsize == Cards.KEPT


async def test_a_card_is_made_once_for_each_root(listen, handler):
    cards = Cards(IAC, Gate())
    async with listen(handler, cards=cards) as server:
        for host in ("a.example", "b.example", "a.example"):
            await fetch(server, Host=host)
    assert (cards.public.cache_info().misses, cards.public.cache_info().hits) == (2, 1)


# --- extensions ---------------------------------------------------------------------------------


async def test_extensions_are_announced_with_whole_numbers_as_they_are(listen, handler):
    params = {"count": 20, "rate": 0.5, "deep": [{"on": False, "none": None}]}
    profile = Profile("n", "d", "1", (SKILL,), extensions=(Extension("urn:x", "X.", True, params),))
    async with listen(handler, profile=profile) as server:
        response = await fetch(server)
    (extension,) = response.json()["capabilities"]["extensions"]
    assert extension == {"uri": "urn:x", "description": "X.", "required": True, "params": params}
    assert re.search(r'"count":20[,}]', response.text)


@pytest.mark.parametrize(
    ("exposure", "types"),
    [
        (("tool-trace",), ["tool_trace"]),
        (("tool-trace", "raw-thinking"), ["tool_trace", "raw_thinking"]),
        ((), None),
    ],
)
async def test_the_iac_agent_says_what_it_shows_of_its_work(exposure, types):
    async with product(thinking_exposure=exposure) as server:
        extensions = (await fetch(server)).json()["capabilities"]["extensions"]
    by_uri = {one["uri"]: one for one in extensions}
    assert "required" not in by_uri["urn:iac-code:a2a:artifact-metadata:v1"]
    thinking = by_uri.get("urn:iac-code:a2a:thinking-exposure:v1")
    assert (thinking and thinking["params"]) == (types and {"enabledTypes": types})


async def test_a_required_extension_is_announced_and_enforced(message):
    uris = ("urn:iac-code:a2a:artifact-metadata:v1", "urn:other")
    async with product(required_extensions=uris) as server:
        extensions = (await fetch(server)).json()["capabilities"]["extensions"]
        answer = await server.call("SendMessage", {"message": message()})
    assert {one["uri"] for one in extensions if one.get("required")} == set(uris)
    assert answer["error"]["code"] == -32008


async def test_an_extension_that_the_card_file_requires_is_enforced(tmp_path, message):
    file = tmp_path / "card.yml"
    file.write_text("name: mine\nextensions: [{uri: 'urn:mine', required: true}]\n")
    async with product(card=str(file)) as server:
        card = (await fetch(server)).json()
        without = await server.call("SendMessage", {"message": message()})
        body = b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"none"}}'
        asked = (await server.post(body, A2A_Extensions="urn:mine")).json()
    assert card["name"] == "mine"
    assert without["error"]["code"] == -32008
    assert asked["error"]["code"] == -32001


# --- who may call -------------------------------------------------------------------------------

ALL = {
    "token": "t" * 20,
    "basic_username": "u",
    "basic_password": "p" * 20,
    "api_key": "k" * 20,
    "api_key_header": "X-Mine",
    "jwt_issuer": "https://issuer.example",
    "jwt_jwks_url": "https://issuer.example/keys",
    "jwt_audience": "a2a",
    "jwt_scopes": ("call", "more"),
}
BEARER = {"A2A-Version": "1.0", "Authorization": f"Bearer {'t' * 20}"}


async def test_every_configured_scheme_is_announced_and_any_one_is_enough():
    async with product(**ALL) as server:
        card = await A2ACardResolver(server.http, server.url).get_agent_card()
    schemes = card.security_schemes
    assert schemes["bearerAuth"].http_auth_security_scheme.scheme == "Bearer"
    assert schemes["basicAuth"].http_auth_security_scheme.scheme == "Basic"
    key = schemes["apiKeyAuth"].api_key_security_scheme
    assert (key.location, key.name) == ("header", "X-Mine")
    jwt = schemes["jwtAuth"].http_auth_security_scheme
    assert (jwt.scheme, jwt.bearer_format) == ("Bearer", "JWT")
    assert jwt.description == "From https://issuer.example"
    assert [
        {name: list(scopes.list) for name, scopes in one.schemes.items()}
        for one in card.security_requirements
    ] == [
        {"bearerAuth": []},
        {"basicAuth": []},
        {"apiKeyAuth": []},
        {"jwtAuth": ["call", "more"]},
    ]
    validate_proto_required_fields(card)


async def test_without_a_scheme_none_is_announced(server):
    card = (await fetch(server)).json()
    assert not card.keys() & {"securitySchemes", "securityRequirements", "security"}


async def test_card_and_keys_are_open_where_calls_are_not(message):
    async with product(token="t" * 20) as server:
        statuses = [(await fetch(server, path)).status_code for path in (PATH, OLD_PATH, JWKS_PATH)]
        call = await server.post(b"{}")
    assert statuses == [200, 200, 200]
    assert call.status_code == 401


async def test_no_credential_is_on_the_card():
    async with product(**ALL) as server:
        text = (await fetch(server)).text
    assert not [word for word in ("t" * 20, "p" * 20, "k" * 20) if word in text]


# --- the extended card --------------------------------------------------------------------------

ASK = b'{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard","params":{}}'


async def test_the_extended_card_is_for_those_who_say_who_they_are():
    async with product(token="t" * 20, rate_limit=77) as server:
        public = (await fetch(server)).json()
        stranger = await server.post(ASK)
        answer = await server.http.post(server.url, content=ASK, headers={
            "Content-Type": "application/json", **BEARER})  # fmt: skip
        rest = await server.http.get(f"{server.url}extendedAgentCard", headers=BEARER)
    assert stranger.status_code == 401
    extended = answer.json()["result"]
    assert rest.json() == extended
    assert public["capabilities"]["extendedAgentCard"] is True
    *skills, runtime = extended["skills"]
    assert skills == public["skills"]
    assert runtime["id"] == "iac_code_runtime_details"
    for word in ("iac:offline", "memory", "10,485,760", "77 requests a minute"):
        assert word in runtime["description"]
    assert {name: extended[name] for name in ("name", "supportedInterfaces", "capabilities")} == {
        name: public[name] for name in ("name", "supportedInterfaces", "capabilities")
    }
    ParseDict(extended, AgentCard())  # A2A 1.0 and nothing else


async def test_the_extended_card_tells_no_path_and_no_secret(tmp_path):
    secret = {"token": "t" * 20, "id_key": "i" * 20}
    async with product(engine="sqlite", data=str(tmp_path / "data"), **secret) as server:
        answer = await server.http.post(server.url, content=ASK, headers={
            "Content-Type": "application/json", **BEARER})  # fmt: skip
    assert "runtime_details" in answer.text
    assert not [word for word in (*secret.values(), str(tmp_path)) if word in answer.text]


async def test_without_credentials_there_is_no_extended_card():
    async with product() as server:
        card = (await fetch(server)).json()
        answer = await server.post(ASK)
    assert card["capabilities"]["extendedAgentCard"] is False
    assert answer.json()["error"]["code"] == -32004


async def test_the_extended_card_of_no_host_is_refused():
    async with product(token="t" * 20) as server:
        answer = await server.http.post(server.url, content=ASK, headers={
            "Content-Type": "application/json", "Host": "a b", **BEARER})  # fmt: skip
    assert answer.json()["error"]["code"] == -32600


def test_the_openly_served_card_does_not_change_with_the_extended_one():
    cards = Cards(IAC, Gate(), schemes=Schemes(bearer=True))
    before = cards.public("https://a.example")
    assert len(cards.extended("https://a.example").skills) == len(IAC.skills) + 1
    fresh = Cards(IAC, Gate(), schemes=Schemes(bearer=True))
    assert fresh.public("https://a.example") == before


# --- settings that are wrong --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status"),
    [(InvalidSettings("secret words"), 500), (Unavailable("secret words"), 503)],
)
async def test_keys_that_cannot_be_had_are_not_explained_to_strangers(
    listen, handler, error, status
):
    def keys() -> Any:
        raise error

    async with listen(handler, cards=Cards(IAC, Gate(), keys=keys)) as server:
        for path in (PATH, JWKS_PATH):
            response = await fetch(server, path)
            assert response.status_code == status
            assert "secret words" not in response.text
            assert ("retry-after" in response.headers) == (status == 503)


# --- caching ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [PATH, OLD_PATH, JWKS_PATH])
async def test_it_may_be_kept_a_minute_and_has_validators(server, path):
    response = await fetch(server, path)
    assert response.headers["cache-control"] == "public, max-age=60"
    assert response.headers["etag"].startswith('"')
    parsedate_to_datetime(response.headers["last-modified"])
    assert int(response.headers["content-length"]) == len(response.content)


async def test_the_tag_changes_with_the_card(listen, handler):
    async with listen(handler) as server, listen(handler, streaming=False) as other:
        host = {"Host": "same.example"}
        first, second = await fetch(server, **host), await fetch(other, **host)
        again = await fetch(server, **host)
    assert first.headers["etag"] != second.headers["etag"]
    assert first.headers["etag"] == again.headers["etag"]


def test_every_process_serves_the_same_bytes():
    """Functions are many processes, and a client's tag must be known to each of them."""
    script = (
        "from a2a_fn.profile import IAC, Extension;"
        "from a2a_fn.protocol.card import Cards, Gate, Schemes;"
        "params = {name: {'y': 1, 'x': 2, 'z': 3} for name in 'qwertyuiop'};"
        "profile = IAC._replace(extensions=(Extension('urn:x', params=params),));"
        "cards = Cards(profile, Gate(v03=True), schemes=Schemes(True, True, 'X-Key', 'issuer'));"
        "print(cards.public('https://a.example').etag)"
    )
    tags = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(tags) == 1


@pytest.mark.parametrize("form", ["{}", "W/{}", '"a", {}, "b"', '"x,y" , W/{}', "*"])
async def test_a_known_tag_is_answered_304(server, form):
    tag = (await fetch(server)).headers["etag"]
    response = await fetch(server, If_None_Match=form.format(tag))
    assert (response.status_code, response.content) == (304, b"")
    assert response.headers["etag"] == tag
    assert response.headers["cache-control"] == "public, max-age=60"


@pytest.mark.parametrize("value", ['"other"', "{bare}", '"a", "b"', '"*"', "garbage"])
async def test_an_unknown_tag_is_answered_with_the_card(server, value):
    bare = (await fetch(server)).headers["etag"].strip('"')
    response = await fetch(server, If_None_Match=value.replace("{bare}", bare))
    assert response.status_code == 200


async def test_a_date_decides_if_there_is_no_tag(server):
    modified = (await fetch(server)).headers["last-modified"]
    before = formatdate(parsedate_to_datetime(modified).timestamp() - 1, usegmt=True)
    assert (await fetch(server, If_Modified_Since=modified)).status_code == 304
    assert (await fetch(server, If_Modified_Since=before)).status_code == 200
    assert (await fetch(server, If_Modified_Since="yesterday")).status_code == 200
    both = await fetch(server, If_Modified_Since=modified, If_None_Match='"other"')
    assert both.status_code == 200


@pytest.mark.parametrize("path", [PATH, OLD_PATH, JWKS_PATH])
async def test_head_is_get_without_the_body(server, path):
    url = f"{server.url}{path}"
    get, head = await server.http.get(url), await server.http.head(url)
    assert head.content == b""
    drop = "date"
    assert {k: v for k, v in head.headers.items() if k != drop} == {
        k: v for k, v in get.headers.items() if k != drop
    }
    assert (await server.http.post(url)).status_code == 405
