"""Are negations honoured, contradictions asked about, and unknown words said back?"""

from __future__ import annotations

import pytest
from tests.unit.iac.generate.outputs import kinds_of

from a2a_fn.iac.generate import MAX_CHARACTERS, generate


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("an ECS instance with no public IP", "eip"),
        ("an ECS instance without NAT or EIP", "nat"),
        ("an ECS instance without a public IP", "eip"),
        ("two ECS instances, not public", "eip"),
        ("a VPC and an ECS instance, don't create a NAT gateway", "nat"),
        ("一台ECS，不要公网IP", "eip"),
        ("一台不带公网IP的ECS", "eip"),
        ("一台ECS，不需要NAT网关", "nat"),
        ("un serveur sans IP publique", "eip"),
        ("un serveur ECS, pas de NAT", "nat"),
        ("une instance ECS sans NAT ni EIP", "eip"),
    ],
)
def test_what_is_ruled_out_is_not_there(text: str, absent: str) -> None:
    result = generate(text)
    assert result.not_understood == () and result.questions == ()
    assert kinds_of(result)["ecs"] and not kinds_of(result)[absent]


def test_a_ban_does_not_reach_what_follows() -> None:
    result = generate("a VPC without NAT and with two vSwitches, an ECS instance and an EIP")
    assert kinds_of(result)["eip"] == 1 and kinds_of(result)["vswitch"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "two vSwitches in a /29",
        "a VPC 10.0.0.0/28 with two hundred vSwitches",
        "a VPC 10.0.0.0/28 with four vSwitches",
        "a VPC with CIDR 10.0.0.1/16",
        "a VPC 10.0.0.0/16 with a vSwitch 192.168.0.0/24",
        "a VPC 10.0.0.0/16 with two vSwitches 10.0.1.0/24 and 10.0.1.128/25",
        "a VPC 300.0.0.0/16",
        "a VPC 10.0.0.0/99",
        "a VPC 100.64.0.0/16",
        "a public and private ECS instance",
        "an ECS instance that is public and not public",
        "a million vSwitches",
        "99999999999999999999999999 VPCs",
        "一百万个交换机",
        "un million de vSwitchs",
        "delete my VPC",
        "删除我的数据库",
        "supprime le VPC",
        "resize the ECS instance",
        "create a VPC and delete the old bucket",
        "an ECS instance in my existing VPC",
        "一台ECS，放在现有的VPC里",
        "a NAT gateway without an EIP",
        "an ECS instance without a VPC",
        "a private ECS with internet access but no NAT",
        "a public MySQL database",
        "a MySQL 9 database",
        "an encrypted MariaDB",
        "an ECS instance with 3 vCPU and 5 GB of memory",
        "an ECS instance with 16 GB",
        "one vSwitch in three zones",
        "a VPC in Frankfurt with a vSwitch in cn-hangzhou-h",
        "a VPC in Hangzhou and Shanghai",
        "a VPC as Terraform and as ROS",
        "two buckets called a-b, c-d and e-f",
        'a VPC called "a: b"',
        'a bucket called "My Bucket"',
        "a server, open port 99999 to the internet",
        "a server, open port 443 to the internet and block port 443",
        "three ECS instances, four public and one private",
        "two or three ECS instances",
        "between 2 and 4 ECS instances",
        "2-4 ECS instances",
        "an ECS instance or a database",
        "a server, open everything from anywhere except port 22",
        "what is a VPC?",
        "什么是VPC？",
        "qu'est-ce qu'un VPC ?",
        "hello",
        "你好",
        "bonjour",
        "write me a poem",
        "",
        "   \n\t ",
        "no VPC",
    ],
)
def test_a_request_that_cannot_be_met_is_asked_about_and_makes_no_files(text: str) -> None:
    result = generate(text)
    assert result.questions
    assert not result.files and not result.resources
    assert all(question in result.summary for question in result.questions)


def test_a_request_that_is_too_long_is_not_read_in_part() -> None:
    result = generate("a VPC " * MAX_CHARACTERS)
    assert not result.files and str(MAX_CHARACTERS) in result.questions[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a VPC with a flux capacitor", ("flux", "capacitor")),
        ("a VPC, a load balancer and Redis", ("load balancer", "Redis")),
        ("a frobnicated VPC with two blue vSwitches", ("frobnicated", "blue")),
        ("一个VPC和一个负载均衡", ("负载均衡",)),
        ("un VPC et un répartiteur de charge", ("répartiteur de charge",)),
        ("a VPC with IPv6", ("IPv6",)),
        ("a VPC without frobnication", ("without", "frobnication")),
        ("an encrypted VPC", ("encrypted",)),
    ],
)
def test_words_outside_the_vocabulary_are_said_back_verbatim(
    text: str, words: tuple[str, ...]
) -> None:
    result = generate(text)
    assert result.not_understood == words
    assert kinds_of(result)["vpc"] == 1
    assert all(word in result.summary for word in words)


@pytest.mark.parametrize("text", ["a public bucket", "一个公开的存储桶", "un bucket OSS public"])
def test_a_public_bucket_stays_private_and_says_so_first(text: str) -> None:
    result = generate(text)
    assert "AccessControl: private" in result.files["template.yml"]
    assert "BlockPublicAccess: true" in result.files["template.yml"]
    assert result.notes[0] in result.summary.splitlines()[3]


@pytest.mark.parametrize(
    "text",
    [
        "an ECS instance with password hunter2,X!",
        'an ECS instance, its password is "hunter2,X!"',
        "an ECS instance; password: hunter2,X!",
        "一台ECS，密码为hunter2,X!，再加一个VPC",
        "une instance ECS avec le mot de passe hunter2,X!",
        "LTAI5thunter2hunter2hunter2 an ECS instance",
    ],
)
def test_a_secret_in_the_request_is_neither_used_nor_repeated(text: str) -> None:
    for format in ("ros", "terraform"):
        result = generate(text, format=format)
        assert kinds_of(result)["ecs"] == 1
        assert result.not_understood == ("***",)
        assert "hunter2" not in repr(result)
