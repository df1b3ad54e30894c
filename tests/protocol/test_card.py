"""Is the card right, and does it cache as HTTP says?"""

from __future__ import annotations

from email.utils import formatdate, parsedate_to_datetime
from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.json_format import ParseDict

from a2a_fn.errors import InvalidSettings
from a2a_fn.profile import IAC, Profile, Skill
from a2a_fn.protocol.card import CardRoute, agent_card
from a2a_fn.protocol.gate import Gate
from a2a_fn.protocol.operations import Capabilities

PATH = ".well-known/agent-card.json"


async def fetch(server: Any, **headers: str) -> httpx.Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return await server.http.get(f"{server.url}{PATH}", headers=given)


async def test_the_sdk_finds_and_reads_it(server):
    card = await A2ACardResolver(server.http, server.url).get_agent_card()
    assert (card.name, card.version) == ("echo", "1.2.3")
    (interface,) = card.supported_interfaces
    assert (interface.protocol_binding, interface.protocol_version) == ("JSONRPC", "1.0")
    assert interface.url == server.url
    assert card.capabilities.streaming
    assert [skill.id for skill in card.skills] == ["echo"]


async def test_capabilities_that_are_off_are_said_to_be_off(server):
    assert (await fetch(server)).json()["capabilities"] == {
        "streaming": True,
        "pushNotifications": False,
        "extendedAgentCard": False,
    }


def test_everything_required_is_filled_in_the_shipped_profile():
    card = agent_card(IAC, "https://agent.example", Capabilities())
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
        Profile("", "d", "1", skills=(Skill("s", "", "d", ()),), provider_url="https://x.example")
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
        provider_organization="X",
        provider_url="https://x.example",
    )
    card = agent_card(profile, "https://agent.example", Capabilities())
    assert (card.provider.organization, card.provider.url) == ("X", "https://x.example")
    assert card.documentation_url == "https://x.example/docs"
    assert not agent_card(IAC, "https://agent.example", Capabilities()).HasField("provider")


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


async def test_hosts_that_a_client_makes_up_do_not_fill_the_memory():
    route = CardRoute(IAC, Gate(), modified=0)

    async def send(message: Any) -> None:
        pass

    for number in range(CardRoute.KEPT * 3):
        headers = [(b"host", b"h%d.example" % number)]
        await route({"method": "GET", "headers": headers, "scheme": "http"}, None, send)
    assert len(route._documents) == CardRoute.KEPT


# --- caching ------------------------------------------------------------------------------------


async def test_it_may_be_kept_a_minute_and_has_validators(server):
    response = await fetch(server)
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


async def test_head_is_get_without_the_body(server):
    url = f"{server.url}{PATH}"
    get, head = await server.http.get(url), await server.http.head(url)
    assert head.content == b""
    drop = "date"
    assert {k: v for k, v in head.headers.items() if k != drop} == {
        k: v for k, v in get.headers.items() if k != drop
    }
    assert (await server.http.post(url)).status_code == 405
    assert ParseDict(get.json(), AgentCard()).name == "echo"
