"""Are requests read rightly as people write them, long, loose and mixed?

Each row is a request, what it comes to (kinds that a person would count), and what is said back.
"""

from __future__ import annotations

import pytest
from tests.unit.iac.generate.outputs import kinds_of, severe

from a2a_fn.iac.generate import generate

#: Kinds that only accompany others, left out of the rows.
COMPANIONS = {"snat", "eip_association", "oss_block", "rds_account", "security_group"}

ROWS: tuple[tuple[str, dict[str, int], tuple[str, ...]], ...] = (
    # ---- English
    ("Create a VPC. The VPC has two vSwitches. Put an ECS instance in each vSwitch.",
     {"vpc": 1, "vswitch": 2, "ecs": 2}, ()),
    ("create vpc 10.0.0.0/16, vswitch1 10.0.1.0/24, vswitch2 10.0.2.0/24",
     {"vpc": 1, "vswitch": 2}, ()),
    ("CREATE A VPC WITH TWO VSWITCHES", {"vpc": 1, "vswitch": 2}, ()),
    ("- a VPC 10.0.0.0/16\n- two vSwitches: 10.0.1.0/24 and 10.0.2.0/24\n- one ECS instance, 2 "
    "vCPU, 4 GB RAM\n- no public IP", {"vpc": 1, "vswitch": 2, "ecs": 1}, ()),
    ("I need a network with a private and a public subnet, a bastion host and a Postgres database "
     "with 100GB of storage", {"vpc": 1, "vswitch": 2, "ecs": 1, "rds": 1}, ()),
    ("Please build me a VPC (10.20.0.0/16) with 3 subnets across 3 AZs, and put a NAT gateway in "
    "it so that private instances can reach "
    "the internet.", {"vpc": 1, "vswitch": 3, "nat": 1, "eip": 1}, ()),
    ("Give me Terraform for an ECS instance ecs.g7.large running Ubuntu 22.04 with a 200GB disk "
    "and a public IP, allow ports 22 and 443 from 198.51.100.0/24 only",
     {"vpc": 1, "vswitch": 1, "ecs": 1, "eip": 1, "security_rule": 2}, ()),
    ("Two web servers in different zones with HTTPS open to everyone and SSH restricted to "
     "203.0.113.10", {"vpc": 1, "vswitch": 2, "ecs": 2, "security_rule": 2}, ()),
    ("two ECS instances, one with a public IP and one without public IP",
     {"vpc": 1, "vswitch": 1, "ecs": 2, "eip": 1}, ()),
    ("ECS with a public IP and outbound internet access",
     {"vpc": 1, "vswitch": 1, "ecs": 1, "eip": 1}, ()),
    ("VPC, EIP, NAT gateway, 2 ECS", {"vpc": 1, "vswitch": 1, "ecs": 2, "nat": 1, "eip": 1}, ()),
    ("a private subnet with a NAT gateway, and a public subnet with a bastion host reachable over "
    "ssh from "
    "my office", {"vpc": 1, "vswitch": 2, "ecs": 1, "nat": 1, "eip": 1, "security_rule": 1}, ()),
    ("An ECS instance with SSH (port 22) open from 10.1.2.3 and 10.1.2.4",
     {"vpc": 1, "vswitch": 1, "ecs": 1, "security_rule": 2}, ()),
    ("I want neither a NAT gateway nor an EIP, only an ECS instance",
     {"vpc": 1, "vswitch": 1, "ecs": 1}, ()),
    ("Please don't create any ECS, just the VPC", {"vpc": 1}, ()),
    ("a VPC with an internet gateway", {"vpc": 1}, ("internet",)),
    ("an ECS with 3 disks", {"vpc": 1, "vswitch": 1, "ecs": 1}, ("3", "disks")),
    ("Set up a three-tier app: 2 web servers behind a load balancer, 2 app servers, and an RDS "
    "MySQL 8.0 "
    "instance", {"vpc": 1, "vswitch": 1, "ecs": 4, "rds": 1}, ("tier", "app", "load balancer")),
    # ---- Chinese
    ("在上海创建一个VPC，网段192.168.0.0/16，包含两个交换机192.168.1.0/24和192.168.2.0/24，"
     "再加一台2核4G的云服务器，系统盘100G", {"vpc": 1, "vswitch": 2, "ecs": 1}, ()),
    ("我想搭建一个网站，需要一台带公网IP的服务器，开放80和443端口，一个MySQL数据库和一个OSS存储桶",
     {"vpc": 1, "vswitch": 1, "ecs": 1, "rds": 1, "oss": 1, "eip": 1, "security_rule": 2},
     ("网站",)),
    ("用Terraform写一个模板：1个VPC、3个子网、1个NAT网关、2台私有ECS",
     {"vpc": 1, "vswitch": 3, "nat": 1, "eip": 1, "ecs": 2}, ()),
    ("请创建一个安全组，允许内网访问3306端口，仅允许203.0.113.0/24 SSH登录",
     {"vpc": 1, "security_rule": 2}, ()),
    ("新建两台ECS，分别名为web和app，都要4核16G，数据盘500GB",
     {"vpc": 1, "vswitch": 1, "ecs": 2}, ()),
    ("创建一个包含两个交换机的VPC，每个交换机一台ECS", {"vpc": 1, "vswitch": 2, "ecs": 2}, ()),
    ("我要一个没有公网IP的ECS和一个有公网IP的ECS",
     {"vpc": 1, "vswitch": 1, "ecs": 2, "eip": 1}, ()),
    ("两台ECS，一台公网一台私网", {"vpc": 1, "vswitch": 1, "ecs": 2, "eip": 1}, ()),
    ("建3个OSS，名字分别叫logs-a、logs-b、logs-c", {"oss": 3}, ()),
    ("给ECS绑定一个20M带宽的EIP", {"vpc": 1, "vswitch": 1, "ecs": 1, "eip": 1}, ()),
    ("不要创建数据库，只要VPC", {"vpc": 1}, ()),
    # ---- French
    ("Je voudrais un réseau 10.50.0.0/16 avec deux sous-réseaux dans deux zones et une base "
    "PostgreSQL 15 hautement disponible de 100 Go", {"vpc": 1, "vswitch": 2, "rds": 1}, ()),
    ("Générer un modèle Terraform : un VPC, trois vSwitchs, une passerelle NAT et deux instances "
    "ECS privées nommées app", {"vpc": 1, "vswitch": 3, "nat": 1, "eip": 1, "ecs": 2}, ()),
    ("Il me faut un serveur web avec une IP publique, ports 80 et 443 ouverts, et SSH seulement "
    "depuis "
    "198.51.100.0/24", {"vpc": 1, "vswitch": 1, "ecs": 1, "eip": 1, "security_rule": 3}, ()),
    ("Créez trois instances ECS de 4 vCPU et 8 Go, disque de données de 500 Go, sans IP publique "
    "mais avec accès Internet "
    "sortant", {"vpc": 1, "vswitch": 1, "ecs": 3, "nat": 1, "eip": 1}, ()),
    ("une instance ECS dans chaque vSwitch d'un VPC à deux vSwitchs",
     {"vpc": 1, "vswitch": 2, "ecs": 2}, ()),
    ("deux instances, l'une publique et l'autre privée",
     {"vpc": 1, "vswitch": 1, "ecs": 2, "eip": 1}, ()),
    ("VPC 10.0.0.0/16, sous-réseaux 10.0.1.0/24 et 10.0.2.0/24, passerelle NAT avec IP élastique",
     {"vpc": 1, "vswitch": 2, "nat": 1, "eip": 1}, ()),
    ("N'ouvre pas le port 22 ; ouvre seulement 443 à tout le monde sur un serveur",
     {"vpc": 1, "vswitch": 1, "ecs": 1, "security_rule": 1}, ()),
    ("Peux-tu me faire un VPC à Francfort avec un vSwitch dans chaque zone, trois zones ?",
     {"vpc": 1, "vswitch": 3}, ()),
    ("trois buckets nommés journaux-a, journaux-b et journaux-c", {"oss": 3}, ()),
)  # fmt: skip


@pytest.mark.parametrize(("text", "counts", "words"), ROWS)
def test_a_request_as_people_write_it(
    text: str, counts: dict[str, int], words: tuple[str, ...]
) -> None:
    result = generate(text)
    assert result.questions == ()
    found = {kind: n for kind, n in kinds_of(result).items() if kind not in COMPANIONS}
    assert (found, result.not_understood) == (counts, words)
    assert severe(result) == []


def test_an_unknown_format_is_an_error_that_names_the_two() -> None:
    with pytest.raises(ValueError, match="ros or terraform"):
        generate("a VPC", format="json")  # type: ignore[arg-type]
