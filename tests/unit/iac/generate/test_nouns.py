"""Does every noun, in every language, become a sound template in both formats?"""

from __future__ import annotations

import pytest
from tests.unit.iac.generate.outputs import (
    dangling_in_ros,
    dangling_in_terraform,
    kinds_in_files,
    kinds_of,
    ros,
    severe,
)

from a2a_fn.iac.generate import generate

NOUNS = {
    "vpc": ("Create a VPC", "创建一个专有网络", "Créer un réseau privé virtuel"),
    "vswitch": ("Create a vSwitch", "创建一个交换机", "Créer un commutateur virtuel"),
    "security_group": (
        "Create a security group",
        "创建一个安全组",
        "Créer un groupe de sécurité",
    ),
    "ecs": ("Create an ECS instance", "创建一台云服务器", "Créer une machine virtuelle"),
    "eip": ("Create an elastic IP", "创建一个弹性公网IP", "Créer une adresse IP publique"),
    "nat": ("Create a NAT gateway", "创建一个NAT网关", "Créer une passerelle NAT"),
    "oss": ("Create an OSS bucket", "创建一个对象存储桶", "Créer un bucket OSS"),
    "rds": ("Create a database", "创建一个数据库", "Créer une base de données"),
    "rds SQLServer": (
        "Create a SQL Server 2019",
        "创建一个SQL Server 2019数据库",
        "Créer un SQL Server 2019",
    ),
    "rds MariaDB": ("Create a MariaDB", "创建一个MariaDB数据库", "Créer une base MariaDB"),
    "rds PostgreSQL": ("Create a Postgres", "创建一个PostgreSQL", "Créer un PostgreSQL"),
}
CASES = [
    pytest.param(noun.split()[0], language, text, id=f"{noun}-{language}")
    for noun, texts in NOUNS.items()
    for language, text in zip(("en", "zh", "fr"), texts, strict=True)
]


@pytest.mark.parametrize(("kind", "language", "text"), CASES)
def test_a_noun_is_understood_whole_in_its_language(kind: str, language: str, text: str) -> None:
    result = generate(text)
    assert (result.language, result.format) == (language, "ros")
    assert kinds_of(result)[kind] == 1
    assert result.not_understood == () and result.questions == ()
    asked = {resource.kind for resource in result.resources if resource.why == "asked"}
    assert asked == {kind}


@pytest.mark.parametrize(("kind", "language", "text"), CASES)
def test_ros_and_terraform_hold_the_same_resources_without_dangling_references(
    kind: str, language: str, text: str
) -> None:
    in_ros, in_terraform = generate(text, format="ros"), generate(text, format="terraform")
    assert kinds_in_files(in_ros) == kinds_in_files(in_terraform) == kinds_of(in_ros)
    assert dangling_in_ros(ros(text)) == []
    assert dangling_in_terraform(dict(in_terraform.files)) == []


@pytest.mark.parametrize(("kind", "language", "text"), CASES)
def test_our_own_review_finds_nothing_severe(kind: str, language: str, text: str) -> None:
    for format in ("ros", "terraform"):
        assert severe(generate(text, format=format)) == []


@pytest.mark.parametrize(
    ("kind", "brought"),
    [
        ("ecs", {"vpc", "vswitch", "security_group"}),
        ("nat", {"vpc", "vswitch", "snat", "eip", "eip_association"}),
        ("rds", {"vpc", "vswitch", "rds_account"}),
        ("vswitch", {"vpc"}),
        ("oss", {"oss_block"}),
        ("eip", set()),
    ],
)
def test_a_noun_brings_what_it_needs_and_says_why(kind: str, brought: set[str]) -> None:
    result = generate(NOUNS[kind][0])
    needed = {each.kind for each in result.resources if each.why.startswith("needed by ")}
    assert needed == brought
    names = {each.name for each in result.resources}
    assert all(
        each.why.removeprefix("needed by ") in names
        for each in result.resources
        if each.why != "asked"
    )
