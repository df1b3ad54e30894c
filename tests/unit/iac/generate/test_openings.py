"""Which ports are opened, from where, and what is never opened?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.iac.generate.outputs import of_type, ros, severe

from a2a_fn.iac.generate import generate

ADMIN = {"Ref": "AdminCidr"}


def rules(text: str) -> list[tuple[str, str, Any]]:
    found = of_type(ros(text), "ALIYUN::ECS::SecurityGroupIngress")
    return [(each["IpProtocol"], each["PortRange"], each["SourceCidrIp"]) for each in found]


@pytest.mark.parametrize(
    "text",
    [
        "an ECS instance: open port 443 to the internet and allow ssh from 10.0.0.0/8",
        "an ECS instance with https open to the internet and port 22 open from 10.0.0.0/8",
        "一台ECS，向公网开放443端口，允许从10.0.0.0/8访问22端口",
        "一台ECS，允许10.0.0.0/8访问22端口，开放443端口给公网",
        "une instance ECS, ouvrir le port 443 à internet et autoriser ssh depuis 10.0.0.0/8",
    ],
)
def test_ports_and_sources(text: str) -> None:
    assert sorted(rules(text), key=lambda rule: rule[1]) == [
        ("tcp", "22/22", "10.0.0.0/8"),
        ("tcp", "443/443", "0.0.0.0/0"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("security group with ports 80, 443 and 8000-8100 open from 192.168.0.0/16",
         ["80/80", "443/443", "8000/8100"]),
        ("security group, open ports 80,443 from 192.168.0.0/16", ["80/80", "443/443"]),
        ("security group: open 8000 to 8010 from 192.168.0.0/16", ["8000/8010"]),
        ("安全组，允许192.168.0.0/16访问80、443和8000-8100端口", ["80/80", "443/443", "8000/8100"]),
        ("groupe de sécurité, ouvrir les ports 80, 443 et 8080 depuis 192.168.0.0/16",
         ["80/80", "443/443", "8080/8080"]),
    ],
)  # fmt: skip
def test_lists_and_spans_of_ports(text: str, expected: list[str]) -> None:
    assert [ports for _, ports, _ in rules(text)] == expected
    assert {source for _, _, source in rules(text)} == {"192.168.0.0/16"}


def test_protocols() -> None:
    found = rules("security group allowing ping, udp 500 and tcp 8443 from 10.0.0.0/16")
    assert [rule[:2] for rule in found] == [
        ("icmp", "-1/-1"),
        ("udp", "500/500"),
        ("tcp", "8443/8443"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a web server and a server called data, allow port 3306 from the web servers",
        "安全组，允许来自ECS的3306端口",
    ],
)
def test_a_source_inside_the_stack_is_the_vpc_and_noted(text: str) -> None:
    assert [rule[2] for rule in rules(text)] == ["10.0.0.0/16"]
    assert any("10.0.0.0/16" in note and "3306" in note for note in generate(text).notes)


def test_two_sources() -> None:
    found = rules("a server, allow port 8080 from 10.0.0.0/8 and 192.168.0.0/16")
    assert [rule[2] for rule in found] == ["10.0.0.0/8", "192.168.0.0/16"]


@pytest.mark.parametrize(
    "text",
    [
        "an ECS with ssh open to the internet",
        "open port 22 to anyone on a server",
        "a Windows server with RDP open to the world",
        "a server, allow ssh from 0.0.0.0/0",
        "a server, allow ssh from 0.0.0.0/1",
        "a server with all ports open to the internet",
        "a server, open ports 1-65535 to the internet",
        "a server with 3306 open to the internet",
        "一台ECS，允许所有人访问22端口",
        "一台ECS，对公网开放远程桌面",
        "un serveur avec ssh ouvert à tout le monde",
    ],
)
def test_what_scanners_look_for_is_never_opened_to_the_world(text: str) -> None:
    result = generate(text)
    assert [source for _, _, source in rules(text)] == [ADMIN]
    assert "Default" not in ros(text)["Parameters"]["AdminCidr"]
    assert "AdminCidr" in result.notes[0]  # said first, not silently
    assert severe(result) == severe(generate(text, format="terraform")) == []


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("a server with ssh", ADMIN),
        ("a server with ssh from my office", ADMIN),
        ("a server, allow port 8080 from the flux capacitor", ADMIN),
        ("a server with port 443 open", "0.0.0.0/0"),
        ("a server with port 8080 open", "10.0.0.0/16"),
        ("a server with port 3306 open", "10.0.0.0/16"),
        ("a server with port 8080 open from the VPC", "10.0.0.0/16"),
        ("a server with port 8080 open from 203.0.113.7", "203.0.113.7/32"),
    ],
)
def test_where_no_source_is_said_the_narrow_one_is_taken(text: str, source: Any) -> None:
    assert [rule[2] for rule in rules(text)] == [source]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a server, don't open ssh to the internet", []),
        ("a server with no ssh", []),
        ("a server with port 443 closed", []),
        ("a server, block port 22 and open port 443 to the internet", [("443/443", "0.0.0.0/0")]),
        ("a server: do not allow rdp from internet; allow https from 10.0.0.0/8",
         [("443/443", "10.0.0.0/8")]),
        ("a server with ssh not open to the world, only from 10.0.0.0/8",
         [("22/22", "10.0.0.0/8")]),
        ("a server with https not open to the internet, only the VPC",
         [("443/443", "10.0.0.0/16")]),
        ("一台服务器，不要开放22端口", []),
        ("一台服务器，开放443端口，禁止22端口", [("443/443", "0.0.0.0/0")]),
        ("un serveur sans ssh", []),
        ("un serveur, n'autorise pas ssh depuis internet", []),
    ],
)  # fmt: skip
def test_what_is_forbidden_is_not_opened(text: str, expected: list[tuple[str, str]]) -> None:
    assert [rule[1:] for rule in rules(text)] == expected


def test_an_instance_without_a_word_on_ports_stays_closed() -> None:
    assert rules("an ECS instance") == []


def test_openings_of_one_instance_are_not_those_of_another() -> None:
    template = ros(
        "one public ECS with port 443 open to the internet "
        "and one private ECS with port 8080 open from the VPC"
    )
    groups = [each["SecurityGroupIds"] for each in of_type(template, "ALIYUN::ECS::Instance")]
    found = of_type(template, "ALIYUN::ECS::SecurityGroupIngress")
    assert groups[0] != groups[1]
    assert [each["SecurityGroupId"] for each in found] == [groups[0][0], groups[1][0]]


def test_the_admin_range_cannot_be_the_world() -> None:
    import re

    pattern = ros("a server with ssh")["Parameters"]["AdminCidr"]["AllowedPattern"]
    assert re.fullmatch(pattern, "203.0.113.0/24")
    assert not re.fullmatch(pattern, "0.0.0.0/0")
    assert not re.fullmatch(pattern, "128.0.0.0/1")
